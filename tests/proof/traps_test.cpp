// Soundness traps of reference/proofs.md, section 6, as program pairs: what must not be proved (draws off),
// beside the nearest true statement, which must.
#include <gtest/gtest.h>

#include <thread>

#include "core/language/parse.h"
#include "core/proof/prove.h"
#include "core/proof/solver_pool.h"

namespace nuscope::proof {
namespace {

SolverPool& solvers() {
  static SolverPool pool(NUSCOPE_SOLVER, 1);
  return pool;
}

tensor::Program program(const std::string& signature, const std::string& body) {
  const std::string text =
      "from __future__ import annotations\nimport numpy as np\n\n\ndef program(" + signature + "):\n" + body;
  auto parsed = language::parse(text);
  if (!parsed.program) throw UserError(render(parsed.diagnostics, "test", text));
  return *parsed.program;
}

Proof proofOf(const std::string& signature, const std::string& left, const std::string& right,
              Mode mode = Mode::equal) {
  Options options;
  options.draws = false;
  options.mode = mode;
  options.solvers = &solvers();
  return prove(program(signature, left), program(signature, right), options, {});
}

Verdict verdict(const std::string& signature, const std::string& left, const std::string& right) {
  return proofOf(signature, "    return " + left + "\n", "    return " + right + "\n").verdict;
}

#define EXPECT_PROVED(...) EXPECT_EQ(verdict(__VA_ARGS__), Verdict::proved)
#define EXPECT_UNKNOWN(...) EXPECT_EQ(verdict(__VA_ARGS__), Verdict::unknown)

TEST(Traps, NegativeDivisorMakesNoEmptyRange) {
  EXPECT_UNKNOWN("x: f32[N], k: i32[N]", "np.where((k + 5) // -1 > k, x, 0)", "x");
  EXPECT_UNKNOWN("k: i32[N]", "(k + 5) // -1", "-k");
  EXPECT_PROVED("k: i32[N]", "(k + 5) // 1", "k + 5");
}

TEST(Traps, InductionOverAnExtentThatOccursElsewhere) {
  EXPECT_UNKNOWN("x: f32[K]", "np.max(x) * x.shape[0]", "np.sum(x)");
  EXPECT_UNKNOWN("x: f32[K]", "np.mean(x)", "np.max(x)");
}

TEST(Traps, PrefixConditions) {
  EXPECT_UNKNOWN("x: f32[N], n: i32", "np.sum(np.where(np.arange(x.shape[0]) < n, 1, 0))", "n");
  EXPECT_PROVED("x: f32[N]", "np.sum(np.where(np.arange(x.shape[0]) < x.shape[0], x, 0))", "np.sum(x)");
}

TEST(Traps, RangeFactsAfterAShift) {
  // A shifted index may be negative: [k >= M] must not simplify while its bound has no known sign.
  EXPECT_UNKNOWN("x: f32[N], y: f32[M]", "np.cumsum(np.where(np.arange(x.shape[0]) >= y.shape[0], x, 0))",
                 "np.cumsum(x)");
  EXPECT_UNKNOWN("x: f32[N], n: i32", "np.cumsum(np.where(np.arange(x.shape[0]) + n >= 0, x, 0))",
                 "np.cumsum(x)");
  EXPECT_PROVED("x: f32[N]", "np.cumsum(np.where(np.arange(x.shape[0]) + 1 >= 1, x, 0))", "np.cumsum(x)");
}

TEST(Traps, CaptureOfBoundVariables) {
  // The inner sum's index is not the outer one's.
  EXPECT_UNKNOWN("x: f32[N, N]", "np.sum(np.sum(x, axis=1, keepdims=True) * x)",
                 "np.sum(np.sum(x * x, axis=1))");
  EXPECT_UNKNOWN("x: f32[N, N]", "np.sum(x, axis=0) @ x", "np.sum(x @ x, axis=1)");
  EXPECT_PROVED("x: f32[N, N]", "np.sum(x, axis=0) @ x", "np.sum(x @ x, axis=0)");
}

TEST(Traps, ReshapesNeedEqualTotals) {
  EXPECT_THROW(program("x: f32[A, B]", "    A, B = x.shape\n    return x.reshape(A, B + 1)\n"), UserError);
  EXPECT_THROW(program("x: f32[A, B], y: f32[C]", "    return x.reshape(y.shape[0])\n"), UserError);
  const std::string head = "    A, B = x.shape\n    return ";
  EXPECT_EQ(proofOf("x: f32[A, B]", head + "x.reshape(B, A)\n", head + "x.T\n").verdict, Verdict::unknown);
  EXPECT_EQ(proofOf("x: f32[A, B]", head + "x.reshape(A * B).reshape(A, B)\n", head + "x\n").verdict,
            Verdict::proved);
}

TEST(Traps, EmptyPrefixes) {
  // The sum over a range of negative length is 0, the product 1.
  EXPECT_UNKNOWN("x: f32[N], n: i32", "np.sum(np.where(np.arange(x.shape[0]) < n, 1.0, 0.0))",
                 "np.minimum(n, x.shape[0]) * 1.0");
  EXPECT_UNKNOWN("x: f32[N], n: i32", "np.prod(np.where(np.arange(x.shape[0]) < n, 2.0, 1.0))",
                 "np.prod(x * 0 + 2)");
  EXPECT_PROVED("x: f32[N]", "np.prod(np.where(np.arange(x.shape[0]) < 0, 2.0, 1.0))", "1.0");
}

TEST(Traps, HypothesesWithACoefficientThatMayBeZero) {
  EXPECT_UNKNOWN("x: f32[N], s: f32", "s * np.max(x)", "s * np.sum(x)");
  EXPECT_UNKNOWN("x: f32[N], y: f32[N], s: f32", "np.max(s * x) - np.max(s * y)",
                 "s * (np.max(x) - np.max(y))");
  EXPECT_UNKNOWN("x: f32[N], y: f32[N]", "np.sum(x) * np.max(y)", "np.sum(x) * np.sum(y)");
}

TEST(Traps, SharedTermsDoNotBlowUp) {
  // 2^40 paths, 40 nodes: either a verdict or a refusal, soon.
  std::string body = "    y = x\n";
  for (int i = 0; i < 40; ++i) body += "    y = np.maximum(y, np.tanh(y + y))\n";
  const Proof p = proofOf("x: f32[N]", body + "    return y + 1\n", body + "    return 1 + y\n");
  EXPECT_NE(p.verdict, Verdict::refuted);
  EXPECT_LT(p.seconds, 11);
}

TEST(Traps, FactsAboutIntegersHoldInTheirRangeOnly) {
  const std::string head =
      "    N = x.shape[0]\n    assert np.all(k >= 0)\n    assert np.all(k < N)\n    return ";
  EXPECT_EQ(proofOf("x: f32[N], k: i32[M]", head + "k % N\n", head + "k\n").verdict, Verdict::proved);
  EXPECT_EQ(proofOf("x: f32[N], k: i32[M]", head + "(k + 1) % N\n", head + "k + 1\n").verdict,
            Verdict::unknown);
  const std::string part = "    N = x.shape[0]\n    assert np.all(k[0] >= 0)\n    return ";
  EXPECT_EQ(proofOf("x: f32[N], k: i32[M]", part + "np.abs(k)\n", part + "k\n").verdict, Verdict::unknown);
}

TEST(Traps, ResiduesOfWhatIsDividedTwice) {
  EXPECT_PROVED("k: i32[N]", "k * (k + 1) // 2 * 2", "k * (k + 1)");
  EXPECT_UNKNOWN("k: i32[N]", "k * (k + 1) // 4 * 4", "k * (k + 1)");
  EXPECT_UNKNOWN("x: f32[N], a: i32, b: i32", "(a * b) // (a * 3)", "b // 3");  // a may be 0
}

TEST(Traps, Definedness) {
  EXPECT_UNKNOWN("x: f32[N]", "x / x", "np.ones(x.shape[0])");
  EXPECT_UNKNOWN("x: f32[N], y: f32[N]", "x / y * y", "x");
  EXPECT_UNKNOWN("x: f32[N]", "np.sqrt(x) * np.sqrt(x)", "x");
  EXPECT_UNKNOWN("x: f32[N]", "np.exp(np.log(x))", "x");
  EXPECT_UNKNOWN("x: f32[N], y: f32[N]", "np.log(x * y)", "np.log(x) + np.log(y)");
  EXPECT_PROVED("x: f32[N]", "np.log(np.exp(x))", "x");
  EXPECT_PROVED("x: f32[N]", "np.sqrt(x * x)", "np.abs(x)");
  // Refinement: the right side may be defined at more inputs, not at fewer.
  const auto refines = [](const std::string& l, const std::string& r) {
    return proofOf("x: f32[N]", "    return " + l + "\n", "    return " + r + "\n", Mode::refines).verdict;
  };
  EXPECT_EQ(refines("np.exp(np.log(x))", "x"), Verdict::proved);
  EXPECT_EQ(refines("x", "np.exp(np.log(x))"), Verdict::unknown);
}

TEST(Traps, GuardedBranchesDoNotCount) {
  EXPECT_PROVED("x: f32[N]", "np.where(x != 0, 1 / x, 0)", "np.where(x == 0, 0, 1 / x)");
  EXPECT_UNKNOWN("x: f32[N]", "np.where(x != 0, 1 / x, 0) * x", "np.ones(x.shape[0])");
  EXPECT_UNKNOWN("x: f32[N], y: f32[N]", "np.where(x == 0, y, 1 / x)", "np.where(x == 0, 0, 1 / x)");
}

TEST(Traps, BroadcastingOfOnesOnly) {
  EXPECT_UNKNOWN("x: f32[N, M]", "np.sum(x, axis=0, keepdims=True) * np.ones((1, x.shape[1]))",
                 "np.mean(x, axis=0, keepdims=True) * np.ones((1, x.shape[1]))");
}

TEST(Traps, MaximumScaledWithoutSign) {
  EXPECT_UNKNOWN("x: f32[N], s: f32", "np.max(s * x)", "s * np.max(x)");
  EXPECT_PROVED("x: f32[N], s: f32", "np.max(np.exp(s) * x)", "np.exp(s) * np.max(x)");
  EXPECT_UNKNOWN("x: f32[N], s: f32", "np.max(s / np.abs(s) * x)", "s / np.abs(s) * np.max(x)");
}

TEST(Traps, ShapesAreComparedFirst) {
  const Proof p = proofOf("x: f32[N, M]", "    return np.sum(x, axis=1)\n", "    return np.sum(x, axis=0)\n");
  EXPECT_EQ(p.verdict, Verdict::unknown);
  EXPECT_NE(p.reason.find("shapes differ"), std::string::npos);
}

TEST(Traps, MachineIntegers) {
  // 2^64 * k is not 0.
  EXPECT_UNKNOWN("k: i32[N]", "k * 4294967296 * 4294967296", "k * 0");
  EXPECT_PROVED("k: i32[N]", "k * 4294967296 * 4294967296", "k * 18446744073709551616");
  EXPECT_UNKNOWN("x: f32[N]", "(x * 0.001 + 1.000001) ** 8", "(x * 0.001 + 1.000001) ** 8 + 1e-60");
}

TEST(Traps, ContradictoryAssertsProveNothingBySolver) {
  const std::string asserts =
      "    assert np.all(x > 1)\n    assert np.all(x < y)\n    assert np.all(y < 0)\n";
  const Proof p = proofOf("x: f32[N], y: f32[N]", asserts + "    return np.maximum(x, y)\n",
                          asserts + "    return x + 1\n");
  EXPECT_EQ(p.verdict, Verdict::unknown);
}

TEST(Traps, AssertsSpeakOfTheirOwnRange) {
  const auto given = [](const std::string& assertion) {
    const std::string head = "    N, M = x.shape\n    assert np.all(" + assertion + ")\n";
    return proofOf("x: f32[N, M]", head + "    return np.abs(x)\n", head + "    return x\n").verdict;
  };
  EXPECT_EQ(given("x > 0"), Verdict::proved);
  EXPECT_EQ(given("x[0] > 0"), Verdict::unknown);
  EXPECT_EQ(given("x[:, 0] > 0"), Verdict::unknown);
  EXPECT_EQ(given("np.max(x, axis=1) > 0"), Verdict::unknown);
  const std::string half =
      "    K, M = x.shape\n    h = K // 2\n    assert K % 2 == 0\n    assert np.all(x[:h] > 0)\n";
  EXPECT_EQ(proofOf("x: f32[K, M]", half + "    return np.abs(x)\n", half + "    return x\n").verdict,
            Verdict::unknown);
  EXPECT_EQ(proofOf("x: f32[K, M]", half + "    return np.abs(x[:h])\n", half + "    return x[:h]\n").verdict,
            Verdict::proved);
}

TEST(Traps, RoundingIsNotArithmetic) {
  EXPECT_UNKNOWN("x: f32[N]", "np.floor(x) + np.floor(x)", "np.floor(x + x)");
  EXPECT_UNKNOWN("x: f32[N]", "np.rint(x + 1)", "np.rint(x) + 1");  // ties to even
  EXPECT_PROVED("x: f32[N]", "np.floor(x + 1)", "np.floor(x) + 1");
  EXPECT_PROVED("x: f32[N]", "np.rint(-x)", "-np.rint(x)");
}

TEST(Traps, TakeMustStayInRange) {
  EXPECT_UNKNOWN("x: f32[N], i: i32[M]", "np.take(x, i, axis=0) * 0", "np.zeros(i.shape[0])");
}

TEST(Traps, IdenticalGraphsAreEqualWhateverTheyMean) {
  const std::string body =
      "    M, N = s.shape\n"
      "    mask = np.expand_dims(np.arange(M), 1) >= np.expand_dims(np.arange(N), 0)\n"
      "    t = np.where(mask, s, -np.inf)\n"
      "    e = np.exp(t - np.max(t, axis=1, keepdims=True))\n"
      "    return e / np.sum(e, axis=1, keepdims=True)\n";
  EXPECT_EQ(proofOf("s: f32[M, N]", body, body).verdict, Verdict::proved);
}

TEST(Traps, MaskedSoftmaxWithoutInfinity) {
  // exp(-inf) = 0: the mask may be applied after the exponential, and any shift will do.
  const std::string common =
      "    M, N = s.shape\n"
      "    mask = np.expand_dims(np.arange(M), 1) >= np.expand_dims(np.arange(N), 0)\n";
  const std::string left = common +
                           "    t = np.where(mask, s, -np.inf)\n"
                           "    e = np.exp(t - np.max(t, axis=1, keepdims=True))\n"
                           "    return e / np.sum(e, axis=1, keepdims=True)\n";
  const std::string right = common +
                            "    e = np.where(mask, np.exp(s), 0)\n"
                            "    return e / np.sum(e, axis=1, keepdims=True)\n";
  EXPECT_EQ(proofOf("s: f32[M, N]", left, right).verdict, Verdict::proved);
  const std::string wrong = common +
                            "    e = np.where(mask, np.exp(s), 1)\n"
                            "    return e / np.sum(e, axis=1, keepdims=True)\n";
  EXPECT_EQ(proofOf("s: f32[M, N]", left, wrong).verdict, Verdict::unknown);
}

TEST(Traps, InfinityMayNotSurvive) {
  // A result of -inf is undefined, and so is arithmetic with it.
  EXPECT_UNKNOWN("x: f32[N]", "np.where(x > 0, x, -np.inf) ** 2", "np.where(x > 0, x, 0) ** 0");
  EXPECT_UNKNOWN("x: f32[N]", "np.where(x > 0, x, -np.inf)", "x");
  EXPECT_PROVED("x: f32[N]", "np.maximum(np.where(x > 0, x, -np.inf), 1) * 0",
                "np.where(x > 0, x, -np.inf) * 0");
  EXPECT_PROVED("x: f32[N]", "np.maximum(np.where(x > 0, x, -np.inf), 0)", "np.maximum(x, 0)");
  EXPECT_PROVED("x: f32[N]", "np.exp(np.where(x > 0, x, -np.inf))", "np.where(x > 0, np.exp(x), 0)");
}

TEST(Traps, InfinityTimesAFactor) {
  const std::string common =
      "    M, N = s.shape\n"
      "    mask = np.expand_dims(np.arange(M), 1) >= np.expand_dims(np.arange(N), 0)\n";
  const auto body = [&](const std::string& result) { return common + "    return " + result + "\n"; };
  const auto verdict = [&](const std::string& left, const std::string& right) {
    return proofOf("s: f32[M, N], c: f32", body(left), body(right)).verdict;
  };
  const std::string maskFirst = "np.max(np.where(mask, s, -np.inf) * 2, axis=1)";
  EXPECT_EQ(verdict(maskFirst, "np.max(np.where(mask, s * 2, -np.inf), axis=1)"), Verdict::proved);
  EXPECT_EQ(verdict(maskFirst, "np.max(np.where(mask, s / 0.5, -np.inf), axis=1)"), Verdict::proved);
  EXPECT_EQ(verdict("np.max(np.where(mask, s, -np.inf) / np.sqrt(N), axis=1)",
                    "np.max(np.where(mask, s / np.sqrt(N), -np.inf), axis=1)"),
            Verdict::proved);
  EXPECT_EQ(verdict("np.min(np.where(mask, s, -np.inf) * -2, axis=1)",
                    "-2 * np.max(np.where(mask, s, -np.inf), axis=1)"),
            Verdict::proved);
  // The sign of the factor decides: with a negative one nothing is left out, but everything is +inf.
  EXPECT_EQ(verdict("np.max(np.where(mask, s, -np.inf) * -2, axis=1)",
                    "np.max(np.where(mask, s * -2, -np.inf), axis=1)"),
            Verdict::unknown);
  EXPECT_EQ(verdict("np.max(np.where(mask, s, -np.inf) * c, axis=1)",
                    "np.max(np.where(mask, s * c, -np.inf), axis=1)"),
            Verdict::unknown);
}

TEST(Traps, SignsOfLogarithms) {
  EXPECT_PROVED("x: f32[N]", "np.maximum(x * np.log(3), 0)", "np.log(3) * np.maximum(x, 0)");
  EXPECT_PROVED("x: f32[N]", "np.maximum(x * np.log(0.5), 0)", "-np.log(2) * np.minimum(x, 0)");
  EXPECT_PROVED("x: f32[N]", "np.abs(np.log(1 + np.exp(x)))", "np.log(1 + np.exp(x))");
  EXPECT_UNKNOWN("x: f32[N]", "np.maximum(x * np.log(0.5), 0)", "np.log(0.5) * np.maximum(x, 0)");
  EXPECT_UNKNOWN("x: f32[N]", "np.abs(np.log(np.exp(x) - 1 + np.exp(-x)))",
                 "np.log(np.exp(x) - 1 + np.exp(-x))");
}

TEST(Rewrite, LocalGoalsAreQuick) {
  const auto p = program("x: f32[M, K], g: f32[K], w: f32[K, N]", "    return (x * g) @ w\n");
  const tensor::NodeRef before[] = {p.results[0]};
  const tensor::NodeRef x = p.parameters[0].node;
  const tensor::NodeRef g = p.parameters[1].node;
  const tensor::NodeRef w = p.parameters[2].node;
  auto& store = *p.store;
  tensor::Attributes axis;
  axis.axes = {1};
  const tensor::NodeRef column = *store.make(tensor::Op::expandDims, {g}, axis, p.facts);
  const tensor::NodeRef folded = *store.make(tensor::Op::multiply, {column, w}, {}, p.facts);
  const tensor::NodeRef after[] = {*store.make(tensor::Op::matmul, {x, folded}, {}, p.facts)};
  Options options;
  options.mode = Mode::refines;
  const Proof first = proveRewrite(p, before, after, {}, options, {});
  EXPECT_EQ(first.verdict, Verdict::proved) << first.reason;
  double best = 1;
  for (int i = 0; i < 20; ++i) best = std::min(best, proveRewrite(p, before, after, {}, options, {}).seconds);
  std::cout << "  local goal: " << best * 1e6 << " us (measured)\n";
  // A matmul with a scale in between, cut: whatever it computes.
  const Proof cut = proveRewrite(p, before, after, {x, w}, options, {});
  EXPECT_EQ(cut.verdict, Verdict::proved) << cut.reason;
}

TEST(Rewrite, CutNodesKeepTheirDefinedness) {
  const auto p = program("x: f32[N], y: f32[N]", "    return np.where(y > 0, np.log(x), 0) + y\n");
  auto& store = *p.store;
  const tensor::NodeRef y = p.parameters[1].node;
  const tensor::NodeRef log = *store.make(tensor::Op::log, {p.parameters[0].node}, {}, p.facts);
  const tensor::NodeRef zero = store.constant(0);
  const tensor::NodeRef nothing = *store.make(tensor::Op::multiply, {log, zero}, {}, p.facts);
  const tensor::NodeRef before[] = {y};
  const tensor::NodeRef after[] = {*store.make(tensor::Op::add, {y, nothing}, {}, p.facts)};
  Options options;
  options.mode = Mode::refines;
  EXPECT_EQ(proveRewrite(p, before, after, {log}, options, {}).verdict, Verdict::unknown);
  EXPECT_EQ(proveRewrite(p, after, before, {log}, options, {}).verdict, Verdict::proved);
}

TEST(Prove, CancelStopsIt) {
  std::stop_source stop;
  stop.request_stop();
  const auto p = program("x: f32[N]", "    return x + 1\n");
  const auto q = program("x: f32[N]", "    return 1 + x\n");
  EXPECT_THROW(prove(p, q, {}, Progress(stop.get_token())), Cancelled);
}

TEST(Prove, ThreadsDoNotDisturbEachOther) {
  std::vector<std::jthread> threads;
  std::array<Verdict, 4> verdicts{};
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    threads.emplace_back([&verdicts, i] {
      verdicts[i] =
          verdict("x: f32[N, K], w: f32[K, M], b: f32[M]", "(x @ w + b) * 2", "(2 * x) @ w + b + b");
    });
  }
  threads.clear();
  for (const Verdict v : verdicts) EXPECT_EQ(v, Verdict::proved);
}

TEST(Prove, ParametersMustAgree) {
  EXPECT_THROW(prove(program("x: f32[N]", "    return x\n"), program("y: f32[N]", "    return y\n"), {}, {}),
               UserError);
}

TEST(Pool, KillsWhatOutlivesItsLimit) {
  SolverPool pool("/bin/sleep", 1);
  SolverQuery query;
  query.limit = std::chrono::milliseconds(1);
  const auto answer = pool.ask(query);
  EXPECT_NE(answer.status, SolverAnswer::Status::unsat);
  EXPECT_EQ(pool.replaced(), 1);
}

TEST(Pool, Answers) {
  SolverQuery query;
  query.limit = std::chrono::milliseconds(2000);
  query.smt = "(set-logic QF_NRA)\n(declare-const x Real)\n(assert (< (* x x) 0.0))\n";
  for (const auto setup : {SolverSetup::smt, SolverSetup::nlsat}) {
    query.setup = setup;
    EXPECT_EQ(solvers().ask(query).status, SolverAnswer::Status::unsat);
  }
  query.smt = "(declare-const x Int)\n(assert (> x 3))\n";
  query.setup = SolverSetup::linear;
  EXPECT_EQ(solvers().ask(query).status, SolverAnswer::Status::sat);
  query.smt = "nonsense";
  EXPECT_EQ(solvers().ask(query).status, SolverAnswer::Status::failed);
}

}  // namespace
}  // namespace nuscope::proof
