// Fuzzer of everything that reads schedule files: schedule_fuzz SECONDS [SEED [schedule|mirage|config]].
// Mutated and made-up AutoMegaKernel JSON and our own form, with hang dumps; Mirage's task_graph.json;
// config.json; all of them where no kind is named. No crash, no hang (20 s an input), and no more memory at
// once than 16 times the text plus 64 MiB: also not for large files of one small thing again and again, which
// come first. The input at hand is in schedule_fuzz_input_PID of the folder for temporary files when it ends
// badly.
#include <fmt/format.h>
#include <malloc.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <random>

#include "core/base/files.h"
#include "core/model/llama_config.h"
#include "core/schedule/amk_verdict.h"
#include "core/schedule/check.h"
#include "core/schedule/hang.h"
#include "core/schedule/lower.h"
#include "core/schedule/transform.h"
#include "tests/schedule/cases.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace {

std::atomic<std::size_t> live{0};
std::atomic<std::size_t> peak{0};

void count(std::size_t size) {
  const std::size_t now = live += size;
  std::size_t seen = peak.load();
  while (seen < now && !peak.compare_exchange_weak(seen, now)) {
  }
}

}  // namespace

#if defined(__SANITIZE_ADDRESS__)
// sanitizer/allocator_interface.h, which GCC does not install. Every allocation counts, that of malloc too.
extern "C" std::size_t __sanitizer_get_allocated_size(const volatile void* p);
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*onAllocation)(const volatile void*,
                                                                              std::size_t),
                                                         void (*onRelease)(const volatile void*));
namespace {
void onAllocation(const volatile void* p, std::size_t /*size*/) {
  count(__sanitizer_get_allocated_size(p));
}
void onRelease(const volatile void* p) {
  if (p != nullptr) live -= __sanitizer_get_allocated_size(p);
}
const int installed = __sanitizer_install_malloc_and_free_hooks(onAllocation, onRelease);
}  // namespace
#else
namespace {
void* counted(std::size_t size) {
  void* p = std::malloc(size);
  if (p == nullptr) throw std::bad_alloc();
  count(malloc_usable_size(p));
  return p;
}
void release(void* p) {
  if (p == nullptr) return;
  live -= malloc_usable_size(p);
  std::free(p);
}
}  // namespace
void* operator new(std::size_t size) {
  return counted(size);
}
void* operator new[](std::size_t size) {
  return counted(size);
}
void operator delete(void* p) noexcept {
  release(p);
}
void operator delete[](void* p) noexcept {
  release(p);
}
void operator delete(void* p, std::size_t) noexcept {
  release(p);
}
void operator delete[](void* p, std::size_t) noexcept {
  release(p);
}
#endif

namespace nuscope::schedule {
namespace {

constexpr std::size_t allowance = std::size_t{64} << 20U;

std::string current;  // for the signal handlers

/// Seconds of the processor: others may keep it busy.
void limit(int seconds) {
  const itimerval timer{{0, 0}, {seconds, 0}};
  setitimer(ITIMER_PROF, &timer, nullptr);
}

std::string inputPath() {
  return (std::filesystem::temp_directory_path() / fmt::format("schedule_fuzz_input_{}", getpid())).string();
}
void keepInput(const std::string& what) {
  fmt::print(stderr, "{}; the input is in {}\n", what, inputPath());
  writeWholeFile(inputPath(), current);
}
void onAlarm(int /*signal*/) {
  keepInput("hangs");
  std::_Exit(1);
}
#if defined(__SANITIZE_ADDRESS__)
void onDeath() {
  keepInput("crashes");
}
#endif

const char* mirageText = R"({"all_events": [
 {"event_type": 911, "num_triggers": 0, "first_task_id": 0, "last_task_id": 0},
 {"event_type": 903, "num_triggers": 1, "first_task_id": 2, "last_task_id": 4},
 {"event_type": 901, "num_triggers": 2, "first_task_id": 4, "last_task_id": 5}, {"event_type": 910, "num_triggers": 1, "first_task_id": 0, "last_task_id": 0}],
 "first_tasks": [1], "all_tasks": [
 {"task_type": 0, "variant_id": 0, "inputs": null, "outputs": null, "trigger_event": 9223372036854775806, "dependent_event": 9223372036854775806},
 {"task_type": 10, "variant_id": 0, "inputs": null, "outputs": null, "trigger_event": 1, "dependent_event": 9223372036854775806},
 {"task_type": 120, "inputs": [{"base_ptr": "x", "offset": 0, "data_type": 941, "dims": [2, 8], "strides": [8, 1]}],
  "outputs": [{"base_ptr": "y", "offset": 0, "data_type": 941, "dims": [2, 4], "strides": [8, 1]}], "trigger_event": 2, "dependent_event": 9223372036854775806},
 {"task_type": 120, "inputs": [{"base_ptr": "x", "offset": 0, "data_type": 941, "dims": [2, 8], "strides": [8, 1]}],
  "outputs": [{"base_ptr": "y", "offset": 8, "data_type": 941, "dims": [2, 4], "strides": [8, 1]}], "trigger_event": 2, "dependent_event": 9223372036854775806},
 {"task_type": 118, "inputs": [{"base_ptr": "y", "offset": 0, "data_type": 941, "dims": [2, 8], "strides": [8, 1]}], "outputs": [], "trigger_event": 3, "dependent_event": 9223372036854775806, "kv_idx": 0}]})";

