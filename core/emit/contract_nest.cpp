// A matrix product on register blocks: panels of b, as wide as a block, are copied, or read in place; rows of
// a likewise; what follows from the product is computed while storing. See contract_printer.h.
#include <fmt/format.h>

#include <algorithm>

#include "core/emit/contract_printer.h"

namespace nuscope::emit {

using fusion::Anchor;
using fusion::ContractForm;
using fusion::Nest;

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

/// Opens the loop over blocks of the depth, k0 to k1.
void ContractPrinter::addDepthBlock(Generator& generator) {
  generator.push();
  if (isBlocked()) {
    generator.add(fmt::format("const long k1 = min(k0 + {}, {}L);", blockK(), form_.depth()));
  } else {
    generator.add(fmt::format("constexpr long k0 = 0, k1 = {};", form_.depth()));
  }
}

void ContractPrinter::closeDepthBlock(Generator& generator, const std::vector<NodeRef>& nodes) {
  if (isBlocked()) {
    generator.pop(fmt::format("for (long k0 = 0; k0 < {}; k0 += {}) {{", form_.depth(), blockK()), "}",
                  nodes);
  } else {
    const auto lines = generator.popLines();
    generator.append(lines, 0);
  }
}

/// Rows m0 to m1 of the panel, block by block.
void ContractPrinter::registerBlocks(Generator& generator, const Affine& batch, const BlockTexts& texts) {
  auto& space = generator.space();
  const auto nodes = anchorsOf(nest_);
  const bool direct = isDirect(generator);
  const int inResult = isBlocked() ? sumsInResult() : -1;
  const int vectors = settings_.tileVectors;
  generator.push();
  generator.add("constexpr int R = count;");
  generator.add(fmt::format("F c[R][{}] = {{}};", vectors), nodes);
  if (isBlocked()) {
    generator.add(
        fmt::format("constexpr long width = {};", inResult >= 0 ? form_.columns() : texts.sumsWidth));
    std::string sums = texts.sums;
    if (inResult >= 0) {
      const Affine mt = Affine::atom(space.variable("mt", {0, form_.rows() - 1}, generator.depth()));
      const Affine j0 = Affine::atom(space.variable("j0", {0, form_.columns() - 1}, generator.depth()));
      const Affine at = generator.position(inResult, (batch * form_.rows() + mt) * form_.columns() + j0);
      sums = fmt::format("{} + {}", generator.useWritten(inResult), space.text(at));
    }
    generator.add(fmt::format("float* const sums = {};", sums), nodes);
    generator.add(fmt::format("if (k0 > 0) fetchBlock<R, {}>(sums, width);", vectors));
  } else if (!direct) {
    generator.add(fmt::format("constexpr long width = {};", settings_.tileN()));
    generator.add("alignas(64) float sums[R * width];");
  }
  generator.add(fmt::format("multiply<R, {}, {}, {}, {}, {}>({}, panel, k1 - k0, c);", vectors, texts.rowStep,
                            texts.depthStep, texts.stepB, settings_.prefetch, texts.a),
                nodes);
  if (isBlocked()) generator.add(fmt::format("if (k0 > 0) addBlock<R, {}>(sums, width, c);", vectors));
  if (!direct) generator.add(fmt::format("storeBlock<R, {}>(c, sums, width);", vectors));
  if (inResult >= 0) {
    // What was stored last is the product.
  } else if (isBlocked()) {
    generator.push();
    epilogue(generator, batch, false);
    generator.pop(fmt::format("if (k1 == {}) {{", form_.depth()));
  } else {
    epilogue(generator, batch, direct);
  }
  generator.pop("const auto block = [&](auto count, long mt) NUSCOPE_INLINE {", "};", nodes);
  const Extent rest = context_.batchRows % settings_.tileM;
  generator.add("long mt = m0;");
  if (context_.batchRows >= settings_.tileM) {
    generator.add(fmt::format("for (; mt + {} <= m1; mt += {}) block(Number<{}>(), mt);", settings_.tileM,
                              settings_.tileM, settings_.tileM),
                  nodes);
  }
  if (rest != 0) generator.add(fmt::format("if (mt < m1) block(Number<{}>(), mt);", rest), nodes);
}

double ContractPrinter::productWork() const {
  return 2.0 * static_cast<double>(nest_.rowCount()) * static_cast<double>(form_.columns()) *
         static_cast<double>(form_.depth()) / settings_.lanes;
}

/// Strips of rows outside: each copies its rows of a, and meets all panels.
Function ContractPrinter::byRows(bool vectors) {
  Function function;
  Generator generator(file_, vectors);
  auto& space = generator.space();
  const Extent rows = form_.rows();
  const Extent columns = form_.columns();
  const Extent width = settings_.tileN();
  const Extent panels = panelsOfBatch();
  function.units = nest_.rowCount();
  function.unit = settings_.tileM;
  function.work = productWork();
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
  const auto batchIndex = fusion::unflatten(space, batch, extentsOf(form_.batch));

  const std::optional<Place> place = leftInPlace(generator, batchIndex);
  const bool packs = settings_.packA || !place;
  const std::int64_t packedBytes =
      packs ? aligned((settings_.stripM + settings_.tileM) * rowStride() * 4) : 0;
  const std::int64_t sumBytes =
      isBlocked() && sumsInResult() < 0
          ? aligned((settings_.stripM + settings_.tileM) * (panels * width + 16) * 4)
          : 0;
  function.ownBytes = packedBytes + sumBytes;
  const std::int64_t own = context_.ownOffset;
  const std::string rowsName = generator.fresh(file_.nameOf(form_.a) + "_rows");
  if (packs) generator.add(fmt::format("float* const {} = (float*)(own + {});", rowsName, own), {form_.a});
  if (sumBytes > 0)
    generator.add(fmt::format("float* const partial = (float*)(own + {});", own + packedBytes),
                  function.nodes);

  addDepthBlock(generator);
  if (packs) packRows(generator, batch, rowsName);
  generator.push();  // panels
  BlockTexts texts;
  texts.stepB = width;
  std::string panel;
  if (arrays_.panels >= 0) {
    const ConcreteShape batches = panelBatches(form_);
    std::vector<Affine> index;
    for (std::size_t i = 0; i < batches.size(); ++i)
      index.push_back(batches[i] == 1 ? Affine() : batchIndex[i]);
    const Affine at = fusion::flatten(index, batches) * (panels * form_.depth() * width);
    panel = fmt::format("{} + {}j0 * {} + k0 * {}", generator.use(arrays_.panels),
                        at == Affine() ? "" : space.text(at) + " + ", form_.depth(), width);
  } else {
    panel = panelInPlace(generator, batchIndex, texts.stepB);
  }
  generator.add(fmt::format("const float* const panel = {};", panel), {form_.b});
  if (packs) {
    texts.rowStep = rowStride();
    texts.a = fmt::format("{} + (mt - m0) * {}", rowsName, texts.rowStep);
  } else {
    readLeft(generator, *place, texts);
  }
  texts.sums = "partial + (mt - m0) * width + j0";
  texts.sumsWidth = panels * width + 16;
  registerBlocks(generator, batch, texts);
  generator.pop(fmt::format("for (long j0 = 0; j0 < {}; j0 += {}) {{", columns, width), "}", function.nodes);
  closeDepthBlock(generator, function.nodes);
  function.lines = arrayLines(file_, generator);
  for (Line& line : generator.popLines()) function.lines.push_back(std::move(line));
  return function;
}

/// Panels outside: each is copied here, and all rows meet it. Units are panels of all batches.
Function ContractPrinter::byColumns(bool vectors) {
  Function function;
  Generator generator(file_, vectors);
  auto& space = generator.space();
  const Extent rows = form_.rows();
  const Extent width = settings_.tileN();
  const bool batched = form_.batches() > 1;
  function.byColumns = true;
  function.units = form_.batches() * panelsOfBatch();
  function.work = productWork();
  function.nodes = anchorsOf(nest_);
  const bool copies = packedShape(file_, nest_, settings_).has_value();
  const std::int64_t panelBytes = copies ? aligned(blockK() * width * 4) : 0;
  const std::int64_t sumBytes = isBlocked() && sumsInResult() < 0 ? aligned((rows + 1) * width * 4) : 0;
  function.ownBytes = panelBytes + sumBytes;
  if (copies)
    generator.add(fmt::format("float* const panel = (float*)(own + {});", context_.ownOffset), {form_.b});
  if (sumBytes > 0) {
    generator.add(fmt::format("float* const partial = (float*)(own + {});", context_.ownOffset + panelBytes),
                  function.nodes);
  }
  generator.add(fmt::format("constexpr long m0 = 0, m1 = {};", rows));

  generator.push();  // panels
  const Affine t = generator.variable("t", 0, function.units);
  if (batched) generator.add(fmt::format("const long batch = t / {};", panelsOfBatch()));
  const Affine batch =
      batched ? Affine::atom(space.variable("batch", {0, form_.batches() - 1}, generator.depth())) : Affine();
  const auto batchIndex = fusion::unflatten(space, batch, extentsOf(form_.batch));
  const std::string count = addPanelStart(generator, t);
  addDepthBlock(generator);
  BlockTexts texts;
  texts.stepB = width;
  if (copies) {
    packHere(generator, batchIndex, count);
  } else {
    const std::string panel = panelInPlace(generator, batchIndex, texts.stepB);
    generator.add(fmt::format("const float* const panel = {};", panel), {form_.b});
  }
  if (arrays_.left >= 0) {
    const Affine at = batch * (rows * leftStride());
    texts.rowStep = leftStride();
    texts.a = fmt::format("{} + {}mt * {} + k0", generator.use(arrays_.left),
                          at == Affine() ? "" : space.text(at) + " + ", texts.rowStep);
  } else {
    const auto place = leftInPlace(generator, batchIndex);
    if (!place) throw InternalError("a is not stored in rows, and yet read in place");
    readLeft(generator, *place, texts);
  }
  texts.sums = "partial + mt * width";
  texts.sumsWidth = width;
  registerBlocks(generator, batch, texts);
  closeDepthBlock(generator, function.nodes);
  generator.pop("for (long t = begin; t < end; ++t) {", "}", function.nodes);
  function.lines = arrayLines(file_, generator);
  for (Line& line : generator.popLines()) function.lines.push_back(std::move(line));
  return function;
}

/// Whether rows of a are copied where columns are outside.
bool ContractPrinter::copiesLeft() {
  if (settings_.packA) return true;
  Generator generator(file_, true);
  generator.push();
  auto& space = generator.space();
  const Affine batch =
      form_.batches() > 1 ? Affine::atom(space.variable("batch", {0, form_.batches() - 1}, generator.depth()))
                          : Affine();
  return !leftInPlace(generator, fusion::unflatten(space, batch, extentsOf(form_.batch)));
}

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

std::optional<ConcreteShape> leftShape(const NestContext& context, const Nest& nest) {
  const ContractForm& form = *nest.contract;
  if (!ContractPrinter(context, nest, {}).copiesLeft()) return std::nullopt;
  return ConcreteShape{form.batches() * form.rows(), form.depth() + context.settings.lanes};
}

ContractFunctions contractNest(const NestContext& context, const Nest& nest, const ContractArrays& arrays) {
  ContractFunctions functions;
  ContractPrinter printer(context, nest, arrays);
  const auto print = [&](Function (ContractPrinter::*one)(bool)) {
    return withVectorsIfPossible("an operand of the product is a concatenation",
                                 [&](bool vectors) { return (printer.*one)(vectors); });
  };
  if (arrays.panels >= 0) functions.panels = print(&ContractPrinter::packPanels);
  if (arrays.left >= 0) functions.left = print(&ContractPrinter::packLeft);
  functions.product = print(context.columnsOutside ? &ContractPrinter::byColumns : &ContractPrinter::byRows);
  return functions;
}

}  // namespace nuscope::emit
