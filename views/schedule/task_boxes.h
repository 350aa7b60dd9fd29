#pragma once
// The boxes and arrows of a graph of tasks, with what they say at a step. Made from a snapshot, in any
// thread: 2,000 boxes take longer than the window may stand still.
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "core/schedule/diff.h"
#include "core/schedule/outline.h"
#include "core/schedule/rounds.h"
#include "views/graph/graph_content.h"

namespace nuscope::views {

struct ScheduleState;

/// A box's key: what it stands for.
std::uint64_t keyOf(schedule::TaskGraph::Kind kind, std::int32_t index);
schedule::TaskGraph::Kind kindOf(std::uint64_t key);
std::int32_t indexOf(std::uint64_t key);

/// All that boxes hang on.
struct TaskBoxes {
  std::shared_ptr<const ScheduleState> state;
  std::shared_ptr<const schedule::TaskGraph> graph;
  std::shared_ptr<const schedule::Rounds> run;             ///< null: none
  std::shared_ptr<const schedule::Difference> difference;  ///< null: none
  std::set<int> certificate;                               ///< tasks of the chosen finding
  int step = -1, chosenCounter = -1;
  bool around = false;  ///< around a finding or a task, not by layers
  bool ring = false;    ///< around a wait cycle

  bool operator==(const TaskBoxes&) const = default;
  [[nodiscard]] GraphContent content() const;
  /// "L3.q_proj" of a group of the outline.
  [[nodiscard]] QString groupName(std::int32_t group) const;

 private:
  using Changed = std::map<int, Mark>;
  [[nodiscard]] Changed changedTasks() const;
  [[nodiscard]] Box boxOf(const schedule::TaskGraph::Node& node, const Changed& changed) const;
  [[nodiscard]] Box taskBox(std::int32_t task, const Changed& changed) const;
  [[nodiscard]] Box groupBox(std::int32_t group, const Changed& changed) const;
  [[nodiscard]] Box counterBox(std::int32_t counter) const;
  [[nodiscard]] Edge edgeOf(const schedule::TaskGraph::Edge& edge, int place) const;
  [[nodiscard]] QString notice() const;
};

constexpr std::size_t mostTaskBoxes = 2000;

}  // namespace nuscope::views
