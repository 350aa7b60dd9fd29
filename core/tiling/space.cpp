#include "core/tiling/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "core/base/diagnostics.h"
#include "core/fusion/plan.h"

namespace nuscope::tiling {

using fusion::Extent;
using fusion::Nest;
using fusion::NestKind;
using machine::Target;
using tensor::NodeRef;
using tensor::Op;

namespace {

/// What the space depends on, read off the plans of one variant.
struct Facts {
  struct Product {
    Extent rows = 1, columns = 1, depth = 1;  ///< of one batch
    bool aInPlace = false;                    ///< a is stored, maybe transposed or sliced
    bool bInPlace = false;                    ///< b's columns are contiguous in memory
  };
  std::vector<Product> products;
  bool vectorLoops = false;
  bool rowsWithFolds = false;  ///< rows that are read more than once
  Extent largestResult = 0;    ///< bytes
  bool leavesCaches = false;
  Extent stripRowBytes = 0;        ///< intermediates of one row of the widest fused group
  std::set<std::string> plans;     ///< distinct ones
  std::vector<std::int64_t> fuse;  ///< values that lead to distinct plans
  std::set<std::int64_t> apart;    ///< of these: all products stand alone
};

bool isStoredThroughLayout(const fusion::Plan& plan, NodeRef node) {
  for (;;) {
    if (node->dtype != tensor::DType::f32) return false;
    if (plan.stored(node) || node->op == Op::input || node->op == Op::loopState || node->op == Op::loopResult)
      return true;
    const bool moves = tensor::kind(node->op) == tensor::OpKind::layout && node->op != Op::take &&
                       node->op != Op::concatenate;
    if (!moves) return false;
    node = node->operands[0];
  }
}

void survey(const fusion::Plan& plan, const fusion::Scope& scope, const fusion::Concrete& concrete,
            Facts& facts) {
  for (const fusion::Group& group : scope.groups) {
    Extent rowBytes = 0;
    for (const int i : group.nests) {
      const Nest& nest = scope.nests[static_cast<std::size_t>(i)];
      if (nest.body) survey(plan, *nest.body, concrete, facts);
      facts.vectorLoops = facts.vectorLoops || nest.kind == NestKind::row || nest.kind == NestKind::fold;
      for (const fusion::Anchor& anchor : nest.anchors) {
        facts.rowsWithFolds =
            facts.rowsWithFolds || (anchor.role == fusion::Role::rowFold && nest.rowCount() > 1);
        const auto placed = plan.placements.find(anchor.node);
        if (!anchor.copy && placed != plan.placements.end() &&
            placed->second.storage == fusion::Storage::strip) {
          rowBytes += concrete.count(anchor.node) / nest.rowCount() * tensor::byteSize(anchor.node->dtype);
        }
      }
      if (!nest.contract) continue;
      const fusion::ContractForm& form = *nest.contract;
      Facts::Product product{form.rows(), form.columns(), form.depth(), isStoredThroughLayout(plan, form.a),
                             false};
      const bool lastColumn =
          form.n.size() == 1 && form.n[0].inB + 1 == static_cast<int>(form.rankB) && form.k.size() == 1;
      const bool stored = plan.stored(form.b) || form.b->op == Op::input || form.b->op == Op::loopState;
      product.bInPlace = lastColumn && stored && form.b->dtype == tensor::DType::f32;
      facts.products.push_back(product);
    }
    facts.stripRowBytes = std::max(facts.stripRowBytes, rowBytes);
  }
}

bool productsStandAlone(const fusion::Plan& plan, const fusion::Scope& scope) {
  return std::ranges::all_of(scope.groups, [&](const fusion::Group& group) {
    return std::ranges::all_of(group.nests, [&](int i) {
      const Nest& nest = scope.nests[static_cast<std::size_t>(i)];
      if (nest.body) return productsStandAlone(plan, *nest.body);
      return nest.kind != NestKind::contract || fusion::standsAlone(plan, scope, group);
    });
  });
}

Facts factsOf(const tensor::Program& context, std::span<const NodeRef> results,
              const tensor::Extents& extents, const Target& target) {
  std::vector<NodeRef> roots(results.begin(), results.end());
  for (const tensor::Parameter& one : context.parameters) roots.push_back(one.node);
  const fusion::Concrete concrete(context, roots, extents);
  Facts facts;
  facts.leavesCaches = leavesCaches(context, results, concrete, target);
  for (const NodeRef result : results) {
    facts.largestResult =
        std::max(facts.largestResult, concrete.count(result) * tensor::byteSize(result->dtype));
  }
  for (int fuse = 2; fuse >= 0; --fuse) {
    const fusion::Plan plan = fusion::planOf(concrete, results, {fuse});
    if (!facts.plans.insert(fusion::describe(plan)).second) continue;
    facts.fuse.insert(facts.fuse.begin(), fuse);
    if (productsStandAlone(plan, plan.top)) facts.apart.insert(fuse);
    if (fuse == 2) survey(plan, plan.top, concrete, facts);
  }
  return facts;
}

std::string kib(std::int64_t bytes) {
  return bytes % 1048576 == 0 ? fmt::format("{} MiB", bytes / 1048576) : fmt::format("{} KiB", bytes / 1024);
}

std::int64_t at(const Parameters& parameters, const char* name) {
  return parameters.at(name);
}

void addProductParameters(const Facts& facts, const Target& target, Space& space) {
  const int lanes = target.vector.floats();
  std::set<std::int64_t> rows;
  std::set<std::int64_t> columns;
  for (const machine::MicroTile& tile : target.microTiles) {
    rows.insert(tile.rows);
    columns.insert(std::int64_t{tile.vectors} * lanes);
  }
  const machine::MicroTile& first = target.microTiles[0];
  space.parameters.push_back(
      {"tile_m", "rows of the register block", {rows.begin(), rows.end()}, first.rows});
  space.parameters.push_back({"tile_n",
                              "columns of the register block",
                              {columns.begin(), columns.end()},
                              std::int64_t{first.vectors} * lanes});
  Extent mostRows = 1;
  Extent mostDepth = 1;
  bool anyA = false;
  bool allA = true;
  bool anyB = false;
  for (const Facts::Product& product : facts.products) {
    mostRows = std::max(mostRows, product.rows);
    mostDepth = std::max(mostDepth, product.depth);
    anyA = anyA || product.aInPlace;
    allA = allA && product.aInPlace;
    anyB = anyB || product.bInPlace;
  }
  Parameter strip{"strip_m", "rows that pass through the fused nests together", {}, 96};
  for (const std::int64_t one : {12, 24, 48, 96, 192, 384}) {
    if (one < mostRows || strip.values.empty()) strip.values.push_back(one);
  }
  if (std::ranges::find(strip.values, strip.preset) == strip.values.end()) strip.preset = strip.values.back();
  space.parameters.push_back(std::move(strip));
  Parameter depth{"block_k", "depth of the blocks that are multiplied at once", {}, 0};
  for (const std::int64_t one : {128, 256, 512, 1024}) {
    if (one < mostDepth) depth.values.push_back(one);
  }
  if (mostDepth <= 4096 || depth.values.empty()) depth.values.push_back(mostDepth);
  depth.preset = depth.values[0];
  for (const std::int64_t one : depth.values) {
    if (one <= 512) depth.preset = one;
  }
  space.parameters.push_back(std::move(depth));
  space.parameters.push_back({"pack_a", "copy blocks of the left operand",
                              anyA ? std::vector<std::int64_t>{0, 1} : std::vector<std::int64_t>{1}, 1});
  space.parameters.push_back({"pack_b", "copy the right operand into panels",
                              anyB ? std::vector<std::int64_t>{0, 1} : std::vector<std::int64_t>{1}, 1});
  space.parameters.push_back(
      {"order", "1: columns of a product are its outer loop; 0: strips of rows are",
       facts.apart.empty() ? std::vector<std::int64_t>{0} : std::vector<std::int64_t>{0, 1}, 0});
  space.parameters.push_back(
      {"prefetch", "rows of the right operand that are asked for ahead of the multiply-adds", {0, 16}, 0});
}

void addProductConstraints(const Facts& facts, const Target& target, Space& space) {
  const int lanes = target.vector.floats();
  const int registers = target.vector.registers;
  space.constraints.push_back({fmt::format("{} vector registers", registers),
                               fmt::format("tile_m x tile_n / {} sums, and one row or column of operands "
                                           "with one more, fit {} vector registers",
                                           lanes, registers),
                               {"tile_m", "tile_n"},
                               [=](const Parameters& p) {
                                 const std::int64_t m = at(p, "tile_m");
                                 const std::int64_t v = at(p, "tile_n") / lanes;
                                 return m * v + std::min(m, v) + 1 <= registers;
                               }});
  const double flight = target.vector.fmaPerCycle * target.vector.fmaLatency;
  space.constraints.push_back(
      {fmt::format("{:.0f} multiply-adds in flight", flight),
       fmt::format("tile_m x tile_n / {} sums hide the latency: at least {:.0f}", lanes, flight),
       {"tile_m", "tile_n"},
       [=](const Parameters& p) {
         return static_cast<double>(at(p, "tile_m") * (at(p, "tile_n") / lanes)) >= flight;
       }});
  const std::int64_t l2 = target.memory.size() > 2 ? target.memory[1].bytes : target.memory[0].bytes;
  const std::string l2Name = target.memory.size() > 2 ? target.memory[1].name : target.memory[0].name;
  Extent depth = 1;
  for (const Facts::Product& product : facts.products) depth = std::max(depth, product.depth);
  space.constraints.push_back(
      {fmt::format("{} of {}", l2Name, kib(l2)),
       fmt::format("a panel of block_k x tile_n floats fits half of {} ({})", l2Name, kib(l2)),
       {"block_k", "tile_n"},
       [=](const Parameters& p) {
         return std::min(at(p, "block_k"), depth) * at(p, "tile_n") * 4 <= l2 / 2;
       }});
  space.constraints.push_back(
      {fmt::format("{} of {}", l2Name, kib(l2)),
       fmt::format("a block of strip_m x block_k floats fits {} ({})", l2Name, kib(l2)),
       {"block_k", "strip_m"},
       [=](const Parameters& p) { return std::min(at(p, "block_k"), depth) * at(p, "strip_m") * 4 <= l2; }});
  for (const Facts::Product& product : facts.products) {
    if (!product.bInPlace) continue;
    space.constraints.push_back(
        {fmt::format("{} columns", product.columns),
         fmt::format("pack_b = 0 only where tile_n divides {} columns", product.columns),
         {"pack_b", "tile_n"},
         [columns = product.columns](const Parameters& p) {
           return at(p, "pack_b") == 1 || columns % at(p, "tile_n") == 0;
         }});
  }
  const auto strip = std::ranges::find(space.parameters, "strip_m", &Parameter::name);
  space.constraints.push_back(
      {"columns outside",
       fmt::format(
           "order = 1 only where products stand alone; strip_m (here {}) has no meaning then, and a panel "
           "that was just copied needs no prefetch",
           strip->preset),
       {"order", "fuse", "strip_m", "prefetch"},
       [apart = facts.apart, preset = strip->preset](const Parameters& p) {
         return at(p, "order") == 0 ||
                (apart.contains(at(p, "fuse")) && at(p, "strip_m") == preset && at(p, "prefetch") == 0);
       }});
  const std::int64_t l1 = target.memory[0].bytes;
  space.constraints.push_back(
      {fmt::format("{} of {}", target.memory[0].name, kib(l1)),
       fmt::format("prefetch = 0 where a panel of block_k x tile_n floats stays in {} ({})",
                   target.memory[0].name, kib(l1)),
       {"prefetch", "block_k", "tile_n"},
       [=](const Parameters& p) {
         return at(p, "prefetch") == 0 ||
                std::min(at(p, "block_k"), depth) * at(p, "tile_n") * 4 > l1 / 4 * 3;
       }});
  Extent most = 1;
  for (const Facts::Product& product : facts.products) most = std::max(most, product.rows);
  space.constraints.push_back({fmt::format("{} rows", most),
                               fmt::format("tile_m is at most {} rows, rounded up to a register block", most),
                               {"tile_m"},
                               [=, least = space.parameters[0].values[0]](const Parameters& p) {
                                 return at(p, "tile_m") <= std::max(most, least);
                               }});
}

}  // namespace

Parameters Space::presets() const {
  Parameters result;
  for (const Parameter& one : parameters) result[one.name] = one.preset;
  return result;
}

namespace {

/// All points in lexicographic order of the parameters; stops when `visit` returns false.
template <class Visit>
void forEachPoint(const Space& space, Visit visit) {
  std::vector<std::size_t> index(space.parameters.size(), 0);
  Parameters point;
  for (const Parameter& one : space.parameters) {
    if (one.values.empty()) return;
    point[one.name] = one.values[0];
  }
  for (;;) {
    if (!visit(point)) return;
    std::size_t i = space.parameters.size();
    while (i-- > 0) {
      const Parameter& one = space.parameters[i];
      if (++index[i] < one.values.size()) {
        point[one.name] = one.values[index[i]];
        break;
      }
      index[i] = 0;
      point[one.name] = one.values[0];
    }
    if (i == static_cast<std::size_t>(-1)) return;
  }
}

bool holdsAll(const Space& space, const Parameters& point, const std::vector<bool>& active) {
  for (std::size_t i = 0; i < space.constraints.size(); ++i) {
    if (active[i] && !space.constraints[i].holds(point)) return false;
  }
  return true;
}

std::int64_t admittedUnder(const Space& space, const std::vector<bool>& active, bool firstOnly) {
  std::int64_t count = 0;
  forEachPoint(space, [&](const Parameters& point) {
    if (holdsAll(space, point, active)) ++count;
    return !(firstOnly && count > 0);
  });
  return count;
}

/// The presets are one of the points, where there are any.
void movePresets(Space& space) {
  const std::vector<bool> all(space.constraints.size(), true);
  if (space.admitted == 0 || holdsAll(space, space.presets(), all)) return;
  forEachPoint(space, [&](const Parameters& point) {
    if (!holdsAll(space, point, all)) return true;
    for (Parameter& one : space.parameters) one.preset = point.at(one.name);
    return false;
  });
}

}  // namespace

bool leavesCaches(const tensor::Program& context, std::span<const NodeRef> results,
                  const fusion::Concrete& concrete, const Target& target) {
  const auto bytes = [&](NodeRef node) { return concrete.count(node) * tensor::byteSize(node->dtype); };
  std::int64_t total = 0;
  for (const tensor::Parameter& one : context.parameters) total += bytes(one.node);
  for (const NodeRef result : results) total += bytes(result);
  return total > target.memory[target.memory.size() - 2].bytes / 4 * 3;
}

void count(Space& space) {
  space.combinations = 1;
  for (const Parameter& one : space.parameters)
    space.combinations *= static_cast<std::int64_t>(one.values.size());
  std::vector<bool> active(space.constraints.size(), true);
  space.admitted = admittedUnder(space, active, false);
  space.conflict.clear();
  if (space.admitted > 0) return;
  // Leave out one limit after another; what cannot be left out is in conflict.
  for (std::size_t i = 0; i < active.size(); ++i) {
    active[i] = false;
    if (admittedUnder(space, active, true) > 0) active[i] = true;
  }
  for (std::size_t i = 0; i < active.size(); ++i) {
    if (active[i]) space.conflict.push_back(space.constraints[i].text);
  }
}

Space spaceOf(const tensor::Program& context, std::span<const NodeRef> results,
              const tensor::Extents& extents, const Target& target) {
  Space space;
  Facts facts;
  try {
    facts = factsOf(context, results, extents, target);
  } catch (const fusion::Refused& refused) {
    space.conflict.push_back(refused.refusal.message);
    return space;
  }
  if (!facts.products.empty()) {
    addProductParameters(facts, target, space);
    addProductConstraints(facts, target, space);
  }
  space.parameters.push_back(
      {"fuse",
       "2: nests over the same rows run strip by strip; 1: they share loops; 0: every operator has its own",
       facts.fuse, facts.fuse.back()});
  // Results that stay in the cache of one core are not worth a choice; nor, beside a product, those that stay
  // in any.
  const std::int64_t ownCache = target.memory[target.memory.size() > 2 ? 1 : 0].bytes;
  if (facts.leavesCaches || (facts.products.empty() && facts.largestResult > ownCache)) {
    space.parameters.push_back(
        {"stream", "store results past the caches", {0, 1}, facts.leavesCaches ? 1 : 0});
  }
  if (facts.vectorLoops) {  // beside a product they take little of the time
    space.parameters.push_back(
        {"unroll", "vectors per round of vector loops",
         facts.products.empty() ? std::vector<std::int64_t>{1, 2, 4, 8} : std::vector<std::int64_t>{4, 8},
         4});
  }
  if (facts.products.empty() && facts.rowsWithFolds) {
    space.parameters.push_back(
        {"prefetch", "1: the next row is asked for while the last loop over this one runs", {0, 1}, 0});
  }
  if (facts.stripRowBytes > 0 && !facts.products.empty() && facts.fuse.size() > 1) {
    const std::int64_t l2 = target.memory.size() > 2 ? target.memory[1].bytes : target.memory[0].bytes;
    const std::int64_t rowBytes = facts.stripRowBytes;
    const std::string name = target.memory.size() > 2 ? target.memory[1].name : target.memory[0].name;
    space.constraints.push_back(
        {fmt::format("{} of {}", name, kib(l2)),
         fmt::format("intermediates of strip_m rows ({} bytes each) fit twice {} ({}) where fuse = 2",
                     rowBytes, name, kib(l2)),
         {"strip_m", "fuse"},
         [=](const Parameters& p) { return at(p, "fuse") < 2 || at(p, "strip_m") * rowBytes <= 2 * l2; }});
  }
  count(space);
  movePresets(space);
  return space;
}

void narrow(Space& space, const std::map<std::string, std::vector<std::int64_t>>& only) {
  if (space.parameters.empty()) return;  // the variant cannot be emitted at all: `conflict` says why
  for (Parameter& one : space.parameters) {
    const auto found = only.find(one.name);
    if (found == only.end()) continue;
    std::erase_if(one.values,
                  [&](std::int64_t value) { return std::ranges::count(found->second, value) == 0; });
    if (!one.values.empty() && std::ranges::count(one.values, one.preset) == 0) one.preset = one.values[0];
  }
  space.conflict.clear();
  count(space);
  movePresets(space);
}

std::vector<Parameters> enumerate(const Space& space, std::size_t limit) {
  std::vector<Parameters> points;
  const std::vector<bool> all(space.constraints.size(), true);
  if (space.admitted == 0) return points;
  const Parameters presets = space.presets();
  forEachPoint(space, [&](const Parameters& point) {
    if (point != presets && holdsAll(space, point, all)) points.push_back(point);
    return true;
  });
  if (limit > 0 && points.size() + 1 > limit) {
    std::vector<Parameters> spread;
    const std::size_t wanted = limit - 1;
    for (std::size_t i = 0; i < wanted; ++i) spread.push_back(std::move(points[i * points.size() / wanted]));
    points = std::move(spread);
  }
  points.insert(points.begin(), presets);
  return points;
}

std::string text(const Parameters& parameters) {
  std::string result;
  for (const auto& [name, value] : parameters)
    result += fmt::format("{}{}={}", result.empty() ? "" : " ", name, value);
  return result;
}

void allow(std::map<std::string, std::vector<std::int64_t>>& only, std::string_view assignment) {
  const auto equals = assignment.find('=');
  const std::string name(assignment.substr(0, equals));
  std::string_view rest = equals == std::string_view::npos ? "" : assignment.substr(equals + 1);
  do {
    const auto comma = rest.find(',');
    Parameters one;
    set(one, name + "=" + std::string(rest.substr(0, comma)));
    only[name].push_back(one.at(name));
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
  } while (!rest.empty());
}

void set(Parameters& parameters, std::string_view assignment) {
  const auto equals = assignment.find('=');
  std::int64_t value = 0;
  const std::string_view number = equals == std::string_view::npos ? "" : assignment.substr(equals + 1);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (equals == 0 || number.empty() || error != std::errc() || end != number.data() + number.size()) {
    throw UserError(fmt::format("'{}' is no setting: NAME=INTEGER is expected, e.g. tile_m=6", assignment));
  }
  parameters[std::string(assignment.substr(0, equals))] = value;
}

}  // namespace nuscope::tiling
