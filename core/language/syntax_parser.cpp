#include "core/language/syntax_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "core/language/lexer.h"

namespace nuscope::language {
namespace {

using Kind = Token::Kind;

constexpr int deepestNesting = 100;  ///< brackets and signs within each other
constexpr int deepestTree = 500;     ///< a long chain a + b + c ... is deep, too

struct SyntaxError {};  ///< reported already; caught by the statement

struct Unsupported {
  std::string_view word;
  std::string_view what;
  std::string_view hint;
};

constexpr std::array<Unsupported, 17> unsupportedStatements = {{
    {"class", "classes are", "write functions of tensors"},
    {"while", "while loops are", "write for k in range(n): with n a constant or an expression of dimensions"},
    {"if", "if statements are", "choose elements by np.where(condition, a, b)"},
    {"else", "else branches are", "choose elements by np.where(condition, a, b)"},
    {"elif", "elif branches are", "choose elements by np.where(condition, a, b)"},
    {"with", "with blocks are", "remove it"},
    {"try", "exceptions are", "state what must hold by assert"},
    {"except", "exceptions are", "state what must hold by assert"},
    {"finally", "exceptions are", "remove it"},
    {"raise", "exceptions are", "state what must hold by assert"},
    {"global", "global variables are", "pass values as parameters"},
    {"nonlocal", "nonlocal variables are", "pass values as parameters"},
    {"del", "del is", "remove it; names may be assigned again"},
    {"async", "async functions are", "write a plain function"},
    {"match", "match statements are", "choose elements by np.where(condition, a, b)"},
    {"break", "break is", "give the loop its exact range"},
    {"continue", "continue is", "choose elements by np.where(condition, a, b)"},
}};

class Parser {
 public:
  Parser(std::string_view text, Module& module, std::vector<Diagnostic>& diagnostics)
      : text_(text), module_(module), diagnostics_(diagnostics), tokens_(tokenize(text, diagnostics)) {}

  void run() {
    while (!at(Kind::end)) statement(module_.body, 0);
  }

 private:
  // Tokens.
  [[nodiscard]] const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(position_ + ahead, tokens_.size() - 1)];
  }
  [[nodiscard]] bool at(Kind kind) const { return peek().kind == kind; }
  [[nodiscard]] bool atOp(std::string_view text, std::size_t ahead = 0) const {
    return peek(ahead).kind == Kind::op && peek(ahead).text == text;
  }
  [[nodiscard]] bool atWord(std::string_view text) const { return at(Kind::name) && peek().text == text; }
  const Token& next() {
    const Token& token = peek();
    if (position_ + 1 < tokens_.size()) ++position_;
    return token;
  }
  bool skipOp(std::string_view text) {
    if (!atOp(text)) return false;
    next();
    return true;
  }

