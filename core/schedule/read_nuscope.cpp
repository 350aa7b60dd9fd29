// Our own form, version 1 (resources/schedules/README.md, schedule.schema.json) -> Schedule.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/schedule/positions.h"
#include "core/schedule/record_reader.h"

namespace nuscope::schedule {
namespace {

constexpr std::int64_t largestBound = std::int64_t{1} << 60U;
constexpr std::int64_t largestPosition = std::int64_t{1} << 31U;

class NuscopeReader : public RecordReader {
 public:
  explicit NuscopeReader(std::string_view text) : RecordReader(text) { schedule_.format = Format::nuscope; }
  ReadResult read() { return readAll({"buffers", "counters", "tasks"}); }

 private:
  void onKey(const std::string& key, const JsonValue& value) override {
    if (key == "buffers" || key == "counters" || key == "tasks") {
      fault("load", fmt::format("'{}' is {}, not a list", key, kindText(value.kind)), value);
    } else if (key == "format") {
      if (value.string != "nuscope-schedule") fault("load", "'format' is not \"nuscope-schedule\"", value);
    } else if (key == "version") {
      std::int64_t version = 0;
      if (!value.isInteger(version) || version != 1)
        fault("load", fmt::format("'version' is {}; only 1 is known", shortened(value.raw, 40)), value);
    } else if (key == "positions") {
      positions(value);
    } else if (key == "pages") {
      pages(value);
    } else {
      if (key == "target") target(value);
      std::erase_if(schedule_.rest, [&](const auto& pair) { return pair.first == key; });
      schedule_.rest.emplace_back(key, value.raw);
    }
  }
  void positions(const JsonValue& value) {
    if (!isRecord(value, "'positions'")) return;
    Positions made;
    if (!integer(value, "from", "'positions'", made.from) || !integer(value, "to", "'positions'", made.to))
      return;
    if (made.from < 0 || made.from >= made.to || made.to > largestPosition) {
      fault("load",
            fmt::format("'positions' are {} .. {}; 0 <= from < to <= 2^31 must hold", made.from, made.to),
            value);
      return;
    }
    schedule_.positions = made;
  }
  void finish() override {
    requireRoot({"format", "version", "buffers", "counters", "tasks"});
    if (std::ranges::find(seen_, "pages") == seen_.end()) schedule_.absent |= Schedule::noPages;
    if (depends_ && !schedule_.positions)
      fault("load", "regions depend on 'pos', and the file gives no 'positions' {\"from\", \"to\"}",
            *depends_);
    if (schedule_.positions) setPosition(schedule_, schedule_.positions->from);
  }

