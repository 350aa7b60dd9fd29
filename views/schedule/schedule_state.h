#pragma once
// One version of a schedule with everything that the views show of it. Made in a job, immutable, shared by
// pointer: undo goes back to the version before, a preview is a version that is not adopted yet.
#include <QString>
#include <memory>

#include "core/base/diagnostics.h"
#include "core/schedule/amk_verdict.h"
#include "core/schedule/outline.h"
#include "core/schedule/repair.h"
#include "core/schedule/rounds.h"
#include "core/schedule/rules.h"

namespace nuscope::views {

struct ScheduleState {
  QString what;        ///< how it came about: "opened", "edited", or the repair in words
  bool typed = false;  ///< edited as text
  std::shared_ptr<const std::string> text;
  std::vector<std::uint32_t> lines;  ///< byte offset of the start of each line
  bool large = false;                ///< too large to be edited as text: records are shown one by one
  double readSeconds = 0;
  std::vector<schedule::Fault> faults;                 ///< of reading and of the records
  std::shared_ptr<const schedule::Schedule> schedule;  ///< null: the text could not be read
  schedule::Report report;
  std::vector<schedule::RuleVerdict> rules;
  QString headline;
  std::optional<schedule::AmkVerdict> amk;  ///< what AutoMegaKernel's validator says, of its own files
  std::vector<std::string> amkDiffers;      ///< why that differs from the report; empty: it does not

  // Of well-formed schedules only; null and empty otherwise.
  std::shared_ptr<const schedule::Model> model;
  std::unique_ptr<const schedule::Ids> ids;
  schedule::Footprints touched;
  std::unique_ptr<const schedule::Outline> outline;
  std::vector<schedule::FindingGroup> groups;
  std::shared_ptr<const schedule::Rounds> whole;  ///< as far as it goes

  [[nodiscard]] bool wellFormed() const { return model != nullptr; }
  [[nodiscard]] QString taskName(std::int32_t task) const;
  [[nodiscard]] QString bufferName(std::int32_t buffer) const;
  [[nodiscard]] std::int64_t counterId(std::int32_t counter) const;
  /// Line and column of a place in the text; line 0 for an unknown place.
  [[nodiscard]] SourceRange rangeOf(const schedule::Place& place) const;
  /// Byte offset of a line and column (1-based, code points).
  [[nodiscard]] std::uint64_t offsetOf(int line, int column) const;
  /// Accesses of a task, reads first.
  [[nodiscard]] std::span<const schedule::Touch> touchesOf(std::int32_t task) const;
};

/// Any thread. Throws Cancelled.
std::shared_ptr<const ScheduleState> makeScheduleState(std::shared_ptr<const std::string> text,
                                                       const QString& what, const Progress& progress,
                                                       bool typed = false);

/// What is worked out for one finding when it is chosen.
struct FindingDetail {
  schedule::Finding finding;  ///< with its run
  std::vector<schedule::Sentence> sentences;
  std::shared_ptr<const schedule::Rounds> run;
};
FindingDetail makeFindingDetail(const ScheduleState& state, std::size_t finding);

}  // namespace nuscope::views
