#pragma once
// Records of proofs for `nuscope prove`: found after the verdict, replayed at once, and only then written.
#include <optional>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/proof/verdict.h"
#include "core/record/record.h"
#include "core/tensor/graph.h"

namespace nuscope::app {

using record::Recording;

/// A record of left == right (or: right refines left) that the independent checker has confirmed.
Recording recordingOf(const tensor::Program& left, const tensor::Program& right, proof::Mode mode,
                      double secondsLimit, const Progress& progress);
/// The verdict of an earlier run, if its record in the proof cache is confirmed anew. Its steps are the
/// record's: the proof lists none.
std::optional<proof::Proof> rememberedProof(const tensor::Program& left, const tensor::Program& right,
                                            proof::Mode mode);
/// Keeps a record for later runs.
void rememberProof(const tensor::Program& left, const tensor::Program& right, proof::Mode mode,
                   const Recording& recording);
/// FOLDER/STEM_1.smt2, ...: one file an obligation; makes the folder.
void writeObligations(const std::string& folder, const std::string& stem,
                      const std::vector<std::string>& obligations);

}  // namespace nuscope::app
