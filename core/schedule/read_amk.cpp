// AutoMegaKernel JSON 0.2 (reference/megakernel.md A.3, A.4) -> Schedule.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>

#include "core/schedule/json_value.h"
#include "core/schedule/read.h"

namespace nuscope::schedule {
namespace {

constexpr std::size_t faultsListed = 100;
using Kind = JsonValue::Kind;

std::string_view kindText(Kind kind) {
  switch (kind) {
    case Kind::null:
      return "null";
    case Kind::boolean:
      return "a boolean";
    case Kind::number:
      return "a number";
    case Kind::string:
      return "a string";
    case Kind::array:
      return "a list";
    case Kind::object:
      return "an object";
  }
  return "null";
}

/// Reads the fields of one record and remembers what it could not read.
class AmkReader {
 public:
  explicit AmkReader(std::string_view text) : text_(text) {}

  ReadResult read() {
    RecordHandler handler;
    handler.streamed = {"buffers", "counters", "tasks"};
    handler.onStream = [this](const std::string& key) { seen_.push_back(key); };
    handler.onItem = [this](const std::string& key, const JsonValue& item) { onItem(key, item); };
    handler.onKey = [this](const std::string& key, const JsonValue& value) { onKey(key, value); };
    const auto outcome = readRecords(text_, handler);
    if (!outcome) {
      result_.faults.clear();  // what was read before the text broke off is not worth judging
      result_.faults.push_back({"load", outcome.refusal().message, {}, ""});
      return std::move(result_);
    }
    checkRoot();
    if (faults_ > faultsListed) {
      result_.faults.push_back({"load", fmt::format("and {} more faults", faults_ - faultsListed), {}, ""});
    }
    if (std::ranges::none_of(result_.faults, [](const Fault& f) { return f.code == "load"; })) {
      result_.schedule = std::move(schedule_);
    }
    return std::move(result_);
  }

 private:
  void fault(std::string code, std::string message, const JsonValue& at) {
    if (++faults_ > faultsListed) return;
    const Place place{at.begin, at.begin + at.raw.size()};
    result_.faults.push_back({std::move(code), std::move(message), place, placeText(text_, at.begin)});
  }
  static Place placeOf(const JsonValue& value) { return {value.begin, value.begin + value.raw.size()}; }

  /// A required field of the given kind, or null after a fault.
  const JsonValue* field(const JsonValue& record, std::string_view name, Kind kind, std::string_view what) {
    const JsonValue* value = record.find(name);
    if (value == nullptr) {
      fault("load", fmt::format("{} has no '{}'", what, name), record);
      return nullptr;
    }
    if (value->kind != kind) {
      fault("load", fmt::format("{}: '{}' is {}, not {}", what, name, kindText(value->kind), kindText(kind)),
            *value);
      return nullptr;
    }
    return value;
  }
  bool integer(const JsonValue& record, std::string_view name, std::string_view what, std::int64_t& into) {
    const JsonValue* value = field(record, name, Kind::number, what);
    if (value == nullptr) return false;
    if (value->isInteger(into)) return true;
    fault("load", fmt::format("{}: '{}' is {}, not an integer of 63 bits", what, name, value->raw), *value);
    return false;
  }
  bool integers(const JsonValue& record, std::string_view name, std::string_view what,
                std::vector<std::int64_t>& into) {
    const JsonValue* list = field(record, name, Kind::array, what);
    if (list == nullptr) return false;
    into.reserve(list->items.size());
    for (const JsonValue& item : list->items) {
      std::int64_t value = 0;
      if (!item.isInteger(value)) {
        fault("load", fmt::format("{}: '{}' holds {}, not an integer", what, name, item.raw.substr(0, 40)),
              item);
        return false;
      }
      into.push_back(value);
    }
    return true;
  }
  template <class Enum>
  bool name(const JsonValue& record, std::string_view key, std::string_view what,
            std::optional<Enum> (*parse)(std::string_view), Enum& into) {
    const JsonValue* value = field(record, key, Kind::string, what);
    if (value == nullptr) return false;
    if (const auto parsed = parse(value->string)) {
      into = *parsed;
      return true;
    }
    fault("load", fmt::format("{}: '{}' is no {}", what, value->string, key), *value);
    return false;
  }
  static void extras(const JsonValue& record, std::initializer_list<std::string_view> known, Extras& into) {
    for (std::size_t i = 0; i < record.keys.size(); ++i) {
      if (std::ranges::find(known, record.keys[i]) == known.end())
        into.emplace_back(record.keys[i], record.items[i].raw);
    }
  }
  bool isRecord(const JsonValue& item, std::string_view what) {
    if (item.kind == Kind::object) return true;
    fault("load", fmt::format("{} is {}, not an object", what, kindText(item.kind)), item);
    return false;
  }

