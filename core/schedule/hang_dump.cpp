// The text form of hang dumps.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "core/base/text.h"
#include "core/schedule/hang.h"
#include "core/schedule/json_value.h"
#include "core/schedule/structure.h"

namespace nuscope::schedule {
namespace {

using Kind = JsonValue::Kind;
using State = HangDump::Queue::State;
constexpr std::size_t largestFile = std::size_t{64} << 20U;
constexpr std::string_view stateTexts[] = {"unknown", "waiting", "running", "not-started", "done"};

class DumpReader {
 public:
  explicit DumpReader(std::string_view text) : text_(text) {}
  Result<HangDump> read() {
    RecordHandler handler;
    handler.onStream = [](const std::string&) {};
    handler.onItem = [](const std::string&, const JsonValue&) {};
    handler.onKey = [this](const std::string& key, const JsonValue& value) { onKey(key, value); };
    if (const auto outcome = readRecords(text_, handler); !outcome) return outcome.refusal();
    if (!format_ && problem_.empty()) problem_ = "the file has no \"format\": \"nuscope-hang-dump\"";
    if (!queues_ && problem_.empty()) problem_ = "the file has no 'queues'";
    if (!problem_.empty()) return Refusal{problem_, "core/schedule/hang.h describes the form"};
    return std::move(dump_);
  }

 private:
  void wrong(const JsonValue& at, std::string what) {
    if (problem_.empty()) problem_ = fmt::format("{}: {}", placeText(text_, at.begin), what);
  }
  static bool number(std::string_view text, std::int64_t& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
  }
  void onKey(const std::string& key, const JsonValue& value) {
    std::int64_t version = 0;
    if (key == "format") {
      format_ = true;
      if (value.string != "nuscope-hang-dump") wrong(value, "'format' is not \"nuscope-hang-dump\"");
    } else if (key == "version") {
      if (!value.isInteger(version) || version != 1) wrong(value, "'version' is not 1");
    } else if (key == "queues") {
      queues_ = true;
      queues(value);
    } else if (key == "counters") {
      counters(value);
    } else if (key == "done" || key == "running") {
      ids(value, key == "done" ? dump_.done : dump_.running);
    }
  }
  void queues(const JsonValue& value) {
    if (value.kind != Kind::object) return wrong(value, "'queues' is no object");
    for (std::size_t i = 0; i < value.keys.size(); ++i) {
      const JsonValue& item = value.items[i];
      std::int64_t sm = 0;
      if (!number(value.keys[i], sm))
        return wrong(item, fmt::format("'{}' is no SM", shortened(value.keys[i], 40)));
      HangDump::Queue queue;
      const JsonValue* task = item.kind == Kind::object ? item.find("task") : &item;
      std::int64_t id = 0;
      if (task != nullptr && task->kind != Kind::null) {
        if (!task->isInteger(id)) return wrong(*task, "a queue's task is no id");
        queue.task = id;
      }
      if (const JsonValue* state = item.kind == Kind::object ? item.find("state") : nullptr) {
        const auto at = std::ranges::find(stateTexts, std::string_view(state->string));
        if (at == std::end(stateTexts))
          return wrong(*state, "a queue's state is none of waiting, running, not-started, done");
        queue.state = static_cast<State>(at - std::begin(stateTexts));
      }
      dump_.queues[sm] = queue;
    }
  }
  void counters(const JsonValue& value) {
    if (value.kind != Kind::object) return wrong(value, "'counters' is no object");
    for (std::size_t i = 0; i < value.keys.size(); ++i) {
      std::int64_t id = 0;
      std::int64_t held = 0;
      if (!number(value.keys[i], id) || !value.items[i].isInteger(held))
        return wrong(value.items[i], "'counters' maps ids to values");
      dump_.counters[id] = held;
    }
  }
  void ids(const JsonValue& value, std::vector<std::int64_t>& into) {
    if (value.kind != Kind::array) return wrong(value, "not a list of task ids");
    into.clear();
    for (const JsonValue& item : value.items) {
      std::int64_t id = 0;
      if (!item.isInteger(id)) return wrong(item, "not a task id");
      into.push_back(id);
    }
  }

  std::string_view text_;
  std::string problem_;
  HangDump dump_;
  bool format_ = false;
  bool queues_ = false;
};

}  // namespace

Result<HangDump> parseHangDump(std::string_view json) {
  if (json.size() > largestFile) return Refusal{"a hang dump of more than 64 MiB is not read", ""};
  return DumpReader(json).read();
}

std::string writeHangDump(const HangDump& dump) {
  std::string out = "{\"format\": \"nuscope-hang-dump\", \"version\": 1,\n \"queues\": {";
  const char* comma = "";
  for (const auto& [sm, queue] : dump.queues) {
    out +=
        fmt::format("{}\"{}\": {{\"task\": {}", comma, sm, queue.task ? std::to_string(*queue.task) : "null");
    if (queue.state != State::unknown)
      out += fmt::format(", \"state\": \"{}\"", stateTexts[static_cast<std::size_t>(queue.state)]);
    out += "}";
    comma = ", ";
  }
  out += "},\n \"counters\": {";
  comma = "";
  for (const auto& [id, value] : dump.counters) {
    out += fmt::format("{}\"{}\": {}", comma, id, value);
    comma = ", ";
  }
  const auto list = [](const std::vector<std::int64_t>& ids) {
    std::string text;
    for (const std::int64_t id : ids) text += (text.empty() ? "" : ", ") + std::to_string(id);
    return text;
  };
  return out + "},\n \"done\": [" + list(dump.done) + "],\n \"running\": [" + list(dump.running) + "]}\n";
}

std::optional<HangDump> dumpOfDeadlock(const Schedule& schedule) {
  const Ids ids(schedule);
  if (!malformations(schedule, ids).empty()) return std::nullopt;
  const Model model = modelOf(schedule, ids);
  const Closure end = closure(model);
  if (end.order.size() == schedule.tasks.size()) return std::nullopt;
  HangDump dump;
  for (std::size_t q = 0; q < model.queues.size(); ++q) {
    HangDump::Queue queue;
    queue.state = State::done;
    for (const std::int32_t t : model.queues[q]) {
      if (end.completed[static_cast<std::size_t>(t)] != 0) continue;
      queue.task = schedule.tasks[static_cast<std::size_t>(t)].id;
      queue.state = State::waiting;
      break;
    }
    dump.queues[model.queueSm[q]] = queue;
  }
  for (std::size_t c = 0; c < schedule.counters.size(); ++c)
    dump.counters[schedule.counters[c].id] = end.counters[c];
  for (std::size_t t = 0; t < schedule.tasks.size(); ++t) {
    if (model.queueOf[t] < 0 && end.completed[t] != 0) dump.done.push_back(schedule.tasks[t].id);
  }
  return dump;
}

}  // namespace nuscope::schedule
