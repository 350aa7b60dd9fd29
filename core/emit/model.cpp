#include "core/emit/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "core/emit/kernel.h"
#include "core/fusion/plan.h"
#include "core/machine/calibration.h"

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

/// Lines that lie within one page are fetched ahead by the processor; each new page is waited for.
constexpr double pageBytes = 4096;
/// Of the cycles that a register block's loads take, and the fetching of their lines, the share in which its
/// multiply-adds do not go on.
constexpr double exposed = 0.5;
/// Vector operations a lane to gather a vector from lines that lie apart.
constexpr double gatherOperations = 1.5;

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
        std::vector<Work> parts;
        if (nest.kind == NestKind::contract) {
          parts = product(nest, fusion::standsAlone(plan_, scope, group));
        } else {
          parts.push_back(elements(nest));
        }
        parts.back().regions = i == group.nests[0] ? 1 : 0;
        for (Work& work : parts) {
          if (runsAlone(work)) work.parallelShare = work.regions = 0;
          // A product's operands are copied lane by lane then; its sums stay in vectors.
          const bool sums = nest.kind == NestKind::contract && &work == &parts.back();
          if (isScalar(nest) && !sums) withoutVectors(work, nest);
          scale(work, times);
          into.push_back(std::move(work));
        }
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
    if (nest.kind == NestKind::contract) return;  // these are copies
    for (const Anchor& anchor : nest.anchors) {
      if (anchor.role == Role::main || anchor.role == Role::rowFold)
        work.waitCycles += elementsOf(anchor) * target_.vector.fmaLatency;
    }
  }

  static void scale(Work& work, double times) {
    for (double* const one : {&work.flops, &work.fmaVectors, &work.otherVectors, &work.divideVectors,
                              &work.scalarOperations, &work.waitCycles, &work.fetchCycles, &work.loadVectors,
                              &work.storeVectors, &work.packedBytes, &work.regions}) {
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
    std::set<NodeRef> across;  ///< of these, read along another axis than their last: lane by lane
    int kept = 0;              ///< expensive values that an earlier pass over the row left in a buffer
  };

  /// Operations of one evaluation without vectors.
  [[nodiscard]] double scalarOperations(int weight) const {
    if (weight >= 10) return functionOperations;
    return weight == 3 ? target_.vector.operationsPerCycle / target_.vector.dividesPerCycle : weight;
  }
  /// `made`: the expensive values that the nest has computed so far and keeps; null: none are kept.
  void walk(NodeRef node, bool first, double share, std::set<NodeRef>& seen, Cone& cone,
            std::set<NodeRef>* made = nullptr, bool across = false) const {
    if (!seen.insert(node).second) return;
    if (!first && isStored(node)) {
      cone.reads.insert(node);
      if (across && concrete_.shape(node).size() > 1) cone.across.insert(node);
      return;
    }
    if (node->op == Op::transpose) {
      const std::vector<int>& axes = node->attributes.axes;
      across = across != (static_cast<std::size_t>(axes.back()) + 1 != axes.size());
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
      walk(operand, false, share * std::min(1.0, ratio), seen, cone, made, across);
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
    for (const NodeRef node : cone.across) addGather(work, node, elements);
  }

  /// A column of a row-major tensor: one lane a load, and lines that L1 may not hold until the next column.
  void addGather(Work& work, NodeRef node, double elements) const {
    work.loadVectors += elements * (1 - 1 / target_.vector.floats());
    work.otherVectors += elements * gatherOperations;
    const ConcreteShape& shape = concrete_.shape(node);
    const double rows = countOf(node) / std::max<double>(1, static_cast<double>(shape.back()));
    work.waitCycles += elements * apartCycles(homeOfLines(rows, rowBytes(node)), rowBytes(node));
  }

  /// To fetch a line whose neighbours in time are so many bytes away.
  [[nodiscard]] double apartCycles(const machine::MemoryLevel& from, std::int64_t strideBytes) const {
    if (&from == &target_.memory[0]) return 0;
    return from.lineCycles * std::min(1.0, static_cast<double>(strideBytes) / pageBytes);
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

  /// A matrix product cut into blocks: what the counts of its parts share.
  struct Blocks {
    const fusion::ContractForm* form = nullptr;
    double rows = 0, columns = 0, depth = 0, batches = 0;
    double tileM = 0, tileN = 0;   ///< of a register block
    double vectors = 0, sums = 0;  ///< registers of one of its rows, and of all
    double blockK = 0, strip = 0;
    double panels = 0, tiles = 0;  ///< of one batch; of all
    double passes = 0;             ///< over the depth
    bool packA = true, packB = true;
    bool columnsOutside = false;
    [[nodiscard]] double panelBytes() const { return blockK * tileN * 4; }
  };

  Blocks blocksOf(const fusion::ContractForm& form, bool alone) const {
    const machine::MicroTile& first = target_.microTiles[0];
    const int lanes = target_.vector.floats();
    Blocks b;
    b.form = &form;
    b.rows = static_cast<double>(form.rows());
    b.columns = static_cast<double>(form.columns());
    b.depth = static_cast<double>(form.depth());
    b.batches = static_cast<double>(form.batches());
    b.tileM = static_cast<double>(parameter(parameters_, "tile_m", first.rows));
    b.tileN = static_cast<double>(parameter(parameters_, "tile_n", std::int64_t{first.vectors} * lanes));
    b.vectors = b.tileN / lanes;
    b.sums = b.tileM * b.vectors;
    b.blockK = std::min(b.depth, static_cast<double>(parameter(parameters_, "block_k", 512)));
    b.strip = std::min(b.rows, static_cast<double>(parameter(parameters_, "strip_m", 96)));
    b.columnsOutside = alone && parameter(parameters_, "order", 0) != 0;
    if (b.columnsOutside) b.strip = b.rows;
    b.panels = std::ceil(b.columns / b.tileN);
    b.tiles = std::ceil(b.rows / b.tileM) * b.panels * b.batches;
    b.passes = std::ceil(b.depth / b.blockK);
    b.packA = parameter(parameters_, "pack_a", 1) != 0 || !isInPlace(form.a);
    const bool whole = form.columns() % static_cast<std::int64_t>(b.tileN) == 0;
    b.packB = parameter(parameters_, "pack_b", 1) != 0 || !whole || !isStored(form.b);
    return b;
  }

  /// Stored, or a stored value seen through another layout.
  [[nodiscard]] bool isInPlace(NodeRef node) const {
    while (!isStored(node)) {
      const bool moves = tensor::kind(node->op) == tensor::OpKind::layout && node->op != Op::take &&
                         node->op != Op::concatenate;
      if (!moves) return false;
      node = node->operands[0];
    }
    return true;
  }

  [[nodiscard]] const machine::MemoryLevel& levelOf(const std::string& name) const {
    return target_.level(name);
  }

  /// Bytes between rows of a stored tensor.
  [[nodiscard]] std::int64_t rowBytes(NodeRef node) const {
    const ConcreteShape& shape = concrete_.shape(node);
    return shape.empty() ? 4 : shape.back() * tensor::byteSize(node->dtype);
  }

  /// Where lines that are so far apart are found when they are used again.
  [[nodiscard]] const machine::MemoryLevel& homeOfLines(double lines, std::int64_t strideBytes) const {
    for (const machine::MemoryLevel& level : target_.memory) {
      if (level.bytes == 0 || lines <= machine::linesHeld(level, strideBytes)) return level;
    }
    return target_.memory.back();
  }

  /// Lines of a stored tensor that are read in pieces too short to be fetched ahead.
  [[nodiscard]] double lineCycles(double bytes, const std::string& home) const {
    const machine::MemoryLevel& level = levelOf(home);
    return bytes / level.lineBytes * level.lineCycles;
  }

  /// b copied into panels: all of it once a call, a few panels side by side; or each where it is used.
  Work panels(const Blocks& b) const {
    Work work;
    work.nest = fmt::format("panels of {}", nameOf(b.form->b));
    const double elements = b.depth * b.columns * (b.form->sharedB() ? 1 : b.batches);
    Cone cone;
    std::set<NodeRef> seen;
    walk(b.form->b, false, 1, seen, cone);
    addCone(work, cone, elements);
    for (const NodeRef node : cone.reads) {
      read(work, node, countOf(node));
      if (b.columnsOutside && b.tileN < b.columns && !cone.across.contains(node))
        work.waitCycles += countOf(node) * 4 / levelOf(home(node)).lineBytes *
                           apartCycles(levelOf(home(node)), rowBytes(node));
    }
    addPacking(work, cone, elements);
    move(work, homeOf(b.columnsOutside ? 2 * b.panelBytes() : 2 * elements * 4), elements * 4 * 2);
    work.regions = b.columnsOutside ? 0 : 1;
    return work;
  }

  /// The strips' rows of a, copied (and computed) block by block.
  Work rowsOfA(const Blocks& b) const {
    Work work;
    work.nest = fmt::format("rows of {}", nameOf(b.form->a));
    const double elements = b.batches * b.rows * b.depth;
    Cone cone;
    std::set<NodeRef> seen;
    walk(b.form->a, false, 1, seen, cone);
    addCone(work, cone, elements);
    for (const NodeRef node : cone.reads) read(work, node, countOf(node));
    addPacking(work, cone, elements);
    move(work, homeOf(b.strip * (b.columnsOutside ? b.depth : b.blockK) * 4), elements * 4);
    work.regions = b.columnsOutside ? 1 : 0;
    return work;
  }

  /// The multiply-adds, and what register blocks read and write.
  Work multiplication(const Nest& nest, const Blocks& b) const {
    Work work;
    work.nest = std::string(tensor::name(nest.anchors[0].node->op));
    work.flops = 2 * b.batches * b.rows * b.columns * b.depth;
    // Rows and columns that only fill a block are multiplied too; few sums in flight wait for each other.
    const machine::VectorUnit& unit = target_.vector;
    const double flight = unit.fmaPerCycle * unit.chainCycles;
    work.fmaVectors = b.tiles * b.sums * b.depth;
    work.waitCycles = b.tiles * b.depth * std::max(0.0, flight - b.sums) / unit.fmaPerCycle;
    work.loadVectors = b.tiles * b.depth * (b.tileM + b.vectors);
    work.waitCycles += exposed * work.loadVectors / unit.loadsPerCycle;
    work.otherVectors = b.tiles * b.passes * (2 * b.sums + 20);
    work.storeVectors = b.tiles * b.sums * b.passes;
    addRight(work, b);
    addLeft(work, b);
    addSums(work, b);
    return work;
  }

  /// Every register block reads its panel: from L1 where a block of it fits there, else from L2; each strip
  /// reads all of b from where it lies. Rows of a b that is not packed lie apart, on few sets of a cache;
  /// their lines are fetched while the sums go on.
  void addRight(Work& work, const Blocks& b) const {
    const double bytes = b.depth * b.columns * 4 * (b.form->sharedB() ? 1 : b.batches);
    const double strips = std::ceil(b.rows / b.strip) * (b.form->sharedB() ? b.batches : 1);
    const machine::MemoryLevel& near = target_.memory[0];
    const double all = b.tiles * b.depth * b.tileN * 4;  // of all register blocks
    if (!b.columnsOutside) move(work, homeOf(2 * bytes), strips * bytes);
    if (b.packB) {
      if (b.panelBytes() > 0.75 * static_cast<double>(near.bytes)) work.bytes[level(1)] += all;
      return;
    }
    const std::int64_t stride = rowBytes(b.form->b);
    work.fetchCycles += b.tiles * b.depth * apartCycles(homeOfLines(b.blockK, stride), stride);
    work.waitCycles += exposed * work.fetchCycles;
  }

  /// The strip's block of a is read again for every panel, from where it stays beside two panels. Rows that
  /// are not packed push each other out of L1 where its sets hold fewer.
  void addLeft(Work& work, const Blocks& b) const {
    const double block = b.strip * (b.columnsOutside ? b.depth : b.blockK) * 4;
    const double again = b.batches * b.rows * b.depth * 4 * b.panels;
    const std::string& where = homeOf((block + 2 * b.panelBytes()) * 0.8);
    if (where != level(0)) {
      for (std::size_t i = 1; i < target_.memory.size() && level(i - 1) != where; ++i)
        work.bytes[level(i)] += again;
    }
    if (b.packA) return;
    const machine::MemoryLevel& near = target_.memory[0];
    for (const NodeRef node : operandsOf(b.form->a)) {
      if (b.tileM <= machine::linesHeld(near, rowBytes(node))) continue;
      work.bytes[level(1)] += b.tiles * b.depth * b.tileM * near.lineBytes;
    }
  }

  /// Sums over blocks of the depth go to memory after each, and come back for the next: few lines at a time,
  /// which the multiply-adds wait for.
  void addSums(Work& work, const Blocks& b) const {
    if (b.passes < 2) return;
    const std::string& where = homeOf(b.strip * (b.columnsOutside ? b.tileN : b.columns) * 4);
    const machine::MemoryLevel& from = where == level(0) ? levelOf(level(1)) : levelOf(where);
    const double bytes = b.batches * b.rows * b.columns * 4;
    work.waitCycles += (2 * b.passes - 1) * lineCycles(bytes, from.name);
    work.waitCycles += b.tiles * (b.passes - 1) * from.latencyCycles;
    move(work, where, (2 * b.passes - 1) * bytes);
  }

  [[nodiscard]] std::set<NodeRef> operandsOf(NodeRef node) const {
    Cone cone;
    std::set<NodeRef> seen;
    walk(node, false, 1, seen, cone);
    return cone.reads;
  }

  [[nodiscard]] const std::string& level(std::size_t i) const {
    return target_.memory[std::min(i, target_.memory.size() - 1)].name;
  }

  /// The parts of a product, which run one after the other: panels of b, rows of a, the multiplication with
  /// what follows from it.
  std::vector<Work> product(const Nest& nest, bool alone) const {
    const Blocks b = blocksOf(*nest.contract, alone);
    std::vector<Work> parts;
    if (b.packB) parts.push_back(panels(b));
    if (b.packA) parts.push_back(rowsOfA(b));
    Work work = multiplication(nest, b);
    if (!b.packA) readInPlace(work, b.form->a);
    if (!b.packB) readInPlace(work, b.form->b);
    for (const Anchor& anchor : nest.anchors) {
      write(work, anchor.node, countOf(anchor.node));
      if (anchor.role == Role::main) continue;
      Cone cone;
      std::set<NodeRef> seen;
      walk(anchor.node, true, 1, seen, cone);
      addCone(work, cone, b.batches * b.rows * b.columns);
      for (const NodeRef node : cone.reads) {
        if (node != nest.anchors[0].node) read(work, node, countOf(node));
      }
      work.nest += fmt::format(", {}", tensor::name(anchor.node->op));
    }
    parts.push_back(std::move(work));
    return parts;
  }

  void readInPlace(Work& work, NodeRef operand) const {
    for (const NodeRef node : operandsOf(operand)) read(work, node, countOf(node));
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
