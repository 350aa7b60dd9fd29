// Any fold that is not along rows: sums over leading or several axes, einsum. Lanes lie along the result's
// last axis where its operands are contiguous there, else along the innermost folded axis.
#include <fmt/format.h>

#include <algorithm>

#include "core/emit/nests.h"

namespace nuscope::emit {

using fusion::Anchor;
using fusion::Nest;

namespace {

constexpr std::string_view foldNames[] = {"foldSum", "foldProduct", "foldMax", "foldMin", "foldAll"};

class FoldPrinter {
 public:
  FoldPrinter(const NestContext& context, const Nest& nest, bool vectors)
      : context_(context),
        file_(context.file),
        anchor_(nest.anchors[0]),
        node_(anchor_.node),
        shape_(file_.concrete->shape(node_)),
        generator_(file_, vectors),
        vectors_(vectors) {
    survey();
  }

  std::vector<Line> print() {
    if (vectors_ && alongResult_) {
      alongResult();
    } else {
      alongFold();
    }
    std::vector<Line> lines = arrayLines(file_, generator_);
    for (Line& line : generator_.popLines()) lines.push_back(std::move(line));
    return lines;
  }
  [[nodiscard]] Extent units() const {
    if (!vectors_ || !alongResult_) return fusion::countOf(shape_);
    return fusion::countOf(shape_) / shape_.back() * blocks();
  }
  [[nodiscard]] double work() const {
    double total = static_cast<double>(fusion::countOf(shape_));
    for (const Extent extent : folds_) total *= static_cast<double>(extent);
    return total * (1 + coneWeight(file_, node_));
  }

 private:
  /// How many folds there are, and along which axis operands are contiguous.
  void survey() {
    IndexSpace space;
    fusion::AccessDomain domain(*file_.concrete, space,
                                [&](NodeRef node) { return file_.arrayOf.contains(node); });
    const auto index = fusion::axisVariables(space, shape_);
    domain.visit(node_, index);
    folds_ = domain.foldExtents;
    const auto contiguous = [&](const Affine& variable) {
      if (variable.terms.empty()) return false;
      const int id = variable.terms.begin()->first;
      bool any = false;
      for (const fusion::Access& access : domain.accesses) {
        const Affine at = fusion::flatten(access.index, file_.concrete->shape(access.node));
        for (const auto& [term, coefficient] : at.terms) {
          if (term != id && space.atom(term).kind != fusion::Atom::Kind::variable) return false;
        }
        if (at.coefficient(id) != 0 && at.coefficient(id) != 1) return false;
        any = any || at.coefficient(id) == 1;
      }
      return any;
    };
    alongResult_ =
        !shape_.empty() && shape_.back() >= context_.settings.lanes / 2 && contiguous(index.back());
    if (!alongResult_ && !shape_.empty() && shape_.back() >= context_.settings.lanes && !folds_.empty()) {
      alongResult_ = !contiguous(Affine::atom(domain.folds.back()));
    }
  }

  [[nodiscard]] Extent block() const { return Extent{context_.settings.unroll} * context_.settings.lanes; }
  [[nodiscard]] Extent blocks() const { return (shape_.back() + block() - 1) / block(); }

  void declare(const std::string& name, semantics::Fold fold, DType dtype, int depth) {
    const std::string start = Generator::identity(fold, dtype);
    std::string starts;
    const int count = vectors_ ? context_.settings.unroll : 1;
    for (int u = 0; u < count; ++u) {
      starts +=
          (u > 0 ? ", " : "") +
          (!vectors_ ? start : fmt::format("{}({})", dtype == DType::boolean ? "splatMask" : "splat", start));
    }
    generator_.addAt(depth,
                     fmt::format("{} {}[{}] = {{{}}};", vectors_ ? vectorType(dtype) : scalarType(dtype),
                                 name, count, starts),
                     {node_});
  }

  /// Loops over all folds; `inner` closes the innermost and gets the body's value there.
  void nestFolds(std::size_t level, const std::vector<Affine>& index, int outerDepth,
                 const std::function<Value(const std::function<Value(const Affine&)>&, Extent)>& inner) {
    generator_.foldHook = [&, level, outerDepth](semantics::Fold fold, const tensor::Dim& extent,
                                                 const std::function<Value(const Affine&)>& body) -> Value {
      fold_ = fold;
      const Affine reach = generator_.dim(extent);
      if (level + 1 == folds_.size()) {
        extentText_ = generator_.space().text(reach);
        const Value value = inner(body, generator_.space().range(reach).most);
        dtype_ = value.dtype;
        throw FoldTaken();
      }
      generator_.push();
      const std::string k = generator_.fresh("k1");
      const Affine counter = Affine::atom(
          generator_.space().variable(k, {0, generator_.space().range(reach).most - 1}, generator_.depth()));
      const std::string header =
          fmt::format("for (long {} = 0; {} < {}; ++{}) {{", k, k, generator_.space().text(reach), k);
      try {
        nestFolds(level + 1, {}, outerDepth, inner);
        body(counter);
      } catch (const FoldTaken&) {
        generator_.pop(header, "}", {node_});
        throw;
      }
      throw InternalError("a fold without an inner fold");
    };
    if (level > 0) return;
    try {
      generator_.compute(node_, index);
    } catch (const FoldTaken&) {
      generator_.foldHook = nullptr;
      return;
    }
    throw InternalError("a fold nest without a fold");
  }

  /// The node's value once its outermost fold is known.
  Value finish(const std::vector<Affine>& index, const Value& folded) {
    generator_.foldHook = [&](semantics::Fold, const tensor::Dim&,
                              const std::function<Value(const Affine&)>&) { return folded; };
    return generator_.compute(node_, index);
  }

