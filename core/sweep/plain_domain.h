#pragma once
// Granular forms as C++ text: the domain (semantics/granular.h) behind the plain loops. Integers and values
// are C++ expressions; a fold becomes statements in the current block and an accumulator.
#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/semantics/granular.h"

namespace nuscope::sweep {

/// Lines of C++ with indentation.
class CodeBlock {
 public:
  void line(const std::string& text) { lines_.push_back(std::string(2 * depth_, ' ') + text); }
  void open(const std::string& text) {
    line(text + " {");
    ++depth_;
  }
  void close() {
    --depth_;
    line("}");
  }
  void append(const CodeBlock& block) {
    for (const auto& text : block.lines_) line(text);
  }
  [[nodiscard]] bool empty() const { return lines_.empty(); }
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::string> lines_;
  std::size_t depth_ = 0;
};

/// "float", "double", "int", "signed char", "unsigned char"; empty for types that plain C++ has not.
std::string plainType(tensor::DType type);

/// How a text speaks of what its caller gives.
struct PlainWords {
  bool anyExtents = false;     ///< dimensions are variables, see dimensionName; else numbers
  bool wideConstants = false;  ///< f32 constants are written as doubles: compared exactly, not rounded first
};

/// The variable that holds a dimension's extent where extents are not known: "n_M".
inline std::string dimensionName(std::string_view symbol) {
  return "n_" + std::string(symbol);
}

class PlainDomain {
 public:
  using Int = std::string;
  using Value = std::string;
  using Indices = std::span<const Int>;

  /// With `words.anyExtents` the extents only say what is typical (`extent`), and no number of them is
  /// printed.
  PlainDomain(const tensor::Program& program, const tensor::Extents& extents, PlainWords words = {})
      : program_(program), extents_(extents), words_(words) {}

  /// From now on elements of `node` are read from the array `name`.
  void store(tensor::NodeRef node, std::string name) { stored_[node] = std::move(name); }
  [[nodiscard]] bool isStored(tensor::NodeRef node) const { return stored_.contains(node); }
  [[nodiscard]] const std::string& nameOf(tensor::NodeRef node) const { return stored_.at(node); }
  /// Where statements go; `block` must outlive its use.
  void into(CodeBlock& block) { block_ = &block; }
  [[nodiscard]] std::string fresh(const char* stem) { return stem + std::to_string(next_++); }
  /// The value of a node at an index, computed here and now whether it is stored or not.
  Value expand(const tensor::Node& node, Indices index);
  /// Row-major position in an array of this shape.
  [[nodiscard]] std::string flat(const tensor::Shape& shape, Indices index) const;
  [[nodiscard]] std::int64_t extent(const tensor::Dim& dim) const { return dim.evaluate(extents_); }
  /// The same as text: a number, or an expression of the dimensions' variables.
  [[nodiscard]] std::string size(const tensor::Dim& value) const {
    return words_.anyExtents ? dim(value) : std::to_string(extent(value));
  }
  void nameCounter(const std::string& counter, std::string name) { counters_[counter] = std::move(name); }

  // The domain
  Int dim(const tensor::Dim& value) const;
  Int plus(const Int& a, const Int& b) const;
  Int minus(const Int& a, const Int& b) const;
  Int times(const Int& a, const Int& b) const;
  Int quotient(const Int& a, const Int& b) const;
  Value element(tensor::NodeRef operand, Indices index);
  Value constant(const tensor::Node& node) const;
  Value number(const Int& value, tensor::DType type) const;
  Int subscript(const Value& value, const tensor::Dim& extent) const;
  Value apply(tensor::Op op, std::span<const Value> values, const tensor::Node& node) const;
  Value choose(const Value& condition, const std::function<Value()>& then,
               const std::function<Value()>& otherwise);
  Value chooseLess(const Int& a, const Int& b, const std::function<Value()>& then,
                   const std::function<Value()>& otherwise) {
    return choose("(" + a + " < " + b + ")", then, otherwise);
  }
  Value fold(semantics::Fold fold, const tensor::Dim& extent, const std::function<Value(const Int&)>& body);
  Value prefixFold(semantics::Fold fold, const Int& last, const tensor::Dim& extent,
                   const std::function<Value(const Int&)>& body);
  Value leaf(tensor::NodeRef node, Indices index);
  Value loopResult(tensor::NodeRef node, Indices index);

 private:
  Value foldUntil(semantics::Fold fold, const std::string& end, const std::function<Value(const Int&)>& body);
  const tensor::Program& program_;
  const tensor::Extents& extents_;
  PlainWords words_;
  std::unordered_map<tensor::NodeRef, std::string> stored_;
  std::unordered_map<std::string, std::string> counters_;
  CodeBlock* block_ = nullptr;
  const tensor::Node* current_ = nullptr;  ///< whose granular form is being printed
  int next_ = 0;
};

}  // namespace nuscope::sweep
