#include "peers.h"

#include <dlfcn.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace {

struct Blas {
  using Gemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float,
                        float*, int);
  Gemm gemm = nullptr;
  void (*setThreads)(int) = nullptr;
  const char* core = "absent";
  Blas() {
    void* const handle = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return;
    gemm = reinterpret_cast<Gemm>(dlsym(handle, "cblas_sgemm"));
    setThreads = reinterpret_cast<void (*)(int)>(dlsym(handle, "openblas_set_num_threads"));
    const auto name = reinterpret_cast<const char* (*)()>(dlsym(handle, "openblas_get_corename"));
    if (name != nullptr) core = name();
  }
};

const Blas& blas() {
  static const Blas one;
  return one;
}

/// c[M, N] = a[M, K] b[K, N], or b[N, K] turned.
void product(bool turned, int64_t M, int64_t N, int64_t K, const float* a, const float* b, float* c) {
  if (blas().gemm != nullptr) {
    const auto m = static_cast<int>(M), n = static_cast<int>(N), k = static_cast<int>(K);
    blas().gemm(101, 111, turned ? 112 : 111, m, n, k, 1, a, k, b, turned ? k : n, 0, c, n);
    return;
  }
#pragma omp parallel for
  for (int64_t i = 0; i < M; ++i) {
    std::fill(c + i * N, c + (i + 1) * N, 0.0F);
    for (int64_t k = 0; k < K; ++k) {
      for (int64_t j = 0; j < N; ++j) c[i * N + j] += a[i * K + k] * (turned ? b[j * K + k] : b[k * N + j]);
    }
  }
}

/// Memory of a peer that stays between calls.
float* scratch(int which, int64_t count) {
  static std::vector<float> kept[3];
  if (static_cast<int64_t>(kept[which].size()) < count) kept[which].resize(static_cast<std::size_t>(count));
  return kept[which].data();
}

void softmaxRow(const float* x, float* y, int64_t n) {
  float m = -INFINITY;
  for (int64_t j = 0; j < n; ++j) m = x[j] > m ? x[j] : m;
  float s = 0;
  for (int64_t j = 0; j < n; ++j) s += y[j] = expf(x[j] - m);
  for (int64_t j = 0; j < n; ++j) y[j] /= s;
}

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

const char* peer_blas_core() {
  return blas().core;
}

void peer_set_threads(int threads) {
  omp_set_num_threads(threads);
  if (blas().setThreads != nullptr) blas().setThreads(threads);
}

void peer_matmul(const int64_t* e, float* const* a) {
  product(false, e[0], e[2], e[1], a[0], a[1], a[2]);
}

void peer_rmsnorm_matmul(const int64_t* e, float* const* a) {
  const int64_t M = e[0], K = e[1], N = e[2];
  float* const t = scratch(0, M * K);
#pragma omp parallel for
  for (int64_t i = 0; i < M; ++i) {
    const float* x = a[0] + i * K;
    float s = 0;
    for (int64_t j = 0; j < K; ++j) s += x[j] * x[j];
    s = 1 / sqrtf(s / static_cast<float>(K) + 1e-5F);
    for (int64_t j = 0; j < K; ++j) t[i * K + j] = x[j] * s * a[1][j];
  }
  product(false, M, N, K, t, a[2], a[3]);
}

void peer_softmax(const int64_t* e, float* const* a) {
#pragma omp parallel for
  for (int64_t i = 0; i < e[0]; ++i) softmaxRow(a[0] + i * e[1], a[1] + i * e[1], e[1]);
}

void peer_silu(const int64_t* e, float* const* a) {
#pragma omp parallel for
  for (int64_t i = 0; i < e[0] * e[1]; ++i) a[1][i] = a[0][i] / (1 + expf(-a[0][i]));
}

void peer_layernorm(const int64_t* e, float* const* a) {
  const int64_t N = e[1];
  const auto n = static_cast<float>(N);
#pragma omp parallel for
  for (int64_t i = 0; i < e[0]; ++i) {
    const float* x = a[0] + i * N;
    float s = 0;
    for (int64_t j = 0; j < N; ++j) s += x[j];
    const float mean = s / n;
    s = 0;
    for (int64_t j = 0; j < N; ++j) s += (x[j] - mean) * (x[j] - mean);
    const float r = 1 / sqrtf(s / n + 1e-5F);
    for (int64_t j = 0; j < N; ++j) a[3][i * N + j] = (x[j] - mean) * r * a[1][j] + a[2][j];
  }
}

void peer_rope(const int64_t* e, float* const* a) {
  const int64_t H = e[1];
#pragma omp parallel for
  for (int64_t i = 0; i < e[0]; ++i) {
    const float* x = a[0] + i * 2 * H;
    float* y = a[3] + i * 2 * H;
    for (int64_t j = 0; j < H; ++j) {
      const float c = a[1][i * H + j], s = a[2][i * H + j];
      y[j] = x[j] * c - x[j + H] * s;
      y[j + H] = x[j + H] * c + x[j] * s;
    }
  }
}

