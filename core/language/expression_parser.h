#pragma once
// Tokens to expression trees: the part of the parser below statements. Private to core/language.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/language/lexer.h"
#include "core/language/syntax.h"

namespace nuscope::language {

struct SyntaxError {};  ///< thrown after the error was reported; caught by the statement

class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, Module& module, std::vector<Diagnostic>& diagnostics)
      : module_(module), diagnostics_(diagnostics), tokens_(tokenize(text, diagnostics)) {}

 protected:
  using Kind = Token::Kind;

  // Tokens.
  [[nodiscard]] const Token& peek(std::size_t ahead = 0) const;
  [[nodiscard]] bool at(Kind kind) const;
  [[nodiscard]] bool atOp(std::string_view text, std::size_t ahead = 0) const;
  [[nodiscard]] bool atWord(std::string_view text) const;
  const Token& next();
  bool skipOp(std::string_view text);
  // Errors.
  void error(const Place& place, std::string message, std::string hint = {});
  [[noreturn]] void fail(const Place& place, std::string message, std::string hint = {});
  [[nodiscard]] std::string shown(const Token& token) const;
  void expectOp(std::string_view text, std::string_view where);
  const Token& expectName(std::string_view what);
  static bool isKeyword(std::string_view word);
  // Expressions.
  Expr& create(Expr::Kind kind, const Place& place);
  /// expression (',' expression)*: a tuple if there is a comma.
  ExprRef expressionList();
  ExprRef expression();

  Module& module_;
  std::vector<Diagnostic>& diagnostics_;
  std::vector<Token> tokens_;
  std::size_t position_ = 0;

 private:
  void measure(Expr& expr);
  ExprRef done(Expr& expr);
  class Nesting;  ///< counts brackets and signs within each other
  ExprRef starOrExpression();
  ExprRef logical(std::string_view word, ExprRef (ExpressionParser::*operand)());
  ExprRef disjunction();
  ExprRef conjunction();
  ExprRef negation();
  ExprRef unary(std::string_view op, const Place& start, ExprRef operand);
  [[nodiscard]] std::optional<std::string> comparisonOperator();
  ExprRef comparison();
  /// Levels of left-associative operators, loosest first.
  static int level(std::string_view op);
  ExprRef binary(int lowest);
  ExprRef factor();
  ExprRef primary();
  ExprRef call(ExprRef function);
  [[noreturn]] void comprehension();
  ExprRef subscript(ExprRef base);
  ExprRef index();
  ExprRef atom();
  ExprRef leaf(Expr::Kind kind);
  ExprRef parenthesised();
  ExprRef list();
  int nesting_ = 0;
};

}  // namespace nuscope::language
