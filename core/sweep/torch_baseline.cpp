#include "core/sweep/torch_baseline.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <unordered_map>

#include "core/base/diagnostics.h"
#include "core/base/files.h"
#include "core/base/process.h"
#include "core/sweep/arrays.h"

namespace nuscope::sweep {
namespace {

using tensor::DType;
using tensor::Node;
using tensor::NodeRef;
using tensor::Op;

constexpr const char* driver = R"(
import ctypes, json, sys, time
try:
    import torch
except Exception as error:
    print(json.dumps({"absent": "it has no torch: %s" % error}))
    sys.exit(0)

def load(file, dtype, shape):
    data = bytearray(open(file, "rb").read())
    return torch.frombuffer(data, dtype=getattr(torch, dtype)).reshape(shape).clone()

def main():
    job = json.load(open(sys.argv[1]))
    torch.set_num_threads(job["threads"])
    torch.set_grad_enabled(False)
    first = None
    for draw in job["draws"]:
        inputs = [load(*x) for x in draw["inputs"]]
        if first is None:
            first = inputs
        results = f(*inputs)
        for file, result in zip(draw["outputs"], results):
            with open(file, "wb") as out:
                result = result.contiguous()
                out.write(ctypes.string_at(result.data_ptr(), result.numel() * result.element_size()))
    samples = []
    for _ in range(3):
        f(*first)
    end = time.perf_counter() + job["seconds"]
    while len(samples) < job["most"] and (len(samples) < 7 or time.perf_counter() < end):
        start = time.perf_counter()
        f(*first)
        samples.append(time.perf_counter() - start)
    print(json.dumps({"version": torch.__version__, "samples": samples}))

main()
)";

std::string torchType(DType type) {
  switch (type) {
    case DType::f64:
      return "float64";
    case DType::f32:
      return "float32";
    case DType::f16:
      return "float16";
    case DType::bf16:
      return "bfloat16";
    case DType::i32:
      return "int32";
    case DType::i8:
      return "int8";
    case DType::boolean:
      return "bool";
  }
  return {};
}

std::string tuple(const std::vector<std::int64_t>& values) {
  return fmt::format("({}{})", fmt::join(values, ", "), values.size() == 1 ? "," : "");
}

class TorchPrinter {
 public:
  TorchPrinter(const tensor::Program& program, const tensor::Extents& extents)
      : program_(program), extents_(extents) {}

  Result<std::string> print() {
    std::vector<std::string> names;
    for (const auto& parameter : program_.parameters) {
      name_[parameter.node] = "in_" + parameter.name;
      names.push_back("in_" + parameter.name);
    }
    std::string body;
    for (const NodeRef node : tensor::topological(program_.results)) {
      if (name_.contains(node)) continue;
      if (tensor::kind(node->op) == tensor::OpKind::loop || node->op == Op::loopState) {
        return Refusal{"loops over symbolic ranges are not translated to torch", ""};
      }
      const std::string name = fmt::format("v{}", name_.size());
      body += fmt::format("    {} = {}\n", name, expression(*node));
      name_[node] = name;
    }
    std::string results;
    for (const NodeRef result : program_.results) results += name_.at(result) + ", ";
    return fmt::format("import torch\n\ndef f({}):\n{}    return ({})\n", fmt::join(names, ", "), body,
                       results);
  }

 private:
  [[nodiscard]] const std::string& operand(const Node& node, std::size_t i) const {
    return name_.at(node.operands[i]);
  }
  [[nodiscard]] std::string shape(const tensor::Shape& s) const {
    return tuple(tensor::evaluate(s, extents_));
  }

  [[nodiscard]] std::string constant(const Node& node) const {
    std::string value = fmt::format("{:.17g}", node.attributes.value.get_d());
    if (node.attributes.infinity != 0)
      value = node.attributes.infinity < 0 ? "float('-inf')" : "float('inf')";
    return fmt::format("torch.tensor({}, dtype=torch.{})", value, torchType(node.dtype));
  }

  [[nodiscard]] std::string elementwise(const Node& node) const {
    static const std::unordered_map<Op, const char*> functions{{Op::exp, "exp"},
                                                               {Op::log, "log"},
                                                               {Op::sqrt, "sqrt"},
                                                               {Op::tanh, "tanh"},
                                                               {Op::sin, "sin"},
                                                               {Op::cos, "cos"},
                                                               {Op::abs, "abs"},
                                                               {Op::sign, "sign"},
                                                               {Op::floor, "floor"},
                                                               {Op::rint, "round"},
                                                               {Op::logicalNot, "logical_not"},
                                                               {Op::negate, "neg"},
                                                               {Op::add, "add"},
                                                               {Op::subtract, "sub"},
                                                               {Op::multiply, "mul"},
                                                               {Op::divide, "div"},
                                                               {Op::floorDivide, "floor_divide"},
                                                               {Op::modulo, "remainder"},
                                                               {Op::maximum, "maximum"},
                                                               {Op::minimum, "minimum"},
                                                               {Op::less, "lt"},
                                                               {Op::lessEqual, "le"},
                                                               {Op::greater, "gt"},
                                                               {Op::greaterEqual, "ge"},
                                                               {Op::equal, "eq"},
                                                               {Op::notEqual, "ne"},
                                                               {Op::logicalAnd, "logical_and"},
                                                               {Op::logicalOr, "logical_or"},
                                                               {Op::where, "where"}};
    if (node.op == Op::cast) return fmt::format("{}.to(torch.{})", operand(node, 0), torchType(node.dtype));
    if (node.op == Op::power) return fmt::format("{} ** {}", operand(node, 0), node.attributes.index);
    return fmt::format("torch.{}({})", functions.at(node.op), operands(node));
  }

