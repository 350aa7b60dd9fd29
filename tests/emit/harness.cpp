#include "tests/emit/harness.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/base/diagnostics.h"
#include "core/base/process.h"

namespace nuscope::emit::testing {

using semantics::TensorValue;
using tensor::DType;

std::shared_ptr<tensor::Program> programOf(const std::string& nameOrText) {
  if (nameOrText.find('\n') == std::string::npos) {
    return std::make_shared<tensor::Program>(
        language::parseFile(NUSCOPE_SOURCE_DIR "/resources/programs/" + nameOrText + ".py"));
  }
  auto parsed = language::parse("from __future__ import annotations\nimport numpy as np\n" + nameOrText);
  if (!parsed.program) throw UserError(render(parsed.diagnostics, "test", nameOrText));
  return std::make_shared<tensor::Program>(std::move(*parsed.program));
}

Case emitted(const std::shared_ptr<tensor::Program>& program, const tensor::Extents& extents,
             const std::string& target, const Parameters& parameters) {
  Case one;
  one.program = program;
  one.results = program->results;
  one.extents = extents;
  auto kernel = emitHost(*program, one.results, extents, machine::loadTarget(target), parameters);
  if (!kernel) throw UserError(program->name + ": " + kernel.refusal().message);
  one.kernel = std::move(kernel).value();
  one.label = program->name;
  for (const auto& [name, value] : extents) one.label += fmt::format(" {}={}", name, value);
  if (!parameters.empty()) one.label += " " + tiling::text(parameters);
  return one;
}

namespace {

void replaceAll(std::string& text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

std::int64_t countOf(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const auto extent : shape) count *= extent;
  return count;
}

void put(const TensorValue& value, DType dtype, void* to) {
  for (std::size_t i = 0; i < value.values.size(); ++i) {
    const double v = value.values[i];
    switch (dtype) {
      case DType::f64:
        static_cast<double*>(to)[i] = v;
        break;
      case DType::i32:
        static_cast<std::int32_t*>(to)[i] = static_cast<std::int32_t>(v);
        break;
      case DType::i8:
        static_cast<std::int8_t*>(to)[i] = static_cast<std::int8_t>(v);
        break;
      case DType::boolean:
        static_cast<unsigned char*>(to)[i] = v != 0;
        break;
      default:
        static_cast<float*>(to)[i] = static_cast<float>(v);
        break;
    }
  }
}

/// An array that ends where no page is: whoever reads or writes beyond it crashes. Before it lie bytes to
/// check.
class Fenced {
 public:
  explicit Fenced(std::size_t bytes) : bytes_(bytes), pages_((bytes + 64 + 4095) / 4096 * 4096) {
    base_ = static_cast<unsigned char*>(
        mmap(nullptr, pages_ + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (base_ == MAP_FAILED) throw std::runtime_error("mmap failed");
    mprotect(base_ + pages_, 4096, PROT_NONE);
    std::memset(base_, 0xa5, pages_);
  }
  ~Fenced() {
    if (base_ != nullptr) munmap(base_, pages_ + 4096);
  }
  Fenced(Fenced&& other) noexcept
      : bytes_(other.bytes_), pages_(other.pages_), base_(std::exchange(other.base_, nullptr)) {}
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;
  [[nodiscard]] unsigned char* data() const { return base_ + pages_ - bytes_; }
  [[nodiscard]] bool intact() const {
    return std::all_of(base_, data(), [](unsigned char byte) { return byte == 0xa5; });
  }

 private:
  std::size_t bytes_;
  std::size_t pages_;
  unsigned char* base_ = nullptr;
};

double get(DType dtype, const void* from, std::size_t i) {
  switch (dtype) {
    case DType::f64:
      return static_cast<const double*>(from)[i];
    case DType::i32:
      return static_cast<const std::int32_t*>(from)[i];
    case DType::i8:
      return static_cast<const std::int8_t*>(from)[i];
    case DType::boolean:
      return static_cast<const unsigned char*>(from)[i];
    default:
      return static_cast<const float*>(from)[i];
  }
}

}  // namespace

Library::Library(std::vector<Case> cases, const std::vector<std::string>& flags, const std::string& name)
    : cases_(std::move(cases)) {
  namespace fs = std::filesystem;
  static int serial = 0;
  folder_ = fs::temp_directory_path() / fmt::format("nuscope-emit-{}-{}-{}", getpid(), name,
                                                    __atomic_add_fetch(&serial, 1, __ATOMIC_SEQ_CST));
  fs::create_directories(folder_);
  std::string text;
  for (std::size_t i = 0; i < cases_.size(); ++i) {
    Case& one = cases_[i];
    std::string kernel = one.kernel.text;
    replaceAll(kernel, one.kernel.name + "(", fmt::format("kernel_{}(", i));
    replaceAll(kernel, "namespace {\n", fmt::format("namespace part{} {{\n", i));
    replaceAll(kernel, "}  // namespace\n", "");
    replaceAll(kernel, "}  // namespace nuscope\n", "}}\n");
    if (i > 0) replaceAll(kernel, "#define NUSCOPE_LANES", "// lanes:");
    text += kernel + "\n";
  }
  const std::string source = folder_ + "/kernels.cpp";
  const std::string output = folder_ + "/kernels.so";
  std::ofstream(source) << text;
  ProcessOptions options;
  for (std::string argument : cases_.at(0).kernel.compileCommand) {
    replaceAll(argument, "{source}", source);
    replaceAll(argument, "{output}", output);
    options.arguments.push_back(argument);
  }
  options.arguments.insert(options.arguments.begin() + 1,
                           {"-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror"});
  options.arguments.insert(options.arguments.end(), flags.begin(), flags.end());
#if defined(__SANITIZE_ADDRESS__)
  options.arguments.insert(options.arguments.end(),
                           {"-fsanitize=address,undefined", "-fno-sanitize-recover=all"});
#endif
  const Finished finished = runProcess(options, "", std::chrono::seconds(300));
  if (!finished.end.success())
    throw std::runtime_error(finished.end.text() + "\n" + finished.errors.substr(0, 8000) + "\n" + source);
  handle_ = dlopen(output.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) throw std::runtime_error(dlerror());
  for (std::size_t i = 0; i < cases_.size(); ++i)
    functions_.push_back(dlsym(handle_, fmt::format("kernel_{}", i).c_str()));
}

Library::~Library() {
  if (handle_ != nullptr) dlclose(handle_);
  std::error_code error;
  if (std::getenv("NUSCOPE_KEEP") == nullptr) std::filesystem::remove_all(folder_, error);
}

void Library::run(std::size_t i, const std::vector<void*>& a, int threads) const {
  using P = void*;
  const P f = functions_[i];
  switch (a.size()) {
    case 2:
      reinterpret_cast<void (*)(P, P, int)>(f)(a[0], a[1], threads);
      break;
    case 3:
      reinterpret_cast<void (*)(P, P, P, int)>(f)(a[0], a[1], a[2], threads);
      break;
    case 4:
      reinterpret_cast<void (*)(P, P, P, P, int)>(f)(a[0], a[1], a[2], a[3], threads);
      break;
    case 5:
      reinterpret_cast<void (*)(P, P, P, P, P, int)>(f)(a[0], a[1], a[2], a[3], a[4], threads);
      break;
    case 6:
      reinterpret_cast<void (*)(P, P, P, P, P, P, int)>(f)(a[0], a[1], a[2], a[3], a[4], a[5], threads);
      break;
    case 7:
      reinterpret_cast<void (*)(P, P, P, P, P, P, P, int)>(f)(a[0], a[1], a[2], a[3], a[4], a[5], a[6],
                                                              threads);
      break;
    case 8:
      reinterpret_cast<void (*)(P, P, P, P, P, P, P, P, int)>(f)(a[0], a[1], a[2], a[3], a[4], a[5], a[6],
                                                                 a[7], threads);
      break;
    case 9:
      reinterpret_cast<void (*)(P, P, P, P, P, P, P, P, P, int)>(f)(a[0], a[1], a[2], a[3], a[4], a[5], a[6],
                                                                    a[7], a[8], threads);
      break;
    case 10:
      reinterpret_cast<void (*)(P, P, P, P, P, P, P, P, P, P, int)>(f)(a[0], a[1], a[2], a[3], a[4], a[5],
                                                                       a[6], a[7], a[8], a[9], threads);
      break;
    case 11:
      reinterpret_cast<void (*)(P, P, P, P, P, P, P, P, P, P, P, int)>(f)(
          a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], threads);
      break;
    case 12:
      reinterpret_cast<void (*)(P, P, P, P, P, P, P, P, P, P, P, P, int)>(f)(
          a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], threads);
      break;
    default:
      throw std::runtime_error(fmt::format("a kernel with {} arguments", a.size()));
  }
}

std::string Library::check(std::size_t i, semantics::Distribution distribution, std::uint64_t seed,
                           int threads) const {
  const Case& one = cases_[i];
  const auto inputs = semantics::tryDrawInputs(*one.program, one.extents, distribution, seed);
  if (!inputs) return "";
  semantics::EvaluateOptions options;
  options.roundoff = 0x1p-24;
  const auto expected = semantics::evaluate(*one.program, one.results, one.extents, *inputs, options);
  std::vector<Fenced> memory;
  std::vector<void*> arguments;
  std::size_t parameter = 0;
  for (const Argument& argument : one.kernel.arguments) {
    memory.emplace_back(static_cast<std::size_t>(countOf(argument.shape) * tensor::byteSize(argument.dtype)));
    arguments.push_back(memory.back().data());
    if (!argument.output)
      put(inputs->at(one.program->parameters[parameter++].name), argument.dtype, arguments.back());
  }
  run(i, arguments, threads);
  std::size_t result = 0;
  for (std::size_t a = 0; a < arguments.size(); ++a) {
    const Argument& argument = one.kernel.arguments[a];
    if (!memory[a].intact()) return fmt::format("{}: wrote before {}", one.label, argument.name);
    if (!argument.output) continue;
    const auto& want = expected[result++];
    double worst = 0;
    std::size_t where = 0;
    double bad = 0;
    for (std::size_t e = 0; e < want.value.values.size(); ++e) {
      if (want.state[e] != 0) continue;
      const double got = get(argument.dtype, arguments[a], e);
      const double allowed = 4 * want.bound[e] + (tensor::isReal(argument.dtype) ? 1e-37 : 0);
      const double error = std::abs(got - want.value.values[e]);
      const double ratio = std::isnan(got) ? INFINITY : error == 0 ? 0 : error / allowed;
      if (ratio > worst) {
        worst = ratio;
        where = e;
        bad = got;
      }
    }
    if (worst > 1) {
      return fmt::format("{} ({}, seed {}, {} threads): {}[{}] is {} instead of {} (bound {})", one.label,
                         semantics::text(distribution), seed, threads, argument.name, where, bad,
                         want.value.values[where], want.bound[where]);
    }
  }
  return "";
}

std::vector<std::unique_ptr<Library>> compileAll(std::vector<Case> cases,
                                                 const std::vector<std::string>& flags,
                                                 const std::string& name) {
  std::vector<Case> halves[2];
  for (std::size_t i = 0; i < cases.size(); ++i) halves[i % 2].push_back(std::move(cases[i]));
  std::unique_ptr<Library> libraries[2];
  std::string errors[2];
  {
    std::vector<std::jthread> threads;
    for (int h = 0; h < 2; ++h) {
      if (halves[h].empty()) continue;
      threads.emplace_back([&, h] {
        try {
          libraries[h] = std::make_unique<Library>(std::move(halves[h]), flags, name);
        } catch (const std::exception& error) {
          errors[h] = error.what();
        }
      });
    }
  }
  std::vector<std::unique_ptr<Library>> result;
  for (int h = 0; h < 2; ++h) {
    if (!errors[h].empty()) throw std::runtime_error(errors[h]);
    if (libraries[h]) result.push_back(std::move(libraries[h]));
  }
  return result;
}

}  // namespace nuscope::emit::testing
