#include "core/emit/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "core/emit/kernel.h"
#include "core/fusion/plan.h"

namespace nuscope::emit {

using fusion::Anchor;
using fusion::Concrete;
using fusion::ConcreteShape;
using fusion::Extent;
using fusion::Group;
using fusion::Nest;
using fusion::NestKind;
using fusion::Plan;
using fusion::Role;
using fusion::Scope;
using fusion::Storage;
using machine::Work;
using tensor::NodeRef;
using tensor::Op;

namespace {

std::int64_t parameter(const tiling::Parameters& parameters, const char* name, std::int64_t preset) {
  const auto found = parameters.find(name);
  return found == parameters.end() ? preset : found->second;
}

/// Vector operations of one exponential, logarithm, hyperbolic tangent, sine or cosine.
constexpr double functionOperations = 22;

/// Counts the work of all nests of a plan.
class Counter {
 public:
  Counter(const tensor::Program& program, const Concrete& concrete, const Plan& plan,
          const machine::Target& target, const tiling::Parameters& parameters,
          const std::vector<NodeRef>& withoutVectors)
      : program_(program), concrete_(concrete), plan_(plan), target_(target), parameters_(parameters) {
    scalar_.insert(withoutVectors.begin(), withoutVectors.end());
  }

  void scope(const Scope& scope, double times, std::vector<Work>& into) {
    for (const Group& group : scope.groups) {
      for (const int i : group.nests) {
        const Nest& nest = scope.nests[static_cast<std::size_t>(i)];
        if (nest.kind == NestKind::loop) {
          this->scope(*nest.body,
                      times * static_cast<double>(concrete_.value(nest.loop->attributes.shape[0])), into);
          continue;
        }
        Work work = nest.kind == NestKind::contract ? product(nest) : elements(nest);
        work.regions = i == group.nests[0] ? 1 : 0;
        if (runsAlone(work)) work.parallelShare = work.regions = 0;
        if (isScalar(nest)) withoutVectors(work, nest);
        scale(work, times);
        into.push_back(std::move(work));
      }
    }
  }

 private:
  /// As the emitter decides: a region of little work is run by the calling thread.
  [[nodiscard]] bool runsAlone(const Work& work) const {
    const double vectors = work.fmaVectors + work.otherVectors + work.divideVectors;
    return vectors * target_.vector.floats() + work.scalarOperations < 40000;
  }

  [[nodiscard]] bool isScalar(const Nest& nest) const {
    return std::ranges::any_of(nest.anchors,
                               [&](const Anchor& anchor) { return scalar_.contains(anchor.node); });
  }

  /// One operation, load or store an element; a chain of sums waits for each of them.
  void withoutVectors(Work& work, const Nest& nest) const {
    const double lanes = target_.vector.floats();
    work.scalarOperations += lanes * (work.otherVectors + work.fmaVectors + 4 * work.divideVectors +
                                      work.loadVectors + work.storeVectors);
    work.fmaVectors = work.otherVectors = work.divideVectors = work.loadVectors = work.storeVectors = 0;
    for (const Anchor& anchor : nest.anchors) {
      if (anchor.role == Role::main || anchor.role == Role::rowFold)
        work.waitCycles += elementsOf(anchor) * target_.vector.fmaLatency;
    }
  }

  static void scale(Work& work, double times) {
    for (double* const one :
         {&work.flops, &work.fmaVectors, &work.otherVectors, &work.divideVectors, &work.scalarOperations,
          &work.waitCycles, &work.loadVectors, &work.storeVectors, &work.packedBytes, &work.regions}) {
      *one *= times;
    }
    for (auto& [level, bytes] : work.bytes) bytes *= times;
    for (machine::TensorUse& use : work.tensors) {
      use.reads *= times;
      use.writes *= times;
    }
  }

  /// The memory level that so many bytes are found in when they are read again.
  [[nodiscard]] const std::string& homeOf(double bytes) const {
    for (const machine::MemoryLevel& level : target_.memory) {
      if (level.bytes == 0 || bytes <= 0.8 * static_cast<double>(level.bytes)) return level.name;
    }
    return target_.memory.back().name;
  }