void peer_cumsum(const int64_t* e, float* const* a) {
  const int64_t N = e[1];
#pragma omp parallel for
  for (int64_t i = 0; i < e[0]; ++i) {
    float s = 0;
    for (int64_t j = 0; j < N; ++j) a[1][i * N + j] = s += a[0][i * N + j];
  }
}

void peer_gated_mlp(const int64_t* e, float* const* a) {
  const int64_t M = e[0], K = e[1], H = e[2];
  float* const h = scratch(0, M * H);
  float* const u = scratch(1, M * H);
  product(false, M, H, K, a[0], a[1], h);
  product(false, M, H, K, a[0], a[2], u);
#pragma omp parallel for
  for (int64_t j = 0; j < M * H; ++j) h[j] = h[j] / (1 + expf(-h[j])) * u[j];
  product(false, M, K, H, h, a[3], a[4]);
}

void peer_attention(const int64_t* e, float* const* a) {
  const int64_t M = e[0], D = e[1], N = e[2], E = e[3];
  float* const s = scratch(0, M * N);
  product(true, M, N, D, a[0], a[1], s);
  const float scale = 1 / sqrtf(static_cast<float>(D));
#pragma omp parallel for
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) s[i * N + j] *= scale;
    softmaxRow(s + i * N, s + i * N, N);
  }
  product(false, M, E, N, s, a[2], a[3]);
}

// ---------------------------------------------------------------------------------------------------- the
// bench itself

void bench_fill(float* to, int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  for (int64_t i = 0; i < count; ++i) to[i] = normal(random);
}

double bench_difference(const float* a, const float* b, int64_t count) {
  double worst = 0, most = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (std::isnan(a[i]) || std::isnan(b[i])) return INFINITY;
    worst = std::max(worst, std::fabs(static_cast<double>(a[i]) - b[i]));
    most = std::max(most, std::fabs(static_cast<double>(b[i])));
  }
  return worst == 0 ? 0 : worst / most;
}

void bench_flush() {
  constexpr std::size_t bytes = std::size_t{128} << 20;
  static char* const memory = static_cast<char*>(malloc(bytes));
  static char value = 0;
  memset(memory, ++value, bytes);
}

double bench_fma_peak() {
#if defined(__AVX512F__)
  typedef float V __attribute__((vector_size(64)));
#elif defined(__AVX__)
  typedef float V __attribute__((vector_size(32)));
#else
  typedef float V __attribute__((vector_size(16)));
#endif
  constexpr int chains = 12;
  constexpr long rounds = 2'000'000;
  double best = 0;
  for (int run = 0; run < 10; ++run) {
    V sums[chains] = {};
    V factor = {}, addend = {};
    factor += 0.999F;
    addend += 1e-3F;
    for (int c = 0; c < chains; ++c)
      sums[c] += static_cast<float>(c + 2);  // equal chains would be computed once
    const double start = now();
    for (long i = 0; i < rounds; ++i) {
#pragma GCC unroll 12
      for (int c = 0; c < chains; ++c) sums[c] = sums[c] * factor + addend;
    }
    for (int c = 0; c < chains; ++c) asm volatile("" ::"x"(sums[c]));  // somebody might read them
    const double seconds = now() - start;
    best = std::max(best, 2.0 * chains * (sizeof(V) / 4) * rounds / seconds * 1e-9);
  }
  return best;
}

double bench_read_bandwidth(int threads) {
  constexpr int64_t count = int64_t{48} << 20;
  std::vector<float> memory(count, 1.0F);
  double best = 0;
  for (int run = 0; run < 5; ++run) {
    const double start = now();
    float total = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : total)
    for (int64_t part = 0; part < count / 4096; ++part) {
      const float* at = memory.data() + part * 4096;
      float lanes[64] = {};
      for (int64_t i = 0; i < 4096; i += 64) {
        for (int l = 0; l < 64; ++l) lanes[l] += at[i + l];
      }
      for (const float lane : lanes) total += lane;
    }
    asm volatile("" ::"r"(&total) : "memory");
    best = std::max(best, static_cast<double>(count) * 4 / (now() - start) * 1e-9);
  }
  return best;
}

double bench_copy_bandwidth(int64_t bytes, int threads) {
  std::vector<char> from(static_cast<std::size_t>(bytes), 1), to(static_cast<std::size_t>(bytes));
  double best = 0;
  const int64_t part = 16384;
  for (int run = 0; run < 20; ++run) {
    const double start = now();
#pragma omp parallel for num_threads(threads)
    for (int64_t i = 0; i < bytes / part; ++i) {
      const float* const a = reinterpret_cast<const float*>(from.data() + i * part);
      float* const b = reinterpret_cast<float*>(to.data() + i * part);
      for (int64_t j = 0; j < part / 4; ++j) b[j] = a[j] + 1.0F;  // no memcpy: that stores past the caches
    }
    best = std::max(best, 2.0 * static_cast<double>(bytes) / (now() - start) * 1e-9);
  }
  return best;
}
