// `nuscope check`, `convert`, `lower` and `replay` as a person runs them.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/base/process.h"
#include "tests/run_nuscope.h"

namespace nuscope {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Two SMs, each of which first waits for what the other makes later in its queue.
const char* deadlock = R"({"ir_version": "0.2.0", "abi_version": "0.2", "meta": {}, "target": null,
 "buffers": [{"id": 0, "name": "x", "kind": "IO_INPUT", "dtype": "F32", "shape": [1, 8], "space": "HBM", "source": null},
             {"id": 1, "name": "a", "kind": "ACTIVATION", "dtype": "F32", "shape": [1, 8], "space": "HBM", "source": null},
             {"id": 2, "name": "b", "kind": "ACTIVATION", "dtype": "F32", "shape": [1, 8], "space": "HBM", "source": null},
             {"id": 3, "name": "y", "kind": "IO_OUTPUT", "dtype": "F32", "shape": [1, 8], "space": "HBM", "source": null},
             {"id": 4, "name": "z", "kind": "IO_OUTPUT", "dtype": "F32", "shape": [1, 8], "space": "HBM", "source": null}],
 "counters": [{"id": 0, "init": 0, "note": ""}, {"id": 1, "init": 0, "note": ""}, {"id": 2, "init": 0, "note": ""}],
 "tasks": [
  {"id": 0, "op": "GELU", "inputs": [2], "outputs": [3], "out_counter": 2, "waits": [{"counter": 1, "threshold": 1}], "params": {}, "sm": 0, "est_bytes": 0, "est_flops": 0, "label": "A2"},
  {"id": 1, "op": "COPY", "inputs": [0], "outputs": [1], "out_counter": 0, "waits": [], "params": {}, "sm": 0, "est_bytes": 0, "est_flops": 0, "label": "A1"},
  {"id": 2, "op": "GELU", "inputs": [1], "outputs": [4], "out_counter": 2, "waits": [{"counter": 0, "threshold": 1}], "params": {}, "sm": 1, "est_bytes": 0, "est_flops": 0, "label": "B2"},
  {"id": 3, "op": "COPY", "inputs": [0], "outputs": [2], "out_counter": 1, "waits": [], "params": {}, "sm": 1, "est_bytes": 0, "est_flops": 0, "label": "B1"}],
 "pages": null, "config": null})";

const char* config =
    R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
 "intermediate_size": 128, "vocab_size": 256, "max_position_embeddings": 64})";