  [[nodiscard]] double countOf(NodeRef node) const { return static_cast<double>(concrete_.count(node)); }

  /// Of the loops around the anchor's value: a fold has as many as its operand.
  [[nodiscard]] double elementsOf(const Anchor& anchor) const {
    double count = countOf(anchor.node);
    if (anchor.role == Role::rowFold || anchor.role == Role::main) {
      for (const NodeRef operand : anchor.node->operands) count = std::max(count, countOf(operand));
    }
    return count;
  }

  [[nodiscard]] bool isStored(NodeRef node) const {
    if (node->op == Op::input || node->op == Op::loopState || node->op == Op::loopResult) return true;
    return plan_.placements.contains(node);
  }

  [[nodiscard]] std::string nameOf(NodeRef node) const {
    for (const tensor::Parameter& one : program_.parameters) {
      if (one.node == node) return one.name;
    }
    const auto variable = program_.variables.find(node);
    if (variable != program_.variables.end()) return variable->second;
    return fmt::format("{} (node {})", tensor::name(node->op), node->id);
  }

  struct Cone {
    double additions = 0, divisions = 0, functions = 0;  ///< per element of the anchor
    double flops = 0;                                    ///< per element
    double scalars = 0;                                  ///< operations once a row, per element
    std::set<NodeRef> reads;
    int kept = 0;  ///< expensive values that an earlier pass over the row left in a buffer
  };

  /// Operations of one evaluation without vectors.
  [[nodiscard]] double scalarOperations(int weight) const {
    if (weight >= 10) return functionOperations;
    return weight == 3 ? target_.vector.operationsPerCycle / target_.vector.dividesPerCycle : weight;
  }
  /// `made`: the expensive values that the nest has computed so far and keeps; null: none are kept.
  void walk(NodeRef node, bool first, double share, std::set<NodeRef>& seen, Cone& cone,
            std::set<NodeRef>* made = nullptr) const {
    if (!seen.insert(node).second) return;
    if (!first && isStored(node)) {
      cone.reads.insert(node);
      return;
    }
    // What has fewer elements than the loop is computed once per row.
    const int weight = fusion::weight(node);
    if (weight >= 3 && made != nullptr && !made->insert(node).second) {
      ++cone.kept;
      return;
    }
    cone.flops += share * (weight >= 3 ? 1 : weight);
    if (share < 1) {
      cone.scalars += share * scalarOperations(weight);
    } else if (weight >= 10) {
      cone.functions += 1;
    } else if (weight == 3) {
      cone.divisions += 1;
    } else {
      cone.additions += weight;
    }
    for (const NodeRef operand : node->operands) {
      const double ratio = countOf(operand) / std::max(1.0, countOf(node));
      walk(operand, false, share * std::min(1.0, ratio), seen, cone, made);
    }
  }

  void use(Work& work, NodeRef node, double reads, double writes) const {
    const std::string name = nameOf(node);
    auto found = std::ranges::find(work.tensors, name, &machine::TensorUse::name);
    if (found == work.tensors.end()) {
      work.tensors.push_back(
          {name, countOf(node) * static_cast<double>(tensor::byteSize(node->dtype)), 0, 0, false});
      found = std::prev(work.tensors.end());
    }
    found->reads += reads;
    found->writes += writes;
  }

  void move(Work& work, const std::string& home, double bytes) const {
    for (const machine::MemoryLevel& level : target_.memory) {
      work.bytes[level.name] += bytes;
      if (level.name == home) break;
    }
  }