  [[nodiscard]] std::string operands(const Node& node) const {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < node.operands.size(); ++i) all.push_back(operand(node, i));
    return fmt::format("{}", fmt::join(all, ", "));
  }

  [[nodiscard]] std::string reduce(const Node& node) const {
    const std::string axes = fmt::format("({}{})", fmt::join(node.attributes.axes, ", "),
                                         node.attributes.axes.size() == 1 ? "," : "");
    const char* keep = node.attributes.keepDims ? "True" : "False";
    if (node.op == Op::product || node.op == Op::all) {  // one axis at a time, the last first
      std::string value = operand(node, 0);
      for (auto axis = node.attributes.axes.rbegin(); axis != node.attributes.axes.rend(); ++axis) {
        value =
            fmt::format("{}.{}(dim={}, keepdim={})", value, node.op == Op::all ? "all" : "prod", *axis, keep);
      }
      return value;
    }
    const char* name = node.op == Op::max    ? "amax"
                       : node.op == Op::min  ? "amin"
                       : node.op == Op::mean ? "mean"
                                             : "sum";
    const std::string type = node.op == Op::sum ? fmt::format(", dtype=torch.{}", torchType(node.dtype)) : "";
    return fmt::format("torch.{}({}, dim={}, keepdim={}{})", name, operand(node, 0), axes, keep, type);
  }

  [[nodiscard]] std::string layout(const Node& node) const {
    const auto& at = node.attributes;
    switch (node.op) {
      case Op::transpose:
        return fmt::format("{}.permute({})", operand(node, 0), fmt::join(at.axes, ", "));
      case Op::broadcastTo:
        return fmt::format("{}.expand({})", operand(node, 0), shape(node.shape));
      case Op::concatenate:
        return fmt::format("torch.cat([{}], dim={})", operands(node), at.axes[0]);
      case Op::repeat:
        return fmt::format("torch.repeat_interleave({}, {}, dim={})", operand(node, 0),
                           at.shape[0].evaluate(extents_), at.axes[0]);
      case Op::take: {
        std::string index;
        for (int i = 0; i < at.axes[0]; ++i) index += ":, ";
        return fmt::format("{}[{}{}.long()]", operand(node, 0), index, operand(node, 1));
      }
      case Op::slice: {
        std::vector<std::string> ranges;
        for (std::size_t i = 0; i < at.starts.size(); ++i) {
          ranges.push_back(
              fmt::format("{}:{}", at.starts[i].evaluate(extents_), at.stops[i].evaluate(extents_)));
        }
        return fmt::format("{}[{}]", operand(node, 0), fmt::join(ranges, ", "));
      }
      default:
        return fmt::format("{}.reshape({})", operand(node, 0), shape(node.shape));
    }
  }

  [[nodiscard]] std::string expression(const Node& node) const {
    switch (tensor::kind(node.op)) {
      case tensor::OpKind::leaf:
        if (node.op == Op::constant) return constant(node);
        if (node.op == Op::arange) {
          return fmt::format("torch.arange({}, dtype=torch.{})", node.shape[0].evaluate(extents_),
                             torchType(node.dtype));
        }
        return fmt::format("torch.tensor({}, dtype=torch.{})", node.attributes.shape[0].evaluate(extents_),
                           torchType(node.dtype));
      case tensor::OpKind::elementwise:
        return elementwise(node);
      case tensor::OpKind::reduce:
        return reduce(node);
      case tensor::OpKind::scan:
        return fmt::format("torch.cumsum({}, dim={})", operand(node, 0), node.attributes.axes[0]);
      case tensor::OpKind::contract:
        if (node.op == Op::einsum)
          return fmt::format("torch.einsum('{}', {})", node.attributes.name, operands(node));
        return fmt::format("torch.matmul({})", operands(node));
      case tensor::OpKind::layout:
        return layout(node);
      case tensor::OpKind::loop:
        break;
    }
    throw InternalError("torch: an operator without a kind");
  }

  const tensor::Program& program_;
  const tensor::Extents& extents_;
  std::unordered_map<NodeRef, std::string> name_;
};

/// A private folder, gone with the object.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "nuscope-torch-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw EnvironmentError("no temporary folder for torch");
    path = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::filesystem::path path;
};

