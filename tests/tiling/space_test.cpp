#include "core/tiling/space.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/base/diagnostics.h"
#include "core/language/parse.h"

namespace nuscope::tiling {
namespace {

Space spaceFor(const std::string& name, const tensor::Extents& extents,
               const std::string& target = "host-avx2") {
  const auto program = language::parseFile(NUSCOPE_SOURCE_DIR "/resources/programs/" + name + ".py");
  return spaceOf(program, program.results, extents, machine::loadTarget(target));
}

TEST(Space, RmsnormMatmulHasHundredsOfPoints) {
  const Space space = spaceFor("rmsnorm_matmul", {{"M", 512}, {"K", 1024}, {"N", 1024}});
  EXPECT_GE(space.admitted, 200);
  EXPECT_LT(space.admitted, space.combinations);
  const auto points = enumerate(space);
  EXPECT_EQ(static_cast<std::int64_t>(points.size()), space.admitted);
  EXPECT_EQ(std::set<Parameters>(points.begin(), points.end()).size(), points.size());
  EXPECT_EQ(points[0], space.presets());
  for (const Constraint& limit : space.constraints) EXPECT_TRUE(limit.holds(space.presets())) << limit.text;
}

TEST(Space, ALimitSpreadsOverTheWholeOrder) {
  const Space space = spaceFor("rmsnorm_matmul", {{"M", 512}, {"K", 1024}, {"N", 1024}});
  const auto some = enumerate(space, 20);
  ASSERT_EQ(some.size(), 20U);
  EXPECT_EQ(some, enumerate(space, 20));
  std::set<std::int64_t> tiles;
  for (const Parameters& point : some) tiles.insert(point.at("tile_m"));
  EXPECT_GE(tiles.size(), 3U);
}

TEST(Space, ColumnsAreOutsideOnlyWhereThatMeansSomething) {
  const Space space = spaceFor("gated_mlp", {{"M", 256}, {"K", 512}, {"H", 1024}});
  int outside = 0;
  std::set<std::string> texts;
  for (const Parameters& point : enumerate(space)) {
    if (point.at("order") == 0) continue;
    ++outside;
    EXPECT_LT(point.at("fuse"), 2);
    EXPECT_EQ(point.at("prefetch"), 0);
    Parameters rest = point;
    rest.erase("strip_m");
    EXPECT_TRUE(texts.insert(text(rest)).second) << text(point);
  }
  EXPECT_GT(outside, 10);
}

TEST(Space, RegistersBoundTheBlock) {
  const Space space = spaceFor("matmul", {{"M", 512}, {"K", 512}, {"N", 512}});
  for (const Parameters& point : enumerate(space)) {
    const auto rows = point.at("tile_m");
    const auto vectors = point.at("tile_n") / 8;
    EXPECT_LE(rows * vectors + std::min(rows, vectors) + 1, 16) << text(point);
  }
}

TEST(Space, ElementwiseProgramsHaveNoTiles) {
  const Space space = spaceFor("silu", {{"M", 64}, {"N", 64}});
  EXPECT_FALSE(space.presets().contains("tile_m"));
  EXPECT_GE(space.admitted, 1);
}

TEST(Space, AnEmptySpaceNamesWhatIsInConflict) {
  Space space;
  space.parameters = {{"a", "", {1, 2, 3}, 1}, {"b", "", {1, 2}, 1}};
  space.constraints = {{"x", "a is at least 3", {"a"}, [](const Parameters& p) { return p.at("a") >= 3; }},
                       {"y", "b is at least 1", {"b"}, [](const Parameters& p) { return p.at("b") >= 1; }},
                       {"z", "a + b is at most 3", {"a", "b"}, [](const Parameters& p) {
                          return p.at("a") + p.at("b") <= 3;
                        }}};
  count(space);
  EXPECT_EQ(space.admitted, 0);
  EXPECT_EQ(space.conflict, (std::vector<std::string>{"a is at least 3", "a + b is at most 3"}));
  EXPECT_TRUE(enumerate(space).empty());
}

TEST(Space, SettingsAreParsed) {
  Parameters parameters;
  set(parameters, "tile_m=6");
  EXPECT_EQ(parameters.at("tile_m"), 6);
  EXPECT_THROW(set(parameters, "tile_m"), UserError);
  EXPECT_THROW(set(parameters, "tile_m=six"), UserError);
  EXPECT_THROW(set(parameters, "=6"), UserError);
}

TEST(Space, MissingExtentsAreNamed) {
  EXPECT_THROW(spaceFor("matmul", {{"M", 4}}), UserError);
}

}  // namespace
}  // namespace nuscope::tiling