const char* ownText = R"x({"format": "nuscope-schedule", "version": 1, "positions": {"from": 0, "to": 64},
 "buffers": [{"id": 0, "name": "kv", "kind": "KV_CACHE", "dtype": "F16", "shape": [64, 4]}, {"id": 1, "name": "o", "kind": "IO_OUTPUT", "dtype": "F32", "shape": [2, 3, 4]}],
 "counters": [{"id": 0}], "pages": {"buffer_to_page": {"1": 0}, "pages": [{"id": 0, "nbytes": 4096}]},
 "tasks": [{"id": 0, "op": "A", "sm": 0, "reads": [], "writes": [{"buffer": 0, "region": [["pos", "pos + 1"], [0, 4]]}], "signals": [0]},
 {"id": 1, "op": "B", "reads": [{"buffer": 0, "region": [[0, "min(pos + 1, 32)"], [1, 3]]}], "writes": [{"buffer": 1, "region": [[0, 2], [1, 3], [0, 2]]}], "waits": [{"counter": 0, "threshold": 1, "per_pass": 1}]}]})x";

const char* configText =
    R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4, "num_key_value_heads": 2,
 "intermediate_size": 128, "vocab_size": 256, "max_position_embeddings": 64, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
 "rope_scaling": {"rope_type": "llama3", "factor": 8.0}, "tie_word_embeddings": false, "hidden_act": "silu"})";

const char* dumpText =
    R"({"format": "nuscope-hang-dump", "version": 1, "queues": {"0": {"task": 1, "state": "waiting"}, "1": {"task": null}},
 "counters": {"0": 1}, "done": [2], "running": []})";

enum class Kind { schedule, mirage, config, all };

