#include "core/emit/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "core/fusion/plan.h"

namespace nuscope::emit {

using fusion::Anchor;
using fusion::Concrete;
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

/// Counts the work of all nests of a plan.
class Counter {
 public:
  Counter(const Concrete& concrete, const Plan& plan, const machine::Target& target,
          const tiling::Parameters& parameters)
      : concrete_(concrete), plan_(plan), target_(target), parameters_(parameters) {}

  void scope(const Scope& scope, double times, std::vector<Work>& into) {
    for (const Group& group : scope.groups) {
      for (const int i : group.nests) {
        const Nest& nest = scope.nests[static_cast<std::size_t>(i)];
        if (nest.kind == NestKind::loop) {
          this->scope(*nest.body,
                      times * static_cast<double>(concrete_.value(nest.loop->attributes.shape[0])), into);
          continue;
        }
        Work work = nest.kind == NestKind::contract ? product(nest, group) : elements(nest);
        work.regions = i == group.nests[0] ? 1 : 0;
        scale(work, times);
        into.push_back(std::move(work));
      }
    }
  }

 private:
  static void scale(Work& work, double times) {
    for (double* const one : {&work.flops, &work.fmaVectors, &work.otherVectors, &work.divideVectors,
                              &work.scalarOperations, &work.loadVectors, &work.storeVectors, &work.regions}) {
      *one *= times;
    }
    for (auto& [level, bytes] : work.bytes) bytes *= times;
  }

  /// The memory level that a tensor of that size is found in when it is read again.
  [[nodiscard]] const std::string& homeOf(double bytes) const {
    for (const machine::MemoryLevel& level : target_.memory) {
      if (level.bytes == 0 || bytes <= 0.8 * static_cast<double>(level.bytes)) return level.name;
    }
    return target_.memory.back().name;
  }

  [[nodiscard]] bool isStored(NodeRef node) const {
    if (node->op == Op::input || node->op == Op::loopState || node->op == Op::loopResult) return true;
    const auto found = plan_.placements.find(node);
    return found != plan_.placements.end();
  }

  struct Cone {
    double additions = 0, divisions = 0, functions = 0;  ///< per element of the anchor
    std::set<NodeRef> reads;
  };
  void walk(NodeRef node, bool first, double share, std::set<NodeRef>& seen, Cone& cone) const {
    if (!seen.insert(node).second) return;
    if (!first && isStored(node)) {
      cone.reads.insert(node);
      return;
    }
    // What has fewer elements than the loop is computed once per row.
    const int weight = fusion::weight(node);
    if (weight >= 10) {
      cone.functions += share;
    } else if (weight == 3) {
      cone.divisions += share;
    } else {
      cone.additions += share * weight;
    }
    for (const NodeRef operand : node->operands) {
      const double ratio = static_cast<double>(concrete_.count(operand)) /
                           static_cast<double>(std::max<Extent>(1, concrete_.count(node)));
      walk(operand, false, share * std::min(1.0, ratio), seen, cone);
    }
  }

  /// Adds bytes at the level where a stored tensor lives, and at all nearer ones.
  void touch(Work& work, NodeRef node, double times) const {
    const double bytes = static_cast<double>(concrete_.count(node)) * tensor::byteSize(node->dtype);
    const auto placed = plan_.placements.find(node);
    const bool strip = placed != plan_.placements.end() && placed->second.storage == Storage::strip;
    const bool none = placed != plan_.placements.end() && placed->second.storage == Storage::none;
    if (none) return;
    const std::string& home =
        strip ? target_.memory[std::min<std::size_t>(1, target_.memory.size() - 1)].name : homeOf(2 * bytes);
    for (const machine::MemoryLevel& level : target_.memory) {
      work.bytes[level.name] += bytes * times;
      if (level.name == home) break;
    }
  }

  void addCone(Work& work, const Cone& cone, double elements) const {
    const double vectors = elements / target_.vector.floats();
    work.otherVectors += vectors * (cone.additions + 22 * cone.functions);
    work.divideVectors += vectors * cone.divisions;
    work.loadVectors += vectors * static_cast<double>(std::max<std::size_t>(1, cone.reads.size()));
    work.flops += elements * (cone.additions + cone.divisions + cone.functions);
  }

