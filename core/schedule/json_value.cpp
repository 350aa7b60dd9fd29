#include "core/schedule/json_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <deque>
#include <unordered_set>

#define RAPIDJSON_HAS_STDSTRING 1
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

namespace nuscope::schedule {
namespace {

constexpr std::size_t deepest = 64;
constexpr std::size_t fewValues = 100'000;  // of one record, in any file
constexpr std::size_t textOfValue = 24;     // bytes of the whole text that entitle to one value more

/// Of items with one key the last one stays.
void lastOfDuplicates(JsonValue& object) {
  std::unordered_set<std::string_view> seen;
  const auto known = [&](std::size_t i) {
    if (object.keys.size() > 16) return !seen.insert(object.keys[i]).second;
    return std::find(object.keys.begin() + static_cast<std::ptrdiff_t>(i) + 1, object.keys.end(),
                     object.keys[i]) != object.keys.end();
  };
  std::vector<std::size_t> dropped;
  for (std::size_t i = object.keys.size(); i-- > 0;) {
    if (known(i)) dropped.push_back(i);
  }
  seen.clear();
  if (dropped.empty()) return;
  JsonValue kept;
  for (std::size_t i = 0; i < object.keys.size(); ++i) {
    if (!dropped.empty() && dropped.back() == i) {
      dropped.pop_back();
      continue;
    }
    kept.keys.push_back(std::move(object.keys[i]));
    kept.items.push_back(std::move(object.items[i]));
  }
  object.keys = std::move(kept.keys);
  object.items = std::move(kept.items);
}

/// Builds one value at a time; `stream` tells where in the text the reader is.
class Builder : public rapidjson::BaseReaderHandler<rapidjson::UTF8<>, Builder> {
 public:
  Builder(std::string_view text, const rapidjson::MemoryStream& stream, const RecordHandler& handler)
      : text_(text), stream_(stream), handler_(handler), mostValues_(fewValues + text.size() / textOfValue) {}

