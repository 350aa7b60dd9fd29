#pragma once
// A report as people read it: one row a rule, a headline, and the sentences that explain a finding.
#include <span>

#include "core/schedule/check.h"
#include "core/schedule/model.h"

namespace nuscope::schedule {

struct RuleVerdict {
  enum class State : std::uint8_t {
    holds,
    broken,
    notJudged  ///< a rule before it decides whether this one can be asked at all
  };
  std::string name;         ///< "No deadlock"
  std::vector<Rule> rules;  ///< the codes it stands for
  State state = State::holds;
  std::string
      what;  ///< "62 tasks, 41 counters", "a cycle over SM 4 and SM 9", "judged once it cannot deadlock"
  std::int64_t findings = 0;  ///< of these codes, unlisted ones included
};
/// In the order in which rules depend on each other; rules about pages and on-chip buffers only where there
/// are any.
std::vector<RuleVerdict> ruleVerdicts(const Schedule& schedule, const Report& report);

/// "Unsafe: SM 4 and SM 9 wait for each other; 52 of 62 tasks never finish".
std::string headline(const Schedule& schedule, const Report& report);

/// "4 tasks wait for each other", "7 races": what a row of findings says beside its rule.
std::string brief(const Schedule& schedule, const Finding& finding);

/// One sentence of an explanation. `lead` is the name it begins with.
struct Sentence {
  std::string lead, rest;
  std::int32_t task = -1, counter = -1, buffer = -1;  ///< what it is about
};
/// Why a finding is one, step by step. `touches` are the footprints of the schedule.
std::vector<Sentence> explain(const Schedule& schedule, const Model& model, std::span<const Touch> touches,
                              const Finding& finding);

/// "L0.v_append", or "task 11" without a label.
std::string shortName(const Schedule& schedule, std::int32_t task);
/// "first in SM 4's queue", "fifth in SM 9's queue", "in no queue".
std::string placeInQueue(const Model& model, std::int32_t task);
/// "rows 0 to 3, columns 16 to 31" of a region of a buffer; "all of it" where it is.
std::string regionText(const Buffer& buffer, const Strided& region);

}  // namespace nuscope::schedule
