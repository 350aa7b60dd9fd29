#pragma once
// What our kernels race against without PyTorch: OpenBLAS (found at run time) for products, plain loops for
// the rest, -O3 -march=native, OpenMP over rows. Extents come in the order of the program's dimensions,
// arrays in the order of its arguments, as emitted kernels have them.
#include <cstdint>

extern "C" {
/// "Zen", "SkylakeX"...: the core OpenBLAS chose; "absent": no OpenBLAS, and then products are plain loops.
const char* peer_blas_core();
void peer_set_threads(int threads);

void peer_matmul(const int64_t* extents, float* const* arrays);          ///< M, K, N
void peer_rmsnorm_matmul(const int64_t* extents, float* const* arrays);  ///< M, K, N
void peer_softmax(const int64_t* extents, float* const* arrays);         ///< M, N
void peer_silu(const int64_t* extents, float* const* arrays);            ///< M, N
void peer_layernorm(const int64_t* extents, float* const* arrays);       ///< M, N
void peer_rope(const int64_t* extents, float* const* arrays);            ///< S, H
void peer_cumsum(const int64_t* extents, float* const* arrays);          ///< M, N
void peer_gated_mlp(const int64_t* extents, float* const* arrays);       ///< M, K, H
void peer_attention(const int64_t* extents, float* const* arrays);       ///< M, D, N, E

// ---- for the bench itself
/// Normally distributed numbers, the same for the same seed.
void bench_fill(float* to, int64_t count, unsigned seed);
/// The largest difference, relative to the largest element of b; infinite where one is NaN.
double bench_difference(const float* a, const float* b, int64_t count);
/// Writes more memory than any cache holds.
void bench_flush();
/// GFLOP/s of multiply-adds in registers, one thread: best of several runs.
double bench_fma_peak();
/// GB/s of reading memory with `threads` threads, from arrays larger than the caches.
double bench_read_bandwidth(int threads);
/// GB/s read and written while copying arrays of `bytes` each; stores pass through the caches.
double bench_copy_bandwidth(int64_t bytes, int threads);
}
