#pragma once
// Node fusion: which nodes of a graph are computed by which nest of loops, and where their values live.
// DESIGN 6.
//
// Operators that move or map elements (elementwise, layout) are computed in place, inside the loops of
// whoever reads them, unless that would repeat expensive work. What remains are *anchors*; anchors over the
// same rows share a nest:
//   row       rows x one vectorised axis: elementwise results, folds over the last axis and what follows from
//   them contract  a matrix product on packed blocks; producers run while packing, consumers while storing
//   fold      any other fold; scan: prefix sums; loop: a loop of the program, with nests of its own
// Nests over the same rows form a *group*: they run strip by strip, so that intermediates stay in cache.
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"
#include "core/fusion/access.h"
#include "core/fusion/contract.h"

namespace nuscope::fusion {

/// Where a copy of an anchor's value is to be written, besides what other nests read.
struct Destination {
  enum class Kind { result, stateStart, stateNext } kind = Kind::result;
  int index = 0;  ///< which result, or which state
  NodeRef loop = nullptr;
};

/// How an anchor lies in its nest.
enum class Role {
  full,      ///< one value per row and lane
  rowLevel,  ///< one value per row, from others of that kind
  rowFold,   ///< one value per row, folded over the lanes
  main       ///< the contraction, fold or scan the nest is named after
};

struct Anchor {
  NodeRef node = nullptr;
  bool copy = false;  ///< the value is stored elsewhere already (an input, a state): it is read and copied
  Role role = Role::full;
  std::vector<Destination> destinations;
};

enum class NestKind { row, contract, fold, scan, loop };

struct Scope;

struct Nest {
  NestKind kind = NestKind::row;
  std::vector<Anchor> anchors;  ///< operands first
  ConcreteShape rows;           ///< row, contract: leading axes (batches, then rows)
  Extent length = 1;            ///< row: lanes; contract: columns
  bool flat = false;            ///< row: one run over all elements, rows is empty and length their number
  std::optional<ContractForm> contract;
  NodeRef loop = nullptr;  ///< loop
  std::shared_ptr<Scope> body;
  [[nodiscard]] Extent rowCount() const { return countOf(rows); }
};

struct Group {
  std::vector<int> nests;  ///< indices in Scope::nests, ascending and consecutive
  Extent batches = 1;      ///< strips do not cross batches
};

/// Nests in order of execution: of the program, or of the body of one loop.
struct Scope {
  std::vector<Nest> nests;
  std::vector<Group> groups;
};

/// Where the value of an anchor is read from by other nests.
enum class Storage {
  none,     ///< nobody else reads it
  result,   ///< in a result
  state,    ///< in the next value of a loop's state
  scratch,  ///< in memory of its own
  strip     ///< in a part of its own for the rows of the current strip, per thread
};

struct Placement {
  Storage storage = Storage::none;
  int index = 0;           ///< which result or state
  NodeRef loop = nullptr;  ///< state
};

struct Plan {
  Scope top;
  std::unordered_map<NodeRef, Placement> placements;  ///< of all anchors of all scopes that are not copies
  [[nodiscard]] bool stored(NodeRef node) const { return placements.contains(node); }
};

/// A matrix product that shares its loop over rows with no other nest: its columns may be the outer loop.
bool standsAlone(const Plan& plan, const Scope& scope, const Group& group);

struct PlanOptions {
  int fuse = 2;  ///< see core/tiling/space.h
};

/// Throws Refused. `concrete` must cover `results`.
Plan planOf(const Concrete& concrete, std::span<const NodeRef> results, const PlanOptions& options);

/// Rough number of scalar operations of one evaluation of the operator itself.
int weight(NodeRef node);

/// One line per nest, for tests and logs: "row[M x 1024]: max, sum, divide".
std::string describe(const Plan& plan);

}  // namespace nuscope::fusion
