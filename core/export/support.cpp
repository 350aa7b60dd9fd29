// What surrounds the C++: build, manifest, README, data.
#include "core/export/support.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/sweep/npz.h"

#ifndef NUSCOPE_VERSION
#define NUSCOPE_VERSION "0.1.0"
#endif

namespace nuscope::exporting {
namespace {

using nlohmann::json;

/// One word of a shell command.
std::string shellWord(const std::string& text) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=+,:@%";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string shellWords(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shellWord(word);
  return line;
}

/// Flags of a target without the program.
std::vector<std::string> flagsOf(const machine::Target& target) {
  return {target.compiler.begin() + 1, target.compiler.end()};
}

std::vector<std::string> plainFlags(const sweep::PlainKernel& plain) {
  std::vector<std::string> flags;
  for (std::size_t i = 1; i < plain.command.size(); ++i) {
    const std::string& word = plain.command[i];
    if (word == "{source}" || word == "{output}" || word == "-o" || word == "-shared" || word == "-fPIC" ||
        word == "-ldl")
      continue;
    flags.push_back(word);
  }
  return flags;
}

json measuredJson(const Chosen& kernel) {
  if (!kernel.measurement) return nullptr;
  const sweep::Measurement& m = *kernel.measurement;
  json baselines = json::array();
  for (const auto& [label, other] : kernel.baselines)
    baselines.push_back(
        {{"label", label}, {"median_s", other.median}, {"low_s", other.low}, {"high_s", other.high}});
  const auto& gate = m.gate;
  return {
      {"median_s", m.median},
      {"low_s", m.low},
      {"high_s", m.high},
      {"confidence", m.confidence},
      {"samples", m.samples.size()},
      {"threads", m.key.threads},
      {"device", m.key.device},
      {"toolchain", m.key.toolchain},
      {"date", m.date},
      {"gate",
       {{"draws", gate.draws.size()},
        {"factor", gate.factor},
        {"worst_error_over_bound",
         gate.worst >= 0 ? json(gate.draws[static_cast<std::size_t>(gate.worst)].ratio) : json(nullptr)}}},
      {"baselines", std::move(baselines)}};
}

json stepsJson(const Chosen& kernel) {
  json steps = json::array();
  for (const StepLine& step : kernel.steps) {
    steps.push_back({{"from", step.from},
                     {"to", step.to},
                     {"what", step.what},
                     {"verdict", step.proved ? "proved" : "recorded"},
                     {"holds_for", step.holdsFor},
                     {"why_not", step.why}});
  }
  return steps;
}

json argumentsJson(const Contents& contents, bool outputs) {
  const tensor::Program& program = contents.choice.program;
  const auto& all = contents.choice.kernels[0].kernel.arguments;
  json list = json::array();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].output != outputs) continue;
    const std::size_t inputs = program.parameters.size();
    const tensor::Shape& shape =
        i < inputs ? program.parameters[i].node->shape : program.results[i - inputs]->shape;
    json dims = json::array();
    for (const tensor::Dim& dim : shape) dims.push_back(dim.text());
    list.push_back({{"name", all[i].name},
                    {"dtype", tensor::text(all[i].dtype)},
                    {"shape", all[i].shape},
                    {"dims", std::move(dims)}});
  }
  return list;
}

json assertsJson(const Asserts& asserts) {
  json list = json::array();
  for (const AssertLine& one : asserts.lines) {
    const char* when = one.when == AssertLine::When::extents ? "extents"
                       : one.when == AssertLine::When::call  ? "call"
                                                             : "never";
    list.push_back({{"text", one.text}, {"checked", when}, {"why_not", one.why}});
  }
  return list;
}

/// Expected values and bounds as float64 arrays; NaN where an element is undefined or undecided.
semantics::TensorValue wide(const sweep::Reference::Result& result, const std::vector<double>& values) {
  semantics::TensorValue value{tensor::DType::f64, result.shape, values};
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (result.state[i] != 0) value.values[i] = std::nan("");
  }
  return value;
}

std::string sourcesOf(const Contents& contents) {
  std::string sources;
  for (std::size_t i = 0; i < contents.choice.kernels.size(); ++i)
    sources += (i == 0 ? "" : " ") + sourceName(i);
  return sources;
}

}  // namespace

std::string sourceName(std::size_t kernel) {
  return kernel == 0 ? "kernel.cpp" : fmt::format("kernel_{}.cpp", kernel + 1);
}

std::vector<std::string> checkedSources(const Contents& contents) {
  std::vector<std::string> sources{"check.cpp"};
  if (contents.asserts.code) sources.emplace_back("asserts.cpp");
  if (contents.general) sources.emplace_back("general.cpp");
  return sources;
}

std::string libraryName(const Contents& contents) {
  return "lib" + contents.function + ".so";
}