/// Files that are one small thing again and again: `before`, `part` until the size is reached, `after`.
struct Repeated {
  Kind kind;
  std::string before, part, after;
};
std::vector<Repeated> repeated() {
  const std::string amk = R"({"ir_version": "0.2.0", )";
  const std::string amkTask = R"({"id":0,"op":"NOP","inputs":[],"outputs":[],"out_counter":0,"waits":[)";
  const std::string ownForm =
      R"({"format":"nuscope-schedule","version":1,"positions":{"from":0,"to":9},"counters":[{"id":0}],"buffers":[],"tasks":[)";
  const std::string ownTask = R"({"id":0,"op":"A","signals":[0],"reads":[)";
  const std::string tensor =
      R"({"base_ptr":"x","offset":0,"data_type":941,"dims":[2,2,2,2,2],"strides":[2,9,33,99,400]},)";
  std::vector<Repeated> result;
  // Anything, as a record of a list, as a value of the root and within one record.
  for (const char* part :
       {"0,", "\"\",", "[],", "{},", "[0],", "{\"\":0},", "[[[[0]]]],", "\"\\n\",", "[0,0,0,0,0],"}) {
    for (const char* list : {"tasks", "buffers", "counters", "meta"})
      result.push_back({Kind::schedule, amk + "\"" + list + "\":[", part, "0]}"});
    result.push_back(
        {Kind::schedule, amk + "\"tasks\":[" + amkTask + "],\"params\":{\"a\":[", part, "0]}}]}"});
    result.push_back({Kind::mirage, R"({"all_events":[],"first_tasks":[],"all_tasks":[)", part, "0]}"});
    result.push_back({Kind::mirage, R"({"all_tasks":[],"first_tasks":[],"all_events":[)", part, "0]}"});
    result.push_back({Kind::config, R"({"model_type":"llama","x":[)", part, "0]}"});
  }
  const std::string page = R"("pages":{"pages":[],"buffer_to_page":{)";
  for (
      const auto& [before, part, after] : std::initializer_list<std::array<std::string, 3>>{
          {amk + "\"tasks\":[", amkTask + "]},", amkTask + "]}]}"},
          {amk + "\"tasks\":[" + amkTask, R"({"counter":0,"threshold":1},)",
           R"({"counter":0,"threshold":1}]}]})"},
          {amk + "\"tasks\":[",
           R"({"id":0,"op":"X","inputs":[1,2],"outputs":[3],"out_counter":4,"waits":[{"counter":5,"threshold":0}]},)",
           amkTask + "]}]}"},
          {amk + "\"tasks\":[" + amkTask + "],\"params\":{", "\"a\":0,", "\"b\":0}}]}"},
          {amk + "\"tasks\":[" + amkTask + "],", "\"a\":0,", "\"b\":0}]}"},
          {amk + "\"tasks\":[" + amkTask + "]", ",\"inputs\":[0,0]", "}]}"},
          {amk, "\"a\":0,", "\"b\":0}"},
          {amk, "\"tasks\":[],", "\"b\":0}"},
          {amk, page + "}},", "\"b\":0}"},
          {amk + page, "\"1\":0,", "\"1\":0}}}"},
          {amk + R"("pages":{"buffer_to_page":{},"pages":[)", R"({"id":0,"nbytes":1},)", "0]}}"},
          {amk + "\"counters\":[", "{\"id\":0},", "{\"id\":0}]}"},
          {amk + "\"buffers\":[", R"({"id":0,"name":"","kind":"CONST","dtype":"I8","shape":[]},)", "0]}"},
          {amk + R"("buffers":[{"id":0,"name":"","kind":"CONST","dtype":"I8","shape":[)", "1,", "1]}]}"},
          {amk + R"("meta":{"a":")", "\\u00e4", "\"}}"},
          {amk + R"("tasks":[{"label":")", "äöü",
           R"(","id":"","op":"","inputs":0,"outputs":0,"out_counter":0.5,"waits":0,"sm":"","params":0,"est_bytes":""}]})"},
          {ownForm, ownTask + "]},", ownTask + "]}]}"},
          {ownForm + ownTask, R"({"buffer":0},)", R"({"buffer":0}]}]})"},
          {ownForm, ownTask + R"({"buffer":0},{"buffer":0},{"buffer":0},{"buffer":0}]},)", ownTask + "]}]}"},
          {ownForm, ownTask + R"({"buffer":0,"region":[["pos",1],["pos",1],["pos",1],["pos",1]]}]},)",
           ownTask + "]}]}"},
          {ownForm, ownTask + R"x({"buffer":0,"region":[["min(1,pos)","max(1,pos)"],[0,1]]}]},)x",
           ownTask + "]}]}"},
          {ownForm + ownTask + R"({"buffer":0,"region":[)", "[\"pos\",1],", "[0,1]]}]}]}"},
          {ownForm + ownTask + R"({"buffer":0,"region":[)", R"x([0,"min(1,pos,1,pos,1,pos,1,pos)"],)x",
           "[0,1]]}]}]}"},
          {ownForm + ownTask + R"({"buffer":0,"region":[["min()", "1,", "1)\",2]]}]}]}"},
          {ownForm + R"({"id":0,"op":"A","reads":[],"signals":[)", "0,", "0]}]}"}})
    result.push_back({Kind::schedule, before, part, after});
  const std::string head =
      R"({"all_events":[{"event_type":901,"num_triggers":1,"first_task_id":0,"last_task_id":0}],"first_tasks":[],"all_tasks":[)";
  const std::string record = R"({"task_type":120,"trigger_event":0,"dependent_event":0,"inputs":[)";
  for (const auto& [before, part, after] : std::initializer_list<std::array<std::string, 3>>{
           {head, record + "]},", record + "]}]}"},
           {head + record, tensor, "0]}]}"},
           {head, record + tensor + tensor + "0]},", record + "]}]}"},
           {head + record + R"({"base_ptr":"x","offset":0,"data_type":941,"dims":[)", "1,",
            "1],\"strides\":[]}]}]}"},
           {R"({"all_tasks":[],"first_tasks":[],"all_events":[)",
            R"({"event_type":901,"num_triggers":1,"first_task_id":0,"last_task_id":0},)", "0]}"},
           {R"({"all_tasks":[],"all_events":[],"first_tasks":[)", "0,", "0]}"}})
    result.push_back({Kind::mirage, before, part, after});
  result.push_back({Kind::config, "{", "\"a\":0,", "\"b\":0}"});
  result.push_back({Kind::config, "{\"model_type\":\"", "x", "\"}"});
  return result;
}

