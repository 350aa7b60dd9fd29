#pragma once
// The machinery behind evaluate.h: tensors of float64 scalars with bounds, one node at a time. What it learns
// about a graph at its extents (shapes, index maps) is kept, so that many draws at one shape cost little.
#include <functional>
#include <memory>
#include <optional>

#include "core/semantics/dependence.h"
#include "core/semantics/float_arithmetic.h"

namespace nuscope::semantics {

/// A tensor of Numbers in structure-of-arrays form.
struct FloatArray {
  std::vector<std::int64_t> shape;
  std::vector<double> value;
  std::vector<double> bound;
  std::vector<std::uint8_t> state;
  bool plain = false;  ///< all defined and finite
  bool exact = false;  ///< all bounds 0

  explicit FloatArray(std::vector<std::int64_t> extents);
  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(value.size()); }
  [[nodiscard]] Number at(std::int64_t i) const {
    const auto k = static_cast<std::size_t>(i);
    return {value[k], bound[k], static_cast<State>(state[k])};
  }
  void set(std::int64_t i, const Number& number) {
    const auto k = static_cast<std::size_t>(i);
    value[k] = number.value;
    bound[k] = number.bound;
    state[k] = static_cast<std::uint8_t>(number.state);
  }
  void classify();  ///< sets plain and exact
};
using FloatArrayRef = std::shared_ptr<const FloatArray>;

/// From a parameter's value; integers and conditions must be whole.
FloatArrayRef fromTensor(const TensorValue& value);

/// c = a @ b of plain matrices [rows, inner] x [inner, columns], row-major; value and bound. Products and
/// sums in the order of k; the bound covers every order.
void multiplyMatrices(const FloatArithmetic& arithmetic, const double* a, const double* aBound,
                      const double* b, const double* bBound, std::int64_t rows, std::int64_t inner,
                      std::int64_t columns, double* c, double* cBound, bool exactOperands, bool onGrid,
                      int threads, const Progress& progress);

/// Runs f(begin, end) over [0, count) in up to `threads` contiguous pieces; rethrows a cancel.
void parallelRanges(std::int64_t count, int threads,
                    const std::function<void(std::int64_t, std::int64_t)>& f);

class FloatEngine {
 public:
  using Arithmetic = FloatArithmetic;
  using Values = std::unordered_map<NodeRef, FloatArrayRef>;

  /// Keeps a reference to `context`.
  FloatEngine(const tensor::Program& context, tensor::Extents extents);
  ~FloatEngine();
  FloatEngine(const FloatEngine&) = delete;
  FloatEngine& operator=(const FloatEngine&) = delete;

  /// `inputs` by parameter name. With `keep`, everything outside loop bodies is left in `kept`.
  std::vector<FloatArrayRef> run(std::span<const NodeRef> results,
                                 const std::map<std::string, FloatArrayRef>& inputs,
                                 const EvaluateOptions& options, const Progress& progress,
                                 Values* kept = nullptr);

  // Host of ConcreteDomain.
  const FloatArithmetic& arithmetic() const { return arithmetic_; }
  std::int64_t evaluate(const Dim& value) const { return value.evaluate(extents_); }
  Number element(NodeRef operand, std::span<const std::int64_t> index) const;
  [[noreturn]] Number leaf(const Node&, std::span<const std::int64_t>) const;
  [[noreturn]] Number loopResult(const Node&, std::span<const std::int64_t>) const;

 private:
  /// Where the elements of a layout node come from: affine in the index (`operand` is set), or one source for
  /// each.
  struct Layout {
    NodeRef operand = nullptr;
    std::int64_t base = 0;
    std::vector<std::int64_t> strides;
    std::vector<std::pair<NodeRef, std::int64_t>> sources;  ///< operand and flat position
  };
  struct Layer {
    std::string counter;  ///< empty for the outermost
    Values values;
    std::unordered_map<NodeRef, std::vector<FloatArrayRef>> loops;  ///< final states
    std::vector<FloatArrayRef> states;                              ///< of the running loop
  };
  using Key = std::pair<NodeRef, std::vector<std::int64_t>>;  ///< a node and the counters in its dimensions

  FloatArrayRef compute(const Node& node);
  FloatArrayRef input(const Node& node) const;
  FloatArrayRef elementwise(const Node& node);
  FloatArrayRef reduce(const Node& node);
  FloatArrayRef scan(const Node& node);
  FloatArrayRef matmul(const Node& node);
  FloatArrayRef einsum(const Node& node);
  bool einsumByMatmul(const Node& node, FloatArray& result);
  FloatArrayRef layout(const Node& node);
  FloatArrayRef granularNode(const Node& node);
  void runLoop(const Node& loop);
  void evaluateInScope(std::span<const NodeRef> order);
  const Layout& layoutOf(const Node& node);
  /// What is known of a node before its operands have values.
  struct Prepared {
    std::vector<std::int64_t> shape;
    std::array<std::vector<std::int64_t>, 3> strides;  ///< elementwise: of the operands under broadcasting
  };
  struct Schedule {
    std::vector<NodeRef> results;
    std::vector<NodeRef> order;
    std::unordered_map<NodeRef, int> uses;
    bool loops = false;
  };
  const Prepared& prepare(const Node& node);
  const Schedule& scheduleOf(std::span<const NodeRef> results);
  std::shared_ptr<FloatArray> make(const Node& node) {
    return std::make_shared<FloatArray>(prepare(node).shape);
  }
  Key keyOf(const Node& node);
  void roundAll(FloatArray& array, DType type) const;
  [[nodiscard]] std::size_t layerOf(NodeRef node) const;
  [[nodiscard]] const FloatArrayRef& array(NodeRef node) const;

  const tensor::Program& context_;
  tensor::Extents extents_;
  FloatArithmetic arithmetic_;
  EvaluateOptions options_;
  Progress progress_;
  const std::map<std::string, FloatArrayRef>* inputs_ = nullptr;
  mutable Dependence dependence_;
  std::vector<Layer> layers_;
  std::map<Key, Layout> layouts_;
  std::unordered_map<NodeRef, Prepared> prepared_;  ///< of nodes outside loop bodies
  std::map<Key, Prepared> preparedInLoops_;
  Schedule schedule_;
  std::unordered_map<NodeRef, std::vector<NodeRef>> bodyOrders_;
};

}  // namespace nuscope::semantics
