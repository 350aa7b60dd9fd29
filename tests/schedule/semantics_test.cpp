// Corners of the semantics that no case of the collection has: texts written by hand, each with what the
// rules say of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "core/model/llama_config.h"
#include "core/schedule/check.h"
#include "core/schedule/read.h"

namespace nuscope::schedule {
namespace {

std::string buffer(int id, const char* kind, const char* shape, const char* more = "", const char* name = "b",
                   const char* type = "F32") {
  return R"({"id": )" + std::to_string(id) + R"(, "name": ")" + name + R"(", "kind": ")" + kind +
         R"(", "dtype": ")" + type + R"(", "shape": )" + shape + more + "}";
}
std::string task(int id, const char* op, const char* inputs, const char* outputs, int counter,
                 const char* waits = "", const char* more = "") {
  return R"({"id": )" + std::to_string(id) + R"(, "op": ")" + op + R"(", "inputs": [)" + inputs +
         R"(], "outputs": [)" + outputs + R"(], "out_counter": )" + std::to_string(counter) +
         R"(, "waits": [)" + waits + "]" + more + "}";
}
std::string file(const std::string& buffers, const std::string& tasks, const std::string& more = "") {
  return R"({"ir_version": "0.2.0", "counters": [{"id": 0}, {"id": 1}, {"id": 2}], "buffers": [)" + buffers +
         R"(], "tasks": [)" + tasks + "]" + more + "}";
}

/// Codes of faults and findings, or "safe", with a blank between them.
std::string codes(const std::string& text) {
  const ReadResult read = readSchedule(text);
  std::set<std::string> found;
  for (const Fault& f : read.faults) found.insert(f.code);
  if (read.schedule) {
    const Report report = check(*read.schedule, {}, Progress());
    for (const Fault& f : report.faults) found.insert(f.code);
    for (const Finding& f : report.findings) found.insert(std::string(code(f.rule)));
    if (report.verdict == Safety::safe && found.empty()) found.insert("safe");
  }
  std::string out;
  for (const std::string& one : found) out += (out.empty() ? "" : " ") + one;
  return out;
}

const std::string io = buffer(0, "IO_INPUT", "[1, 4]") + "," + buffer(1, "IO_OUTPUT", "[1, 4]") + ",";
const std::string copy = task(0, "COPY", "0", "1", 0);

TEST(Semantics, TheEmptySchedule) {
  EXPECT_EQ(codes(file("", "")), "safe");
  EXPECT_EQ(codes(file(buffer(1, "IO_OUTPUT", "[1]"), "")), "output-incomplete");
  EXPECT_EQ(codes(file(buffer(1, "IO_OUTPUT", "[]"), task(0, "COPY", "1", "1", 0))), "uninitialised-read");
}

TEST(Semantics, WaitsOfATaskOnWhatItRaises) {
  // Its own increment comes too late; a sibling's does not.
  const std::string alone = task(0, "COPY", "0", "1", 0, R"({"counter": 0, "threshold": 1})");
  EXPECT_EQ(codes(file(io + buffer(2, "WEIGHT", "[1]"), alone)), "deadlock");
  EXPECT_EQ(codes(file(io + buffer(2, "WEIGHT", "[1]"), alone + "," + task(7, "NOP", "", "", 0))), "safe");
  const std::string both = task(0, "COPY", "0", "1", 0, R"({"counter": 0, "threshold": 2})");
  EXPECT_EQ(codes(file(io + buffer(2, "WEIGHT", "[1]"), both + "," + task(7, "NOP", "", "", 0))), "deadlock");
  // One counter twice: the larger threshold counts.
  EXPECT_EQ(codes(file(io + buffer(2, "WEIGHT", "[1]"),
                       task(0, "COPY", "0", "1", 1,
                            R"({"counter": 0, "threshold": 1}, {"counter": 0, "threshold": 2})") +
                           "," + task(7, "NOP", "", "", 0))),
            "deadlock unsatisfiable-wait");
}

TEST(Semantics, ThresholdsAndParametersAtTheirLimits) {
  const auto wait = [&](const char* threshold) {
    return codes(file(io + buffer(2, "WEIGHT", "[1]"),
                      task(0, "COPY", "0", "1", 1,
                           (std::string(R"({"counter": 0, "threshold": )") + threshold + "}").c_str()) +
                          "," + task(7, "NOP", "", "", 0)));
  };
  EXPECT_EQ(wait("1"), "safe");
  EXPECT_EQ(wait("4294967295"), "deadlock unsatisfiable-wait");
  for (const char* bad :
       {"4294967296", "0", "-1", "1.0", "1e0", "true", "null", "\"1\"", "18446744073709551617"})
    EXPECT_EQ(wait(bad), "bad-threshold") << bad;
  const auto width = [&](const char* value) {
    return codes(
        file(io + buffer(2, "WEIGHT", "[4, 4]"),
             task(0, "GEMV_TILE", "0, 2", "1", 0, "",
                  (std::string(R"(, "params": {"K": 4, "n_off": 0, "N_tile": )") + value + "}").c_str())));
  };
  EXPECT_EQ(width("4"), "safe");
  EXPECT_EQ(width("3"), "output-incomplete");
  EXPECT_EQ(width("2147483647"), "out-of-bounds");
  EXPECT_EQ(width("0"), "out-of-bounds output-incomplete");
  EXPECT_EQ(width("-2147483648"), "out-of-bounds output-incomplete");
  for (const char* bad : {"2147483648", "4.0", "true", "null", "\"4\"", "[4]"})
    EXPECT_EQ(width(bad), "parameter-type") << bad;
}

