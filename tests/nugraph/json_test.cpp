#include "core/nugraph/json.h"

#include <random>

#include "tests/nugraph/sample.h"

namespace nuscope::nugraph {
namespace {

TEST(NuGraphJson, RoundTrip) {
  const NuGraph graph = test::sampleGraph();
  const std::string text = toJson(graph);
  const auto read = fromJson(text);
  ASSERT_TRUE(read.ok()) << read.refusal().message;
  EXPECT_EQ(toJson(*read), text);
  EXPECT_EQ(read->variants()[2].title, "last");
  EXPECT_FALSE(read->steps()[0].byHand);
  EXPECT_TRUE(read->steps()[2].byHand);
  EXPECT_EQ(read->refused()[0].proof->counterexample->seed, 0xffffffffffffffffULL);
  EXPECT_EQ(read->cuts(), graph.cuts());
  EXPECT_EQ(read->root().variables.size(), 1U);
}

TEST(NuGraphJson, ProofsComeBackAsRecorded) {
  const auto read = fromJson(toJson(test::sampleGraph()));
  ASSERT_TRUE(read.ok());
  for (const Step& step : read->steps()) EXPECT_TRUE(step.recorded);
  for (const Refused& refused : read->refused()) EXPECT_TRUE(refused.recorded);
  EXPECT_FALSE(test::sampleGraph().steps()[0].recorded);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(NuGraphJson, RefusalsSayWhat) {
  const std::string text = toJson(test::sampleGraph());
  const auto refusal = [](const std::string& bad) {
    const auto read = fromJson(bad);
    EXPECT_FALSE(read.ok());
    return read.ok() ? std::string() : read.refusal().message;
  };
  EXPECT_NE(refusal("{").find("no valid JSON"), std::string::npos);
  EXPECT_NE(refusal("[]").find("'format'"), std::string::npos);
  EXPECT_NE(refusal("{}").find("'format' is missing"), std::string::npos);
  EXPECT_NE(refusal(replaced(text, "\"version\":1", "\"version\":7")).find("the nu-graph"),
            std::string::npos);
  EXPECT_NE(refusal(replaced(text, "\"op\":\"matmul\"", "\"op\":\"mutmal\"")).find("'mutmal' is unknown"),
            std::string::npos);
  EXPECT_NE(refusal(replaced(text, "\"op\":\"divide\"", "\"op\":\"matmul\"")).find("matmul"),
            std::string::npos);
  EXPECT_NE(refusal(replaced(text, "\"byHand\":true", "\"byHand\":1")).find("byHand"), std::string::npos);
  EXPECT_NE(refusal(replaced(text, "\"verdict\":\"proved\"", "\"verdict\":\"unknown\"")).find("verdict"),
            std::string::npos);
}

/// Any change of bytes is read, or refused with a reason; never more.
TEST(NuGraphJson, DamagedTextIsRefusedOrRead) {
  const std::string text = toJson(test::sampleGraph());
  std::mt19937_64 random(7);
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string bad = text;
    const int changes = 1 + static_cast<int>(random() % 3);
    for (int i = 0; i < changes; ++i) {
      const std::size_t at = random() % bad.size();
      switch (random() % 4) {
        case 0:
          bad[at] = static_cast<char>(random() % 256);
          break;
        case 1:
          bad.erase(at, 1 + random() % 20);
          break;
        case 2:
          bad.insert(at, bad.substr(random() % bad.size(), random() % 30));
          break;
        default:
          bad[at] = "0123456789[]{},:\"-"[random() % 18];
          break;
      }
      if (bad.empty()) break;
    }
    const auto read = fromJson(bad);
    if (read.ok()) {
      EXPECT_FALSE(toJson(*read).empty());
    } else {
      ++refused;
      EXPECT_FALSE(read.refusal().message.empty());
    }
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace nuscope::nugraph
