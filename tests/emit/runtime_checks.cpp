// What runtime_test.cpp loads and bench/functions.sh runs: the functions of nuscope_runtime.h against double
// precision, the thread pool, the strips. Compiled as kernels are, for each number of lanes.
#include <math.h>

#include <initializer_list>

#include "nuscope_runtime.h"

using nuscope::F;

namespace {

/// The error of `got` in units in the last place of `want`, beyond an absolute error that is allowed.
double ulps(float got, double want, double absolute) {
  if (want != want) return 0;
  if (got != got) return 1e9;
  if (isinf(got)) return fabs(want) > 3.4028234e38 ? 0 : 1e9;
  int e;
  frexp(want, &e);
  const double unit = ldexp(1.0, e - 24 < -149 ? -149 : e - 24);
  const double error = fabs(got - want) - absolute;
  return error <= 0 ? 0 : error / unit;
}

float floatOf(unsigned bits) {
  float x;
  __builtin_memcpy(&x, &bits, 4);
  return x;
}
unsigned bitsOf(float x) {
  unsigned bits;
  __builtin_memcpy(&bits, &x, 4);
  return bits;
}

struct Worst {
  double error = 0;
  unsigned where = 0;
};

/// Compares at floats given by their bits, a vector at a time.
template <class Vector, class Exact, class Counts>
struct Check {
  Vector vector;
  Exact exact;
  Counts counts;  ///< whether the function promises anything there
  double absolute;
  Worst worst{};

  void at(const unsigned (&bits)[nuscope::W]) {
    F x;
    for (int l = 0; l < nuscope::W; ++l) x[l] = floatOf(bits[l]);
    const F y = vector(x);
    for (int l = 0; l < nuscope::W; ++l) {
      if (!counts(x[l])) continue;
      const double error = ulps(y[l], exact((double)x[l]), absolute);
      if (error > worst.error) worst = {error, bits[l]};
    }
  }
  /// Every step-th float with bits in [from, to).
  void range(unsigned long from, unsigned long to, unsigned step) {
    unsigned bits[nuscope::W];
    for (unsigned long n = from; n < to;) {
      for (int l = 0; l < nuscope::W; ++l) {
        bits[l] = unsigned(n < to ? n : to - 1);
        n += step;
      }
      at(bits);
    }
  }
  /// The float and its neighbours, of both signs.
  void around(float x) {
    for (int step = -3; step <= 3; ++step) {
      for (const unsigned sign : {0u, 0x80000000u}) {
        unsigned bits[nuscope::W];
        for (int l = 0; l < nuscope::W; ++l) bits[l] = (bitsOf(x) + step) ^ sign;
        at(bits);
      }
    }
  }
  /// Zero, the ends of every binade, infinity, and where the functions change their way: thresholds of
  /// overflow and underflow, ends of reduced ranges, quarters of a turn.
  void edges() {
    for (unsigned exponent = 0; exponent < 256; ++exponent) around(floatOf(exponent << 23));
    for (const float x : {88.7228394f, 88.7228241f, 87.3365479f, 103.972084f, 104.0f, 89.0f, 0.70710677f,
                          0.625f, 9.01091290f, 8192.0f, 8388608.0f, 4194304.0f, 2147483648.0f}) {
      around(x);
    }
    for (int i = 1; i < 200; ++i) {
      around(float(i) * 0.785398163f);  // pi / 4
      around(float(i) * 0.346573590f);  // ln 2 / 2
      around(float(i) * 0.5f);
    }
  }
};

template <class Vector, class Exact, class Counts>
Check(Vector, Exact, Counts, double) -> Check<Vector, Exact, Counts>;

bool isAny(float) {
  return true;
}
bool isPositive(float x) {
  return x > 0;
}
bool isFiniteFloat(float x) {
  return isfinite(x);
}

}  // namespace

/// Worst error over every step-th float with bits in [from, to), and at the edges; `where` gets its bits.
#define CHECK(name, counts, absolute)                                                                        \
  extern "C" double worst_##name(unsigned long from, unsigned long to, unsigned step, unsigned* where) {     \
    Check check{[](F x) { return nuscope::name(x); }, [](double x) { return ::name(x); }, counts, absolute}; \
    check.range(from, to, step);                                                                             \
    check.edges();                                                                                           \
    *where = check.worst.where;                                                                              \
    return check.worst.error;                                                                                \
  }
CHECK(exp, isAny, 0)
CHECK(log, isPositive, 0)
CHECK(tanh, isAny, 0)
CHECK(sin, isFiniteFloat, 0x1p-23)
CHECK(cos, isFiniteFloat, 0x1p-23)
CHECK(sqrt, isPositive, 0)
CHECK(floor, isFiniteFloat, 0)
CHECK(rint, isFiniteFloat, 0)

extern "C" long pool_sum(int threads, int rounds) {
  long total = 0;
  for (int r = 0; r < rounds; ++r) {
    long part[64] = {};
    nuscope::parallel(threads, [&](int p, int n) {
      for (long i = nuscope::shareBegin(1000, 16, p, n); i < nuscope::shareBegin(1000, 16, p + 1, n); ++i)
        part[p] += i;
    });
    for (const long one : part) total += one;
  }
  return total;
}
extern "C" long strips(long batches, long rows, long unit, long strip, int parts) {
  // Every row once, in strips that end with their batch: the sum of row * row tells.
  long total = 0;
  for (int p = 0; p < parts; ++p) {
    nuscope::forStrips(batches, rows, unit, strip, p, parts, [&](long begin, long end) {
      if (begin / rows != (end - 1) / rows || begin % rows % unit != 0 || begin >= end) total += 1L << 40;
      for (long r = begin; r < end; ++r) total += r * r;
    });
  }
  return total;
}

#ifdef NUSCOPE_ALL_FLOATS
// All 2^32 floats, on two threads: minutes. Exit code 1 if a bound is broken.
#include <stdio.h>
int main() {
  struct Function {
    const char* name;
    double (*worst)(unsigned long, unsigned long, unsigned, unsigned*);
    double bound;
    const char* beside;
  };
  const Function functions[] = {{"exp", worst_exp, 1.5, ""},
                                {"log", worst_log, 2, ""},
                                {"tanh", worst_tanh, 3, ""},
                                {"sin", worst_sin, 2, " beside 2^-23"},
                                {"cos", worst_cos, 2, " beside 2^-23"}};
  bool held = true;
  for (const Function& one : functions) {
    constexpr int pieces = 64;
    double worst[pieces];
    unsigned where[pieces];
    nuscope::parallel(2, [&](int part, int parts) {
      for (int i = part; i < pieces; i += parts)
        worst[i] = one.worst((1UL << 32) / pieces * i, (1UL << 32) / pieces * (i + 1), 1, &where[i]);
    });
    int most = 0;
    for (int i = 1; i < pieces; ++i) {
      if (worst[i] > worst[most]) most = i;
    }
    held = held && worst[most] <= one.bound;
    printf("%-5s %.3f ulp%s at %.9g (0x%08x), promised %.1f %s\n", one.name, worst[most], one.beside,
           double(floatOf(where[most])), where[most], one.bound,
           worst[most] <= one.bound ? "kept" : "BROKEN");
    fflush(stdout);
  }
  return held ? 0 : 1;
}
#endif
