#include "app/proof_recording.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "core/base/files.h"
#include "core/record/cache.h"
#include "core/record/record.h"

namespace nuscope::app {

Recording recordingOf(const tensor::Program& left, const tensor::Program& right, proof::Mode mode,
                      double secondsLimit, const Progress& progress) {
  Recording result;
  replay::Z3Program z3;
  const replay::ProofGoal goal = record::goalOf(left, right, mode == proof::Mode::refines);
  const record::Attempt attempt = record::recordProof(goal, &z3, secondsLimit, progress);
  result.why = attempt.why;
  result.seconds = attempt.seconds;
  if (attempt.record.empty()) return result;
  replay::ProofOutcome outcome = replay::replayProof(attempt.record, &z3, secondsLimit);
  result.seconds += outcome.seconds;
  result.replayable = outcome.status == replay::ProofOutcome::Status::confirmed;
  if (!result.replayable) {
    result.why = "not replayable: " + outcome.why;
    return result;
  }
  result.record = attempt.record;
  result.obligations = std::move(outcome.obligations);
  return result;
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
  proof.holdsFor =
      left.dimensions.empty() ? "all inputs" : fmt::format("all {} >= 1", fmt::join(left.dimensions, ", "));
  if (!found->assumptions.empty())
    proof.holdsFor += fmt::format(" with {}", fmt::join(found->assumptions, " and "));
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
