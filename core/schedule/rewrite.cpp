#include "core/schedule/rewrite.h"

#include <optional>
#include <unordered_map>
#include <vector>

#include "core/schedule/diff.h"
#include "core/schedule/read.h"

namespace nuscope::schedule {
namespace {

bool equal(const Schedule& a, const Schedule& b) {
  const Difference difference = differenceOf(a, b);
  return difference.changes.empty() && !difference.recordsDiffer && a.tasks.size() == b.tasks.size();
}

/// The text of each task's record in a text that was just written.
std::optional<std::vector<std::string_view>> recordsOf(std::string_view text, std::size_t count) {
  const ReadResult read = readSchedule(text);
  if (!read.schedule || read.schedule->tasks.size() != count) return std::nullopt;
  std::vector<std::string_view> records;
  for (const Task& t : read.schedule->tasks) {
    if (t.place.end <= t.place.begin || t.place.end > text.size()) return std::nullopt;
    records.push_back(text.substr(t.place.begin, t.place.end - t.place.begin));
  }
  return records;
}

bool placed(const Schedule& schedule, std::size_t size) {
  std::uint64_t last = 0;
  for (const Task& t : schedule.tasks) {
    if (t.place.begin < last || t.place.end <= t.place.begin || t.place.end > size) return false;
    last = t.place.end;
  }
  return !schedule.tasks.empty();
}

}  // namespace

std::string rewrite(std::string_view text, const Schedule& before, const Schedule& after) {
  std::string anew = writeSchedule(after);
  if (text.size() > mostRewritten || after.tasks.empty() || !placed(before, text.size()) ||
      differenceOf(before, after).recordsDiffer)
    return anew;
  const std::string old = writeSchedule(before);
  const auto newRecords = recordsOf(anew, after.tasks.size());
  const auto oldRecords = recordsOf(old, before.tasks.size());
  if (!newRecords || !oldRecords) return anew;
  std::unordered_map<std::int64_t, std::size_t> byId;
  for (std::size_t t = 0; t < before.tasks.size(); ++t) byId.emplace(before.tasks[t].id, t);
  const auto original = [&](std::size_t t) {
    const Place& place = before.tasks[t].place;
    return text.substr(place.begin, place.end - place.begin);
  };
  // What stands between two records, by place in the list.
  const auto between = [&](std::size_t i) -> std::string_view {
    if (before.tasks.size() < 2) return ",\n ";
    const std::size_t at = i + 1 < before.tasks.size() ? i : 0;
    const std::uint64_t from = before.tasks[at].place.end;
    return text.substr(from, before.tasks[at + 1].place.begin - from);
  };
  std::string out(text.substr(0, before.tasks.front().place.begin));
  for (std::size_t t = 0; t < after.tasks.size(); ++t) {
    if (t > 0) out += between(t - 1);
    const auto at = byId.find(after.tasks[t].id);
    const bool same = at != byId.end() && (*oldRecords)[at->second] == (*newRecords)[t];
    out += same ? original(at->second) : (*newRecords)[t];
  }
  out += text.substr(before.tasks.back().place.end);
  // Nothing is taken on trust: the text must read as the schedule that was asked for.
  const ReadResult read = readSchedule(out);
  return read.schedule && read.faults.empty() && equal(*read.schedule, after) ? out : anew;
}

}  // namespace nuscope::schedule
