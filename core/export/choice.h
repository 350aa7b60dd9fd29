#pragma once
// Which kernels of a study are exported, emitted and proved anew. A study is untrusted: its program is
// parsed, its variants are checked to be graphs over that program, its kernels' texts are only compared.
#include <optional>
#include <string>
#include <vector>

#include "core/emit/kernel.h"
#include "core/export/export.h"
#include "core/machine/target.h"
#include "core/sweep/gate.h"
#include "core/sweep/plain.h"
#include "core/tensor/graph.h"

namespace nuscope::exporting {

struct StepLine {
  int from = 0, to = 0;
  std::string what;
  bool proved = false;  ///< by this process, just now
  std::string holdsFor;
  std::string why;  ///< where not proved
};

struct Chosen {
  sweep::CandidateRecord candidate;
  sweep::SweepRecord sweep;
  std::optional<sweep::Measurement> measurement;                      ///< of exactly this text
  std::vector<std::pair<std::string, sweep::Measurement>> baselines;  ///< label; measured in the same sweep
  emit::Kernel kernel;
  std::vector<StepLine> steps;
  std::string variantText;                  ///< the variant as a NumPy module
  sweep::Reference draw;                    ///< the draw that the study timed on
  std::optional<sweep::PlainKernel> plain;  ///< the baseline of the bench; empty: plain C++ has not its types
  [[nodiscard]] bool proved() const;
};

struct Choice {
  tensor::Program program;
  sweep::Revision revision;
  machine::Target target;
  std::vector<Chosen> kernels;  ///< at least one; different extents
};

/// Names of functions: `function`, then function_2, function_3, ...
Choice choose(const sweep::Study& study, const Request& request, const Progress& progress,
              std::vector<std::string>& notes);

}  // namespace nuscope::exporting
