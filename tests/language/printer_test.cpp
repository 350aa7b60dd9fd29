#include "core/language/printer.h"

#include <gtest/gtest.h>

#include "core/language/parse.h"
#include "tests/language/programs.h"

namespace nuscope::language {
namespace {

/// Prints the program and reads it back into the same store.
void expectRoundTrip(const std::string& text, const std::string& what) {
  const auto store = std::make_shared<tensor::NodeStore>();
  const Parsed first = parse(text, store);
  ASSERT_TRUE(first.program) << render(first.diagnostics, what, text);
  const Printed printed = print(*first.program, first.program->results);
  const Parsed second = parse(printed.text, store);
  ASSERT_TRUE(second.program) << what << " became\n"
                              << printed.text << render(second.diagnostics, "printed", printed.text);
  EXPECT_EQ(first.program->results, second.program->results) << text << "became\n" << printed.text;
  ASSERT_EQ(first.program->preconditions.size(), second.program->preconditions.size()) << printed.text;
  std::vector<tensor::NodeRef> before, after;
  for (const auto& assert : first.program->preconditions) {
    if (assert.condition) before.push_back(assert.condition);
  }
  for (const auto& assert : second.program->preconditions) {
    if (assert.condition) after.push_back(assert.condition);
  }
  EXPECT_EQ(before, after) << printed.text;
  const Printed again = print(*second.program, second.program->results);
  EXPECT_EQ(printed.text, again.text) << "printing is not stable for " << what;
}

TEST(Printer, AllProgramsComeBack) {
  for (const auto& path : programFiles()) expectRoundTrip(readFile(path), path.string());
}

TEST(Printer, LanguageFeaturesComeBack) {
  const auto files = filesBelow(std::filesystem::path(NUSCOPE_SOURCE_DIR) / "tests/data/language");
  EXPECT_FALSE(files.empty());
  for (const auto& path : files) expectRoundTrip(readFile(path), path.string());
}

TEST(Printer, TheCorpusComesBack) {
  const auto files = corpusFiles();
  if (files.empty()) GTEST_SKIP() << "the corpus is not here";
  for (const auto& path : files) expectRoundTrip(readFile(path), path.string());
}

}  // namespace
}  // namespace nuscope::language
