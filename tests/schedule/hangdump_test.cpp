// resources/hangdump/nuscope_hangdump.h on host threads: one thread a queue runs a real schedule with real
// atomics; faults are planted; a watchdog saves the dump when nothing moves; the explanation names the fault.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "core/base/files.h"
#include "core/schedule/hang.h"
#include "core/schedule/model.h"
#include "core/schedule/read.h"
#include "resources/hangdump/nuscope_hangdump.h"

namespace nuscope::schedule {
namespace {

/// Two queues; SM 1 produces both tiles that SM 0 joins.
const char* program = R"({"format": "nuscope-schedule", "version": 1,
 "buffers": [{"id": 0, "name": "x", "kind": "ACTIVATION", "dtype": "F32", "shape": [1, 8]}],
 "counters": [{"id": 0}, {"id": 1}],
 "tasks": [{"id": 0, "op": "T", "sm": 1, "writes": [{"buffer": 0, "region": [[0, 1], [0, 4]]}], "signals": [0]},
           {"id": 1, "op": "T", "sm": 1, "writes": [{"buffer": 0, "region": [[0, 1], [4, 8]]}], "signals": [0]},
           {"id": 2, "op": "J", "sm": 0, "reads": [{"buffer": 0}], "signals": [1], "waits": [{"counter": 0, "threshold": 2}]},
           {"id": 3, "op": "E", "sm": 1, "reads": [], "waits": [{"counter": 1, "threshold": 1}]}]})";

enum class Fault { none, noThread, lostSignal, endlessTask };

class Machine {
 public:
  Machine(const Schedule& schedule, Fault fault)
      : s_(schedule),
        model_(modelOf(schedule, Ids(schedule))),
        fault_(fault),
        counters_(s_.counters.size()),
        hang_(model_.queues.size()) {}

  std::string run() {
    nuscope_hang_init(hang_.data(), queues());
    std::vector<std::thread> threads;
    for (int q = 0; q < queues(); ++q) {
      if (fault_ == Fault::noThread && model_.queueSm[static_cast<std::size_t>(q)] == 1) continue;
      threads.emplace_back([this, q] { block(q); });
    }
    // The watchdog: nothing has moved for 100 ms.
    std::uint64_t last = ~std::uint64_t{0};
    while (nuscope_hang_moves(hang_.data(), queues()) != last) {
      last = nuscope_hang_moves(hang_.data(), queues());
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    const std::string dump = save();
    stop_ = true;
    for (std::thread& thread : threads) thread.join();
    return dump;
  }

 private:
  int queues() const { return static_cast<int>(model_.queues.size()); }
  void block(int q) {
    for (const std::int32_t task : model_.queues[static_cast<std::size_t>(q)]) {
      const auto t = static_cast<std::size_t>(task);
      nuscope_hang_at(hang_.data(), q, s_.tasks[t].id, NUSCOPE_HANG_WAITING);
      for (const Model::Need& need : model_.needs[t]) {
        while (counters_[static_cast<std::size_t>(need.counter)].load(std::memory_order_acquire) <
               need.threshold) {
          if (stop_) return;
          std::this_thread::yield();
        }
      }
      nuscope_hang_at(hang_.data(), q, s_.tasks[t].id, NUSCOPE_HANG_RUNNING);
      while (fault_ == Fault::endlessTask && s_.tasks[t].id == 1) {
        if (stop_) return;
        std::this_thread::yield();
      }
      if (fault_ == Fault::lostSignal && s_.tasks[t].id == 1) continue;
      for (const std::int32_t c : model_.raises[t])
        counters_[static_cast<std::size_t>(c)].fetch_add(1, std::memory_order_release);
    }
    nuscope_hang_at(hang_.data(), q, -1, NUSCOPE_HANG_DONE);
  }
  std::string save() const {
    const auto path =
        std::filesystem::temp_directory_path() / ("nuscope_hang_" + std::to_string(::getpid()) + ".json");
    std::vector<std::uint32_t> values;
    std::vector<std::int64_t> ids;
    for (std::size_t c = 0; c < counters_.size(); ++c) {
      values.push_back(counters_[c].load());
      ids.push_back(s_.counters[c].id);
    }
    FILE* file = std::fopen(path.c_str(), "w");
    EXPECT_EQ(nuscope_hang_save(file, hang_.data(), queues(), model_.queueSm.data(), values.data(),
                                static_cast<int>(values.size()), ids.data()),
              0);
    std::fclose(file);
    std::string text = readWholeFile(path);
    std::filesystem::remove(path);
    return text;
  }

  const Schedule& s_;
  Model model_;
  Fault fault_;
  std::vector<std::atomic<std::uint32_t>> counters_;
  std::vector<nuscope_hang_queue> hang_;
  std::atomic<bool> stop_{false};
};

HangExplanation explained(Fault fault) {
  const ReadResult read = readSchedule(program);
  EXPECT_TRUE(read.schedule && read.faults.empty());
  const std::string text = Machine(*read.schedule, fault).run();
  const auto dump = parseHangDump(text);
  EXPECT_TRUE(dump) << dump.refusal().message << "\n" << text;
  const auto why = explainHang(*read.schedule, *dump);
  EXPECT_TRUE(why) << why.refusal().message << "\n" << text;
  return *why;
}

TEST(HangDumpHeader, FaultsOnHostThreadsAreToldApart) {
  EXPECT_EQ(explained(Fault::none).causes[0].cause, HangCause::none);
  const auto never = explained(Fault::noThread);
  EXPECT_EQ(never.causes[0].cause, HangCause::queueNeverStarted);
  EXPECT_EQ(never.causes[0].sm, 1);
  const auto lost = explained(Fault::lostSignal);
  EXPECT_EQ(lost.causes[0].cause, HangCause::signalLost) << lost.causes[0].text;
  const auto stuck = explained(Fault::endlessTask);
  EXPECT_EQ(stuck.causes[0].cause, HangCause::taskStuck) << stuck.causes[0].text;
  EXPECT_EQ(stuck.causes[0].task, 1);
}

}  // namespace
}  // namespace nuscope::schedule
