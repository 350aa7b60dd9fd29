#pragma once
// One more baseline where a Python has PyTorch: the program as written in eager torch, on the CPU, same
// threads. It runs in a Python process of its own; its result passes the same gate.
#include <string>

#include "core/base/result.h"
#include "core/sweep/bench.h"

namespace nuscope::sweep {

/// A Python module with `def f(inputs...)` on torch tensors. Refused for symbolic loops.
Result<std::string> torchProgram(const tensor::Program& program, const tensor::Extents& extents);

/// Runs it on the references and times it on the first. A baseline that cannot run has the state `skipped`
/// (no such Python, no torch) or `failed`, with the reason. Throws Cancelled.
Entrant runTorch(const std::string& python, const tensor::Program& program, const tensor::Extents& extents,
                 const std::vector<Reference>& references, int threads, double gateFactor,
                 double limitSeconds, const Progress& progress);

}  // namespace nuscope::sweep
