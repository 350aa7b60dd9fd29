// Fuzzer of everything that reads schedule files: schedule_fuzz SECONDS [SEED]. Mutated and made-up
// AutoMegaKernel JSON, our own form, Mirage's task_graph.json, hang dumps and config.json. No crash, no hang
// (20 s an input), and no more memory at once than 16 times the text plus 64 MiB.
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
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

namespace {

std::atomic<std::size_t> live{0};
std::atomic<std::size_t> peak{0};

void* counted(std::size_t size) {
  void* p = std::malloc(size);
  if (p == nullptr) throw std::bad_alloc();
  const std::size_t now = live += malloc_usable_size(p);
  std::size_t seen = peak.load();
  while (seen < now && !peak.compare_exchange_weak(seen, now)) {
  }
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

namespace nuscope::schedule {
namespace {

constexpr std::size_t allowance = std::size_t{64} << 20U;

std::string current;  // for the signal handler

void onAlarm(int) {
  const char text[] = "hangs; the input is in /tmp/schedule_fuzz_input\n";
  if (FILE* file = std::fopen("/tmp/schedule_fuzz_input", "w")) {
    std::fwrite(current.data(), 1, current.size(), file);
    std::fclose(file);
  }
  (void)!write(2, text, sizeof text - 1);
  std::_Exit(1);
}

const char* mirage = R"({"all_events": [
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

const char* own = R"x({"format": "nuscope-schedule", "version": 1, "positions": {"from": 0, "to": 64},
 "buffers": [{"id": 0, "name": "kv", "kind": "KV_CACHE", "dtype": "F16", "shape": [64, 4]}, {"id": 1, "name": "o", "kind": "IO_OUTPUT", "dtype": "F32", "shape": [2, 3, 4]}],
 "counters": [{"id": 0}], "pages": {"buffer_to_page": {"1": 0}, "pages": [{"id": 0, "nbytes": 4096}]},
 "tasks": [{"id": 0, "op": "A", "sm": 0, "reads": [], "writes": [{"buffer": 0, "region": [["pos", "pos + 1"], [0, 4]]}], "signals": [0]},
 {"id": 1, "op": "B", "reads": [{"buffer": 0, "region": [[0, "min(pos + 1, 32)"], [1, 3]]}], "writes": [{"buffer": 1, "region": [[0, 2], [1, 3], [0, 2]]}], "waits": [{"counter": 0, "threshold": 1, "per_pass": 1}]}]})x";

const char* config =
    R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4, "num_key_value_heads": 2,
 "intermediate_size": 128, "vocab_size": 256, "max_position_embeddings": 64, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
 "rope_scaling": {"rope_type": "llama3", "factor": 8.0}, "tie_word_embeddings": false, "hidden_act": "silu"})";

const char* dump =
    R"({"format": "nuscope-hang-dump", "version": 1, "queues": {"0": {"task": 1, "state": "waiting"}, "1": {"task": null}},
 "counters": {"0": 1}, "done": [2], "running": []})";

class Fuzzer {
 public:
  explicit Fuzzer(std::uint64_t seed) : rng_(seed) {
    seeds_ = {mirage, own, config, dump};
    for (const auto& c : testing::cases()) {
      if (c.text.size() < 60'000) seeds_.push_back(c.text);
    }
    const std::string example =
        std::string(NUSCOPE_SOURCE_DIR) + "/resources/schedules/llama_low_latency.json";
    if (std::filesystem::exists(example)) seeds_.push_back(readWholeFile(example).substr(0, 40'000));
  }

  int run(double seconds) {
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
    std::string text = seeds_[below(4) == 0 ? below(seeds_.size()) : below(4)];
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
    alarm(20);
    work();
    alarm(0);
    const std::size_t used = peak.load() - std::min(peak.load(), before);
    const std::size_t scaled = 16 * current.size();
    worst_ = std::max(worst_, used - std::min(used, scaled));
    if (used <= scaled + allowance) return true;
    fmt::print(stderr, "{} takes {} bytes for {} bytes of text; the input is in /tmp/schedule_fuzz_input\n",
               what, used, current.size());
    writeWholeFile("/tmp/schedule_fuzz_input", current);
    return false;
  }

  bool one() {
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
    return within("a config", [&] { lowering(); });
  }
  /// What is written is read again as the same.
  static void again(const Schedule& schedule) {
    const std::string once = writeSchedule(schedule);
    const ReadResult read = readSchedule(once);
    if (schedule.format == Format::mirage) return;
    if (!read.schedule || writeSchedule(*read.schedule) != once) {
      fmt::print(stderr,
                 "what is written is not read as the same; the input is in /tmp/schedule_fuzz_input\n");
      writeWholeFile("/tmp/schedule_fuzz_input", current);
      std::exit(1);
    }
  }
  void hang() {
    const auto parsed = parseHangDump(current);
    static const ReadResult schedule = readSchedule(own);
    if (parsed) (void)explainHang(*schedule.schedule, *parsed);
  }
  void lowering() {
    const auto parsed = model::parseLlamaConfig(current);
    if (!parsed || parsed->layers > 3) return;
    LowerOptions options;
    options.mostTiles = 4;
    if (lower(*parsed, options)) ++lowered_;
  }

  std::mt19937_64 rng_;
  std::vector<std::string> seeds_;
  std::size_t read_ = 0, checked_ = 0, lowered_ = 0, worst_ = 0;
};

}  // namespace
}  // namespace nuscope::schedule

int main(int argc, char** argv) {
  std::signal(SIGALRM, nuscope::schedule::onAlarm);
  const double seconds = argc > 1 ? std::atof(argv[1]) : 5;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  return nuscope::schedule::Fuzzer(seed).run(seconds);
}
