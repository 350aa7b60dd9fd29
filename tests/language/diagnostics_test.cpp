// What people are told: the place, the cause, what to write instead; all errors of a text in one go.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/language/foreign_names.h"
#include "core/language/parse.h"
#include "tests/language/programs.h"

namespace nuscope::language {
namespace {

const std::string head = "from __future__ import annotations\nimport numpy as np\n\n";

/// A program with the body given, x: f32[M, K], w: f32[K, N], s: f32, i: i32[K].
std::string withBody(const std::string& body) {
  std::string text = head + "def program(x: f32[M, K], w: f32[K, N], s: f32, i: i32[K]):\n";
  std::string line;
  for (const char c : body + "\n") {
    line += c;
    if (c != '\n') continue;
    text += "    " + line;
    line.clear();
  }
  return text;
}

std::vector<Diagnostic> errorsOf(const std::string& text) {
  const Parsed parsed = parse(text);
  EXPECT_EQ(parsed.program.has_value(), parsed.diagnostics.empty());
  return parsed.diagnostics;
}

/// The single error of a body.
Diagnostic errorOf(const std::string& body) {
  const auto errors = errorsOf(withBody(body));
  EXPECT_EQ(errors.size(), 1U) << body << "\n" << render(errors, "t.py", withBody(body));
  return errors.empty() ? Diagnostic{} : errors[0];
}

void expectError(const std::string& body, const std::string& message, const std::string& hint = {}) {
  const Diagnostic error = errorOf(body);
  EXPECT_NE(error.message.find(message), std::string::npos) << body << ": " << error.message;
  EXPECT_NE(error.hint.find(hint), std::string::npos) << body << ": " << error.hint;
}

// A loop around a loop is lowered twice, the first time silently: what is found then is still to be reported.
TEST(Diagnostics, UnknownNamesInNestedLoopsAreReported) {
  for (const char* name : {"range", "foo"}) {
    const auto errors =
        errorsOf(std::string("from __future__ import annotations\nimport numpy as np\n\n\n"
                             "def f(x: f32[N, M]):\n    N, M = x.shape\n    outer = np.zeros((N,))\n"
                             "    for a in range(x.shape[0]):\n        inner = np.zeros((N,))\n"
                             "        for b in range(x.shape[0]):\n"
                             "            inner = inner + x[") +
                 name + "]\n        outer = outer + inner\n    return outer\n");
    ASSERT_FALSE(errors.empty()) << name;
    EXPECT_NE(errors[0].message.find(name), std::string::npos) << errors[0].message;
  }
}

TEST(Diagnostics, PlaceIsUnderlined) {
  const std::string text = withBody("y = x @ x\nreturn y");
  const auto errors = errorsOf(text);
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].range, (SourceRange{5, 9, 5, 14}));
  EXPECT_NE(render(errors, "t.py", text).find("    5 |     y = x @ x\n      |         ^~~~~\n"),
            std::string::npos)
      << render(errors, "t.py", text);
}

TEST(Diagnostics, AllErrorsAtOnceAndNoneTwice) {
  const auto errors =
      errorsOf(withBody("a = x @ x\n"           // 5
                        "b = a + 1\n"           // says nothing: a is faulty
                        "c = np.summ(x)\n"      // 7
                        "d = [v for v in x]\n"  // 8
                        "e = d + c\n"
                        "f = F.silu(x)\n"    // 10
                        "return nothing"));  // 11
  std::vector<int> lines;
  for (const Diagnostic& error : errors) lines.push_back(error.range.line);
  EXPECT_EQ(lines, (std::vector<int>{5, 7, 8, 10, 11}));
}

TEST(Diagnostics, ForeignNamesAreAnsweredWithNumpy) {
  expectError("return F.silu(x)", "F.silu", "write x / (1 + np.exp(-x))");
  expectError("return torch.matmul(x, w)", "torch.matmul", "write x @ w");
  expectError("return x.softmax(dim=-1)", ".softmax", "e / np.sum(e, axis=-1, keepdims=True)");
  expectError("return torch.relu(x)", "torch.relu", "write np.maximum(x, 0)");
  expectError("return jnp.exp(x)", "jnp.exp", "write np.exp(x)");
  expectError("return jax.nn.sigmoid(x)", "jax.nn.sigmoid", "write 1 / (1 + np.exp(-x))");
  expectError("return nn.functional.gelu(x)", "gelu", "np.tanh(");
  expectError("return F.layer_norm(x, (4,))", "layer_norm", "np.var(x, axis=-1, keepdims=True)");
  expectError("return torch.rsqrt(s)", "rsqrt", "write 1 / np.sqrt(s)");
  expectError("return x.unsqueeze(0)", ".unsqueeze", "write np.expand_dims(x, 0)");
  expectError("return x.view(4, 2)", ".view", "write x.reshape(4, 2)");
  expectError("return x.permute(1, 0)", ".permute", "write np.transpose(x, (1, 0))");
  expectError("return x.mean(dim=1, keepdim=True)", ".mean", "write np.mean(x, axis=1, keepdims=True)");
  expectError("return x.sum()", ".sum", "write np.sum(x)");
  expectError("return torch.cat([x, x], dim=0)", "torch.cat", "write np.concatenate([x, x], axis=0)");
  expectError("return np.dot(x, w)", "np.dot", "write x @ w");
  expectError("return np.logical_and(x > 0, x < 1)", "logical_and", "(x > 0) & (x < 1)");
  expectError("return torch.clamp(x, min=0)", "clamp", "np.clip(x, a_min=0)");
}

