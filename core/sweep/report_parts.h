#pragma once
// Pieces of the report, one file each. Internal to core/sweep/report*.cpp.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/nugraph/nugraph.h"
#include "core/sweep/report.h"
#include "core/sweep/study.h"

namespace nuscope::sweep {

/// Text as HTML content or attribute value.
std::string escapeHtml(std::string_view text);
/// "7.84 ms", "340 µs", "1.2 s".
std::string durationText(double seconds);

/// What the report is made of, read from the study once.
struct ReportSource {
  Revision revision;
  std::optional<nugraph::NuGraph> graph;
  std::string graphError;            ///< why the recorded nu-graph cannot be read
  std::optional<SweepRecord> sweep;  ///< the latest one of the revision
  struct Row {
    CandidateRecord candidate;
    std::optional<Measurement> measurement;
  };
  std::vector<Row> rows;       ///< emitted; the chosen one, then by time
  std::vector<Row> baselines;  ///< fastest first
  [[nodiscard]] const Row* best() const;
};

std::string reportStyle();
/// Headline, sentence below it, contents.
std::string reportHead(const ReportSource& source);
std::string reportVariants(const ReportSource& source, const ReportPictures& pictures);
std::string reportProofs(const ReportSource& source, const Progress& progress);
std::string reportSweep(const ReportSource& source, const ReportPictures& pictures);
std::string reportKernel(const ReportSource& source, const Study& study);
std::string reportEnvironment(const ReportSource& source);
/// A picture in both themes; the reason why it is missing where there is none.
std::string reportPicture(const ReportPictures& pictures, const std::string& name,
                          const std::string& caption);

}  // namespace nuscope::sweep
