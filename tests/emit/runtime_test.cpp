// The functions of nuscope_runtime.h against double precision, at every 997th float and at the edges; the
// thread pool.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/base/process.h"
#include "core/emit/kernel.h"

namespace nuscope::emit {
namespace {

constexpr const char* source = R"(
#include "nuscope_runtime.h"
#include <math.h>
using nuscope::F;

static double ulps(float got, double want, double absolute) {
  if (want != want) return 0;
  if (got != got) return 1e9;
  if (isinf(got)) return fabs(want) > 3.4028234e38 ? 0 : 1e9;
  int e;
  frexp(want, &e);
  const double unit = ldexp(1.0, e - 24 < -149 ? -149 : e - 24);
  double error = fabs(got - want) - absolute;
  return error <= 0 ? 0 : error / unit;
}

#define CHECK(name, from, absolute)                                                          \
  extern "C" double worst_##name(unsigned step, unsigned* where) {                           \
    double worst = 0;                                                                        \
    unsigned bits = 0;                                                                       \
    const auto look = [&](const unsigned (&at)[nuscope::W]) {                                \
      F x;                                                                                   \
      for (int l = 0; l < nuscope::W; ++l) __builtin_memcpy((char*)&x + 4 * l, &at[l], 4);   \
      const F y = nuscope::name(x);                                                          \
      for (int l = 0; l < nuscope::W; ++l) {                                                 \
        if (!(from(x[l]))) continue;                                                         \
        const double error = ulps(y[l], ::name((double)x[l]), absolute);                     \
        if (error > worst) { worst = error; *where = at[l]; }                                \
      }                                                                                      \
    };                                                                                       \
    unsigned at[nuscope::W];                                                                 \
    for (unsigned long n = 0; n < (1UL << 32); n += step * (unsigned long)nuscope::W) {      \
      for (int l = 0; l < nuscope::W; ++l) { at[l] = bits; bits += step; }                   \
      look(at);                                                                              \
    }                                                                                        \
    const unsigned edges[] = {0, 0x80000000, 1, 0x80000001, 0x007fffff, 0x00800000, 0x7f7fffff, 0xff7fffff, 0x7f800000,    \
                              0xff800000, 0x42b17218, 0x42b17217, 0xc2aeac50, 0xc2cff1b5, 0x3f800000, 0x3f7fffff,         \
                              0x3f000000, 0x4b000000, 0x4b000001, 0x46000000, 0x3f200000, 0x3f1fffff, 0x3fc90fdb, 0x40490fdb}; \
    for (const unsigned edge : edges) {                                                      \
      for (int l = 0; l < nuscope::W; ++l) at[l] = edge;                                     \
      look(at);                                                                              \
    }                                                                                        \
    return worst;                                                                            \
  }
#define ANY(x) true
#define POSITIVE(x) ((x) > 0)
#define FINITE(x) (isfinite(x))
CHECK(exp, ANY, 0)
CHECK(log, POSITIVE, 0)
CHECK(tanh, ANY, 0)
CHECK(sin, FINITE, 0x1p-23)
CHECK(cos, FINITE, 0x1p-23)
CHECK(sqrt, POSITIVE, 0)
CHECK(floor, FINITE, 0)
CHECK(rint, FINITE, 0)

extern "C" long pool_sum(int threads, int rounds) {
  long total = 0;
  for (int r = 0; r < rounds; ++r) {
    long part[64] = {};
    nuscope::parallel(threads, [&](int p, int n) {
      for (long i = nuscope::shareBegin(1000, 16, p, n); i < nuscope::shareBegin(1000, 16, p + 1, n); ++i) part[p] += i;
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
)";

class Runtime : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const machine::Target target = machine::loadTarget(GetParam());
    if (!machine::missingFeatures(target).empty()) {
      GTEST_SKIP() << "this processor lacks " << machine::missingFeatures(target)[0];
    }
    folder_ =
        std::filesystem::temp_directory_path() / fmt::format("nuscope-runtime-{}-{}", getpid(), GetParam());
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "f.cpp") << "#define NUSCOPE_LANES " << target.vector.floats() << "\n" << source;
    ProcessOptions options;
    options.arguments = target.compiler;
    for (const std::string& flag :
         {std::string("-shared"), std::string("-fPIC"), "-I" + runtimeFolder(), (folder_ / "f.cpp").string(),
          std::string("-o"), (folder_ / "f.so").string(), std::string("-lm"), std::string("-pthread")}) {
      options.arguments.push_back(flag);
    }
    const Finished finished = runProcess(options, "", std::chrono::seconds(120));
    ASSERT_TRUE(finished.end.success()) << finished.errors;
    handle_ = dlopen((folder_ / "f.so").c_str(), RTLD_NOW);
    ASSERT_NE(handle_, nullptr) << dlerror();
  }
  void TearDown() override {
    if (handle_ != nullptr) dlclose(handle_);
    std::filesystem::remove_all(folder_);
  }
  template <class T>
  T function(const std::string& name) {
    return reinterpret_cast<T>(dlsym(handle_, name.c_str()));
  }
  void expectWithin(const std::string& name, double bound) {
    unsigned where = 0;
    const double worst = function<double (*)(unsigned, unsigned*)>("worst_" + name)(997, &where);
    EXPECT_LE(worst, bound) << name << fmt::format(" at {:#x}", where);
    RecordProperty("ulps_" + name, fmt::format("{:.3f}", worst));
  }
  std::filesystem::path folder_;
  void* handle_ = nullptr;
};

TEST_P(Runtime, FunctionsKeepTheirBounds) {
  expectWithin("exp", 1.5);
  expectWithin("log", 2);
  expectWithin("tanh", 3);
  expectWithin("sin", 2);
  expectWithin("cos", 2);
  expectWithin("sqrt", 0.51);
  expectWithin("floor", 0);
  expectWithin("rint", 0);
}

TEST_P(Runtime, ThreadsDoEveryPartOnce) {
  const auto sum = function<long (*)(int, int)>("pool_sum");
  for (const int threads : {1, 2, 5}) EXPECT_EQ(sum(threads, 200), 499500L * 200);
  // Several callers at once.
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> callers;
    for (int c = 0; c < 3; ++c) callers.emplace_back([&] { wrong += sum(2, 200) != 499500L * 200; });
  }
  EXPECT_EQ(wrong, 0);
}

TEST_P(Runtime, StripsCoverEveryRowOnce) {
  const auto strips = function<long (*)(long, long, long, long, int)>("strips");
  for (const long rows : {1, 7, 12, 50}) {
    for (const int parts : {1, 2, 3, 9}) {
      const long total = 3 * rows;
      EXPECT_EQ(strips(3, rows, 6, 12, parts), (total - 1) * total * (2 * total - 1) / 6)
          << rows << " " << parts;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Runtime, testing::Values("host-generic", "host-avx2", "host-avx512"),
                         [](const auto& which) { return which.param.substr(5); });

}  // namespace
}  // namespace nuscope::emit