TEST(Diagnostics, UnknownNamesHaveTheirNeighbours) {
  expectError("return np.summ(x)", "np.summ", "the nearest is np.sum");
  expectError("return np.maximun(x, 0)", "np.maximun", "np.maximum");
  expectError("return y", "the name y is not known");
  expectError("scale = s * 2\nreturn x * scle", "the name scle is not known", "did you mean scale?");
  expectError("return exp(x)", "the name exp is not known", "write np.exp");
  expectError("return x * M", "M is a dimension", "read it first: M = x.shape[0]");
  expectError("return max(x)", "max is outside", "np.max(x)");
}

TEST(Diagnostics, PythonOutsideTheSubsetIsNamed) {
  expectError("while True:\n    y = x\nreturn x", "while loops", "for k in range(n)");
  expectError("if s > 0:\n    y = x\nreturn y", "if statements", "np.where");
  expectError("y = lambda a: a\nreturn x", "lambda", "helper function");
  expectError("y = [a for a in x]\nreturn x", "comprehensions");
  expectError("y = {1: 2}\nreturn x", "dictionaries");
  expectError("y = f'{x}'\nreturn x", "strings");
  expectError("try:\n    y = x\nexcept E:\n    y = w\nreturn x", "exceptions");
}

TEST(Diagnostics, MoreOfPython) {
  expectError("global y\nreturn x", "global variables");
  expectError("y = x if s else w\nreturn x", "a if c else b", "np.where(c, a, b)");
  expectError("y = z = x\nreturn x", "chained assignment");
  expectError("x[0] = 1\nreturn x", "assigning to elements");
  expectError("x += 1\nreturn x", "in place", "write x = x + 1");
  expectError("y = x; z = x\nreturn x", "several statements");
  expectError("return x[::2]", "slices with a step");
  expectError("return x ** 0.5", "integer exponent", "np.sqrt(x)");
  expectError("return x ** -1", "exponent >= 0", "1 / x ** 1");
  expectError("return 0x10 * x", "not decimal");
  expectError("return 2j * x", "no number", "no complex numbers");
  expectError("print(x)\nreturn x", "print is outside");
  expectError("return x is None", "the comparison 'is'");
  expectError("y: f32 = x\nreturn x", "annotated variables");
  expectError("return x and x", "single conditions", "&");
  expectError("return 0 < x < 1", "chain of comparisons", "(0 < x) & (x < 1)");
  expectError("return not (x > 0)", "not takes one condition");
}

TEST(Diagnostics, TypesAndShapes) {
  expectError("return x + w", "do not broadcast", "assert M == K");
  expectError("return np.where(x, 1, 0)", "condition", "x != 0");
  expectError("return (x > 0) - (x < 0)", "conditions", "astype");
  expectError("return np.sum(x, axis=2)", "axis 2 is outside a tensor of rank 2");
  expectError("return np.sum(x, dim=1)", "takes no dim", "axis=");
  expectError("return np.exp(x, x)", "too many arguments");
  expectError("return np.clip(x)", "needs a bound");
  expectError("a, b = x\nreturn a", "cannot be unpacked");
  expectError("a, b, c = x.shape\nreturn x", "3 names for 2 values");
  expectError("K = x.shape[1]\nreturn x.reshape(K // 2, 2)", "elements against");
  expectError("return x[i]", "the index is a tensor i32[K]", "np.take(x, indices, axis=0)");
  expectError("return x[5]", "not known to lie within", "assert M >= 6");
  expectError("return np.split(x, 2, axis=1)", "not known to be a multiple of 2", "assert K % 2 == 0");
  expectError("return x / 0", "division by zero");
  expectError("return x(3)", "cannot be called");
  expectError("return 1e999 * x", "out of range");
  expectError("return np.take(x, x, axis=0)", "integer indices");
}

