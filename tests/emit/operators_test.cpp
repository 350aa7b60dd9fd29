// Every operator, in forms that the example programs do not have, and the loops and rewrites of the corpus.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "core/base/diagnostics.h"
#include "tests/emit/harness.h"
#include "tests/need_cases.h"

namespace nuscope::emit::testing {
namespace {

using semantics::Distribution;

const std::vector<std::string>& operatorPrograms() {
  static const std::vector<std::string> programs = {
      "def sums(x: f32[M, N]):\n    return np.sum(x, axis=0), np.max(x, axis=0), np.sum(x), np.mean(x), "
      "np.min(x, axis=(0, 1))\n",
      "def sums3(x: f32[A, M, N]):\n    return np.sum(x, axis=1), np.max(x, axis=(0, 2)), np.prod(x, "
      "axis=(1, 2)), np.mean(x, axis=(0, 1), keepdims=True)\n",
      "def conditions(x: f32[M, N], y: f32[M, N]):\n    return x < y, np.all(x < y, axis=-1), np.all(x < y, "
      "axis=0), (x < y) | (x == 0)\n",
      "def scans(x: f32[A, M, N]):\n    return np.cumsum(x, axis=0), np.cumsum(x, axis=1), np.cumsum(x * 2, "
      "axis=2)\n",
      "def integer_scan(i: i32[M, N]):\n    return np.cumsum(i, axis=1), np.cumsum(i, axis=0), np.sum(i, "
      "axis=-1)\n",
      "def vectors(x: f32[M, N], v: f32[N], u: f32[M]):\n    return x @ v, u @ x, v @ v, "
      "np.einsum('i,j->ij', u, v)\n",
      "def batches(x: f32[A, M, N], y: f32[A, N, M], w: f32[N, M]):\n    return x @ y, x @ w, "
      "np.einsum('aij,aij->ai', x, x)\n",
      "def einsums(x: f32[A, M, N], y: f32[N, M], z: f32[M, A]):\n"
      "    return (np.einsum('aij,ji->a', x, y), np.einsum('aij,jk->aik', x, y), np.einsum('aij,jk->kai', x, "
      "y),\n"
      "            np.einsum('aij,ji,ia->ja', x, y, z), np.einsum('aij->jia', x), np.einsum('aij,ib->ajb', "
      "x, z))\n",
      "def diagonal(x: f32[M, M]):\n    return np.einsum('ii->i', x), np.einsum('ii->', x)\n",
      "def whole_products(i: i32[M, N], j: i32[N, M]):\n    return i @ j, i * 3 - 1, i // 3, i % 5, -i, "
      "np.abs(i), np.sign(i)\n",
      "def takes(x: f32[M, N], i: i32[A]):\n    M, N = x.shape\n    assert np.all(i >= 0)\n    assert "
      "np.all(i < M)\n"
      "    return np.take(x, i, axis=0), np.take(np.exp(x), i, axis=0) * 2\n",
      "def joined(x: f32[M, N], y: f32[M, N]):\n    return np.concatenate([x, y * 2], axis=0), "
      "np.concatenate([x, y, x + y], axis=1), np.stack([x, y], axis=1)\n",
      "def moved(x: f32[A, M, N]):\n    A, M, N = x.shape\n"
      "    return np.transpose(x, (2, 0, 1)), np.reshape(x, (A * M, N)), np.reshape(np.swapaxes(x, 0, 1), "
      "(M, A * N)) + 1, np.repeat(x, 3, axis=1)\n",
      "def sliced(x: f32[2 * M, N]):\n    M = x.shape[0] // 2\n    return x[:M] * x[M:], np.exp(x[1:, "
      "None]), x[0]\n",
      "def rounded(x: f32[M, N], y: f32[M, N]):\n    return np.floor(x), np.rint(x), np.sign(x), np.abs(x), "
      "np.clip(x, -1, 0.5), np.minimum(x, y), x ** 3, -x\n",
      "def divided(x: f32[M, N], y: f32[M, N]):\n    assert np.all(y > 0.5)\n    return x // y, x % y, x / "
      "y\n",
      "def functions(x: f32[M, N]):\n    return np.sin(x), np.cos(x), np.tanh(x), np.exp(-np.abs(x)), "
      "np.log(1 + x * x), np.sqrt(np.abs(x))\n",
      "def casts(x: f32[M, N], i: i32[M, N]):\n    return x.astype(np.int32), i.astype(np.float32) * 0.5, (x "
      "> 0).astype(np.float32), np.where(x > 0, i, -i), (x > i).astype(np.int32)\n",
      "def wide(x: f64[M, N]):\n    return np.exp(x) / np.sum(np.exp(x), axis=-1, keepdims=True), "
      "np.cumsum(x, axis=0), x @ x.T\n",
      "def same_twice(x: f32[M, N], s: f32):\n    y = x * s\n    return x, y, y, y.T, np.sum(y, axis=-1), "
      "s\n",
      "def copied(x: f32[M, N]):\n    return x\n",
      "def carried(x: f32[M, N], y: f32[N, K]):\n    M, N = x.shape\n    K = y.shape[1]\n    s = "
      "np.zeros((M, K))\n"
      "    for n in range(N):\n        s = s * 0.5 + x[:, n : n + 1] * y[n : n + 1]\n    return s\n",
      "def counted(x: f32[M, N]):\n    M, N = x.shape\n    return x * np.arange(N), x + M, np.arange(M)[:, "
      "None] * np.arange(N)\n",
      "def statistics(x: f32[M, N]):\n    m = np.mean(x, axis=-1, keepdims=True)\n    v = np.mean((x - m) ** "
      "2, axis=-1, keepdims=True)\n    return (x - m) / np.sqrt(v + 1), m[:, 0], v[:, 0] * 2\n",
      "def chained(x: f32[M, K], w: f32[K, N]):\n    h = np.tanh(x @ w)\n    n = h / np.sum(np.abs(h) + 1, "
      "axis=-1, keepdims=True)\n    return n @ w.T, h\n",
  };
  return programs;
}

tensor::Extents shapeOf(const tensor::Program& program, int number) {
  constexpr std::int64_t primes[] = {13, 29, 11, 7, 5, 3};
  constexpr std::int64_t mixed[] = {8, 24, 16, 2, 4, 6};
  tensor::Extents extents;
  int i = 0;
  for (const std::string& name : program.dimensions) {
    extents[name] = number == 0 ? primes[i % 6] : number == 1 ? (i == 0 ? 2 : 1) : mixed[i % 6];
    ++i;
  }
  return extents;
}

void checkAll(const std::vector<std::unique_ptr<Library>>& libraries) {
  for (const auto& library : libraries) {
    for (std::size_t i = 0; i < library->size(); ++i) {
      for (const auto distribution : {Distribution::normal, Distribution::large, Distribution::ties})
        EXPECT_EQ(library->check(i, distribution, 3, 2), "");
    }
  }
}

std::vector<Case> operatorCases(const std::string& target, const Parameters& parameters) {
  std::vector<Case> cases;
  for (const std::string& text : operatorPrograms()) {
    std::shared_ptr<tensor::Program> program;
    try {
      program = programOf(text);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
      continue;
    }
    for (int shape = 0; shape < 3; ++shape) {
      try {
        cases.push_back(emitted(program, shapeOf(*program, shape), target, parameters));
      } catch (const UserError& error) {
        ADD_FAILURE() << program->name << ": " << error.what();
      }
    }
  }
  return cases;
}

TEST(Operators, HostTarget) {
  checkAll(compileAll(operatorCases("host", {}), {"-O1"}, "operators"));
}

TEST(Operators, LoopsOfTheCorpus) {
  NEED_CASES();
  std::vector<Case> cases;
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  for (const auto& folder : fs::directory_iterator(NUSCOPE_SHARED_DIR "/cases/streams")) {
    for (const char* side : {"left.py", "right.py"}) files.push_back((folder.path() / side).string());
  }
  std::sort(files.begin(), files.end());
  for (std::size_t i = 0; i < files.size(); i += 3) {
    const auto program = std::make_shared<tensor::Program>(language::parseFile(files[i]));
    std::mt19937_64 random(1);
    const auto extents = semantics::drawExtents(program->dimensions, program->facts, 3, random);
    if (!extents) continue;
    try {
      cases.push_back(emitted(program, *extents, "host", {}));
    } catch (const UserError& error) {
      EXPECT_NE(std::string(error.what()).find("depends on a loop's counter"), std::string::npos)
          << files[i] << error.what();
    }
  }
  EXPECT_GE(cases.size(), 12U);
  checkAll(compileAll(std::move(cases), {"-O1"}, "loops"));
}

}  // namespace
}  // namespace nuscope::emit::testing
