#pragma once
// Records of earlier proofs on disk. A file there is never believed: a goal counts as proved only after the
// record found for it has been replayed, and is about exactly this goal.
#include <filesystem>
#include <optional>
#include <string>

#include "core/replay/proof_record.h"

namespace nuscope::record {

/// One folder of records, named by a hash of goal, mode and versions. Safe against damaged files, files of
/// other versions or goals, and other processes that read and write it. Not needed for correctness: what
/// cannot be read or written is as if it were not there.
class ProofCache {
 public:
  explicit ProofCache(std::filesystem::path folder) : folder_(std::move(folder)) {}
  /// $XDG_CACHE_HOME/nuscope/proofs, or ~/.cache/nuscope/proofs; empty where there is no home.
  static std::filesystem::path defaultFolder();

  /// The replayed outcome, if a record of this goal is there and is confirmed.
  std::optional<replay::ProofOutcome> find(const replay::ProofGoal& goal, replay::Solver* solver,
                                           double secondsLimit = 1) const;
  /// Keeps a record of the goal. At most `most` files stay, the latest.
  void store(const replay::ProofGoal& goal, const std::string& record, std::size_t most = 4096) const;
  [[nodiscard]] std::filesystem::path fileOf(const replay::ProofGoal& goal) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace nuscope::record