TEST(Diagnostics, LoopsAndAsserts) {
  expectError("for k in x:\n    y = k\nreturn x", "a loop runs over range");
  expectError("M = x.shape[0]\nfor k in range(M):\n    y = x[k]\nreturn y", "set inside the loop only",
              "before the loop");
  expectError("M = x.shape[0]\nfor k in range(M):\n    y = x[k]\nreturn x", "changes nothing",
              "accumulators");
  expectError("M, K = x.shape\ny = np.zeros((2,))\nfor k in range(M):\n    y = x[k]\nreturn y",
              "starts as f32[2] and becomes f32[K]", "shape and type");
  expectError("for k in range(100000):\n    x = x + 1\nreturn x", "100000 rounds would be unrolled");
  expectError("assert x > 0\nreturn x", "tensor of conditions", "np.all(x > 0)");
  expectError("assert s\nreturn x", "needs a condition");
  expectError("M = x.shape[0]\nfor k in range(2):\n    assert M > 1\nreturn x", "outside loops");
  expectError("for k in range(3):\n    return x", "return inside a loop");
}

TEST(Diagnostics, Signatures) {
  const auto message = [](const std::string& text) {
    const auto errors = errorsOf(text);
    EXPECT_EQ(errors.size(), 1U) << render(errors, "t.py", text);
    return errors.empty() ? std::string() : errors[0].message + " / " + errors[0].hint;
  };
  EXPECT_NE(message(head + "def f(x):\n    return x\n").find("the parameter x has no type"),
            std::string::npos);
  EXPECT_NE(message(head + "def f(x: torch.Tensor):\n    return x\n").find("not understood"),
            std::string::npos);
  EXPECT_NE(message(head + "def f(x: float32[M]):\n    return x\n").find("write f32[M, N]"),
            std::string::npos);
  EXPECT_NE(message(head + "def f(x: f32[M, 0]):\n    return x\n").find("no integer >= 1"),
            std::string::npos);
  EXPECT_NE(message(head + "def f(x: f32[M]) -> f32[M, 1]:\n    return x\n").find("the result is f32[M]"),
            std::string::npos);
  EXPECT_NE(message(head + "def f(x: f32[M // 2]):\n    return x\n").find("known to be at least 1"),
            std::string::npos);
  EXPECT_NE(message(head + "def f(x: f32[M * N]):\n    return x\n").find("cannot be told"),
            std::string::npos);
  EXPECT_NE(message(head + "def f(x: f32[x]):\n    return x\n").find("a parameter and a dimension"),
            std::string::npos);
  EXPECT_NE(message(head + "def f(x: f32[M]):\n    y = x\n").find("returns nothing"), std::string::npos);
  EXPECT_NE(message("import numpy as np\n\ndef f(x: f32[M]):\n    return x\n")
                .find("from __future__ import annotations"),
            std::string::npos);
  EXPECT_NE(message("from __future__ import annotations\ndef f(x: f32[M]):\n    return np.exp(x)\n")
                .find("import numpy as np"),
            std::string::npos);
  EXPECT_NE(message("").find("no function"), std::string::npos);
}

TEST(Diagnostics, Helpers) {
  const auto message = [](const std::string& helper, const std::string& call) {
    const std::string text = head + helper + "\n\ndef f(x: f32[M, N]):\n    return " + call + "\n";
    const auto errors = errorsOf(text);
    EXPECT_EQ(errors.size(), 1U) << render(errors, "t.py", text);
    return errors.empty() ? std::string() : errors[0].message;
  };
  EXPECT_NE(message("def g(a):\n    return g(a)\n", "g(x)").find("g calls itself"), std::string::npos);
  EXPECT_NE(message("def g(a, b):\n    return a\n", "g(x)").find("the argument b of g is missing"),
            std::string::npos);
  EXPECT_NE(message("def g(a):\n    return a\n", "g(x, x)").find("g takes 1 arguments"), std::string::npos);
  EXPECT_NE(message("def g(a: f32[P]):\n    return a\n", "g(x)").find("the parameter a is f32[P]"),
            std::string::npos);
  EXPECT_NE(message("def g(a):\n    return torch.relu(a)\n", "x").find("torch.relu"),
            std::string::npos);  // never called
  EXPECT_NE(message("def g(a):\n    return a @ a\n", "g(x)").find("inner extents"), std::string::npos);
}