  /// Where the tensor lies between its uses, given what else there is; empty: nobody else reads it.
  [[nodiscard]] std::string home(NodeRef node) const {
    const double bytes = countOf(node) * static_cast<double>(tensor::byteSize(node->dtype));
    const auto placed = plan_.placements.find(node);
    if (placed == plan_.placements.end()) return homeOf(2 * bytes);
    switch (placed->second.storage) {
      case Storage::none:
        return {};
      case Storage::strip: {
        const ConcreteShape& shape = concrete_.shape(node);
        const double rows = bytes / (shape.empty() ? 1.0 : static_cast<double>(shape.back())) / 4;
        const auto strip = static_cast<double>(parameter(parameters_, "strip_m", 96));
        return homeOf(2 * bytes / std::max(1.0, rows) * std::min(rows, strip));
      }
      default:
        return homeOf(2 * bytes);
    }
  }

  /// A loop over `elements` reads the tensor: once, or only a part of it.
  void read(Work& work, NodeRef node, double elements) const {
    const double count = std::max(1.0, countOf(node));
    const double part = std::min(count, elements);
    use(work, node, part / count, 0);
    if (const std::string& where = home(node); !where.empty())
      move(work, where, part * static_cast<double>(tensor::byteSize(node->dtype)));
  }

  /// Lines that are written are read first, unless they are stored past the caches.
  void write(Work& work, NodeRef node, double elements) const {
    const double count = std::max(1.0, countOf(node));
    use(work, node, 0, elements / count);
    const std::string& where = home(node);
    if (where.empty()) return;
    const bool past = where == target_.memory.back().name && parameter(parameters_, "stream", 1) != 0;
    move(work, where, elements * static_cast<double>(tensor::byteSize(node->dtype)) * (past ? 1 : 2));
  }

  void addCone(Work& work, const Cone& cone, double elements) const {
    const double vectors = elements / target_.vector.floats();
    work.otherVectors += vectors * (cone.additions + functionOperations * cone.functions);
    work.divideVectors += vectors * cone.divisions;
    work.scalarOperations += elements * cone.scalars;
    work.loadVectors +=
        vectors * std::max(1.0, static_cast<double>(cone.reads.size()) + static_cast<double>(cone.kept));
    work.flops += elements * cone.flops;
  }

  /// The same for values of which there is one a row: they are computed without vectors.
  void addRowCone(Work& work, const Cone& cone, double rows) const {
    const double divides = target_.vector.operationsPerCycle / target_.vector.dividesPerCycle;
    work.scalarOperations +=
        rows * (cone.additions + functionOperations * cone.functions + divides * cone.divisions +
                cone.scalars + static_cast<double>(cone.reads.size()) + 1);
    work.flops += rows * cone.flops;
  }

  Work elements(const Nest& nest) const {
    Work work;
    std::map<NodeRef, double> reads;
    std::set<NodeRef> made;
    int passes = 1;
    for (const Anchor& anchor : nest.anchors) {
      Cone cone;
      std::set<NodeRef> seen;
      walk(anchor.node, !anchor.copy, 1, seen, cone, nest.kind == NestKind::row ? &made : nullptr);
      const double count = elementsOf(anchor);
      if (anchor.role == Role::rowFold || anchor.role == Role::main) {
        cone.additions += 1;
        cone.flops += 1;
      }
      if (anchor.role == Role::rowFold) ++passes;
      work.nest += fmt::format("{}{}", work.nest.empty() ? "" : ", ", tensor::name(anchor.node->op));
      const bool once =
          nest.kind == NestKind::row && !nest.flat && (anchor.role == Role::rowLevel || nest.length == 1);
      if (once) {
        addRowCone(work, cone, count);
      } else {
        addCone(work, cone, count);
      }
      if (nest.kind == NestKind::scan) addScan(work, anchor, count);
      for (const NodeRef node : cone.reads) reads[node] = std::max(reads[node], count);
      work.storeVectors += countOf(anchor.node) / (once ? 1 : target_.vector.floats());
      write(work, anchor.node, countOf(anchor.node));
    }
    if (nest.kind == NestKind::row) addRows(work, nest, passes);
    for (const auto& [node, count] : reads) {
      read(work, node, count);
      if (passes > 2) {  // read again from the nearest level that holds a row
        const double part = std::min(countOf(node), count);
        move(work, homeOf(static_cast<double>(nest.length) * 4), part * 4 * (passes - 2));
        use(work, node, part / std::max(1.0, countOf(node)) * (passes - 2), 0);
      }
    }
    work.parallelShare = nest.rowCount() > 1 || nest.flat || nest.kind != NestKind::row ? 1 : 0;
    return work;
  }

