#pragma once
// What every reader of schedule files shares: fields of records with all their faults and places, the records
// that the formats have in common (buffers, counters, waits, pages).
#include <array>
#include <initializer_list>

#include "core/base/text.h"
#include "core/schedule/json_value.h"
#include "core/schedule/read.h"

namespace nuscope::schedule {

std::string_view kindText(JsonValue::Kind kind);
/// A text as a JSON string.
std::string quoted(const std::string& text);

class RecordReader {
 protected:
  using Kind = JsonValue::Kind;
  explicit RecordReader(std::string_view text) : text_(text) {}

  /// Reads all records: `onRecord` gets the items of the lists named in `streamed`, `onKey` everything else
  /// of the root. Later duplicates of a root key win; `forget` drops what an earlier list gave. Then
  /// `finish`.
  ReadResult readAll(std::vector<std::string> streamed);
  /// Of the lists "buffers", "counters" and "tasks", unless a format has others.
  virtual void onRecord(const std::string& key, const JsonValue& item);
  virtual void onKey(const std::string& key, const JsonValue& value) = 0;
  virtual void forget(const std::string& key);
  virtual void task(const JsonValue& item) = 0;
  virtual void finish() = 0;
  virtual ~RecordReader() = default;

  void fault(std::string code, std::string message, const JsonValue& at);
  static Place placeOf(const JsonValue& value) { return {value.begin, value.begin + value.raw.size()}; }
  /// A required field of the given kind, or null after a fault.
  const JsonValue* field(const JsonValue& record, std::string_view name, Kind kind, std::string_view what);
  /// An optional field of the given kind, or null if it is absent or after a fault.
  const JsonValue* optional(const JsonValue& record, std::string_view name, Kind kind, std::string_view what);
  bool integer(const JsonValue& record, std::string_view name, std::string_view what, std::int64_t& into);
  bool integers(const JsonValue& record, std::string_view name, std::string_view what,
                std::vector<std::int64_t>& into);
  template <class Enum>
  bool name(const JsonValue& record, std::string_view key, std::string_view what,
            std::optional<Enum> (*parse)(std::string_view), Enum& into) {
    const JsonValue* value = field(record, key, Kind::string, what);
    if (value == nullptr) return false;
    if (const auto parsed = parse(value->string)) {
      into = *parsed;
      return true;
    }
    fault(
        "load",
        std::string(what) + ": '" + std::string(shortened(value->string, 80)) + "' is no " + std::string(key),
        *value);
    return false;
  }
  /// A text; anything else is kept as it is. Sets the bit where there is no text.
  static void textOrExtra(const JsonValue& item, const char* key, std::string& into, Extras& extras,
                          std::uint8_t& absent, std::uint8_t bit);
  static void extras(const JsonValue& record, std::initializer_list<std::string_view> known, Extras& into);
  /// How messages name a task: its place, and its label, cut.
  static std::string named(const std::string& what, std::string_view label);
  bool isRecord(const JsonValue& item, std::string_view what);
  void requireRoot(std::initializer_list<std::string_view> keys);

  void buffer(const JsonValue& item);
  void counter(const JsonValue& item);
  void waits(const JsonValue& item, std::string_view what, Task& into);
  void params(const JsonValue& item, std::string_view what, Task& into);
  void estimate(const JsonValue& item, std::string_view key, std::string_view what, std::string& into);
  void queue(const JsonValue& item, std::string_view what, Task& into);
  void target(const JsonValue& value);
  void pages(const JsonValue& value);

  std::string_view text_;
  Schedule schedule_;
  ReadResult result_;
  std::vector<std::string> seen_;
  std::size_t faults_ = 0;

 private:
  void reserve();
  bool shape(const JsonValue& list, std::string_view what, Buffer& into);
};

}  // namespace nuscope::schedule
