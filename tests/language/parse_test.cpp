#include "core/language/parse.h"

#include <gtest/gtest.h>

#include "tests/language/programs.h"

namespace nuscope::language {
namespace {

TEST(Corpus, EveryProgramParses) {
  const auto files = corpusFiles();
  if (files.empty()) GTEST_SKIP() << "the corpus is not here";
  for (const auto& path : files) {
    const std::string text = readWholeFile(path);
    const Parsed parsed = parse(text);
    EXPECT_TRUE(parsed.program) << render(parsed.diagnostics, path.string(), text);
  }
  EXPECT_GT(files.size(), 700U);
}

TEST(Programs, AllThirtyParse) {
  const auto files = programFiles();
  EXPECT_GE(files.size(), 30U);
  for (const auto& path : files) {
    const std::string text = readWholeFile(path);
    const Parsed parsed = parse(text);
    ASSERT_TRUE(parsed.program) << render(parsed.diagnostics, path.string(), text);
    EXPECT_EQ(parsed.program->name, path.stem().string());
  }
}

}  // namespace
}  // namespace nuscope::language
