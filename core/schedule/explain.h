#pragma once
// Findings in words, and the shortest run that shows one.
#include <span>

#include "core/schedule/finding.h"
#include "core/schedule/footprint.h"
#include "core/schedule/model.h"

namespace nuscope::schedule {

/// "task 12 (L0.q_proj[t1])".
std::string nameOf(const Schedule& schedule, std::int32_t task);
/// A text with every number as '#': "L12.q_proj[t3]" -> "L#.q_proj[t#]".
std::string patternOf(std::string_view label);
/// What a task is called in every layer, tile and queue: the pattern of its label, else its operation.
std::string kindName(const Schedule& schedule, std::int32_t task);
/// One sentence for a finding.
std::string describe(const Schedule& schedule, const Finding& finding);

/// The finding with its run (Finding::firing), which a check makes only for the first findings of each rule.
/// As it is if it has one or needs none.
Finding withRun(const Schedule& schedule, const Finding& finding);
/// The run of a race, an early read or a clobber.
std::vector<std::int32_t> firingOf(const Model& model, const Footprints& footprints,
                                   const std::vector<std::int32_t>& storage, const Finding& finding);
/// The elements that a race or clobber is about: the common rectangle of the two accesses, in the coordinates
/// of finding.buffer; for an early read all that it reads there. Empty if there
/// is none.
Region collision(const Schedule& schedule, const Finding& finding);
/// The rectangle of a buffer that an access covers. A band of columns over several axes of rows is cut to its
/// first row.
Region regionOf(const Buffer& buffer, const Strided& access);

/// The wait cycle of a deadlock, one sentence a task: "task 3 (a) waits for counter 5 to reach 2 (it is 1),
/// which task 7 (b) has yet to raise". The last one closes the cycle. For a deadlock without a cycle: the
/// wait that is never met.
std::vector<std::string> cycleSentences(const Schedule& schedule, const Finding& finding);

/// What of a closure's order the targets need to start: queue predecessors and, for each wait, as many
/// producers as its threshold. The targets themselves are not included. In firing order.
std::vector<std::int32_t> slice(const Model& model, const Closure& closure,
                                std::span<const std::int32_t> targets);

/// A shortest cycle of stuck tasks in which each waits for the next (for a counter that the next has yet to
/// raise, or behind it in a queue) and the last for the first. Empty if every chain ends at a wait that no
/// producer can satisfy.
std::vector<std::int32_t> waitCycle(const Model& model, const Closure& closure);

}  // namespace nuscope::schedule