TEST(Semantics, SeveralFaultsOfAMalformedFileAreAllReported) {
  EXPECT_EQ(
      codes(file(
          buffer(0, "IO_INPUT", "[1, 4]") + "," + buffer(0, "WEIGHT", "[1, 1, 1, 1, 1]"),
          task(3, "COPY", "0, 0", "9", 5) + "," + task(3, "ROPE", "0, 0", "0", 0) + "," +
              task(4, "SOFTMAXX", "0", "0", 0),
          R"(, "pages": {"buffer_to_page": {"0": 1, "77": 0}, "pages": [{"id": 0, "nbytes": 1}, {"id": 0, "nbytes": 1}]})")),
      "arity dangling-reference duplicate-id missing-parameter rank unknown-op");
}

TEST(Semantics, HugeNumbers) {
  // 2^62 elements of four bytes do not fit the page, though their size does not fit 63 bits.
  const std::string page = R"(, "pages": {"buffer_to_page": {"2": 5}, "pages": [{"id": 5, "nbytes": 64}]})";
  EXPECT_EQ(codes(file(io + buffer(2, "WEIGHT", "[4611686018427387904]"), copy, page)), "page-capacity");
  EXPECT_EQ(codes(file(io + buffer(2, "WEIGHT", "[9223372036854775807]", "", "b", "I4"), copy, page)),
            "page-capacity");
  EXPECT_EQ(codes(file(io + buffer(2, "WEIGHT", "[3037000500, 3037000500]"), copy)), "load");
  EXPECT_EQ(codes(file(io + buffer(2147483647, "WEIGHT", "[1]"), copy)), "safe");
  EXPECT_EQ(codes(file(io + buffer(2, "WEIGHT", "[1]"),
                       task(0, "COPY", "0", "1", 0, "", R"(, "sm": 9223372036854775807)"))),
            "safe");
  EXPECT_EQ(codes(file(io + buffer(2, "WEIGHT", "[1]"), task(0, "COPY", "0", "1", 0, "", R"(, "sm": -1)"))),
            "bad-placement");
}

TEST(Semantics, ATwinOfTheCacheIsUpdatedInPlaceToo) {
  const std::string caches = io + buffer(2, "KV_CACHE", "[4, 2]", "", "kv") + "," +
                             buffer(3, "KV_CACHE", "[2, 4, 1, 1]", "", "kv") + "," +
                             buffer(4, "ACTIVATION", "[2]");
  const char* row = R"(, "params": {"pos": 2})";
  EXPECT_EQ(codes(file(caches, copy + "," + task(1, "KV_APPEND", "0, 3", "2", 1, "", row))), "safe");
  EXPECT_EQ(codes(file(caches, copy + "," + task(1, "KV_APPEND", "0, 2", "2", 1, "", row))), "safe");
}

TEST(Semantics, PagesAndWindowsOfNoRows) {
  const char* window =
      R"(, "params": {"head_dim": 1, "scale": 1, "n_heads": 1, "n_kv_heads": 1, "kv_start": 4, "kv_len": 0})";
  const std::string cache = io + buffer(2, "KV_CACHE", "[4, 1]", "", "kv");
  EXPECT_EQ(codes(file(cache, task(0, "ATTENTION_TILE", "0, 2, 2", "1", 0, "", window))), "safe");
  // A weight read after another tenant of its page was written.
  const std::string page =
      R"(, "pages": {"buffer_to_page": {"2": 5, "3": 5}, "pages": [{"id": 5, "nbytes": 64}]})";
  const std::string tenants = io + buffer(2, "ACTIVATION", "[4]") + "," + buffer(3, "WEIGHT", "[4]");
  const std::string writes = task(0, "COPY", "0", "2", 0);
  const auto reads = [&](const char* first, const char* then) {
    return codes(
        file(tenants, task(0, "COPY", "0", "2", 0, then) + "," + task(1, "COPY", "3", "1", 1, first), page));
  };
  EXPECT_EQ(reads(R"({"counter": 0, "threshold": 1})", ""), "page-clobber");
  EXPECT_EQ(reads("", R"({"counter": 1, "threshold": 1})"), "safe");
  EXPECT_EQ(reads("", ""), "page-clobber");
}

