#pragma once
// One schedule file, read and checked: what `nuscope check` prints, as text and as JSON.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "core/schedule/amk_verdict.h"
#include "core/schedule/check.h"
#include "core/schedule/repair.h"

namespace nuscope::app {

struct CheckRequest {
  bool keepClocks = false;
  bool asLoaded = false;  ///< re-sorted as AutoMegaKernel's loader does
  int passes = 1;
  std::optional<std::int64_t> position;
};

struct CheckedSchedule {
  std::string file;
  std::string text;  ///< kept for a single file, so that faults have lines
  schedule::ReadResult read;
  schedule::Report report;
  std::optional<schedule::AmkVerdict> amk;  ///< for AutoMegaKernel files
  double readSeconds = 0;
  [[nodiscard]] schedule::Safety verdict() const {
    return read.schedule && read.faults.empty() ? report.verdict : schedule::Safety::malformed;
  }
};

/// Throws UserError where the request does not fit the file.
CheckedSchedule checkFile(const std::filesystem::path& path, const CheckRequest& request,
                          const Progress& progress);

/// Version 1: verdict, findings, groups, assumptions, AutoMegaKernel's verdict.
nlohmann::json reportJson(const CheckedSchedule& checked);
void printReport(const CheckedSchedule& checked);
/// "race, uninitialised-read".
std::string codesOf(const CheckedSchedule& checked);

}  // namespace nuscope::app
