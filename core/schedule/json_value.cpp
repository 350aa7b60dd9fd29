#include "core/schedule/json_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_set>

#define RAPIDJSON_HAS_STDSTRING 1
#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

namespace nuscope::schedule {
namespace {

constexpr std::size_t deepest = 64;
constexpr std::size_t fewValues = 200'000;  // of one record, in any file

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
      : text_(text), stream_(stream), handler_(handler), mostValues_(fewValues + text.size() / 16) {}

  bool Null() { return scalar(JsonValue::Kind::null, 4, {}); }
  bool Bool(bool value) { return scalar(JsonValue::Kind::boolean, value ? 4 : 5, {}); }
  bool RawNumber(const char* /*digits*/, rapidjson::SizeType length, bool /*copy*/) {
    return scalar(JsonValue::Kind::number, length, {});
  }
  bool String(const char* value, rapidjson::SizeType length, bool /*copy*/) {
    const std::uint64_t end = stream_.Tell();
    JsonValue made;
    made.kind = JsonValue::Kind::string;
    made.begin = openingQuote(end);
    made.raw = text_.substr(made.begin, end - made.begin);
    made.string.assign(value, length);
    return add(std::move(made));
  }
  bool Key(const char* value, rapidjson::SizeType length, bool /*copy*/) {
    if (depth_ == 1) {
      rootKey_.assign(value, length);
    } else {
      open_.back().keys.emplace_back(value, length);
    }
    return true;
  }
  bool StartObject() { return start(JsonValue::Kind::object); }
  bool EndObject(rapidjson::SizeType /*count*/) { return end(); }
  bool StartArray() { return start(JsonValue::Kind::array); }
  bool EndArray(rapidjson::SizeType /*count*/) { return end(); }

  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
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
  bool scalar(JsonValue::Kind kind, std::size_t length, std::string string) {
    JsonValue made;
    made.kind = kind;
    made.begin = stream_.Tell() - length;
    made.raw = text_.substr(made.begin, length);
    made.string = std::move(string);
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
    made.begin = stream_.Tell();  // the iterative reader consumes brackets after the event
    open_.push_back(std::move(made));
    return true;
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
    made.raw = text_.substr(made.begin, stream_.Tell() + 1 - made.begin);
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
      open_.back().items.push_back(std::move(value));
    } else if (streaming_) {
      handler_.onItem(rootKey_, value);
    } else {
      handler_.onKey(rootKey_, value);
    }
    return true;
  }

  std::string_view text_;
  const rapidjson::MemoryStream& stream_;
  const RecordHandler& handler_;
  std::vector<JsonValue> open_;
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

std::map<std::string, std::size_t, std::less<>> recordCounts(std::string_view text) {
  std::map<std::string, std::size_t, std::less<>> counts;
  std::string_view key;
  std::size_t* count = nullptr;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      const std::size_t from = i + 1;
      while (++i < text.size() && text[i] != '"') {
        if (text[i] == '\\') ++i;
      }
      if (depth == 1)
        key =
            text.substr(std::min(from, text.size()), std::min(i, text.size()) - std::min(from, text.size()));
    } else if (c == '[' || c == '{') {
      if (depth == 1)
        count = c == '[' && counts.size() < 64 ? &counts[std::string(key.substr(0, 64))] : nullptr;
      if (depth == 2 && c == '{' && count != nullptr) ++*count;
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return counts;
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
  rapidjson::Reader reader;
  constexpr unsigned flags = rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag |
                             rapidjson::kParseNumbersAsStringsFlag;
  const auto outcome = reader.Parse<flags>(stream, builder);
  if (!outcome.IsError()) return std::monostate{};
  const std::string what =
      builder.problem().empty() ? rapidjson::GetParseError_En(outcome.Code()) : builder.problem();
  return Refusal{fmt::format("{}: {}", placeText(text, outcome.Offset()), what), ""};
}

}  // namespace nuscope::schedule
