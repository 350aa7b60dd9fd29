#pragma once
// Turns values of nodes into C++ statements: a domain of granular forms whose values are names of variables.
//
// Statements go into *frames*: the function, a loop over rows, a loop over lanes, a branch. Every value is
// computed in the outermost frame that knows the variables it depends on, once; granular forms say what it
// is. A value is a scalar or a vector of lanes; whether it is a vector follows from what it depends on.
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "core/emit/arrays.h"
#include "core/semantics/granular.h"

namespace nuscope::emit {

using fusion::IndexSpace;

struct Line {
  std::string text;
  int indent = 0;
  std::vector<NodeRef> nodes;
};

struct Value {
  std::string text;
  bool vector = false;
  DType dtype = DType::f32;
  int depth = 0;  ///< of the frame in which it is known
  bool literal = false;
};

/// Thrown while a loop over lanes is generated: the concatenation's seam lies at this lane; generate it in
/// parts.
struct NeedsSplit {
  std::int64_t at = 0;
};

/// What all functions of a file share.
struct FileContext {
  const tensor::Program* program = nullptr;
  const fusion::Concrete* concrete = nullptr;
  const fusion::Plan* plan = nullptr;
  std::unordered_map<NodeRef, int> arrayOf;  ///< of stored nodes: index in `arrays`
  std::vector<Array> arrays;
  std::map<std::string, std::string> counters;  ///< loop counter symbol -> field of Data
  Names globals;
  [[nodiscard]] std::string nameOf(
      NodeRef node) const;  ///< the program's variable, or what the operator is called
};

class Generator {
 public:
  using Int = Affine;
  using Value = emit::Value;

  /// One function. `vectors`: whether lanes are vectors at all.
  Generator(FileContext& file, bool vectors);

  // ---- frames
  void push(bool branch = false);
  /// Closes the innermost frame; its lines go, indented, between header and footer into the one outside it.
  void pop(const std::string& header, const std::string& footer = "}",
           const std::vector<NodeRef>& nodes = {});
  std::vector<Line> popLines();  ///< closes it without adding it anywhere
  void add(const std::string& text, const std::vector<NodeRef>& nodes = {});  ///< to the innermost frame
  void addAt(int depth, const std::string& text, const std::vector<NodeRef>& nodes = {});
  void append(const std::vector<Line>& lines, int indent = 1);
  [[nodiscard]] int depth() const { return static_cast<int>(frames_.size()) - 1; }
  std::string fresh(const std::string& wanted) { return names_.fresh(wanted); }

  // ---- variables
  IndexSpace& space() { return space_; }
  Affine variable(const std::string& text, Extent from,
                  Extent to);  ///< in [from, to), of the innermost frame
  Affine laneVariable(const std::string& text, Extent from,
                      Extent to);  ///< likewise; a vector's lanes count on from it
  [[nodiscard]] bool vectors() const { return vectors_; }

  // ---- values
  /// The node's value at an index: loaded, or computed in place.
  Value value(NodeRef node, const std::vector<Affine>& index) {
    return element(node, std::span<const Int>(index));
  }
  /// Computed even if the node is stored.
  Value compute(NodeRef node, const std::vector<Affine>& index);
  void store(int array, const Affine& position, const Value& value, NodeRef node);
  /// Position in the array, relative to the current strip for strip arrays.
  Affine position(int array, const Affine& flat) const;
  void setStripBegin(const Affine& begin) { stripBegin_ = begin; }
  /// Names the array in this function.
  std::string use(int array);
  std::string useWritten(int array);
  [[nodiscard]] const std::map<int, bool>& used() const { return used_; }
  Value asVector(const Value& value);
  std::string splatText(const Value& value) const;
  Value define(const std::string& expression, DType dtype, bool vector, int depth, NodeRef node);
  void remember(NodeRef node, const std::vector<Affine>& index, const Value& value);
  /// One value per row, whatever the index: set when it has been computed; forgotten by `forgetRows`.
  std::map<NodeRef, Value> rowValues;
  /// Asked first for every element; e.g. the accumulators of a matrix product.
  std::function<std::optional<Value>(NodeRef, std::span<const Int>)> override;
  /// Takes over the outermost fold of the node that is computed.
  using FoldHook =
      std::function<Value(semantics::Fold, const tensor::Dim&, const std::function<Value(const Int&)>&)>;
  FoldHook foldHook;
  /// Told of every vector of contiguous elements that is loaded: the array, and the position of its first
  /// lane.
  std::function<void(int array, const Affine& at)> onLoad;

