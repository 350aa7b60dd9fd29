// How the operands of a matrix product are read: in place, or copied (and computed) into panels and rows.
#include <fmt/format.h>

#include "core/emit/contract_printer.h"

namespace nuscope::emit {

using fusion::ContractAxis;
using fusion::ContractForm;

namespace {

constexpr int panelsSideBySide = 8;  ///< that are filled together: a stretch of a row of b for each

}  // namespace

ConcreteShape extentsOf(const std::vector<ContractAxis>& axes) {
  ConcreteShape shape;
  for (const ContractAxis& axis : axes) shape.push_back(axis.extent);
  return shape;
}

ConcreteShape panelBatches(const ContractForm& form) {
  ConcreteShape shape;
  for (const ContractAxis& axis : form.batch) shape.push_back(axis.inB >= 0 ? axis.extent : 1);
  return shape;
}

Extent ContractPrinter::panelUnits() const {
  return fusion::countOf(panelBatches(form_)) * panelsOfBatch();
}

/// The operand is stored, and its position is linear in the two variables.
std::optional<ContractPrinter::Place> ContractPrinter::inPlace(Generator& generator, bool ofA,
                                                               const std::vector<Affine>& batch,
                                                               const Affine& along, const Affine& k) {
  auto& space = generator.space();
  const auto rows = fusion::unflatten(space, along, extentsOf(ofA ? form_.m : form_.n));
  const auto depth = fusion::unflatten(space, k, extentsOf(form_.k));
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
  if (!place || !isTurned(*place)) {
    generator.popLines();
    return false;
  }
  const std::string count = addPanelStart(generator, t);
  generator.add(
      fmt::format("float* const panel = {} + t * {};", nameOf(arrays_.panels), form_.depth() * width),
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

/// `row`, one row of the panel that begins at column j0; what lies beyond the last column is 0.
void ContractPrinter::fillPanelRow(Generator& generator, const std::vector<Affine>& batchIndex,
                                   const Affine& k, const std::string& count) {
  auto& space = generator.space();
  const Extent width = settings_.tileN();
  if (form_.columns() % width != 0)
    generator.add(fmt::format("if ({0} < {1}) zero(row, {1});", count, width));
  generator.push();
  const Affine lane = generator.laneVariable("j", 0, form_.columns());
  const Value value = generator.value(
      form_.b, form_.index(false, batchIndex, {}, fusion::unflatten(space, lane, extentsOf(form_.n)),
                           fusion::unflatten(space, k, extentsOf(form_.k))));
  if (generator.vectors()) {
    generator.add(
        fmt::format("store(row + (j - j0), keep({}, 0.0f, lanes), All());", generator.splatText(value)),
        {form_.b});
    generator.pop(blockHeader(settings_.tileVectors, count, "long j, auto, auto lanes"), "});", {form_.b});
  } else {
    generator.add(fmt::format("row[j - j0] = {};", value.text), {form_.b});
    generator.pop(fmt::format("for (long j = j0; j < j0 + {}; ++j) {{", count), "}", {form_.b});
  }
}

/// Row by row of b, a few panels side by side: whole lines are read, and pages stay known.
void ContractPrinter::packSideBySide(Generator& generator) {
  const Extent width = settings_.tileN();
  generator.push();  // t0
  generator.push();
  const Affine k = generator.variable("k", 0, form_.depth());
  generator.push();
  const Affine t = generator.variable("t", 0, panelUnits());
  const std::vector<Affine> batchIndex = panelBatch(generator, t);
  const std::string count = addPanelStart(generator, t);
  generator.add(fmt::format("float* const row = {} + t * {} + k * {};", nameOf(arrays_.panels),
                            form_.depth() * width, width),
                {form_.b});
  fillPanelRow(generator, batchIndex, k, count);
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

Function ContractPrinter::packPanels(bool vectors) {
  Function function;
  Generator generator(file_, vectors);
  function.units = panelUnits();
  function.work = static_cast<double>(function.units * form_.depth() * settings_.tileN()) *
                  (1 + coneWeight(file_, form_.b));
  if (!packTurned(generator)) packSideBySide(generator);
  finishPacking(function, generator, arrays_.panels, form_.b);
  return function;
}

/// The function's lines; what it copies to is written.
void ContractPrinter::finishPacking(Function& function, Generator& generator, int array, NodeRef operand) {
  generator.use(array);
  function.lines = arrayLines(file_, generator);
  for (Line& line : function.lines) {
    const std::string prefix = "const float* __restrict const " + nameOf(array) + " ";
    if (line.text.starts_with(prefix)) line.text = line.text.substr(6);
  }
  for (Line& line : generator.popLines()) function.lines.push_back(std::move(line));
  function.nodes = {operand};
}

/// `row`, one row of a: its whole depth, or k0 to k1.
void ContractPrinter::fillLeftRow(Generator& generator, const std::vector<Affine>& batchIndex,
                                  const std::vector<Affine>& rowIndex, bool wholeDepth) {
  auto& space = generator.space();
  const std::string from = wholeDepth ? "0" : "k0";
  const std::string to = wholeDepth ? std::to_string(form_.depth()) : "k1";
  generator.push();
  const Affine k = generator.laneVariable("k", 0, form_.depth());
  const Value value = generator.value(
      form_.a, form_.index(true, batchIndex, rowIndex, {}, fusion::unflatten(space, k, extentsOf(form_.k))));
  if (generator.vectors()) {
    generator.add(
        fmt::format("store(row + {}, {}, lanes);", wholeDepth ? "k" : "(k - k0)", generator.splatText(value)),
        {form_.a});
    generator.pop(lanesHeader(2, from, to, "long k, auto, auto lanes"), "});", {form_.a});
  } else {
    generator.add(fmt::format("row[{}] = {};", wholeDepth ? "k" : "k - k0", value.text), {form_.a});
    generator.pop(fmt::format("for (long k = {}; k < {}; ++k) {{", from, to), "}", {form_.a});
  }
}

/// Computes the block's rows of a into the thread's memory.
void ContractPrinter::packRows(Generator& generator, const Affine& batch, const std::string& name) {
  auto& space = generator.space();
  generator.push();
  const Affine m = generator.variable("m", 0, form_.rows());
  const auto batchIndex = fusion::unflatten(space, batch, extentsOf(form_.batch));
  const auto rowIndex = fusion::unflatten(space, m, extentsOf(form_.m));
  generator.add(fmt::format("float* const row = {} + (m - m0) * {};", name, rowStride()), {form_.a});
  fillLeftRow(generator, batchIndex, rowIndex, !isBlocked());
  generator.pop("for (long m = m0; m < m1; ++m) {", "}", {form_.a});
}

/// All rows of a, copied (and computed) once.
Function ContractPrinter::packLeft(bool vectors) {
  Function function;
  Generator generator(file_, vectors);
  auto& space = generator.space();
  function.units = form_.batches() * form_.rows();
  function.work = static_cast<double>(function.units * form_.depth()) * (1 + coneWeight(file_, form_.a));
  generator.push();
  const Affine t = generator.variable("t", 0, function.units);
  const Affine batch = space.quotient(t, form_.rows());
  const auto batchIndex = fusion::unflatten(space, batch, extentsOf(form_.batch));
  const auto rowIndex = fusion::unflatten(space, t - batch * form_.rows(), extentsOf(form_.m));
  generator.add(fmt::format("float* const row = {} + t * {};", nameOf(arrays_.left), leftStride()),
                {form_.a});
  fillLeftRow(generator, batchIndex, rowIndex, true);
  generator.pop("for (long t = begin; t < end; ++t) {");
  finishPacking(function, generator, arrays_.left, form_.a);
  return function;
}

/// The part of the panel that begins at column j0, from k0 to k1, into the thread's memory.
void ContractPrinter::packHere(Generator& generator, const std::vector<Affine>& batchIndex,
                               const std::string& count) {
  auto& space = generator.space();
  const Extent width = settings_.tileN();
  const Affine n = Affine::atom(space.variable("j0", {0, form_.columns() - 1}, generator.depth()));
  const Affine k0 = Affine::atom(space.variable("k0", {0, form_.depth() - 1}, generator.depth()));
  const auto place = inPlace(generator, false, batchIndex, n, k0);
  if (generator.vectors() && form_.depth() >= settings_.lanes && place && isTurned(*place)) {
    if (form_.columns() % width != 0)
      generator.add(fmt::format("if ({} < {}) zero(panel, (k1 - k0) * {});", count, width, width));
    generator.add(fmt::format("packTransposed<{}>({} + {}, {}, {}, k1 - k0, panel);", width,
                              generator.use(place->array), space.text(place->base + n * place->row + k0),
                              place->row, count),
                  {form_.b});
    return;
  }
  generator.push();
  const Affine k = generator.variable("k", 0, form_.depth());
  generator.add(fmt::format("float* const row = panel + (k - k0) * {};", width), {form_.b});
  fillPanelRow(generator, batchIndex, k, count);
  generator.pop("for (long k = k0; k < k1; ++k) {", "}", {form_.b});
}

/// The address of element (k0, j0) of b, whose columns are contiguous; `step`: from row to row.
std::string ContractPrinter::panelInPlace(Generator& generator, const std::vector<Affine>& batchIndex,
                                          Extent& step) {
  auto& space = generator.space();
  const Affine n = Affine::atom(space.variable("j0", {0, form_.columns() - 1}, generator.depth()));
  const Affine k = Affine::atom(space.variable("k0", {0, form_.depth() - 1}, generator.depth()));
  const auto found = inPlace(generator, false, batchIndex, n, k);
  if (!found || found->row != 1) throw InternalError("b is not contiguous, and yet read in place");
  step = found->depth;
  return fmt::format("{} + {}", generator.use(found->array), space.text(found->base + n + k * found->depth));
}

/// How rows of a are read where they are, if they can be.
std::optional<ContractPrinter::Place> ContractPrinter::leftInPlace(Generator& generator,
                                                                   const std::vector<Affine>& batchIndex) {
  generator.push();
  generator.push();
  const Affine m = generator.variable("m", 0, form_.rows());
  const Affine k = Affine::atom(generator.space().variable("k", {0, form_.depth() - 1}, generator.depth()));
  const auto place = inPlace(generator, true, batchIndex, m, k);
  generator.popLines();
  generator.popLines();
  return place;
}

void ContractPrinter::readLeft(Generator& generator, const Place& place, BlockTexts& texts) {
  texts.rowStep = place.row;
  texts.depthStep = place.depth;
  const std::string base = place.base == Affine() ? "" : generator.space().text(place.base) + " + ";
  texts.a = fmt::format("{} + {}mt * {} + k0 * {}", generator.use(place.array), base, place.row, place.depth);
}

}  // namespace nuscope::emit