  /// Short rows pay for their ends; the folds of a row wait for their last sums.
  void addRows(Work& work, const Nest& nest, int passes) const {
    const auto unroll = static_cast<double>(parameter(parameters_, "unroll", 4));
    const double rounds =
        std::max(1.0, static_cast<double>(nest.length) / (unroll * target_.vector.floats()));
    work.otherVectors *= 1 + 0.1 / rounds;
    if (passes < 2) return;
    const double latency = target_.vector.fmaLatency;
    const double chain = std::max(0.0, latency / unroll - 1 / target_.vector.operationsPerCycle);
    const double vectors = static_cast<double>(nest.length) / target_.vector.floats();
    work.waitCycles += static_cast<double>(nest.rowCount()) * (passes - 1) *
                       (vectors * chain + latency * (3 + std::log2(unroll)));
  }

  /// Along the last axis the sums run within a vector and from vector to vector.
  void addScan(Work& work, const Anchor& anchor, double count) const {
    const auto& shape = concrete_.shape(anchor.node);
    const bool alongLast = static_cast<std::size_t>(anchor.node->attributes.axes[0]) + 1 == shape.size();
    if (!alongLast) return;
    const double lanes = target_.vector.floats();
    work.otherVectors += count / lanes * (3 * std::log2(lanes) + 3);
  }

  Work product(const Nest& nest) const {
    const fusion::ContractForm& form = *nest.contract;
    const machine::MicroTile& first = target_.microTiles[0];
    const double lanes = target_.vector.floats();
    const auto tileM = static_cast<double>(parameter(parameters_, "tile_m", first.rows));
    const double tileN = static_cast<double>(
        parameter(parameters_, "tile_n", std::int64_t{first.vectors} * target_.vector.floats()));
    const double rows = static_cast<double>(form.rows());
    const double columns = static_cast<double>(form.columns());
    const double depth = static_cast<double>(form.depth());
    const double batches = static_cast<double>(form.batches());
    const double blockK = std::min(depth, static_cast<double>(parameter(parameters_, "block_k", 512)));
    const double strip = std::min(rows, static_cast<double>(parameter(parameters_, "strip_m", 96)));
    const double panels = std::ceil(columns / tileN);
    const double tiles = std::ceil(rows / tileM) * panels * batches;
    Work work;
    work.nest = std::string(tensor::name(nest.anchors[0].node->op));
    work.flops = 2 * batches * rows * columns * depth;
    // Rows and columns that only fill a block are multiplied too; few sums in flight wait for each other.
    const double sums = tileM * tileN / lanes;
    const double flight = target_.vector.fmaPerCycle * target_.vector.fmaLatency;
    work.fmaVectors = tiles * sums * depth;
    work.waitCycles = tiles * depth * std::max(0.0, flight - sums) / target_.vector.fmaPerCycle;
    work.loadVectors = tiles * depth * (tileM + tileN / lanes);
    const double blocks = std::ceil(depth / blockK);
    work.otherVectors = tiles * blocks * (2 * sums + 20);
    work.storeVectors = tiles * sums * blocks;
    const bool packA = parameter(parameters_, "pack_a", 1) != 0;
    const bool packB = parameter(parameters_, "pack_b", 1) != 0;
    const auto level = [&](std::size_t i) -> const std::string& {
      return target_.memory[std::min(i, target_.memory.size() - 1)].name;
    };
    // A panel's block is reused from L1 by all rows of the strip if it fits, else it comes from L2 each time.
    const double panelBytes = blockK * tileN * 4;
    const double panelLoads = batches * std::ceil(rows / strip) * depth * columns * 4;
    const bool fits = panelBytes <= 0.75 * static_cast<double>(target_.memory[0].bytes);
    move(work, homeOf(depth * columns * 4), panelLoads);
    if (!fits) work.bytes[level(1)] += tiles * depth * tileN * 4;
    // The strip of a comes from L2 for every panel.
    work.bytes[level(1)] += batches * rows * depth * 4 * panels;
    if (blocks > 1) work.bytes[level(1)] += 2 * batches * rows * columns * 4 * blocks;
    Cone a;
    std::set<NodeRef> seenA;
    walk(form.a, false, 1, seenA, a);
    Cone b;
    std::set<NodeRef> seenB;
    walk(form.b, false, 1, seenB, b);
    addCone(work, a, batches * rows * depth);
    addCone(work, b, depth * columns);
    for (const NodeRef node : a.reads) read(work, node, countOf(node));
    for (const NodeRef node : b.reads) read(work, node, countOf(node));
    if (packA) addPacking(work, a, batches * rows * depth);
    if (packB) {
      addPacking(work, b, depth * columns * (form.sharedB() ? 1 : batches));
      move(work, homeOf(2 * depth * columns * 4), 2 * depth * columns * 4);
    } else {
      work.bytes[level(1)] += panelLoads;  // rows far apart: half of each line is used at once
    }
    for (const Anchor& anchor : nest.anchors) {
      write(work, anchor.node, countOf(anchor.node));
      if (anchor.role == Role::main) continue;
      Cone cone;
      std::set<NodeRef> seen;
      walk(anchor.node, true, 1, seen, cone);
      addCone(work, cone, batches * rows * columns);
      for (const NodeRef node : cone.reads) {
        if (node != nest.anchors[0].node) read(work, node, countOf(node));
      }
      work.nest += fmt::format(", {}", tensor::name(anchor.node->op));
    }
    return work;
  }

