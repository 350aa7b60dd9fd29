// Each example program through the whole of `nuscope sweep` at a small shape: explored, compiled, checked
// against float64 and timed.
#include "tests/language/programs.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/process.h"
#include "core/language/parse.h"

namespace nuscope::sweep {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> exampleFiles() {
  std::vector<std::string> files;
  for (const fs::path& file : language::programFiles()) files.push_back(file.string());
  return files;
}

/// "M=24,N=64": a vector's multiple, a few, an odd number.
std::string shapeOf(const tensor::Program& program) {
  constexpr int extents[] = {24, 64, 3, 40, 17, 2};
  std::string text;
  int i = 0;
  for (const std::string& name : program.dimensions)
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, extents[i++ % 6]);
  return text;
}

class ExampleProgram : public testing::TestWithParam<std::string> {};

TEST_P(ExampleProgram, IsSweptAtASmallShape) {
  char pattern[] = "/tmp/nuscope-programs-XXXXXX";
  const fs::path folder = mkdtemp(pattern);
  ProcessOptions options;
  options.arguments = {NUSCOPE_BINARY_DIR "/bin/nuscope",
                       "sweep",
                       GetParam(),
                       "--shape",
                       shapeOf(language::parseFile(GetParam())),
                       "--budget",
                       "1",
                       "--json",
                       "-o",
                       (folder / "s.nuscope").string()};
  const Finished finished = runProcess(options, "", std::chrono::minutes(5));
  fs::remove_all(folder);
  ASSERT_EQ(finished.end.text(), "exit code 0") << finished.errors;
  const auto report = nlohmann::json::parse(finished.output);
  const auto& counts = report.at("candidates");
  EXPECT_GE(counts.at("measured").get<int>(), 1) << counts.dump();
  EXPECT_EQ(counts.at("wrong"), 0) << counts.dump();
  EXPECT_EQ(counts.at("failed"), 0) << counts.dump();
  EXPECT_FALSE(report.at("best").is_null());
  EXPECT_FALSE(report.at("baselines").empty());
}

INSTANTIATE_TEST_SUITE_P(All, ExampleProgram, testing::ValuesIn(exampleFiles()),
                         [](const auto& one) { return fs::path(one.param).stem().string(); });

TEST(ExamplePrograms, AreTheThirty) {
  EXPECT_GE(exampleFiles().size(), 30U);
}

}  // namespace
}  // namespace nuscope::sweep
