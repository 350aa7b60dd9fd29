#include "core/propagate/blocks.h"

namespace nuscope::propagate {

using tensor::Dim;

std::vector<Blocks> waysToCut(const Dim& extent, const tensor::Program& program) {
  std::vector<Blocks> ways;
  const Dim known = program.facts.normalise(extent);
  if (known.terms().size() != 1) return ways;
  std::vector<Dim> sizes;
  if (const auto coefficient = known.terms().begin()->second; coefficient > 1)
    sizes.emplace_back(coefficient);
  for (const std::string& name : program.dimensions) sizes.push_back(Dim::symbol(name));
  for (const Dim& size : sizes) {
    const Dim rounds = tensor::floorDiv(extent, size);
    if (program.facts.equal(rounds, 1) || !program.facts.positive(rounds)) continue;
    if (program.facts.equal(rounds * size, extent)) ways.push_back({size, rounds});
  }
  return ways;
}

}  // namespace nuscope::propagate
