// A matrix product on blocks: panels of b, as wide as the register block, are copied once; blocks of rows of
// a are read in place, or copied (and computed) as they are needed; what follows from the product is computed
// while storing.
#include <fmt/format.h>

#include <algorithm>

#include "core/emit/nests.h"

namespace nuscope::emit {

using fusion::Anchor;
using fusion::ContractAxis;
using fusion::ContractForm;
using fusion::Nest;

namespace {

constexpr int panelsSideBySide = 8;  ///< that are filled together: a stretch of a row of b for each

ConcreteShape extents(const std::vector<ContractAxis>& axes) {
  ConcreteShape shape;
  for (const ContractAxis& axis : axes) shape.push_back(axis.extent);
  return shape;
}

/// Where b's panels of a batch are: batches that b does not distinguish share them.
ConcreteShape panelBatches(const ContractForm& form) {
  ConcreteShape shape;
  for (const ContractAxis& axis : form.batch) shape.push_back(axis.inB >= 0 ? axis.extent : 1);
  return shape;
}

class ContractPrinter {
 public:
  ContractPrinter(const NestContext& context, const Nest& nest, int packed)
      : context_(context),
        file_(context.file),
        settings_(context.settings),
        nest_(nest),
        form_(*nest.contract),
        packed_(packed) {}

  Function pack(bool vectors);
  Function product(bool vectors);

 private:
  struct Index {
    std::vector<Affine> batch, m, n, k;
  };
  /// Address of an operand's element as base + i * row + k * depth, if it is that.
  struct Place {
    int array = -1;
    Affine base;
    std::int64_t row = 0, depth = 0;
  };
  std::optional<Place> inPlace(Generator& generator, bool ofA, const std::vector<Affine>& batch,
                               const Affine& along, const Affine& k);

  Index indexOf(Generator& generator, const Affine& batch, const Affine& m, const Affine& n,
                const Affine& k) const {
    auto& space = generator.space();
    return {fusion::unflatten(space, batch, extents(form_.batch)),
            fusion::unflatten(space, m, extents(form_.m)), fusion::unflatten(space, n, extents(form_.n)),
            fusion::unflatten(space, k, extents(form_.k))};
  }
  [[nodiscard]] Extent panelsOfBatch() const {
    return (form_.columns() + settings_.tileN() - 1) / settings_.tileN();
  }
  [[nodiscard]] Extent panelUnits() const { return fusion::countOf(panelBatches(form_)) * panelsOfBatch(); }
  [[nodiscard]] const std::string& panelsName() const {
    return file_.arrays[static_cast<std::size_t>(packed_)].name;
  }
  std::string addPanelStart(Generator& generator, const Affine& t);
  std::vector<Affine> panelBatch(Generator& generator, const Affine& t) const;
  bool packTurned(Generator& generator);
  void packSideBySide(Generator& generator);
  void packRows(Generator& generator, const Affine& batch, const std::string& name);
  void epilogue(Generator& generator, const Affine& batch, bool direct);
  [[nodiscard]] bool isLight() const;
  [[nodiscard]] int sumsInResult() const;

