// How fast emitted kernels are, against plain loops and OpenBLAS (if it is installed): interleaved, best and
// median of many short runs. Usage: emit_bench [filter] [threads] [k=v ...]. Not a test: prints a table.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>

#include "core/emit/model.h"
#include "tests/emit/harness.h"

namespace {

using namespace nuscope;
using namespace nuscope::emit::testing;

using Gemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float,
                      float*, int);
using SetThreads = void (*)(int);

struct Blas {
  Gemm gemm = nullptr;
  SetThreads setThreads = nullptr;
  std::string core = "absent";
  Blas() {
    void* const handle = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return;
    gemm = reinterpret_cast<Gemm>(dlsym(handle, "cblas_sgemm"));
    setThreads = reinterpret_cast<SetThreads>(dlsym(handle, "openblas_set_num_threads"));
    const auto name = reinterpret_cast<const char* (*)()>(dlsym(handle, "openblas_get_corename"));
    if (name != nullptr) core = name();
  }
};

/// With one thread the thread's own time, so that a busy machine disturbs less.
double now(int threads) {
  timespec time{};
  clock_gettime(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

double seconds(int threads, const std::function<void()>& run) {
  const double start = now(threads);
  run();
  return now(threads) - start;
}

struct Entry {
  std::string program;
  tensor::Extents extents;
  double flops = 0;
  /// Peer: plain loops, with BLAS for products; gets the arrays of the kernel.
  std::function<void(const Blas&, const std::vector<float*>&, int threads)> peer;
};

using Arrays = std::vector<float*>;

void parallelRows(long rows, int threads, const std::function<void(long, long)>& body);

#define ROWS(M, threads) parallelRows(M, threads, [&](long r0, long r1) { for (long i = r0; i < r1; ++i) {
#define END_ROWS \
  }              \
  })

}  // namespace