  void storeAll(const Affine& at, const Value& value) {
    for (const int array : context_.targets(anchor_)) generator_.store(array, at, value, node_);
  }

  void alongResult() {
    const Extent length = shape_.back();
    const int vectors = context_.settings.unroll;
    generator_.push();  // the loop over units
    const int depth = generator_.depth();
    auto& space = generator_.space();
    const Affine t = generator_.variable("t", 0, units());
    const Affine row = space.quotient(t, blocks());
    std::vector<Affine> lead = fusion::unflatten(space, row, ConcreteShape(shape_.begin(), shape_.end() - 1));
    generator_.add(fmt::format("const long j0 = {};", space.text((t - row * blocks()) * block())));
    const std::string count = countOfBlock(generator_, block(), length);
    const std::string name = generator_.fresh(file_.nameOf(node_) + "_lanes");
    const std::string header = blockHeader(vectors, count, "long j, auto u, auto lanes");
    // The declaration needs the fold; both are known after the first walk.
    generator_.push();
    const auto laneIndex = [&] {
      std::vector<Affine> index = lead;
      index.push_back(generator_.laneVariable("j", 0, length));
      return index;
    };
    // The lane variable lives in the innermost frame, which is opened by the innermost fold.
    const Affine lane = Affine::atom(
        space.variable("j", {0, length - 1}, depth + 1 + static_cast<int>(folds_.size()) + 1, true));
    std::vector<Affine> index = lead;
    index.push_back(lane);
    nestFolds(0, index, depth, [&](const std::function<Value(const Affine&)>& body, Extent extent) {
      generator_.push();
      const std::string k = generator_.fresh("k1");
      const Affine counter = Affine::atom(space.variable(k, {0, extent - 1}, generator_.depth()));
      generator_.push();
      const Value value = body(counter);
      const Value slot{name + "[u]", true, value.dtype, 0, false};
      generator_.add(
          fmt::format("{} = {};", slot.text, generator_.combine(fold_, slot, generator_.asVector(value))),
          {node_});
      generator_.pop(header, "});", {node_});
      generator_.pop(fmt::format("for (long {} = 0; {} < {}; ++{}) {{", k, k, extentText_, k), "}", {node_});
      return value;
    });
    const auto lines = generator_.popLines();
    declare(name, fold_, dtype_, depth);
    generator_.append(lines, 0);
    generator_.push();
    const auto at = laneIndex();
    const Value value = finish(at, {name + "[u]", true, dtype_, generator_.depth(), false});
    storeAll(row * length + at.back(), value);
    generator_.pop(header, "});", {node_});
    generator_.pop("for (long t = begin; t < end; ++t) {");
  }

  void alongFold() {
    generator_.push();
    const int depth = generator_.depth();
    const Affine r = generator_.variable("r", 0, fusion::countOf(shape_));
    const auto index = fusion::unflatten(generator_.space(), r, shape_);
    const std::string name = generator_.fresh(file_.nameOf(node_) + "_lanes");
    generator_.push();
    nestFolds(0, index, depth, [&](const std::function<Value(const Affine&)>& body, Extent extent) {
      generator_.push();
      const Affine lane = generator_.laneVariable("k", 0, extent);
      const Value value = body(lane);
      if (vectors_) {
        const std::string neutral =
            value.dtype == DType::boolean ? "-1" : Generator::identity(fold_, value.dtype);
        const Value slot{name + "[u]", true, value.dtype, 0, false};
        const Value kept{fmt::format("keep({}, {}, lanes)", generator_.splatText(value), neutral), true,
                         value.dtype, 0, false};
        generator_.add(fmt::format("{} = {};", slot.text, generator_.combine(fold_, slot, kept)), {node_});
        generator_.pop(lanesHeader(context_.settings.unroll, "0", extentText_, "long k, auto u, auto lanes"),
                       "});", {node_});
      } else {
        const Value slot{name + "[0]", false, value.dtype, 0, false};
        generator_.add(fmt::format("{} = {};", slot.text, generator_.combine(fold_, slot, value)), {node_});
        generator_.pop(fmt::format("for (long k = 0; k < {}; ++k) {{", extentText_), "}", {node_});
      }
      return value;
    });
    const auto lines = generator_.popLines();
    declare(name, fold_, dtype_, depth);
    generator_.append(lines, 0);
    std::string text = name + "[0]";
    if (vectors_) {
      std::string sum = text;
      for (int u = 1; u < context_.settings.unroll; ++u) {
        sum = generator_.combine(fold_, {sum, true, dtype_, 0, false},
                                 {fmt::format("{}[{}]", name, u), true, dtype_, 0, false});
      }
      text = fmt::format("{}({})", foldNames[static_cast<std::size_t>(fold_)], sum);
      if (dtype_ == DType::boolean) text += " != 0";
    }
    const Value value = finish(index, generator_.define(text, dtype_, false, depth, node_));
    storeAll(r, value);
    generator_.pop("for (long r = begin; r < end; ++r) {");
  }

  const NestContext& context_;
  FileContext& file_;
  const Anchor& anchor_;
  NodeRef node_;
  ConcreteShape shape_;
  Generator generator_;
  bool vectors_;
  bool alongResult_ = false;
  std::vector<Extent> folds_;
  semantics::Fold fold_ = semantics::Fold::sum;
  DType dtype_ = DType::f32;
  std::string extentText_;
};

}  // namespace

Function foldNest(const NestContext& context, const Nest& nest) {
  return withVectorsIfPossible("it folds over a concatenation's seam", [&](bool vectors) {
    Function function;
    function.nodes = anchorsOf(nest);
    FoldPrinter printer(context, nest, vectors);
    function.lines = printer.print();
    function.units = printer.units();
    function.work = printer.work();
    return function;
  });
}

}  // namespace nuscope::emit
