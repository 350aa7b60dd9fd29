// Every program of resources/programs explored as `nuscope explore` does it: how many variants and steps each
// has, within the limits of time that people are promised. Prints a table.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include "core/proof/refute.h"
#include "core/proof/solver_pool.h"
#include "core/propagate/explore.h"
#include "tests/propagate/parsed.h"

namespace nuscope::propagate {
namespace {

constexpr double secondsEach = 10;
constexpr double secondsTogether = 120;
constexpr int wholeDraws =
    40;  // of each variant against the program: steps are proved one by one, in part locally

std::vector<std::string> programNames() {
  std::vector<std::string> names;
  for (const auto& file :
       std::filesystem::directory_iterator(NUSCOPE_SOURCE_DIR "/resources/programs")) {
    if (file.path().extension() == ".py") names.push_back(file.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

struct Row {
  std::size_t variants = 0;
  int steps = 0, refuted = 0, unknown = 0;
  double seconds = 0;

  void add(const Row& other) {
    variants += other.variants;
    steps += other.steps;
    refuted += other.refuted;
    unknown += other.unknown;
    seconds += other.seconds;
  }
  void print(std::string_view name) const {
    fmt::print("{:<24} {:>8} {:>6} {:>8} {:>8} {:>8.2f}\n", name, variants, steps, refuted, unknown, seconds);
  }
};

class Library : public testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() {
    solvers_ = std::make_unique<proof::SolverPool>(NUSCOPE_SOLVER, 2);
    fmt::print("{:<24} {:>8} {:>6} {:>8} {:>8} {:>8}\n", "program", "variants", "steps", "refuted", "unknown",
               "seconds");
  }
  static void TearDownTestSuite() {
    solvers_.reset();
    total_.print("together");
    EXPECT_LT(total_.seconds, secondsTogether);
  }
  static inline std::unique_ptr<proof::SolverPool> solvers_;
  static inline Row total_;
};

TEST_P(Library, IsExploredInTime) {
  const auto program = *language::parse(test::libraryText(GetParam())).program;
  ExploreOptions options;
  options.threads = 2;
  options.solvers = solvers_.get();
  const auto start = std::chrono::steady_clock::now();
  const auto graph = explore(program, options, {}, {});
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const auto counts = graph->proofs();
  const Row row{graph->variants().size(), counts.proved, counts.refuted, counts.unknown, seconds};
  row.print(GetParam());
  total_.add(row);
  EXPECT_LT(seconds, secondsEach);
  for (const auto& variant : graph->variants()) {
    proof::RefuteOptions draws;
    draws.mode = proof::Mode::refines;
    draws.lastDraw = wholeDraws;
    draws.shrink = false;
    const auto refuted = proof::refute(graph->program(0), graph->program(variant.id), draws, {});
    EXPECT_FALSE(refuted.counterexample) << "variant " << variant.id << " (" << variant.title
                                         << ") is not the program, though every step to it was proved";
  }
  for (const std::string& cut : graph->cuts()) EXPECT_EQ(cut.find("cut by time"), std::string::npos) << cut;
}

INSTANTIATE_TEST_SUITE_P(Programs, Library, testing::ValuesIn(programNames()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace nuscope::propagate