class ScheduleCommand : public testing::Test {
 protected:
  ScheduleCommand() {
    char pattern[] = "/tmp/nuscope-schedule-XXXXXX";
    folder = mkdtemp(pattern);
    write("deadlock.json", deadlock);
    write("config.json", config);
    fs::create_directory(folder / "s");
  }
  ~ScheduleCommand() override { fs::remove_all(folder); }
  [[nodiscard]] std::string file(const std::string& name) const { return (folder / name).string(); }
  void write(const std::string& name, const std::string& text) const { writeWholeFile(folder / name, text); }
  [[nodiscard]] std::string read(const std::string& name) const { return readWholeFile(folder / name); }
  Finished run(const std::vector<std::string>& arguments) const {
    return runNuscope(arguments, std::chrono::minutes(1));
  }
  /// Runs, expects the exit code, and gives what was printed.
  std::string expect(int code, const std::vector<std::string>& arguments) const {
    const Finished finished = run(arguments);
    std::string all;
    for (const std::string& a : arguments) all += a + " ";
    EXPECT_EQ(finished.end.text(), "exit code " + std::to_string(code)) << all << "\n"
                                                                        << finished.output << finished.errors;
    return finished.output + finished.errors;
  }
  fs::path folder;
};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(ScheduleCommand, ADeadlockIsExplainedRepairedAndConfirmed) {
  const std::string report = expect(1, {"check", file("deadlock.json")});
  EXPECT_TRUE(has(report, "waits for counter 1 to reach 1 (it is 0), which task 3 (B1) has yet to raise"))
      << report;
  EXPECT_TRUE(has(report, "AutoMegaKernel's own validator accepts it:")) << report;
  EXPECT_TRUE(has(report, "a deadlock across queues passes")) << report;
  const json asJson = json::parse(run({"check", file("deadlock.json"), "--json"}).output);
  EXPECT_EQ(asJson["verdict"], "unsafe");
  EXPECT_EQ(asJson["findings"][0]["code"], "deadlock");
  EXPECT_EQ(asJson["groups"].size(), 1U);
  EXPECT_EQ(asJson["amk"]["accepts"], true);
  expect(0, {"check", file("deadlock.json"), "--repair", "1", "-o", file("repaired.json")});
  expect(0, {"check", file("repaired.json")});
  const Finished patch = run({"check", file("deadlock.json"), "--patch", "1"});
  EXPECT_EQ(json::parse(deadlock).patch(json::parse(patch.output)), json::parse(read("repaired.json")));
  EXPECT_TRUE(has(expect(3, {"check", file("deadlock.json"), "--repair", "99", "-o", file("x")}),
                  "there is no repair 99"));
  EXPECT_TRUE(has(expect(3, {"check", file("deadlock.json"), "--repair", "1"}), "-o OUT.json"));
  // As their loader sorts the queues, it is safe.
  expect(0, {"check", file("deadlock.json"), "--as-loaded"});
  EXPECT_TRUE(has(expect(1, {"check", file("deadlock.json"), "--steps", "1"}), "never complete"));
  expect(1, {"check", file("deadlock.json"), "--certificates", file("c")});
  expect(0, {"check", file("repaired.json"), "--certificates", file("c2")});
  for (const char* where : {"c", "c2"}) {
    for (const auto& entry : fs::directory_iterator(folder / where))
      expect(0, {"replay", entry.path().string()});
  }
}

TEST_F(ScheduleCommand, HangDumps) {
  write("dump.json", R"({"format": "nuscope-hang-dump", "version": 1, "counters": {},
   "queues": {"0": {"task": 0, "state": "waiting"}, "1": {"task": 2, "state": "waiting"}}})");
  const std::string why = expect(1, {"check", file("deadlock.json"), "--hang", file("dump.json")});
  EXPECT_TRUE(has(why, "schedule deadlock: ")) << why;
  EXPECT_TRUE(
      has(expect(1, {"check", file("deadlock.json"), "--dump", file("dump.json")}), "schedule deadlock: "));
  write("other.json", R"({"format": "nuscope-hang-dump", "version": 1, "queues": {"7": {"task": 0}}})");
  EXPECT_TRUE(
      has(expect(3, {"check", file("deadlock.json"), "--hang", file("other.json")}), "another schedule"));
}

TEST_F(ScheduleCommand, AFolderIsATableWithTheWorstExitCode) {
  expect(0, {"lower", file("config.json"), "--set", "sms=4", "-o", file("s/safe.json")});
  EXPECT_TRUE(has(expect(0, {"check", file("s")}), "safe"));
  write("s/bad.json", deadlock);
  EXPECT_TRUE(has(expect(1, {"check", file("s")}), "2 files: 1 safe, 1 unsafe, 0 undecided, 0 malformed"));
  write("s/broken.json", "{");
  EXPECT_TRUE(has(expect(3, {"check", file("s")}), "3 files: 1 safe, 1 unsafe, 0 undecided, 1 malformed"));
  expect(3, {"check", file("nowhere")});
}

