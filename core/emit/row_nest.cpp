// Rows of one vectorised axis: elementwise results, folds over the lanes, and what follows from them, in as
// many passes over the row as folds depend on each other.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/emit/nests.h"

namespace nuscope::emit {

using fusion::Anchor;
using fusion::Nest;
using fusion::Role;

double coneWeight(const FileContext& file, NodeRef node, bool varyingOnly) {
  double total = 0;
  const Extent least = varyingOnly ? file.concrete->count(node) : 0;
  std::set<NodeRef> seen;
  std::vector<NodeRef> pending{node};
  while (!pending.empty()) {
    const NodeRef at = pending.back();
    pending.pop_back();
    if (!seen.insert(at).second) continue;
    if (file.concrete->count(at) >= least) total += fusion::weight(at);
    for (const NodeRef operand : at->operands) {
      if (!file.arrayOf.contains(operand)) pending.push_back(operand);
    }
  }
  return total;
}

std::vector<NodeRef> anchorsOf(const Nest& nest) {
  std::vector<NodeRef> nodes;
  for (const Anchor& anchor : nest.anchors) nodes.push_back(anchor.node);
  return nodes;
}

std::vector<Line> arrayLines(const FileContext& file, const Generator& generator) {
  std::vector<Line> lines;
  for (const auto& [id, written] : generator.used()) {
    const Array& array = file.arrays[static_cast<std::size_t>(id)];
    const std::string type = fmt::format("{}{}*", written ? "" : "const ", arrayType(array.dtype));
    if (array.strip) {
      lines.push_back(
          {fmt::format("{} const {} = ({})(own + {});", type, array.name, type, array.offset), 0, {}});
    } else {
      lines.push_back(
          {fmt::format("{} __restrict const {} = data.{};", type, array.name, array.name), 0, {}});
    }
  }
  return lines;
}

namespace {

bool isNumber(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

std::string lanesHeader(int unroll, const std::string& from, const std::string& to,
                        std::string_view arguments) {
  const bool known = isNumber(from) && isNumber(to);
  return fmt::format("forLanes<{}{}[&]({}) NUSCOPE_INLINE {{", unroll,
                     known ? fmt::format(", {}, {}>(", from, to) : fmt::format(">({}, {}, ", from, to),
                     arguments);
}

std::string blockHeader(int vectors, const std::string& count, std::string_view arguments) {
  return fmt::format("forBlock<{}{}[&]({}) NUSCOPE_INLINE {{", vectors,
                     isNumber(count) ? fmt::format(", {}>(j0, ", count) : fmt::format(">(j0, {}, ", count),
                     arguments);
}

std::string countOfBlock(Generator& generator, Extent block, Extent length) {
  if (length % block == 0) return std::to_string(block);
  if (length < block) return std::to_string(length);
  generator.add(fmt::format("const long count = min({}L, {} - j0);", block, length));
  return "count";
}

namespace {

/// Which pass over the row computes what.
class Passes {
 public:
  Passes(const FileContext& file, const Nest& nest) : file_(file), nest_(nest) {
    for (const Anchor& anchor : nest.anchors) {
      if (!anchor.copy) byNode_[anchor.node] = &anchor;
    }
    for (const Anchor& anchor : nest.anchors) last = std::max(last, of(anchor));
    chooseKept();
  }

  /// The pass in which the anchor's operands are known.
  int of(const Anchor& anchor) {
    if (anchor.copy) return level(anchor.node);
    int result = 0;
    for (const NodeRef operand : anchor.node->operands) result = std::max(result, level(operand));
    return result;
  }
  int last = 0;
  /// Values that are expensive and used by several passes: kept in a buffer, with the pass that computes
  /// them.
  std::vector<std::pair<NodeRef, int>> kept;

 private:
  int level(NodeRef node) {
    const auto known = levels_.find(node);
    if (known != levels_.end()) return known->second;
    int result = 0;
    const auto own = byNode_.find(node);
    if (own != byNode_.end()) {
      result = of(*own->second) + (own->second->role == Role::rowFold ? 1 : 0);
    } else if (!file_.arrayOf.contains(node)) {
      for (const NodeRef operand : node->operands) result = std::max(result, level(operand));
    }
    return levels_[node] = result;
  }

  void chooseKept() {
    const std::vector<NodeRef> roots = anchorsOf(nest_);
    ConcreteShape full = nest_.rows;
    full.push_back(nest_.length);
    std::unordered_map<NodeRef, std::set<int>> passes;
    const auto order = tensor::topological(roots);
    for (auto at = order.rbegin(); at != order.rend(); ++at) {
      const NodeRef node = *at;
      const auto own = byNode_.find(node);
      std::set<int>& mine = passes[node];
      if (own != byNode_.end()) {
        if (own->second->role == Role::rowLevel) continue;
        if (own->second->role == Role::rowFold || file_.arrayOf.contains(node)) {
          mine = {of(*own->second)};
        } else {
          mine.insert(of(*own->second));
        }
      } else if (file_.arrayOf.contains(node)) {
        continue;
      }
      const bool candidate = tensor::kind(node->op) == tensor::OpKind::elementwise &&
                             fusion::weight(node) >= 3 &&
                             (own == byNode_.end() || !file_.arrayOf.contains(node));
      if (candidate && mine.size() > 1 && file_.concrete->shape(node) == full) {
        kept.emplace_back(node, *mine.begin());
        mine = {*mine.begin()};
      }
      for (const NodeRef operand : node->operands) passes[operand].insert(mine.begin(), mine.end());
    }
    std::ranges::reverse(kept);
  }

  const FileContext& file_;
  const Nest& nest_;
  std::unordered_map<NodeRef, const Anchor*> byNode_;
  std::unordered_map<NodeRef, int> levels_;
};

/// One attempt to print the nest.
class RowPrinter {
 public:
  RowPrinter(const NestContext& context, const Nest& nest, bool vectors, std::set<std::int64_t> seams)
      : context_(context),
        file_(context.file),
        nest_(nest),
        passes_(file_, nest),
        generator_(file_, vectors),
        vectors_(vectors),
        seams_(std::move(seams)) {}

  std::vector<Line> print() {
    if (nest_.flat) {
      lanes(0, 0, nest_.length, {0});
    } else {
      const Affine begin = Affine::atom(generator_.space().variable("begin", {0, nest_.rowCount() - 1}, 0));
      generator_.setStripBegin(begin);
      generator_.push();
      rowDepth_ = generator_.depth();
      row_ = generator_.variable("r", 0, nest_.rowCount());
      rowIndex_ = fusion::unflatten(generator_.space(), row_, nest_.rows);
      if (nest_.rowCount() == 1) generator_.setStripBegin(0);
      for (int pass = 0; pass <= passes_.last; ++pass) {
        rowLevels(pass);
        runPass(pass);
      }
      rowLevels(passes_.last + 1);
      generator_.pop("for (long r = begin; r < end; ++r) {");
    }
    std::vector<Line> lines = arrayLines(file_, generator_);
    for (const auto& [node, pass] : passes_.kept) {
      if (!buffers_.contains(node)) continue;
      const std::string& name = buffers_.at(node);
      const std::string type(arrayType(node->dtype));
      lines.push_back({fmt::format("{}* const {} = ({}*)(own + {});", type, name, type,
                                   context_.ownOffset + offsets_.at(node)),
                       0,
                       {}});
    }
    for (Line& line : generator_.popLines()) lines.push_back(std::move(line));
    return lines;
  }
  [[nodiscard]] std::int64_t ownBytes() const { return ownBytes_; }

 private:
  void storeAll(const Anchor& anchor, const Affine& flat, const Value& value) {
    for (const int array : context_.targets(anchor)) generator_.store(array, flat, value, anchor.node);
  }

  void rowLevels(int pass) {
    for (const Anchor& anchor : nest_.anchors) {
      if (anchor.role != Role::rowLevel || passes_.of(anchor) != pass) continue;
      const auto index = fusion::unflatten(generator_.space(), row_, file_.concrete->shape(anchor.node));
      const Value value =
          anchor.copy ? generator_.value(anchor.node, index) : generator_.compute(anchor.node, index);
      if (!anchor.copy) generator_.rowValues[anchor.node] = value;
      storeAll(anchor, row_, value);
    }
  }

  void runPass(int pass) {
    bool folds = false;
    bool any = false;
    for (const Anchor& anchor : nest_.anchors) {
      if (anchor.role == Role::rowLevel || passes_.of(anchor) != pass) continue;
      any = true;
      folds = folds || anchor.role == Role::rowFold;
    }
    any = any || std::ranges::any_of(passes_.kept, [&](const auto& one) { return one.second == pass; });
    if (!any) return;
    generator_.onLoad = nullptr;
    if (pass == 0)
      generator_.onLoad = [this](int array, const Affine& at) { firstLoads_.emplace(array, at); };
    unroll_ = !vectors_ ? 1 : folds ? context_.settings.unroll : std::min(context_.settings.unroll, 2);
    std::vector<std::int64_t> begins{0};
    for (const std::int64_t seam : seams_) {
      if (seam > 0 && seam < nest_.length) begins.push_back(seam);
    }
    accumulators_.clear();
    // Parts of a concatenation that are equally long share a loop, for they mostly read the same elements.
    const std::int64_t part = nest_.length / static_cast<std::int64_t>(begins.size());
    bool equal = !folds && passes_.kept.empty();
    for (std::size_t i = 0; i < begins.size(); ++i)
      equal = equal && begins[i] == static_cast<std::int64_t>(i) * part;
    if (equal && part * static_cast<std::int64_t>(begins.size()) == nest_.length) {
      lanes(pass, 0, part, begins);
    } else {
      for (std::size_t i = 0; i < begins.size(); ++i)
        lanes(pass, begins[i], i + 1 < begins.size() ? begins[i + 1] : nest_.length, {0});
    }
    finishFolds(pass);
  }

  /// One loop over lanes from .. to, once for each shift.
  void lanes(int pass, std::int64_t from, std::int64_t to, const std::vector<std::int64_t>& shifts) {
    generator_.push();
    // A single lane has no variable, so that it is the same index for whoever broadcasts it.
    const Affine first = nest_.length == 1 && !nest_.flat ? Affine() : generator_.laneVariable("j", from, to);
    if (nest_.flat) {
      flatLanes(first);
    } else {
      if (pass == passes_.last && pass > 0 && context_.settings.prefetch > 0) askForNextRow();
      for (const std::int64_t shift : shifts) {
        const Affine lane = first + shift;
        std::vector<Affine> index = rowIndex_;
        index.push_back(lane);
        laneIndex_ = index;
        useBuffers(pass);
        for (const auto& [node, own] : passes_.kept) {
          if (own == pass) keep(node, index);
        }
        for (const Anchor& anchor : nest_.anchors) {
          if (anchor.role == Role::rowLevel || passes_.of(anchor) != pass) continue;
          if (anchor.role == Role::rowFold) {
            accumulate(anchor, lane);
          } else {
            full(anchor, index, lane);
          }
        }
      }
    }
    const auto nodes = anchorsOf(nest_);
    if (vectors_) {
      const int unroll = nest_.flat ? std::min(context_.settings.unroll, 2) : unroll_;
      const std::string begin = nest_.flat ? "begin" : std::to_string(from);
      const std::string end = nest_.flat ? "end" : std::to_string(to);
      generator_.pop(
          lanesHeader(unroll, begin, end,
                      accumulators_.empty() ? "long j, auto, auto lanes" : "long j, auto u, auto lanes"),
          "});", nodes);
    } else if (nest_.flat) {
      generator_.pop("for (long j = begin; j < end; ++j) {", "}", nodes);
    } else {
      generator_.pop(fmt::format("for (long j = {}; j < {}; ++j) {{", from, to), "}", nodes);
    }
    generator_.override = nullptr;
  }

  /// What the first pass over the next row will read, while the last one over this row computes.
  void askForNextRow() {
    if (row_.terms.size() != 1) return;
    const int row = row_.terms.begin()->first;
    for (const auto& [array, at] : firstLoads_) {
      const std::int64_t step = at.coefficient(row);
      if (step == 0 || file_.arrays[static_cast<std::size_t>(array)].strip) continue;
      generator_.add(fmt::format("__builtin_prefetch({} + {});", generator_.use(array),
                                 generator_.space().text(at + step)));
    }
  }

  void flatLanes(const Affine& lane) {
    for (const Anchor& anchor : nest_.anchors) {
      const auto index = fusion::unflatten(generator_.space(), lane, file_.concrete->shape(anchor.node));
      const Value value =
          anchor.copy ? generator_.value(anchor.node, index) : generator_.compute(anchor.node, index);
      storeAll(anchor, lane, value);
    }
  }

  void full(const Anchor& anchor, const std::vector<Affine>& index, const Affine& lane) {
    const ConcreteShape& shape = file_.concrete->shape(anchor.node);
    std::vector<Affine> at = index;
    if (shape.empty()) at.clear();
    const Value value = anchor.copy ? generator_.value(anchor.node, at) : generator_.compute(anchor.node, at);
    storeAll(anchor, row_ * nest_.length + lane, value);
  }

  // ---- folds
  struct Accumulator {
    std::string name;
    semantics::Fold fold = semantics::Fold::sum;
    DType dtype = DType::f32;
  };

  void accumulate(const Anchor& anchor, const Affine& lane) {
    generator_.foldHook = [&](semantics::Fold fold, const tensor::Dim&,
                              const std::function<Value(const Affine&)>& body) -> Value {
      const Value value = body(lane);
      auto& accumulator = accumulators_[anchor.node];
      const std::string start = Generator::identity(fold, value.dtype);
      if (accumulator.name.empty()) {
        accumulator = {generator_.fresh(file_.nameOf(anchor.node) + "_lanes"), fold, value.dtype};
        std::string starts;
        for (int u = 0; u < unroll_; ++u) {
          const std::string one =
              !vectors_ ? start
                        : fmt::format("{}({})", value.dtype == DType::boolean ? "splatMask" : "splat", start);
          starts += (u > 0 ? ", " : "") + one;
        }
        const std::string_view type = vectors_ ? vectorType(value.dtype) : scalarType(value.dtype);
        generator_.addAt(rowDepth_,
                         fmt::format("{} {}[{}] = {{{}}};", type, accumulator.name, unroll_, starts),
                         {anchor.node});
      }
      const std::string slot = accumulator.name + (vectors_ ? "[u]" : "[0]");
      Value kept = value;
      if (vectors_) {
        const std::string neutral = value.dtype == DType::boolean ? "-1" : start;
        kept = {fmt::format("keep({}, {}, lanes)", generator_.splatText(value), neutral), true, value.dtype,
                0, false};
      }
      const Value sum{slot, vectors_, value.dtype, 0, false};
      generator_.add(fmt::format("{} = {};", slot, generator_.combine(fold, sum, kept)), {anchor.node});
      throw FoldTaken();
    };
    try {
      generator_.compute(anchor.node,
                         fusion::unflatten(generator_.space(), row_, file_.concrete->shape(anchor.node)));
    } catch (const FoldTaken&) {
      generator_.foldHook = nullptr;
      return;
    }
    throw InternalError("a row fold without a fold");
  }

  std::string folded(const Accumulator& accumulator) const {
    if (!vectors_) return accumulator.name + "[0]";
    std::vector<Value> parts;
    for (int u = 0; u < unroll_; ++u)
      parts.push_back({fmt::format("{}[{}]", accumulator.name, u), true, accumulator.dtype, 0, false});
    while (parts.size() > 1) {  // pairwise
      std::vector<Value> next;
      for (std::size_t i = 0; i + 1 < parts.size(); i += 2) {
        std::string text = generator_.combine(accumulator.fold, parts[i], parts[i + 1]);
        if (parts.size() > 2 && text.find('(') != 0) text = "(" + text + ")";
        next.push_back({text, true, accumulator.dtype, 0, false});
      }
      if (parts.size() % 2 == 1) next.push_back(parts.back());
      parts = std::move(next);
    }
    static constexpr const char* names[] = {"foldSum", "foldProduct", "foldMax", "foldMin", "foldAll"};
    const std::string text = fmt::format("{}({})", names[static_cast<int>(accumulator.fold)], parts[0].text);
    return accumulator.dtype == DType::boolean ? text + " != 0" : text;
  }

  void finishFolds(int pass) {
    for (const Anchor& anchor : nest_.anchors) {
      if (anchor.role != Role::rowFold || passes_.of(anchor) != pass) continue;
      const Accumulator accumulator = accumulators_.at(anchor.node);
      generator_.foldHook = [&](semantics::Fold, const tensor::Dim&,
                                const std::function<Value(const Affine&)>&) -> Value {
        return generator_.define(folded(accumulator), accumulator.dtype, false, rowDepth_, anchor.node);
      };
      const Value value = generator_.compute(
          anchor.node, fusion::unflatten(generator_.space(), row_, file_.concrete->shape(anchor.node)));
      generator_.rowValues[anchor.node] = value;
      storeAll(anchor, row_, value);
    }
    accumulators_.clear();
  }

  // ---- values kept between passes
  void keep(NodeRef node, const std::vector<Affine>& index) {
    if (!buffers_.contains(node)) {
      buffers_[node] = generator_.fresh(file_.nameOf(node) + "_row");
      offsets_[node] = ownBytes_;
      ownBytes_ += aligned(nest_.length * tensor::byteSize(node->dtype));
    }
    const Value value = generator_.compute(node, index);
    if (vectors_) {
      generator_.add(fmt::format("store({} + j, {}, lanes);", buffers_[node], generator_.splatText(value)),
                     {node});
    } else {
      generator_.add(fmt::format("{}[j] = {};", buffers_[node], value.text), {node});
    }
  }

  void useBuffers(int pass) {
    generator_.override = [this, pass](NodeRef node, std::span<const Affine> index) -> std::optional<Value> {
      for (const Anchor& anchor : nest_.anchors) {
        if (anchor.node == node && !anchor.copy && anchor.role == Role::full && passes_.of(anchor) == pass) {
          throw InternalError("a value is read from memory in the pass that computes it: " +
                              tensor::describe(node));
        }
      }
      for (const auto& [kept, first] : passes_.kept) {
        if (kept != node || first >= pass) continue;
        if (!std::ranges::equal(index, laneIndex_)) return std::nullopt;
        const std::string& name = buffers_.at(node);
        if (vectors_)
          return generator_.define(fmt::format("load({} + j, lanes)", name), node->dtype, true,
                                   generator_.depth(), node);
        std::string text = name + "[j]";
        if (node->dtype == DType::boolean) text += " != 0";
        return generator_.define(text, node->dtype, false, generator_.depth(), node);
      }
      return std::nullopt;
    };
  }

  const NestContext& context_;
  FileContext& file_;
  const Nest& nest_;
  Passes passes_;
  Generator generator_;
  bool vectors_;
  std::set<std::int64_t> seams_;
  int rowDepth_ = 0;
  int unroll_ = 1;
  Affine row_;
  std::vector<Affine> rowIndex_;
  std::vector<Affine> laneIndex_;
  std::map<int, Affine> firstLoads_;  ///< arrays, and where the first pass reads them
  std::map<NodeRef, Accumulator> accumulators_;
  std::map<NodeRef, std::string> buffers_;
  std::map<NodeRef, std::int64_t> offsets_;
  std::int64_t ownBytes_ = 0;
};

}  // namespace

Function rowNest(const NestContext& context, const Nest& nest) {
  Function function;
  function.nodes = anchorsOf(nest);
  function.units = nest.flat ? nest.length : nest.rowCount();
  function.unit = nest.flat ? Extent{16} * context.settings.lanes : 1;
  for (const Anchor& anchor : nest.anchors) {
    function.work +=
        (1 + coneWeight(context.file, anchor.node)) *
        static_cast<double>(anchor.role == Role::rowLevel ? nest.rowCount() : nest.rowCount() * nest.length);
  }
  std::set<std::int64_t> seams;
  bool vectors = nest.flat || nest.length > 1;
  for (;;) {
    try {
      RowPrinter printer(context, nest, vectors, seams);
      function.lines = printer.print();
      function.ownBytes = printer.ownBytes();
      return function;
    } catch (const NeedsSplit& split) {
      if (nest.flat || !seams.insert(split.at).second || seams.size() > 16) {
        vectors = false;
        function.note = "too many seams of concatenations";
      }
    } catch (const NeedsScalars& scalars) {
      if (!vectors) throw InternalError("a nest without vectors asks for scalars");
      vectors = false;
      function.note = scalars.why;
    }
  }
}

}  // namespace nuscope::emit
