#include "core/language/expression_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace nuscope::language {
namespace {

constexpr int deepestNesting = 100;  ///< brackets and signs within each other
constexpr int deepestTree = 500;     ///< a long chain a + b + c ... is deep, too

}  // namespace

class ExpressionParser::Nesting {
 public:
  explicit Nesting(ExpressionParser& parser) : parser_(parser) {
    if (++parser_.nesting_ > deepestNesting) {
      --parser_.nesting_;
      parser_.fail(parser_.peek().place, "the expression is nested too deep",
                   "assign parts of it to variables first");
    }
  }
  ~Nesting() { --parser_.nesting_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  ExpressionParser& parser_;
};

const Token& ExpressionParser::peek(std::size_t ahead) const {
  return tokens_[std::min(position_ + ahead, tokens_.size() - 1)];
}

bool ExpressionParser::at(Kind kind) const {
  return peek().kind == kind;
}

bool ExpressionParser::atOp(std::string_view text, std::size_t ahead) const {
  return peek(ahead).kind == Kind::op && peek(ahead).text == text;
}

bool ExpressionParser::atWord(std::string_view text) const {
  return at(Kind::name) && peek().text == text;
}

const Token& ExpressionParser::next() {
  const Token& token = peek();
  if (position_ + 1 < tokens_.size()) ++position_;
  return token;
}

bool ExpressionParser::skipOp(std::string_view text) {
  if (!atOp(text)) return false;
  next();
  return true;
}

void ExpressionParser::error(const Place& place, std::string message, std::string hint) {
  diagnostics_.push_back({Severity::error, place.range, std::move(message), std::move(hint)});
}

void ExpressionParser::fail(const Place& place, std::string message, std::string hint) {
  error(place, std::move(message), std::move(hint));
  throw SyntaxError{};
}

std::string ExpressionParser::shown(const Token& token) const {
  switch (token.kind) {
    case Kind::newline:
      return "the end of the line";
    case Kind::end:
      return "the end of the file";
    case Kind::indent:
    case Kind::dedent:
      return "a change of indentation";
    case Kind::string:
      return "a string";
    default:
      return "'" + quoted(token.text) + "'";
  }
}

void ExpressionParser::expectOp(std::string_view text, std::string_view where) {
  if (skipOp(text)) return;
  fail(peek().place, fmt::format("expected '{}' {}, found {}", text, where, shown(peek())));
}

const Token& ExpressionParser::expectName(std::string_view what) {
  if (!at(Kind::name) || isKeyword(peek().text)) {
    fail(peek().place, fmt::format("expected {}, found {}", what, shown(peek())));
  }
  return next();
}

bool ExpressionParser::isKeyword(std::string_view word) {
  static constexpr std::array<std::string_view, 35> words = {
      "False",   "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
      "class",   "continue", "def",   "del",    "elif", "else",   "except", "for",      "from",
      "finally", "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
      "or",      "pass",     "raise", "return", "try",  "while",  "with",   "yield"};
  return std::ranges::find(words, word) != words.end();
}

Expr& ExpressionParser::create(Expr::Kind kind, const Place& place) {
  Expr& expr = module_.expressions.emplace_back();
  expr.kind = kind;
  expr.place = place;
  return expr;
}

void ExpressionParser::measure(Expr& expr) {
  for (const ExprRef child : expr.children) {
    if (child) expr.depth = std::max(expr.depth, child->depth + 1);
  }
  for (const KeywordArgument& keyword : expr.keywords)
    expr.depth = std::max(expr.depth, keyword.value->depth + 1);
  if (expr.depth > deepestTree) {
    fail(expr.place, "the expression is nested too deep", "assign parts of it to variables first");
  }
}

ExprRef ExpressionParser::done(Expr& expr) {
  measure(expr);
  return &expr;
}

ExprRef ExpressionParser::expressionList() {
  const ExprRef first = starOrExpression();
  if (!atOp(",")) return first;
  std::vector<ExprRef> items{first};
  while (skipOp(",")) {
    if (atOp("=") || atOp(")") || at(Kind::newline) || at(Kind::end) || atOp(";")) break;
    items.push_back(starOrExpression());
  }
  Expr& tuple = create(Expr::Kind::tuple, join(first->place, tokens_[position_ - 1].place));
  tuple.children = std::move(items);
  return done(tuple);
}

ExprRef ExpressionParser::starOrExpression() {
  if (atOp("*") || atOp("**")) {
    fail(peek().place, fmt::format("unpacking by {} is outside the language", peek().text),
         "name each value");
  }
  return expression();
}

ExprRef ExpressionParser::expression() {
  const Nesting nesting(*this);
  if (atWord("lambda"))
    fail(peek().place, "lambda is outside the language", "write a helper function: def f(x): return ...");
  if (atWord("yield") || atWord("await"))
    fail(peek().place, fmt::format("{} is outside the language", peek().text));
  const ExprRef value = disjunction();
  if (atWord("if")) {
    fail(peek().place, "a if c else b is outside the language", "write np.where(c, a, b)");
  }
  if (atOp(":=")) fail(peek().place, ":= is outside the language", "assign on a line of its own");
  return value;
}

ExprRef ExpressionParser::logical(std::string_view word, ExprRef (ExpressionParser::*operand)()) {
  const ExprRef first = (this->*operand)();
  if (!atWord(word)) return first;
  std::vector<ExprRef> items{first};
  while (atWord(word)) {
    next();
    items.push_back((this->*operand)());
  }
  Expr& expr = create(Expr::Kind::logical, join(first->place, items.back()->place));
  expr.text = word;
  expr.children = std::move(items);
  return done(expr);
}

ExprRef ExpressionParser::disjunction() {
  return logical("or", &ExpressionParser::conjunction);
}

ExprRef ExpressionParser::conjunction() {
  return logical("and", &ExpressionParser::negation);
}

ExprRef ExpressionParser::negation() {
  if (!atWord("not")) return comparison();
  const Nesting nesting(*this);
  const Place start = next().place;
  const ExprRef operand = negation();
  return unary("not", start, operand);
}

ExprRef ExpressionParser::unary(std::string_view op, const Place& start, ExprRef operand) {
  Expr& expr = create(Expr::Kind::unary, join(start, operand->place));
  expr.text = op;
  expr.children = {operand};
  return done(expr);
}

std::optional<std::string> ExpressionParser::comparisonOperator() {
  if (at(Kind::op)) {
    static constexpr std::array<std::string_view, 6> ops = {"==", "!=", "<", "<=", ">", ">="};
    if (std::ranges::find(ops, peek().text) != ops.end()) return next().text;
    if (atOp("<>")) fail(peek().place, "'<>' is no comparison", "write !=");
    return std::nullopt;
  }
  if (atWord("in") || atWord("is") || (atWord("not") && peek(1).kind == Kind::name && peek(1).text == "in")) {
    fail(peek().place, fmt::format("the comparison '{}' is outside the language", peek().text),
         "compare by ==, !=, <, <=, > and >=");
  }
  return std::nullopt;
}

ExprRef ExpressionParser::comparison() {
  const ExprRef first = binary(0);
  auto op = comparisonOperator();
  if (!op) return first;
  std::vector<ExprRef> operands{first};
  std::vector<std::string> operators;
  for (; op; op = comparisonOperator()) {
    operators.push_back(*op);
    operands.push_back(binary(0));
  }
  Expr& expr = create(Expr::Kind::comparison, join(first->place, operands.back()->place));
  expr.children = std::move(operands);
  expr.operators = std::move(operators);
  return done(expr);
}

int ExpressionParser::level(std::string_view op) {
  static const std::map<std::string_view, int> levels = {{"|", 0},  {"^", 1},  {"&", 2}, {"<<", 3},
                                                         {">>", 3}, {"+", 4},  {"-", 4}, {"*", 5},
                                                         {"/", 5},  {"//", 5}, {"%", 5}, {"@", 5}};
  const auto found = levels.find(op);
  return found == levels.end() ? -1 : found->second;
}

ExprRef ExpressionParser::binary(int lowest) {
  ExprRef left = factor();
  while (at(Kind::op) && level(peek().text) >= lowest) {
    const Token& op = next();
    if (op.text == "^" || op.text == "<<" || op.text == ">>") {
      fail(op.place, fmt::format("the operator {} is outside the language", op.text),
           op.text == "^" ? "for a power write **; for conditions write a != b"
                          : "multiply, or divide by //, a power of 2");
    }
    const ExprRef right = binary(level(op.text) + 1);
    Expr& expr = create(Expr::Kind::binary, join(left->place, right->place));
    expr.text = op.text;
    expr.children = {left, right};
    left = done(expr);
  }
  return left;
}

ExprRef ExpressionParser::factor() {
  if (atOp("-") || atOp("+") || atOp("~")) {
    const Nesting nesting(*this);
    const Token& sign = next();
    return unary(sign.text, sign.place, factor());
  }
  const ExprRef base = primary();
  if (!atOp("**")) return base;
  const Nesting nesting(*this);
  next();
  const ExprRef exponent = factor();
  Expr& expr = create(Expr::Kind::binary, join(base->place, exponent->place));
  expr.text = "**";
  expr.children = {base, exponent};
  return done(expr);
}

ExprRef ExpressionParser::primary() {
  ExprRef value = atom();
  while (true) {
    if (atOp(".")) {
      next();
      if (!at(Kind::name))
        fail(peek().place, fmt::format("expected a name after '.', found {}", shown(peek())));
      const Token& name = next();
      Expr& expr = create(Expr::Kind::attribute, join(value->place, name.place));
      expr.text = name.text;
      expr.textPlace = name.place;
      expr.children = {value};
      value = done(expr);
    } else if (atOp("(")) {
      value = call(value);
    } else if (atOp("[")) {
      value = subscript(value);
    } else {
      return value;
    }
  }
}

ExprRef ExpressionParser::call(ExprRef function) {
  next();
  std::vector<ExprRef> children{function};
  std::vector<KeywordArgument> keywords;
  while (!atOp(")")) {
    if (at(Kind::name) && atOp("=", 1)) {
      const Token& name = next();
      next();
      keywords.push_back({name.text, name.place, expression()});
    } else {
      const ExprRef argument = starOrExpression();
      if (atWord("for")) comprehension();
      if (!keywords.empty())
        error(argument->place, "a positional argument follows a keyword argument", "put it first");
      children.push_back(argument);
    }
    if (!skipOp(",")) break;
  }
  const Place last = peek().place;
  expectOp(")", "at the end of the arguments");
  Expr& expr = create(Expr::Kind::call, join(function->place, last));
  expr.children = std::move(children);
  expr.keywords = std::move(keywords);
  return done(expr);
}

void ExpressionParser::comprehension() {
  fail(peek().place, "comprehensions are outside the language",
       "list the items, or write a for loop with an accumulator");
}

ExprRef ExpressionParser::subscript(ExprRef base) {
  next();
  std::vector<ExprRef> children{base};
  if (atOp("]")) fail(peek().place, "an index is missing", "write x[:] for the whole tensor");
  while (!atOp("]")) {
    children.push_back(index());
    if (!skipOp(",")) break;
  }
  const Place last = peek().place;
  expectOp("]", "at the end of the index");
  Expr& expr = create(Expr::Kind::subscript, join(base->place, last));
  expr.children = std::move(children);
  return done(expr);
}

ExprRef ExpressionParser::index() {
  const Place start = peek().place;
  const auto part = [this]() -> ExprRef {
    return atOp(":") || atOp(",") || atOp("]") ? nullptr : starOrExpression();
  };
  const ExprRef first = part();
  if (!atOp(":")) {
    if (!first) fail(peek().place, fmt::format("expected an index, found {}", shown(peek())));
    return first;
  }
  next();
  const ExprRef stop = part();
  const ExprRef step = skipOp(":") ? part() : nullptr;
  Expr& expr = create(Expr::Kind::slice, join(start, tokens_[position_ - 1].place));
  expr.children = {first, stop, step};
  return done(expr);
}

ExprRef ExpressionParser::atom() {
  const Token& token = peek();
  switch (token.kind) {
    case Kind::number:
      return leaf(Expr::Kind::number);
    case Kind::string: {
      const ExprRef first = leaf(Expr::Kind::string);
      if (!at(Kind::string)) return first;
      fail(peek().place, "joined strings are outside the language", "write one string");
    }
    case Kind::name:
      if (token.text == "None") return leaf(Expr::Kind::noneValue);
      if (token.text == "True") return leaf(Expr::Kind::trueValue);
      if (token.text == "False") return leaf(Expr::Kind::falseValue);
      if (!isKeyword(token.text)) return leaf(Expr::Kind::name);
      fail(token.place, fmt::format("expected an expression, found the keyword '{}'", token.text));
    case Kind::op:
      if (token.text == "(") return parenthesised();
      if (token.text == "[") return list();
      if (token.text == "...") return leaf(Expr::Kind::ellipsis);
      if (token.text == "{") {
        fail(token.place, "dictionaries and sets are outside the language", "give each value a name");
      }
      break;
    default:
      break;
  }
  fail(token.place, fmt::format("expected an expression, found {}", shown(token)));
}

ExprRef ExpressionParser::leaf(Expr::Kind kind) {
  const Token& token = next();
  Expr& expr = create(kind, token.place);
  expr.text = token.text;
  return &expr;
}

ExprRef ExpressionParser::parenthesised() {
  const Nesting nesting(*this);
  const Place start = next().place;
  if (atOp(")")) return &create(Expr::Kind::tuple, join(start, next().place));
  const ExprRef inner = expressionList();
  if (atWord("for")) comprehension();
  const Place last = peek().place;
  expectOp(")", "at the end of the parentheses");
  Expr& copy =
      create(inner->kind, join(start, last));  // the place of what stands in parentheses includes them
  const Place place = copy.place;
  copy = *inner;
  copy.place = place;
  return &copy;
}

ExprRef ExpressionParser::list() {
  const Nesting nesting(*this);
  const Place start = next().place;
  std::vector<ExprRef> items;
  while (!atOp("]")) {
    items.push_back(starOrExpression());
    if (atWord("for")) comprehension();
    if (!skipOp(",")) break;
  }
  const Place last = peek().place;
  expectOp("]", "at the end of the list");
  Expr& expr = create(Expr::Kind::list, join(start, last));
  expr.children = std::move(items);
  return done(expr);
}

}  // namespace nuscope::language