TEST_F(ScheduleCommand, LowerEveryKnobAndAskOfTheResult) {
  expect(0, {"lower", file("config.json"), "--target", "l4", "-o", file("l4.json")});
  expect(0, {"lower", file("config.json"), "--set", "pos=all", "--set", "fuse=all", "--set", "pages=rotate",
             "--set", "pipelining=2", "--set", "partitions=4", "-o", file("all.json")});
  const std::string safe = expect(0, {"check", file("all.json")});
  EXPECT_TRUE(has(safe, "safe")) << safe;
  expect(0, {"check", file("all.json"), "--pos", "17"});
  EXPECT_TRUE(has(expect(3, {"check", file("all.json"), "--pos", "64"}), "the schedule is for 0 .. 63"));
  EXPECT_TRUE(has(expect(3, {"check", file("all.json"), "--certificates", file("c")}), "--pos N"));
  expect(0, {"check", file("all.json"), "--pos", "17", "--certificates", file("c")});
  for (const auto& entry : fs::directory_iterator(folder / "c")) expect(0, {"replay", entry.path().string()});
  EXPECT_TRUE(has(expect(0, {"check", file("l4.json"), "--time", "h100"}), "modelled on h100"));
  EXPECT_TRUE(has(expect(3, {"check", file("l4.json"), "--time", "z80"}), "known: file, a100"));
  EXPECT_TRUE(has(expect(0, {"check", file("l4.json"), "--waits"}), "redundant"));
  EXPECT_TRUE(has(expect(0, {"check", file("l4.json"), "--order", "0", "5"}), "happens before"));
  EXPECT_TRUE(has(expect(0, {"check", file("l4.json"), "--uses", "4"}), "writes"));
  EXPECT_TRUE(has(expect(3, {"check", file("l4.json"), "--uses", "99999"}), "there is no buffer"));
  EXPECT_TRUE(has(expect(3, {"check", file("l4.json"), "--uses", "4[0:1]"}), "axes: one range each"));
  EXPECT_TRUE(has(expect(3, {"check", file("l4.json"), "--uses", "4[0:1, 5:5]"}), "is no part of axis 1"));
  EXPECT_TRUE(has(expect(3, {"check", file("l4.json"), "--uses", "4[0:1, x]"}), "is no range"));
  EXPECT_TRUE(has(expect(0, {"check", file("l4.json"), "--uses", "4[0, 0:1]"}), "writes"));
  expect(0, {"check", file("l4.json"), "--passes", "3"});
  for (const char* wrong : {"fuse=x", "pages=x", "pipelining=0", "policy=x", "nothing=1", "pos=64"})
    expect(3, {"lower", file("config.json"), "--set", wrong, "-o", file("x.json")});
}

TEST_F(ScheduleCommand, Convert) {
  expect(0, {"lower", file("config.json"), "--set", "sms=4", "-o", file("a.json")});
  expect(0, {"convert", file("a.json"), file("own.json"), "--to", "nuscope"});
  expect(0, {"check", file("own.json")});
  expect(0, {"convert", file("own.json"), file("back.json"), "--to", "amk"});
  EXPECT_EQ(json::parse(read("back.json")), json::parse(read("a.json")));
  expect(0, {"convert", file("a.json"), file("g.dot"), "--to", "dot"});
  EXPECT_TRUE(has(read("g.dot"), "digraph schedule"));
  expect(0, {"convert", file("a.json"), file("t.json"), "--to", "chrome"});
  EXPECT_GT(json::parse(read("t.json"))["traceEvents"].size(), 10U);
  const std::string example = std::string(NUSCOPE_SOURCE_DIR) + "/resources/schedules/llama_low_latency.json";
  EXPECT_TRUE(has(expect(3, {"convert", example, file("x.json"), "--to", "amk"}), "--pos N"));
  EXPECT_TRUE(has(expect(3, {"convert", example, file("x.json"), "--to", "amk", "--pos", "3"}),
                  "declares what it touches"));
}

TEST_F(ScheduleCommand, TheExampleIsSafeAndWrittenByItsGenerator) {
  const fs::path resources = fs::path(NUSCOPE_SOURCE_DIR) / "resources/schedules";
  const std::string report = expect(0, {"check", (resources / "llama_low_latency.json").string()});
  EXPECT_TRUE(has(report, "479 tasks")) << report;
  ProcessOptions options;
  options.environment = {"PYTHONDONTWRITEBYTECODE=1"};
  options.arguments = {"python3", (resources / "llama_low_latency.py").string(), file("again.json")};
  const Finished made = runProcess(options, "", std::chrono::minutes(1));
  if (made.end.text() != "exit code 0") GTEST_SKIP() << "no python3: " << made.errors;
  EXPECT_EQ(read("again.json"), readWholeFile(resources / "llama_low_latency.json"));
}

}  // namespace
}  // namespace nuscope
