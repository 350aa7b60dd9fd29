#include "core/semantics/granular.h"

namespace nuscope::semantics {

std::vector<AxisGroup> reshapeGroups(const Shape& source, const Shape& target, const DimFacts& facts) {
  std::vector<AxisGroup> groups;
  std::size_t s = 0;
  std::size_t t = 0;
  while (s < source.size() || t < target.size()) {
    AxisGroup group{s, s, t, t};
    Dim left(1);
    Dim right(1);
    bool closed = false;
    if (s < source.size()) left = source[group.sourceEnd++];
    if (t < target.size()) right = target[group.targetEnd++];
    while (!closed) {
      if (facts.equal(left, right)) {
        closed = true;
      } else if (group.targetEnd < target.size() && facts.lessEqual(right, left)) {
        right = right * target[group.targetEnd++];
      } else if (group.sourceEnd < source.size() && facts.lessEqual(left, right)) {
        left = left * source[group.sourceEnd++];
      } else {
        break;
      }
    }
    // Trailing axes of extent 1 on one side belong to the last group.
    if (closed && group.sourceEnd == source.size()) group.targetEnd = target.size();
    if (closed && group.targetEnd == target.size()) group.sourceEnd = source.size();
    if (!closed ||
        !facts.equal(tensor::product(Shape(source.begin() + static_cast<std::ptrdiff_t>(group.sourceBegin),
                                           source.begin() + static_cast<std::ptrdiff_t>(group.sourceEnd))),
                     tensor::product(Shape(target.begin() + static_cast<std::ptrdiff_t>(group.targetBegin),
                                           target.begin() + static_cast<std::ptrdiff_t>(group.targetEnd))))) {
      group.sourceEnd = source.size();
      group.targetEnd = target.size();
    }
    groups.push_back(group);
    s = group.sourceEnd;
    t = group.targetEnd;
  }
  return groups;
}

}  // namespace nuscope::semantics