std::string compileCommand(const Contents& contents) {
  return fmt::format("{} -shared -fPIC {} {} -o {} -lm -pthread", shellWords(contents.choice.target.compiler),
                     sourcesOf(contents), fmt::join(checkedSources(contents), " "), libraryName(contents));
}

std::string cmakeText(const Contents& contents) {
  const std::string& f = contents.function;
  std::string text = fmt::format(R"(# The kernel as a shared library, its test and its bench.
#   cmake -B build && cmake --build build && ctest --test-dir build && ./build/bench
# In another project: add_subdirectory(this folder) and link to {0}.
cmake_minimum_required(VERSION 3.16)
project({0} LANGUAGES CXX)
find_package(Threads REQUIRED)

add_library({0} SHARED {1} {2})
target_include_directories({0} PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})
target_link_libraries({0} PRIVATE Threads::Threads m)
# The kernels need these flags; what checks the call runs on any processor.
set_source_files_properties({1} PROPERTIES COMPILE_OPTIONS "{3}")
set_source_files_properties({2} PROPERTIES COMPILE_OPTIONS "-std=c++17;-O3;-ffp-contract=fast;-fwrapv")

)",
                                 f, sourcesOf(contents), fmt::join(checkedSources(contents), " "),
                                 fmt::join(flagsOf(contents.choice.target), ";"));
  // Test and bench only where this folder is the project.
  text +=
      "if(CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR)\n  enable_testing()\n  add_executable(bench "
      "bench/bench.cpp";
  std::string options;
  bool openmp = false;
  for (std::size_t i = 0; i < contents.choice.kernels.size(); ++i) {
    const auto& plain = contents.choice.kernels[i].plain;
    if (!plain) continue;
    const std::string name = fmt::format("bench/plain_{}.cpp", i + 1);
    text += " " + name;
    const auto flags = plainFlags(*plain);
    for (const std::string& flag : flags) openmp = openmp || flag == "-fopenmp";
    options += fmt::format("  set_source_files_properties({} PROPERTIES COMPILE_OPTIONS \"{}\")\n", name,
                           fmt::join(flags, ";"));
  }
  text += ")\n  # The plain loops as the study compiled them.\n" + options;
  text += fmt::format(
      "  set_source_files_properties(bench/bench.cpp PROPERTIES COMPILE_OPTIONS \"-std=c++17;-O2\")\n"
      "  target_compile_definitions(bench PRIVATE NUSCOPE_FOLDER=\"${{CMAKE_CURRENT_SOURCE_DIR}}\")\n"
      "  target_link_libraries(bench PRIVATE {} m{})\n  add_test(NAME bench_check COMMAND bench "
      "--check)\nendif()\n",
      f, openmp ? " -fopenmp" : "");
  return text;
}

std::map<std::string, std::string> dataFiles(const Contents& contents) {
  std::map<std::string, std::string> files;
  const tensor::Program& program = contents.choice.program;
  for (std::size_t i = 0; i < contents.choice.kernels.size(); ++i) {
    const Chosen& one = contents.choice.kernels[i];
    const std::string folder = fmt::format("data/{}/", i + 1);
    const std::size_t inputs = program.parameters.size();
    for (std::size_t p = 0; p < inputs; ++p)
      files[folder + one.kernel.arguments[p].name + ".npy"] =
          sweep::encodeNpy(one.draw.inputs.at(program.parameters[p].name));
    for (std::size_t r = 0; r < one.draw.results.size(); ++r) {
      const sweep::Reference::Result& result = one.draw.results[r];
      const std::string name = one.kernel.arguments[inputs + r].name + ".npy";
      files[folder + "expected_" + name] = sweep::encodeNpy(wide(result, result.expected));
      files[folder + "bound_" + name] = sweep::encodeNpy(wide(result, result.bound));
    }
  }
  return files;
}

