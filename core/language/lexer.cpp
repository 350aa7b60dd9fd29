#include "core/language/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace nuscope::language {
namespace {

constexpr std::size_t longestLiteral = 1000;
constexpr std::size_t deepestIndentation = 100;
constexpr std::string_view bom = "\xEF\xBB\xBF";

bool isDigit(char c) {
  return c >= '0' && c <= '9';
}
bool isNameStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool isNamePart(char c) {
  return isNameStart(c) || isDigit(c);
}
bool isContinuationByte(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}
bool isHighByte(char c) {
  return static_cast<unsigned char>(c) >= 0x80U;
}

constexpr std::array<std::string_view, 50> operators = {
    "**=", "//=", ">>=", "<<=", "...", "->", ":=", "**", "//", "<=", ">=", "==", "!=", "<<", ">>", "<>", "+=",
    "-=",  "*=",  "/=",  "%=",  "@=",  "&=", "|=", "^=", "(",  ")",  "[",  "]",  "{",  "}",  "+",  "-",  "*",
    "/",   "%",   "@",   "<",   ">",   "=",  ".",  ",",  ":",  ";",  "&",  "|",  "^",  "~",  "!",  "?"};

class Lexer {
 public:
  Lexer(std::string_view text, std::vector<Diagnostic>& diagnostics)
      : text_(text), diagnostics_(diagnostics) {}

  std::vector<Token> run() {
    if (text_.starts_with(bom)) at_ = bom.size();
    while (at_ < text_.size()) {
      if (lineStart_) {
        indentation();
        continue;
      }
      token();
    }
    if (!brackets_.empty()) {
      const Token& open = tokens_[brackets_.back()];
      error(open.place, fmt::format("'{}' is never closed", open.text), "close the bracket");
    }
    const Mark here = mark();
    if (!tokens_.empty() && tokens_.back().kind != Token::Kind::newline) push(Token::Kind::newline, here, "");
    while (indents_.size() > 1) {
      indents_.pop_back();
      push(Token::Kind::dedent, here, "");
    }
    push(Token::Kind::end, here, "");
    return std::move(tokens_);
  }

 private:
  struct Mark {
    std::size_t at;
    int line;
    int column;
  };
  [[nodiscard]] Mark mark() const { return {at_, line_, column_}; }
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void advance(std::size_t count = 1) {
    for (; count > 0 && at_ < text_.size(); --count) {
      const char c = text_[at_++];
      if (c == '\n') {
        ++line_;
        column_ = 1;
      } else if (!isContinuationByte(c)) {
        ++column_;
      }
    }
  }

  [[nodiscard]] Place placeFrom(const Mark& start) const {
    return {start.at, at_, {start.line, start.column, line_, column_}};
  }

  void push(Token::Kind kind, const Mark& start, std::string text) {
    tokens_.push_back({kind, std::move(text), placeFrom(start)});
  }

  void error(const Place& place, std::string message, std::string hint = {}) {
    diagnostics_.push_back({Severity::error, place.range, std::move(message), std::move(hint)});
  }

  /// At the start of a physical line outside brackets: blank lines vanish, others open or close blocks.
  void indentation() {
    std::size_t width = 0;
    const Mark start = mark();
    while (peek() == ' ' || peek() == '\t' || peek() == '\f') {
      width = peek() == '\t' ? (width / 8 + 1) * 8 : peek() == ' ' ? width + 1 : 0;
      advance();
    }
    if (at_ >= text_.size()) return;
    if (peek() == '\n' || (peek() == '\r' && (peek(1) == '\n' || peek(1) == '\0'))) {
      advance(peek() == '\r' ? 2 : 1);
      return;
    }
    if (peek() == '#') {
      while (at_ < text_.size() && peek() != '\n') advance();
      advance();
      return;
    }
    lineStart_ = false;
    if (width > indents_.back()) {
      if (indents_.size() > deepestIndentation) {
        error(placeFrom(start), "blocks are nested too deep", "split the program into helper functions");
        return;
      }
      indents_.push_back(width);
      push(Token::Kind::indent, start, "");
      return;
    }
    while (width < indents_.back()) {
      indents_.pop_back();
      push(Token::Kind::dedent, start, "");
    }
    if (width != indents_.back()) {
      error(placeFrom(start), "the indentation matches no enclosing block",
            "indent each block by four spaces");
    }
  }

