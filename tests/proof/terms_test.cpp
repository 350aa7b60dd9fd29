// Terms in arbitrary precision: integer polynomials and quotients, real polynomials with the laws of
// functions, folds in normal form.
#include <gtest/gtest.h>

#include "core/proof/folds.h"
#include "core/proof/functions.h"
#include "core/proof/int_facts.h"
#include "core/proof/int_term.h"
#include "core/proof/math_text.h"
#include "core/proof/real_term.h"
#include "core/proof/signs.h"
#include "core/proof/substitute.h"
#include "core/proof/zero_test.h"

namespace nuscope::proof {
namespace {

class Terms : public ::testing::Test {
 protected:
  Calculus c;
  IntRef n = dimension(c, "N");
  IntRef m = dimension(c, "M");

  PolyRef x(const std::string& name, std::vector<IntRef> at = {}) {
    return element(c, c.arena.source({name, nullptr, false, {}}), std::move(at));
  }
  IntRef scalar(const std::string& name) {
    return intElement(c, c.arena.source({name, nullptr, true, {}}), {});
  }
  IntRef number(const std::string& digits) { return intConstant(c, Integer(digits)); }
};

int nested(Calculus& c, int depth) {
  c.tick();
  return depth == 100'000'000 ? 0 : nested(c, depth + 1) + 1;  // more than any stack holds
}

TEST_F(Terms, EndlessNestingIsGivenUpNotDiedOf) {
  try {
    nested(c, 0);
    FAIL();
  } catch (const GaveUp& gaveUp) {
    EXPECT_EQ(gaveUp.reason, "the terms nest too deeply");
  }
}

TEST_F(Terms, IntegersBeyond64Bits) {
  const IntRef big = number("18446744073709551616");  // 2^64
  EXPECT_NE(add(c, big, n), n);
  EXPECT_EQ(text(c, multiply(c, big, big)), "340282366920938463463374607431768211456");
  // A difference that vanishes modulo 2^64 is no difference of nothing.
  EXPECT_FALSE(subtract(c, multiply(c, big, n), c.arena.zeroInt)->isZero());
  EXPECT_TRUE(subtract(c, multiply(c, big, n), multiply(c, n, big))->isZero());
  EXPECT_EQ(floorDivide(c, multiply(c, big, n), big), n);
}

TEST_F(Terms, CoefficientsBeyond64Bits) {
  // (x + 1.000001)^8 has coefficients with denominators of 48 decimal digits.
  const PolyRef base = add(c, x("x"), polyConstant(c, *parseDecimal("1.000001")));
  const PolyRef direct = power(c, base, 8);
  const PolyRef square = multiply(c, base, base);
  const PolyRef fourth = multiply(c, square, square);
  EXPECT_EQ(direct, multiply(c, fourth, fourth));
  EXPECT_NE(direct, add(c, direct, polyConstant(c, *parseDecimal("1e-60"))));
  const PolyRef huge = polyConstant(c, Rational(Integer("18446744073709551616")));
  EXPECT_FALSE(subtract(c, multiply(c, huge, x("x")), c.arena.zero)->isZero());
}

TEST_F(Terms, QuotientsSimplifyOnlyByProof) {
  const IntAtomRef t = freshIndex(c, n, "i");
  const IntAtomRef u = freshIndex(c, m, "i");
  const IntRef flat = add(c, multiply(c, intOf(c, t), m), intOf(c, u));
  EXPECT_EQ(floorDivide(c, flat, m), intOf(c, t));
  EXPECT_EQ(floorDivide(c, floorDivide(c, scalar("s"), number("3")), number("5")),
            floorDivide(c, scalar("s"), number("15")));
  // The divisor s may be 0 or negative.
  const IntRef s = scalar("s");
  EXPECT_NE(floorDivide(c, multiply(c, s, n), s), n);
  // -1 is no divisor to split by.
  EXPECT_NE(floorDivide(c, n, number("-1")), negate(c, n));
}

TEST_F(Terms, SignsOfIndices) {
  const IntAtomRef t = freshIndex(c, n);
  const IntAtomRef p = freshIndex(c, m);
  const IntRef flat = add(c, multiply(c, intOf(c, t), m), intOf(c, p));
  EXPECT_TRUE(nonNegative(c, flat));
  EXPECT_TRUE(positive(c, subtract(c, multiply(c, n, m), flat)));
  EXPECT_FALSE(nonNegative(c, subtract(c, n, m)));
  EXPECT_FALSE(positive(c, intOf(c, t)));
  const IntAtomRef wild = freshVariable(c, n, false);
  EXPECT_FALSE(nonNegative(c, intOf(c, wild)));
}

TEST_F(Terms, LawsOfFunctions) {
  const PolyRef a = x("a");
  const PolyRef b = x("b");
  EXPECT_EQ(multiply(c, expOf(c, a), expOf(c, b)), expOf(c, add(c, a, b)));
  EXPECT_EQ(power(c, expOf(c, scale(c, a, Rational(1, 2))), 2), expOf(c, a));
  EXPECT_EQ(power(c, sqrtOf(c, a), 2), a);
  EXPECT_EQ(sqrtOf(c, multiply(c, a, a)), absOf(c, a));
  EXPECT_NE(sqrtOf(c, multiply(c, a, b)), multiply(c, sqrtOf(c, a), sqrtOf(c, b)));
  EXPECT_NE(logOf(c, multiply(c, a, b)), add(c, logOf(c, a), logOf(c, b)));
  EXPECT_EQ(logOf(c, multiply(c, expOf(c, a), b)), add(c, a, logOf(c, b)));
  EXPECT_EQ(add(c, power(c, sinOf(c, a), 2), power(c, cosOf(c, a), 2)), c.arena.one);
  EXPECT_EQ(sinOf(c, negate(c, a)), negate(c, sinOf(c, a)));
  EXPECT_EQ(multiply(c, a, inverse(c, a)), c.arena.one);
  EXPECT_EQ(inverse(c, inverse(c, add(c, a, b))), add(c, a, b));
  EXPECT_EQ(rintOf(c, polyConstant(c, Rational(5, 2))), polyConstant(c, 2));
  EXPECT_EQ(rintOf(c, polyConstant(c, Rational(-7, 2))), polyConstant(c, -4));
  EXPECT_EQ(floorOf(c, polyConstant(c, Rational(-1, 2))), polyConstant(c, -1));
}

TEST_F(Terms, Conditions) {
  const PolyRef a = x("a");
  const PolyRef when = whenPositive(c, a);
  EXPECT_EQ(multiply(c, when, when), when);
  EXPECT_EQ(multiply(c, when, negation(c, when)), c.arena.zero);
  EXPECT_EQ(whenPositive(c, scale(c, a, 3)), when);
  const IntRef s = scalar("s");
  EXPECT_EQ(add(c, whenNonNegative(c, s), whenNonNegative(c, plus(c, negate(c, s), -1))), c.arena.one);
  EXPECT_EQ(whenNonNegative(c, add(c, scale(c, s, 2), c.arena.oneInt)), whenNonNegative(c, s));
  EXPECT_EQ(whenZero(c, add(c, scale(c, s, 2), c.arena.oneInt)), c.arena.zero);
}

TEST_F(Terms, MaximumTakesFactorsOnlyWithSign) {
  const PolyRef parts[] = {x("a"), x("b")};
  const PolyRef largest = maximumOf(c, parts);
  const PolyRef s = x("s");
  const PolyRef scaled[] = {multiply(c, s, x("a")), multiply(c, s, x("b"))};
  EXPECT_NE(maximumOf(c, scaled), multiply(c, s, largest));
  const PolyRef e = expOf(c, s);
  const PolyRef positive[] = {multiply(c, e, x("a")), multiply(c, e, x("b"))};
  EXPECT_EQ(maximumOf(c, positive), multiply(c, e, largest));
  // s/|s| has no known sign.
  const PolyRef sign = multiply(c, s, inverse(c, absOf(c, s)));
  const PolyRef signedParts[] = {multiply(c, sign, x("a")), multiply(c, sign, x("b"))};
  EXPECT_NE(maximumOf(c, signedParts), multiply(c, sign, largest));
}

TEST_F(Terms, SumsAreAlphaEqual) {
  const auto sum = [&](bool exchanged) {
    const IntAtomRef i = freshIndex(c, n);
    const IntAtomRef j = freshIndex(c, m);
    const PolyRef body = multiply(c, x("a", {intOf(c, i), intOf(c, j)}), x("b", {intOf(c, j)}));
    return exchanged ? makeSum(c, {j, i}, body) : makeSum(c, {i, j}, body);
  };
  EXPECT_EQ(sum(false), sum(true));
}

TEST_F(Terms, NoCaptureWhenFoldsAreSubstituted) {
  // f(j) = sum_{k<N} a[k, j]; f under another sum over its own index must not meet the inner one.
  const IntAtomRef j = freshIndex(c, n);
  const IntAtomRef k = freshIndex(c, n);
  const PolyRef f = makeSum(c, {k}, expOf(c, x("a", {intOf(c, k), intOf(c, j)})));
  const PolyRef square = power(c, f, 2);
  const PolyRef whole = makeSum(c, {j}, logOf(c, add(c, square, c.arena.one)));
  const IntAtomRef v = freshIndex(c, n);
  const PolyRef diagonal = makeSum(
      c, {v}, logOf(c, add(c, power(c, expOf(c, x("a", {intOf(c, v), intOf(c, v)})), 2), c.arena.one)));
  EXPECT_NE(whole, diagonal);
  EXPECT_EQ(substitute(c, whole, j, intOf(c, v)), whole);
}

TEST_F(Terms, FoldLemmas) {
  const auto index = [&](IntRef extent) { return freshIndex(c, extent); };
  {  // S5: tiles
    const IntAtomRef t = index(n);
    const IntAtomRef u = index(m);
    const IntAtomRef k = index(multiply(c, n, m));
    const PolyRef tiles = makeSum(c, {t, u}, x("a", {add(c, multiply(c, intOf(c, t), m), intOf(c, u))}));
    EXPECT_EQ(tiles, makeSum(c, {k}, x("a", {intOf(c, k)})));
  }
  {  // S6: delta, only inside the range
    const IntAtomRef k = index(n);
    const IntRef s = scalar("s");
    const PolyRef picked =
        makeSum(c, {k}, multiply(c, whenZero(c, subtract(c, intOf(c, k), s)), x("a", {intOf(c, k)})));
    EXPECT_NE(picked, x("a", {s}));
    const IntAtomRef i = freshIndex(c, n, "i");
    const IntAtomRef q = index(n);
    const PolyRef inside = makeSum(
        c, {q}, multiply(c, whenZero(c, subtract(c, intOf(c, q), intOf(c, i))), x("a", {intOf(c, q)})));
    EXPECT_EQ(inside, x("a", {intOf(c, i)}));
  }
  {  // S7: a prefix by a condition of unknown sign is no plain prefix
    const IntAtomRef k = index(n);
    const IntRef s = scalar("s");
    const PolyRef below = makeSum(c, {k}, whenNonNegative(c, plus(c, subtract(c, s, intOf(c, k)), -1)));
    EXPECT_NE(below, toReal(c, s));
    EXPECT_TRUE(below->indicators);
  }
  {  // S10: powers
    const IntAtomRef k = index(n);
    const PolyRef cubes = makeSum(c, {k}, power(c, toReal(c, intOf(c, k)), 3));
    const PolyRef half =
        scale(c, multiply(c, toReal(c, n), subtract(c, toReal(c, n), c.arena.one)), Rational(1, 2));
    EXPECT_EQ(cubes, power(c, half, 2));
  }
  {  // M2 needs a sign
    const IntAtomRef k = index(n);
    const PolyRef s = x("s");
    const PolyRef scaled = makeMax(c, {k}, multiply(c, s, x("a", {intOf(c, k)})), c.arena.one);
    const IntAtomRef l = index(n);
    const PolyRef plain = makeMax(c, {l}, x("a", {intOf(c, l)}), c.arena.one);
    EXPECT_NE(scaled, multiply(c, s, plain));
  }
}

TEST_F(Terms, CauchySchwarzIsNotAssumed) {
  Recorder recorder;
  Oracle oracle(c, nullptr, recorder);
  ZeroTest test(c, oracle, recorder);
  const IntAtomRef k = freshIndex(c, n);
  const PolyRef a = makeSum(c, {k}, x("a", {intOf(c, k)}));
  EXPECT_FALSE(test.zero(subtract(c, power(c, a, 2), makeSum(c, {freshIndex(c, n)}, power(c, x("b"), 2)))));
  EXPECT_TRUE(recorder.steps.empty());
}

}  // namespace
}  // namespace nuscope::proof
