#pragma once
// The tensor graph: what a program computes, as immutable nodes that are built only by a checking `make`, so
// that an ill-typed graph cannot exist.
//
// SEMANTICS (what every stage relies on; the granular form of each operator is core/semantics/granular.h)
//  * Values. For proofs there are reals, unbounded integers and conditions. f64, f32, f16 and bf16 all mean
//    reals; storage and rounding are the numeric gate's business. int / int and mean of integers are real:
//    the language inserts the casts. A cast from real to integer truncates toward zero; condition to number
//    gives 0 or 1.
//  * Extents are integers >= 1. Broadcasting stretches an axis only if its extent is the literal 1 (or
//    provably 1): a symbolic extent is never taken for 1.
//  * Definedness. x / 0, log of x <= 0, sqrt of x < 0, `//` and `%` by 0 are undefined, not infinite. An
//    undefined operand makes an element undefined, except in the branch of `where` that is not chosen.
//  * -inf may start a running maximum (constant with infinity = -1): max(-inf, x) = x; -inf + defined = -inf;
//    exp(-inf) = 0; 0 * -inf = 0; times or divided by anything else finite: by the sign, as in NumPy.
//    -inf - -inf, a product of two infinities, comparison with one, or a result of one: undefined. Mirrored
//    for +inf.
//  * `//` rounds towards minus infinity, `%` has the sign of the divisor, rint sends ties to even, sign(0) =
//    0.
//  * A reduction never folds zero elements (axes are >= 1; a slice must be proved non-empty).
//  * take: the index must lie in [0, extent); negative indices are an error here, not a wrap.
//  * A loop runs its body for counter 0 .. extent-1; all states are replaced at once after each round. Its
//    extent may be 0 for some dimensions (range(K - 1)); the result is then the initial state.
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/diagnostics.h"
#include "core/base/exact.h"
#include "core/base/result.h"
#include "core/tensor/dim.h"
#include "core/tensor/dim_facts.h"
#include "core/tensor/dtype.h"
#include "core/tensor/operators.h"

namespace nuscope::tensor {

struct Node;
using NodeRef = const Node*;

/// What an operator carries besides its operands. Fields that an operator does not use are empty.
struct Attributes {
  std::string name;  ///< input: parameter name; loop, loopState: counter symbol "@h"; einsum: "ij,jk->ik"
  Rational value;    ///< constant
  int infinity = 0;  ///< constant: -1 or +1 for -inf, +inf
  DType dtype = DType::f32;  ///< input, constant, dimValue, arange, cast, loopState: the element type
  std::vector<int> axes;     ///< reduce, scan, transpose (permutation), expandDims (in the result), squeeze,
                             ///< concatenate, repeat, take (one axis): all >= 0, ascending except transpose
  bool keepDims = false;     ///< reduce
  int index = 0;             ///< loopState, loopResult: which state; power: the exponent (>= 0)
  Shape shape;          ///< input, reshape, broadcastTo, loopState: the shape; dimValue, arange: one extent;
                        ///< repeat: one count; loop: one extent
  Shape starts, stops;  ///< slice: per axis, 0 <= start < stop <= extent
  std::vector<NodeRef>
      body;  ///< loop: new value of each state, over loopState leaves, the counter and outer nodes
  bool operator==(const Attributes&) const = default;
};

/// One operator application. Nodes live as long as their store; equal nodes of one store are the same object.
struct Node {
  std::uint32_t id = 0;  ///< order of creation in the store; operands have smaller ids
  Op op = Op::input;
  std::vector<NodeRef> operands;
  Attributes attributes;
  Shape shape;
  DType dtype = DType::f32;
  std::size_t hash = 0;  ///< structural; independent of ids
  int loopHeight = 0;    ///< deepest nesting of loops at or below this node
};

inline bool isElementwise(NodeRef node) {
  return kind(node->op) == OpKind::elementwise;
}
inline bool isContraction(NodeRef node) {
  return kind(node->op) == OpKind::contract;
}

/// Owns and hash-conses nodes. Thread-safe. Ids depend on the order of creation, so whoever needs
/// reproducible ids creates from one thread.
class NodeStore {
 public:
  NodeStore() = default;
  NodeStore(const NodeStore&) = delete;
  NodeStore& operator=(const NodeStore&) = delete;

  /// The only way to a node: infers shape and dtype (shapes.h), refuses what is ill-typed under the facts.
  /// Operands must belong to this store. Elementwise operands must have equal dtypes where the operator needs
  /// it (the language inserts casts).
  Result<NodeRef> make(Op op, std::vector<NodeRef> operands, Attributes attributes, const DimFacts& facts);
  [[nodiscard]] std::size_t size() const;

  // Shorthands for tests and passes; throw InternalError on a refusal.
  NodeRef input(std::string name, DType dtype, Shape shape);
  NodeRef constant(const Rational& value, DType dtype = DType::f32);

 private:
  mutable std::mutex mutex_;
  std::deque<Node> nodes_;
  std::unordered_multimap<std::size_t, NodeRef> byHash_;
};

/// An assert. `dims` where it relates dimensions only; otherwise `condition`, a boolean scalar node over the
/// inputs (np.all(...) is Op::all over all axes; a comparison of scalars stands for itself).
struct Precondition {
  std::string text;  ///< as written, without "assert"
  SourceRange range;
  std::optional<DimRelation> dims;
  NodeRef condition = nullptr;
};

struct Parameter {
  std::string name;
  NodeRef node = nullptr;  ///< Op::input
};

/// A whole program. Copyable; copies share the store.
struct Program {
  std::string name;
  std::shared_ptr<NodeStore> store;
  std::vector<Parameter> parameters;  ///< in order of the signature
  std::vector<NodeRef> results;
  std::vector<std::string> resultNames;  ///< as returned: the variable's name, or "result"
  std::vector<Precondition> preconditions;
  DimFacts facts;                                   ///< of all preconditions with `dims`
  std::vector<std::string> dimensions;              ///< symbols in order of first appearance in the signature
  std::unordered_map<NodeRef, SourceRange> ranges;  ///< where a node was written
  std::unordered_map<NodeRef, std::string> variables;  ///< the name a node was first assigned to
};

/// Nodes reachable from the roots, operands (and loop bodies) before users; each once.
std::vector<NodeRef> topological(std::span<const NodeRef> roots);
/// The same without entering loop bodies: a loop counts as one operator.
std::vector<NodeRef> topologicalOutsideLoops(std::span<const NodeRef> roots);
/// Number of uses of each reachable node by reachable nodes and roots.
std::unordered_map<NodeRef, int> useCounts(std::span<const NodeRef> roots);
/// The number in a counter's name: 2 for "@2"; 0 if it is none.
int loopHeightOf(std::string_view counter);
/// `root` with nodes replaced (and everything above rebuilt, inside loops as well). A loop whose counter's
/// name is taken by a loop that came into its body gets the next free name. Refused when a rebuilt node is
/// ill-typed.
Result<NodeRef> replaceNodes(NodeStore& store, NodeRef root,
                             const std::unordered_map<NodeRef, NodeRef>& replacements, const DimFacts& facts);
/// One line for messages and tests: "add(f32[M, K], f32[K]) -> f32[M, K]".
std::string describe(NodeRef node);
/// "f32[M, K]"; "f32" for a scalar.
std::string typeText(DType dtype, const Shape& shape);

}  // namespace nuscope::tensor
