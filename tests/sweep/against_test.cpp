// Kernels of the user in a sweep: right ones race and keep their label, wrong, crashing, hanging and missing
// ones cost themselves only; a sweep can be narrowed; the user's own inputs are a draw of the gate.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/base/process.h"
#include "core/sweep/study.h"
#include "core/sweep/sweep.h"

namespace nuscope::sweep {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* loops = R"(
extern "C" void FUNCTION(const float* x, const float* w, float* out, int) {
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 32; ++j) {
      float s = 0;
      for (int k = 0; k < 24; ++k) s += x[i * 24 + k] / (1 + __builtin_expf(-x[i * 24 + k])) * w[k * 32 + j];
      out[i * 32 + j] = s BODY;
    }
}
)";

std::string kernel(const std::string& function, const std::string& body) {
  std::string text = loops;
  text.replace(text.find("FUNCTION"), 8, function);
  text.replace(text.find("BODY"), 4, body);
  return text;
}

class Against : public testing::Test {
 protected:
  Against() {
    char pattern[] = "/tmp/nuscope-against-XXXXXX";
    folder = mkdtemp(pattern);
    study = (folder / "s.nuscope").string();
  }
  ~Against() override { fs::remove_all(folder); }

  std::string file(const std::string& name, const std::string& text) const {
    writeWholeFile(folder / name, text);
    return (folder / name).string();
  }
  [[nodiscard]] Finished run(const std::vector<std::string>& more, bool withShape = true) const {
    ProcessOptions options;
    options.arguments = {std::string(NUSCOPE_BINARY_DIR) + "/bin/nuscope",
                         "sweep",
                         std::string(NUSCOPE_SOURCE_DIR) + "/resources/programs/silu_matmul.py",
                         "-o",
                         study,
                         "--no-baselines"};
    if (withShape) options.arguments.insert(options.arguments.end(), {"--shape", "M=16,K=24,N=32"});
    options.arguments.insert(options.arguments.end(), more.begin(), more.end());
    return runProcess(options, "", std::chrono::minutes(4));
  }
  fs::path folder;
  std::string study;
};

TEST_F(Against, everyKindCostsItselfOnlyAndTheLabelStays) {
  const std::string right = file("right.cpp", kernel("silu_matmul", ""));
  const std::string offByEpsilon = file("wrong.cpp", kernel("nuscope_silu_matmul", "* 1.0001f"));
  const std::string crash = file("crash.cpp", kernel("mine", "; if (j == 31) __builtin_trap()"));
  const std::string hang = file("hang.cpp", kernel("mine", "; while (w) asm volatile(\"\")"));
  const std::string nothing = file("nothing.cpp", kernel("other", ""));
  const std::string broken = file("broken.cpp", "this is no C++\n");
  const fs::path library = folder / "mine.so";
  ProcessOptions compile;
  compile.arguments = {"c++", "-O2", "-shared", "-fPIC", right, "-o", library.string()};
  ASSERT_TRUE(runProcess(compile, "", std::chrono::minutes(1)).end.success());

  const Finished finished =
      run({"--json", "--budget", "3", "--run-limit", "1", "--against", right, "--against", offByEpsilon,
           "--against", crash + ":mine", "--against", hang + ":mine", "--against", nothing, "--against",
           broken, "--against", library.string() + ":silu_matmul"});
  ASSERT_EQ(finished.end.text(), "exit code 0") << finished.errors;
  const json report = json::parse(finished.output);
  const json& list = report.at("against");
  ASSERT_EQ(list.size(), 7U);
  std::map<std::string, json> byLabel;
  for (const json& one : list) {
    byLabel[one.at("label").get<std::string>()] = one;
    EXPECT_EQ(one.at("proved"), false);
  }
  for (const char* name : {"right.cpp (not proved)", "mine.so (not proved)"}) {
    const json& passed = byLabel.at(name);
    EXPECT_EQ(passed.at("standing"), "not proved, passed the gate") << passed.dump(2);
    EXPECT_GT(passed.at("over_best").get<double>(), 0) << passed.dump(2);
  }
  EXPECT_EQ(byLabel.at("wrong.cpp (not proved)").at("state"), "wrong");
  EXPECT_NE(byLabel.at("wrong.cpp (not proved)")
                .at("reason")
                .get<std::string>()
                .find("something else than the program"),
            std::string::npos);
  EXPECT_EQ(byLabel.at("crash.cpp (not proved)").at("state"), "crashed");
  EXPECT_EQ(byLabel.at("hang.cpp (not proved)").at("state"), "timed out");
  EXPECT_EQ(byLabel.at("nothing.cpp (not proved)").at("state"), "failed");
  EXPECT_NE(
      byLabel.at("nothing.cpp (not proved)").at("reason").get<std::string>().find("nuscope_silu_matmul"),
      std::string::npos);
  EXPECT_EQ(byLabel.at("broken.cpp (not proved)").at("state"), "failed");
  EXPECT_EQ(report.at("candidates").at("measured"), 3) << "the others race on";

  const auto stored = Study::open(study, Study::Access::read);
  int foreign = 0;
  for (const auto& candidate : stored->candidates(1)) {
    if (candidate.kind != CandidateKind::foreign) continue;
    ++foreign;
    EXPECT_NE(candidate.label.find("not proved"), std::string::npos);
    EXPECT_NE(candidate.id, report.at("best").at("candidate"));
  }
  EXPECT_EQ(foreign, 7);
  EXPECT_EQ(selectBest(*stored, 1)->kind, CandidateKind::emitted);
}