TEST(Semantics, RootKeysTellTheFormatWhereverTheyStand) {
  const std::string label =
      R"(, "label": "all_tasks", "note": {"all_events": [], "format": "nuscope-schedule"})";
  const std::string amk = R"({"tasks": [)" + task(0, "COPY", "0", "1", 0, "", label.c_str()) +
                          R"(], "meta": {"all_tasks": 1}, "counters": [{"id": 0}], "buffers": [)" + io +
                          buffer(2, "WEIGHT", "[1]") + R"(], "ir_version": "0.2.0"})";
  EXPECT_EQ(readSchedule(amk).schedule->format, Format::amk);
  EXPECT_EQ(codes(amk), "safe");
  const std::string own =
      R"({"meta": {"ir_version": "0.2.0"}, "tasks": [], "counters": [], "buffers": [], "version": 1, "format" : "nuscope-schedule"})";
  EXPECT_EQ(readSchedule(own).schedule->format, Format::nuscope);
}

TEST(Semantics, MessagesCutNoCharacterInTwo) {
  std::string name;
  for (int i = 0; i < 60; ++i) name += "ä";
  const ReadResult read =
      readSchedule(file(io + buffer(2, "WEIGHT", "[1]"),
                        task(0, ("x" + name).c_str(), "0", "1", 0) + "," +
                            task(0, "COPY", "0", "1", 0, "", (R"(, "label": "x)" + name + "\"").c_str())));
  ASSERT_FALSE(read.faults.empty());
  for (const Fault& f : read.faults) {
    const std::size_t end = f.message.find("' is no");
    ASSERT_NE(end, std::string::npos) << f.message;
    EXPECT_EQ(static_cast<unsigned char>(f.message[end - 1]), 0xA4U) << f.message;  // the second byte of ä
  }
}

TEST(Semantics, IntervalsOfOurOwnForm) {
  const auto own = [](const char* writes) {
    return std::string(R"({"format": "nuscope-schedule", "version": 1, "counters": [{"id": 0}],
 "buffers": [{"id": 0, "name": "y", "kind": "IO_OUTPUT", "dtype": "F32", "shape": [12]}],
 "tasks": [{"id": 0, "op": "A", "signals": [0], "writes": [{"buffer": 0, "intervals": {"start": 0, "length": 2, "stride": 4, "count": 3}}]},
           {"id": 1, "op": "B", "signals": [0], "writes": [{"buffer": 0, "intervals": )") +
           writes + "}]}]}";
  };
  const std::string other = own(R"({"start": 2, "length": 2, "stride": 4, "count": 3})");
  EXPECT_EQ(codes(other), "safe");
  const std::string once = writeSchedule(*readSchedule(other).schedule);
  EXPECT_EQ(writeSchedule(*readSchedule(once).schedule), once);
  EXPECT_EQ(codes(once), "safe");
  EXPECT_EQ(codes(own(R"({"start": 1, "length": 3, "stride": 4, "count": 3})")), "race");
  EXPECT_EQ(codes(own(R"({"start": 2, "length": 2, "stride": 4, "count": 2})")), "output-incomplete");
  EXPECT_EQ(codes(own(R"({"start": 2, "length": 2, "stride": 4, "count": 4})")), "out-of-bounds");
  for (const char* bad :
       {R"({"start": 2, "length": 2, "stride": 1, "count": 2})",
        R"({"start": -1, "length": 2, "stride": 4, "count": 2})",
        R"({"start": 0, "length": 2, "stride": 9007199254740992, "count": 9007199254740992})",
        R"({"start": 0, "length": 2, "stride": 4})"})
    EXPECT_EQ(codes(own(bad)), "load") << bad;
}

TEST(Semantics, ManyRowsOfAMirageTensorAreWrittenAsOneAccess) {
  const std::string graph =
      R"({"all_events": [], "first_tasks": [0], "all_tasks": [{"task_type": 120, "inputs": [], "outputs": [{"base_ptr": "y",
 "offset": 8, "data_type": 941, "dims": [4294967296, 4], "strides": [8, 1]}], "trigger_event": 9223372036854775806, "dependent_event": 9223372036854775806}]})";
  const ReadResult read = readSchedule(graph);
  ASSERT_TRUE(read.schedule);
  const std::string written = writeSchedule(*read.schedule);
  EXPECT_LT(written.size(), 1000U);
  const ReadResult again = readSchedule(written);
  ASSERT_TRUE(again.schedule) << again.faults[0].message;
  EXPECT_EQ(again.schedule->tasks[0].writes->at(0).strided, read.schedule->tasks[0].writes->at(0).strided);
}

TEST(Semantics, AConfigOfEmptyObjectsIsReadAtOnce) {
  std::string text = R"({"model_type": "llama", "x": [)";
  while (text.size() < 900'000) text += "{},";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(model::parseLlamaConfig(text + "{}]}").ok());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

}  // namespace
}  // namespace nuscope::schedule
