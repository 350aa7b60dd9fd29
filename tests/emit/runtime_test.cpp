// The functions of nuscope_runtime.h against double precision, at every 997th float and at the edges; the
// thread pool.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <stdexcept>
#include <thread>

#include "core/base/process.h"
#include "core/emit/kernel.h"

namespace nuscope::emit {
namespace {

/// runtime_checks.cpp as it is compiled for one target; built once.
class Checks {
 public:
  explicit Checks(const machine::Target& target)
      : folder_(std::filesystem::temp_directory_path() /
                fmt::format("nuscope-runtime-{}-{}", getpid(), target.name)) {
    std::filesystem::create_directories(folder_);
    ProcessOptions options;
    options.arguments = target.compiler;
    for (const std::string& flag :
         {std::string("-shared"), std::string("-fPIC"), "-I" + runtimeFolder(),
          fmt::format("-DNUSCOPE_LANES={}", target.vector.floats()),
          std::string(NUSCOPE_SOURCE_DIR "/tests/emit/runtime_checks.cpp"), std::string("-o"),
          (folder_ / "f.so").string(), std::string("-lm"), std::string("-pthread")}) {
      options.arguments.push_back(flag);
    }
    const Finished finished = runProcess(options, "", std::chrono::seconds(120));
    if (!finished.end.success()) throw std::runtime_error(finished.errors);
    handle_ = dlopen((folder_ / "f.so").c_str(), RTLD_NOW);
    if (handle_ == nullptr) throw std::runtime_error(dlerror());
  }
  ~Checks() {
    if (handle_ != nullptr) dlclose(handle_);
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Checks(const Checks&) = delete;
  Checks& operator=(const Checks&) = delete;
  [[nodiscard]] void* function(const std::string& name) const { return dlsym(handle_, name.c_str()); }

 private:
  std::filesystem::path folder_;
  void* handle_ = nullptr;
};

class Runtime : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const machine::Target target = machine::loadTarget(GetParam());
    if (!machine::missingFeatures(target).empty()) {
      GTEST_SKIP() << "this processor lacks " << machine::missingFeatures(target)[0];
    }
    auto& one = built_[GetParam()];
    if (!one) one = std::make_unique<Checks>(target);
    checks_ = one.get();
  }
  static void TearDownTestSuite() { built_.clear(); }
  template <class T>
  T function(const std::string& name) {
    return reinterpret_cast<T>(checks_->function(name));
  }
  void expectWithin(const std::string& name, double bound) {
    unsigned where = 0;
    const double worst = function<double (*)(unsigned long, unsigned long, unsigned, unsigned*)>(
        "worst_" + name)(0, 1UL << 32, 997, &where);
    EXPECT_LE(worst, bound) << name << fmt::format(" at {:#x}", where);
    RecordProperty("ulps_" + name, fmt::format("{:.3f}", worst));
  }
  static inline std::map<std::string, std::unique_ptr<Checks>> built_;
  const Checks* checks_ = nullptr;
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
