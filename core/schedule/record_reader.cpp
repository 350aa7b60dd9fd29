#include "core/schedule/record_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/base/text.h"

namespace nuscope::schedule {
namespace {

constexpr std::size_t faultsListed = 100;

}  // namespace

std::string_view kindText(JsonValue::Kind kind) {
  using Kind = JsonValue::Kind;
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

/// Memory for all records at once, so that lists do not take twice their size while they grow. A record of
/// fewer bytes than the least that is one is a fault anyway.
void RecordReader::reserve() {
  const auto counts = recordCounts(text_);
  const auto count = [&](std::string_view key, std::size_t leastBytes) {
    const auto at = counts.find(key);
    return at == counts.end() ? 0 : std::min(at->second, text_.size() / leastBytes);
  };
  schedule_.buffers.reserve(count("buffers", 40));
  schedule_.counters.reserve(count("counters", 9));
  schedule_.tasks.reserve(std::max(count("tasks", 30), count("all_tasks", 60)));
}

ReadResult RecordReader::readAll(std::vector<std::string> streamed) {
  reserve();
  RecordHandler handler;
  handler.streamed = std::move(streamed);
  handler.onStream = [this](const std::string& key) {
    if (std::ranges::find(seen_, key) != seen_.end()) forget(key);
    seen_.push_back(key);
  };
  // A file with so many faults is not worth keeping: what follows is checked as JSON only.
  handler.onItem = [this](const std::string& key, const JsonValue& item) {
    if (faults_ <= faultsListed) onRecord(key, item);
  };
  handler.onKey = [this](const std::string& key, const JsonValue& value) {
    seen_.push_back(key);
    onKey(key, value);
  };
  const auto outcome = readRecords(text_, handler);
  if (!outcome) {
    result_.faults.clear();  // what was read before the text broke off is not worth judging
    result_.faults.push_back({"load", outcome.refusal().message, {}, ""});
    return std::move(result_);
  }
  finish();
  if (faults_ > faultsListed)
    result_.faults.push_back({"load", "and more faults; what follows was not looked at", {}, ""});
  const auto isLoad = [](const Fault& f) { return f.code == "load"; };
  if (std::ranges::none_of(result_.faults, isLoad)) {
    result_.schedule = std::move(schedule_);
  } else if (std::ranges::all_of(result_.faults,
                                 [&](const Fault& f) { return !isLoad(f) || f.amkAccepts; })) {
    result_.lenient = std::move(schedule_);
  }
  return std::move(result_);
}

void RecordReader::onRecord(const std::string& key, const JsonValue& item) {
  if (key == "buffers") {
    buffer(item);
  } else if (key == "counters") {
    counter(item);
  } else {
    task(item);
  }
}

void RecordReader::forget(const std::string& key) {
  if (key == "buffers") schedule_.buffers.clear();
  if (key == "counters") schedule_.counters.clear();
  if (key == "tasks") schedule_.tasks.clear();
}

void RecordReader::fault(std::string code, std::string message, const JsonValue& at) {
  if (++faults_ > faultsListed) return;
  const Place place{at.begin, at.begin + at.raw.size()};
  result_.faults.push_back({std::move(code), std::move(message), place, placeText(text_, at.begin)});
}

const JsonValue* RecordReader::field(const JsonValue& record, std::string_view name, Kind kind,
                                     std::string_view what) {
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

const JsonValue* RecordReader::optional(const JsonValue& record, std::string_view name, Kind kind,
                                        std::string_view what) {
  const JsonValue* value = record.find(name);
  return value == nullptr || value->kind == Kind::null ? nullptr : field(record, name, kind, what);
}

bool RecordReader::integer(const JsonValue& record, std::string_view name, std::string_view what,
                           std::int64_t& into) {
  const JsonValue* value = field(record, name, Kind::number, what);
  if (value == nullptr) return false;
  if (value->isInteger(into)) return true;
  fault("load",
        fmt::format("{}: '{}' is {}, not an integer of 63 bits", what, name, shortened(value->raw, 40)),
        *value);
  return false;
}

bool RecordReader::integers(const JsonValue& record, std::string_view name, std::string_view what,
                            std::vector<std::int64_t>& into) {
  const JsonValue* list = field(record, name, Kind::array, what);
  if (list == nullptr) return false;
  into.reserve(list->items.size());
  for (const JsonValue& item : list->items) {
    std::int64_t value = 0;
    if (!item.isInteger(value)) {
      fault("load", fmt::format("{}: '{}' holds {}, not an integer", what, name, shortened(item.raw, 40)),
            item);
      return false;
    }
    into.push_back(value);
  }
  return true;
}

void RecordReader::textOrExtra(const JsonValue& item, const char* key, std::string& into, Extras& extras,
                               std::uint8_t& absent, std::uint8_t bit) {
  const JsonValue* value = item.find(key);
  if (value != nullptr && value->kind == Kind::string) {
    into = value->string;
    return;
  }
  absent |= bit;
  if (value != nullptr) extras.emplace_back(key, value->raw);
}

void RecordReader::extras(const JsonValue& record, std::initializer_list<std::string_view> known,
                          Extras& into) {
  for (std::size_t i = 0; i < record.keys.size(); ++i) {
    if (std::ranges::find(known, record.keys[i]) == known.end())
      into.emplace_back(record.keys[i], record.items[i].raw);
  }
}

std::string RecordReader::named(const std::string& what, std::string_view label) {
  return label.empty() ? what : fmt::format("{} ({})", what, shortened(label, 80));
}

bool RecordReader::isRecord(const JsonValue& item, std::string_view what) {
  if (item.kind == Kind::object) return true;
  fault("load", fmt::format("{} is {}, not an object", what, kindText(item.kind)), item);
  return false;
}

void RecordReader::requireRoot(std::initializer_list<std::string_view> keys) {
  JsonValue root;
  root.raw = text_.substr(0, 1);
  for (const std::string_view key : keys) {
    if (std::ranges::find(seen_, key) == seen_.end())
      fault("load", fmt::format("the file has no '{}'", key), root);
  }
}

void RecordReader::buffer(const JsonValue& item) {
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
  if (item.find("space") != nullptr) {
    name(item, "space", what, parseSpace, made.space);
  } else {
    made.absent |= Buffer::noSpace;
  }
  if (item.find("source") == nullptr) made.absent |= Buffer::noSource;
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

bool RecordReader::shape(const JsonValue& list, std::string_view what, Buffer& into) {
  std::int64_t elements = 1;
  for (const JsonValue& item : list.items) {
    std::int64_t extent = 0;
    if (!item.isInteger(extent) || extent < 1) {
      fault("load",
            fmt::format("{}: {} is no extent (an integer of at least 1)", what, shortened(item.raw, 40)),
            item);
      if (faults_ <= faultsListed) result_.faults.back().amkAccepts = true;
      into.shape.push_back(1);
      return false;
    }
    if (__builtin_mul_overflow(elements, extent, &elements)) {
      fault("load", fmt::format("{}: the number of elements does not fit 63 bits", what), list);
      if (faults_ <= faultsListed) result_.faults.back().amkAccepts = true;
      into.shape.push_back(1);
      return false;
    }
    into.shape.push_back(extent);
  }
  return true;
}

void RecordReader::counter(const JsonValue& item) {
  const std::string what = fmt::format("counters[{}]", schedule_.counters.size());
  Counter made;
  made.place = placeOf(item);
  schedule_.counters.push_back({});
  if (!isRecord(item, what)) return;
  integer(item, "id", what, made.id);
  if (item.find("init") != nullptr) {
    integer(item, "init", what, made.init);
  } else {
    made.absent |= Counter::noInit;
  }
  textOrExtra(item, "note", made.note, made.extras, made.absent, Counter::noNote);
  extras(item, {"id", "init", "note"}, made.extras);
  schedule_.counters.back() = std::move(made);
}

void RecordReader::estimate(const JsonValue& item, std::string_view key, std::string_view what,
                            std::string& into) {
  const JsonValue* value = item.find(key);
  if (value == nullptr) {
    return;
  }
  if (value->kind == Kind::number) {
    into = value->raw;
  } else {
    fault("load", fmt::format("{}: '{}' is {}, not a number", what, key, kindText(value->kind)), *value);
  }
}

void RecordReader::waits(const JsonValue& item, std::string_view what, Task& into) {
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
    if (!threshold->isInteger(made.threshold) || made.threshold < 1 || made.threshold > INT64_C(0xFFFFFFFF)) {
      fault("bad-threshold",
            fmt::format("{}: the threshold {} is no integer in 1 .. 2^32-1", what,
                        shortened(threshold->raw, 40)),
            *threshold);
      made.threshold = 1;
    }
    for (std::size_t i = 0; i < wait.keys.size(); ++i) {
      if (wait.keys[i] == "counter" || wait.keys[i] == "threshold") continue;
      if (wait.keys[i] == "per_pass" && wait.items[i].isInteger(made.perPass) && made.perPass >= 0) continue;
      made.extras += ", " + quoted(std::string(wait.keys[i])) + ": " + std::string(wait.items[i].raw);
    }
    into.waits.push_back(std::move(made));
  }
}

void RecordReader::params(const JsonValue& item, std::string_view what, Task& into) {
  const JsonValue* record = item.find("params");
  if (record == nullptr) {
    into.absent |= Task::noParams;
    return;
  }
  if (record->kind != Kind::object) {
    fault("load", fmt::format("{}: 'params' is {}, not an object", what, kindText(record->kind)), *record);
    return;
  }
  for (std::size_t i = 0; i < record->keys.size(); ++i)
    into.params.emplace_back(record->keys[i], record->items[i].raw);
}

void RecordReader::queue(const JsonValue& item, std::string_view what, Task& into) {
  const JsonValue* sm = item.find("sm");
  if (sm == nullptr) into.absent |= Task::noSm;
  if (sm == nullptr || sm->kind == Kind::null) return;
  std::int64_t value = 0;
  if (sm->isInteger(value)) {
    into.sm = value;
  } else {
    fault("load", fmt::format("{}: 'sm' is {}, not an integer or null", what, shortened(sm->raw, 40)), *sm);
  }
}

void RecordReader::target(const JsonValue& value) {
  std::int64_t sms = 0;
  schedule_.numSms.reset();
  if (value.kind != Kind::object) return;
  if (const JsonValue* count = value.find("num_sms"); count != nullptr && count->isInteger(sms))
    schedule_.numSms = sms;
}

void RecordReader::pages(const JsonValue& value) {
  if (value.kind == Kind::null) return;
  if (!isRecord(value, "'pages'")) return;
  Pages made;
  if (const JsonValue* map = field(value, "buffer_to_page", Kind::object, "'pages'")) {
    for (std::size_t i = 0; i < map->keys.size(); ++i) {
      std::int64_t buffer = 0;
      std::int64_t page = 0;
      const std::string_view text = map->keys[i];
      const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), buffer);
      if (error != std::errc() || at != text.data() + text.size() || !map->items[i].isInteger(page)) {
        fault("load",
              fmt::format("'buffer_to_page' maps '{}' to {}, not a buffer id to a page id",
                          shortened(text, 40), shortened(map->items[i].raw, 40)),
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
      if (item.find("space") != nullptr) {
        name(item, "space", "a page", parseSpace, page.space);
      } else {
        page.absent |= Page::noSpace;
      }
      integer(item, "nbytes", "a page", page.bytes);
      extras(item, {"id", "space", "nbytes"}, page.extras);
      made.pages.push_back(std::move(page));
    }
  }
  extras(value, {"buffer_to_page", "pages"}, made.extras);
  schedule_.pages = std::move(made);
}
}  // namespace nuscope::schedule