  static std::string identity(semantics::Fold fold, DType dtype);  ///< "0.0f"
  /// "a + b", "max(a, b)".
  std::string combine(semantics::Fold fold, const Value& a, const Value& b) const;
  static std::string literal(const Rational& value, DType dtype);

  // ---- the domain
  Int dim(const tensor::Dim& value) { return file_.concrete->affine(value, space_, counters_); }
  Int plus(const Int& a, const Int& b) { return a + b; }
  Int minus(const Int& a, const Int& b) { return a - b; }
  Int times(const Int& a, const Int& b) { return space_.product(a, b); }
  Int quotient(const Int& a, const Int& b);
  Value element(NodeRef node, std::span<const Int> index);
  Value constant(const tensor::Node& node);
  Value number(const Int& value, DType dtype);
  Int subscript(const Value& value, const tensor::Dim& extent);
  Value apply(Op op, std::span<const Value> values, const tensor::Node& node);
  template <class A, class B>
  Value choose(const Value& condition, A then, B otherwise) {
    const Value yes = then();
    return select(condition, yes, otherwise());
  }
  template <class A, class B>
  Value chooseLess(const Int& a, const Int& b, A then, B otherwise) {
    const fusion::Range range = space_.range(a - b);
    if (range.most < 0) return then();
    if (range.least >= 0) return otherwise();
    return branch(a, b, then, otherwise);
  }
  template <class Body>
  Value fold(semantics::Fold fold, const tensor::Dim& extent, Body body) {
    if (foldHook) {
      const FoldHook hook = std::move(foldHook);
      foldHook = nullptr;
      return hook(fold, extent, body);
    }
    return plainFold(fold, dim(extent), body);
  }
  template <class Body>
  Value prefixFold(semantics::Fold fold, const Int& last, const tensor::Dim& extent, Body body) {
    if (foldHook) {
      const FoldHook hook = std::move(foldHook);
      foldHook = nullptr;
      return hook(fold, extent, body);
    }
    return plainFold(fold, last + 1, body);
  }
  Value leaf(NodeRef node, std::span<const Int> index) { return loadStored(node, index); }
  Value loopResult(NodeRef node, std::span<const Int> index) { return loadStored(node, index); }

 private:
  struct Frame {
    std::vector<Line> lines;
    std::map<std::pair<NodeRef, std::vector<Affine>>, Value> known;
    std::map<std::string, Value> inverses;  ///< of divisors, by name
    bool branch = false;
  };
  Value inverseOf(const Value& divisor);
  [[nodiscard]] int placeOf(int depth) const;  ///< no further out than the innermost branch
  Value loadStored(NodeRef node, std::span<const Int> index);
  Value select(const Value& condition, const Value& yes, const Value& no);
  Value branch(const Int& a, const Int& b, const std::function<Value()>& then,
               const std::function<Value()>& otherwise);
  Value plainFold(semantics::Fold fold, const Affine& extent, const std::function<Value(const Int&)>& body);
  std::string expression(Op op, std::span<const Value> values, const tensor::Node& node, bool vector) const;
  std::string castText(const Value& value, DType to, bool vector) const;
  [[nodiscard]] std::string operandText(const Value& value, bool vector) const;

  FileContext& file_;
  bool vectors_;
  IndexSpace space_;
  std::map<std::string, Affine> counters_;
  std::vector<Frame> frames_;
  Names names_;
  std::map<int, bool> used_;
  Affine stripBegin_;
};

}  // namespace nuscope::emit