  Work elements(const Nest& nest) const {
    Work work;
    std::set<NodeRef> reads;
    int passes = 1;
    for (const Anchor& anchor : nest.anchors) {
      Cone cone;
      std::set<NodeRef> seen;
      walk(anchor.node, !anchor.copy, 1, seen, cone);
      double count = static_cast<double>(concrete_.count(anchor.node));
      if (anchor.role == Role::rowFold || anchor.role == Role::main) {
        for (const NodeRef operand : anchor.node->operands)
          count = std::max(count, static_cast<double>(concrete_.count(operand)));
        cone.additions += 1;
        if (anchor.role == Role::rowFold) ++passes;
      }
      work.nest += fmt::format("{}{}", work.nest.empty() ? "" : ", ", tensor::name(anchor.node->op));
      addCone(work, cone, count);
      reads.insert(cone.reads.begin(), cone.reads.end());
      work.storeVectors += static_cast<double>(concrete_.count(anchor.node)) / target_.vector.floats();
      touch(work, anchor.node, 1);
    }
    // Short loops pay for their ends; long ones hide latency by unrolling.
    const double unroll = static_cast<double>(parameter(parameters_, "unroll", 4));
    const double rounds =
        std::max(1.0, static_cast<double>(nest.length) / (unroll * target_.vector.floats()));
    const double latency =
        target_.vector.fmaLatency / std::min(unroll, static_cast<double>(target_.vector.fmaLatency) * 2);
    work.otherVectors *= 1 + 0.1 / rounds;
    if (passes > 1)
      work.otherVectors +=
          static_cast<double>(nest.rowCount()) * (rounds * latency * unroll * 0.25 + 12 * passes);
    for (const NodeRef node : reads) {
      touch(work, node, 1);
      if (passes > 2) {  // read again from the nearest level that holds a row
        const double row = static_cast<double>(nest.length) * 4;
        work.bytes[homeOf(row)] += static_cast<double>(concrete_.count(node)) * 4 * (passes - 2);
      }
    }
    work.parallelShare = nest.rowCount() > 1 || nest.flat ? 1 : 0;
    return work;
  }

  Work product(const Nest& nest, const Group& group) const {
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
    work.fmaVectors = tiles * sums * depth * std::max(1.0, flight / sums);
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
    work.bytes[level(1)] += fits ? panelLoads : tiles * depth * tileN * 4;
    work.bytes[homeOf(depth * columns * 4)] += panelLoads;
    // The strip of a comes from L2 for every panel.
    work.bytes[level(1)] += batches * rows * depth * 4 * panels;
    if (blocks > 1) work.bytes[level(1)] += 2 * batches * rows * columns * 4 * blocks;
    if (packA) work.storeVectors += batches * rows * depth / lanes;
    if (packA) work.otherVectors += batches * rows * depth / lanes * 2;
    Cone a;
    std::set<NodeRef> seenA;
    walk(form.a, false, 1, seenA, a);
    addCone(work, a, batches * rows * depth);
    Cone b;
    std::set<NodeRef> seenB;
    walk(form.b, false, 1, seenB, b);
    addCone(work, b, depth * columns);
    if (packB) {
      work.storeVectors += depth * columns / lanes * (form.sharedB() ? 1 : batches);
      touch(work, form.b, 1);
    } else {
      work.bytes[level(1)] += panelLoads;  // rows far apart: half of each line is used at once
    }
    for (const Cone* cone : {&a, &b}) {
      for (const NodeRef node : cone->reads) touch(work, node, 1);
    }
    for (const Anchor& anchor : nest.anchors) {
      if (anchor.role == Role::main) {
        touch(work, anchor.node, 1);
        continue;
      }
      Cone cone;
      std::set<NodeRef> seen;
      walk(anchor.node, true, 1, seen, cone);
      addCone(work, cone, batches * rows * columns);
      touch(work, anchor.node, 1);
      work.nest += fmt::format(", {}", tensor::name(anchor.node->op));
    }
    static_cast<void>(group);
    return work;
  }

  const Concrete& concrete_;
  const Plan& plan_;
  const machine::Target& target_;
  const tiling::Parameters& parameters_;
};

}  // namespace

std::vector<Work> workOf(const tensor::Program& context, std::span<const NodeRef> results,
                         const tensor::Extents& extents, const machine::Target& target,
                         const tiling::Parameters& parameters) {
  std::vector<Work> work;
  try {
    std::vector<NodeRef> roots(results.begin(), results.end());
    for (const tensor::Parameter& one : context.parameters) roots.push_back(one.node);
    const Concrete concrete(context, roots, extents);
    const Plan plan = fusion::planOf(concrete, results, {static_cast<int>(parameter(parameters, "fuse", 2))});
    Counter(concrete, plan, target, parameters).scope(plan.top, 1, work);
  } catch (const fusion::Refused&) {
    work.clear();
  }
  return work;
}

double modelledSeconds(const tensor::Program& context, std::span<const NodeRef> results,
                       const tensor::Extents& extents, const machine::Target& target,
                       const tiling::Parameters& parameters, int threads) {
  const auto work = workOf(context, results, extents, target, parameters);
  if (work.empty()) return std::numeric_limits<double>::infinity();
  return machine::modelledSeconds(work, target, threads);
}

}  // namespace nuscope::emit