  void token() {
    const char c = peek();
    if (c == ' ' || c == '\t' || c == '\f' || c == '\r') {
      advance();
    } else if (c == '#') {
      while (at_ < text_.size() && peek() != '\n') advance();
    } else if (c == '\n') {
      endLine();
    } else if (c == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
      advance(peek(1) == '\r' ? 3 : 2);
    } else if (isNameStart(c)) {
      nameOrString();
    } else if (isDigit(c) || (c == '.' && isDigit(peek(1)))) {
      number();
    } else if (c == '"' || c == '\'') {
      string(mark());
    } else {
      operatorOrJunk();
    }
  }

  void endLine() {
    const Mark start = mark();
    if (brackets_.empty()) {
      push(Token::Kind::newline, start, "");
      lineStart_ = true;
    }
    advance();
  }

  void nameOrString() {
    const Mark start = mark();
    while (isNamePart(peek())) advance();
    std::string name(from(start));
    if (startsStatement(name) && abandonBrackets(start)) return;
    if ((peek() == '"' || peek() == '\'') && name.size() <= 2) {
      string(start);
      error(tokens_.back().place, fmt::format("'{}\"...\"' strings are outside the language", name),
            "only plain strings occur, as the text of np.einsum");
      return;
    }
    if (isHighByte(peek())) {
      while (isNamePart(peek()) || isHighByte(peek())) advance();
      error(placeFrom(start), fmt::format("the name '{}' has letters outside ASCII", quoted(from(start))),
            "use a to z, A to Z, digits and _");
      name = "_";
    }
    push(Token::Kind::name, start, std::move(name));
  }

  /// A line that starts with a word no continuation line can start with: an open bracket was never meant to
  /// reach it.
  static bool startsStatement(std::string_view name) {
    return name == "def" || name == "return" || name == "assert" || name == "import" || name == "class";
  }

  bool abandonBrackets(const Mark& start) {
    if (brackets_.empty() || tokens_.back().place.range.endLine >= start.line) return false;
    const Token& open = tokens_[brackets_.back()];
    error(open.place, fmt::format("'{}' is never closed", open.text), "close the bracket");
    brackets_.clear();
    at_ = start.at - static_cast<std::size_t>(start.column - 1);  // only blanks stand before it
    column_ = 1;
    push(Token::Kind::newline, mark(), "");
    lineStart_ = true;
    return true;
  }

  [[nodiscard]] std::string_view from(const Mark& start) const {
    return text_.substr(start.at, at_ - start.at);
  }

  void number() {
    const Mark start = mark();
    const bool based = peek() == '0' && std::string_view("xXoObB").find(peek(1)) != std::string_view::npos;
    if (based) {
      advance(2);
      while (isNamePart(peek())) advance();
    } else {
      const auto digits = [this] {
        while (isDigit(peek()) || (peek() == '_' && isDigit(peek(1)))) advance();
      };
      digits();
      if (peek() == '.') advance();
      digits();
      if ((peek() == 'e' || peek() == 'E') &&
          (isDigit(peek(1)) || ((peek(1) == '+' || peek(1) == '-') && isDigit(peek(2))))) {
        advance(2);
        digits();
      }
    }
    std::string literal(from(start));
    if (based) {
      error(placeFrom(start), fmt::format("the literal {} is not decimal", quoted(literal)),
            "write it in decimal");
      literal = "1";
    } else if (isNamePart(peek()) || isHighByte(peek())) {
      while (isNamePart(peek()) || isHighByte(peek())) advance();
      error(placeFrom(start), fmt::format("'{}' is no number", quoted(from(start))),
            peek(0) == 'j' || from(start).ends_with('j') ? "the language has no complex numbers" : "");
      literal = "1";
    } else if (literal.size() > longestLiteral) {
      error(placeFrom(start), fmt::format("a number of {} characters", literal.size()),
            fmt::format("at most {} characters", longestLiteral));
      literal = "1";
    }
    push(Token::Kind::number, start, std::move(literal));
  }

