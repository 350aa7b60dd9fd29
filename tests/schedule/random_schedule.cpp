#include "tests/schedule/random_schedule.h"

namespace nuscope::schedule::testing {

Schedule randomSchedule(std::mt19937_64& rng) {
  const auto pick = [&](int low, int high) {
    return static_cast<int>(low + rng() % static_cast<std::uint64_t>(high - low + 1));
  };
  Schedule s;
  const int tasks = pick(2, 7);
  const int counters = pick(1, tasks);
  const int buffers = pick(2, 4);
  s.buffers.push_back({0, "x", BufferKind::input, ElementType::f32, Space::hbm, {1, 4}, {}, {}, {}});
  s.buffers.push_back({1, "w", BufferKind::weight, ElementType::f32, Space::hbm, {4, 4}, {}, {}, {}});
  for (int b = 2; b < 2 + buffers; ++b) {
    s.buffers.push_back({b, "a", BufferKind::activation, ElementType::f32, Space::hbm, {1, 4}, {}, {}, {}});
  }
  for (int c = 0; c < counters; ++c) s.counters.push_back({c, 0, "", {}, {}});
  const bool queues = pick(0, 1) == 1;
  std::vector<int> producers(static_cast<std::size_t>(counters), 0);
  std::vector<int> signal;
  for (int t = 0; t < tasks; ++t) {
    signal.push_back(t < counters ? t : pick(0, counters - 1));
    ++producers[static_cast<std::size_t>(signal.back())];
  }
  for (int t = 0; t < tasks; ++t) {
    Task task;
    task.id = t;
    task.signals = {signal[static_cast<std::size_t>(t)]};
    const int kind = pick(0, 3);
    const auto input = [&] { return pick(0, 2) == 0 ? 0 : pick(2, 1 + buffers); };
    const std::int64_t out = pick(2, 1 + buffers);
    if (kind == 0) {
      task.op = Opcode::nop;
    } else if (kind == 1) {
      task.op = Opcode::add;
      task.inputs = {input(), input()};
      task.outputs = {out};
    } else if (kind == 2) {
      task.op = Opcode::gemvTile;
      task.inputs = {input(), 1};
      task.outputs = {out};
      const int from = pick(0, 3);
      task.params = {
          {"K", "4"}, {"N_tile", std::to_string(pick(1, 4 - from))}, {"n_off", std::to_string(from)}};
    } else {
      task.op = Opcode::copy;
      task.inputs = {input()};
      task.outputs = {out};
    }
    const int waits = t == 0 ? 0 : pick(0, 2);
    for (int w = 0; w < waits; ++w) {
      // Mostly counters of earlier tasks, so that many programs are live; sometimes any.
      const int counter =
          pick(0, 9) == 0 ? pick(0, counters - 1) : signal[static_cast<std::size_t>(pick(0, t - 1))];
      const int most = producers[static_cast<std::size_t>(counter)];
      task.waits.push_back({counter, pick(0, 2) == 0 ? most : pick(1, most + (pick(0, 20) == 0 ? 1 : 0))});
    }
    if (queues && pick(0, 3) != 0) task.sm = pick(0, 2);
    s.tasks.push_back(std::move(task));
  }
  return s;
}

}  // namespace nuscope::schedule::testing
