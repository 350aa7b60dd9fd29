// `nuscope why` and `nuscope calibrate` on a small real sweep.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/sweep/study.h"
#include "tests/run_nuscope.h"

namespace nuscope::sweep {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// One study for all tests: six candidates of a small product.
class WhyCommand : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    char pattern[] = "/tmp/nuscope-why-XXXXXX";
    folder = mkdtemp(pattern);
    study = (folder / "s.nuscope").string();
    const Finished swept =
        runNuscope({"sweep", std::string(NUSCOPE_SOURCE_DIR) + "/resources/programs/silu_matmul.py",
                    "--shape", "M=16,K=24,N=32", "--budget", "6", "--no-baselines", "-o", study, "--json"});
    ASSERT_EQ(swept.end.text(), "exit code 0") << swept.errors;
    sweep = json::parse(swept.output);
  }
  static void TearDownTestSuite() { fs::remove_all(folder); }
  static inline fs::path folder;
  static inline std::string study;
  static inline json sweep;
};

TEST_F(WhyCommand, theFastestIsComparedByItself) {
  const Finished finished = runNuscope({"why", study, "--json"});
  ASSERT_EQ(finished.end.text(), "exit code 0") << finished.errors;
  const json why = json::parse(finished.output);
  EXPECT_EQ(why.at("format"), "nuscope-why");
  EXPECT_EQ(why.at("a").at("candidate"), sweep.at("best").at("candidate"));
  double shares = 0;
  for (const json& share : why.at("shares"))
    shares += share.at("b_s").get<double>() - share.at("a_s").get<double>();
  EXPECT_NEAR(shares, why.at("modelled_s").get<double>(), 1e-12);
  EXPECT_NEAR(why.at("unexplained_s").get<double>(),
              why.at("measured_s").get<double>() - why.at("modelled_s").get<double>(), 1e-12);
  EXPECT_FALSE(why.at("code").empty());
  EXPECT_GE(why.at("a").at("flops").get<double>(), 2.0 * 16 * 24 * 32);
}

TEST_F(WhyCommand, theTableSaysWhatIsModelled) {
  const Finished finished = runNuscope({"why", study, "--code"});
  ASSERT_EQ(finished.end.text(), "exit code 0") << finished.errors;
  for (const char* word : {"modelled", "measured:", "unexplained", "vector instructions", "packed", "code: "})
    EXPECT_NE(finished.output.find(word), std::string::npos) << word << "\n" << finished.output;
}

TEST_F(WhyCommand, rooflineParametersAndModelOfAll) {
  const json roofline = json::parse(runNuscope({"why", study, "--roofline", "--json"}).output);
  EXPECT_EQ(roofline.at("points").size(), sweep.at("candidates").at("measured").get<std::size_t>());
  EXPECT_GT(roofline.at("peak_gigaflops").get<double>(), 0);
  const json parameters = json::parse(runNuscope({"why", study, "--parameters", "--json"}).output);
  EXPECT_TRUE(parameters.at("parameters").is_array());
  const json model = json::parse(runNuscope({"why", study, "--model", "--json"}).output);
  EXPECT_EQ(model.at("points").size(), roofline.at("points").size());
  EXPECT_TRUE(model.contains("rank_correlation"));
  for (const char* flag : {"--roofline", "--parameters", "--model"})
    EXPECT_EQ(runNuscope({"why", study, flag}).end.text(), "exit code 0") << flag;
}

TEST_F(WhyCommand, refusals) {
  const auto refusal = [](const std::vector<std::string>& arguments) {
    const Finished finished = runNuscope(arguments);
    EXPECT_EQ(finished.end.text(), "exit code 3");
    return finished.errors;
  };
  EXPECT_NE(refusal({"why", study, "1"}).find("two candidates"), std::string::npos);
  EXPECT_NE(refusal({"why", study, "1", "99999"}).find("no candidate 99999"), std::string::npos);
  EXPECT_NE(refusal({"why", study, "--sweep", "7"}).find("no sweep 7"), std::string::npos);
  const std::string empty = (folder / "empty.nuscope").string();
  Study::create(empty)->addRevision("f", "text", "");
  EXPECT_NE(refusal({"why", empty}).find("no sweep"), std::string::npos);
}

TEST_F(WhyCommand, theStudyKeepsHowTheBestFell) {
  const auto opened = Study::open(study, Study::Access::read);
  const auto& environment = opened->sweeps().at(0).environment;
  EXPECT_NE(environment.at("best so far").find(" ms after "), std::string::npos);
  EXPECT_FALSE(environment.at("calibration").empty());
}

TEST(CalibrateCommand, printsItsKernelsWithoutRunningThem) {
  const Finished finished = runNuscope({"calibrate", "--source", "--target", "host-generic"});
  ASSERT_EQ(finished.end.text(), "exit code 0") << finished.errors;
  EXPECT_NE(finished.output.find("void calibrate_fma(float* out, int threads)"), std::string::npos);
  EXPECT_NE(finished.output.find("calibrate_read_memory"), std::string::npos);
}

}  // namespace
}  // namespace nuscope::sweep