  void task(const JsonValue& item) override {
    std::string what = fmt::format("tasks[{}]", schedule_.tasks.size());
    Task made;
    made.place = placeOf(item);
    schedule_.tasks.push_back({});
    if (!isRecord(item, what)) return;
    textOrExtra(item, "label", made.label, made.extras, made.absent, Task::noLabel);
    what = named(what, made.label);
    integer(item, "id", what, made.id);
    made.reads = accesses(item, "reads", what);
    made.writes = accesses(item, "writes", what);
    operation(item, what, made);
    if (item.find("inputs") != nullptr) integers(item, "inputs", what, made.inputs);
    if (item.find("outputs") != nullptr) integers(item, "outputs", what, made.outputs);
    signals(item, what, made);
    if (item.find("waits") != nullptr) waits(item, what, made);
    params(item, what, made);
    queue(item, what, made);
    estimate(item, "est_bytes", what, made.estBytes);
    estimate(item, "est_flops", what, made.estFlops);
    if (item.find("est_bytes") == nullptr) made.absent |= Task::noBytes;
    if (item.find("est_flops") == nullptr) made.absent |= Task::noFlops;
    extras(item,
           {"id", "op", "inputs", "outputs", "signals", "waits", "params", "sm", "est_bytes", "est_flops",
            "label", "reads", "writes"},
           made.extras);
    schedule_.tasks.back() = std::move(made);
  }
  void operation(const JsonValue& item, const std::string& what, Task& made) {
    const JsonValue* op = field(item, "op", Kind::string, what);
    if (op == nullptr) return;
    if (const auto parsed = parseOpcode(op->string)) {
      made.op = *parsed;
      return;
    }
    made.op = Opcode::custom;
    made.customOp = op->string;
    if (!made.declared()) {
      fault("unknown-op",
            fmt::format("{}: '{}' is none of the known operations; declare what it 'reads' and 'writes'",
                        what, shortened(op->string, 80)),
            *op);
    }
  }
  void signals(const JsonValue& item, const std::string& what, Task& made) {
    if (item.find("signals") == nullptr || !integers(item, "signals", what, made.signals)) return;
    std::vector<std::int64_t> sorted = made.signals;
    std::ranges::sort(sorted);
    if (std::ranges::adjacent_find(sorted) != sorted.end())
      fault("load", fmt::format("{}: 'signals' names one counter twice; a task raises a counter once", what),
            item);
  }
  std::optional<std::vector<Access>> accesses(const JsonValue& item, const char* key,
                                              const std::string& what) {
    if (item.find(key) == nullptr) return std::nullopt;
    const JsonValue* list = field(item, key, Kind::array, what);
    if (list == nullptr) return std::nullopt;
    std::vector<Access> result;
    for (const JsonValue& record : list->items) {
      if (!isRecord(record, fmt::format("{}: an entry of '{}'", what, key))) continue;
      Access access;
      if (!integer(record, "buffer", what, access.buffer)) continue;
      if (const JsonValue* region = optional(record, "region", Kind::array, what))
        rectangle(*region, what, access);
      if (const JsonValue* memory = optional(record, "intervals", Kind::object, what))
        intervals(*memory, what, access);
      result.push_back(std::move(access));
    }
    result.shrink_to_fit();
    return result;
  }
  void rectangle(const JsonValue& region, const std::string& what, Access& access) {
    bool depends = false;
    std::vector<std::pair<Bound, Bound>> bounds;
    bounds.reserve(region.items.size());
    access.region.ranges.reserve(region.items.size());
    for (const JsonValue& axis : region.items) {
      Bound from;
      Bound to;
      if (axis.kind != Kind::array || axis.items.size() != 2 || !bound(axis.items[0], from) ||
          !bound(axis.items[1], to)) {
        fault("load",
              fmt::format(
                  "{}: {} is no range of an axis: [from, to), integers or texts such as \"pos + 1\" and "
                  "\"min(pos + 1, 64)\"",
                  what, shortened(axis.raw, 60)),
              axis);
        return;
      }
      depends = depends || !from.constant() || !to.constant();
      bounds.emplace_back(std::move(from), std::move(to));
    }
    for (const auto& [from, to] : bounds) access.region.ranges.emplace_back(from.at(0), to.at(0));
    if (!depends) return;
    access.symbolic = std::move(bounds);
    if (!depends_) depends_ = region;
  }
  void intervals(const JsonValue& memory, const std::string& what, Access& access) {
    Strided made;
    if (!integer(memory, "start", what, made.start) || !integer(memory, "length", what, made.length) ||
        !integer(memory, "stride", what, made.stride) || !integer(memory, "count", what, made.count))
      return;
    std::int64_t reach = 0;
    const bool right = made.start >= 0 && made.length >= 1 && made.count >= 1 && made.stride >= 0 &&
                       (made.count == 1 || made.stride >= made.length) &&
                       !__builtin_mul_overflow(made.count - 1, made.stride, &reach) &&
                       std::max({made.start, made.length, reach}) <= largestBound;
    if (!right || !access.region.ranges.empty()) {
      fault(
          "load",
          fmt::format("{}: {} are no intervals: start at 0 or more, length and count at least 1, the stride "
                      "not below the length, and no 'region' beside them",
                      what, shortened(memory.raw, 80)),
          memory);
      return;
    }
    access.strided = made;
  }
  static bool bound(const JsonValue& value, Bound& into) {
    std::int64_t number = 0;
    if (value.isInteger(number)) {
      if (number > largestBound || number < -largestBound) return false;
      into.terms = {{0, number}};
      return true;
    }
    if (value.kind != Kind::string) return false;
    auto parsed = parseBound(value.string);
    if (!parsed) return false;
    into = std::move(*parsed);
    return true;
  }

  std::optional<JsonValue> depends_;  ///< the first region that depends on the position
};

}  // namespace

ReadResult readNuscope(std::string_view text) {
  return NuscopeReader(text).read();
}

ReadResult readSchedule(std::string_view text) {
  const std::string_view key = rootKey(text, [](std::string_view name, std::string_view value) {
    if (name == "format") return value.starts_with("\"nuscope-schedule\"");
    return name == "ir_version" || name == "all_tasks" || name == "all_events" || name == "first_tasks";
  });
  if (key == "format") return readNuscope(text);
  return key.empty() || key == "ir_version" ? readAmk(text) : readMirage(text);
}

}  // namespace nuscope::schedule
