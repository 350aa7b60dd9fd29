// The whole of `nuscope export`: folders are built alone, with the command that their manifest gives, and
// called from C, C++ and Python; every reason to refuse a call or an export is met.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/base/process.h"
#include "core/language/parse.h"
#include "core/machine/target.h"
#include "core/nugraph/json.h"
#include "core/sweep/study.h"
#include "tests/run_nuscope.h"

namespace nuscope::exporting {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* head = "from __future__ import annotations\nimport numpy as np\n\n\n";

Finished shell(const fs::path& folder, const std::string& command) {
  ProcessOptions options;
  options.arguments = {"sh", "-c", command};
  options.directory = folder.string();
  return runProcess(options, "", std::chrono::minutes(3));
}

class ExportCommand : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    char pattern[] = "/tmp/nuscope-export-XXXXXX";
    top() = mkdtemp(pattern);
    const std::string programs = std::string(NUSCOPE_SOURCE_DIR) + "/resources/programs/";
    sweep(programs + "silu_matmul.py", "silu", "M=16,K=24,N=32", {});
    sweep(programs + "silu_matmul.py", "silu", "M=5,K=24,N=32", {"--against", loops().string()});
    writeWholeFile(top() / "guarded.py", std::string(head) +
                                             "def guarded(x: f32[M, N], limit: f32) -> f32[M, N]:\n"
                                             "    assert x.shape[1] % 4 == 0\n"
                                             "    assert np.all(x > 0)\n"
                                             "    assert limit >= 1\n"
                                             "    assert np.all(np.sum(x, axis=-1) > 0)\n"
                                             "    return np.minimum(1 / x, limit)\n");
    sweep((top() / "guarded.py").string(), "guarded", "M=3,N=8", {});
  }
  static void TearDownTestSuite() { fs::remove_all(top()); }
  static fs::path& top() {
    static fs::path folder;
    return folder;
  }
  static fs::path loops() {
    const fs::path file = top() / "loops.cpp";
    writeWholeFile(
        file,
        "extern \"C\" void silu_matmul(const float* x, const float* w, float* out, int) {\n"
        "  for (int i = 0; i < 5; ++i) for (int j = 0; j < 32; ++j) {\n"
        "    float s = 0;\n"
        "    for (int k = 0; k < 24; ++k) s += x[i*24+k] / (1 + __builtin_expf(-x[i*24+k])) * w[k*32+j];\n"
        "    out[i*32+j] = s;\n  }\n}\n");
    return file;
  }
  static std::string study(const std::string& name) { return (top() / (name + ".nuscope")).string(); }
  static void sweep(const std::string& program, const std::string& name, const std::string& shape,
                    const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"sweep",   program, "-o",       study(name),
                                       "--shape", shape,   "--budget", "3"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished finished = runNuscope(arguments);
    ASSERT_EQ(finished.end.text(), "exit code 0") << finished.errors;
  }

  /// Exports, moves the folder elsewhere (nothing may depend on its place) and builds it as its manifest
  /// says.
  fs::path build(const std::string& name, const std::vector<std::string>& more) {
    const fs::path written = top() / "written";
    std::vector<std::string> arguments{"export", study(name), "-o", written.string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished finished = runNuscope(arguments);
    EXPECT_EQ(finished.end.text(), "exit code 0") << finished.errors;
    notes = finished.errors;
    const fs::path folder = top() / fmt::format("built{}", ++count);
    fs::rename(written, folder);
    manifest = json::parse(readWholeFile(folder / "manifest.json"));
    const Finished built = shell(folder, manifest.at("compile").get<std::string>());
    EXPECT_EQ(built.end.text(), "exit code 0") << built.errors;
    EXPECT_EQ(built.errors, "") << "no warning either";
    EXPECT_TRUE(fs::exists(folder / manifest.at("library").get<std::string>()));
    return folder;
  }
  /// Compiles a caller against the folder and returns what it prints.
  static std::string call(const fs::path& folder, const std::string& body,
                          const std::string& compiler = "c++") {
    const bool c = compiler == "cc";
    writeWholeFile(folder.parent_path() / (c ? "caller.c" : "caller.cc"),
                   "#include \"kernel.h\"\n#include <stdio.h>\n#include <stdlib.h>\n#include "
                   "<string.h>\n#include <math.h>\n"
                   "int main(void) {\n" +
                       body + "  return 0;\n}\n");
    const std::string library =
        json::parse(readWholeFile(folder / "manifest.json")).at("library").get<std::string>();
    const Finished finished = shell(
        folder.parent_path(),
        fmt::format("{0} -Wall -Wextra -Werror -I{1} {2} {1}/{3} -Wl,-rpath,{1} -lm -o caller && ./caller",
                    compiler, folder.string(), c ? "caller.c" : "caller.cc", library));
    EXPECT_EQ(finished.end.text(), "exit code 0") << finished.errors;
    return finished.output;
  }
  static Finished python(const fs::path& folder, const std::string& text) {
    writeWholeFile(folder.parent_path() / "caller.py",
                   "import sys\nsys.path.insert(0, '" + folder.string() + "')\n" + text);
    return shell(folder.parent_path(), "/usr/bin/python3 caller.py");
  }
  static bool hasNumPy() { return shell("/", "/usr/bin/python3 -c 'import numpy'").end.success(); }

  static int count;
  json manifest;
  std::string notes;
};
int ExportCommand::count = 0;