  /// Copies of so many elements into panels.
  void addPacking(Work& work, const Cone& operand, double elements) const {
    const double lanes = target_.vector.floats();
    work.storeVectors += elements / lanes;
    work.otherVectors += elements / lanes * 2;
    work.packedBytes += elements * 4;
    for (const NodeRef node : operand.reads) {
      const auto found = std::ranges::find(work.tensors, nameOf(node), &machine::TensorUse::name);
      if (found != work.tensors.end()) found->packed = true;
    }
  }

  const tensor::Program& program_;
  const Concrete& concrete_;
  const Plan& plan_;
  const machine::Target& target_;
  const tiling::Parameters& parameters_;
  std::set<NodeRef> scalar_;
};

}  // namespace

std::vector<Work> workOf(const tensor::Program& context, std::span<const NodeRef> results,
                         const tensor::Extents& extents, const machine::Target& target,
                         const tiling::Parameters& parameters, const std::vector<NodeRef>& withoutVectors) {
  std::vector<Work> work;
  try {
    std::vector<NodeRef> roots(results.begin(), results.end());
    for (const tensor::Parameter& one : context.parameters) roots.push_back(one.node);
    const Concrete concrete(context, roots, extents);
    const Plan plan = fusion::planOf(concrete, results, {static_cast<int>(parameter(parameters, "fuse", 2))});
    Counter(context, concrete, plan, target, parameters, withoutVectors).scope(plan.top, 1, work);
  } catch (const fusion::Refused&) {
    work.clear();
  }
  return work;
}

std::optional<machine::Breakdown> modelled(const tensor::Program& context, std::span<const NodeRef> results,
                                           const tensor::Extents& extents, const machine::Target& target,
                                           const tiling::Parameters& parameters, int threads) {
  const auto kernel = emitHost(context, results, extents, target, parameters);
  if (!kernel) return std::nullopt;
  return machine::breakdown(workOf(context, results, extents, target, parameters, kernel->withoutVectors),
                            target, threads);
}

double modelledSeconds(const tensor::Program& context, std::span<const NodeRef> results,
                       const tensor::Extents& extents, const machine::Target& target,
                       const tiling::Parameters& parameters, int threads) {
  const auto breakdown = modelled(context, results, extents, target, parameters, threads);
  return breakdown ? breakdown->seconds : std::numeric_limits<double>::infinity();
}

}  // namespace nuscope::emit
