// Edits in words.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "core/schedule/explain.h"
#include "core/schedule/repair.h"

namespace nuscope::schedule {
namespace {

/// Edits in words, for the file or for whoever generates it.
class Words {
 public:
  Words(const Schedule& schedule, bool generator) : s_(schedule), generator_(generator) {
    for (std::size_t t = 0; t < s_.tasks.size() && generator; ++t) {
      for (const std::int64_t counter : s_.tasks[t].signals)
        producer_.emplace(counter, static_cast<std::int32_t>(t));
    }
  }

  std::string of(const std::vector<Edit>& edits) const {
    const auto moves = std::ranges::count(edits, Edit::Kind::moveBefore, &Edit::kind);
    if (moves > 2 && moves == std::ssize(edits))
      return fmt::format("sort the queues so that producers come first ({} moves)", moves);
    std::set<std::string> seen;
    std::string out;
    for (const Edit& e : edits) {
      const std::string one = of(e);
      if (!seen.insert(one).second) continue;
      if (seen.size() > 3) return out + fmt::format("; and {} more edits", edits.size() - 3);
      out += (out.empty() ? "" : "; ") + one;
    }
    return out;
  }

 private:
  std::string name(std::int32_t t) const { return generator_ ? kindName(s_, t) : nameOf(s_, t); }
  std::string of(const Edit& e) const {
    switch (e.kind) {
      case Edit::Kind::addWait: {
        const std::int64_t counter = s_.counters[static_cast<std::size_t>(e.counter)].id;
        if (const auto at = producer_.find(counter); at != producer_.end())
          return fmt::format("let {} wait for all of {}", name(e.task), kindName(s_, at->second));
        return fmt::format("{} waits for counter {} to reach {}", name(e.task), counter, e.value);
      }
      case Edit::Kind::setThreshold:
        return fmt::format("{} waits for counter {} to reach {} instead of {}", name(e.task),
                           s_.tasks[static_cast<std::size_t>(e.task)].waits[e.index].counter, e.value,
                           s_.tasks[static_cast<std::size_t>(e.task)].waits[e.index].threshold);
      case Edit::Kind::dropWait:
        return fmt::format("{} no longer waits for counter {}", name(e.task),
                           s_.tasks[static_cast<std::size_t>(e.task)].waits[e.index].counter);
      case Edit::Kind::moveBefore:
        return fmt::format("{} comes before {} in the queue", name(e.task), name(e.other));
      case Edit::Kind::setSm:
        return fmt::format("{} moves to SM {}", name(e.task), e.value);
      case Edit::Kind::setParam:
        return fmt::format("{} gets {} = {}", name(e.task), e.key, e.value);
      case Edit::Kind::dropTask:
        return fmt::format("{} is removed", name(e.task));
      case Edit::Kind::ownPage: {
        const Buffer& b = s_.buffers[static_cast<std::size_t>(e.buffer)];
        return fmt::format("buffer {} ({}) gets a page of its own", b.id, b.name);
      }
    }
    return {};
  }

  const Schedule& s_;
  bool generator_;
  std::unordered_map<std::int64_t, std::int32_t> producer_;  ///< per counter id: the first that raises it
};

}  // namespace

std::string editsText(const Schedule& schedule, const std::vector<Edit>& edits, bool generator) {
  return Words(schedule, generator).of(edits);
}

std::string outcome(const Repair& repair) {
  if (repair.makesSafe) return "safe";
  std::map<Rule, std::size_t> counts;
  for (const Finding& f : repair.remaining) ++counts[f.rule];
  std::string which;
  for (const auto& [rule, count] : counts) {
    which += (which.empty() ? ": " : ", ") + std::string(code(rule));
    if (counts.size() > 1 && count > 1) which += fmt::format(" ({})", count);
  }
  const std::size_t count = repair.remaining.size();
  if (count == 0) return "no finding remains, but what is not decided";
  return fmt::format("{} {}{}", count, count == 1 ? "finding remains" : "findings remain", which);
}

}  // namespace nuscope::schedule