/// Fills x and w, and says by how much `out` differs from plain loops.
constexpr const char* siluCaller = R"(
  enum { M = %M%, K = 24, N = %N% };
  static float x[M * K], w[K * N], out[M * N];
  for (int i = 0; i < M * K; ++i) x[i] = (float)(i % 17) / 8 - 1;
  for (int i = 0; i < K * N; ++i) w[i] = (float)(i % 13) / 8 - 0.7f;
  const int64_t right[] = {M, K, N};
  const int code = nuscope_silu_matmul_for(right, x, w, out, 1);
  double worst = 0;
  for (int i = 0; i < M; ++i)
    for (int j = 0; j < N; ++j) {
      double s = 0;
      for (int k = 0; k < K; ++k) s += x[i * K + k] / (1 + exp(-(double)x[i * K + k])) * w[k * N + j];
      if (fabs(s - out[i * N + j]) > worst) worst = fabs(s - out[i * N + j]);
    }
  printf("%d %d %d\n", code, worst < 1e-5, nuscope_silu_matmul_kernel(right));
)";

std::string silu(int m, int n) {
  std::string text = siluCaller;
  text.replace(text.find("%M%"), 3, std::to_string(m));
  text.replace(text.find("%N%"), 3, std::to_string(n));
  return text;
}

TEST_F(ExportCommand, oneShapeFromCAndCpp) {
  const fs::path folder = build("silu", {"--shape", "M=16,K=24,N=32"});
  for (const char* key :
       {"function", "inputs", "outputs", "compile", "extents", "target", "steps", "measured", "kernels"})
    EXPECT_TRUE(manifest.contains(key)) << key;
  EXPECT_EQ(manifest.at("function"), "nuscope_silu_matmul");
  EXPECT_EQ(manifest.at("extents"), (json{{"M", 16}, {"K", 24}, {"N", 32}}));
  EXPECT_EQ(manifest.at("inputs")[1].at("shape"), (json{24, 32}));
  EXPECT_GT(manifest.at("measured").at("median_s").get<double>(), 0);
  EXPECT_EQ(manifest.at("kernels")[0].at("proved"), true);
  for (const char* compiler : {"cc", "c++"})
    EXPECT_EQ(call(folder, silu(16, 32), compiler), "0 1 1\n") << compiler;
  EXPECT_EQ(call(folder, silu(16, 32) + R"(
    const int64_t other[] = {17, 24, 32};
    printf("%d %d %d %d %d %d\n", nuscope_silu_matmul_for(other, x, w, out, 1), nuscope_silu_matmul_for(0, x, w, out, 1),
           nuscope_silu_matmul_for(right, x, 0, out, 1), nuscope_silu_matmul_for(right, x, w, out, 0),
           nuscope_silu_matmul_for(right, x, w, x, 1), nuscope_silu_matmul_for(right, x, w, w + 1, 1));
    printf("%d %s\n", nuscope_silu_matmul_kernel(other), nuscope_silu_matmul_error(nuscope_silu_matmul_other_extents));
)"),
            "0 1 1\n3 1 1 2 6 6\n0 these extents were not exported, or are not in 1 .. 2^31 - 1, or too "
            "large together\n");
  const Finished header =
      shell(folder, "grep -c 'M = 16, K = 24, N = 32' kernel.h; grep PROCESSOR -A1 kernel.h");
  EXPECT_NE(header.output.find("host-"), std::string::npos);
}