  void onItem(const std::string& key, const JsonValue& item) {
    if (key == "buffers") {
      buffer(item);
    } else if (key == "counters") {
      counter(item);
    } else {
      task(item);
    }
  }

  void buffer(const JsonValue& item) {
    const std::string what = fmt::format("buffers[{}]", schedule_.buffers.size());
    Buffer made;
    made.place = placeOf(item);
    schedule_.buffers.push_back({});
    if (!isRecord(item, what)) return;
    integer(item, "id", what, made.id);
    if (const JsonValue* value = field(item, "name", Kind::string, what)) made.name = value->string;
    name(item, "kind", what, parseBufferKind, made.kind);
    name(item, "dtype", what, parseElementType, made.type);
    if (const JsonValue* list = field(item, "shape", Kind::array, what)) shape(*list, what, made);
    if (item.find("space") != nullptr) name(item, "space", what, parseSpace, made.space);
    if (const JsonValue* source = item.find("source"); source != nullptr && source->kind != Kind::null) {
      if (source->kind == Kind::string) {
        made.source = source->string;
      } else {
        fault("load", fmt::format("{}: 'source' is {}, not a string or null", what, kindText(source->kind)),
              *source);
      }
    }
    extras(item, {"id", "name", "kind", "dtype", "shape", "space", "source"}, made.extras);
    schedule_.buffers.back() = std::move(made);
  }
  void shape(const JsonValue& list, std::string_view what, Buffer& into) {
    std::int64_t elements = 1;
    for (const JsonValue& item : list.items) {
      std::int64_t extent = 0;
      if (!item.isInteger(extent) || extent < 1) {
        fault("load",
              fmt::format("{}: {} is no extent (an integer of at least 1)", what, item.raw.substr(0, 40)),
              item);
        return;
      }
      if (__builtin_mul_overflow(elements, extent, &elements)) {
        fault("load", fmt::format("{}: the number of elements does not fit 63 bits", what), list);
        return;
      }
      into.shape.push_back(extent);
    }
  }

  void counter(const JsonValue& item) {
    const std::string what = fmt::format("counters[{}]", schedule_.counters.size());
    Counter made;
    made.place = placeOf(item);
    schedule_.counters.push_back({});
    if (!isRecord(item, what)) return;
    integer(item, "id", what, made.id);
    if (item.find("init") != nullptr) integer(item, "init", what, made.init);
    if (const JsonValue* note = item.find("note"); note != nullptr && note->kind == Kind::string)
      made.note = note->string;
    extras(item, {"id", "init", "note"}, made.extras);
    schedule_.counters.back() = std::move(made);
  }

  void task(const JsonValue& item) {
    std::string what = fmt::format("tasks[{}]", schedule_.tasks.size());
    Task made;
    made.place = placeOf(item);
    schedule_.tasks.push_back({});
    if (!isRecord(item, what)) return;
    if (const JsonValue* label = item.find("label"); label != nullptr && label->kind == Kind::string) {
      made.label = label->string;
      if (!made.label.empty()) what = fmt::format("tasks[{}] ({})", schedule_.tasks.size() - 1, made.label);
    }
    integer(item, "id", what, made.id);
    if (const JsonValue* op = field(item, "op", Kind::string, what)) {
      if (const auto parsed = parseOpcode(op->string)) {
        made.op = *parsed;
      } else {
        fault("unknown-op", fmt::format("{}: '{}' is no operation of the format", what, op->string), *op);
        made.op = Opcode::custom;
        made.customOp = op->string;
      }
    }
    integers(item, "inputs", what, made.inputs);
    integers(item, "outputs", what, made.outputs);
    std::int64_t signal = 0;
    if (integer(item, "out_counter", what, signal)) made.signals.push_back(signal);
    waits(item, what, made);
    params(item, what, made);
    if (const JsonValue* sm = item.find("sm"); sm != nullptr && sm->kind != Kind::null) {
      std::int64_t value = 0;
      if (sm->isInteger(value)) {
        made.sm = value;
      } else {
        fault("load", fmt::format("{}: 'sm' is {}, not an integer or null", what, sm->raw.substr(0, 40)),
              *sm);
      }
    }
    estimate(item, "est_bytes", what, made.estBytes);
    estimate(item, "est_flops", what, made.estFlops);
    extras(item,
           {"id", "op", "inputs", "outputs", "out_counter", "waits", "params", "sm", "est_bytes", "est_flops",
            "label"},
           made.extras);
    schedule_.tasks.back() = std::move(made);
  }
  void estimate(const JsonValue& item, std::string_view key, std::string_view what, std::string& into) {
    const JsonValue* value = item.find(key);
    if (value == nullptr) return;
    if (value->kind == Kind::number) {
      into = value->raw;
    } else {
      fault("load", fmt::format("{}: '{}' is {}, not a number", what, key, kindText(value->kind)), *value);
    }
  }
  void waits(const JsonValue& item, std::string_view what, Task& into) {
    const JsonValue* list = field(item, "waits", Kind::array, what);
    if (list == nullptr) return;
    for (const JsonValue& wait : list->items) {
      if (!isRecord(wait, fmt::format("{}: a wait", what))) return;
      Wait made;
      if (!integer(wait, "counter", what, made.counter)) return;
      const JsonValue* threshold = wait.find("threshold");
      if (threshold == nullptr) {
        fault("load", fmt::format("{}: a wait has no 'threshold'", what), wait);
        return;
      }
      if (!threshold->isInteger(made.threshold) || made.threshold < 1 ||
          made.threshold > INT64_C(0xFFFFFFFF)) {
        fault("bad-threshold",
              fmt::format("{}: the threshold {} is no integer in 1 .. 2^32-1", what,
                          threshold->raw.substr(0, 40)),
              *threshold);
        made.threshold = 1;
      }
      into.waits.push_back(made);
    }
  }
  void params(const JsonValue& item, std::string_view what, Task& into) {
    const JsonValue* record = item.find("params");
    if (record == nullptr) return;
    if (record->kind != Kind::object) {
      fault("load", fmt::format("{}: 'params' is {}, not an object", what, kindText(record->kind)), *record);
      return;
    }
    for (std::size_t i = 0; i < record->keys.size(); ++i)
      into.params.emplace_back(record->keys[i], record->items[i].raw);
  }

