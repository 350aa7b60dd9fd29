#include "core/machine/target.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "core/base/diagnostics.h"
#include "core/base/files.h"
#include "core/machine/model.h"

namespace nuscope::machine {
namespace {

std::string description(const std::string& name) {
  return readWholeFile(NUSCOPE_SOURCE_DIR "/hw/" + name + ".json");
}

/// The message for host-avx2.json with one piece of text replaced.
std::string refusalOf(const std::string& what, const std::string& by) {
  std::string text = description("host-avx2");
  const auto at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  text.replace(at, what.size(), by);
  try {
    parseTarget(text, "t.json");
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Target, AllDescriptionsLoad) {
  const auto names = targetNames();
  EXPECT_GE(names.size(), 3U);
  for (const std::string& name : names) EXPECT_EQ(loadTarget(name).name, name);
}

TEST(Target, MessagesNameTheKey) {
  EXPECT_EQ(refusalOf("\"registers\": 16,", ""), "t.json: vector.registers: the key is missing");
  EXPECT_EQ(refusalOf("\"registers\": 16", "\"registers\": \"many\""),
            "t.json: vector.registers: an integer from 8 to 64 is expected, not \"many\"");
  EXPECT_EQ(refusalOf("\"bits\": 256", "\"bits\": 257"), "t.json: vector.bits: 128, 256 or 512 is expected");
  EXPECT_EQ(refusalOf("\"bytes\": 524288", "\"bytes\": 5"),
            "t.json: memory[1].bytes: levels are expected in ascending order of size");
  EXPECT_EQ(refusalOf("\"rows\": 6", "\"rows\": 6, \"columns\": 1"),
            "t.json: microTiles[0].columns: unknown key");
  EXPECT_EQ(refusalOf("\"gigahertz\": 2.8", "\"gigahertz\": 0"),
            "t.json: gigahertz: a number > 0 is expected, not 0");
  EXPECT_EQ(refusalOf("\"f32\"", "\"f31\""), "t.json: dtypes: 'f31' is no element type");
  EXPECT_EQ(refusalOf("\"host\"", "\"toaster\""), "t.json: kind: \"host\" is expected, not \"toaster\"");
  EXPECT_NE(refusalOf("{", "").find("t.json: not JSON"), std::string::npos);
}

TEST(Target, UnknownNamesListTheKnown) {
  try {
    loadTarget("host-avx3");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("host-avx2, host-avx512, host-generic"), std::string::npos);
  }
}

TEST(Target, HostRunsHereAndSaysWhy) {
  const HostTarget host = hostTarget();
  EXPECT_TRUE(missingFeatures(loadTarget(host.name)).empty());
  EXPECT_NE(host.why.find("the processor ("), std::string::npos) << host.why;
  EXPECT_EQ(loadTarget("host").name, host.name);
}

TEST(Model, SlowestResourceBounds) {
  const Target target = loadTarget("host-avx2");
  Work work;
  work.fmaVectors = 2.8e9 * 2;  // one second of multiply-adds
  work.bytes["memory"] = 1e9;
  work.regions = 0;
  EXPECT_NEAR(modelledSeconds(work, target), 1.0, 1e-6);
  EXPECT_NEAR(modelledSeconds(work, target, 2), 0.5, 1e-5);
  EXPECT_EQ(modelledBound(work, target), "arithmetic");
  work.bytes["memory"] = 1e11;
  EXPECT_EQ(modelledBound(work, target), "memory");
}

}  // namespace
}  // namespace nuscope::machine
