// The file as a whole: arrays and their places, one function per nest, and the function that runs them in
// order.
#include "core/emit/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "core/base/process.h"
#include "core/emit/nests.h"

namespace nuscope::emit {

using fusion::Anchor;
using fusion::Destination;
using fusion::Group;
using fusion::Nest;
using fusion::NestKind;
using fusion::Refused;
using fusion::Scope;
using fusion::Storage;

namespace {

std::int64_t parameter(const Parameters& parameters, const char* name, std::int64_t preset) {
  const auto found = parameters.find(name);
  return found == parameters.end() ? preset : found->second;
}

std::vector<std::string> compilerWith(const machine::Target& target, const std::vector<std::string>& words) {
  std::vector<std::string> command = target.compiler;
  command.insert(command.end(), words.begin(), words.end());
  return command;
}

/// Prints the whole file.
class FilePrinter {
 public:
  FilePrinter(const tensor::Program& context, std::span<const NodeRef> results,
              const fusion::Concrete& concrete, const fusion::Plan& plan, const machine::Target& target,
              Parameters parameters, std::string function)
      : context_(context),
        results_(results),
        concrete_(concrete),
        plan_(plan),
        target_(target),
        parameters_(std::move(parameters)) {
    kernel_.name = std::move(function);
    file_.program = &context;
    file_.concrete = &concrete;
    file_.plan = &plan;
    const auto nodes = tensor::topological(results);
    for (std::size_t i = 0; i < nodes.size(); ++i) numbers_[nodes[i]] = static_cast<int>(i) + 1;
    readSettings();
  }

  Kernel print();

 private:
  void readSettings();
  void makeArguments();
  void makeStates(const Scope& scope);
  void makeAnchors(const Scope& scope);
  int addArray(Array array);
  std::vector<int> targetsOf(const Anchor& anchor) const;
  void emitScope(const Scope& scope, int indent);
  void emitGroup(const Scope& scope, const Group& group, int indent);
  void emitLoop(const Nest& nest, int indent);
  /// `before`: what has to run before, and what it is.
  Function functionOf(const NestContext& context, const Nest& nest,
                      std::vector<std::pair<Function, std::string>>& before);
  int addCopy(const std::string& name, const ConcreteShape& shape);
  void addFunction(const Function& function, const std::string& what);
  void call(const std::string& text, int indent, const std::vector<NodeRef>& nodes = {}) {
    calls_.push_back({text, indent, nodes});
  }
  /// Of a node within the variant, from 1: the same in whatever process the text is made. 0: made for
  /// printing.
  [[nodiscard]] int numberOf(NodeRef node) const {
    const auto found = numbers_.find(node);
    return found == numbers_.end() ? 0 : found->second;
  }
  std::string titleOf(const Nest& nest) const;
  void header(std::vector<Line>& lines) const;
  void entry(std::vector<Line>& lines);
  [[nodiscard]] std::string threadsFor(double work) const { return work < 40000 ? "1" : "threads"; }

