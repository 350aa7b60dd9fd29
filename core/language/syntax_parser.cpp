#include "core/language/syntax_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/language/expression_parser.h"

namespace nuscope::language {
namespace {

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

class Parser : private ExpressionParser {
 public:
  using ExpressionParser::ExpressionParser;

  void run() {
    while (!at(Kind::end)) statement(module_.body, 0);
  }

 private:
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

  int stray_ = 0;  ///< indents that no statement asked for
};

}  // namespace

std::shared_ptr<const Module> parseModule(std::string_view text, std::vector<Diagnostic>& diagnostics) {
  auto module = std::make_shared<Module>();
  Parser(text, *module, diagnostics).run();
  return module;
}

}  // namespace nuscope::language