TEST(Diagnostics, AnyBytesAreTaken) {
  const std::string deep(5000, '(');
  std::string chain = "return x";
  for (int i = 0; i < 5000; ++i) chain += " + x";
  std::string doubling;
  for (int i = 0; i < 64; ++i) doubling += "x = x @ x.T @ x\n";
  std::string extents = "K = x.shape[1]\n";
  for (int i = 0; i < 64; ++i) extents += "K = K * K + 1\n";
  const std::string texts[] = {"",
                               "\n",
                               "\xEF\xBB\xBF",
                               "\xFF\xFE\x00",
                               std::string(3, '\0'),
                               "\t\t\tx\n  y\n",
                               "def",
                               "def f(",
                               "def f(x: f32[M]):",
                               "\"\"\"never closed",
                               "'abc",
                               "return",
                               "x\r\ny\r\n",
                               withBody("return " + deep + "x"),
                               withBody("return " + std::string(5000, '-') + "x"),
                               withBody(chain),
                               withBody(doubling + "return x"),
                               withBody(extents + "return x * K"),
                               withBody("return x[" + std::string(500, ',') + "]"),
                               withBody("return 9" + std::string(3000, '9') + " * x"),
                               withBody("return 2 ** 1000 ** 1000 * x"),
                               std::string(100000, ' ') + "x",
                               "def f(x: f32[M]):\n" + std::string(3000, ' ') + "return x",
                               "\\\n\\\n\\",
                               "))))]]]]",
                               "@@@@",
                               "for for in in"};
  for (const std::string& text : texts) {
    const Parsed parsed = parse(text);
    EXPECT_EQ(parsed.program.has_value(), parsed.diagnostics.empty());
    EXPECT_FALSE(!parsed.program && render(parsed.diagnostics, "t.py", text).empty());
  }
}

TEST(Diagnostics, LinesTabsAndComments) {
  const std::string body =
      "\"\"\"A docstring.\n\nwith lines\"\"\"\ny = (x +  # a comment\n     x)\nz = y \\\n    * 2\nreturn z";
  for (const std::string newline : {"\n", "\r\n"}) {
    std::string text;
    for (const char c : "\xEF\xBB\xBF" + withBody(body)) text += c == '\n' ? newline : std::string(1, c);
    const Parsed parsed = parse(text);
    EXPECT_TRUE(parsed.program) << render(parsed.diagnostics, "t.py", text);
  }
  const Parsed tabs = parse(head + "def f(x: f32[M]):\n\ty = x\n\treturn y\n");
  EXPECT_TRUE(tabs.program);
}

TEST(Diagnostics, ColumnsCountCharacters) {
  const auto errors = errorsOf(withBody("y = np.einsum('\xC3\xA9\xC3\xA9', x) + undefined\nreturn y"));
  ASSERT_GE(errors.size(), 1U);
  EXPECT_EQ(errors.back().range.column, 30);
}

TEST(Diagnostics, FactsOfAssertsHoldEverywhere) {
  EXPECT_TRUE(
      parse(withBody("M, K = x.shape\ny = x.reshape(M, K // 4, 4)\nassert K % 4 == 0\nreturn y")).program);
  EXPECT_TRUE(parse(withBody("assert x.shape == w.shape\nreturn x + w")).program);
  EXPECT_TRUE(parse(withBody("M, K = x.shape\nassert M == K\nreturn x @ x")).program);
}

TEST(Diagnostics, NumbersOfPythonAndHiddenNames) {
  expectError("M = x.shape[0]\nreturn ~(M > 2)", "number", "write not");
  expectError("M = x.shape[0]\nreturn (1 / M).astype(np.float32)", "has no .astype");
  expectError("M = x.shape[0]\nreturn (1 / M)[None]", "no elements");
  const std::string text =
      head +
      "def softmax(a):\n    return a\n\n\ndef f(x: f32[M]):\n    softmax = softmax(x)\n    return softmax\n";
  const auto errors = errorsOf(text);
  ASSERT_EQ(errors.size(), 1U) << render(errors, "t.py", text);
  EXPECT_NE(errors[0].message.find("has no value yet"), std::string::npos);
}

TEST(Diagnostics, ProgramsTooLargeForAnyGraph) {
  std::string body = "y = x\n";
  for (int i = 0; i < 20000; ++i) body += "y = np.sin(y) + 1\n";
  expectError(body + "return y", "more than 4000 operators", "dimensions");
  // Unrolled, and in a helper, in a first pass that is silent.
  expectError("for a in range(64):\n    for b in range(64):\n        x = np.sin(x)\nreturn x",
              "more than 4000 operators");
}

TEST(Nearest, CountsEdits) {
  const std::string_view names[] = {"sum", "max", "maximum"};
  EXPECT_EQ(nearest("summ", names), "sum");
  EXPECT_EQ(nearest("maximun", names), "maximum");
  EXPECT_EQ(nearest("fourier", names), std::nullopt);
}

}  // namespace
}  // namespace nuscope::language
