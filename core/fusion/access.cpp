#include "core/fusion/access.h"

namespace nuscope::fusion {

AccessDomain::Value AccessDomain::element(NodeRef operand, std::span<const Int> index) {
  std::vector<Affine> at(index.begin(), index.end());
  if (!seen_.emplace(operand, at).second) return {};
  if (isStored_(operand) || operand->op == Op::input || operand->op == Op::loopState ||
      operand->op == Op::loopResult) {
    accesses.push_back({operand, std::move(at)});
    return {};
  }
  visit(operand, at);
  return {};
}

const std::map<std::string, Affine>& AccessDomain::counters() {
  if (counters_.empty()) {
    // One unknown per counter: the same within one walk.
    for (const auto& [name, extent] : concrete_.loopExtents()) {
      counters_[name] = Affine::atom(space_.variable(name, {0, extent - 1}, 0));
    }
    if (counters_.empty()) counters_["@"] = Affine();
  }
  return counters_;
}

std::vector<Affine> axisVariables(IndexSpace& space, const ConcreteShape& shape) {
  std::vector<Affine> index;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    index.push_back(shape[i] == 1
                        ? Affine()
                        : Affine::atom(space.variable("i" + std::to_string(i), {0, shape[i] - 1}, 0)));
  }
  return index;
}

}  // namespace nuscope::fusion
