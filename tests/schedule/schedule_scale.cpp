// Growth of reading and checking: schedule_scale [LARGEST [SMALLEST [FAMILY]]]. Families of schedules at
// 1,000 to LARGEST (1,000,000) tasks, each safe, and each with one fault planted at a random place, which
// must be found. A row a process, so that its memory is its own.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <random>

#include "core/schedule/check.h"
#include "core/schedule/lower.h"
#include "core/schedule/read.h"

namespace nuscope::schedule {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Schedule lowered(std::int64_t tasks, QueuePolicy policy) {
  model::LlamaConfig c;
  c.modelType = "llama";
  c.hidden = 4096;
  c.layers = std::max<std::int64_t>(1, tasks / 466);
  c.heads = c.kvHeads = 32;
  c.headDim = 128;
  c.intermediate = 11008;
  c.vocabulary = 32000;
  c.maxPositions = 2048;
  LowerOptions options;
  options.policy = policy;
  options.position = 1000;
  if (tasks < 400) options.mostTiles = 8;
  return *lower(c, options);
}

/// Beside every second wait for all of several producers, one for half of them.
Schedule halfPartial(std::int64_t tasks) {
  Schedule s = lowered(tasks, QueuePolicy::roundRobin);
  std::size_t count = 0;
  for (Task& t : s.tasks) {
    const std::size_t waits = t.waits.size();
    for (std::size_t i = 0; i < waits && t.waits.size() < maxWaits; ++i) {
      if (t.waits[i].threshold > 1 && count++ % 2 == 0)
        t.waits.insert(t.waits.begin(), {t.waits[i].counter, t.waits[i].threshold / 2});
    }
  }
  return s;
}

/// One buffer that 50,000 tasks write a column of and all others read whole.
Schedule wide(std::int64_t tasks) {
  const std::int64_t writers = std::min<std::int64_t>(50'000, tasks / 2);
  Schedule s;
  const auto buffer = [&](std::int64_t id, BufferKind kind, std::int64_t columns) {
    Buffer b;
    b.id = id;
    b.name = fmt::format("b{}", id);
    b.kind = kind;
    b.shape = {1, columns};
    s.buffers.push_back(std::move(b));
  };
  buffer(0, BufferKind::input, 1);
  buffer(1, BufferKind::weight, 1);
  buffer(2, BufferKind::activation, writers);
  buffer(3, BufferKind::output, tasks - writers);
  s.counters.resize(2);
  s.counters[1].id = 1;
  s.numSms = 132;
  for (std::int64_t t = 0; t < tasks; ++t) {
    Task task;
    task.id = t;
    task.op = Opcode::gemvTile;
    const bool writes = t < writers;
    task.inputs = {writes ? 0 : 2, 1};
    task.outputs = {writes ? 2 : 3};
    task.signals = {writes ? 0 : 1};
    task.params = {{"K", "1"}, {"N_tile", "1"}, {"n_off", std::to_string(writes ? t : t - writers)}};
    if (!writes) task.waits = {{0, writers}};
    task.sm = t % 132;
    s.tasks.push_back(std::move(task));
  }
  return s;
}

struct Family {
  const char* name;
  Schedule (*make)(std::int64_t tasks);
};
const Family families[] = {
    {"lowered, queues", [](std::int64_t n) { return lowered(n, QueuePolicy::roundRobin); }},
    {"lowered, no queues", [](std::int64_t n) { return lowered(n, QueuePolicy::none); }},
    {"half partial", halfPartial},
    {"50,000 writers", wide}};

/// A random task no longer waits for anything, though it reads what tasks of other queues write.
void plant(Schedule& s, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  while (true) {
    Task& t = s.tasks[rng() % s.tasks.size()];
    const bool late =
        !t.waits.empty() && t.op != Opcode::kvAppend && t.id > static_cast<std::int64_t>(s.tasks.size() / 4);
    if (!late) continue;
    t.waits.clear();
    t.sm.reset();  // nor does its queue save it
    return;
  }
}

int row(const Family& family, std::int64_t tasks, bool fault) {
  std::string json;
  std::size_t count = 0;
  {
    Schedule s = family.make(tasks);
    if (fault) plant(s, static_cast<std::uint64_t>(tasks));
    count = s.tasks.size();
    json = writeAmk(s);
  }
  struct rusage before {};
  getrusage(RUSAGE_SELF, &before);
  const double start = now();
  const ReadResult read = readSchedule(json);
  const double readSeconds = now() - start;
  if (!read.schedule || !read.faults.empty()) return 2;
  const Report report = check(*read.schedule, {}, Progress());
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
  const bool right = report.verdict == (fault ? Safety::unsafe : Safety::safe);
  fmt::print("{:<20} {:>9} {:>8.1f} {:>8.3f} {:>8.3f} {:>7} {:>6} {:>8.0f}  {}{}\n", family.name, count,
             static_cast<double>(json.size()) / 1e6, readSeconds, report.seconds, report.chains,
             report.sweeps, static_cast<double>(usage.ru_maxrss) / 1024, fault ? "planted fault " : "",
             fault ? (right ? "found" : "NOT FOUND") : std::string(text(report.verdict)));
  return right ? 0 : 1;
}

}  // namespace
}  // namespace nuscope::schedule

int main(int argc, char** argv) {
  using namespace nuscope::schedule;
  const std::int64_t largest = argc > 1 ? std::atoll(argv[1]) : 1'000'000;
  fmt::print("{:<20} {:>9} {:>8} {:>8} {:>8} {:>7} {:>6} {:>8}\n", "family", "tasks", "MB", "read s",
             "check s", "chains", "sweeps", "peak MiB");
  std::fflush(stdout);
  int worst = 0;
  const std::int64_t smallest = argc > 2 ? std::atoll(argv[2]) : 1000;
  const std::string only = argc > 3 ? argv[3] : "";
  for (std::int64_t tasks = smallest; tasks <= largest; tasks *= 10) {
    for (const Family& family : families) {
      if (!only.empty() && only != family.name) continue;
      for (const bool fault : {false, true}) {
        const pid_t child = fork();
        if (child == 0) {
          const int code = row(family, tasks, fault);
          std::fflush(stdout);
          std::_Exit(code);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
          fmt::print("{} at {} tasks failed (status {})\n", family.name, tasks, status);
          worst = 1;
        }
      }
    }
  }
  return worst;
}