TEST_F(ExportCommand, severalShapesAndAllOthers) {
  const fs::path folder =
      build("silu", {"--shape", "M=16,K=24,N=32", "--shape", "M=5,K=24,N=32", "--name", "silu_mm"});
  EXPECT_EQ(manifest.at("function"), "silu_mm");
  EXPECT_EQ(manifest.at("kernels").size(), 2U);
  const auto caller = [](int m, int n) {
    std::string text = silu(m, n);
    for (auto at = text.find("nuscope_silu_matmul"); at != std::string::npos;
         at = text.find("nuscope_silu_matmul"))
      text.replace(at, 19, "silu_mm");
    return text;
  };
  EXPECT_EQ(call(folder, caller(16, 32)), "0 1 1\n");
  EXPECT_EQ(call(folder, caller(5, 32)), "0 1 2\n");
  EXPECT_EQ(call(folder, caller(7, 3)), "0 1 0\n");
  EXPECT_EQ(call(folder, caller(1, 1)), "0 1 0\n");
  EXPECT_EQ(call(folder, caller(3, 3) + R"(
    const int64_t none[] = {0, 24, 3}, negative[] = {3, -24, 3}, huge[] = {2147483647, 2147483647, 2147483647},
                  larger[] = {9223372036854775807, 2, 2};
    printf("%d %d %d %d\n", silu_mm_for(none, x, w, out, 1), silu_mm_for(negative, x, w, out, 1),
           silu_mm_for(huge, x, w, out, 1), silu_mm_for(larger, x, w, out, 1));
)"),
            "0 1 0\n3 3 3 3\n");
}

TEST_F(ExportCommand, assertsAreChecked) {
  const fs::path folder = build("guarded", {"--general"});
  EXPECT_NE(notes.find("not checked when called: assert np.all(np.sum(x, axis=-1) > 0) (sum rounds)"),
            std::string::npos)
      << notes;
  EXPECT_EQ(call(folder, R"(
    static float x[64], out[64];
    for (int i = 0; i < 64; ++i) x[i] = 0.5f + (float)i;
    float limit = 1.5f, low = 0.5f, nan_limit = NAN;
    const int64_t own[] = {3, 8}, other[] = {2, 12}, odd[] = {2, 6};
    printf("%d %d %d\n", nuscope_guarded_for(own, x, &limit, out, 1), nuscope_guarded_for(other, x, &limit, out, 1),
           nuscope_guarded_for(odd, x, &limit, out, 1));
    printf("%g %g\n", out[0], out[3]);
    printf("%d %d\n", nuscope_guarded_for(own, x, &low, out, 1), nuscope_guarded_for(own, x, &nan_limit, out, 1));
    x[23] = 0;
    printf("%d %d\n", nuscope_guarded_for(own, x, &limit, out, 1), nuscope_guarded_for(other, x, &limit, out, 1));
    x[23] = 1;
    x[24] = -1;
    printf("%d\n", nuscope_guarded_for(own, x, &limit, out, 1));
    out[0] = 7;
    printf("%d %g\n", nuscope_guarded_for(own, x, &low, out, 1), out[0]);
    puts(nuscope_guarded_error(nuscope_guarded_assert));
)"),
            "0 0 4\n1.5 0.285714\n7 7\n7 7\n0\n7 7\nthe inputs violate an assert of the program\n");
}

