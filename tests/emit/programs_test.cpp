// All example programs at three shapes, against the evaluator.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/emit/harness.h"

namespace nuscope::emit::testing {
namespace {

std::vector<std::string> programNames() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(NUSCOPE_SOURCE_DIR "/resources/programs")) {
    if (entry.path().extension() == ".py") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// Prime numbers, ones, or a mixture with multiples of the vector length.
tensor::Extents shapeOf(const tensor::Program& program, int number) {
  constexpr std::int64_t primes[] = {13, 29, 37, 11, 23, 7};
  constexpr std::int64_t mixed[] = {24, 64, 3, 40, 17, 2};
  tensor::Extents extents;
  int i = 0;
  for (const std::string& name : program.dimensions) {
    extents[name] = number == 0 ? primes[i % 6] : number == 1 ? 1 : mixed[i % 6];
    ++i;
  }
  return extents;
}

void checkAll(const std::vector<std::unique_ptr<Library>>& libraries,
              const std::vector<semantics::Distribution>& distributions) {
  for (const auto& library : libraries) {
    for (std::size_t i = 0; i < library->size(); ++i) {
      for (const auto distribution : distributions) {
        for (const int threads : {1, 2, 3}) {
          const std::string wrong = library->check(i, distribution, 7, threads);
          EXPECT_EQ(wrong, "");
          if (!wrong.empty()) break;
        }
      }
    }
  }
}

std::vector<Case> allCases(const std::string& target, const Parameters& parameters,
                           std::initializer_list<int> shapes) {
  std::vector<Case> cases;
  for (const std::string& name : programNames()) {
    const auto program = programOf(name);
    for (const int shape : shapes)
      cases.push_back(emitted(program, shapeOf(*program, shape), target, parameters));
  }
  return cases;
}

using semantics::Distribution;

TEST(Programs, HostTarget) {
  checkAll(compileAll(allCases("host", {}, {0, 1, 2}), {"-O1"}, "host"),
           {Distribution::normal, Distribution::large, Distribution::small, Distribution::ties});
}

TEST(Programs, EveryBlockAndNoFusion) {
  const Parameters odd{{"tile_m", 4}, {"tile_n", 8}, {"block_k", 5}, {"strip_m", 8},
                       {"pack_a", 0}, {"pack_b", 0}, {"unroll", 1}};
  checkAll(compileAll(allCases("host", odd, {0}), {"-O1"}, "odd"), {Distribution::normal});
  const Parameters apart{{"fuse", 0}, {"unroll", 8}, {"block_k", 16}};
  checkAll(compileAll(allCases("host", apart, {2}), {"-O1"}, "apart"), {Distribution::normal});
}

TEST(Programs, ColumnsOutside) {
  const Parameters copied{{"order", 1},  {"fuse", 0},    {"tile_m", 4},
                          {"tile_n", 8}, {"block_k", 5}, {"prefetch", 4}};
  checkAll(compileAll(allCases("host", copied, {0, 2}), {"-O1"}, "copied"), {Distribution::normal});
  const Parameters inPlace{{"order", 1}, {"fuse", 1}, {"pack_a", 0}, {"pack_b", 0}};
  checkAll(compileAll(allCases("host", inPlace, {0}),
                      {"-O1", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"}, "columns"),
           {Distribution::normal, Distribution::ties});
  const auto program = programOf("gated_mlp");
  const Case both = emitted(program, shapeOf(*program, 0), "host", {{"order", 1}});
  EXPECT_EQ(both.kernel.text.find("float* const panel = (float*)(own"), std::string::npos)
      << "products that share strips stay so";
}

TEST(Programs, TheNextRowIsAskedFor) {
  const auto program = programOf("layernorm");
  const auto extents = shapeOf(*program, 2);
  const Case asks = emitted(program, extents, "host", {{"prefetch", 1}});
  EXPECT_NE(asks.kernel.text.find("__builtin_prefetch(x + r * "), std::string::npos) << asks.kernel.text;
  EXPECT_EQ(asks.kernel.text.find("__builtin_prefetch(g"), std::string::npos) << "the same for all rows";
  checkAll(compileAll(allCases("host", {{"prefetch", 1}}, {1}), {"-O1"}, "ahead"), {Distribution::normal});
}

TEST(Programs, GenericTargetWithoutUndefinedBehaviour) {
  checkAll(compileAll(allCases("host-generic", {}, {0}),
                      {"-O1", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"}, "generic"),
           {Distribution::normal, Distribution::large});
}

TEST(Programs, Avx512TextCompiles) {
  std::vector<Case> cases;
  for (const char* name : {"rmsnorm_matmul", "causal_attention", "layernorm", "cumsum", "gelu", "rope"}) {
    const auto program = programOf(name);
    cases.push_back(emitted(program, shapeOf(*program, 0), "host-avx512"));
  }
  const bool runs = machine::missingFeatures(machine::loadTarget("host-avx512")).empty();
  const auto libraries = compileAll(std::move(cases), {"-O1"}, "avx512");
  if (!runs) GTEST_SKIP() << "compiled, but this processor lacks avx512f";
  checkAll(libraries, {Distribution::normal});
}

TEST(Programs, TextIsTheSameEveryTime) {
  const auto program = programOf("causal_attention");
  const auto extents = shapeOf(*program, 2);
  const Case first = emitted(program, extents, "host");
  EXPECT_EQ(first.kernel.text, emitted(programOf("causal_attention"), extents, "host").kernel.text);
  EXPECT_FALSE(first.kernel.nodesOfLine.empty());
}

TEST(Programs, RefusalsSayWhy) {
  const auto program = programOf("def half(x: f16[N]):\n    return x + x\n");
  try {
    emitted(program, {{"N", 4}}, "host");
    FAIL();
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("emits no f16"), std::string::npos) << error.what();
  }
  EXPECT_THROW(emitted(programOf("matmul"), {{"M", 4}, {"K", 4}, {"N", 4}}, "host", {{"tile_n", 7}}),
               std::exception);
}

}  // namespace
}  // namespace nuscope::emit::testing