  bool Null() { return scalar(JsonValue::Kind::null, 4); }
  bool Bool(bool value) { return scalar(JsonValue::Kind::boolean, value ? 4 : 5); }
  bool RawNumber(const char* /*digits*/, rapidjson::SizeType length, bool /*copy*/) {
    return scalar(JsonValue::Kind::number, length);
  }
  bool String(const char* value, rapidjson::SizeType length, bool /*copy*/) {
    const std::uint64_t end = stream_.Tell();
    JsonValue made;
    made.kind = JsonValue::Kind::string;
    made.string = kept(value, length, end);
    made.begin = made.string.data() == inText(length, end) ? end - length - 2 : openingQuote(end);
    made.raw = text_.substr(made.begin, end - made.begin);
    return add(std::move(made));
  }
  bool Key(const char* value, rapidjson::SizeType length, bool /*copy*/) {
    if (depth_ == 1) {
      rootKey_.assign(value, length);
    } else {
      append(open_.back().keys, kept(value, length, stream_.Tell()));
    }
    return true;
  }
  bool StartObject() { return start(JsonValue::Kind::object); }
  bool EndObject(rapidjson::SizeType /*count*/) { return end(); }
  bool StartArray() { return start(JsonValue::Kind::array); }
  bool EndArray(rapidjson::SizeType /*count*/) { return end(); }

  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  /// Where a string without escapes stands, whose closing quote is the byte before `end`.
  const char* inText(std::size_t length, std::uint64_t end) const {
    return length + 2 <= end ? text_.data() + (end - length - 1) : nullptr;
  }
  /// The decoded string: in the text itself where it has no escapes, else a copy that lives as long as the
  /// record.
  std::string_view kept(const char* value, std::size_t length, std::uint64_t end) {
    const char* at = inText(length, end);
    // Decoding an escape makes a string shorter, so equal bytes behind an opening quote are the string.
    if (at != nullptr && at[-1] == '"' && std::memcmp(at, value, length) == 0 &&
        std::memchr(at, '\\', length) == nullptr)
      return {at, length};
    return decoded_.emplace_back(value, length);
  }
  std::uint64_t openingQuote(std::uint64_t end) const {
    // The reader stands behind the closing quote. The opening one is the nearest unescaped quote before it.
    std::uint64_t at = end - 1;
    while (at-- > 0) {
      if (text_[at] != '"') continue;
      std::uint64_t slashes = 0;
      while (at > slashes && text_[at - 1 - slashes] == '\\') ++slashes;
      if (slashes % 2 == 0) return at;
    }
    return 0;
  }
  bool scalar(JsonValue::Kind kind, std::size_t length) {
    JsonValue made;
    made.kind = kind;
    made.begin = stream_.Tell() - length;
    made.raw = text_.substr(made.begin, length);
    return add(std::move(made));
  }
  bool start(JsonValue::Kind kind) {
    if (++depth_ > deepest) {
      problem_ = fmt::format("nested deeper than {} levels", deepest);
      return false;
    }
    if (depth_ == 1) {
      if (kind == JsonValue::Kind::object) return true;
      problem_ = "the root is no object";
      return false;
    }
    if (depth_ == 2 && kind == JsonValue::Kind::array &&
        std::ranges::find(handler_.streamed, rootKey_) != handler_.streamed.end()) {
      streaming_ = true;
      handler_.onStream(rootKey_);
      return true;
    }
    JsonValue made;
    made.kind = kind;
    made.begin = stream_.Tell() - 1;
    open_.push_back(std::move(made));
    return true;
  }
  /// Lists that grow move what they hold; most records have about a dozen values, what is in them a few.
  /// An empty one takes nothing.
  template <class Item>
  void append(std::vector<Item>& list, Item item) {
    if (list.empty()) list.reserve(open_.size() == 1 ? 12 : 4);
    list.push_back(std::move(item));
  }
  bool end() {
    --depth_;
    if (depth_ == 0) return true;
    if (depth_ == 1 && streaming_) {
      streaming_ = false;
      return true;
    }
    JsonValue made = std::move(open_.back());
    open_.pop_back();
    made.raw = text_.substr(made.begin, stream_.Tell() - made.begin);
    lastOfDuplicates(made);
    return add(std::move(made));
  }
  bool add(JsonValue value) {
    if (++values_ > mostValues_) {
      problem_ = fmt::format("one record holds more than {} values", mostValues_);
      return false;
    }
    if (open_.empty()) values_ = 0;
    if (depth_ == 0) {
      problem_ = "the root is no object";
      return false;
    }
    if (!open_.empty()) {
      append(open_.back().items, std::move(value));
      return true;
    }
    streaming_ ? handler_.onItem(rootKey_, value) : handler_.onKey(rootKey_, value);
    decoded_.clear();
    return true;
  }

