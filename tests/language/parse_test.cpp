#include "core/language/parse.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace nuscope::language {
namespace {

namespace fs = std::filesystem;

std::string readFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

TEST(Corpus, EveryProgramParses) {
  const fs::path cases = fs::path(NUSCOPE_SHARED_DIR) / "cases";
  if (!fs::exists(cases)) GTEST_SKIP() << cases << " is not here";
  int files = 0;
  for (const char* kind : {"rewrites", "streams", "float_traps"}) {
    for (const auto& folder : fs::directory_iterator(cases / kind)) {
      for (const char* side : {"left.py", "right.py"}) {
        const fs::path path = folder.path() / side;
        if (!fs::exists(path)) continue;
        const std::string text = readFile(path);
        const Parsed parsed = parse(text);
        ++files;
        EXPECT_TRUE(parsed.program) << render(parsed.diagnostics, path.string(), text);
      }
    }
  }
  EXPECT_GT(files, 700);
}

TEST(Programs, AllThirtyParse) {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(NUSCOPE_SOURCE_DIR) / "resources/programs")) {
    if (entry.path().extension() != ".py") continue;
    const std::string text = readFile(entry.path());
    const Parsed parsed = parse(text);
    ++files;
    EXPECT_TRUE(parsed.program) << render(parsed.diagnostics, entry.path().string(), text);
    if (!parsed.program) continue;
    EXPECT_EQ(parsed.program->name, entry.path().stem().string());
  }
  EXPECT_GE(files, 30);
}

}  // namespace
}  // namespace nuscope::language