  // Errors.
  void error(const Place& place, std::string message, std::string hint = {}) {
    diagnostics_.push_back({Severity::error, place.range, std::move(message), std::move(hint)});
  }
  [[noreturn]] void fail(const Place& place, std::string message, std::string hint = {}) {
    error(place, std::move(message), std::move(hint));
    throw SyntaxError{};
  }
  [[nodiscard]] std::string shown(const Token& token) const {
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
  void expectOp(std::string_view text, std::string_view where) {
    if (skipOp(text)) return;
    fail(peek().place, fmt::format("expected '{}' {}, found {}", text, where, shown(peek())));
  }
  const Token& expectName(std::string_view what) {
    if (!at(Kind::name) || isKeyword(peek().text)) {
      fail(peek().place, fmt::format("expected {}, found {}", what, shown(peek())));
    }
    return next();
  }
  static bool isKeyword(std::string_view word) {
    static constexpr std::array<std::string_view, 35> words = {
        "False",   "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
        "class",   "continue", "def",   "del",    "elif", "else",   "except", "for",      "from",
        "finally", "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
        "or",      "pass",     "raise", "return", "try",  "while",  "with",   "yield"};
    return std::ranges::find(words, word) != words.end();
  }

  // Expressions.
  Expr& create(Expr::Kind kind, const Place& place) {
    Expr& expr = module_.expressions.emplace_back();
    expr.kind = kind;
    expr.place = place;
    return expr;
  }
  void measure(Expr& expr) {
    for (const ExprRef child : expr.children) {
      if (child) expr.depth = std::max(expr.depth, child->depth + 1);
    }
    for (const KeywordArgument& keyword : expr.keywords)
      expr.depth = std::max(expr.depth, keyword.value->depth + 1);
    if (expr.depth > deepestTree) {
      fail(expr.place, "the expression is nested too deep", "assign parts of it to variables first");
    }
  }
  ExprRef done(Expr& expr) {
    measure(expr);
    return &expr;
  }
  class Nesting {
   public:
    explicit Nesting(Parser& parser) : parser_(parser) {
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
    Parser& parser_;
  };

  /// expression (',' expression)*: a tuple if there is a comma.
  ExprRef expressionList() {
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
  ExprRef starOrExpression() {
    if (atOp("*") || atOp("**")) {
      fail(peek().place, fmt::format("unpacking by {} is outside the language", peek().text),
           "name each value");
    }
    return expression();
  }
  ExprRef expression() {
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
  ExprRef logical(std::string_view word, ExprRef (Parser::*operand)()) {
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
  ExprRef disjunction() { return logical("or", &Parser::conjunction); }
  ExprRef conjunction() { return logical("and", &Parser::negation); }
  ExprRef negation() {
    if (!atWord("not")) return comparison();
    const Nesting nesting(*this);
    const Place start = next().place;
    const ExprRef operand = negation();
    return unary("not", start, operand);
  }
  ExprRef unary(std::string_view op, const Place& start, ExprRef operand) {
    Expr& expr = create(Expr::Kind::unary, join(start, operand->place));
    expr.text = op;
    expr.children = {operand};
    return done(expr);
  }
  [[nodiscard]] std::optional<std::string> comparisonOperator() {
    if (at(Kind::op)) {
      static constexpr std::array<std::string_view, 6> ops = {"==", "!=", "<", "<=", ">", ">="};
      if (std::ranges::find(ops, peek().text) != ops.end()) return next().text;
      if (atOp("<>")) fail(peek().place, "'<>' is no comparison", "write !=");
      return std::nullopt;
    }
    if (atWord("in") || atWord("is") ||
        (atWord("not") && peek(1).kind == Kind::name && peek(1).text == "in")) {
      fail(peek().place, fmt::format("the comparison '{}' is outside the language", peek().text),
           "compare by ==, !=, <, <=, > and >=");
    }
    return std::nullopt;
  }
  ExprRef comparison() {
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
  /// Levels of left-associative operators, loosest first.
  static int level(std::string_view op) {
    static const std::map<std::string_view, int> levels = {{"|", 0},  {"^", 1},  {"&", 2}, {"<<", 3},
                                                           {">>", 3}, {"+", 4},  {"-", 4}, {"*", 5},
                                                           {"/", 5},  {"//", 5}, {"%", 5}, {"@", 5}};
    const auto found = levels.find(op);
    return found == levels.end() ? -1 : found->second;
  }
  ExprRef binary(int lowest) {
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
  ExprRef factor() {
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
  ExprRef primary() {
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
  ExprRef call(ExprRef function) {
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
  [[noreturn]] void comprehension() {
    fail(peek().place, "comprehensions are outside the language",
         "list the items, or write a for loop with an accumulator");
  }
  ExprRef subscript(ExprRef base) {
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
  ExprRef index() {
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
  ExprRef atom() {
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
  ExprRef leaf(Expr::Kind kind) {
    const Token& token = next();
    Expr& expr = create(kind, token.place);
    expr.text = token.text;
    return &expr;
  }
  ExprRef parenthesised() {
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
  ExprRef list() {
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

  // Statements.
  void statement(Block& into, int depth) {
    const std::size_t before = position_;
    try {
      if (at(Kind::indent)) {
        error(peek().place, "unexpected indentation", "align the line with the one before");
        next();
        ++stray_;
        return;
      }
      if (at(Kind::dedent)) {
        next();
        if (stray_ > 0) --stray_;
        return;
      }
      if (at(Kind::newline)) {
        next();
        return;
      }
      oneStatement(into, depth);
    } catch (const SyntaxError&) {
      Statement& bad = into.emplace_back();
      bad.place = tokens_[before].place;
      std::vector<ExprRef> names;
      assignedNames(before, names);
      recover(names);
      while (atWord("else") || atWord("elif") || atWord("except") || atWord("finally")) recover(names);
      if (!names.empty()) {
        Expr& tuple = create(Expr::Kind::tuple, bad.place);
        tuple.children = std::move(names);
        bad.target = &tuple;
      }
    }
    if (position_ == before) next();
  }

  /// A faulty line "a, b = ..." still assigns a and b, so that their uses raise no second error.
  void assignedNames(std::size_t from, std::vector<ExprRef>& into) {
    std::vector<ExprRef> names;
    for (std::size_t i = from; i + 1 < tokens_.size() && tokens_[i].kind == Kind::name; i += 2) {
      Expr& name = create(Expr::Kind::name, tokens_[i].place);
      name.text = tokens_[i].text;
      names.push_back(&name);
      if (tokens_[i + 1].kind != Kind::op) return;
      if (tokens_[i + 1].text.ends_with('=')) {
        into.insert(into.end(), names.begin(), names.end());
        return;
      }
      if (tokens_[i + 1].text != ",") return;
    }
  }

  /// To the end of the logical line, and past the block that belongs to it; `names` gets what the block
  /// assigns.
  void recover(std::vector<ExprRef>& names) {
    while (!at(Kind::newline) && !at(Kind::end) && !at(Kind::indent) && !at(Kind::dedent)) next();
    if (at(Kind::newline)) next();
    if (!at(Kind::indent)) return;
    int depth = 0;
    do {
      if (at(Kind::indent)) ++depth;
      if (at(Kind::dedent)) --depth;
      const bool lineStart = at(Kind::newline) || at(Kind::indent) || at(Kind::dedent);
      next();
      if (lineStart && at(Kind::name)) assignedNames(position_, names);
    } while (depth > 0 && !at(Kind::end));
  }

  void endOfLine() {
    if (atOp(";"))
      fail(peek().place, "several statements on a line are outside the language", "put each on its own line");
    if (at(Kind::end)) return;
    if (!at(Kind::newline))
      fail(peek().place, fmt::format("expected the end of the line, found {}", shown(peek())));
    next();
  }

  void oneStatement(Block& into, int depth) {
    if (atOp("@")) fail(peek().place, "decorators are outside the language", "remove it");
    if (at(Kind::name)) {
      const std::string& word = peek().text;
      if (word == "def") return function(into, depth);
      if (word == "for") return loop(into, depth);
      if (word == "return") return result(into);
      if (word == "assert") return assertion(into);
      if (word == "import" || word == "from") return import(into);
      if (word == "pass") {
        next();
        return endOfLine();
      }
      for (const Unsupported& unsupported : unsupportedStatements) {
        if (word != unsupported.word) continue;
        if (word == "match" && peek(1).kind != Kind::name) break;  // a variable called match
        fail(peek().place, fmt::format("{} outside the language", unsupported.what),
             std::string(unsupported.hint));
      }
    }
    simple(into);
  }

  Statement& add(Block& into, Statement::Kind kind, const Place& start) {
    Statement& statement = into.emplace_back();
    statement.kind = kind;
    statement.place = join(start, tokens_[position_ - 1].place);
    return statement;
  }

  void simple(Block& into) {
    const Place start = peek().place;
    const ExprRef first = expressionList();
    if (atOp("=")) {
      next();
      const ExprRef value = expressionList();
      if (atOp("="))
        fail(peek().place, "chained assignment is outside the language", "assign each name on its own line");
      Statement& statement = add(into, Statement::Kind::assign, start);
      statement.target = first;
      statement.value = value;
      return endOfLine();
    }
    static constexpr std::array<std::string_view, 7> augmented = {"+=", "-=", "*=", "/=", "//=", "%=", "@="};
    if (at(Kind::op) && std::ranges::find(augmented, peek().text) != augmented.end()) {
      const std::string op = next().text;
      const ExprRef value = expressionList();
      Statement& statement = add(into, Statement::Kind::augmented, start);
      statement.target = first;
      statement.value = value;
      statement.text = op.substr(0, op.size() - 1);
      return endOfLine();
    }
    if (atOp("**=") || atOp("&=") || atOp("|=") || atOp("^=") || atOp("<<=") || atOp(">>=")) {
      fail(peek().place, fmt::format("'{}' is outside the language", peek().text),
           "write the assignment in full");
    }
    if (atOp(":")) {
      fail(peek().place, "annotated variables are outside the language",
           "annotate parameters only; write name = value");
    }
    Statement& statement = add(into, Statement::Kind::expression, start);
    statement.value = first;
    endOfLine();
  }

  void result(Block& into) {
    const Place start = next().place;
    ExprRef value = nullptr;
    if (!at(Kind::newline) && !at(Kind::end)) value = expressionList();
    add(into, Statement::Kind::result, start).value = value;
    endOfLine();
  }

  void assertion(Block& into) {
    const Place start = next().place;
    const ExprRef condition = expression();
    if (skipOp(",")) expression();  // the message
    add(into, Statement::Kind::assertion, start).value = condition;
    endOfLine();
  }

  std::string dottedName() {
    std::string name = expectName("a module").text;
    while (skipOp(".")) name += "." + expectName("a name").text;
    return name;
  }

  void import(Block& into) {
    const bool from = peek().text == "from";
    const Place start = next().place;
    std::vector<std::pair<std::string, std::string>> names;
    std::string module;
    const auto alias = [this](const std::string& name) {
      if (!atWord("as")) return name;
      next();
      return expectName("a name").text;
    };
    if (from) {
      module = dottedName();
      if (!atWord("import")) fail(peek().place, fmt::format("expected 'import', found {}", shown(peek())));
      next();
      if (atOp("*")) fail(peek().place, "import * is outside the language", "write import numpy as np");
      const bool brackets = skipOp("(");
      do {
        if (brackets && atOp(")")) break;
        const std::string name = expectName("a name").text;
        names.emplace_back(name, alias(name));
      } while (skipOp(","));
      if (brackets) expectOp(")", "after the names");
    } else {
      do {
        const std::string name = dottedName();
        names.emplace_back(name, alias(name));
      } while (skipOp(","));
    }
    Statement& statement = add(into, Statement::Kind::import, start);
    statement.text = module;
    statement.names = std::move(names);
    endOfLine();
  }

  Block block(int depth) {
    Block body;
    expectOp(":", "before the block");
    if (depth >= 20) fail(peek().place, "blocks are nested too deep", "write helper functions");
    if (!at(Kind::newline)) {  // on the same line
      oneStatement(body, depth + 1);
      return body;
    }
    next();
    if (!at(Kind::indent))
      fail(peek().place, "an indented block is missing", "indent the lines below by four spaces");
    next();
    const int outerStray = std::exchange(stray_, 0);
    while (!at(Kind::end) && (!at(Kind::dedent) || stray_ > 0)) statement(body, depth + 1);
    if (at(Kind::dedent)) next();
    stray_ = outerStray;
    return body;
  }

  void loop(Block& into, int depth) {
    const Place start = next().place;
    const Token& name = peek();
    expectName("a loop variable");
    if (atOp(",")) fail(name.place, "a loop has one variable", "write for k in range(n):");
    Expr& target = create(Expr::Kind::name, name.place);
    target.text = name.text;
    if (!atWord("in")) fail(peek().place, fmt::format("expected 'in', found {}", shown(peek())));
    next();
    const ExprRef range = expressionList();
    const Place head = join(start, range->place);
    Block body = block(depth);
    Statement& statement = add(into, Statement::Kind::loop, start);
    statement.place = head;
    statement.target = &target;
    statement.value = range;
    statement.body = std::move(body);
    if (atWord("else"))
      fail(peek().place, "else after a loop is outside the language", "put the lines after the loop");
  }

  void function(Block& into, int depth) {
    const Place start = next().place;
    const Token& name = expectName("the function's name");
    expectOp("(", "after the function's name");
    std::vector<FunctionParameter> parameters;
    while (!atOp(")")) {
      if (atOp("*") || atOp("**") || atOp("/")) {
        fail(peek().place, fmt::format("'{}' in a signature is outside the language", peek().text),
             "name each parameter");
      }
      const Token& parameter = expectName("a parameter");
      FunctionParameter& added = parameters.emplace_back();
      added.name = parameter.text;
      added.place = parameter.place;
      if (skipOp(":")) added.annotation = expression();
      if (skipOp("=")) added.fallback = expression();
      if (!skipOp(",")) break;
    }
    expectOp(")", "after the parameters");
    const ExprRef annotation = skipOp("->") ? expression() : nullptr;
    const Place head = join(start, tokens_[position_ - 1].place);
    Block body = block(depth);
    Statement& statement = add(into, Statement::Kind::function, start);
    statement.place = head;
    statement.text = name.text;
    statement.textPlace = name.place;
    statement.parameters = std::move(parameters);
    statement.annotation = annotation;
    statement.body = std::move(body);
  }

  std::string_view text_;
  Module& module_;
  std::vector<Diagnostic>& diagnostics_;
  std::vector<Token> tokens_;
  std::size_t position_ = 0;
  int nesting_ = 0;
  int stray_ = 0;  ///< indents that no statement asked for
};

}  // namespace

std::shared_ptr<const Module> parseModule(std::string_view text, std::vector<Diagnostic>& diagnostics) {
  auto module = std::make_shared<Module>();
  Parser(text, *module, diagnostics).run();
  return module;
}

}  // namespace nuscope::language
