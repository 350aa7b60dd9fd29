#pragma once
// Graphs up to what does not matter for their loops. Elementwise operators of one shape that feed each other
// run in one loop whatever their order (nor does it matter in which order a loop of the program lists its
// states); a program with ten of them in a row has thousands of such orders. Skeletons tell when two graphs
// differ in that alone. They say nothing about equality: that is for proofs.
#include <map>
#include <unordered_map>
#include <vector>

#include "core/tensor/graph.h"

namespace nuscope::propagate {

/// Numbers for graphs of one store, equal exactly if the skeletons are. A region is what an elementwise
/// operator reaches downwards through elementwise operators of its own shape. Not thread-safe; nodes must
/// outlive it.
class Skeletons {
 public:
  explicit Skeletons(const tensor::DimFacts& facts) : facts_(facts) {}

  /// Of elementwise operators, whatever their shapes, counts only what they read.
  std::vector<int> reads(const std::vector<tensor::NodeRef>& results);
  /// And which operators it has, with multiplicity.
  std::vector<int> loops(const std::vector<tensor::NodeRef>& results);
  /// Its borders count as well: what is done last, and what is done first with a value that another operator
  /// makes, for these are what can move out of it. The order in between does not.
  std::vector<int> borders(const std::vector<tensor::NodeRef>& results);

 private:
  using Key = std::vector<int>;
  struct Numbers {
    int reads = 0;
    int loops = 0;
    int borders = 0;
  };
  int number(Key key);
  int label(tensor::Op op, const tensor::Attributes& attributes);
  const Numbers& of(tensor::NodeRef node) const { return numbers_.at(node); }
  [[nodiscard]] bool inRegion(tensor::NodeRef user, tensor::NodeRef operand) const;
  std::vector<tensor::NodeRef> region(tensor::NodeRef root) const;
  int application(tensor::NodeRef node);
  Numbers numbersOf(tensor::NodeRef node);
  Numbers regionNumbers(tensor::NodeRef root);
  Numbers loopNumbers(tensor::NodeRef loop);
  std::vector<int> afterRound(tensor::NodeRef loop, const std::vector<int>& states);
  const std::vector<int>& readBy(tensor::NodeRef node);
  std::vector<int> ofAll(const std::vector<tensor::NodeRef>& results, int Numbers::*which);

  const tensor::DimFacts& facts_;
  std::map<Key, int> known_;
  std::map<tensor::Op, std::vector<std::pair<tensor::Attributes, int>>> labels_;
  int nextLabel_ = 0;
  std::unordered_map<tensor::NodeRef, Numbers> numbers_;
  std::unordered_map<tensor::NodeRef, std::vector<int>> states_;  ///< of loops, without their order
  std::unordered_map<tensor::NodeRef, std::vector<int>> readBy_;  ///< elementwise operators
};

}  // namespace nuscope::propagate
