// `nuscope rehearse`: the search's promise on spaces whose times were all measured once, and kept. No clock
// runs.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "tests/run_nuscope.h"

namespace nuscope::sweep {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class RehearseCommand : public testing::Test {
 protected:
  RehearseCommand() {
    char pattern[] = "/tmp/nuscope-rehearse-XXXXXX";
    folder = mkdtemp(pattern);
  }
  ~RehearseCommand() override { fs::remove_all(folder); }
  [[nodiscard]] std::string file(const std::string& name, const std::string& text) const {
    writeWholeFile(folder / name, text);
    return (folder / name).string();
  }
  fs::path folder;
};

TEST_F(RehearseCommand, aTenthOfASpaceReaches97PercentOfItsBest) {
  std::vector<std::string> arguments{"rehearse", "--json"};
  for (const auto& entry : fs::directory_iterator(NUSCOPE_SOURCE_DIR "/tests/data/rehearsal")) {
    if (entry.path().extension() == ".json") arguments.push_back(entry.path().string());
  }
  ASSERT_GE(arguments.size(), 7U);
  const Finished finished = runNuscope(arguments);
  ASSERT_TRUE(finished.end.success()) << finished.errors;
  for (const json& row : json::parse(finished.output).at("rows")) {
    SCOPED_TRACE(row.at("program").get<std::string>());
    EXPECT_GE(row.at("candidates").get<int>(), 300);
    EXPECT_LE(row.at("measured").get<double>(), std::ceil(0.1 * row.at("candidates").get<double>()));
    EXPECT_EQ(row.at("reached").size(), 5U);
    EXPECT_GE(row.at("reached_median").get<double>(), 0.97);
    EXPECT_GE(row.at("rank_correlation").get<double>(), 0.5) << "the model that the points were kept with";
  }
}

TEST_F(RehearseCommand, keptPointsAreRehearsedAsTheStudyIs) {
  const std::string study = (folder / "s.nuscope").string();
  const std::string points = (folder / "p.json").string();
  const Finished swept = runNuscope({"sweep", NUSCOPE_SOURCE_DIR "/resources/programs/silu.py", "--shape",
                                     "M=8,N=64", "--exhaustive", "--no-baselines", "-o", study});
  ASSERT_TRUE(swept.end.success()) << swept.errors;
  const Finished ofStudy = runNuscope({"rehearse", study, "--percent", "50", "--json", "--points", points});
  ASSERT_TRUE(ofStudy.end.success()) << ofStudy.errors;
  const Finished ofPoints = runNuscope({"rehearse", points, "--percent", "50", "--json"});
  EXPECT_EQ(ofPoints.output, ofStudy.output) << ofPoints.errors;
  EXPECT_EQ(json::parse(ofStudy.output).at("rows").size(), 1U);
  EXPECT_EQ(runNuscope({"rehearse", study, points, "--points", points}).end.code, 3);
}

TEST_F(RehearseCommand, refusals) {
  const std::string head = R"({"format":"nuscope-rehearsal-points","version":1,"program":"f","extents":"")";
  EXPECT_EQ(runNuscope({"rehearse", file("a.json", "[")}).end.code, 3);
  EXPECT_EQ(runNuscope({"rehearse", file("b.json", R"({"format":"other","version":1})")}).end.code, 3);
  EXPECT_EQ(runNuscope({"rehearse", file("c.json", head + R"(,"points":[[0,{}]]})")}).end.code, 3);
  EXPECT_EQ(runNuscope({"rehearse", file("d.json", head + R"(,"points":[]})")}).end.code, 3);
  EXPECT_EQ(runNuscope({"rehearse", (folder / "none.nuscope").string()}).end.code, 3);
  EXPECT_EQ(runNuscope({"rehearse", file("e.json", head + R"(,"points":[[0,{},1,1]]})"), "--percent", "0"})
                .end.code,
            3);
}

}  // namespace
}  // namespace nuscope::sweep