  const tensor::Program& context_;
  std::span<const NodeRef> results_;
  const fusion::Concrete& concrete_;
  const fusion::Plan& plan_;
  const machine::Target& target_;
  Parameters parameters_;
  Settings settings_;
  FileContext file_;
  Kernel kernel_;
  std::map<std::pair<NodeRef, int>, std::pair<int, int>> states_;  ///< loop, index -> arrays now, next
  std::map<NodeRef, int> numbers_;
  std::vector<int> resultArrays_;
  std::vector<Line> functions_;
  std::vector<Line> calls_;
  std::int64_t sharedBytes_ = 0;
  std::int64_t ownBytes_ = 0;
};

void FilePrinter::readSettings() {
  settings_.lanes = target_.vector.floats();
  const machine::MicroTile& preset = target_.microTiles[0];
  settings_.tileM = static_cast<int>(parameter(parameters_, "tile_m", preset.rows));
  const std::int64_t tileN = parameter(parameters_, "tile_n", std::int64_t{preset.vectors} * settings_.lanes);
  settings_.tileVectors = static_cast<int>(tileN / settings_.lanes);
  settings_.stripM = parameter(parameters_, "strip_m", 96);
  settings_.blockK = parameter(parameters_, "block_k", 512);
  settings_.packA = parameter(parameters_, "pack_a", 1) != 0;
  settings_.packB = parameter(parameters_, "pack_b", 1) != 0;
  settings_.prefetch = static_cast<int>(parameter(parameters_, "prefetch", 0));
  settings_.columnsOutside = parameter(parameters_, "order", 0) != 0;
  settings_.unroll = static_cast<int>(parameter(parameters_, "unroll", 4));
  const bool leaves = tiling::leavesCaches(context_, results_, concrete_, target_);
  settings_.stream = parameter(parameters_, "stream", leaves ? 1 : 0) != 0;
  const auto refuse = [](const std::string& what) { throw Refused{{what, "see the space of the variant"}}; };
  if (settings_.tileM < 1 || settings_.tileM > 32)
    refuse(fmt::format("tile_m = {} is not in 1 .. 32", settings_.tileM));
  if (tileN < settings_.lanes || tileN % settings_.lanes != 0 || settings_.tileVectors > 8) {
    refuse(fmt::format("tile_n = {} is not 1 to 8 vectors of {} floats", tileN, settings_.lanes));
  }
  if (settings_.unroll != 1 && settings_.unroll != 2 && settings_.unroll != 4 && settings_.unroll != 8) {
    refuse(fmt::format("unroll = {} is not 1, 2, 4 or 8", settings_.unroll));
  }
  if (settings_.prefetch < 0 || settings_.prefetch > 256)
    refuse(fmt::format("prefetch = {} is not in 0 .. 256", settings_.prefetch));
  if (settings_.blockK < 1 || settings_.stripM < 1) refuse("block_k and strip_m are at least 1");
  settings_.stripM = (settings_.stripM + settings_.tileM - 1) / settings_.tileM * settings_.tileM;
}

int FilePrinter::addArray(Array array) {
  array.name = file_.globals.fresh(array.name);
  file_.arrays.push_back(std::move(array));
  return static_cast<int>(file_.arrays.size()) - 1;
}

void FilePrinter::makeArguments() {
  const auto check = [&](DType type, const std::string& what) {
    if (!target_.emits(type))
      throw Refused{
          {fmt::format("{} emits no {} ({})", target_.name, tensor::text(type), what), "cast it to f32"}};
  };
  for (const tensor::Parameter& one : context_.parameters) {
    Array array;
    array.name = one.name;
    array.dtype = one.node->dtype;
    array.shape = concrete_.shape(one.node);
    check(array.dtype, "parameter " + one.name);
    kernel_.arguments.push_back({one.name, array.dtype, array.shape, false});
    const int id = addArray(std::move(array));
    kernel_.arguments.back().name = file_.arrays[static_cast<std::size_t>(id)].name;
    file_.arrayOf[one.node] = id;
  }
  for (std::size_t i = 0; i < results_.size(); ++i) {
    Array array;
    array.name = i < context_.resultNames.size() ? context_.resultNames[i] : "result";
    array.dtype = results_[i]->dtype;
    array.shape = concrete_.shape(results_[i]);
    array.written = true;
    array.stream = settings_.stream;
    check(array.dtype, "a result");
    kernel_.arguments.push_back({"", array.dtype, array.shape, true});
    resultArrays_.push_back(addArray(std::move(array)));
    kernel_.arguments.back().name = file_.arrays[static_cast<std::size_t>(resultArrays_.back())].name;
  }
}

/// Two arrays per state of every loop: as it is, and as it will be.
void FilePrinter::makeStates(const Scope& scope) {
  for (const Nest& nest : scope.nests) {
    if (nest.kind != NestKind::loop) continue;
    const NodeRef loop = nest.loop;
    file_.counters[loop->attributes.name] = file_.globals.fresh(loop->attributes.name);
    for (std::size_t i = 0; i < loop->operands.size(); ++i) {
      Array array;
      array.dtype = loop->operands[i]->dtype;
      array.shape = concrete_.shape(loop->operands[i]);
      array.written = true;
      const auto bytes = aligned(fusion::countOf(array.shape) * tensor::byteSize(array.dtype));
      std::pair<int, int> pair;
      for (int* const id : {&pair.first, &pair.second}) {
        array.name = id == &pair.first ? "state" : "next";
        array.offset = sharedBytes_;
        sharedBytes_ += bytes;
        *id = addArray(array);
      }
      states_[{loop, static_cast<int>(i)}] = pair;
    }
    // Leaves of the body, and results outside.
    for (const NodeRef node : tensor::topological(loop->attributes.body)) {
      if (node->op == Op::loopState && node->attributes.name == loop->attributes.name) {
        file_.arrayOf[node] = states_.at({loop, node->attributes.index}).first;
      }
    }
    makeStates(*nest.body);
  }
}

void FilePrinter::makeAnchors(const Scope& scope) {
  for (const Nest& nest : scope.nests) {
    for (const Anchor& anchor : nest.anchors) {
      if (anchor.copy) continue;
      const fusion::Placement& placement = plan_.placements.at(anchor.node);
      switch (placement.storage) {
        case Storage::none:
          break;
        case Storage::result:
          file_.arrayOf[anchor.node] = resultArrays_[static_cast<std::size_t>(placement.index)];
          break;
        case Storage::state:
          file_.arrayOf[anchor.node] = states_.at({placement.loop, placement.index}).second;
          break;
        case Storage::scratch:
        case Storage::strip: {
          Array array;
          array.name = file_.nameOf(anchor.node);
          array.dtype = anchor.node->dtype;
          array.shape = concrete_.shape(anchor.node);
          array.written = true;
          array.strip = placement.storage == Storage::strip;
          array.rows = nest.flat ? 1 : nest.rowCount();
          if (!target_.emits(array.dtype))
            throw Refused{
                {fmt::format("{} emits no {}", target_.name, tensor::text(array.dtype)), "cast it to f32"}};
          if (!array.strip) {
            array.offset = sharedBytes_;
            sharedBytes_ += aligned(fusion::countOf(array.shape) * tensor::byteSize(array.dtype));
          }
          file_.arrayOf[anchor.node] = addArray(std::move(array));
          break;
        }
      }
    }
    if (nest.body) makeAnchors(*nest.body);
  }
}

std::vector<int> FilePrinter::targetsOf(const Anchor& anchor) const {
  std::vector<int> targets;
  for (const Destination& to : anchor.destinations) {
    switch (to.kind) {
      case Destination::Kind::result:
        targets.push_back(resultArrays_[static_cast<std::size_t>(to.index)]);
        break;
      case Destination::Kind::stateStart:
        targets.push_back(states_.at({to.loop, to.index}).first);
        break;
      case Destination::Kind::stateNext:
        targets.push_back(states_.at({to.loop, to.index}).second);
        break;
    }
  }
  if (!anchor.copy) {
    const auto own = file_.arrayOf.find(anchor.node);
    if (own != file_.arrayOf.end() && std::ranges::find(targets, own->second) == targets.end())
      targets.push_back(own->second);
  }
  return targets;
}

std::string FilePrinter::titleOf(const Nest& nest) const {
  std::string ids;
  std::string names;
  for (const Anchor& anchor : nest.anchors) {
    ids += fmt::format("{}{}", ids.empty() ? "" : ", ", numberOf(anchor.node));
    const auto variable = context_.variables.find(anchor.node);
    names += fmt::format("{}{}", names.empty() ? "" : ", then ",
                         anchor.copy ? "copy" : tensor::name(anchor.node->op));
    if (!anchor.copy && variable != context_.variables.end()) names += fmt::format(" ({})", variable->second);
  }
  return fmt::format("{}: {}", ids, names);
}

Function FilePrinter::functionOf(const NestContext& context, const Nest& nest,
                                 std::vector<std::pair<Function, std::string>>& before) {
  switch (nest.kind) {
    case NestKind::row:
      return rowNest(context, nest);
    case NestKind::fold:
      return foldNest(context, nest);
    case NestKind::scan:
      return scanNest(context, nest);
    default:
      break;
  }
  ContractArrays arrays;
  const auto& [a, b] = std::pair(nest.contract->a, nest.contract->b);
  if (context.columnsOutside) {
    if (const auto shape = leftShape(context, nest)) arrays.left = addCopy(file_.nameOf(a) + "_rows", *shape);
  } else if (const auto shape = packedShape(file_, nest, settings_)) {
    arrays.panels = addCopy(file_.nameOf(b) + "_panels", *shape);
  }
  ContractFunctions functions = contractNest(context, nest, arrays);
  const auto add = [&](std::optional<Function>& one, NodeRef operand, const std::string& what) {
    if (!one) return;
    one->name = file_.globals.fresh("pack_" + file_.nameOf(operand));
    before.emplace_back(std::move(*one),
                        fmt::format("{}: {} for {}", numberOf(operand), what, context.title));
  };
  add(functions.panels, b, fmt::format("panels of {} columns", settings_.tileN()));
  add(functions.left, a, "copy");
  return std::move(functions.product);
}

/// In the memory of the call.
int FilePrinter::addCopy(const std::string& name, const ConcreteShape& shape) {
  Array array;
  array.name = name;
  array.shape = shape;
  array.written = true;
  array.offset = sharedBytes_;
  sharedBytes_ += aligned(fusion::countOf(shape) * 4);
  return addArray(std::move(array));
}

void FilePrinter::addFunction(const Function& function, const std::string& what) {
  functions_.push_back({"", 0, {}});
  functions_.push_back({"// " + what, 0, function.nodes});
  if (!function.note.empty()) {
    functions_.push_back({"// Without vectors: " + function.note + ".", 0, {}});
    kernel_.notes.push_back(fmt::format("{} runs without vectors: {}", what, function.note));
    kernel_.withoutVectors.insert(kernel_.withoutVectors.end(), function.nodes.begin(), function.nodes.end());
  }
  const bool own = std::ranges::any_of(
      function.lines, [](const Line& line) { return line.text.find("(own + ") != std::string::npos; });
  functions_.push_back({fmt::format("void {}(const Data& data, char*{}, long begin, long end) {{",
                                    function.name, own ? " own" : ""),
                        0, function.nodes});
  for (const Line& line : function.lines) functions_.push_back({line.text, line.indent + 1, line.nodes});
  const bool past = std::ranges::any_of(function.lines,
                                        [](const Line& line) { return line.text.starts_with("storePast("); });
  if (past) functions_.push_back({"fence();", 1, {}});
  functions_.push_back({"}", 0, {}});
}

void FilePrinter::emitGroup(const Scope& scope, const Group& group, int indent) {
  const Nest& first = scope.nests[static_cast<std::size_t>(group.nests[0])];
  if (first.kind == NestKind::loop) {
    emitLoop(first, indent);
    return;
  }
  std::int64_t own = 0;
  const Extent batchRows = first.rowCount() / group.batches;
  for (const int i : group.nests) {  // strips of intermediates
    for (const Anchor& anchor : scope.nests[static_cast<std::size_t>(i)].anchors) {
      const auto found = file_.arrayOf.find(anchor.node);
      if (anchor.copy || found == file_.arrayOf.end()) continue;
      Array& array = file_.arrays[static_cast<std::size_t>(found->second)];
      if (!array.strip) continue;
      const bool whole = group.nests.size() == 1;
      array.offset = own;
      const Extent rows = whole ? array.rows : std::min(array.rows, settings_.stripM);
      own += aligned(rows * array.width() * tensor::byteSize(array.dtype)) + 64;
    }
  }
  std::vector<Function> functions;
  std::size_t added = 0;
  std::vector<std::pair<Function, std::string>> before;
  for (const int i : group.nests) {
    const Nest& nest = scope.nests[static_cast<std::size_t>(i)];
    const std::string title = titleOf(nest);
    const NestContext context{
        file_, settings_, [this](const Anchor& anchor) { return targetsOf(anchor); },
        own,   batchRows, settings_.columnsOutside && fusion::standsAlone(plan_, scope, group),
        title};
    Function function = functionOf(context, nest, before);
    own += function.ownBytes;
    const Anchor& last = nest.anchors.back();
    function.name = file_.globals.fresh("compute_" + (last.copy ? "copy" : file_.nameOf(last.node)));
    for (; added < before.size(); ++added) addFunction(before[added].first, before[added].second);
    addFunction(function, title);
    functions.push_back(std::move(function));
  }
  ownBytes_ = std::max(ownBytes_, aligned(own));
  for (const auto& [pack, what] : before) {
    call(fmt::format("parallel({}, [&](int part, int parts) {{", threadsFor(pack.work)), indent);
    call(fmt::format("{}(data, nullptr, shareBegin({}, 1, part, parts), shareBegin({}, 1, part + 1, parts));",
                     pack.name, pack.units, pack.units),
         indent + 1, pack.nodes);
    call("});", indent);
  }
  double work = 0;
  Extent unit = 1;
  bool strips = group.nests.size() > 1;
  for (const Function& function : functions) {
    work += function.work;
    unit = std::max(unit, function.unit);
  }
  strips = strips || (first.kind == NestKind::contract && !functions[0].byColumns);
  call(fmt::format("parallel({}, [&](int part, int parts) {{", threadsFor(work)), indent);
  if (strips) {
    call(fmt::format("forStrips({}, {}, {}, {}, part, parts, [&](long begin, long end) {{", group.batches,
                     batchRows, unit, std::max(unit, settings_.stripM / unit * unit)),
         indent + 1);
    for (const Function& function : functions) {
      call(fmt::format("{}(data, own + part * ownBytes, begin, end);", function.name), indent + 2,
           function.nodes);
    }
    call("});", indent + 1);
  } else {
    call(fmt::format("{}(data, own + part * ownBytes, shareBegin({}, {}, part, parts), shareBegin({}, {}, "
                     "part + 1, parts));",
                     functions[0].name, functions[0].units, unit, functions[0].units, unit),
         indent + 1, functions[0].nodes);
  }
  call("});", indent);
}

void FilePrinter::emitLoop(const Nest& nest, int indent) {
  const NodeRef loop = nest.loop;
  const std::string counter = file_.counters.at(loop->attributes.name);
  call(fmt::format("for (data.{} = 0; data.{} < {}; ++data.{}) {{  // {}: loop", counter, counter,
                   concrete_.value(loop->attributes.shape[0]), counter, numberOf(loop)),
       indent, {loop});
  emitScope(*nest.body, indent + 1);
  for (std::size_t i = 0; i < loop->operands.size(); ++i) {
    const auto [now, next] = states_.at({loop, static_cast<int>(i)});
    call(fmt::format("swap(data.{}, data.{});", file_.arrays[static_cast<std::size_t>(now)].name,
                     file_.arrays[static_cast<std::size_t>(next)].name),
         indent + 1);
  }
  call("}", indent);
}

void FilePrinter::emitScope(const Scope& scope, int indent) {
  for (const Group& group : scope.groups) emitGroup(scope, group, indent);
}

void FilePrinter::header(std::vector<Line>& lines) const {
  const auto line = [&](const std::string& text) { lines.push_back({text, 0, {}}); };
  line(fmt::format("// {} for {}, emitted by Nuscope.", context_.name, target_.name));
  for (const Argument& argument : kernel_.arguments) {
    std::string shape;
    for (const auto extent : argument.shape) shape += (shape.empty() ? "" : ", ") + std::to_string(extent);
    line(fmt::format("//   {} {}: {}[{}]", argument.output ? "out" : "in ", argument.name,
                     tensor::text(argument.dtype), shape));
  }
  line("// " + tiling::text(kernel_.parameters));
  line(fmt::format("#define NUSCOPE_LANES {}", settings_.lanes));
  line("#include \"nuscope_runtime.h\"");
  line("");
  line("namespace nuscope {");
  line("namespace {");
  line("");
  line("// Everything the loops read and write.");
  line("struct Data {");
  for (const Array& array : file_.arrays) {
    if (array.strip) continue;
    std::string shape;
    for (const Extent extent : array.shape) shape += (shape.empty() ? "" : " x ") + std::to_string(extent);
    lines.push_back({fmt::format("{}{}* {};{}", array.written ? "" : "const ", arrayType(array.dtype),
                                 array.name, shape.empty() ? "" : "  // " + shape),
                     1,
                     {}});
  }
  for (const auto& [symbol, field] : file_.counters) lines.push_back({fmt::format("long {};", field), 1, {}});
  line("};");
}

void FilePrinter::entry(std::vector<Line>& lines) {
  const auto line = [&](int indent, const std::string& text) { lines.push_back({text, indent, {}}); };
  std::string signature;
  for (const Argument& argument : kernel_.arguments) {
    signature +=
        fmt::format("{}{}* {}, ", argument.output ? "" : "const ", cType(argument.dtype), argument.name);
  }
  line(0, "");
  line(0, fmt::format("extern \"C\" void {}({}int threads) {{", kernel_.name, signature));
  line(1, "if (threads < 1) threads = 1;");
  const std::int64_t shared = aligned(sharedBytes_);
  if (ownBytes_ > 0) line(1, fmt::format("constexpr long ownBytes = {};  // per thread", ownBytes_));
  if (shared > 0 || ownBytes_ > 0) {
    line(1,
         fmt::format("const Scratch scratch({}{});", shared, ownBytes_ > 0 ? " + threads * ownBytes" : ""));
  }
  if (ownBytes_ > 0) {
    line(1, fmt::format("char* const own = scratch.data() + {};", shared));
  } else {
    line(1, "constexpr long ownBytes = 0;");
    line(1, "char* const own = nullptr;");
  }
  line(1, "Data data{};");
  for (const Array& array : file_.arrays) {
    if (array.strip) continue;
    if (array.offset < 0) {
      line(1, fmt::format("data.{} = {};", array.name, array.name));
    } else {
      line(1, fmt::format("data.{} = ({}*)(scratch.data() + {});", array.name, arrayType(array.dtype),
                          array.offset));
    }
  }
  for (Line& one : calls_) {
    ++one.indent;
    lines.push_back(std::move(one));
  }
  line(0, "}");
}

Kernel FilePrinter::print() {
  kernel_.parameters = parameters_;
  for (const auto& [name, value] : std::initializer_list<std::pair<const char*, std::int64_t>>{
           {"tile_m", settings_.tileM},
           {"tile_n", settings_.tileN()},
           {"strip_m", settings_.stripM},
           {"block_k", settings_.blockK},
           {"pack_a", settings_.packA ? 1 : 0},
           {"pack_b", settings_.packB ? 1 : 0},
           {"prefetch", settings_.prefetch},
           {"order", settings_.columnsOutside ? 1 : 0},
           {"unroll", settings_.unroll},
           {"stream", settings_.stream ? 1 : 0},
           {"fuse", parameter(parameters_, "fuse", 2)}}) {
    kernel_.parameters[name] = value;
  }
  file_.globals.take(kernel_.name);
  file_.globals.take("ownBytes");
  makeArguments();
  makeStates(plan_.top);
  makeAnchors(plan_.top);
  for (const NodeRef node : tensor::topological(results_)) {
    if (node->op == Op::loopResult)
      file_.arrayOf[node] = states_.at({node->operands[0], node->attributes.index}).first;
    if (!target_.emits(node->dtype))
      throw Refused{
          {fmt::format("{} emits no {}: {}", target_.name, tensor::text(node->dtype), tensor::describe(node)),
           "cast to f32"}};
  }
  emitScope(plan_.top, 0);
  std::vector<Line> lines;
  header(lines);
  lines.insert(lines.end(), std::make_move_iterator(functions_.begin()),
               std::make_move_iterator(functions_.end()));
  lines.push_back({"", 0, {}});
  lines.push_back({"}  // namespace", 0, {}});
  entry(lines);
  lines.push_back({"", 0, {}});
  lines.push_back({"}  // namespace nuscope", 0, {}});
  int number = 0;
  for (const Line& line : lines) {
    ++number;
    kernel_.text += line.text.empty()
                        ? "\n"
                        : std::string(static_cast<std::size_t>(line.indent) * 2, ' ') + line.text + "\n";
    if (!line.nodes.empty()) kernel_.nodesOfLine[number] = line.nodes;
  }
  kernel_.scratchBytes = aligned(sharedBytes_) + ownBytes_;
  kernel_.compileCommand =
      compilerWith(target_, {"-fno-exceptions", "-shared", "-fPIC", "-I" + runtimeFolder(), "{source}", "-o",
                             "{output}", "-lm", "-pthread"});
  return std::move(kernel_);
}

}  // namespace

std::string_view cType(DType type) {
  return arrayType(type);
}

std::string functionName(const tensor::Program& program) {
  return "nuscope_" + identifier(program.name.empty() ? "kernel" : program.name);
}

std::string runtimeFolder() {
  if (const char* set = std::getenv("NUSCOPE_RUNTIME"); set != nullptr && *set != '\0') return set;
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path installed =
      fs::path(executablePath()).parent_path().parent_path() / "share" / "nuscope" / "runtime";
  if (fs::is_directory(installed, error)) return installed.string();
  return NUSCOPE_RUNTIME_SOURCE;
}

std::string runtimeObject() {
  return "// Threads and memory of kernels that are compiled with NUSCOPE_RUNTIME_APART.\n"
         "#define NUSCOPE_RUNTIME_OBJECT\n#include \"nuscope_runtime.h\"\n";
}

std::vector<std::string> objectCommand(const machine::Target& target) {
  return compilerWith(
      target, {"-fno-exceptions", "-fPIC", "-I" + runtimeFolder(), "-c", "{source}", "-o", "{output}"});
}

/// Of the standard libraries a kernel needs those of C alone, and most of the time of linking goes into the
/// others; sanitizers bring more.
std::vector<std::string> compileApart(const machine::Target& target) {
  std::vector<std::string> command = compilerWith(
      target, {"-fno-exceptions", "-shared", "-fPIC", "-DNUSCOPE_RUNTIME_APART", "-I" + runtimeFolder(),
               "{source}", std::string(runtimeObjectName), "-o", "{output}"});
  const bool sanitized = std::ranges::any_of(
      target.compiler, [](const std::string& word) { return word.starts_with("-fsanitize"); });
  const std::vector<std::string> libraries =
      sanitized ? std::vector<std::string>{"-lm", "-pthread"}
                : std::vector<std::string>{"-nodefaultlibs", "-lm", "-lc", "-lgcc"};
  command.insert(command.end(), libraries.begin(), libraries.end());
  return command;
}

Result<Kernel> emitHost(const tensor::Program& context, std::span<const NodeRef> results,
                        const tensor::Extents& extents, const machine::Target& target,
                        const Parameters& parameters, const std::string& function) {
  try {
    std::vector<NodeRef> roots(results.begin(), results.end());
    for (const tensor::Parameter& one : context.parameters) roots.push_back(one.node);
    const fusion::Concrete concrete(context, roots, extents);
    fusion::PlanOptions options;
    options.fuse = static_cast<int>(parameter(parameters, "fuse", 2));
    const fusion::Plan plan = fusion::planOf(concrete, results, options);
    return FilePrinter(context, results, concrete, plan, target, parameters,
                       function.empty() ? functionName(context) : function)
        .print();
  } catch (const Refused& refused) {
    return refused.refusal;
  }
}

}  // namespace nuscope::emit