  void onKey(const std::string& key, const JsonValue& value) {
    seen_.push_back(key);
    if (key == "buffers" || key == "counters" || key == "tasks") {
      fault("load", fmt::format("'{}' is {}, not a list", key, kindText(value.kind)), value);
    } else if (key == "ir_version" || key == "abi_version") {
      version(key, value);
    } else if (key == "pages") {
      pages(value);
    } else {
      if (key == "target" && value.kind == Kind::object) {
        std::int64_t sms = 0;
        if (const JsonValue* count = value.find("num_sms"); count != nullptr && count->isInteger(sms))
          schedule_.numSms = sms;
      }
      schedule_.rest.emplace_back(key, value.raw);
    }
  }
  void version(const std::string& key, const JsonValue& value) {
    if (value.kind != Kind::string) {
      fault("load", fmt::format("'{}' is {}, not a string", key, kindText(value.kind)), value);
      return;
    }
    (key == "ir_version" ? schedule_.irVersion : schedule_.abiVersion) = value.string;
    const std::string_view major = std::string_view(value.string).substr(0, value.string.find('.'));
    if (major != "0")
      fault("load", fmt::format("'{}' is {}; only major version 0 is known", key, value.string), value);
  }
  void pages(const JsonValue& value) {
    if (value.kind == Kind::null) return;
    if (!isRecord(value, "'pages'")) return;
    Pages made;
    if (const JsonValue* map = field(value, "buffer_to_page", Kind::object, "'pages'")) {
      for (std::size_t i = 0; i < map->keys.size(); ++i) {
        std::int64_t buffer = 0;
        std::int64_t page = 0;
        const std::string& text = map->keys[i];
        const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), buffer);
        if (error != std::errc() || at != text.data() + text.size() || !map->items[i].isInteger(page)) {
          fault("load",
                fmt::format("'buffer_to_page' maps '{}' to {}, not a buffer id to a page id", text,
                            map->items[i].raw.substr(0, 40)),
                map->items[i]);
          continue;
        }
        made.ofBuffer.emplace_back(buffer, page);
      }
    }
    if (const JsonValue* list = field(value, "pages", Kind::array, "'pages'")) {
      for (const JsonValue& item : list->items) {
        if (!isRecord(item, "a page")) continue;
        Page page;
        integer(item, "id", "a page", page.id);
        if (item.find("space") != nullptr) name(item, "space", "a page", parseSpace, page.space);
        integer(item, "nbytes", "a page", page.bytes);
        extras(item, {"id", "space", "nbytes"}, page.extras);
        made.pages.push_back(std::move(page));
      }
    }
    extras(value, {"buffer_to_page", "pages"}, made.extras);
    schedule_.pages = std::move(made);
  }
  void checkRoot() {
    JsonValue root;
    root.raw = text_.substr(0, 1);
    for (const std::string_view key : {"ir_version", "buffers", "counters", "tasks"}) {
      if (std::ranges::find(seen_, key) == seen_.end())
        fault("load", fmt::format("the file has no '{}'", key), root);
    }
  }

  std::string_view text_;
  Schedule schedule_;
  ReadResult result_;
  std::vector<std::string> seen_;
  std::size_t faults_ = 0;
};

}  // namespace

ReadResult readAmk(std::string_view text) {
  return AmkReader(text).read();
}

}  // namespace nuscope::schedule
