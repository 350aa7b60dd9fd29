#include "core/schedule/ir.h"

#include <charconv>
#include <iterator>

namespace nuscope::schedule {
namespace {

struct TypeRow {
  std::string_view text;
  int bits;
};
struct KindRow {
  std::string_view text;
  bool readOnly;
};
struct OpRow {
  std::string_view text;
  Arity arity;
};

#define X(name, text, bits) {text, bits},
constexpr TypeRow typeRows[] = {NUSCOPE_ELEMENT_TYPES(X)};
#undef X
#define X(name, text) text,
constexpr std::string_view spaceRows[] = {NUSCOPE_SPACES(X)};
#undef X
#define X(name, text, readOnly) {text, readOnly},
constexpr KindRow kindRows[] = {NUSCOPE_BUFFER_KINDS(X)};
#undef X
#define X(name, text, least, most, outputs, required) {text, {least, most, outputs, required}},
constexpr OpRow opRows[] = {NUSCOPE_OPCODES(X)};
#undef X

template <class Enum, class Rows, class Text>
std::optional<Enum> find(const Rows& rows, std::string_view wanted, Text textOf) {
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    if (textOf(rows[i]) == wanted) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view text(ElementType type) {
  return typeRows[static_cast<std::size_t>(type)].text;
}
std::string_view text(Space space) {
  return spaceRows[static_cast<std::size_t>(space)];
}
std::string_view text(BufferKind kind) {
  return kindRows[static_cast<std::size_t>(kind)].text;
}
std::string_view text(Opcode op) {
  return op == Opcode::custom ? std::string_view("CUSTOM") : opRows[static_cast<std::size_t>(op)].text;
}

std::optional<ElementType> parseElementType(std::string_view wanted) {
  return find<ElementType>(typeRows, wanted, [](const TypeRow& row) { return row.text; });
}
std::optional<Space> parseSpace(std::string_view wanted) {
  return find<Space>(spaceRows, wanted, [](std::string_view row) { return row; });
}
std::optional<BufferKind> parseBufferKind(std::string_view wanted) {
  return find<BufferKind>(kindRows, wanted, [](const KindRow& row) { return row.text; });
}
std::optional<Opcode> parseOpcode(std::string_view wanted) {
  return find<Opcode>(opRows, wanted, [](const OpRow& row) { return row.text; });
}

int bits(ElementType type) {
  return typeRows[static_cast<std::size_t>(type)].bits;
}
bool isReadOnly(BufferKind kind) {
  return kindRows[static_cast<std::size_t>(kind)].readOnly;
}

Arity arity(Opcode op) {
  if (op == Opcode::custom) return {0, INT32_MAX, -1, ""};
  return opRows[static_cast<std::size_t>(op)].arity;
}

std::int64_t Buffer::elements() const {
  std::int64_t n = 1;
  for (const std::int64_t extent : shape) n *= extent;  // the reader has checked that this fits
  return n;
}

std::int64_t Buffer::bytes() const {
  const std::int64_t n = elements();
  std::int64_t eights = 0;
  std::int64_t all = 0;
  if (__builtin_mul_overflow(n / 8, std::int64_t{bits(type)}, &eights) ||
      __builtin_add_overflow(eights, (n % 8 * bits(type) + 7) / 8, &all))
    return INT64_MAX;
  return all;
}

const std::string* Task::param(std::string_view name) const {
  for (const auto& [key, value] : params) {
    if (key == name) return &value;
  }
  return nullptr;
}

std::optional<std::int64_t> Task::integer(std::string_view name) const {
  const std::string* value = param(name);
  if (value == nullptr) return std::nullopt;
  std::int32_t result = 0;
  const char* end = value->data() + value->size();
  const auto [at, error] = std::from_chars(value->data(), end, result);
  if (error != std::errc() || at != end) return std::nullopt;
  return result;
}

}  // namespace nuscope::schedule