  const NestContext& context_;
  FileContext& file_;
  const Settings& settings_;
  const Nest& nest_;
  const ContractForm& form_;
  int packed_;
};

/// The operand is stored, and its position is linear in the two variables.
std::optional<ContractPrinter::Place> ContractPrinter::inPlace(Generator& generator, bool ofA,
                                                               const std::vector<Affine>& batch,
                                                               const Affine& along, const Affine& k) {
  auto& space = generator.space();
  const auto rows = fusion::unflatten(space, along, extents(ofA ? form_.m : form_.n));
  const auto depth = fusion::unflatten(space, k, extents(form_.k));
  const NodeRef operand = ofA ? form_.a : form_.b;
  std::optional<fusion::Access> only;
  bool direct = true;
  fusion::AccessDomain domain(*file_.concrete, space,
                              [&](NodeRef node) { return file_.arrayOf.contains(node); });
  // Through layout operators only: anything else would have to be computed.
  NodeRef at = operand;
  while (!file_.arrayOf.contains(at)) {
    const bool moves =
        tensor::kind(at->op) == tensor::OpKind::layout && at->op != Op::take && at->op != Op::concatenate;
    if (!moves) return std::nullopt;
    at = at->operands[0];
  }
  domain.element(
      operand, ofA ? form_.index(true, batch, rows, {}, depth) : form_.index(false, batch, {}, rows, depth));
  if (domain.accesses.size() != 1 || !direct) return std::nullopt;
  const fusion::Access& access = domain.accesses[0];
  if (access.node->dtype != DType::f32) return std::nullopt;
  Place place;
  place.array = file_.arrayOf.at(access.node);
  Affine position =
      generator.position(place.array, fusion::flatten(access.index, file_.concrete->shape(access.node)));
  const auto take = [&](const Affine& variable) {
    std::int64_t coefficient = 0;
    for (const auto& [id, one] : variable.terms) {
      coefficient = position.coefficient(id);
      position.terms.erase(id);
    }
    return coefficient;
  };
  place.row = take(along);
  place.depth = take(k);
  for (const auto& [id, coefficient] : position.terms) {  // nothing may hide a variable
    const fusion::Atom& atom = space.atom(id);
    if (atom.kind != fusion::Atom::Kind::variable && atom.depth >= generator.depth()) return std::nullopt;
  }
  place.base = position;
  return place;
}

/// Panels whose rows of b are contiguous along the depth: they are turned in registers, one panel after the
/// other. False: b is not stored like that, and nothing was printed.
bool ContractPrinter::packTurned(Generator& generator) {
  if (!generator.vectors() || form_.depth() < settings_.lanes) return false;
  auto& space = generator.space();
  const Extent width = settings_.tileN();
  generator.push();
  const Affine t = generator.variable("t", 0, panelUnits());
  const std::vector<Affine> batchIndex = panelBatch(generator, t);
  const Affine n = Affine::atom(space.variable("j0", {0, form_.columns() - 1}, generator.depth() + 1));
  const Affine k = Affine::atom(space.variable("k", {0, form_.depth() - 1}, generator.depth() + 1));
  generator.push();
  const auto place = inPlace(generator, false, batchIndex, n, k);
  generator.popLines();
  if (!place || place->depth != 1 || place->row == 1) {
    generator.popLines();
    return false;
  }
  const std::string count = addPanelStart(generator, t);
  generator.add(fmt::format("float* const panel = {} + t * {};", panelsName(), form_.depth() * width),
                {form_.b});
  if (form_.columns() % width != 0)
    generator.add(fmt::format("if ({} < {}) zero(panel, {});", count, width, form_.depth() * width));
  generator.add(
      fmt::format("packTransposed<{}>({} + {}, {}, {}, {}, panel);", width, generator.use(place->array),
                  space.text(place->base + n * place->row), place->row, count, form_.depth()),
      {form_.b});
  generator.pop("for (long t = begin; t < end; ++t) {");
  return true;
}

/// Row by row of b, a few panels side by side: whole lines are read, and pages stay known.
void ContractPrinter::packSideBySide(Generator& generator) {
  auto& space = generator.space();
  const Extent width = settings_.tileN();
  generator.push();  // t0
  generator.push();
  const Affine k = generator.variable("k", 0, form_.depth());
  generator.push();
  const Affine t = generator.variable("t", 0, panelUnits());
  const std::vector<Affine> batchIndex = panelBatch(generator, t);
  const std::string count = addPanelStart(generator, t);
  generator.add(
      fmt::format("float* const row = {} + t * {} + k * {};", panelsName(), form_.depth() * width, width),
      {form_.b});
  if (form_.columns() % width != 0)
    generator.add(fmt::format("if ({0} < {1}) zero(row, {1});", count, width));
  generator.push();
  const Affine lane = generator.laneVariable("j", 0, form_.columns());
  const Value value = generator.value(
      form_.b, form_.index(false, batchIndex, {}, fusion::unflatten(space, lane, extents(form_.n)),
                           fusion::unflatten(space, k, extents(form_.k))));
  if (generator.vectors()) {
    generator.add(
        fmt::format("store(row + (j - j0), keep({}, 0.0f, lanes), All());", generator.splatText(value)),
        {form_.b});
    generator.pop(blockHeader(settings_.tileVectors, count, "long j, auto, auto lanes"), "});", {form_.b});
  } else {
    generator.add(fmt::format("row[j - j0] = {};", value.text), {form_.b});
    generator.pop(fmt::format("for (long j = j0; j < j0 + {}; ++j) {{", count), "}", {form_.b});
  }
  generator.pop(fmt::format("for (long t = t0; t < min(t0 + {}, end); ++t) {{", panelsSideBySide));
  generator.pop(fmt::format("for (long k = 0; k < {}; ++k) {{", form_.depth()), "}", {form_.b});
  generator.pop(fmt::format("for (long t0 = begin; t0 < end; t0 += {}) {{", panelsSideBySide));
}

/// Defines j0, the panel's first column; how many columns it has.
std::string ContractPrinter::addPanelStart(Generator& generator, const Affine& t) {
  auto& space = generator.space();
  const Affine panel = t - space.quotient(t, panelsOfBatch()) * panelsOfBatch();
  generator.add(fmt::format("const long j0 = {};", space.text(panel * settings_.tileN())));
  return countOfBlock(generator, settings_.tileN(), form_.columns());
}

std::vector<Affine> ContractPrinter::panelBatch(Generator& generator, const Affine& t) const {
  auto& space = generator.space();
  return fusion::unflatten(space, space.quotient(t, panelsOfBatch()), panelBatches(form_));
}

Function ContractPrinter::pack(bool vectors) {
  Function function;
  Generator generator(file_, vectors);
  function.units = panelUnits();
  function.work = static_cast<double>(function.units * form_.depth() * settings_.tileN()) *
                  (1 + coneWeight(file_, form_.b));
  if (!packTurned(generator)) packSideBySide(generator);
  generator.use(packed_);
  function.lines = arrayLines(file_, generator);
  for (Line& line : function.lines) {  // the panels are written
    const std::string prefix = "const float* __restrict const " + panelsName() + " ";
    if (line.text.starts_with(prefix)) line.text = line.text.substr(6);
  }
  for (Line& line : generator.popLines()) function.lines.push_back(std::move(line));
  function.nodes = {form_.b};
  return function;
}

/// Computes the block's rows of a into the thread's memory.
void ContractPrinter::packRows(Generator& generator, const Affine& batch, const std::string& name) {
  auto& space = generator.space();
  const Extent depth = std::min(settings_.blockK, form_.depth());
  const Extent stride = depth + settings_.lanes;  // rows do not fall on the same cache sets
  generator.push();
  const Affine m = generator.variable("m", 0, form_.rows());
  const auto batchIndex = fusion::unflatten(space, batch, extents(form_.batch));
  const auto rowIndex = fusion::unflatten(space, m, extents(form_.m));
  generator.push();
  const Affine k = generator.laneVariable("k", 0, form_.depth());
  const Value value = generator.value(
      form_.a, form_.index(true, batchIndex, rowIndex, {}, fusion::unflatten(space, k, extents(form_.k))));
  if (generator.vectors()) {
    generator.add(fmt::format("store({} + (m - m0) * {} + (k - k0), {}, lanes);", name, stride,
                              generator.splatText(value)),
                  {form_.a});
    const bool blocked = settings_.blockK < form_.depth();
    generator.pop(lanesHeader(2, blocked ? "k0" : "0", blocked ? "k1" : std::to_string(form_.depth()),
                              "long k, auto, auto lanes"),
                  "});", {form_.a});
  } else {
    generator.add(fmt::format("{}[(m - m0) * {} + (k - k0)] = {};", name, stride, value.text), {form_.a});
    generator.pop("for (long k = k0; k < k1; ++k) {", "}", {form_.a});
  }
  generator.pop("for (long m = m0; m < m1; ++m) {", "}", {form_.a});
}

/// Everything that follows from the product, for one row of a register block.
/// `direct`: from the registers of the block; else from its copy in memory.
void ContractPrinter::epilogue(Generator& generator, const Affine& batch, bool direct) {
  auto& space = generator.space();
  const NodeRef main = nest_.anchors[0].node;
  const Extent columns = form_.columns();
  generator.push();  // the loop over rows of the block
  generator.add("const long m = mt + i;");
  const Affine m = generator.variable("m", 0, form_.rows());
  generator.push();
  const Affine lane = generator.laneVariable("j", 0, columns);
  const Affine flat = (batch * form_.rows() + m) * columns + lane;
  const auto index = fusion::unflatten(space, flat, file_.concrete->shape(main));
  std::optional<Value> sum;
  generator.override = [&](NodeRef node, std::span<const Affine>) -> std::optional<Value> {
    if (node != main) return std::nullopt;
    if (!sum) {
      sum = direct ? Value{"c[i][v]", true, DType::f32, generator.depth(), false}
            : generator.vectors()
                ? generator.define("load(sums + i * width + (j - j0), All())", DType::f32, true,
                                   generator.depth(), main)
                : generator.define("sums[i * width + (j - j0)]", DType::f32, false, generator.depth(), main);
    }
    return sum;
  };
  // The product is read as itself, not from its array.
  generator.remember(main, index, *generator.override(main, index));
  for (const Anchor& anchor : nest_.anchors) {
    const Value value = anchor.node == main ? *sum
                        : anchor.copy       ? generator.value(anchor.node, index)
                                            : generator.compute(anchor.node, index);
    for (const int array : context_.targets(anchor)) generator.store(array, flat, value, anchor.node);
  }
  generator.override = nullptr;
  const auto nodes = anchorsOf(nest_);
  if (generator.vectors()) {
    const Extent tile = settings_.tileN();
    const std::string count = columns % tile == 0 ? std::to_string(tile)
                              : columns < tile    ? std::to_string(columns)
                                                  : fmt::format("min({}L, {} - j0)", tile, columns);
    generator.pop(blockHeader(settings_.tileVectors, count,
                              direct ? "long j, auto v, auto lanes" : "long j, auto, auto lanes"),
                  "});", nodes);
  } else {
    generator.pop(fmt::format("for (long j = j0; j < min(j0 + {}, {}L); ++j) {{", settings_.tileN(), columns),
                  "}", nodes);
  }
  if (direct) {
    generator.pop("forNumbers<R>([&](auto i) NUSCOPE_INLINE {", "});", nodes);
  } else {
    generator.pop("for (long i = 0; i < R; ++i) {", "}", nodes);
  }
}

/// Whether what follows from the product is so little that it may be printed once per register.
bool ContractPrinter::isLight() const {
  double weight = 0;
  for (const Anchor& anchor : nest_.anchors) {
    if (anchor.role != fusion::Role::main) weight += coneWeight(file_, anchor.node, true);
  }
  return weight <= 6;
}

/// The array in which sums over blocks of the depth may grow: the product goes there as it is, in whole
/// register blocks, and nowhere else. -1: there is none.
int ContractPrinter::sumsInResult() const {
  if (nest_.anchors.size() != 1 || form_.columns() % settings_.tileN() != 0) return -1;
  const std::vector<int> targets = context_.targets(nest_.anchors[0]);
  if (targets.size() != 1) return -1;
  return file_.arrays[static_cast<std::size_t>(targets[0])].dtype == DType::f32 ? targets[0] : -1;
}

Function ContractPrinter::product(bool vectors) {
  Function function;
  Generator generator(file_, vectors);
  auto& space = generator.space();
  const Extent rows = form_.rows();
  const Extent columns = form_.columns();
  const Extent depth = form_.depth();
  const Extent width = settings_.tileN();
  const Extent panels = (columns + width - 1) / width;
  const Extent blockK = std::min(settings_.blockK, depth);
  const bool blocked = blockK < depth;
  const bool direct = vectors && !blocked && isLight();
  const int inResult = blocked ? sumsInResult() : -1;
  const Extent strip = settings_.stripM;
  function.units = nest_.rowCount();
  function.unit = settings_.tileM;
  function.work = 2.0 * static_cast<double>(nest_.rowCount()) * static_cast<double>(columns) *
                  static_cast<double>(depth) / settings_.lanes;
  function.nodes = anchorsOf(nest_);

  const Affine begin = Affine::atom(space.variable("begin", {0, nest_.rowCount() - 1}, 0));
  generator.setStripBegin(begin);
  const bool batched = form_.batches() > 1;
  if (batched) {
    generator.add(
        fmt::format("const long batch = begin / {}, m0 = begin % {}, m1 = m0 + (end - begin);", rows, rows));
  } else {
    generator.add("const long m0 = begin, m1 = end;");
  }
  const Affine batch =
      batched ? Affine::atom(space.variable("batch", {0, form_.batches() - 1}, 0)) : Affine();
  const auto batchIndex = fusion::unflatten(space, batch, extents(form_.batch));

  // How a is read.
  std::optional<Place> place;
  {
    generator.push();
    generator.push();
    const Affine m = generator.variable("m", 0, rows);
    const Affine k = Affine::atom(space.variable("k", {0, depth - 1}, generator.depth()));
    place = inPlace(generator, true, batchIndex, m, k);
    generator.popLines();
    generator.popLines();
  }
  const bool packs = settings_.packA || !place;
  const std::int64_t packedBytes =
      packs ? aligned((strip + settings_.tileM) * (blockK + settings_.lanes) * 4) : 0;
  const std::int64_t sumBytes =
      blocked && inResult < 0 ? aligned((strip + settings_.tileM) * (panels * width + 16) * 4) : 0;
  function.ownBytes = packedBytes + sumBytes;
  std::int64_t own = context_.ownOffset;
  const std::string rowsName = generator.fresh(file_.nameOf(form_.a) + "_rows");
  if (packs) generator.add(fmt::format("float* const {} = (float*)(own + {});", rowsName, own), {form_.a});
  own += packedBytes;
  if (sumBytes > 0)
    generator.add(fmt::format("float* const partial = (float*)(own + {});", own), function.nodes);

  generator.push();  // blocks of the depth
  if (blocked) {
    generator.add(fmt::format("const long k1 = min(k0 + {}, {}L);", blockK, depth));
  } else {
    generator.add(fmt::format("constexpr long k0 = 0, k1 = {};", depth));
  }
  if (packs) packRows(generator, batch, rowsName);

  // Panels of b.
  generator.push();
  std::string panel;
  Extent stepB = width;
  if (packed_ >= 0) {
    std::vector<Affine> own1;
    const ConcreteShape batches = panelBatches(form_);
    std::vector<Affine> index;
    for (std::size_t i = 0; i < batches.size(); ++i)
      index.push_back(batches[i] == 1 ? Affine() : batchIndex[i]);
    const Affine at = fusion::flatten(index, batches) * (panels * depth * width);
    panel = fmt::format("{} + {}j0 * {} + k0 * {}", generator.use(packed_),
                        at == Affine() ? "" : space.text(at) + " + ", depth, width);
  } else {
    const Affine n = Affine::atom(space.variable("j0", {0, columns - 1}, generator.depth()));
    const Affine k = Affine::atom(space.variable("k0", {0, depth - 1}, generator.depth()));
    const auto found = inPlace(generator, false, batchIndex, n, k);
    if (!found || found->row != 1) throw InternalError("b is not contiguous, and yet read in place");
    stepB = found->depth;
    panel =
        fmt::format("{} + {}", generator.use(found->array), space.text(found->base + n + k * found->depth));
  }
  generator.add(fmt::format("const float* const panel = {};", panel), {form_.b});

  // One register block.
  generator.push();
  generator.add("constexpr int R = count;");
  generator.add(fmt::format("F c[R][{}] = {{}};", settings_.tileVectors), function.nodes);
  std::string a;
  std::int64_t rowStep = 0;
  std::int64_t depthStep = 1;
  if (packs) {
    rowStep = blockK + settings_.lanes;
    a = fmt::format("{} + (mt - m0) * {}", rowsName, rowStep);
  } else {
    rowStep = place->row;
    depthStep = place->depth;
    const std::string base = place->base == Affine() ? "" : space.text(place->base) + " + ";
    a = fmt::format("{} + {}mt * {} + k0 * {}", generator.use(place->array), base, rowStep, depthStep);
  }
  if (blocked) {
    generator.add(fmt::format("constexpr long width = {};", inResult >= 0 ? columns : panels * width + 16));
    if (inResult >= 0) {
      const Affine mt = Affine::atom(space.variable("mt", {0, rows - 1}, generator.depth()));
      const Affine j0 = Affine::atom(space.variable("j0", {0, columns - 1}, generator.depth()));
      const Affine at = generator.position(inResult, (batch * rows + mt) * columns + j0);
      generator.add(
          fmt::format("float* const sums = {} + {};", generator.useWritten(inResult), space.text(at)),
          function.nodes);
    } else {
      generator.add("float* const sums = partial + (mt - m0) * width + j0;");
    }
    generator.add(fmt::format("if (k0 > 0) fetchBlock<R, {}>(sums, width);", settings_.tileVectors));
  } else if (!direct) {
    generator.add(fmt::format("constexpr long width = {};", width));
    generator.add(fmt::format("alignas(64) float sums[R * width];"));
  }
  generator.add(fmt::format("multiply<R, {}, {}, {}, {}, {}>({}, panel, k1 - k0, c);", settings_.tileVectors,
                            rowStep, depthStep, stepB, settings_.prefetch, a),
                function.nodes);
  if (blocked)
    generator.add(fmt::format("if (k0 > 0) addBlock<R, {}>(sums, width, c);", settings_.tileVectors));
  if (!direct) generator.add(fmt::format("storeBlock<R, {}>(c, sums, width);", settings_.tileVectors));
  if (inResult >= 0) {
    // What was stored last is the product.
  } else if (blocked) {
    generator.push();
    epilogue(generator, batch, false);
    generator.pop(fmt::format("if (k1 == {}) {{", depth));
  } else {
    epilogue(generator, batch, direct);
  }
  generator.pop("const auto block = [&](auto count, long mt) NUSCOPE_INLINE {", "};", function.nodes);
  const Extent rest = context_.batchRows % settings_.tileM;
  generator.add("long mt = m0;");
  if (context_.batchRows >= settings_.tileM) {
    generator.add(fmt::format("for (; mt + {} <= m1; mt += {}) block(Number<{}>(), mt);", settings_.tileM,
                              settings_.tileM, settings_.tileM),
                  function.nodes);
  }
  if (rest != 0) generator.add(fmt::format("if (mt < m1) block(Number<{}>(), mt);", rest), function.nodes);
  generator.pop(fmt::format("for (long j0 = 0; j0 < {}; j0 += {}) {{", columns, width), "}", function.nodes);
  if (blocked) {
    generator.pop(fmt::format("for (long k0 = 0; k0 < {}; k0 += {}) {{", depth, blockK), "}", function.nodes);
  } else {
    const auto lines = generator.popLines();
    generator.append(lines, 0);
  }
  function.lines = arrayLines(file_, generator);
  for (Line& line : generator.popLines()) function.lines.push_back(std::move(line));
  return function;
}

}  // namespace

std::optional<ConcreteShape> packedShape(const FileContext& file, const Nest& nest,
                                         const Settings& settings) {
  const ContractForm& form = *nest.contract;
  const Extent width = settings.tileN();
  if (!settings.packB && form.columns() % width == 0) {
    // Only a stored operand whose columns are contiguous.
    const bool plain = file.arrayOf.contains(form.b) && form.b->dtype == DType::f32;
    const bool lastColumn = form.n.size() == 1 && form.n[0].inB + 1 == static_cast<int>(form.rankB);
    if (plain && lastColumn && form.k.size() == 1) return std::nullopt;
  }
  ConcreteShape shape = panelBatches(form);
  shape.push_back((form.columns() + width - 1) / width);
  shape.push_back(form.depth());
  shape.push_back(width);
  return shape;
}

ContractFunctions contractNest(const NestContext& context, const Nest& nest, int packed) {
  ContractFunctions functions;
  ContractPrinter printer(context, nest, packed);
  if (packed >= 0)
    functions.pack = withVectorsIfPossible("an operand of the product is a concatenation",
                                           [&](bool vectors) { return printer.pack(vectors); });
  functions.product = withVectorsIfPossible("an operand of the product is a concatenation",
                                            [&](bool vectors) { return printer.product(vectors); });
  return functions;
}

}  // namespace nuscope::emit