std::string manifestText(const Contents& contents, const std::map<std::string, std::string>& files) {
  const Choice& choice = contents.choice;
  json kernels = json::array();
  for (std::size_t i = 0; i < choice.kernels.size(); ++i) {
    const Chosen& one = choice.kernels[i];
    kernels.push_back({{"function", one.kernel.name},
                       {"source", sourceName(i)},
                       {"extents", one.sweep.extents},
                       {"candidate", one.candidate.id},
                       {"variant", one.candidate.variant},
                       {"title", one.candidate.label},
                       {"parameters", one.kernel.parameters},
                       {"text_sha256", sweep::textHash(one.kernel.text)},
                       {"scratch_bytes", one.kernel.scratchBytes},
                       {"proved", one.proved()},
                       {"steps", stepsJson(one)},
                       {"measured", measuredJson(one)},
                       {"seed", one.sweep.seed},
                       {"draw", one.draw.distribution}});
  }
  json codeList = json::object();
  for (std::size_t i = 0; i < codes().size(); ++i) codeList[std::to_string(i)] = codes()[i].sentence;
  json hashes = json::object();
  for (const auto& [name, bytes] : files) hashes[name] = sweep::textHash(bytes);
  const Chosen& first = choice.kernels[0];
  const json manifest{{"format", "nuscope-export"},
                      {"version", 1},
                      {"nuscope", NUSCOPE_VERSION},
                      {"date", contents.date},
                      {"study", contents.studyName},
                      {"program", choice.program.name},
                      {"program_sha256", sweep::textHash(choice.revision.program)},
                      {"function", contents.function},
                      {"inputs", argumentsJson(contents, false)},
                      {"outputs", argumentsJson(contents, true)},
                      {"dimensions", choice.program.dimensions},
                      {"compile", compileCommand(contents)},
                      {"library", libraryName(contents)},
                      {"extents", first.sweep.extents},
                      {"threads", first.sweep.threads},
                      {"target", choice.target.name},
                      {"processor", processorFeatures(choice.target)},
                      {"general", contents.general.has_value()},
                      {"asserts", assertsJson(contents.asserts)},
                      {"codes", std::move(codeList)},
                      {"steps", stepsJson(first)},
                      {"measured", measuredJson(first)},
                      {"kernels", std::move(kernels)},
                      {"files", std::move(hashes)}};
  return manifest.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string extentsWords(const tensor::Program& program, const tensor::Extents& extents) {
  std::string text;
  for (const std::string& name : program.dimensions)
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, extents.at(name));
  return text.empty() ? "no extents" : text;
}

std::vector<std::string> processorFeatures(const machine::Target& target) {
  std::vector<std::string> features = target.processorFeatures;
  for (const std::string& flag : target.compiler) {
    if (!flag.starts_with("-march=x86-64-v3") && !flag.starts_with("-march=x86-64-v4")) continue;
    features.insert(features.end(), {"bmi", "bmi2"});  // these levels imply them
    if (flag.ends_with("v4")) features.emplace_back("avx512cd");
  }
  return features;
}

std::string readmeText(const Contents& contents) {
  const Choice& choice = contents.choice;
  const std::string& f = contents.function;
  std::string kernels;
  for (std::size_t i = 0; i < choice.kernels.size(); ++i) {
    const Chosen& one = choice.kernels[i];
    kernels +=
        fmt::format("| `{}` | {} | {} | {} | {} |\n", sourceName(i),
                    extentsWords(choice.program, one.sweep.extents), one.candidate.variant,
                    one.steps.empty() ? "as written"
                    : one.proved()    ? "proved anew"
                                      : "recorded, not proved anew",
                    one.measurement ? fmt::format("{:.4g} ms, {} thread{}", one.measurement->median * 1e3,
                                                  one.sweep.threads, one.sweep.threads == 1 ? "" : "s")
                                    : "not measured");
  }
  std::string names;
  for (const emit::Argument& one : choice.kernels[0].kernel.arguments) names += one.name + ", ";
  std::string inputs;
  for (const tensor::Parameter& one : choice.program.parameters)
    inputs += (inputs.empty() ? "" : ", ") + one.name;
  std::string extents;
  for (const std::string& dimension : choice.program.dimensions)
    extents += (extents.empty() ? "" : ", ") + dimension;
  return fmt::format(
      R"(# {0}

A kernel that Nuscope searched, proved and measured, as C++ that needs nothing but a compiler. What it computes, what is promised
and for which processor stands at the top of `kernel.h`.

| source | extents | variant | proof | measured there |
|---|---|---|---|---|
{1}{2}
## Build

```
{3}
```

or `cmake -B build && cmake --build build`, which also builds the bench.

## Call

```c++
#include "kernel.h"
const int64_t extents[] = {{{4}}};
const int code = {5}_for(extents, {6}threads);   // checks extents, asserts, pointers and processor
if (code != 0) puts({5}_error(code));
```

`{5}` itself checks nothing. From Python (`kernel.py` needs NumPy, `torch_op.py` PyTorch):

```python
import kernel
result = kernel.call({7}, threads=1)
```

## Check and measure

```
python3 test.py          # against NumPy in float64, element by element
./build/bench            # the study's conditions: its inputs, its threads, in turns with the program as plain loops
```

## Files

`program.py` is the program as written, `variant*.py` what the kernels compute. `check.cpp` is the checked entry{8}.
`nuscope_runtime.h` holds vectors, functions and threads. `data/` holds the study's first draw with expected values and bounds of
rounding, float64. `manifest.json` says all of this to programs, and where it came from.
)",
      choice.program.name, kernels,
      contents.general ? "| `general.cpp` | all others | 0 | as written, plain loops, one thread | |\n" : "",
      compileCommand(contents), extents, f, names, inputs,
      contents.general ? ", `general.cpp` the loops for all other extents" : "");
}

}  // namespace nuscope::exporting