  void string(const Mark& start) {
    const char quote = peek();
    const bool triple = peek(1) == quote && peek(2) == quote;
    advance(triple ? 3 : 1);
    std::string value;
    bool closed = false;
    while (at_ < text_.size()) {
      if (triple ? peek() == quote && peek(1) == quote && peek(2) == quote : peek() == quote) {
        advance(triple ? 3 : 1);
        closed = true;
        break;
      }
      if (!triple && peek() == '\n') break;
      if (peek() == '\\') {
        value += peek();
        advance();
      }
      value += peek();
      advance();
    }
    if (!closed)
      error(placeFrom(start), "a string is never closed", triple ? "close it with three quotes" : "");
    push(Token::Kind::string, start, std::move(value));
  }

  void operatorOrJunk() {
    const Mark start = mark();
    const auto rest = text_.substr(at_, 3);
    const auto* found =
        std::find_if(operators.begin(), operators.end(), [&](auto op) { return rest.starts_with(op); });
    if (found == operators.end() || *found == "!" || *found == "?") {
      advance();
      while (at_ < text_.size() && (isHighByte(peek()) || isContinuationByte(peek()))) advance();
      error(placeFrom(start), fmt::format("the character '{}' has no meaning here", quoted(from(start))),
            "remove it");
      return;
    }
    advance(found->size());
    if (*found == "(" || *found == "[" || *found == "{") {
      brackets_.push_back(tokens_.size());
    } else if (*found == ")" || *found == "]" || *found == "}") {
      if (!brackets_.empty()) brackets_.pop_back();
    }
    push(Token::Kind::op, start, std::string(*found));
  }

  std::string_view text_;
  std::vector<Diagnostic>& diagnostics_;
  std::vector<Token> tokens_;
  std::vector<std::size_t> brackets_;  ///< tokens of the open brackets
  std::vector<std::size_t> indents_{0};
  std::size_t at_ = 0;
  int line_ = 1;
  int column_ = 1;
  bool lineStart_ = true;
};

/// Bytes of the well-formed UTF-8 sequence at the front of `text`; 0: none.
std::size_t sequenceLength(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = lead < 0x80U                    ? 1
                             : lead >= 0xC2U && lead < 0xE0U ? 2
                             : (lead & 0xF0U) == 0xE0U       ? 3
                             : lead >= 0xF0U && lead < 0xF5U ? 4
                                                             : 0;
  if (length == 0 || text.size() < length) return 0;
  return std::all_of(text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(length), isContinuationByte)
             ? length
             : 0;
}

}  // namespace

Place join(const Place& first, const Place& last) {
  return {first.begin,
          last.end,
          {first.range.line, first.range.column, last.range.endLine, last.range.endColumn}};
}

std::string quoted(std::string_view text) {
  std::string result;
  for (std::size_t shown = 0; !text.empty(); ++shown) {
    if (shown == 60) return result + "...";
    const std::size_t length = sequenceLength(text);
    const auto byte = static_cast<unsigned char>(text[0]);
    if (length == 0 || byte < 0x20U || byte == 0x7FU) {
      result += fmt::format("\\x{:02x}", byte);
      text.remove_prefix(1);
    } else {
      result += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  return result;
}

std::vector<Token> tokenize(std::string_view text, std::vector<Diagnostic>& diagnostics) {
  return Lexer(text, diagnostics).run();
}

}  // namespace nuscope::language
