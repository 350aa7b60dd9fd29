#pragma once
// One record of a large JSON file, with the place of every value. Files are read record by record
// (RapidJSON's SAX reader), so that memory follows the records and not the text, and depth is bounded.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/result.h"

namespace nuscope::schedule {

struct JsonValue {
  enum class Kind : std::uint8_t { null, boolean, number, string, array, object };
  Kind kind = Kind::null;
  std::string_view raw;                ///< the value's text in the file
  std::uint64_t begin = 0;             ///< byte offset of `raw`
  std::string_view string;             ///< decoded, for strings; valid as long as the record is
  std::vector<JsonValue> items;        ///< of arrays and objects
  std::vector<std::string_view> keys;  ///< of objects, one an item; later duplicates win, as in every reader
  [[nodiscard]] const JsonValue* find(std::string_view key) const;
  /// An exact integer of 63 bits: no fraction, no exponent, no boolean.
  [[nodiscard]] bool isInteger(std::int64_t& value) const;
};

/// What of the root is delivered as it is read: every item of a root key in `streamed` that is an array is
/// passed to `onItem(key, item)` and then forgotten; all other root keys are collected and passed to `onKey`
/// at the end of each.
struct RecordHandler {
  std::vector<std::string> streamed;
  std::function<void(const std::string& key)> onStream;  ///< the array of a streamed key begins
  std::function<void(const std::string& key, const JsonValue& item)> onItem;
  std::function<void(const std::string& key, const JsonValue& value)> onKey;
};

/// Reads one JSON object. Refused, with line and column: no JSON, trailing text, no UTF-8, a root that is no
/// object, a NaN, nesting deeper than 64, a record of more than 100,000 values + one for 24 bytes of text.
/// `text` must outlive the values.
Result<std::monostate> readRecords(std::string_view text, const RecordHandler& handler);

/// How many objects each list of the root holds, by a quick look that trusts the text: for reserving memory
/// once instead of growing. Wrong for text that is no JSON, but never more than one for two bytes.
std::map<std::string, std::size_t, std::less<>> recordCounts(std::string_view text);
/// The first key of the root for which `wanted(key, text that begins with its value)` holds, by the same
/// quick look; empty if there is none.
std::string_view rootKey(std::string_view text,
                         const std::function<bool(std::string_view key, std::string_view value)>& wanted);

/// "line 12, column 7" of a byte offset.
std::string placeText(std::string_view text, std::uint64_t offset);

}  // namespace nuscope::schedule
