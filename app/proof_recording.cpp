#include "app/proof_recording.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "core/base/files.h"
#include "core/record/cache.h"

namespace nuscope::app {

Recording recordingOf(const tensor::Program& left, const tensor::Program& right, proof::Mode mode,
                      double secondsLimit, const Progress& progress) {
  replay::Z3Program z3;
  return record::confirmedRecord(record::goalOf(left, right, mode == proof::Mode::refines), &z3, secondsLimit,
                                 progress);
}

std::optional<proof::Proof> rememberedProof(const tensor::Program& left, const tensor::Program& right,
                                            proof::Mode mode) {
  replay::Z3Program z3;
  const record::ProofCache cache(record::ProofCache::defaultFolder());
  const auto found = cache.find(record::goalOf(left, right, mode == proof::Mode::refines), &z3);
  if (!found) return std::nullopt;
  proof::Proof proof;
  proof.verdict = proof::Verdict::proved;
  proof.mode = mode;
  proof.decidedBy = "record";
  proof.reason = fmt::format("an earlier proof, its record replayed ({} folds met, {} obligations)",
                             found->lemmas, found->obligations.size());
  proof.holdsFor = record::holdsFor(left.dimensions, found->assumptions);
  proof.seconds = found->seconds;
  return proof;
}

void rememberProof(const tensor::Program& left, const tensor::Program& right, proof::Mode mode,
                   const Recording& recording) {
  if (!recording.replayable) return;
  record::ProofCache(record::ProofCache::defaultFolder())
      .store(record::goalOf(left, right, mode == proof::Mode::refines), recording.record);
}

void writeObligations(const std::string& folder, const std::string& stem,
                      const std::vector<std::string>& obligations) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  for (std::size_t i = 0; i < obligations.size(); ++i)
    writeWholeFile(std::filesystem::path(folder) / fmt::format("{}_{}.smt2", stem, i + 1), obligations[i]);
}

}  // namespace nuscope::app
