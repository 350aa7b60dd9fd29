// Every kind of move: one that is found and proved, and one that is refused with a counterexample.
#include <gtest/gtest.h>

#include "core/propagate/explore.h"
#include "tests/propagate/canonical.h"
#include "tests/propagate/parsed.h"

namespace nuscope::propagate {
namespace {

using test::canonical;
using test::parsed;

/// Signatures and statements after them.
struct Kind {
  const char* name;
  const char* signature;
  const char* body;         ///< of a program
  const char* variant;      ///< of a variant that must be found
  const char* refusedBody;  ///< of a program, with the same signature, that has the refused move
  const char* refused;      ///< part of the refused move's words
};

class Kinds : public testing::TestWithParam<Kind> {
 protected:
  static tensor::Program program(const char* body, std::shared_ptr<tensor::NodeStore> store = nullptr) {
    return parsed(std::string("def f(") + GetParam().signature + "):\n" + body, std::move(store));
  }
};

TEST_P(Kinds, FindsAndProves) {
  const auto given = program(GetParam().body);
  const auto wanted = program(GetParam().variant, given.store);
  const auto graph = explore(given, {}, {}, {});
  const std::string target = canonical(wanted.results);
  std::string titles;
  for (const auto& variant : graph->variants()) titles += "  " + variant.title + "\n";
  const auto found = std::ranges::find_if(graph->variants(), [&](const nugraph::Variant& variant) {
    return canonical(variant.results) == target;
  });
  ASSERT_NE(found, graph->variants().end()) << titles;
  for (const int step : graph->derivation(found->id)) {
    EXPECT_EQ(graph->steps()[static_cast<std::size_t>(step)].proof->verdict, proof::Verdict::proved);
  }
}

TEST_P(Kinds, RefusesWithACounterexample) {
  const auto graph = explore(program(GetParam().refusedBody), {}, {}, {});
  std::string all;
  for (const auto& refused : graph->refused()) {
    all += "  " + refused.what + ": " + std::string(proof::text(refused.proof->verdict)) + "\n";
  }
  const auto found = std::ranges::find_if(graph->refused(), [&](const nugraph::Refused& refused) {
    return refused.what.find(GetParam().refused) != std::string::npos;
  });
  ASSERT_NE(found, graph->refused().end()) << all;
  EXPECT_EQ(found->proof->verdict, proof::Verdict::refuted) << found->what << ": " << found->proof->reason;
  EXPECT_TRUE(found->proof->counterexample.has_value());
}

const Kind kinds[] = {
    {"max", "x: f32[M, K], s: f32[M, 1]", "    return np.max(x + s, axis=1, keepdims=True)\n",
     "    return np.max(x, axis=1, keepdims=True) + s\n", "    return np.max(x * s, axis=1)\n",
     "multiply by s moved past max"},
    {"min", "x: f32[M, K], s: f32[M, 1]", "    return np.min(x - s, axis=1, keepdims=True)\n",
     "    return np.min(x, axis=1, keepdims=True) - s\n",
     "    return np.min(-x + s, axis=1, keepdims=True)\n", "negate moved past min"},
    {"where", "x: f32[M, K], y: f32[M, K], c: f32[M, K], s: f32[M, 1]",
     "    return np.where(c > 0, x * s, y * s)\n", "    return np.where(c > 0, x, y) * s\n",
     "    return np.where(c > 0, x * s, y)\n", "multiply by s moved past where"},
    {"cumsum", "x: f32[M, K], s: f32[M, 1]", "    return np.cumsum(x * s, axis=1)\n",
     "    return np.cumsum(x, axis=1) * s\n", "    return np.cumsum(x + s, axis=1)\n",
     "add s moved past cumsum"},
    {"concatenate", "x: f32[M, K], y: f32[M, J]", "    return np.exp(np.concatenate([x, y], axis=1))\n",
     "    return np.concatenate([np.exp(x), np.exp(y)], axis=1)\n",
     "    return np.cumsum(np.concatenate([x, y], axis=1), axis=1)\n", "concatenate spread over cumsum"},
    {"slice", "x: f32[M, K], w: f32[K, N + 1]", "    return (x @ w)[:, 1:]\n", "    return x @ w[:, 1:]\n",
     "    return np.cumsum(x @ w, axis=1)[:, 1:]\n", "moved past slice"},
    {"reshape", "x: f32[B, M, K], w: f32[K, N]",
     "    B, M, K = x.shape\n    return x.reshape(B * M, K) @ w\n",
     "    B, M, K = x.shape\n    return (x @ w).reshape(B * M, w.shape[1])\n",
     "    B, M, K = x.shape\n    return np.cumsum(x.reshape(B * M, K), axis=0)\n",
     "reshape moved past cumsum"},
    {"einsum", "x: f32[M, K], w: f32[K, N], s: f32[M, 1]", "    return np.einsum('ij,jk->ik', x * s, w)\n",
     "    return np.einsum('ij,jk->ik', x, w) * s\n", "    return np.einsum('ij,jk->ik', x + s, w)\n",
     "add s moved past einsum"},
    {"distribution", "x: f32[M, K], z: f32[M, K], w: f32[K, N]", "    return (x - z) @ w\n",
     "    return x @ w - z @ w\n", "    return (x * z) @ w\n", "multiply spread over matmul"},
    {"distribution_over_joined_operands", "x: f32[M, K], z: f32[M, K], w: f32[K, N]",
     "    return np.sum(np.concatenate([x, z], axis=1), axis=1)\n",
     "    return np.sum(x, axis=1) + np.sum(z, axis=1)\n", "    return np.sum(np.exp(x + z), axis=1)\n",
     "exp moved past sum"},
    {"split_over_joined_k", "x: f32[M, K], z: f32[M, J], w: f32[K, N], v: f32[J, N]",
     "    return np.concatenate([x, z], axis=1) @ np.concatenate([w, v], axis=0)\n",
     "    return x @ w + z @ v\n",
     "    return np.max(np.concatenate([x, z], axis=1) @ np.concatenate([w, v], axis=0), axis=1)\n",
     "add spread over max"},
    {"split_over_joined_n", "x: f32[M, K], w: f32[K, N], v: f32[K, P]",
     "    return x @ np.concatenate([w, v], axis=1)\n", "    return np.concatenate([x @ w, x @ v], axis=1)\n",
     "    return np.sum(np.abs(x @ np.concatenate([w, v], axis=1)), axis=1)\n", "abs moved past sum"},
    {"split_over_blocks_of_k", "x: f32[M, K], w: f32[K, N]",
     "    assert x.shape[1] % 4 == 0\n    return x @ w\n",
     "    assert x.shape[1] % 4 == 0\n    M, K = x.shape\n"
     "    a = np.transpose(x.reshape(M, K // 4, 4), (1, 0, 2))\n"
     "    return np.sum(a @ w.reshape(K // 4, 4, w.shape[1]), axis=0)\n",
     "    assert x.shape[1] % 4 == 0\n    return np.exp(np.sum(x, axis=1))\n", "exp moved before sum"},
    {"split_over_blocks_of_n", "x: f32[M, K], w: f32[K, N]",
     "    assert w.shape[1] % 4 == 0\n    return x @ w\n",
     "    assert w.shape[1] % 4 == 0\n    K, N = w.shape\n"
     "    y = x @ np.transpose(w.reshape(K, N // 4, 4), (1, 0, 2))\n"
     "    return np.transpose(y, (1, 0, 2)).reshape(x.shape[0], N)\n",
     "    assert w.shape[1] % 4 == 0\n    return np.tanh(x @ w)\n", "tanh moved before matmul"},
    {"siblings", "x: f32[M, K], w: f32[K, N], v: f32[K, P]", "    return x @ w, x @ v\n",
     "    N = w.shape[1]\n    y = x @ np.concatenate([w, v], axis=1)\n    return y[:, :N], y[:, N:]\n",
     "    return np.exp(x @ w), x @ v\n", "exp moved before matmul"},
    {"common_operand", "x: f32[M, K], z: f32[M, K], w: f32[K, N]", "    return x @ w + z @ w\n",
     "    return (x + z) @ w\n", "    return (x @ w) * (z @ w)\n", "matmul with w done once behind multiply"},
};

INSTANTIATE_TEST_SUITE_P(Moves, Kinds, testing::ValuesIn(kinds),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace nuscope::propagate