class Fuzzer {
 public:
  Fuzzer(Kind kind, std::uint64_t seed) : kind_(kind), rng_(seed) {
    if (is(Kind::mirage)) seeds_.emplace_back(mirageText);
    if (is(Kind::config)) seeds_.emplace_back(configText);
    if (is(Kind::schedule)) {
      seeds_.emplace_back(ownText);
      seeds_.emplace_back(dumpText);
      for (const auto& c : testing::cases()) {
        if (c.text.size() < 60'000) seeds_.push_back(c.text);
      }
      const std::string example =
          std::string(NUSCOPE_SOURCE_DIR) + "/resources/schedules/llama_low_latency.json";
      if (std::filesystem::exists(example)) seeds_.push_back(readWholeFile(example).substr(0, 40'000));
    }
  }

  /// Of several MiB too: 16 times the text then outweighs what is allowed beside it.
  bool large(std::size_t bytes) {
    std::size_t count = 0;
    for (const Repeated& one : repeated()) {
      if (!is(one.kind)) continue;
      current = one.before;
      while (current.size() < bytes) current += one.part;
      current += one.after;
      if (!within("reading", [&] { readSchedule(current); })) return false;
      if (!within("a hang dump", [&] { (void)parseHangDump(current); })) return false;
      if (is(Kind::config) && !within("a config", [&] { lowering(); })) return false;
      ++count;
    }
    fmt::print("{} large files; most memory beyond 16 times the text: {:.1f} MiB\n", count,
               static_cast<double>(worst_) / (1 << 20));
    return true;
  }

  int run(double seconds) {
    const bool brief = seconds < 60;
    if (!large(std::size_t{1} << 20U) || (!brief && !large(std::size_t{8} << 20U))) return 1;
    const auto start = std::chrono::steady_clock::now();
    std::size_t inputs = 0;
    while (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < seconds) {
      current = input();
      if (!one()) return 1;
      ++inputs;
    }
    fmt::print(
        "{} inputs: {} read, {} checked, {} configs lowered; most memory beyond 16 times the text: {:.1f} "
        "MiB\n",
        inputs, read_, checked_, lowered_, static_cast<double>(worst_) / (1 << 20));
    return 0;
  }

 private:
  std::size_t below(std::size_t n) { return n == 0 ? 0 : rng_() % n; }
  std::string input() {
    std::string text =
        seeds_[below(4) == 0 ? below(seeds_.size()) : below(std::min<std::size_t>(4, seeds_.size()))];
    const std::size_t edits = below(2) == 0 ? 1 : 1 + below(6);
    for (std::size_t i = 0; i < edits; ++i) mutate(text);
    return text;
  }
  /// The span of a number, text or bracketed value that begins near a place.
  std::pair<std::size_t, std::size_t> token(const std::string& text) {
    std::size_t at = below(text.size());
    while (at < text.size() && std::string_view(" ,:\n\r\t]}").find(text[at]) != std::string_view::npos) ++at;
    std::size_t end = at;
    int depth = 0;
    while (end < text.size()) {
      const char c = text[end];
      if (c == '[' || c == '{') ++depth;
      if ((c == ']' || c == '}') && --depth <= 0) return {at, std::min(text.size(), end + 1)};
      if (depth == 0 && (c == ',' || c == ':' || c == '\n')) break;
      ++end;
    }
    return {at, end};
  }
  void mutate(std::string& text) {
    static const char* values[] = {"0",
                                   "-1",
                                   "1",
                                   "9223372036854775807",
                                   "-9223372036854775808",
                                   "1e999",
                                   "4294967296",
                                   "1.5",
                                   "null",
                                   "true",
                                   "[]",
                                   "{}",
                                   "\"\"",
                                   "\"pos\"",
                                   "\"1048576*pos - 1099511627776\"",
                                   "2147483647",
                                   "999999999999",
                                   "[[[[[[[[[[[[[[",
                                   "\"\\ud800\"",
                                   "\xff",
                                   "[0, 4503599627370496]",
                                   "1000000",
                                   "65536"};
    const auto [at, end] = token(text);
    switch (below(7)) {
      case 0:
        text.replace(at, end - at, values[below(std::size(values))]);
        break;
      case 1:
        if (!text.empty()) text[below(text.size())] = static_cast<char>(rng_());
        break;
      case 2:
        text.erase(at, end - at);
        break;
      case 3: {  // the same again, many times
        const std::string part = text.substr(at, end - at);
        std::string many;
        const std::size_t times = std::size_t{1} << below(10);
        for (std::size_t i = 0; i < times && many.size() < 200'000; ++i) many += part + ", ";
        text.insert(at, many);
        break;
      }
      case 4: {
        const auto [from, to] = token(text);
        text.insert(at, text.substr(from, to - from));
        break;
      }
      case 5:
        text.insert(at, std::string(1 + below(3000), below(2) == 0 ? '[' : '{'));
        break;
      default:
        text.resize(below(text.size() + 1));
    }
    if (text.size() > 400'000) text.resize(400'000);
  }

  template <class Work>
  bool within(const char* what, Work work) {
    const std::size_t before = live.load();
    peak = before;
    limit(20);
    work();
    limit(0);
    const std::size_t used = peak.load() - std::min(peak.load(), before);
    const std::size_t scaled = 16 * current.size();
    worst_ = std::max(worst_, used - std::min(used, scaled));
    if (used <= scaled + allowance) return true;
    keepInput(fmt::format("{} takes {} bytes for {} bytes of text", what, used, current.size()));
    return false;
  }

  bool is(Kind kind) const { return kind_ == Kind::all || kind_ == kind; }
  bool one() {
    if (kind_ == Kind::config) return within("a config", [&] { lowering(); });
    ReadResult read;
    if (!within("reading", [&] { read = readSchedule(current); })) return false;
    if (read.schedule && read.faults.empty()) {
      ++read_;
      Report report;
      if (!within("checking", [&] { report = check(*read.schedule, {}, Progress()); })) return false;
      ++checked_;
      if (!within("AutoMegaKernel's verdict", [&] { amkVerdict(read); })) return false;
      if (!within("writing", [&] { again(*read.schedule); })) return false;
    }
    if (!within("a hang dump", [&] { hang(); })) return false;
    return kind_ != Kind::all || within("a config", [&] { lowering(); });
  }
  /// What is written is read again as the same.
  static void again(const Schedule& schedule) {
    const std::string once = writeSchedule(schedule);
    const ReadResult read = readSchedule(once);
    if (schedule.format == Format::mirage) return;
    if (!read.schedule || writeSchedule(*read.schedule) != once) {
      keepInput("what is written is not read as the same");
      std::exit(1);
    }
  }
  void hang() {
    const auto parsed = parseHangDump(current);
    static const ReadResult schedule = readSchedule(ownText);
    if (parsed) (void)explainHang(*schedule.schedule, *parsed);
  }
  void lowering() {
    const auto parsed = model::parseLlamaConfig(current);
    if (!parsed || parsed->layers > 3) return;
    LowerOptions options;
    options.mostTiles = 4;
    if (lower(*parsed, options)) ++lowered_;
  }

  Kind kind_;
  std::mt19937_64 rng_;
  std::vector<std::string> seeds_;
  std::size_t read_ = 0, checked_ = 0, lowered_ = 0, worst_ = 0;
};

}  // namespace
}  // namespace nuscope::schedule

int main(int argc, char** argv) {
  using namespace nuscope::schedule;
  std::signal(SIGPROF, onAlarm);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_set_death_callback(onDeath);
#endif
  const double seconds = argc > 1 ? std::atof(argv[1]) : 5;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const std::string name = argc > 3 ? argv[3] : "all";
  const Kind kind = name == "schedule" ? Kind::schedule
                    : name == "mirage" ? Kind::mirage
                    : name == "config" ? Kind::config
                                       : Kind::all;
  return Fuzzer(kind, seed).run(seconds);
}