#include <thread>
namespace {
void parallelRows(long rows, int threads, const std::function<void(long, long)>& body) {
  if (threads <= 1) {
    body(0, rows);
    return;
  }
  std::vector<std::jthread> pool;
  for (int t = 1; t < threads; ++t)
    pool.emplace_back([&, t] { body(rows * t / threads, rows * (t + 1) / threads); });
  body(0, rows / threads);
}

void product(const Blas& blas, bool turned, int M, int N, int K, const float* a, const float* b, float* c) {
  if (blas.gemm == nullptr) return;
  blas.gemm(101, 111, turned ? 112 : 111, M, N, K, 1, a, K, b, turned ? K : N, 0, c, N);
}

void softmaxRow(const float* x, float* y, long n) {
  float m = -INFINITY;
  for (long j = 0; j < n; ++j) m = x[j] > m ? x[j] : m;
  float s = 0;
  for (long j = 0; j < n; ++j) s += y[j] = expf(x[j] - m);
  for (long j = 0; j < n; ++j) y[j] /= s;
}

std::vector<Entry> entries() {
  std::vector<Entry> list;
  list.push_back({"matmul",
                  {{"M", 1024}, {"K", 1024}, {"N", 1024}},
                  2.0 * 1024 * 1024 * 1024,
                  [](const Blas& blas, const Arrays& a, int) {
                    product(blas, false, 1024, 1024, 1024, a[0], a[1], a[2]);
                  }});
  list.push_back({"rmsnorm_matmul",
                  {{"M", 512}, {"K", 1024}, {"N", 1024}},
                  2.0 * 512 * 1024 * 1024,
                  [](const Blas& blas, const Arrays& a, int threads) {
                    static std::vector<float> t(512 * 1024);
                    ROWS(512, threads) {
                      const float* x = a[0] + i * 1024;
                      float s = 0;
                      for (long j = 0; j < 1024; ++j) s += x[j] * x[j];
                      s = 1 / sqrtf(s / 1024 + 1e-5F);
                      for (long j = 0; j < 1024; ++j)
                        t[static_cast<std::size_t>(i * 1024 + j)] = x[j] * s * a[1][j];
                    }
                    END_ROWS;
                    product(blas, false, 512, 1024, 1024, t.data(), a[2], a[3]);
                  }});
  list.push_back({"softmax", {{"M", 1024}, {"N", 1024}}, 0, [](const Blas&, const Arrays& a, int threads) {
                    ROWS(1024, threads) {
                      softmaxRow(a[0] + i * 1024, a[1] + i * 1024, 1024);
                    }
                    END_ROWS;
                  }});
  list.push_back({"silu", {{"M", 1024}, {"N", 1024}}, 0, [](const Blas&, const Arrays& a, int threads) {
                    ROWS(1024, threads) {
                      const float* x = a[0] + i * 1024;
                      for (long j = 0; j < 1024; ++j) a[1][i * 1024 + j] = x[j] / (1 + expf(-x[j]));
                    }
                    END_ROWS;
                  }});
  list.push_back({"layernorm", {{"M", 128}, {"N", 8192}}, 0, [](const Blas&, const Arrays& a, int threads) {
                    ROWS(128, threads) {
                      const float* x = a[0] + i * 8192;
                      float s = 0;
                      for (long j = 0; j < 8192; ++j) s += x[j];
                      const float mean = s / 8192;
                      s = 0;
                      for (long j = 0; j < 8192; ++j) s += (x[j] - mean) * (x[j] - mean);
                      const float r = 1 / sqrtf(s / 8192 + 1e-5F);
                      for (long j = 0; j < 8192; ++j)
                        a[3][i * 8192 + j] = (x[j] - mean) * r * a[1][j] + a[2][j];
                    }
                    END_ROWS;
                  }});
  list.push_back({"rope", {{"S", 4096}, {"H", 128}}, 0, [](const Blas&, const Arrays& a, int threads) {
                    ROWS(4096, threads) {
                      const float* x = a[0] + i * 256;
                      for (long j = 0; j < 128; ++j) {
                        const float c = a[1][i * 128 + j], s = a[2][i * 128 + j];
                        a[3][i * 256 + j] = x[j] * c - x[j + 128] * s;
                        a[3][i * 256 + j + 128] = x[j + 128] * c + x[j] * s;
                      }
                    }
                    END_ROWS;
                  }});
  list.push_back({"cumsum", {{"M", 1024}, {"N", 4096}}, 0, [](const Blas&, const Arrays& a, int threads) {
                    ROWS(1024, threads) {
                      float s = 0;
                      for (long j = 0; j < 4096; ++j) a[1][i * 4096 + j] = s += a[0][i * 4096 + j];
                    }
                    END_ROWS;
                  }});
  list.push_back({"gated_mlp",
                  {{"M", 256}, {"K", 512}, {"H", 1024}},
                  6.0 * 256 * 512 * 1024,
                  [](const Blas& blas, const Arrays& a, int threads) {
                    static std::vector<float> h(256 * 1024);
                    static std::vector<float> u(256 * 1024);
                    product(blas, false, 256, 1024, 512, a[0], a[1], h.data());
                    product(blas, false, 256, 1024, 512, a[0], a[2], u.data());
                    ROWS(256, threads) {
                      for (long j = i * 1024; j < (i + 1) * 1024; ++j) {
                        const auto k = static_cast<std::size_t>(j);
                        h[k] = h[k] / (1 + expf(-h[k])) * u[k];
                      }
                    }
                    END_ROWS;
                    product(blas, false, 256, 512, 1024, h.data(), a[3], a[4]);
                  }});
  list.push_back({"attention",
                  {{"M", 1024}, {"N", 1024}, {"D", 64}, {"E", 64}},
                  4.0 * 1024 * 1024 * 64,
                  [](const Blas& blas, const Arrays& a, int threads) {
                    static std::vector<float> s(1024 * 1024);
                    product(blas, true, 1024, 1024, 64, a[0], a[1], s.data());
                    ROWS(1024, threads) {
                      for (long j = 0; j < 1024; ++j) s[static_cast<std::size_t>(i * 1024 + j)] *= 0.125F;
                      softmaxRow(s.data() + i * 1024, s.data() + i * 1024, 1024);
                    }
                    END_ROWS;
                    product(blas, false, 1024, 64, 1024, s.data(), a[2], a[3]);
                  }});
  return list;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string filter = argc > 1 ? argv[1] : "";
  const int threads = argc > 2 ? std::atoi(argv[2]) : 1;
  emit::Parameters parameters;
  for (int i = 3; i < argc; ++i) tiling::set(parameters, argv[i]);
  const Blas blas;
  if (blas.setThreads != nullptr) blas.setThreads(threads);
  fmt::print(
      "OpenBLAS core {}, {} thread(s); milliseconds, best (median); ratio: peer / ours of bests (medians)\n",
      blas.core, threads);
  std::mt19937 random(1);
  for (const Entry& entry : entries()) {
    if (!filter.empty() && filter != "all" && entry.program != filter) continue;
    auto one = emitted(programOf(entry.program), entry.extents, "host", parameters);
    if (std::getenv("SHOW") != nullptr) fmt::print("{}\n", one.kernel.text);
    std::vector<std::vector<float>> memory;
    Arrays arrays;
    std::vector<void*> arguments;
    for (const auto& argument : one.kernel.arguments) {
      std::size_t count = 1;
      for (const auto extent : argument.shape) count *= static_cast<std::size_t>(extent);
      auto& block = memory.emplace_back(count + 16);
      std::normal_distribution<float> normal;
      for (float& x : block) x = normal(random);
      const auto address = reinterpret_cast<std::uintptr_t>(block.data());
      arrays.push_back(reinterpret_cast<float*>((address + 63) / 64 * 64));
      arguments.push_back(arrays.back());
    }
    std::vector<Case> cases;
    cases.push_back(std::move(one));
    const Library library(std::move(cases), {}, "bench");
    const auto ours = [&] { library.run(0, arguments, threads); };
    const auto theirs = [&] { entry.peer(blas, arrays, threads); };
    ours();
    theirs();
    std::vector<double> a;
    std::vector<double> b;
    const int rounds = argc > 1 && std::getenv("ROUNDS") != nullptr ? std::atoi(std::getenv("ROUNDS")) : 40;
    for (int i = 0; i < rounds; ++i) {
      a.push_back(seconds(threads, ours));
      b.push_back(seconds(threads, theirs));
    }
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    const auto& kernel = library.at(0);
    const double modelled = emit::modelledSeconds(*kernel.program, kernel.results, kernel.extents,
                                                  machine::loadTarget("host"), parameters, threads);
    fmt::print(
        "{:<16} ours {:7.3f} ({:7.3f})  peer {:7.3f} ({:7.3f})  ratio {:5.2f} ({:5.2f})  {:6.1f} GFLOP/s  "
        "modelled {:7.3f}\n",
        entry.program, a[0] * 1e3, a[a.size() / 2] * 1e3, b[0] * 1e3, b[b.size() / 2] * 1e3, b[0] / a[0],
        b[b.size() / 2] / a[a.size() / 2], entry.flops / a[0] * 1e-9, modelled * 1e3);
  }
  return 0;
}
