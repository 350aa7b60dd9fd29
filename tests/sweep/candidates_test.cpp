// What sweeps measure, at three shapes: one with every dimension prime, one tiny, one large. Each measured
// candidate of each example program passes the gate; at the small shapes it is compiled with the address and
// undefined-behaviour sanitizers, which end the worker's process at the first finding. Label long;
// NUSCOPE_CANDIDATES says how many candidates a program and shape (12).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/base/process.h"
#include "core/language/parse.h"
#include "core/machine/target.h"
#include "tests/language/programs.h"

namespace nuscope::sweep {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct Shape {
  const char* name;
  std::vector<int> extents;  ///< of the dimensions in turn
  bool sanitized;
};

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {{"prime", {13, 29, 37, 11, 23, 7}, true},
                                         {"tiny", {2, 1, 3, 1, 2, 1}, true},
                                         {"large", {192, 320, 256, 128, 96, 64}, false}};
  return all;
}

/// Of programs with many dimensions the first are heads and groups: as many as all others would be terabytes.
const std::vector<int> largeWithHeads = {8, 4, 256, 64, 192, 48};

std::string shapeText(const tensor::Program& program, const Shape& shape) {
  std::string text;
  std::size_t i = 0;
  const bool heads = !shape.sanitized && program.dimensions.size() > 4;
  const std::vector<int>& extents = heads ? largeWithHeads : shape.extents;
  for (const std::string& name : program.dimensions)
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, extents[i++ % extents.size()]);
  return text;
}

std::string outputOf(const std::vector<std::string>& arguments) {
  ProcessOptions options;
  options.arguments = arguments;
  std::string text = runProcess(options, "", std::chrono::seconds(20)).output;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

/// This processor's target, whose compiler adds the sanitizers.
void writeSanitizedTarget(const fs::path& file) {
  const machine::HostTarget host = machine::hostTarget();
  json target = json::parse(readWholeFile(fs::path(machine::targetFolder()) / (host.name + ".json")));
  target["name"] = host.name + "-sanitized";
  json compiler = json::array({"env", "-u", "LD_PRELOAD"});  // the compiler itself needs none
  for (const std::string word : target.at("compiler")) compiler.push_back(word == "-O3" ? "-O1" : word);
  for (const char* flag : {"-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g1"})
    compiler.push_back(flag);
  target["compiler"] = compiler;
  std::ofstream(file) << target.dump(1);
}

class Sweeps : public testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/nuscope-candidates-XXXXXX";
    folder_ = mkdtemp(pattern);
  }
  void TearDown() override { fs::remove_all(folder_); }
  [[nodiscard]] std::vector<std::string> command(const std::string& program, const Shape& shape) const {
    const char* count = std::getenv("NUSCOPE_CANDIDATES");
    const std::string nuscope = NUSCOPE_BINARY_DIR "/bin/nuscope";
    std::vector<std::string> words = {nuscope,
                                      "sweep",
                                      program,
                                      "--shape",
                                      shapeText(language::parseFile(program), shape),
                                      "--budget",
                                      count != nullptr ? count : "12",
                                      "--threads",
                                      "2",
                                      "--no-baselines",
                                      "--json",
                                      "-o",
                                      (folder_ / "s.nuscope").string()};
    if (!shape.sanitized) return words;
    writeSanitizedTarget(folder_ / "sanitized.json");
    const std::string preload = outputOf({"c++", "-print-file-name=libasan.so"});
    for (const std::string& word :
         {std::string("--target"), (folder_ / "sanitized.json").string(), std::string("--worker"),
          // The address sanitizer reserves 16 TB of addresses, which the worker's usual limit does not leave
          // it.
          fmt::format("env LD_PRELOAD={} ASAN_OPTIONS=detect_leaks=0:handle_segv=0 {} worker --memory {}",
                      preload, nuscope, std::int64_t{1} << 47)}) {
      words.push_back(word);
    }
    return words;
  }
  fs::path folder_;
};

class MeasuredCandidates : public Sweeps, public testing::WithParamInterface<std::tuple<std::string, int>> {};

TEST_P(MeasuredCandidates, PassTheGate) {
  const auto& [program, number] = GetParam();
  ProcessOptions options;
  options.arguments = command(program, shapes()[static_cast<std::size_t>(number)]);
  const Finished finished = runProcess(options, "", std::chrono::minutes(10));
  ASSERT_EQ(finished.end.text(), "exit code 0") << finished.errors;
  const json report = json::parse(finished.output);
  const json& counts = report.at("candidates");
  EXPECT_GE(counts.at("measured").get<int>(), 1) << counts.dump();
  for (const char* bad : {"wrong", "failed", "timed_out"}) EXPECT_EQ(counts.at(bad), 0) << finished.errors;
  RecordProperty("measured", counts.at("measured").get<int>());
}

std::vector<std::string> exampleFiles() {
  std::vector<std::string> files;
  for (const fs::path& file : language::programFiles()) files.push_back(file.string());
  return files;
}

INSTANTIATE_TEST_SUITE_P(All, MeasuredCandidates,
                         testing::Combine(testing::ValuesIn(exampleFiles()), testing::Range(0, 3)),
                         [](const auto& one) {
                           return fs::path(std::get<0>(one.param)).stem().string() + "_" +
                                  shapes()[static_cast<std::size_t>(std::get<1>(one.param))].name;
                         });

/// The sanitizers are really there: a kernel that reads past its scratch memory ends as failed.
TEST_F(Sweeps, AFaultIsSeenUnderTheSanitizers) {
  const std::string program = NUSCOPE_SOURCE_DIR "/resources/programs/silu.py";
  std::ofstream(folder_ / "bad.cpp") << R"(
extern "C" void nuscope_silu(const float* x, float* result, int) {
  float* const heap = new float[4];
  volatile int past = 4;
  result[0] = x[0] + heap[past];
  delete[] heap;
})";
  ProcessOptions options;
  options.arguments = command(program, shapes()[0]);
  options.arguments.insert(options.arguments.end(),
                           {"--against", (folder_ / "bad.cpp").string(), "--against-flags",
                            "-O1 -fsanitize=address,undefined -fno-sanitize-recover=all"});
  const Finished finished = runProcess(options, "", std::chrono::minutes(10));
  ASSERT_EQ(finished.end.text(), "exit code 0") << finished.errors;
  const json against = json::parse(finished.output).at("against");
  ASSERT_EQ(against.size(), 1U);
  EXPECT_NE(against[0].at("state"), "measured");
  EXPECT_NE(against[0].at("reason").get<std::string>().find("runtime error"), std::string::npos)
      << against.dump(1);
}

}  // namespace
}  // namespace nuscope::sweep
