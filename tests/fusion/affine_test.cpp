#include "core/fusion/affine.h"

#include <gtest/gtest.h>

namespace nuscope::fusion {
namespace {

TEST(Affine, ReshapesCancel) {
  IndexSpace space;
  const Affine p = Affine::atom(space.variable("p", {0, 6 * 8 * 10 - 1}, 1));
  const std::vector<std::int64_t> shape{6, 8, 10};
  EXPECT_EQ(flatten(unflatten(space, p, shape), shape), p);
  // [6, 8, 10] -> [48, 10] -> [6, 80]
  const auto inner = unflatten(space, flatten(unflatten(space, p, {48, 10}), {48, 10}), {6, 80});
  EXPECT_EQ(flatten(inner, {6, 80}), p);
}

TEST(Affine, RangesDecideQuotients) {
  IndexSpace space;
  const Affine i = Affine::atom(space.variable("i", {0, 4}, 1));
  const Affine j = Affine::atom(space.variable("j", {0, 9}, 2));
  EXPECT_EQ(space.quotient(i * 10 + j, 10), i);
  EXPECT_EQ(space.remainder(i * 10 + j, 10), j);
  EXPECT_EQ(space.quotient(j - 10, 10), Affine(-1));
  const Affine q = space.quotient(j, 3);
  EXPECT_EQ(space.text(q), "(j / 3)");
  EXPECT_EQ(space.quotient(q, 2), space.quotient(j, 6));
  EXPECT_EQ(space.text(space.quotient(j - 4, 3)), "((j + 2) / 3) - 2");
}

TEST(Affine, TextOrdersByStride) {
  IndexSpace space;
  const Affine i = Affine::atom(space.variable("i", {0, 4}, 1));
  const Affine j = Affine::atom(space.variable("j", {0, 9}, 2, true));
  EXPECT_EQ(space.text(j + i * 10 + 3), "i * 10 + j + 3");
  EXPECT_EQ(space.vectorText(j + i * 10), "int(i) * 10 + lanesFrom(j)");
  EXPECT_EQ(space.depth(i), 1);
  EXPECT_TRUE(space.lanes(i + j));
}

}  // namespace
}  // namespace nuscope::fusion
