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

void checkAll(const std::vector<std::unique_ptr<Library>>& libraries, const std::vector<semantics::Distribution>& distributions) {
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

std::vector<Case> allCases(const std::string& target, const Parameters& parameters) {
  std::vector<Case> cases;
  for (const std::string& name : programNames()) {
    const auto program = programOf(name);
    for (int shape = 0; shape < 3; ++shape) cases.push_back(emitted(program, shapeOf(*program, shape), target, parameters));
  }
  return cases;
}

using semantics::Distribution;

TEST(Programs, HostTargetIsRight) {
  checkAll(compileAll(allCases("host", {}), {"-O1"}, "host"),
           {Distribution::normal, Distribution::large, Distribution::small, Distribution::ties});
}

}  // namespace
}  // namespace nuscope::emit::testing