void writeJob(const std::filesystem::path& folder, const tensor::Program& program,
              const std::vector<Reference>& references, int threads) {
  nlohmann::json draws = nlohmann::json::array();
  for (std::size_t d = 0; d < references.size(); ++d) {
    nlohmann::json inputs = nlohmann::json::array();
    for (const auto& parameter : program.parameters) {
      const auto& value = references[d].inputs.at(parameter.name);
      const auto file = folder / fmt::format("d{}_{}", d, parameter.name);
      writeWholeFile(file, encodeArray(value.values, value.dtype));
      inputs.push_back({file.string(), torchType(value.dtype), value.shape});
    }
    nlohmann::json outputs = nlohmann::json::array();
    for (std::size_t r = 0; r < references[d].results.size(); ++r)
      outputs.push_back((folder / fmt::format("d{}_out{}", d, r)).string());
    draws.push_back({{"inputs", inputs}, {"outputs", outputs}});
  }
  writeWholeFile(
      folder / "job.json",
      nlohmann::json{{"threads", threads}, {"seconds", 1.0}, {"most", 60}, {"draws", draws}}.dump());
}

void judge(Entrant& entrant, const std::filesystem::path& folder, const std::vector<Reference>& references) {
  for (std::size_t d = 0; d < references.size(); ++d) {
    std::vector<std::vector<double>> actual;
    for (std::size_t r = 0; r < references[d].results.size(); ++r) {
      std::ostringstream bytes;
      bytes << std::ifstream(folder / fmt::format("d{}_out{}", d, r), std::ios::binary).rdbuf();
      actual.push_back(decodeArray(bytes.str(), references[d].results[r].dtype));
      if (actual.back().size() != references[d].results[r].expected.size())
        throw EnvironmentError("torch gave a result of another size");
    }
    addDraw(entrant.measurement.gate, compareDraw(references[d], actual));
  }
}

void take(Entrant& entrant, const Finished& finished, const std::filesystem::path& folder,
          const std::vector<Reference>& references, int threads) {
  entrant.record.state = CandidateState::failed;
  if (finished.timedOut || !finished.end.success()) {
    const std::string& errors = finished.errors;
    entrant.record.reason =
        finished.timedOut
            ? "torch did not end in time"
            : fmt::format("python ended with {}: {}", finished.end.text(),
                          errors.substr(errors.size() - std::min<std::size_t>(errors.size(), 500)));
    return;
  }
  const auto reply = nlohmann::json::parse(finished.output);
  if (reply.contains("absent")) {
    entrant.record.state = CandidateState::skipped;
    entrant.record.reason = reply.at("absent").get<std::string>();
    return;
  }
  entrant.record.label = fmt::format("torch {} eager, {} thread{}", reply.at("version").get<std::string>(),
                                     threads, threads == 1 ? "" : "s");
  judge(entrant, folder, references);
  Measurement& m = entrant.measurement;
  m.samples = reply.at("samples").get<std::vector<double>>();
  const MedianInterval interval = medianInterval(m.samples);
  m.median = interval.median;
  m.low = interval.low;
  m.high = interval.high;
  m.confidence = interval.confidence;
  m.date = utcNow();
  entrant.toolchain = entrant.record.label;
  entrant.record.state = m.gate.passed ? CandidateState::measured : CandidateState::wrong;
  entrant.record.reason = m.gate.passed ? "" : m.gate.text;
}

}  // namespace

Result<std::string> torchProgram(const tensor::Program& program, const tensor::Extents& extents) {
  return TorchPrinter(program, extents).print();
}

Entrant runTorch(const std::string& python, const tensor::Program& program, const tensor::Extents& extents,
                 const std::vector<Reference>& references, int threads, double gateFactor,
                 double limitSeconds, const Progress& progress) {
  Entrant entrant;
  entrant.record.kind = CandidateKind::baseline;
  entrant.record.label = fmt::format("torch eager, {} thread{}", threads, threads == 1 ? "" : "s");
  entrant.record.state = CandidateState::skipped;
  entrant.measurement.gate.factor = gateFactor;
  entrant.measurement.gate.accumulation = tensor::text(accumulationOf(program));
  const auto text = torchProgram(program, extents);
  if (!text) {
    entrant.record.reason = text.refusal().message;
    return entrant;
  }
  entrant.record.kernel = textHash(*text);
  try {
    const Folder folder;
    writeWholeFile(folder.path / "run.py", *text + driver);
    writeJob(folder.path, program, references, threads);
    ProcessOptions options;
    options.arguments = {python, "run.py", "job.json"};
    options.directory = folder.path.string();
    options.environment = {fmt::format("OMP_NUM_THREADS={}", threads),
                           fmt::format("MKL_NUM_THREADS={}", threads)};
    const auto limit = std::chrono::milliseconds(static_cast<std::int64_t>(limitSeconds * 1000));
    const Finished finished = runProcess(options, "", limit, progress.stopToken());
    if (finished.cancelled) throw Cancelled{};
    take(entrant, finished, folder.path, references, threads);
  } catch (const std::exception& error) {
    entrant.record.reason = error.what();
  }
  return entrant;
}

}  // namespace nuscope::sweep
