// A real worker, started as a sweep starts it: compiles, runs, times, and survives what kernels do to it.
#include "core/sweep/worker.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <thread>

#include "backends/simulated/simulated_device.h"
#include "core/base/diagnostics.h"

namespace nuscope::sweep {
namespace {

const std::string nuscope = std::string(NUSCOPE_BINARY_DIR) + "/bin/nuscope";

std::vector<std::string> command(const std::string& device) {
  return {nuscope, "worker", "--device", device};
}

CompileJob job(const std::string& name, const std::string& body) {
  return {name,
          "extern \"C\" void f(const float* x, float* y, int) { " + body + " }\n",
          {"g++", "-O1", "-shared", "-fPIC", "{source}", "-o", "{output}"}};
}

RunRequest runOf(const std::string& library, int ordinal = 1) {
  RunRequest run;
  run.kernel = {library, "f", ordinal};
  run.inputs = {{"x", tensor::DType::f32, 5}};
  run.outputs = {{"y", tensor::DType::f32, 5}};
  run.limitSeconds = 1;
  return run;
}

std::string bytesOf(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

std::vector<float> floatsOf(const std::string& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

class WorkerTest : public testing::Test {
 protected:
  void begin(const std::string& device) {
    worker = std::make_unique<Worker>(command(device), stop.get_token());
    ASSERT_TRUE(worker->put("x", bytesOf({1, 2, 3, 4, 5})));
  }
  Outcome compile(const std::string& name, const std::string& body) {
    return worker->compile({job(name, body)}, 30, 1, {})[0].outcome;
  }
  std::vector<float> result() {
    std::string bytes;
    EXPECT_TRUE(worker->get("y", 20, bytes));
    return floatsOf(bytes);
  }
  std::stop_source stop;
  std::unique_ptr<Worker> worker;
};

TEST_F(WorkerTest, greetsAndNamesItsDevices) {
  begin("host");
  EXPECT_TRUE(worker->sharesFiles());
  EXPECT_FALSE(worker->hello().devices.empty());
  EXPECT_EQ(worker->hello().devices[0].kind, "host");
  EXPECT_TRUE(worker->hello().devices[0].available);
  EXPECT_TRUE(worker->hello().libraries.contains("openblas"));
  const std::string scratch = worker->hello().scratch;
  EXPECT_TRUE(std::filesystem::exists(scratch));
  worker.reset();
  EXPECT_FALSE(std::filesystem::exists(scratch));
}

TEST_F(WorkerTest, compilesRunsAndMeasures) {
  begin("host");
  ASSERT_EQ(compile("twice", "for (int i = 0; i < 5; ++i) y[i] = 2 * x[i];"), Outcome::ok);
  EXPECT_EQ(worker->run(runOf("twice")).outcome, Outcome::ok);
  EXPECT_EQ(result(), (std::vector<float>{2, 4, 6, 8, 10}));
  MeasureRequest measure;
  measure.kernels = {{"twice", "f", 1}, {"twice", "f", 1}};
  measure.inputs = {{"x", tensor::DType::f32, 5}};
  measure.outputs = {{"y", tensor::DType::f32, 5}};
  measure.seconds = 0.05;
  const MeasureReply reply = worker->measure(measure);
  ASSERT_EQ(reply.outcome, Outcome::ok) << reply.message;
  ASSERT_EQ(reply.samples.size(), 2U);
  EXPECT_GE(reply.samples[0].size(), 3U);
  EXPECT_EQ(reply.samples[0].size(), reply.samples[1].size());
  EXPECT_GT(reply.samples[0][0], 0);
  EXPECT_LT(reply.samples[0][0], 1e-3);
}

TEST_F(WorkerTest, aCompilersErrorIsReported) {
  begin("host");
  const auto results =
      worker->compile({job("bad", "this is not C++;"), job("good", "y[0] = x[0];")}, 30, 2, {});
  EXPECT_EQ(results[0].outcome, Outcome::failed);
  EXPECT_NE(results[0].message.find("error"), std::string::npos) << results[0].message;
  EXPECT_EQ(results[1].outcome, Outcome::ok);
  EXPECT_EQ(worker->run(runOf("bad")).outcome, Outcome::failed);
  const auto escape = worker->compile({job("../evil", "")}, 30, 1, {});
  EXPECT_EQ(escape[0].outcome, Outcome::failed);
}

TEST_F(WorkerTest, aLibraryLinksWithAnObjectThatWasCompiledBefore) {
  begin("host");
  CompileJob object{"part",
                    "extern \"C\" int seven() { return 7; }\n",
                    {"g++", "-fPIC", "-c", "{source}", "-o", "{output}"},
                    "part.o"};
  ASSERT_EQ(worker->compile({object}, 30, 1, {})[0].outcome, Outcome::ok);
  CompileJob whole = job("whole", "y[0] = seven() * x[0];");
  whole.source = "extern \"C\" int seven();\n" + whole.source;
  whole.command.insert(whole.command.end() - 2, "part.o");
  ASSERT_EQ(worker->compile({whole}, 30, 1, {})[0].outcome, Outcome::ok);
  ASSERT_EQ(worker->run(runOf("whole")).outcome, Outcome::ok);
  EXPECT_EQ(result()[0], 7);
  object.output = "../part.o";
  EXPECT_EQ(worker->compile({object}, 30, 1, {})[0].outcome, Outcome::failed);
}

TEST_F(WorkerTest, elementsThatAreNotWrittenAreNotANumber) {
  begin("host");
  ASSERT_EQ(compile("lazy", "y[0] = x[0];"), Outcome::ok);
  ASSERT_EQ(worker->run(runOf("lazy")).outcome, Outcome::ok);
  EXPECT_EQ(result()[0], 1);
  EXPECT_TRUE(std::isnan(result()[4]));
}

TEST_F(WorkerTest, accessOutsideAnArrayIsACrash) {
  begin("host");
  ASSERT_EQ(compile("reads", "y[0] = x[5];"), Outcome::ok);
  ASSERT_EQ(compile("writes", "y[5] = 0;"), Outcome::ok);
  ASSERT_EQ(compile("inputs", "const_cast<float*>(x)[0] = 0;"), Outcome::ok);
  ASSERT_EQ(compile("before", "y[-1] = 0;"), Outcome::ok);
  for (const char* name : {"reads", "writes", "inputs"}) {
    const RunReply reply = worker->run(runOf(name));
    EXPECT_EQ(reply.outcome, Outcome::crashed) << name;
    EXPECT_NE(reply.message.find("signal 11"), std::string::npos) << reply.message;
  }
  EXPECT_EQ(worker->run(runOf("before")).outcome, Outcome::failed);
  EXPECT_EQ(worker->generation(), 1);
}

TEST_F(WorkerTest, aCrashAHangAndAnExitCostOneRunEach) {
  begin("host");
  ASSERT_EQ(compile("good", "y[0] = x[0];"), Outcome::ok);
  ASSERT_EQ(compile("crash", "__builtin_trap();"), Outcome::ok);
  ASSERT_EQ(compile("hang", "volatile int more = 1; while (more) {}"), Outcome::ok);
  ASSERT_EQ(compile("leave", "extern \"C\" void _exit(int); _exit(0);"), Outcome::failed);
  EXPECT_EQ(worker->run(runOf("crash")).outcome, Outcome::crashed);
  EXPECT_EQ(worker->run(runOf("good")).outcome, Outcome::ok);
  const auto start = std::chrono::steady_clock::now();
  const RunReply hung = worker->run(runOf("hang"));
  EXPECT_EQ(hung.outcome, Outcome::timedOut);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(6));
  EXPECT_EQ(worker->run(runOf("good")).outcome, Outcome::ok);
  EXPECT_EQ(worker->generation(), 1);
}

TEST_F(WorkerTest, plantedFaults) {
  begin("simulated:crash@2,hang@3,wrong@4,die@5");
  ASSERT_EQ(compile("good", "for (int i = 0; i < 5; ++i) y[i] = x[i];"), Outcome::ok);
  EXPECT_EQ(worker->run(runOf("good", 1)).outcome, Outcome::ok);
  EXPECT_EQ(worker->run(runOf("good", 2)).outcome, Outcome::crashed);
  EXPECT_EQ(worker->run(runOf("good", 3)).outcome, Outcome::timedOut);
  EXPECT_EQ(worker->run(runOf("good", 4)).outcome, Outcome::ok);
  EXPECT_EQ(result()[0], 2);
  const std::string scratch = worker->hello().scratch;
  EXPECT_EQ(worker->run(runOf("good", 5)).outcome, Outcome::lost);
  EXPECT_FALSE(std::filesystem::exists(scratch));
  ASSERT_TRUE(worker->put("x", bytesOf({1, 2, 3, 4, 5})));
  EXPECT_EQ(worker->generation(), 2);
  ASSERT_EQ(compile("good", "for (int i = 0; i < 5; ++i) y[i] = x[i];"), Outcome::ok);
  EXPECT_EQ(worker->run(runOf("good", 6)).outcome, Outcome::ok);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_F(WorkerTest, takingAllMemoryCostsOneRun) {
  worker = std::make_unique<Worker>(
      std::vector<std::string>{nuscope, "worker", "--device", "simulated:memory@1", "--memory", "1000000000"},
      stop.get_token());
  ASSERT_TRUE(worker->put("x", bytesOf({1, 2, 3, 4, 5})));
  ASSERT_EQ(compile("good", "y[0] = x[0];"), Outcome::ok);
  const RunReply reply = worker->run(runOf("good", 1));
  EXPECT_EQ(reply.outcome, Outcome::failed);
  EXPECT_NE(reply.message.find("memory"), std::string::npos) << reply.message;
  EXPECT_EQ(worker->run(runOf("good", 2)).outcome, Outcome::ok);
}
#endif

TEST_F(WorkerTest, aStopEndsARunAtOnce) {
  begin("host");
  ASSERT_EQ(compile("hang", "volatile int more = 1; while (more) {}"), Outcome::ok);
  std::jthread stopper([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    stop.request_stop();
  });
  RunRequest run = runOf("hang");
  run.limitSeconds = 60;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(worker->run(run).outcome, Outcome::cancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(1200));
}

TEST(Worker, aCommandThatIsNoWorker) {
  EXPECT_THROW(Worker({"/bin/false"}, {}), EnvironmentError);
  EXPECT_THROW(Worker({"/nonexistent/worker"}, {}), EnvironmentError);
  EXPECT_THROW(Worker({"/bin/echo", "hello"}, {}), EnvironmentError);
}

TEST(Faults, parse) {
  using backends::Fault;
  const backends::Faults expected{{7, Fault::crash}, {9, Fault::hang}};
  EXPECT_EQ(backends::parseFaults("simulated:crash@7,hang@9"), expected);
  EXPECT_TRUE(backends::parseFaults("simulated").empty());
  for (const char* bad : {"simulated:crash", "simulated:crash@0", "simulated:burn@1", "simulated:crash@1x"}) {
    EXPECT_THROW(backends::parseFaults(bad), UserError) << bad;
  }
}

}  // namespace
}  // namespace nuscope::sweep
