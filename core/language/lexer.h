#pragma once
// Text to tokens with Python's rules for lines, indentation, brackets, continuation, comments and strings.
// Takes any bytes; what is no token is reported and skipped.
#include <string>
#include <string_view>
#include <vector>

#include "core/language/syntax.h"

namespace nuscope::language {

struct Token {
  enum class Kind { name, number, string, op, newline, indent, dedent, end };
  Kind kind = Kind::end;
  std::string text;  ///< string: its value
  Place place;
};

std::vector<Token> tokenize(std::string_view text, std::vector<Diagnostic>& diagnostics);

/// `text` fit for a message: printable ASCII and valid UTF-8 stay, other bytes become \xNN; cut after 60
/// characters.
std::string quoted(std::string_view text);

}  // namespace nuscope::language
