#pragma once
// The tasks of a schedule by layer and operator, as their labels tell ("L3.q_proj[t12]": layer L3, operator
// q_proj, tile t12; "embed": no layer), and the graph of a schedule with some of these groups opened. A task
// without a label belongs to its operation.
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/schedule/finding.h"
#include "core/schedule/model.h"

namespace nuscope::schedule {

struct LabelParts {
  std::string_view layer, op, tile;  ///< views of the label; layer and tile may be empty
};
LabelParts partsOf(std::string_view label);

class Outline {
 public:
  struct Group {
    std::string name;                  ///< "L3", "q_proj"
    std::int32_t parent = -1;          ///< group; -1: the root
    std::vector<std::int32_t> groups;  ///< children, in order of their first task
    std::vector<std::int32_t> tasks;   ///< of an operator, in list order; empty for a layer and the root
    std::int32_t count = 0;            ///< tasks below
    std::int32_t first = 0;            ///< its first task
  };
  explicit Outline(const Schedule& schedule);
  /// The root is group 0.
  [[nodiscard]] const std::vector<Group>& groups() const { return groups_; }
  [[nodiscard]] std::int32_t groupOf(std::int32_t task) const {
    return groupOf_[static_cast<std::size_t>(task)];
  }

 private:
  std::vector<Group> groups_;
  std::vector<std::int32_t> groupOf_;
};

struct TaskGraph {
  enum class Kind : std::uint8_t { group, task, counter };
  struct Node {
    Kind kind = Kind::task;
    std::int32_t index = 0;  ///< of the group, task or counter
  };
  struct Edge {
    enum class Why : std::uint8_t {
      signal,    ///< `from` raises a counter that `to` waits for
      queue,     ///< `to` comes after `from` in a queue
      waitsFor,  ///< of a wait cycle: `from` waits for `to`
      collides   ///< both ends touch the same elements
    };
    std::int32_t from = 0, to = 0;  ///< nodes
    Why why = Why::signal;
    std::int32_t counter = -1;  ///< one of those it stands for
    std::int32_t count = 1;     ///< counters it stands for
  };
  std::vector<Node> nodes;
  std::vector<Edge> edges;
  std::int32_t hidden = 0;  ///< tasks that are in no node
  bool cut = false;         ///< some groups were left closed: the graph would have more nodes than asked for
};

/// Groups in `opened` are replaced by what they hold, as long as at most `most` nodes result. Counters that
/// many tasks raise and many wait for are nodes of their own, so that edges stay few.
TaskGraph graphOf(const Outline& outline, const Model& model, const std::set<std::int32_t>& opened,
                  std::size_t most);

/// The tasks of a finding with what of its run is nearest to it: a wait cycle with an edge a link, or the
/// tasks that collide, and up to `most` tasks that complete before.
TaskGraph graphAround(const Model& model, const Finding& finding, std::size_t most);

/// A task with what it directly waits for and what directly waits for it.
TaskGraph graphAround(const Model& model, std::int32_t task, std::size_t most);

}  // namespace nuscope::schedule
