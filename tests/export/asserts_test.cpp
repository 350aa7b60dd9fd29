// Which asserts are decided when a kernel is called: those whose values are exact, and no other.
#include "core/export/asserts.h"

#include <gtest/gtest.h>

#include "core/language/parse.h"

namespace nuscope::exporting {
namespace {

Asserts of(const std::string& parameters, const std::string& condition) {
  const auto parsed = language::parse("from __future__ import annotations\nimport numpy as np\n\n\ndef f(" +
                                      parameters + "):\n    assert " + condition + "\n    return x\n");
  EXPECT_TRUE(parsed.program) << (parsed.diagnostics.empty() ? "" : parsed.diagnostics[0].message);
  return assertsOf(*parsed.program, {{"M", 4}, {"N", 5}}, "f_asserts");
}

std::string whyNot(const std::string& parameters, const std::string& condition) {
  const Asserts asserts = of(parameters, condition);
  EXPECT_EQ(asserts.lines.size(), 1U);
  EXPECT_EQ(asserts.code.has_value(), asserts.lines[0].when == AssertLine::When::call);
  return asserts.lines[0].when == AssertLine::When::never ? asserts.lines[0].why : "";
}

TEST(ExportAsserts, exactOnesAreDecided) {
  EXPECT_EQ(whyNot("x: f32[M, N]", "np.all(x > 0)"), "");
  EXPECT_EQ(whyNot("x: f32[M, N]", "np.all(np.max(x, axis=-1) > 0)"), "");
  EXPECT_EQ(whyNot("x: f32[M, N]", "np.all(np.abs(x) <= 1e-5)"), "")
      << "no f32 lies between 1e-5 and its double";
  EXPECT_EQ(whyNot("x: f32[M, M]", "np.all(x == x.T)"), "");
  EXPECT_EQ(whyNot("x: i32[M]", "np.all(x < 100)"), "");
  EXPECT_EQ(whyNot("x: f32[M], c: f32", "c > 0"), "");
}

TEST(ExportAsserts, roundedOnesAreNotAndSaySo) {
  EXPECT_EQ(whyNot("x: f32[M, N]", "np.all(np.sum(x, axis=-1) != 0)"), "sum rounds");
  EXPECT_EQ(whyNot("x: f32[M, N]", "np.all(x * x > 0)"), "multiply rounds or may overflow");
  EXPECT_EQ(whyNot("x: f32[M, N]", "np.all(np.exp(x) > 1)"), "exp rounds or may overflow");
  EXPECT_NE(whyNot("x: f64[M, N]", "np.all(x > 0.1)"), "") << "a double is 0.1 as nearly as the literal";
  EXPECT_EQ(whyNot("x: i32[M]", "np.all(x + 1 > 0)"), "add rounds or may overflow");
}

TEST(ExportAsserts, dimensionsAreDecidedByTheExtents) {
  const Asserts asserts = of("x: f32[M, N]", "x.shape[1] % 4 == 0");
  ASSERT_EQ(asserts.lines.size(), 1U);
  EXPECT_EQ(asserts.lines[0].when, AssertLine::When::extents);
  EXPECT_FALSE(asserts.code);
}

}  // namespace
}  // namespace nuscope::exporting
