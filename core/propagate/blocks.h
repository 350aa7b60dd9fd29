#pragma once
// An extent in blocks of equal size.
#include <vector>

#include "core/tensor/graph.h"

namespace nuscope::propagate {

/// `rounds` blocks of `size` elements each.
struct Blocks {
  tensor::Dim size = 1;
  tensor::Dim rounds = 1;
};

/// Every way to cut an extent into more than one block of more than one element that the program vouches for:
/// sizes that divide it by its form (T*B) or by an assert (K % 64 == 0).
std::vector<Blocks> waysToCut(const tensor::Dim& extent, const tensor::Program& program);

}  // namespace nuscope::propagate