TEST_F(Against, aFasterForeignKernelIsNamedAndNotChosen) {
  // Times of the simulated device are made up from names; with seven copies one is faster than the
  // first candidate.
  std::vector<std::string> arguments{"--device", "simulated", "--budget", "1", "--set", "pack_b=1"};
  for (int i = 0; i < 7; ++i) {
    arguments.emplace_back("--against");
    arguments.push_back(file("k" + std::to_string(i) + ".cpp",
                             kernel("silu_matmul", "") + std::string(static_cast<std::size_t>(i), '\n')));
  }
  const Finished finished = run(arguments);
  ASSERT_EQ(finished.end.text(), "exit code 0") << finished.errors;
  EXPECT_NE(finished.output.find("yours"), std::string::npos) << finished.output;
  EXPECT_NE(finished.output.find("k3.cpp (not proved): not proved, passed the gate"), std::string::npos);
  EXPECT_NE(finished.errors.find("nothing is proved of it, so it is not chosen"), std::string::npos)
      << finished.errors;
}

TEST_F(Against, narrowing) {
  const Finished finished = run({"--json", "--device", "simulated", "--exhaustive", "--variants", "0",
                                 "--set", "block_k=24", "--set", "pack_b=0"});
  ASSERT_EQ(finished.end.text(), "exit code 0") << finished.errors;
  EXPECT_EQ(json::parse(finished.output).at("environment").at("narrowed to"),
            "variants 0; block_k = 24; pack_b = 0");
  const auto stored = Study::open(study, Study::Access::read);
  EXPECT_FALSE(stored->candidates(1).empty());
  for (const auto& candidate : stored->candidates(1)) {
    EXPECT_EQ(candidate.variant, 0);
    EXPECT_EQ(candidate.parameters.at("block_k"), 24);
    EXPECT_EQ(candidate.parameters.at("pack_b"), 0);
  }

  const Finished noParameter = run({"--set", "tile_q=6"});
  EXPECT_EQ(noParameter.end.code, 3);
  EXPECT_NE(noParameter.errors.find("no variant has a parameter tile_q here; there are:\n"),
            std::string::npos);
  EXPECT_NE(noParameter.errors.find("\n  tile_m = "), std::string::npos) << noParameter.errors;
  const Finished noValue = run({"--set", "tile_m=5"});
  EXPECT_EQ(noValue.end.code, 3);
  EXPECT_NE(noValue.errors.find("tile_m does not take 5 here; it takes: "), std::string::npos)
      << noValue.errors;
  const Finished noNumber = run({"--set", "tile_m=big"});
  EXPECT_EQ(noNumber.end.code, 3);
  const Finished noVariant = run({"--variants", "0,99"});
  EXPECT_EQ(noVariant.end.code, 3);
  EXPECT_NE(noVariant.errors.find("there is no variant 99; there are 0 to "), std::string::npos)
      << noVariant.errors;
}

TEST_F(Against, theUsersInputsAreADrawOfTheGate) {
  const auto write = [&](const std::string& name, const std::string& python) {
    ProcessOptions options;
    options.arguments = {"/usr/bin/python3", "-c",
                         "import numpy as np\nr = np.random.default_rng(1)\n" + python};
    options.directory = folder.string();
    return runProcess(options, "", std::chrono::seconds(60)).end.success() ? (folder / name).string() : "";
  };
  const std::string inputs = write("mine.npz",
                                   "np.savez_compressed('mine.npz', x=r.normal(size=(16, 24)).astype('f'), "
                                   "w=r.normal(size=(24, 32)).astype('f'))");
  if (inputs.empty()) GTEST_SKIP() << "no python3 with NumPy";
  const Finished finished = run({"--json", "--budget", "2", "--inputs", inputs}, false);
  ASSERT_EQ(finished.end.text(), "exit code 0") << finished.errors;
  const json report = json::parse(finished.output);
  EXPECT_EQ(report.at("extents"), (json{{"K", 24}, {"M", 16}, {"N", 32}}));
  const auto stored = Study::open(study, Study::Access::read);
  const auto best = stored->candidate(report.at("best").at("candidate").get<int>());
  const auto measurement = stored->measurement(*best->measurement);
  EXPECT_EQ(measurement->gate.draws.back().distribution, "mine.npz");
  EXPECT_EQ(measurement->gate.draws.back().checked, 16 * 32);

  const Finished shape = run({"--inputs", inputs, "--shape", "M=8,K=24,N=32"}, false);
  EXPECT_EQ(shape.end.code, 3);
  EXPECT_NE(shape.errors.find("the program says [M, K] = (8, 24)"), std::string::npos) << shape.errors;
  const std::string doubles =
      write("d.npz", "np.savez('d.npz', x=r.normal(size=(16, 24)), w=r.normal(size=(24, 32)))");
  const Finished dtype = run({"--inputs", doubles});
  EXPECT_EQ(dtype.end.code, 3);
  EXPECT_NE(dtype.errors.find("save it with .astype(np.float32)"), std::string::npos) << dtype.errors;
  EXPECT_EQ(run({"--inputs", file("no.npz", "nothing")}).end.code, 3);
}

TEST_F(Against, refusals) {
  EXPECT_EQ(run({"--against", "/nonexistent.cpp"}).end.code, 3);
  EXPECT_EQ(run({"--against", file("empty.cpp", "")}).end.code, 3);
  EXPECT_EQ(run({"--against", file("a.cpp", "x") + ":not a name"}).end.code, 3);
}

}  // namespace
}  // namespace nuscope::sweep
