#pragma once
// The syntax tree of a module in the language's subset of Python. Plain data; meaning is given in lowering.h.
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostics.h"

namespace nuscope::language {

/// A stretch of the text: bytes [begin, end), and the same as lines and columns.
struct Place {
  std::size_t begin = 0;
  std::size_t end = 0;
  SourceRange range;
};
Place join(const Place& first, const Place& last);

struct Expr;
using ExprRef = const Expr*;

struct KeywordArgument {
  std::string name;
  Place place;
  ExprRef value = nullptr;
};

struct Expr {
  enum class Kind {
    name,
    number,  ///< `text` is the literal
    string,  ///< `text` is the value
    noneValue,
    trueValue,
    falseValue,
    ellipsis,
    attribute,  ///< children[0] . text
    call,       ///< children[0] ( children[1..], keywords )
    subscript,  ///< children[0] [ children[1..] ]
    slice,      ///< children: start, stop, step; null where open
    tuple,
    list,
    unary,       ///< text: "-", "+", "not", "~"
    binary,      ///< text: the operator
    comparison,  ///< children: the operands of a chain; operators: between them
    logical,     ///< text: "and" or "or"
    invalid      ///< reported already
  };
  Kind kind = Kind::invalid;
  Place place;
  std::string text;
  Place textPlace;  ///< attribute: of the name after the dot
  std::vector<ExprRef> children;
  std::vector<std::string> operators;
  std::vector<KeywordArgument> keywords;
  int depth = 1;
};

struct Statement;
using Block = std::vector<Statement>;

struct FunctionParameter {
  std::string name;
  Place place;
  ExprRef annotation = nullptr;
  ExprRef fallback = nullptr;  ///< default value
};

struct Statement {
  enum class Kind { assign, augmented, assertion, result, loop, expression, function, import, invalid };
  Kind kind = Kind::invalid;
  Place place;
  ExprRef target = nullptr;  ///< assign, augmented, loop
  ExprRef value =
      nullptr;       ///< assign, augmented, assertion, result (null: bare), loop (the iterable), expression
  std::string text;  ///< augmented: the operator; function: its name; import: module
  Place textPlace;   ///< function: of its name
  Block body;        ///< loop, function
  std::vector<FunctionParameter> parameters;  ///< function
  ExprRef annotation = nullptr;               ///< function: of the result
  std::vector<std::pair<std::string, std::string>>
      names;  ///< import: (name, alias); name empty for a plain import
};

/// Owns all expressions of a text.
struct Module {
  Block body;
  std::deque<Expr> expressions;
};

}  // namespace nuscope::language
