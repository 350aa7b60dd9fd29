#include "core/schedule/analysis.h"

#include <algorithm>

#include "core/schedule/structure.h"

namespace nuscope::schedule {

Analysis::Analysis(std::shared_ptr<const Schedule> schedule)
    : schedule_(std::move(schedule)), ids_(*schedule_) {}

Result<std::shared_ptr<const Analysis>> Analysis::of(std::shared_ptr<const Schedule> schedule,
                                                     const Progress& progress) {
  std::shared_ptr<Analysis> made(new Analysis(std::move(schedule)));  // the constructor is private
  const Schedule& s = *made->schedule_;
  if (const auto faults = malformations(s, made->ids_); !faults.empty())
    return Refusal{faults[0].message, "correct the file first"};
  made->model_ = modelOf(s, made->ids_);
  made->footprints_ = nuscope::schedule::footprints(s, made->ids_);
  made->run_ = closure(made->model_);
  progress.check();
  made->rank_.assign(s.tasks.size(), INT32_MAX);
  for (std::size_t i = 0; i < made->run_.order.size(); ++i)
    made->rank_[static_cast<std::size_t>(made->run_.order[i])] = static_cast<std::int32_t>(i);
  made->firstTouch_.assign(s.tasks.size() + 1, 0);
  for (const Touch& t : made->footprints_.touches) ++made->firstTouch_[static_cast<std::size_t>(t.task) + 1];
  for (std::size_t t = 0; t < s.tasks.size(); ++t) made->firstTouch_[t + 1] += made->firstTouch_[t];
  if (made->run_.order.size() == s.tasks.size())
    made->clocks_ = std::make_shared<const Clocks>(made->model_, made->run_.order);
  return std::shared_ptr<const Analysis>(std::move(made));
}

std::span<const Touch> Analysis::touchesOf(std::int32_t task) const {
  const auto t = static_cast<std::size_t>(task);
  return std::span(footprints_.touches).subspan(firstTouch_[t], firstTouch_[t + 1] - firstTouch_[t]);
}

}  // namespace nuscope::schedule
