#include "core/record/cache.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "core/base/diagnostics.h"
#include "core/base/files.h"

namespace nuscope::record {

namespace fs = std::filesystem;

fs::path ProofCache::defaultFolder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/')
    return fs::path(cache) / "nuscope" / "proofs";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    return fs::path(home) / ".cache" / "nuscope" / "proofs";
  return {};
}

fs::path ProofCache::fileOf(const replay::ProofGoal& goal) const {
  const std::string key =
      fmt::format("{} {} {} {}\n{}\n{}", goal.refines ? "refines" : "equal", replay::recordVersion,
                  replay::semanticsVersion, goal.left.size(), goal.left, goal.right);
  const std::uint64_t a = replay::hashText(key);
  return folder_ / fmt::format("{:016x}{:016x}.json", a, replay::mix(a, replay::hashText(key + "#")));
}

std::optional<replay::ProofOutcome> ProofCache::find(const replay::ProofGoal& goal, replay::Solver* solver,
                                                     double secondsLimit) const {
  if (folder_.empty()) return std::nullopt;
  const fs::path file = fileOf(goal);
  std::error_code error;
  const auto size = fs::file_size(file, error);
  if (error || size > replay::recordLimit) return std::nullopt;
  std::string text;
  try {
    text = readWholeFile(file);
  } catch (const UserError&) {
    return std::nullopt;
  }
  replay::ProofOutcome outcome = replay::replayProof(text, solver, secondsLimit);
  // An equal hash is no equal goal.
  if (outcome.status != replay::ProofOutcome::Status::confirmed || !(outcome.goal == goal))
    return std::nullopt;
  return outcome;
}

void ProofCache::store(const replay::ProofGoal& goal, const std::string& record, std::size_t most) const {
  if (folder_.empty() || record.size() > replay::recordLimit) return;
  static std::atomic<int> number{0};
  std::error_code error;
  fs::create_directories(folder_, error);
  const fs::path file = fileOf(goal);
  // Written aside and renamed, so that a reader sees a whole file.
  const fs::path aside = folder_ / fmt::format("{}.{}.{}", file.filename().string(), getpid(), ++number);
  try {
    writeWholeFile(aside, record);
    fs::rename(aside, file, error);
  } catch (const std::exception&) {
    error = std::make_error_code(std::errc::io_error);
  }
  if (error) fs::remove(aside, error);
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    const auto time = fs::last_write_time(at->path(), gone);
    if (!gone) files.emplace_back(time, at->path());
  }
  if (files.size() <= most) return;
  std::sort(files.begin(), files.end());
  for (std::size_t i = 0; i < files.size() - most; ++i) fs::remove(files[i].second, error);
}

}  // namespace nuscope::record