TEST_F(ExportCommand, fromPython) {
  if (!hasNumPy()) GTEST_SKIP() << "no python3 with NumPy";
  const fs::path folder = build("silu", {"--shape", "M=16,K=24,N=32"});
  const Finished test = shell(folder, "/usr/bin/python3 test.py");
  EXPECT_EQ(test.end.text(), "exit code 0") << test.output << test.errors;
  EXPECT_NE(test.output.find("ok     result"), std::string::npos) << test.output;
  const Finished calls = python(folder, R"(
import numpy as np, kernel
r = np.random.default_rng(0)
x, w = r.normal(size=(16, 24)).astype('f'), r.normal(size=(24, 32)).astype('f')
want = (x / (1 + np.exp(-x.astype('d')))) @ w.astype('d')
print(abs(kernel.call(x, w, threads=2) - want).max() < 1e-5)
print(abs(kernel.call(np.asfortranarray(x), w[:, ::1]) - want).max() < 1e-5)
for bad in (lambda: kernel.call(x), lambda: kernel.call(x.astype('d'), w), lambda: kernel.call(x[:5], w),
            lambda: kernel.call(x, w[:5]), lambda: kernel.call(x, w, threads=0), lambda: kernel.call(x[0], w)):
    try:
        bad()
        print('no error')
    except (TypeError, ValueError) as error:
        print(type(error).__name__, error)
try:
    import torch
except ImportError:
    try:
        import torch_op
    except ImportError as error:
        print(error)
else:
    print("torch_op.py needs PyTorch")
)");
  EXPECT_EQ(calls.end.text(), "exit code 0") << calls.errors;
  for (const char* line :
       {"True\nTrue\n", "TypeError 2 inputs are expected: x, w",
        "TypeError x is float64; float32 is expected", "ValueError these extents were not exported",
        "ValueError w has the shape (5, 32)", "ValueError the number of threads", "ValueError x has 1 axes",
        "torch_op.py needs PyTorch"}) {
    EXPECT_NE(calls.output.find(line), std::string::npos) << line << "\n" << calls.output;
  }
  fs::remove(folder / manifest.at("library").get<std::string>());
  const Finished absent = python(
      folder, "import kernel, numpy as np\nkernel.call(np.zeros((16,24),'f'), np.zeros((24,32),'f'))\n");
  EXPECT_NE(absent.errors.find("is not built yet. Build it in"), std::string::npos) << absent.errors;
  // A wrong kernel does not pass the test of its own folder.
  std::string text = readWholeFile(folder / "kernel.cpp");
  text.replace(text.find("extern \"C\" void nuscope_silu_matmul("), 36, "extern \"C\" void wrong(");
  writeWholeFile(
      folder / "kernel.cpp",
      text +
          "\nextern \"C\" void nuscope_silu_matmul(const float* x, const float* w, float* out, int t) {\n"
          "  nuscope::wrong(x, w, out, t);\n  out[3] += 1;\n}\n");
  ASSERT_TRUE(shell(folder, manifest.at("compile").get<std::string>()).end.success());
  const Finished wrong = shell(folder, "/usr/bin/python3 test.py");
  EXPECT_EQ(wrong.end.code, 1);
  EXPECT_NE(wrong.output.find("FAILED"), std::string::npos) << wrong.output;
}

TEST_F(ExportCommand, theProjectBuildsTestsAndMeasures) {
  const fs::path folder = build("silu", {"--shape", "M=16,K=24,N=32", "--shape", "M=5,K=24,N=32"});
  const Finished built =
      shell(folder, "cmake -B build >/dev/null && cmake --build build 2>&1 && ctest --test-dir build");
  EXPECT_EQ(built.end.text(), "exit code 0") << built.output << built.errors;
  EXPECT_EQ(built.output.find("warning"), std::string::npos) << built.output;
  const Finished bench = shell(folder, "./build/bench --json");
  ASSERT_EQ(bench.end.text(), "exit code 0") << bench.errors;
  const json cases = json::parse(bench.output);
  ASSERT_EQ(cases.size(), 2U);
  for (const json& one : cases) {
    EXPECT_LE(one.at("error").get<double>(), 4);
    EXPECT_GT(one.at("median_s").get<double>(), 0);
    EXPECT_GT(one.at("plain_s").get<double>(), one.at("median_s").get<double>());
    EXPECT_GT(one.at("study_s").get<double>(), 0);
  }
}

/// The checks run where the kernel cannot.
TEST_F(ExportCommand, checksUseNoInstructionOfTheKernel) {
  const fs::path folder = build("guarded", {"--general"});
  if (!shell(folder, "objdump --version").end.success()) GTEST_SKIP() << "no objdump";
  if (manifest.at("processor").empty()) GTEST_SKIP() << "the kernel is for any processor";
  const std::string flags = "c++ -std=c++17 -O3 -march=x86-64-v3 -c ";
  const Finished checked = shell(folder, flags + "check.cpp && " + flags + "general.cpp && " + flags +
                                             "asserts.cpp && objdump -d check.o general.o asserts.o | grep "
                                             "-c 'ymm\\|\\bv[a-z]*ss\\b\\|\\bv[a-z]*ps\\b'");
  EXPECT_EQ(checked.output, "0\n") << checked.errors;
  const Finished kernel = shell(folder, flags + "kernel.cpp && objdump -d kernel.o | grep -c ymm");
  EXPECT_NE(kernel.output, "0\n") << "the search would find them";
}

