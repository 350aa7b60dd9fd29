#include "views/schedule/schedule_state.h"

#include <QThreadPool>
#include <algorithm>
#include <chrono>

#include "core/schedule/explain.h"
#include "views/text.h"

namespace nuscope::views {

namespace {

constexpr std::size_t largestText = std::size_t(4) << 20;
constexpr std::uint32_t longestLine = 20000;  ///< longer ones make text widgets slow

std::vector<std::uint32_t> lineStarts(std::string_view text) {
  std::vector<std::uint32_t> starts{0};
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
    starts.push_back(static_cast<std::uint32_t>(at + 1));
  return starts;
}

bool isLarge(std::string_view text, const std::vector<std::uint32_t>& lines) {
  if (text.size() > largestText) return true;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t end = i + 1 < lines.size() ? lines[i + 1] : text.size();
    if (end - lines[i] > longestLine) return true;
  }
  return false;
}

/// Large ones go in a thread of their own, for it takes long and the last to hold one may be the window's.
void dispose(ScheduleState* state) {
  if (state->large) {
    QThreadPool::globalInstance()->start([state] { delete state; });
  } else {
    delete state;
  }
}

bool isContinuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

}  // namespace

QString ScheduleState::taskName(std::int32_t task) const {
  return qs(schedule::shortName(*schedule, task));
}

QString ScheduleState::bufferName(std::int32_t buffer) const {
  const schedule::Buffer& b = schedule->buffers[static_cast<std::size_t>(buffer)];
  return b.name.empty() ? QObject::tr("buffer %1").arg(b.id) : qs(b.name);
}

std::int64_t ScheduleState::counterId(std::int32_t counter) const {
  return schedule->counters[static_cast<std::size_t>(counter)].id;
}

SourceRange ScheduleState::rangeOf(const schedule::Place& place) const {
  if (place.end <= place.begin || place.end > text->size()) return {};
  const auto point = [&](std::uint64_t offset) {
    const auto line = std::ranges::upper_bound(lines, offset) - lines.begin();
    const std::string_view before(text->data() + lines[static_cast<std::size_t>(line - 1)],
                                  offset - lines[static_cast<std::size_t>(line - 1)]);
    const auto column = std::ranges::count_if(before, [](char c) { return !isContinuation(c); }) + 1;
    return std::pair(static_cast<int>(line), static_cast<int>(column));
  };
  const auto [line, column] = point(place.begin);
  const auto [endLine, endColumn] = point(place.end);
  return {line, column, endLine, endColumn};
}

std::uint64_t ScheduleState::offsetOf(int line, int column) const {
  const auto index = static_cast<std::size_t>(std::clamp(line, 1, static_cast<int>(lines.size())) - 1);
  std::uint64_t at = lines[index];
  for (int left = column - 1; left > 0 && at < text->size() && (*text)[at] != '\n'; --left) {
    ++at;
    while (at < text->size() && isContinuation((*text)[at])) ++at;
  }
  return at;
}

std::span<const schedule::Touch> ScheduleState::touchesOf(std::int32_t task) const {
  const auto [from, to] = std::ranges::equal_range(touched.touches, task, {}, &schedule::Touch::task);
  return {from, to};
}

std::shared_ptr<const ScheduleState> makeScheduleState(std::shared_ptr<const std::string> text,
                                                       const QString& what, const Progress& progress,
                                                       bool typed) {
  const std::shared_ptr<ScheduleState> made(new ScheduleState, &dispose);
  made->typed = typed;
  made->what = what;
  made->text = std::move(text);
  made->lines = lineStarts(*made->text);
  made->large = isLarge(*made->text, made->lines);
  progress.report(0, "reading");
  const auto start = std::chrono::steady_clock::now();
  const auto read = std::make_shared<const schedule::ReadResult>(schedule::readSchedule(*made->text));
  made->readSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  made->faults = read->faults;
  progress.check();
  if (!read->schedule) {
    made->report.faults = made->faults;
    made->headline = QObject::tr("Malformed: %1")
                         .arg(counted(static_cast<std::int64_t>(made->faults.size()), QObject::tr("fault"),
                                      QObject::tr("faults")));
    return made;
  }
  made->schedule = {read, &*read->schedule};
  const schedule::Schedule& s = *made->schedule;
  progress.report(0.4, "checking");
  made->report = schedule::check(s, {}, progress.part(0.4, 0.8));
  if (!made->faults.empty()) {
    made->report.faults.insert(made->report.faults.begin(), made->faults.begin(), made->faults.end());
    made->report.verdict = schedule::Safety::malformed;
    made->report.findings.clear();
  }
  made->faults = made->report.faults;
  made->rules = schedule::ruleVerdicts(s, made->report);
  made->headline = qs(schedule::headline(s, made->report));
  if (s.format == schedule::Format::amk) {
    made->amk = schedule::amkVerdict(*read);
    made->amkDiffers = schedule::whyDifferent(*read, *made->amk, made->report);
  }
  if (made->report.verdict == schedule::Safety::malformed) return made;
  progress.report(0.8, "arranging");
  made->ids = std::make_unique<const schedule::Ids>(s);
  made->model = std::make_shared<const schedule::Model>(schedule::modelOf(s, *made->ids));
  made->touched = schedule::footprints(s, *made->ids);
  progress.check();
  made->outline = std::make_unique<const schedule::Outline>(s);
  made->groups = schedule::groups(s, made->report);
  made->whole = std::make_shared<const schedule::Rounds>(made->model);
  return made;
}

FindingDetail makeFindingDetail(const ScheduleState& state, std::size_t finding) {
  FindingDetail detail;
  detail.finding = schedule::withRun(*state.schedule, state.report.findings[finding]);
  detail.sentences = schedule::explain(*state.schedule, *state.model, state.touched.touches, detail.finding);
  detail.run = std::make_shared<const schedule::Rounds>(state.model, detail.finding);
  return detail;
}

}  // namespace nuscope::views