  std::string_view text_;
  const rapidjson::MemoryStream& stream_;
  const RecordHandler& handler_;
  std::vector<JsonValue> open_;
  std::deque<std::string> decoded_;  ///< strings of the record that have escapes
  std::string rootKey_;
  std::string problem_;
  std::size_t depth_ = 0;
  bool streaming_ = false;
  std::size_t values_ = 0;  ///< of the record that is being read
  std::size_t mostValues_;  ///< a value takes more memory than its text
};

}  // namespace

const JsonValue* JsonValue::find(std::string_view key) const {
  for (std::size_t i = keys.size(); i-- > 0;) {
    if (keys[i] == key) return &items[i];
  }
  return nullptr;
}

bool JsonValue::isInteger(std::int64_t& value) const {
  if (kind != Kind::number) return false;
  const auto [at, error] = std::from_chars(raw.data(), raw.data() + raw.size(), value);
  return error == std::errc() && at == raw.data() + raw.size();
}

namespace {

/// Length of the UTF-8 sequence at `at`; 0 for none (too long, a surrogate, beyond U+10FFFF, cut off).
std::size_t sequence(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  const unsigned first = byte(0);
  const auto follows = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
    return byte(i) >= low && byte(i) <= high;
  };
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool second = follows(1, first == 0xE0 ? 0xA0 : 0x80, first == 0xED ? 0x9F : 0xBF);
    return second && follows(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool second = follows(1, first == 0xF0 ? 0x90 : 0x80, first == 0xF4 ? 0x8F : 0xBF);
    return second && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

/// Offset of the first byte that is no UTF-8; the size where there is none.
std::size_t firstInvalid(std::string_view text) {
  constexpr std::uint64_t notAscii = 0x8080808080808080ULL;
  for (std::size_t at = 0; at < text.size();) {
    std::uint64_t word = 0;
    if (at + sizeof word <= text.size()) {
      std::memcpy(&word, text.data() + at, sizeof word);
      if ((word & notAscii) == 0) {
        at += sizeof word;
        continue;
      }
    }
    const std::size_t length = sequence(text, at);
    if (length == 0) return at;
    at += length;
  }
  return text.size();
}

}  // namespace

namespace {

/// Walks over a text that is trusted to be JSON. Calls onKey(key, behind) for every key of the root, with the
/// text behind it, until it returns true; onRecord() for every object in a list of the root.
template <class OnKey, class OnRecord>
void glance(std::string_view text, OnKey onKey, OnRecord onRecord) {
  std::string_view last;  // string in the root
  bool list = false;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      const std::size_t from = i + 1;
      while (++i < text.size() && text[i] != '"') {
        if (text[i] == '\\') ++i;
      }
      if (depth == 1 && i < text.size()) last = text.substr(from, i - from);
    } else if (c == ':') {
      if (depth == 1 && onKey(last, text.substr(i + 1))) return;
    } else if (c == '[' || c == '{') {
      if (depth == 1) list = c == '[';
      if (depth == 2 && c == '{' && list) onRecord();
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
}

}  // namespace

std::map<std::string, std::size_t, std::less<>> recordCounts(std::string_view text) {
  std::map<std::string, std::size_t, std::less<>> counts;
  std::size_t other = 0;
  std::size_t* count = &other;
  glance(
      text,
      [&](std::string_view key, std::string_view) {
        count = counts.size() < 64 ? &counts[std::string(key.substr(0, 64))] : &other;
        return false;
      },
      [&] { ++*count; });
  return counts;
}

std::string_view rootKey(std::string_view text,
                         const std::function<bool(std::string_view, std::string_view)>& wanted) {
  std::string_view found;
  glance(
      text,
      [&](std::string_view key, std::string_view behind) {
        behind.remove_prefix(std::min(behind.size(), behind.find_first_not_of(" \t\r\n")));
        if (!wanted(key, behind)) return false;
        found = key;
        return true;
      },
      [] {});
  return found;
}

std::string placeText(std::string_view text, std::uint64_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto line = std::ranges::count(before, '\n') + 1;
  const auto start = before.rfind('\n');
  const auto column = before.size() - (start == std::string_view::npos ? 0 : start + 1) + 1;
  return fmt::format("line {}, column {}", line, column);
}

Result<std::monostate> readRecords(std::string_view text, const RecordHandler& handler) {
  if (text.starts_with("\xEF\xBB\xBF"))
    return Refusal{"the file starts with a byte order mark", "save it as plain UTF-8"};
  rapidjson::MemoryStream stream(text.data(), text.size());
  Builder builder(text, stream, handler);
  if (const std::size_t at = firstInvalid(text); at != text.size())
    return Refusal{fmt::format("{}: this is no UTF-8", placeText(text, at)), "save it as plain UTF-8"};
  rapidjson::Reader reader;  // recursive; the builder bounds the depth
  const auto outcome = reader.Parse<rapidjson::kParseNumbersAsStringsFlag>(stream, builder);
  if (!outcome.IsError()) return std::monostate{};
  const std::string what =
      builder.problem().empty() ? rapidjson::GetParseError_En(outcome.Code()) : builder.problem();
  return Refusal{fmt::format("{}: {}", placeText(text, outcome.Offset()), what), ""};
}

}  // namespace nuscope::schedule
