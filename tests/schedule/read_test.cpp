#include "core/schedule/read.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/files.h"

namespace nuscope::schedule {
namespace {

namespace fs = std::filesystem;

/// The cases beside the project, or those that it ships.
fs::path casesFolder() {
  return fs::path(NUSCOPE_SHARED_DIR) / "cases/schedules";
}

TEST(ReadAmk, EveryCaseLoadsAsItShould) {
  if (!fs::exists(casesFolder())) GTEST_SKIP() << "no " << casesFolder();
  int loaded = 0;
  int refused = 0;
  for (const auto& entry : fs::directory_iterator(casesFolder())) {
    if (!entry.is_directory()) continue;
    const auto meta = nlohmann::json::parse(readWholeFile(entry.path() / "case.json"));
    const std::string text = readWholeFile(entry.path() / "schedule.json");
    const ReadResult result = readAmk(text);
    const bool shouldFail = meta.value("stage", "") == "load";
    EXPECT_EQ(!result.schedule.has_value(), shouldFail)
        << entry.path() << ": " << (result.faults.empty() ? "" : result.faults[0].message);
    ++(result.schedule ? loaded : refused);
    if (!result.schedule || !result.faults.empty()) continue;
    const std::string written = writeAmk(*result.schedule);
    ASSERT_TRUE(nlohmann::json::accept(text) && nlohmann::json::accept(written)) << entry.path() << "\n"
                                                                                 << written;
    EXPECT_EQ(nlohmann::json::parse(text), nlohmann::json::parse(written)) << entry.path();
  }
  printf("%d loaded and written back, %d refused\n", loaded, refused);
}

TEST(ReadAmk, FaultsHaveAPlace) {
  const ReadResult result = readAmk(
      "{\n\"ir_version\": \"0.2.0\", \"counters\": [], \"buffers\": [], \"tasks\": [\n {\"id\": 1.5}]}");
  ASSERT_FALSE(result.schedule);
  EXPECT_EQ(result.faults[0].message, "tasks[0]: 'id' is 1.5, not an integer of 63 bits");
  EXPECT_EQ(result.faults[0].where, "line 3, column 9");
}

TEST(ReadAmk, DepthIsBounded) {
  const std::string deep = "{\"meta\": " + std::string(100000, '[') + std::string(100000, ']') + "}";
  ASSERT_FALSE(readAmk(deep).schedule);
}

}  // namespace
}  // namespace nuscope::schedule
