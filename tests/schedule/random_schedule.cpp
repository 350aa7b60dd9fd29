#include "tests/schedule/random_schedule.h"

#include <algorithm>
#include <array>

#include "core/schedule/footprint.h"
#include "core/schedule/storage.h"

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

namespace {

class Maker {
 public:
  explicit Maker(std::mt19937_64& rng) : rng_(rng) {}

  Schedule make() {
    declared_ = chance(25);
    queues_ = chance(50);
    if (declared_) s_.format = Format::nuscope;
    s_.numSms = 3;
    s_.rest.emplace_back("target", R"({"name": "small", "num_sms": 3})");
    buffers();
    if (chance(40)) pages();
    const int tasks = pick(3, 7);
    for (int t = 0; t < tasks; ++t) task(t);
    waits();
    return std::move(s_);
  }

 private:
  int pick(int low, int high) {
    return static_cast<int>(low + rng_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return pick(1, 100) <= percent; }

  std::int64_t buffer(BufferKind kind, std::vector<std::int64_t> shape, std::string name) {
    Buffer& b = s_.buffers.emplace_back();
    b.id = static_cast<std::int64_t>(s_.buffers.size() - 1) * 3 + 1;  // sparse
    b.name = std::move(name);
    b.kind = kind;
    b.shape = std::move(shape);
    const std::array spaces{Space::smem, Space::reg};
    if (kind == BufferKind::activation && chance(5)) b.space = spaces[static_cast<std::size_t>(pick(0, 1))];
    return b.id;
  }
  void buffers() {
    readable_.push_back(buffer(BufferKind::input, {1, 4}, "x"));
    weight_ = buffer(BufferKind::weight, {4, 4}, "w");
    if (chance(30)) readable_.push_back(buffer(BufferKind::constant, {4}, "c"));
    const std::vector<std::vector<std::int64_t>> shapes{{1, 4}, {2, 4}, {4}, {2, 2, 4}, {2, 1, 2, 2}};
    const int activations = pick(2, 4);
    for (int i = 0; i < activations; ++i) {
      const auto& shape = shapes[static_cast<std::size_t>(pick(0, static_cast<int>(shapes.size()) - 1))];
      written_.push_back(buffer(BufferKind::activation, shape, "a"));
    }
    if (chance(40)) written_.push_back(buffer(BufferKind::output, {1, 4}, "y"));
    if (chance(50)) {
      const std::vector<std::vector<std::int64_t>> caches{{3, 2}, {3, 1, 2}, {2, 3, 1, 1}, {1, 4, 1, 2}};
      const auto& shape = caches[static_cast<std::size_t>(pick(0, 3))];
      caches_.push_back(buffer(BufferKind::kvCache, shape, "k"));
      caches_.push_back(buffer(BufferKind::kvCache, shape, chance(30) ? "k" : "v"));
    }
    if (chance(15) && written_.size() > 1) {
      for (const std::int64_t id : {written_[0], written_[1]}) of(id).source = "shared";
    }
    if (!caches_.empty() && chance(15)) of(caches_[0]).source = of(written_[0]).source = "mixed";
    if (chance(10)) of(readable_[0]).source = of(weight_).source = "weights";
    readable_.insert(readable_.end(), written_.begin(), written_.end());
  }
  Buffer& of(std::int64_t id) { return *std::ranges::find(s_.buffers, id, &Buffer::id); }
  void pages() {
    Pages& pages = s_.pages.emplace();
    for (const std::int64_t id : {10, 20})
      pages.pages.push_back({id, Space::smem, chance(90) ? 64 : 15, {}, {}});
    std::int64_t elements = 0;
    for (const Buffer& b : s_.buffers) {
      const bool known = b.source.has_value() || b.kind == BufferKind::kvCache;
      if (known || !chance(60) || (elements += b.elements()) > 60) continue;
      pages.ofBuffer.emplace_back(b.id, chance(70) ? 10 : 20);
    }
  }

  std::int64_t any(const std::vector<std::int64_t>& list) {
    return list[static_cast<std::size_t>(pick(0, static_cast<int>(list.size()) - 1))];
  }
  /// Mostly what an earlier task has written, so that many programs are safe.
  std::int64_t source() {
    if (!done_.empty() && chance(70)) return any(done_);
    return chance(75) ? readable_[0] : any(readable_);
  }
  std::int64_t target() {
    if (chance(3)) return chance(50) ? weight_ : readable_[0];
    const std::int64_t id = any(written_);
    done_.push_back(id);
    return id;
  }
  /// [from, from + length) within an extent, or now and then not.
  std::pair<int, int> range(std::int64_t extent, bool wholeOften) {
    if (wholeOften && chance(50)) return {0, static_cast<int>(extent)};
    const int from = pick(0, static_cast<int>(extent) - 1);
    const int length = pick(1, static_cast<int>(extent) - from);
    if (chance(2)) return {from, static_cast<int>(extent) + 1};
    if (chance(1)) return {-1, length};
    return {from, length};
  }
  static void set(Task& t, const char* key, int value) { t.params.emplace_back(key, std::to_string(value)); }

  void task(int number) {
    Task t;
    t.id = 100 - 7 * number;  // neither dense nor ascending
    if (declared_ && chance(70)) {
      custom(t);
    } else {
      operation(t, pick(0, caches_.empty() ? 5 : 8));
    }
    if (queues_ && chance(75)) t.sm = chance(2) ? (chance(50) ? -1 : 3) : pick(0, 2);
    signals(t);
    s_.tasks.push_back(std::move(t));
  }
  void operation(Task& t, int kind) {
    switch (kind) {
      case 0:
        t.op = Opcode::nop;
        return;
      case 1:
        t.op = Opcode::add;
        t.inputs = {source(), source()};
        t.outputs = {target()};
        return;
      case 2:
        t.op = Opcode::copy;
        t.inputs = {source()};
        t.outputs = {target()};
        return;
      case 3:
      case 4:
      case 5:
        return tile(t, kind == 5);
      case 6:
        return append(t);
      default:
        return attend(t);
    }
  }
  void tile(Task& t, bool rows) {
    t.op = rows ? Opcode::gemmTile : Opcode::gemvTile;
    t.inputs = {source(), weight_};
    t.outputs = {target()};
    const auto& shape = of(t.outputs[0]).shape;
    const auto [from, columns] = range(shape.back(), true);
    set(t, "K", chance(2) ? 5 : 4);
    set(t, "N_tile", columns);
    set(t, "n_off", from);
    if (!rows) return;
    const auto [rowFrom, height] = range(shape.size() > 1 ? shape[0] : 1, true);
    set(t, "M_tile", height);
    if (rowFrom != 0 || chance(50)) set(t, "m_off", rowFrom);
  }
  void append(Task& t) {
    const std::int64_t cache = any(caches_);
    t.op = Opcode::kvAppend;
    t.inputs = {source(), cache};
    t.outputs = {cache};
    const auto& shape = of(cache).shape;
    set(t, "pos", chance(2) ? 9 : pick(0, static_cast<int>(shape[shape.size() == 4 ? 1 : 0]) - 1));
  }
  void attend(Task& t) {
    t.op = Opcode::attentionTile;
    t.inputs = {source(), caches_[0], caches_[1]};
    t.outputs = {target()};
    const auto& shape = of(caches_[0]).shape;
    const auto [from, length] = range(shape[shape.size() == 4 ? 1 : 0], false);
    set(t, "kv_start", from);
    set(t, "kv_len", chance(5) ? 0 : length);
    for (const char* key : {"head_dim", "n_heads", "n_kv_heads", "scale"}) set(t, key, 1);
  }
  void custom(Task& t) {
    t.op = Opcode::custom;
    t.customOp = "fused";
    t.reads.emplace();
    t.writes.emplace();
    const int reads = pick(0, 2);
    for (int i = 0; i < reads; ++i) t.reads->push_back(rectangle(source()));
    if (!caches_.empty() && chance(30)) t.reads->push_back(rectangle(any(caches_)));
    const int writes = pick(1, 2);
    for (int i = 0; i < writes; ++i)
      t.writes->push_back(rectangle(!caches_.empty() && chance(25) ? any(caches_) : target()));
  }
  Access rectangle(std::int64_t id) {
    Access access;
    access.buffer = id;
    if (chance(40)) return access;
    for (const std::int64_t extent : of(id).shape) {
      const auto [from, length] = range(extent, true);
      access.region.ranges.emplace_back(from, from + length);
    }
    return access;
  }
  void signals(Task& t) {
    const auto fresh = [&] {
      Counter& c = s_.counters.emplace_back();
      c.id = static_cast<std::int64_t>(s_.counters.size()) * 2;
      return c.id;
    };
    t.signals = {s_.counters.empty() || chance(75) ? fresh()
                                                   : any({s_.counters.back().id, s_.counters[0].id})};
    if (declared_ && chance(20)) t.signals.push_back(fresh());
  }

  /// For most of the earlier tasks that touch the same, one wait.
  void waits() {
    const Ids ids(s_);
    const Footprints touched = footprints(s_, ids);
    const auto storage = storageOf(s_);
    const auto pageOf = [&](std::int32_t b) -> std::int64_t {
      if (!s_.pages) return -1;
      for (const auto& [id, page] : s_.pages->ofBuffer) {
        if (ids.buffer(id) == b) return page;
      }
      return -1;
    };
    for (std::size_t t = 1; t < s_.tasks.size(); ++t) {
      for (std::size_t u = 0; u < t; ++u) {
        bool meet = false;
        for (const Touch& a : touched.touches) {
          for (const Touch& b : touched.touches) {
            if (a.task != static_cast<std::int32_t>(u) || b.task != static_cast<std::int32_t>(t) ||
                (!a.write && !b.write))
              continue;
            meet =
                meet ||
                storage[static_cast<std::size_t>(a.buffer)] == storage[static_cast<std::size_t>(b.buffer)] ||
                (pageOf(a.buffer) >= 0 && pageOf(a.buffer) == pageOf(b.buffer));
          }
        }
        if (meet ? chance(90) : chance(5)) wait(s_.tasks[t], s_.tasks[u]);
      }
    }
  }
  void wait(Task& waiter, const Task& on) {
    const std::int64_t counter = any(on.signals);
    if (waiter.waits.size() >= 8 || std::ranges::count(waiter.signals, counter) > (chance(5) ? 9 : 0)) return;
    std::int64_t producers = 0;
    for (const Task& p : s_.tasks) producers += std::ranges::count(p.signals, counter);
    const int most = static_cast<int>(producers);
    waiter.waits.push_back({counter, chance(80) ? most : chance(2) ? most + 1 : pick(1, most)});
  }

  std::mt19937_64& rng_;
  Schedule s_;
  bool declared_ = false, queues_ = false;
  std::vector<std::int64_t> readable_, written_, caches_, done_;
  std::int64_t weight_ = 0;
};

}  // namespace

Schedule randomMemorySchedule(std::mt19937_64& rng) {
  return Maker(rng).make();
}

}  // namespace nuscope::schedule::testing