/// A folder for a processor that this machine is not.
TEST_F(ExportCommand, anotherProcessorGivesACode) {
  const machine::Target target = machine::loadTarget("host-avx512");
  if (machine::missingFeatures(target).empty()) GTEST_SKIP() << "this processor has AVX-512";
  const std::string path = study("foreign");
  {
    const std::string text = std::string(head) + "def twice(x: f32[N]) -> f32[N]:\n    return x + x\n";
    const auto study = sweep::Study::create(path);
    const int revision = study->addRevision("twice", text, "");
    study->setNuGraph(revision, nugraph::toJson(nugraph::NuGraph(*language::parse(text).program)));
    sweep::SweepRecord record;
    record.revision = revision;
    record.extents = {{"N", 64}};
    record.target = "host-avx512";
    std::vector<sweep::CandidateRecord> candidates(1);
    candidates[0].sweep = study->addSweep(record);
    study->addCandidates(candidates);
  }
  const fs::path folder = build("foreign", {"--candidate", "1"});
  EXPECT_NE(notes.find("sweep again for numbers"), std::string::npos) << notes;
  EXPECT_TRUE(manifest.at("measured").is_null());
  EXPECT_EQ(call(folder, R"(
    static float x[64], out[64];
    const int64_t n[] = {64};
    const int code = nuscope_twice_for(n, x, out, 1);
    printf("%d %s\n", code == nuscope_twice_processor, nuscope_twice_error(code));
)"),
            "1 this processor, or its system, lacks an instruction set that the kernel uses\n");
}

TEST_F(ExportCommand, refusals) {
  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& why) {
    std::vector<std::string> all{"export"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    all.insert(all.end(), {"-o", (top() / "refused").string()});
    const Finished finished = runNuscope(all);
    EXPECT_EQ(finished.end.code, 3) << finished.errors;
    EXPECT_NE(finished.errors.find(why), std::string::npos) << finished.errors;
    EXPECT_FALSE(fs::exists(top() / "refused"));
  };
  refused({std::string(NUSCOPE_SOURCE_DIR) + "/resources/programs/relu.py"},
          "is no study; sweep the program first");
  refused({study("silu"), "--candidate", "9999"}, "the study has no candidate 9999");
  refused({study("silu"), "--shape", "M=1,K=24,N=32"},
          "there is no sweep at K=24,M=1,N=32; there are: K=24,M=16,N=32; K=24,M=5,N=32");
  refused({study("silu"), "--name", "no name"}, "is no name for a function");
  refused({study("silu"), "--shape", "M=5,K=24,N=32", "--shape", "M=5,K=24,N=32"},
          "two kernels for the same extents");
  const auto stored = sweep::Study::open(study("silu"), sweep::Study::Access::read);
  for (const auto& candidate : stored->candidates(2)) {
    if (candidate.kind == sweep::CandidateKind::foreign)
      refused({study("silu"), "--candidate", std::to_string(candidate.id)},
              "it is yours already, and nothing is proved");
    if (candidate.kind == sweep::CandidateKind::baseline &&
        candidate.state == sweep::CandidateState::measured)
      refused({study("silu"), "--candidate", std::to_string(candidate.id)}, "is the baseline");
  }
}

/// A study may come from anybody: variants of another program, and numbers of another text, are not believed.
TEST_F(ExportCommand, aStudyIsNotBelieved) {
  const std::string path = study("forged");
  sweep::Study::open(study("silu"), sweep::Study::Access::read)->saveCopy(path);
  {
    const auto forged = sweep::Study::open(path, sweep::Study::Access::write);
    const auto other = language::parse(
        std::string(head) + "def silu_matmul(x: f32[M, K], w: f32[K, N]) -> f32[M, N]:\n    return x @ w\n");
    forged->setNuGraph(1, nugraph::toJson(nugraph::NuGraph(*other.program)));
  }
  Finished finished = runNuscope({"export", path, "-o", (top() / "forged").string()});
  EXPECT_EQ(finished.end.code, 3);
  EXPECT_NE(finished.errors.find("its variants are not those of its program"), std::string::npos)
      << finished.errors;
  EXPECT_FALSE(fs::exists(top() / "forged"));
}

}  // namespace
}  // namespace nuscope::exporting
