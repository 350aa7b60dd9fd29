#include "tests/schedule/exhaustive.h"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <vector>

namespace nuscope::schedule::testing {
namespace {

struct Piece {
  std::int64_t buffer, from, to;  // columns
};

struct Explorer {
  const Schedule& s;
  std::vector<std::vector<Piece>> reads, writes;
  std::map<std::int64_t, bool> transient;
  std::unordered_set<std::uint64_t> seen;
  std::set<std::string> found;

  explicit Explorer(const Schedule& schedule) : s(schedule) {
    std::map<std::int64_t, std::int64_t> width;
    for (const Buffer& b : s.buffers) {
      width[b.id] = b.shape.back();
      transient[b.id] = b.kind == BufferKind::activation || b.kind == BufferKind::output;
    }
    for (const Task& t : s.tasks) {
      std::vector<Piece> in;
      std::vector<Piece> out;
      for (const auto id : t.inputs) in.push_back({id, 0, width[id]});
      for (const auto id : t.outputs) {
        if (t.op == Opcode::gemvTile) {
          out.push_back({id, *t.integer("n_off"), *t.integer("n_off") + *t.integer("N_tile")});
        } else {
          out.push_back({id, 0, width[id]});
        }
      }
      reads.push_back(in);
      writes.push_back(out);
    }
  }

  // Two bits a task: 0 waiting, 1 running, 2 done.
  static int state(std::uint64_t all, std::size_t t) { return static_cast<int>(all >> (2 * t) & 3U); }

  bool canStart(std::uint64_t all, std::size_t t) const {
    if (state(all, t) != 0) return false;
    for (const Wait& w : s.tasks[t].waits) {
      std::int64_t value = 0;
      for (std::size_t p = 0; p < s.tasks.size(); ++p)
        value += state(all, p) == 2 ? std::ranges::count(s.tasks[p].signals, w.counter) : 0;
      if (value < w.threshold) return false;
    }
    if (s.tasks[t].sm) {
      for (std::size_t p = 0; p < t; ++p) {
        if (s.tasks[p].sm == s.tasks[t].sm && state(all, p) != 2) return false;
      }
    }
    return true;
  }
  static bool meet(const std::vector<Piece>& a, const std::vector<Piece>& b) {
    for (const Piece& x : a) {
      for (const Piece& y : b) {
        if (x.buffer == y.buffer && x.from < y.to && y.from < x.to) return true;
      }
    }
    return false;
  }
  void starting(std::uint64_t all, std::size_t t) {
    for (std::size_t o = 0; o < s.tasks.size(); ++o) {
      if (o == t || state(all, o) != 1) continue;
      if (meet(writes[t], writes[o]) || meet(writes[t], reads[o]) || meet(reads[t], writes[o]))
        found.insert("race");
    }
    for (const Piece& r : reads[t]) {
      if (!transient[r.buffer]) continue;
      for (std::int64_t e = r.from; e < r.to; ++e) {
        bool written = false;
        for (std::size_t o = 0; o < s.tasks.size(); ++o) {
          if (state(all, o) == 2 && meet({{r.buffer, e, e + 1}}, writes[o])) written = true;
        }
        if (!written) found.insert("uninitialised-read");
      }
    }
  }
  void visit(std::uint64_t all) {
    if (!seen.insert(all).second) return;
    bool moved = false;
    for (std::size_t t = 0; t < s.tasks.size(); ++t) {
      if (state(all, t) == 1) {
        moved = true;
        visit(all + (std::uint64_t{1} << (2 * t)));
      } else if (canStart(all, t)) {
        moved = true;
        starting(all, t);
        visit(all | (std::uint64_t{1} << (2 * t)));
      }
    }
    if (moved) return;
    for (std::size_t t = 0; t < s.tasks.size(); ++t) {
      if (state(all, t) != 2) found.insert("deadlock");
    }
  }
};

}  // namespace

std::set<std::string> explore(const Schedule& schedule) {
  Explorer explorer(schedule);
  explorer.visit(0);
  for (const Task& t : schedule.tasks) {
    for (const Wait& w : t.waits) {
      std::int64_t producers = 0;
      for (const Task& p : schedule.tasks) producers += std::ranges::count(p.signals, w.counter);
      if (w.threshold > producers) explorer.found.insert("unsatisfiable-wait");
    }
  }
  return explorer.found;
}

}  // namespace nuscope::schedule::testing
