// What emitted host kernels are written in: vectors of lanes, functions on them, and a thread pool. Part of Nuscope
// (GPL-3.0-or-later); kernels that include it are licensed as their author likes. Needs g++ >= 12 or clang++ >= 14.
//
// NUSCOPE_LANES (4, 8 or 16), set before the inclusion, is the number of floats in a vector. Instruction sets are
// used where the compiler is told that they are there; everything also works without.
//
// Who compiles many kernels can have threads and memory compiled once: NUSCOPE_RUNTIME_APART leaves their bodies out,
// and a file that sets NUSCOPE_RUNTIME_OBJECT and includes this one is the object to link with each kernel.
#ifndef NUSCOPE_RUNTIME_H
#define NUSCOPE_RUNTIME_H

#ifndef NUSCOPE_RUNTIME_APART
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#endif
#ifdef NUSCOPE_RUNTIME_OBJECT
#define NUSCOPE_BODY
#else
#define NUSCOPE_BODY inline
#endif

#ifndef NUSCOPE_LANES
#define NUSCOPE_LANES 4
#endif
#define NUSCOPE_INLINE __attribute__((always_inline))

// Hidden: every library has its own threads and memory, and takes them with it when it is unloaded.
namespace nuscope __attribute__((visibility("hidden"))) {

// ------------------------------------------------------------------------------------------------ vectors of lanes
constexpr int W = NUSCOPE_LANES;
typedef float F __attribute__((vector_size(4 * NUSCOPE_LANES)));  // floats
typedef int I __attribute__((vector_size(4 * NUSCOPE_LANES)));    // ints, and conditions: -1 and 0
typedef unsigned U __attribute__((vector_size(4 * NUSCOPE_LANES)));
typedef float UnalignedF __attribute__((vector_size(4 * NUSCOPE_LANES), aligned(4), may_alias));
typedef int UnalignedI __attribute__((vector_size(4 * NUSCOPE_LANES), aligned(4), may_alias));
typedef unsigned char Bytes __attribute__((vector_size(NUSCOPE_LANES), aligned(1), may_alias));

constexpr float infinity = __builtin_inff();

inline NUSCOPE_INLINE F splat(float x) { return x - F{}; }
inline NUSCOPE_INLINE I splat(int x) { return x - I{}; }
inline NUSCOPE_INLINE I splatMask(bool x) { return -int(x) - I{}; }
inline NUSCOPE_INLINE F splat(F x) { return x; }
inline NUSCOPE_INLINE I splat(I x) { return x; }

#if NUSCOPE_LANES == 16
constexpr I laneNumbers = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#elif NUSCOPE_LANES == 8
constexpr I laneNumbers = {0, 1, 2, 3, 4, 5, 6, 7};
#else
constexpr I laneNumbers = {0, 1, 2, 3};
#endif
/// first, first + 1, ...
inline NUSCOPE_INLINE I lanesFrom(long first) { return int(first) + laneNumbers; }

/// How many lanes of a vector exist: all of them, or the first few at the end of a row.
struct All {
  static constexpr bool full = true;
  static constexpr int count = W;
};
struct First {
  static constexpr bool full = false;
  int count;
};
inline NUSCOPE_INLINE I maskOf(First lanes) { return laneNumbers < lanes.count; }

inline NUSCOPE_INLINE F select(I condition, F a, F b) { return condition ? a : b; }
inline NUSCOPE_INLINE I select(I condition, I a, I b) { return condition ? a : b; }

inline NUSCOPE_INLINE F load(const float* p, All) { return *(const UnalignedF*)p; }
inline NUSCOPE_INLINE I load(const int* p, All) { return *(const UnalignedI*)p; }
inline NUSCOPE_INLINE void store(float* p, F x, All) { *(UnalignedF*)p = x; }
inline NUSCOPE_INLINE void store(int* p, I x, All) { *(UnalignedI*)p = x; }

// Beyond the end of a row nothing is read or written.
#if NUSCOPE_LANES == 16 && defined(__AVX512F__)
inline NUSCOPE_INLINE unsigned short bitsOf(First lanes) { return (unsigned short)((1U << lanes.count) - 1); }
inline NUSCOPE_INLINE F load(const float* p, First lanes) { return (F)__builtin_ia32_loadups512_mask(p, F{}, bitsOf(lanes)); }
inline NUSCOPE_INLINE I load(const int* p, First lanes) { return (I)__builtin_ia32_loaddqusi512_mask(p, I{}, bitsOf(lanes)); }
inline NUSCOPE_INLINE void store(float* p, F x, First lanes) { __builtin_ia32_storeups512_mask(p, x, bitsOf(lanes)); }
inline NUSCOPE_INLINE void store(int* p, I x, First lanes) { __builtin_ia32_storedqusi512_mask(p, x, bitsOf(lanes)); }
#elif NUSCOPE_LANES == 8 && defined(__AVX2__)
inline NUSCOPE_INLINE F load(const float* p, First lanes) { return __builtin_ia32_maskloadps256((const F*)p, maskOf(lanes)); }
inline NUSCOPE_INLINE I load(const int* p, First lanes) { return (I)__builtin_ia32_maskloadps256((const F*)p, maskOf(lanes)); }
inline NUSCOPE_INLINE void store(float* p, F x, First lanes) { __builtin_ia32_maskstoreps256((F*)p, maskOf(lanes), x); }
inline NUSCOPE_INLINE void store(int* p, I x, First lanes) { __builtin_ia32_maskstoreps256((F*)p, maskOf(lanes), (F)x); }
#else
inline F load(const float* p, First lanes) {
  F x = {};
  for (int l = 0; l < lanes.count; ++l) x[l] = p[l];
  return x;
}
inline I load(const int* p, First lanes) {
  I x = {};
  for (int l = 0; l < lanes.count; ++l) x[l] = p[l];
  return x;
}
inline void store(float* p, F x, First lanes) {
  for (int l = 0; l < lanes.count; ++l) p[l] = x[l];
}
inline void store(int* p, I x, First lanes) {
  for (int l = 0; l < lanes.count; ++l) p[l] = x[l];
}
#endif
/// Conditions are stored as bytes 0 and 1.
inline NUSCOPE_INLINE I load(const unsigned char* p, All) { return __builtin_convertvector(*(const Bytes*)p, I) != 0; }
inline I load(const unsigned char* p, First lanes) {
  I x = {};
  for (int l = 0; l < lanes.count; ++l) x[l] = p[l] != 0 ? -1 : 0;
  return x;
}
inline NUSCOPE_INLINE void store(unsigned char* p, I x, All) { *(Bytes*)p = __builtin_convertvector(x & 1, Bytes); }
inline void store(unsigned char* p, I x, First lanes) {
  for (int l = 0; l < lanes.count; ++l) p[l] = x[l] != 0 ? 1 : 0;
}
/// Stores past the caches, where the address allows it: for results that are larger than the last cache.
template <class V, class T, class Lanes>
inline NUSCOPE_INLINE void storePast(T* p, V x, Lanes lanes) {
#if defined(__GNUC__) && !defined(__clang__) && (NUSCOPE_LANES == 8 && defined(__AVX__) || NUSCOPE_LANES == 16 && defined(__AVX512F__))
  if constexpr (Lanes::full) {
    if (((unsigned long)p & (4 * W - 1)) == 0) {
#if NUSCOPE_LANES == 8
      __builtin_ia32_movntps256((float*)p, (F)x);
#else
      __builtin_ia32_movntps512((float*)p, (F)x);
#endif
      return;
    }
  }
#endif
  store(p, x, lanes);
}
/// Makes what storePast wrote visible to other threads.
inline NUSCOPE_INLINE void fence() {
#if defined(__SSE__)
  __builtin_ia32_sfence();
#endif
}
/// Elements p[index], lane by lane.
template <class Lanes>
inline NUSCOPE_INLINE F gather(const float* p, I index, Lanes lanes) {
  F x = {};
  for (int l = 0; l < lanes.count; ++l) x[l] = p[index[l]];
  return x;
}
template <class Lanes>
inline NUSCOPE_INLINE I gather(const int* p, I index, Lanes lanes) {
  I x = {};
  for (int l = 0; l < lanes.count; ++l) x[l] = p[index[l]];
  return x;
}
template <class Lanes>
inline NUSCOPE_INLINE I gather(const unsigned char* p, I index, Lanes lanes) {
  I x = {};
  for (int l = 0; l < lanes.count; ++l) x[l] = p[index[l]] != 0 ? -1 : 0;
  return x;
}

/// x in the lanes that exist, `neutral` in the others.
template <class V, class N>
inline NUSCOPE_INLINE V keep(V x, N, All) { return x; }
inline NUSCOPE_INLINE F keep(F x, float neutral, First lanes) { return select(maskOf(lanes), x, splat(neutral)); }
inline NUSCOPE_INLINE I keep(I x, int neutral, First lanes) { return select(maskOf(lanes), x, splat(neutral)); }

// -------------------------------------------------------------------------------------------------- loops over lanes
template <int N>
struct Number {
  constexpr operator int() const { return N; }
};

/// body(Number<0>()) .. body(Number<N - 1>()).
template <int N, class Body>
inline NUSCOPE_INLINE void forNumbers(Body body) {
  if constexpr (N > 1) forNumbers<N - 1>(body);
  body(Number<N - 1>());
}

/// body(j, number of the vector in its round, lanes) for j = from, from + W, ... < to; rounds of `Unroll` vectors.
template <int Unroll, class Body>
inline NUSCOPE_INLINE void forLanes(long from, long to, Body body) {
  long j = from;
  if constexpr (Unroll > 1) {
    for (; j + Unroll * W <= to; j += Unroll * W)
      forNumbers<Unroll>([&](auto u) NUSCOPE_INLINE { body(j + u * W, u, All()); });
  }
  for (; j + W <= to; j += W) body(j, Number<0>(), All());
  if (j < to) body(j, Number<0>(), First{int(to - j)});
}

/// The same where both ends are known: nothing is compiled that never runs.
template <int Unroll, long From, long To, class Body>
inline NUSCOPE_INLINE void forLanes(Body body) {
  constexpr long whole = (To - From) / W, rest = (To - From) % W;
  long j = From;
  if constexpr (Unroll > 1 && whole >= Unroll) {
    for (; j + Unroll * W <= To; j += Unroll * W)
      forNumbers<Unroll>([&](auto u) NUSCOPE_INLINE { body(j + u * W, u, All()); });
  }
  if constexpr (Unroll == 1 || whole % Unroll != 0) {
    for (; j + W <= To; j += W) body(j, Number<0>(), All());
  }
  if constexpr (rest != 0) body(j, Number<0>(), First{int(rest)});
}

/// One round of vectors from j on, of which `Count` lanes exist; the number of a vector is its place.
template <int Vectors, long Count, class Body>
inline NUSCOPE_INLINE void forBlock(long j, Body body) {
  constexpr long whole = Count < Vectors * W ? Count / W : Vectors;
  if constexpr (whole > 0) forNumbers<int(whole)>([&](auto v) NUSCOPE_INLINE { body(j + v * W, v, All()); });
  if constexpr (whole < Vectors && Count % W != 0) body(j + whole * W, Number<int(whole)>(), First{int(Count % W)});
}
/// The same where the count is known only when it runs.
template <int Vectors, class Body>
inline NUSCOPE_INLINE void forBlock(long j, long count, Body body) {
  if (count >= Vectors * W) {
    forBlock<Vectors, long(Vectors) * W>(j, body);
    return;
  }
  forNumbers<Vectors>([&](auto v) NUSCOPE_INLINE {
    const long left = count - v * W;
    if (left >= W) {
      body(j + v * W, v, All());
    } else if (left > 0) {
      body(j + v * W, v, First{int(left)});
    }
  });
}

// ------------------------------------------------------------------------------------------------------- arithmetic
// Of a number and a NaN: the second one.
#if NUSCOPE_LANES == 16 && defined(__AVX512F__) && defined(__clang__)
inline NUSCOPE_INLINE F max(F a, F b) { return __builtin_ia32_maxps512(a, b, 4); }
inline NUSCOPE_INLINE F min(F a, F b) { return __builtin_ia32_minps512(a, b, 4); }
#elif NUSCOPE_LANES == 16 && defined(__AVX512F__)
inline NUSCOPE_INLINE F max(F a, F b) { return __builtin_ia32_maxps512_mask(a, b, F{}, (unsigned short)-1, 4); }
inline NUSCOPE_INLINE F min(F a, F b) { return __builtin_ia32_minps512_mask(a, b, F{}, (unsigned short)-1, 4); }
#elif NUSCOPE_LANES == 8 && defined(__AVX__)
inline NUSCOPE_INLINE F max(F a, F b) { return __builtin_ia32_maxps256(a, b); }
inline NUSCOPE_INLINE F min(F a, F b) { return __builtin_ia32_minps256(a, b); }
#elif NUSCOPE_LANES == 4 && defined(__SSE__)
inline NUSCOPE_INLINE F max(F a, F b) { return __builtin_ia32_maxps(a, b); }
inline NUSCOPE_INLINE F min(F a, F b) { return __builtin_ia32_minps(a, b); }
#else
inline NUSCOPE_INLINE F max(F a, F b) { return a > b ? a : b; }
inline NUSCOPE_INLINE F min(F a, F b) { return a < b ? a : b; }
#endif
inline NUSCOPE_INLINE I max(I a, I b) { return a > b ? a : b; }
inline NUSCOPE_INLINE I min(I a, I b) { return a < b ? a : b; }
inline NUSCOPE_INLINE float max(float a, float b) { return a > b ? a : b; }
inline NUSCOPE_INLINE float min(float a, float b) { return a < b ? a : b; }
inline NUSCOPE_INLINE double max(double a, double b) { return a > b ? a : b; }
inline NUSCOPE_INLINE double min(double a, double b) { return a < b ? a : b; }
inline NUSCOPE_INLINE int max(int a, int b) { return a > b ? a : b; }
inline NUSCOPE_INLINE int min(int a, int b) { return a < b ? a : b; }
inline NUSCOPE_INLINE long min(long a, long b) { return a < b ? a : b; }
inline NUSCOPE_INLINE long max(long a, long b) { return a > b ? a : b; }

inline NUSCOPE_INLINE F abs(F x) { return (F)((I)x & 0x7fffffff); }
inline NUSCOPE_INLINE I abs(I x) { return x < 0 ? -x : x; }
inline NUSCOPE_INLINE float abs(float x) { return __builtin_fabsf(x); }
inline NUSCOPE_INLINE double abs(double x) { return __builtin_fabs(x); }
inline NUSCOPE_INLINE int abs(int x) { return x < 0 ? -x : x; }

inline NUSCOPE_INLINE F toF(I x) { return __builtin_convertvector(x, F); }
inline NUSCOPE_INLINE I toI(F x) { return __builtin_convertvector(x, I); }  // toward zero

inline NUSCOPE_INLINE F sign(F x) { return select(x > 0.0f, splat(1.0f), select(x < 0.0f, splat(-1.0f), splat(0.0f))); }
inline NUSCOPE_INLINE I sign(I x) { return (x < 0) - (x > 0); }
inline NUSCOPE_INLINE float sign(float x) { return float((x > 0) - (x < 0)); }
inline NUSCOPE_INLINE double sign(double x) { return double((x > 0) - (x < 0)); }
inline NUSCOPE_INLINE int sign(int x) { return (x > 0) - (x < 0); }

/// Nearest integer, ties to even: adding 1.5 * 2^23 leaves no bits for a fraction.
inline NUSCOPE_INLINE F rint(F x) {
  const F size = abs(x);
  const F rounded = (size + 8388608.0f) - 8388608.0f;
  return select(size < 8388608.0f, (F)((I)rounded | ((I)x & (int)0x80000000)), x);
}
inline NUSCOPE_INLINE float rint(float x) { return __builtin_rintf(x); }
inline NUSCOPE_INLINE double rint(double x) { return __builtin_rint(x); }
inline NUSCOPE_INLINE F floor(F x) {
  const F rounded = rint(x);
  return rounded - select(rounded > x, splat(1.0f), splat(0.0f));
}
inline NUSCOPE_INLINE float floor(float x) { return __builtin_floorf(x); }
inline NUSCOPE_INLINE double floor(double x) { return __builtin_floor(x); }

#if NUSCOPE_LANES == 8 && defined(__AVX__)
inline NUSCOPE_INLINE F sqrt(F x) { return __builtin_ia32_sqrtps256(x); }
#elif NUSCOPE_LANES == 4 && defined(__SSE__)
inline NUSCOPE_INLINE F sqrt(F x) { return __builtin_ia32_sqrtps(x); }
#else
inline NUSCOPE_INLINE F sqrt(F x) {
  F y;
  for (int l = 0; l < W; ++l) y[l] = __builtin_sqrtf(x[l]);
  return y;
}
#endif
inline NUSCOPE_INLINE float sqrt(float x) { return __builtin_sqrtf(x); }
inline NUSCOPE_INLINE double sqrt(double x) { return __builtin_sqrt(x); }

template <int N, class T>
inline NUSCOPE_INLINE T power(T x) {
  if constexpr (N == 0) return x * T{} + 1;
  else if constexpr (N == 1) return x;
  else if constexpr (N % 2 == 0) return power<N / 2>(T(x * x));
  else return T(power<N / 2>(T(x * x)) * x);
}

/// Rounded toward minus infinity; by 0: unspecified, but no trap.
inline NUSCOPE_INLINE int floorDivide(int a, int b) {
  if (b == 0) return 0;
  if (b == -1) return int(0U - unsigned(a));
  return a / b - int((a % b != 0) && ((a % b < 0) != (b < 0)));
}
inline NUSCOPE_INLINE long floorDivide(long a, long b) { return a / b - long((a % b != 0) && ((a % b < 0) != (b < 0))); }
inline NUSCOPE_INLINE long floorDivide(long a, int b) { return floorDivide(a, long(b)); }
inline NUSCOPE_INLINE int floorModulo(int a, int b) { return int(unsigned(a) - unsigned(floorDivide(a, b)) * unsigned(b)); }
inline I floorDivide(I a, I b) {
  I q;
  for (int l = 0; l < W; ++l) q[l] = floorDivide(a[l], b[l]);
  return q;
}
inline I floorDivide(I a, int b) { return floorDivide(a, splat(b)); }
inline I floorModulo(I a, I b) {
  I q;
  for (int l = 0; l < W; ++l) q[l] = floorModulo(a[l], b[l]);
  return q;
}
inline float floorModulo(float a, float b) {
  const float r = __builtin_fmodf(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
inline double floorModulo(double a, double b) {
  const double r = __builtin_fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
inline float floorDivide(float a, float b) { return __builtin_floorf(a / b); }
inline double floorDivide(double a, double b) { return __builtin_floor(a / b); }
inline F floorModulo(F a, F b) {
  F r;
  for (int l = 0; l < W; ++l) r[l] = floorModulo(a[l], b[l]);
  return r;
}
inline NUSCOPE_INLINE F floorDivide(F a, F b) { return floor(a / b); }

inline NUSCOPE_INLINE long clampIndex(long i, long extent) { return i < 0 ? 0 : i < extent ? i : extent - 1; }
inline NUSCOPE_INLINE I clampIndex(I i, long extent) { return max(splat(0), min(i, splat(int(extent - 1)))); }

// -------------------------------------------------------------------------------------------------------- functions
// Error bounds, in units in the last place of the result, are checked by tests/emit/runtime_test.cpp.

/// Error < 1.5 ulp; exp(-inf) = 0; overflows to inf, underflows gradually; NaN stays NaN.
inline NUSCOPE_INLINE F exp(F x) {
  x = min(splat(89.0f), max(splat(-104.0f), x));
  constexpr float magic = 12582912.0f + 254.0f;
  const F shifted = x * 1.44269504f + magic;  // n + 254 in the low bits, n the integer nearest to x / ln 2
  const F whole = shifted - magic;
  F r = x - whole * 0.693359375f;
  r = r + whole * 2.12194440e-4f;
  F p = r * 1.381459879e-3f + 8.368716575e-3f;  // within 0.07 ulp of exp(r) for |r| < 0.347
  p = p * r + 4.166838899e-2f;
  p = p * r + 1.666652113e-1f;
  p = p * r + 4.999999404e-1f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  // 2^n in two factors, neither too large nor too small: their exponents with the offset of 127 add up to n + 254.
  const U both = (U)shifted << 23;
  const U one = (U)((I)shifted >> 1) << 23;
  return p * (F)one * (F)(both - one);
}
inline float exp(float x) { return __builtin_expf(x); }
inline double exp(double x) { return __builtin_exp(x); }

/// Error < 2 ulp for x > 0; log(0) = -inf.
inline NUSCOPE_INLINE F log(F x) {
  const I tiny = x < 1.17549435e-38f;
  const F scaled = select(tiny, x * 8388608.0f, x);
  const I bits = (I)scaled;
  // x = 2^e * m with m in [sqrt(1/2), sqrt(2))
  const I shifted = bits - 0x3f3504f3;
  const I e = (shifted >> 23) + select(tiny, splat(-23), splat(0));
  const F m = (F)((shifted & 0x007fffff) + 0x3f3504f3) - 1.0f;
  const F z = m * m;
  F p = m * 7.0376836292e-2f - 1.1514610310e-1f;
  p = p * m + 1.1676998740e-1f;
  p = p * m - 1.2420140846e-1f;
  p = p * m + 1.4249322787e-1f;
  p = p * m - 1.6668057665e-1f;
  p = p * m + 2.0000714765e-1f;
  p = p * m - 2.4999993993e-1f;
  p = p * m + 3.3333331174e-1f;
  const F n = toF(e);
  F y = p * m * z;
  y = y - n * 2.12194440e-4f;
  y = y - z * 0.5f;
  y = (m + y) + n * 0.693359375f;
  y = select(x == 0.0f, splat(-infinity), y);
  return select(x < infinity, y, x);
}
inline float log(float x) { return __builtin_logf(x); }
inline double log(double x) { return __builtin_log(x); }

/// Error < 3 ulp.
inline NUSCOPE_INLINE F tanh(F x) {
  const F size = abs(x);
  const F z = x * x;
  F p = z * -5.70498872745e-3f + 2.06390887954e-2f;
  p = p * z - 5.37397155531e-2f;
  p = p * z + 1.33314422036e-1f;
  p = p * z - 3.33332819422e-1f;
  p = p * z * x + x;
  const F far = 1.0f - 2.0f / (exp(size + size) + 1.0f);
  const F signedFar = (F)((I)far | ((I)x & (int)0x80000000));
  return select(size < 0.625f, p, signedFar);
}
inline float tanh(float x) { return __builtin_tanhf(x); }
inline double tanh(double x) { return __builtin_tanh(x); }

/// sin (quarter 0) or cos (quarter 1). Error < 2^-23 + 2 ulp for |x| <= 8192; beyond, lane by lane as the C library.
inline NUSCOPE_INLINE F sineFrom(F x, int quarter) {
  const F shifted = x * 0.636619772f + 12582912.0f;
  const I q = (I)shifted - 0x4b400000 + quarter;
  const F whole = shifted - 12582912.0f;
  // pi / 2 in three parts; products with the first two are exact.
  F r = x - whole * 1.5703125f;
  r = r - whole * 4.837512969970703125e-4f;
  r = r - whole * 7.54978995489188216e-8f;
  const F z = r * r;
  F s = z * -1.9515295891e-4f + 8.3321608736e-3f;
  s = s * z - 1.6666654611e-1f;
  s = s * z * r + r;
  F c = z * 2.443315711809948e-5f - 1.388731625493765e-3f;
  c = c * z + 4.166664568298827e-2f;
  c = c * (z * z) - z * 0.5f + 1.0f;
  const F y = select((q & 1) != 0, c, s);
  return (F)((I)y ^ ((q & 2) << 30));
}
inline NUSCOPE_INLINE bool anyLane(I condition) {
  int any = 0;
  for (int l = 0; l < W; ++l) any |= condition[l];
  return any != 0;
}
inline __attribute__((noinline)) F sinFar(F x) {
  for (int l = 0; l < W; ++l) x[l] = __builtin_sinf(x[l]);
  return x;
}
inline __attribute__((noinline)) F cosFar(F x) {
  for (int l = 0; l < W; ++l) x[l] = __builtin_cosf(x[l]);
  return x;
}
inline NUSCOPE_INLINE F sin(F x) { return anyLane(abs(x) > 8192.0f) ? sinFar(x) : sineFrom(x, 0); }
inline NUSCOPE_INLINE F cos(F x) { return anyLane(abs(x) > 8192.0f) ? cosFar(x) : sineFrom(x, 1); }
inline float sin(float x) { return __builtin_sinf(x); }
inline double sin(double x) { return __builtin_sin(x); }
inline float cos(float x) { return __builtin_cosf(x); }
inline double cos(double x) { return __builtin_cos(x); }

// ---------------------------------------------------------------------------------------------- folds over lanes
#define NUSCOPE_FOLD(name, V, T, combine)                                   \
  inline NUSCOPE_INLINE T name(V x) {                                       \
    T part[W];                                                              \
    for (int l = 0; l < W; ++l) part[l] = x[l];                             \
    for (int step = W / 2; step > 0; step /= 2) {                           \
      for (int l = 0; l < step; ++l) {                                      \
        const T a = part[l], b = part[l + step];                            \
        part[l] = combine;                                                  \
      }                                                                     \
    }                                                                       \
    return part[0];                                                         \
  }
NUSCOPE_FOLD(foldSum, F, float, a + b)
NUSCOPE_FOLD(foldSum, I, int, a + b)
NUSCOPE_FOLD(foldProduct, F, float, a* b)
NUSCOPE_FOLD(foldProduct, I, int, a* b)
NUSCOPE_FOLD(foldMax, F, float, a > b ? a : b)
NUSCOPE_FOLD(foldMax, I, int, a > b ? a : b)
NUSCOPE_FOLD(foldMin, F, float, a < b ? a : b)
NUSCOPE_FOLD(foldMin, I, int, a < b ? a : b)
NUSCOPE_FOLD(foldAll, I, int, a& b)
#undef NUSCOPE_FOLD

/// x0, x0 + x1, x0 + x1 + x2, ...
template <class V>
inline NUSCOPE_INLINE V prefixSum(V x) {
  const V zero = {};
#if NUSCOPE_LANES == 16
  x = x + __builtin_shufflevector(zero, x, 0, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30);
  x = x + __builtin_shufflevector(zero, x, 0, 1, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29);
  x = x + __builtin_shufflevector(zero, x, 0, 1, 2, 3, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27);
  x = x + __builtin_shufflevector(zero, x, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
#elif NUSCOPE_LANES == 8
  x = x + __builtin_shufflevector(zero, x, 0, 8, 9, 10, 11, 12, 13, 14);
  x = x + __builtin_shufflevector(zero, x, 0, 1, 8, 9, 10, 11, 12, 13);
  x = x + __builtin_shufflevector(zero, x, 0, 1, 2, 3, 8, 9, 10, 11);
#else
  x = x + __builtin_shufflevector(zero, x, 0, 4, 5, 6);
  x = x + __builtin_shufflevector(zero, x, 0, 1, 4, 5);
#endif
  return x;
}
template <class V>
inline NUSCOPE_INLINE V lastLane(V x) { return splat(x[W - 1]); }

// ------------------------------------------------------------------------------------------------- matrix products
/// c[R][V] += sum over k of a[i][k] * b[k][j]. a[i][k] = a[i * RowA + k * DepthA], b[k][j] = b[k * DepthB + j]. All of c
/// stays in registers. The rows of b are asked for `Ahead` rows before they are needed; 0: they are not.
template <int R, int V, long RowA, long DepthA, long DepthB, int Ahead = 0>
inline NUSCOPE_INLINE void multiply(const float* __restrict a, const float* __restrict b, long depth, F (&c)[R][V]) {
  for (long k = 0; k < depth; ++k, a += DepthA, b += DepthB) {
    F column[V];
    if constexpr (Ahead > 0) {
      for (int byte = 0; byte < V * W * 4; byte += 64) __builtin_prefetch((const char*)(b + Ahead * DepthB) + byte);
    }
    forNumbers<V>([&](auto v) NUSCOPE_INLINE { column[v] = load(b + v * W, All()); });
    forNumbers<R>([&](auto i) NUSCOPE_INLINE {
      const F row = splat(a[i * RowA]);
      forNumbers<V>([&](auto v) NUSCOPE_INLINE { c[i][v] = c[i][v] + row * column[v]; });
    });
  }
}
template <int R, int V>
inline NUSCOPE_INLINE void fetchBlock(const float* from, long width) {
  for (int i = 0; i < R; ++i) {
    for (int byte = 0; byte < V * W * 4; byte += 64) __builtin_prefetch((const char*)(from + i * width) + byte, 1);
  }
}
template <int R, int V>
inline NUSCOPE_INLINE void addBlock(const float* from, long width, F (&c)[R][V]) {
  forNumbers<R>([&](auto i) NUSCOPE_INLINE {
    forNumbers<V>([&](auto v) NUSCOPE_INLINE { c[i][v] = c[i][v] + load(from + i * width + v * W, All()); });
  });
}
template <int R, int V>
inline NUSCOPE_INLINE void storeBlock(const F (&c)[R][V], float* to, long width) {
  forNumbers<R>([&](auto i) NUSCOPE_INLINE {
    forNumbers<V>([&](auto v) NUSCOPE_INLINE { store(to + i * width + v * W, c[i][v], All()); });
  });
}

template <class T>
inline void swap(T*& a, T*& b) {
  T* const old = a;
  a = b;
  b = old;
}
inline void zero(float* to, long count) {
  for (long i = 0; i < count; ++i) to[i] = 0.0f;
}

/// to[k][j] = from[j * stride + k] for j < count, k < depth; rows of `to` are Width apart.
template <int Width>
inline void packTransposed(const float* __restrict from, long stride, long count, long depth, float* __restrict to) {
  constexpr int step = 16;  // of the depth: whole cache lines are read
  for (long k0 = 0; k0 < depth; k0 += step) {
    const long n = min(long(step), depth - k0);
    for (long j = 0; j < count; ++j) {
      const float* const row = from + j * stride + k0;
      float* const column = to + k0 * Width + j;
      if (n == step) {
        for (int k = 0; k < step; ++k) column[k * Width] = row[k];
      } else {
        for (long k = 0; k < n; ++k) column[k * Width] = row[k];
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------- memory and threads
/// Scratch memory of a call, kept for the next one.
class Scratch {
 public:
  explicit Scratch(unsigned long bytes);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  char* data() const { return (char*)block_ + 64; }

 private:
  struct Block {
    unsigned long bytes;
  };
  struct Kept;
  static Kept kept;
  Block* block_ = nullptr;
};

/// task(context, part, parts) for every part, on threads that stay.
using Task = void (*)(void* context, int part, int parts);
void run(int parts, Task task, void* context);

#ifndef NUSCOPE_RUNTIME_APART
struct Scratch::Kept {
  Block* block = nullptr;
  ~Kept() { free(__atomic_exchange_n(&block, nullptr, __ATOMIC_ACQ_REL)); }
};
NUSCOPE_BODY Scratch::Kept Scratch::kept;

NUSCOPE_BODY Scratch::Scratch(unsigned long bytes) {
  if (bytes == 0) return;
  block_ = (Block*)__atomic_exchange_n(&kept.block, nullptr, __ATOMIC_ACQ_REL);
  if (block_ == nullptr || block_->bytes < bytes) {
    free(block_);
    const unsigned long page = bytes >= (1UL << 21) ? 1UL << 21 : 4096;
    const unsigned long whole = (bytes + 64 + page - 1) / page * page;
    block_ = (Block*)aligned_alloc(page, whole);
    if (block_ == nullptr) abort();
    if (page > 4096) madvise(block_, whole, MADV_HUGEPAGE);
    block_->bytes = whole - 64;
  }
}
NUSCOPE_BODY Scratch::~Scratch() {
  if (block_ != nullptr) free(__atomic_exchange_n(&kept.block, block_, __ATOMIC_ACQ_REL));
}

inline void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/// Threads that stay. Work is divided by number, never by chance: part t of n does the same wherever it runs.
class Pool {
 public:
  constexpr Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() {
    pthread_mutex_lock(&lock_);
    stop_ = true;
    pthread_cond_broadcast(&wake_);
    __atomic_add_fetch(&round_, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&lock_);
    for (int i = 0; i < started_; ++i) pthread_join(threads_[i], nullptr);
  }
  void run(int parts, Task task, void* context) {
    if (parts <= 1 || pthread_mutex_trylock(&busy_) != 0) {  // another caller has the threads: all parts here
      for (int t = 0; t < (parts < 1 ? 1 : parts); ++t) task(context, t, parts < 1 ? 1 : parts);
      return;
    }
    while (started_ < parts - 1 && started_ < most && start()) {
    }
    task_ = task;
    context_ = context;
    parts_ = parts;
    caller_ = processor();
    __atomic_store_n(&next_, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&left_, parts - 1, __ATOMIC_RELEASE);
    pthread_mutex_lock(&lock_);
    __atomic_add_fetch(&round_, 1, __ATOMIC_SEQ_CST);
    if (sleeping_ > 0) pthread_cond_broadcast(&wake_);
    pthread_mutex_unlock(&lock_);
    task(context, 0, parts);
    work();
    for (int spins = 0; __atomic_load_n(&left_, __ATOMIC_ACQUIRE) > 0; ++spins) {
      if (spins < 4000) pause();
      else sched_yield();
    }
    // Nobody may still look for parts of this round when the next one is set up.
    while (__atomic_load_n(&inside_, __ATOMIC_ACQUIRE) > 0) pause();
    pthread_mutex_unlock(&busy_);
  }

 private:
  static constexpr int most = 255;
  bool start() {
    if (pthread_create(&threads_[started_], nullptr, [](void* pool) -> void* {
          ((Pool*)pool)->serve();
          return nullptr;
        }, this) != 0) {
      return false;  // the others do its part
    }
    ++started_;
    return true;
  }
  void work() {
    for (;;) {
      const int part = __atomic_fetch_add(&next_, 1, __ATOMIC_ACQ_REL);
      if (part >= parts_) return;
      task_(context_, part, parts_);
      __atomic_sub_fetch(&left_, 1, __ATOMIC_ACQ_REL);
    }
  }
#if defined(__linux__) && defined(CPU_CLR)
  static int processor() { return sched_getcpu(); }
  /// A thread that wakes on the caller's processor gets nothing done there, and the system may take long to part
  /// them: it asks for the other ones of those it may use.
  struct Place {
    cpu_set_t allowed, asked;
  };
  void leaveCaller(Place& place) {
    cpu_set_t now;
    if (processor() != caller_ || sched_getaffinity(0, sizeof now, &now) != 0) return;
    if (!CPU_EQUAL(&now, &place.asked)) place.allowed = now;  // as somebody else has set it
    cpu_set_t others = place.allowed;
    CPU_CLR(caller_, &others);
    if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0) return;
    sched_getaffinity(0, sizeof place.asked, &place.asked);  // what the system made of it
  }
  void serve() {
    Place place = {};
    serve([&] { leaveCaller(place); });
  }
#else
  static int processor() { return 0; }
  void serve() { serve([] {}); }
#endif
  template <class Prepare>
  void serve(Prepare prepare) {
    long seen = 0;
    for (;;) {
      long now = seen;
      for (int spins = 0; spins < 4000 && now == seen; ++spins) {
        pause();
        now = __atomic_load_n(&round_, __ATOMIC_SEQ_CST);
      }
      if (now == seen) {
        pthread_mutex_lock(&lock_);
        ++sleeping_;
        while (!stop_ && (now = __atomic_load_n(&round_, __ATOMIC_SEQ_CST)) == seen) pthread_cond_wait(&wake_, &lock_);
        --sleeping_;
        pthread_mutex_unlock(&lock_);
      }
      if (__atomic_load_n(&stop_, __ATOMIC_SEQ_CST)) return;
      __atomic_add_fetch(&inside_, 1, __ATOMIC_SEQ_CST);
      // A round that has ended meanwhile has no parts left.
      if (__atomic_load_n(&left_, __ATOMIC_SEQ_CST) > 0) {
        prepare();
        work();
      }
      __atomic_sub_fetch(&inside_, 1, __ATOMIC_SEQ_CST);
      seen = now;
    }
  }

  pthread_mutex_t busy_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t wake_ = PTHREAD_COND_INITIALIZER;
  pthread_t threads_[most] = {};
  int caller_ = 0, started_ = 0, sleeping_ = 0, parts_ = 0, next_ = 0, left_ = 0, inside_ = 0;
  bool stop_ = false;
  long round_ = 0;
  Task task_ = nullptr;
  void* context_ = nullptr;
};

NUSCOPE_BODY Pool pool;
NUSCOPE_BODY void run(int parts, Task task, void* context) { pool.run(parts, task, context); }
#endif

/// body(part, parts) for every part, on as many threads.
template <class Body>
inline void parallel(int threads, Body body) {
  run(threads, [](void* context, int part, int parts) { (*(Body*)context)(part, parts); }, &body);
}
/// body(begin, end) for strips of the rows that a part does. Strips are at most `strip` rows, begin at whole units and
/// do not cross batches.
template <class Body>
inline void forStrips(long batches, long rows, long unit, long strip, int part, int parts, Body body) {
  const long perBatch = (rows + unit - 1) / unit;
  const long last = batches * perBatch * (part + 1) / parts;
  for (long at = batches * perBatch * part / parts; at < last;) {
    const long batch = at / perBatch;
    const long stop = min(min(last, (batch + 1) * perBatch), at + max(1L, strip / unit));
    const long base = batch * (rows - perBatch * unit);  // rows of a batch may end within a unit
    const long begin = base + at * unit;
    body(begin, min(base + stop * unit, (batch + 1) * rows));
    at = stop;
  }
}
/// The share of [0, count) that a part does, in whole units.
inline long shareBegin(long count, long unit, int part, int parts) {
  const long units = (count + unit - 1) / unit;
  return min(count, units * part / parts * unit);
}

}  // namespace nuscope
#endif
