#pragma once
// Checks a syntax tree and lowers it to a tensor::Program. Private to core/language; parse.h is the entrance.
//
// The members are spread by subject: lowering_module.cpp (imports, helpers, signature, results),
// lowering_asserts.cpp, lowering_statements.cpp (blocks, calls of helpers), lowering_loops.cpp,
// lowering_expressions.cpp, lowering_index.cpp, numpy_calls.cpp (functions of np and methods of tensors).
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/language/builder.h"
#include "core/language/syntax.h"
#include "core/language/value.h"

namespace nuscope::language {

/// Names read before they are written in statements [from, ...) of a block, given the names that are live at
/// its end.
std::set<std::string> liveBefore(const Block& block, std::size_t from, std::set<std::string> liveAfter);
/// Names that a block assigns, loops inside included.
void collectAssigned(const Block& block, std::set<std::string>& into);
void collectNames(ExprRef expr, std::set<std::string>& into);

/// The arguments of one call, evaluated.
struct Arguments {
  ExprRef call = nullptr;
  std::string name;  ///< as shown in messages: "np.sum"
  struct Item {
    std::string keyword;  ///< empty: positional
    Value value;
    Place place;
  };
  std::vector<Item> items;
};

class Lowering {
 public:
  /// `quiet`: find out what the asserts say about dimensions, and nothing else; see collectFacts.
  Lowering(std::string_view text, const Module& module, std::shared_ptr<tensor::NodeStore> store,
           std::vector<Diagnostic>& diagnostics, bool quiet = false);
  std::optional<tensor::Program> run();

 private:
  struct Scope {
    std::unordered_map<std::string, Value> variables;
    std::set<std::string> assigned;   ///< all names that the function assigns
    std::set<std::string> gone;       ///< assigned inside a symbolic loop only
    std::set<std::string> liveAtEnd;  ///< names read after the current block
    const Statement* function = nullptr;
    Value result;
    bool returned = false;
    const Statement* returnedBy = nullptr;
    bool returnFaulty = false;  ///< a return was refused
    int loops = 0;              ///< symbolic loops around the current statement
  };

  // lowering_module.cpp
  void imports(const Statement& statement);
  void moduleStatement(const Statement& statement, bool last);
  void signature(const Statement& function, tensor::Program& program);
  std::optional<tensor::Dim> annotatedDim(ExprRef expr, bool declare);
  struct Annotated {
    tensor::DType dtype = tensor::DType::f32;
    tensor::Shape shape;
  };
  std::optional<Annotated> annotation(ExprRef expr, bool declare);
  void checkDimensions(const Statement& function, const tensor::Program& program);
  void results(const Statement& function, tensor::Program& program);
  void checkResultType(const Statement& function, const tensor::Program& program);
  void checkUncalledHelpers();
  void checkNumpyImported(const Place& place);

  // lowering_asserts.cpp
  void collectFacts(const Statement& function, tensor::Program& program);
  void assertion(const Statement& statement);
  void precondition(ExprRef condition);
  bool relation(std::string_view op, const Value& left, const Value& right, ExprRef whole, bool single);

  // lowering_statements.cpp
  void block(const Block& statements, std::set<std::string> liveAtEnd);
  void statement(const Block& block, std::size_t index);
  void assign(ExprRef target, Value value);
  void bind(const std::string& name, Value value);
  void returns(const Statement& statement, bool last);
  void failWithoutReturn(const Statement& function);
  Value callHelper(const Statement& function, const Arguments& arguments);
  bool checkHelperArgument(const FunctionParameter& parameter, const Value& value,
                           std::map<std::string, tensor::Dim>& dims, const Place& place);

  // lowering_loops.cpp
  void loop(const Block& block, std::size_t index);
  struct Range {
    Value start, stop;
    tensor::Dim first, trips;
    std::int64_t step = 1;
  };
  std::optional<Range> range(const Statement& loop);
  void unrolledLoop(const Statement& loop, const Range& range, const std::set<std::string>& liveAfter);
  void symbolicLoop(const Statement& loop, const Range& range, const std::set<std::string>& liveAfter);
  struct LoopBody;
  bool runBody(const Statement& loop, const Range& range, LoopBody& body);
  bool runBodyOnce(const Statement& loop, const Range& range, LoopBody& body, const std::string& counter,
                   int& deepest);
  [[nodiscard]] bool mayLoop(const Block& statements) const;
  bool adaptStarts(LoopBody& body);
  void finishLoop(const Statement& loop, const Range& range, LoopBody& body);

  // lowering_expressions.cpp
  Value evaluate(ExprRef expr);
  Value evaluateName(ExprRef expr);
  Value evaluateNumber(ExprRef expr);
  Value evaluateUnary(ExprRef expr);
  Value evaluateComparison(ExprRef expr);
  Value evaluateLogical(ExprRef expr);
  Value evaluateAttribute(ExprRef expr);
  Value evaluateCall(ExprRef expr);
  Value tupleArithmetic(std::string_view op, const Value& left, const Value& right, const Place& place);
  [[nodiscard]] bool isLocal(const std::string& name) const;
  [[nodiscard]] const Value* find(const std::string& name) const;
  /// "torch.nn.functional" for a chain of names whose root is no variable; empty otherwise.
  [[nodiscard]] std::string dottedPath(ExprRef expr) const;
  Value foreign(ExprRef expr, const std::string& path, ExprRef call);
  std::string unknownNameHint(const std::string& name);
  std::optional<Arguments> arguments(ExprRef call, std::string name);

  // lowering_index.cpp
  Value evaluateSubscript(ExprRef expr);
  Value indexTuple(const Value& base, ExprRef expr);
  Value indexTensor(const Value& base, ExprRef expr);
  std::optional<tensor::Dim> bound(ExprRef expr, const tensor::Dim& extent);

  // numpy_calls.cpp, numpy_layout.cpp
  friend struct NumpyFunctions;
  Value callNumpy(const std::string& function, const Arguments& arguments);
  Value callMethod(const Value& base, const std::string& method, ExprRef call);

  std::string_view text_;
  const Module& module_;
  std::shared_ptr<tensor::NodeStore> store_;
  Report report_;
  Builder builder_;
  bool quiet_;

  std::map<std::string, const Statement*> helpers_;
  std::set<std::string> called_;
  std::unordered_map<std::string, Value> constants_;   ///< of the module
  std::map<std::string, std::string> foreignModules_;  ///< alias -> module that was imported in vain
  bool numpyImported_ = false;
  bool annotationsImported_ = false;
  std::string numpyAlias_;

  tensor::Program program_;
  std::set<std::string> dimensions_;
  /// True the first time a name's error is to be reported. A muted pass reports nothing, so it does not
  /// count.
  bool firstReport(const std::string& name) { return !report_.muted() && reportedNames_.insert(name).second; }
  std::set<std::string> reportedNames_;
  std::vector<Scope> scopes_;
  std::vector<const Statement*> calls_;  ///< helpers being inlined
  std::size_t steps_ = 0;
  bool exhausted_ = false;

  Scope& scope() { return scopes_.back(); }
  [[nodiscard]] const Scope& scope() const { return scopes_.back(); }
  Value fail(const Place& place, std::string message, std::string hint = {}) {
    return builder_.fail(place, std::move(message), std::move(hint));
  }
};

}  // namespace nuscope::language
