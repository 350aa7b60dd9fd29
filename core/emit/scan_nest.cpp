// Prefix sums: along the last axis within vectors, with the carry in a vector; along others, lanes side by
// side.
#include <fmt/format.h>

#include "core/emit/nests.h"

namespace nuscope::emit {

using fusion::Anchor;
using fusion::Nest;

namespace {

class ScanPrinter {
 public:
  ScanPrinter(const NestContext& context, const Nest& nest, bool vectors)
      : context_(context),
        file_(context.file),
        anchor_(nest.anchors[0]),
        node_(anchor_.node),
        shape_(file_.concrete->shape(node_)),
        axis_(static_cast<std::size_t>(node_->attributes.axes[0])),
        generator_(file_, vectors),
        vectors_(vectors) {}

  std::vector<Line> print() {
    if (!vectors_) {
      plain();
    } else if (axis_ + 1 == shape_.size()) {
      alongLast();
    } else {
      across();
    }
    std::vector<Line> lines = arrayLines(file_, generator_);
    for (Line& line : generator_.popLines()) lines.push_back(std::move(line));
    return lines;
  }

  [[nodiscard]] Extent units() const {
    const Extent others = fusion::countOf(shape_) / shape_[axis_];
    return vectors_ && axis_ + 1 < shape_.size() ? others / shape_.back() * blocks() : others;
  }

 private:
  [[nodiscard]] Extent block() const { return Extent{context_.settings.unroll} * context_.settings.lanes; }
  [[nodiscard]] Extent blocks() const { return (shape_.back() + block() - 1) / block(); }

  /// The summand at the index whose scanned axis is `k`.
  Value summand(const std::vector<Affine>& index, const Affine& k) {
    std::optional<Value> found;
    generator_.foldHook = [&](semantics::Fold, const tensor::Dim&,
                              const std::function<Value(const Affine&)>& body) -> Value {
      found = body(k);
      throw FoldTaken();
    };
    try {
      generator_.compute(node_, index);
    } catch (const FoldTaken&) {
      generator_.foldHook = nullptr;
    }
    if (!found) throw InternalError("a scan without a fold");
    return *found;
  }

  void storeAll(const std::vector<Affine>& index, const std::string& text, bool vector) {
    const Value value{text, vector, node_->dtype, 0, false};
    for (const int array : context_.targets(anchor_))
      generator_.store(array, fusion::flatten(index, shape_), value, node_);
  }

  /// Shape without the axes given.
  [[nodiscard]] ConcreteShape without(std::vector<std::size_t> axes) const {
    ConcreteShape rest;
    for (std::size_t i = 0; i < shape_.size(); ++i) {
      if (std::find(axes.begin(), axes.end(), i) == axes.end()) rest.push_back(shape_[i]);
    }
    return rest;
  }

  void alongLast() {
    generator_.push();
    const Affine r = generator_.variable("r", 0, units());
    std::vector<Affine> index = fusion::unflatten(generator_.space(), r, without({axis_}));
    const std::string_view type = vectorType(node_->dtype);
    const std::string zero = Generator::identity(semantics::Fold::sum, node_->dtype);
    generator_.add(fmt::format("{} before = splat({});", type, zero), {node_});
    generator_.push();
    index.push_back(generator_.laneVariable("j", 0, shape_.back()));
    const Value value = summand(index, index.back());
    generator_.add(fmt::format("const {} within = prefixSum(keep({}, {}, lanes));", type,
                               generator_.splatText(value), zero),
                   {node_});
    storeAll(index, "before + within", true);
    generator_.add("before = before + lastLane(within);", {node_});
    generator_.pop(lanesHeader(2, "0", std::to_string(shape_.back()), "long j, auto, auto lanes"), "});",
                   {node_});
    generator_.pop("for (long r = begin; r < end; ++r) {");
  }

  void across() {
    auto& space = generator_.space();
    generator_.push();
    const Affine t = generator_.variable("t", 0, units());
    const Affine outer = space.quotient(t, blocks());
    const auto lead = fusion::unflatten(space, outer, without({axis_, shape_.size() - 1}));
    generator_.add(fmt::format("const long j0 = {};", space.text((t - outer * blocks()) * block())));
    const std::string count = countOfBlock(generator_, block(), shape_.back());
    const std::string zero = Generator::identity(semantics::Fold::sum, node_->dtype);
    generator_.add(fmt::format("{} sums[{}] = {{}};", vectorType(node_->dtype), context_.settings.unroll),
                   {node_});
    generator_.push();
    const Affine k = generator_.variable("k", 0, shape_[axis_]);
    generator_.push();
    const Affine lane = generator_.laneVariable("j", 0, shape_.back());
    std::vector<Affine> index = lead;
    index.insert(index.begin() + static_cast<std::ptrdiff_t>(axis_), k);
    index.push_back(lane);
    const Value value = summand(index, k);
    generator_.add(fmt::format("sums[u] = sums[u] + {};", generator_.splatText(value)), {node_});
    storeAll(index, "sums[u]", true);
    generator_.pop(blockHeader(context_.settings.unroll, count, "long j, auto u, auto lanes"), "});",
                   {node_});
    generator_.pop(fmt::format("for (long k = 0; k < {}; ++k) {{", shape_[axis_]));
    generator_.pop("for (long t = begin; t < end; ++t) {");
  }

  void plain() {
    generator_.push();
    const Affine r = generator_.variable("r", 0, units());
    const auto rest = fusion::unflatten(generator_.space(), r, without({axis_}));
    generator_.add(fmt::format("{} sum = {};", scalarType(node_->dtype),
                               Generator::identity(semantics::Fold::sum, node_->dtype)),
                   {node_});
    generator_.push();
    const Affine k = generator_.variable("k", 0, shape_[axis_]);
    std::vector<Affine> index = rest;
    index.insert(index.begin() + static_cast<std::ptrdiff_t>(axis_), k);
    const Value value = summand(index, k);
    generator_.add(fmt::format("sum = sum + {};", value.text), {node_});
    storeAll(index, "sum", false);
    generator_.pop(fmt::format("for (long k = 0; k < {}; ++k) {{", shape_[axis_]));
    generator_.pop("for (long r = begin; r < end; ++r) {");
  }

  const NestContext& context_;
  FileContext& file_;
  const Anchor& anchor_;
  NodeRef node_;
  ConcreteShape shape_;
  std::size_t axis_;
  Generator generator_;
  bool vectors_;
};

}  // namespace

Function scanNest(const NestContext& context, const Nest& nest) {
  return withVectorsIfPossible("it scans over a concatenation's seam", [&](bool vectors) {
    Function function;
    function.nodes = anchorsOf(nest);
    function.work = static_cast<double>(context.file.concrete->count(nest.anchors[0].node)) *
                    (2 + coneWeight(context.file, nest.anchors[0].node));
    ScanPrinter printer(context, nest, vectors);
    function.lines = printer.print();
    function.units = printer.units();
    return function;
  });
}

}  // namespace nuscope::emit
