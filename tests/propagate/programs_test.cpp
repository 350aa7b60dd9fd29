// The example programs: each must lead to the variants that people know for it, and every step is proved.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "core/base/files.h"
#include "core/language/parse.h"
#include "core/propagate/explore.h"
#include "tests/propagate/canonical.h"

namespace nuscope::propagate {
namespace {

using test::canonical;

struct Expected {
  const char* program;  ///< of resources/programs
  const char* name;     ///< for the test's name
  const char* body;     ///< statements after the signature of the program's own text
};

std::string readProgram(const std::string& name) {
  return readWholeFile(std::string(NUSCOPE_SOURCE_DIR) + "/resources/programs/" + name + ".py");
}

/// The text up to the function's body, with another body.
std::string withBody(const std::string& text, const std::string& name, const std::string& body) {
  const auto at = text.find("def " + name + "(");
  const auto colon = text.find(":\n", at);
  std::string indented;
  std::istringstream lines(body);
  for (std::string line; std::getline(lines, line);) indented += "    " + line + "\n";
  return text.substr(0, colon + 2) + indented;
}

class Programs : public testing::TestWithParam<Expected> {};

TEST_P(Programs, HasTheClassicalVariant) {
  const auto& expected = GetParam();
  const std::string text = readProgram(expected.program);
  const auto parsed = language::parse(text);
  ASSERT_TRUE(parsed.program.has_value());
  const std::string wantedText = withBody(text, expected.program, expected.body);
  const auto wanted = language::parse(wantedText, parsed.program->store);
  ASSERT_TRUE(wanted.program.has_value()) << render(wanted.diagnostics, expected.program, wantedText);
  ExploreOptions options;
  options.threads = 2;
  const auto graph = explore(*parsed.program, options, {}, {});
  for (const auto& step : graph->steps()) EXPECT_EQ(step.proof->verdict, proof::Verdict::proved);
  const std::string target = canonical(wanted.program->results);
  const bool found = std::ranges::any_of(graph->variants(), [&](const nugraph::Variant& variant) {
    return canonical(variant.results) == target;
  });
  std::string titles;
  for (const auto& variant : graph->variants()) titles += "  " + variant.title + "\n";
  for (const auto& refused : graph->refused()) {
    if (refused.proof->verdict == proof::Verdict::unknown) {
      titles += "  unknown: " + refused.what + ": " + refused.proof->reason + "\n";
    }
  }
  EXPECT_TRUE(found) << titles;
}

const Expected expectations[] = {
    {"rmsnorm_matmul", "norm_behind_gain_in_weight",
     "ms = np.mean(x * x, axis=-1, keepdims=True)\n"
     "return (x @ (w * g[:, None])) / np.sqrt(ms + 1e-5)"},
    {"softmax_matmul", "late_division",
     "e = np.exp(x - np.max(x, axis=-1, keepdims=True))\n"
     "return (e @ w) / np.sum(e, axis=-1, keepdims=True)"},
    {"attention", "late_division",
     "D = q.shape[1]\n"
     "s = q @ k.T / np.sqrt(D)\n"
     "e = np.exp(s - np.max(s, axis=-1, keepdims=True))\n"
     "return (e @ v) / np.sum(e, axis=-1, keepdims=True)"},
    {"attention", "scaled_queries",
     "D = q.shape[1]\n"
     "s = (q / np.sqrt(D)) @ k.T\n"
     "e = np.exp(s - np.max(s, axis=-1, keepdims=True))\n"
     "return (e / np.sum(e, axis=-1, keepdims=True)) @ v"},
    {"attention", "scaled_queries_and_late_division",
     "D = q.shape[1]\n"
     "s = (q / np.sqrt(D)) @ k.T\n"
     "e = np.exp(s - np.max(s, axis=-1, keepdims=True))\n"
     "return (e @ v) / np.sum(e, axis=-1, keepdims=True)"},
    {"causal_attention", "late_division",
     "S, D = q.shape\n"
     "seen = np.arange(S)[:, None] >= np.arange(S)\n"
     "s = np.where(seen, q @ k.T / np.sqrt(D), -np.inf)\n"
     "e = np.exp(s - np.max(s, axis=-1, keepdims=True))\n"
     "return (e @ v) / np.sum(e, axis=-1, keepdims=True)"},
    {"linear_attention", "keys_with_values_first", "return q @ (k.T @ v)"},
    {"lora", "associativity", "return x @ w + x @ (a @ b)"},
    {"lora", "one_weight", "return x @ (w + a @ b)"},
    {"qkv_projection", "one_product",
     "N = wq.shape[1]\n"
     "P = wk.shape[1]\n"
     "y = x @ np.concatenate([wq, wk, wv], axis=1)\n"
     "return y[:, :N], y[:, N:N + P], y[:, N + P:]"},
    {"gated_mlp", "gate_and_up_in_one_product",
     "H = w1.shape[1]\n"
     "y = x @ np.concatenate([w1, w2], axis=1)\n"
     "return (silu(y[:, :H]) * y[:, H:]) @ w3"},
    {"matmul_red_div", "late_division",
     "assert np.all(np.sum(y, axis=-1) != 0)\n"
     "return (x @ w) / np.sum(y, axis=-1, keepdims=True)"},
    {"reduce_mul_broadcast", "late_scale", "return (x @ w) * np.sum(y, axis=-1, keepdims=True)"},
    {"transpose_matmul", "transpose_of_product", "return (b.T @ a).T"},
    {"matmul_transpose", "transpose_of_product", "return (b @ a.T).T"},
    {"layernorm", "gain_before_division",
     "mean = np.mean(x, axis=-1, keepdims=True)\n"
     "var = np.var(x, axis=-1, keepdims=True)\n"
     "return (x - mean) * g / np.sqrt(var + 1e-5) + b"},
    {"rmsnorm", "gain_divided",
     "ms = np.mean(x * x, axis=-1, keepdims=True)\n"
     "return x * (g / np.sqrt(ms + 1e-5))"},
};

std::string nameOf(const testing::TestParamInfo<Expected>& test) {
  return std::string(test.param.program) + "_" + test.param.name;
}

INSTANTIATE_TEST_SUITE_P(Resources, Programs, testing::ValuesIn(expectations), nameOf);

}  // namespace
}  // namespace nuscope::propagate
