#include "tests/schedule/exhaustive.h"

#include <algorithm>
#include <bitset>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace nuscope::schedule::testing {
namespace {

using Elements = std::bitset<64>;  // of one storage

struct Use {
  std::size_t buffer = 0;
  Elements elements;
};

bool readOnly(const Buffer& b) {
  return b.kind == BufferKind::weight || b.kind == BufferKind::constant || b.kind == BufferKind::input;
}
std::int64_t count(const Buffer& b) {
  std::int64_t n = 1;
  for (const std::int64_t extent : b.shape) n *= extent;
  return n;
}
/// The axis of a cache that counts positions.
std::size_t rowAxis(const Buffer& b) {
  return b.shape.size() == 4 ? 1 : 0;
}
/// Coordinates of a row-major element.
std::vector<std::int64_t> coordinates(const Buffer& b, std::int64_t element) {
  std::vector<std::int64_t> result(b.shape.size());
  for (std::size_t i = b.shape.size(); i-- > 0;) {
    result[i] = element % b.shape[i];
    element /= b.shape[i];
  }
  return result;
}

/// What a task touches and where that leaves its buffers, straight from the text of the rules.
class Accesses {
 public:
  explicit Accesses(const Schedule& s) : s_(s), reads(s.tasks.size()), writes(s.tasks.size()) {
    for (std::size_t b = 0; b < s.buffers.size(); ++b) index_[s.buffers[b].id] = b;
    for (std::size_t t = 0; t < s.tasks.size(); ++t) collect(s.tasks[t], reads[t], writes[t]);
  }

 private:
  const Schedule& s_;
  std::map<std::int64_t, std::size_t> index_;

 public:
  std::vector<std::vector<Use>> reads, writes;
  bool outOfBounds = false;
  std::size_t index(std::int64_t id) const { return index_.at(id); }

 private:
  template <class Holds>
  Use use(std::int64_t id, Holds holds) const {
    Use result;
    result.buffer = index(id);
    const Buffer& b = s_.buffers[result.buffer];
    for (std::int64_t e = 0; e < count(b); ++e) {
      if (holds(b, coordinates(b, e))) result.elements.set(static_cast<std::size_t>(e));
    }
    return result;
  }
  Use whole(std::int64_t id) const {
    return use(id, [](const Buffer&, const auto&) { return true; });
  }
  void within(std::int64_t from, std::int64_t length, std::int64_t extent, std::int64_t least) {
    if (from < 0 || length < least || from + length > extent) outOfBounds = true;
  }
  void collect(const Task& t, std::vector<Use>& in, std::vector<Use>& out) {
    if (t.reads || t.writes) {
      if (t.reads) declared(*t.reads, in);
      if (t.writes) declared(*t.writes, out);
      return;
    }
    const bool tile = t.op == Opcode::gemvTile || t.op == Opcode::gemmTile;
    for (std::size_t i = 0; i < t.inputs.size(); ++i) {
      const bool window = t.op == Opcode::attentionTile && (i == 1 || i == 2);
      if (t.op == Opcode::kvAppend && sameCache(t.inputs[i], t.outputs[0])) continue;
      in.push_back(window ? rows(t.inputs[i], *t.integer("kv_start"), *t.integer("kv_len"), 0)
                          : whole(t.inputs[i]));
    }
    for (const std::int64_t id : t.outputs) {
      if (tile) {
        out.push_back(tileOf(t, id));
      } else if (t.op == Opcode::kvAppend) {
        out.push_back(rows(id, *t.integer("pos"), 1, 1));
      } else {
        out.push_back(whole(id));
      }
    }
    if (!tile) return;
    const Buffer& weight = s_.buffers[index(t.inputs[1])];
    if (*t.integer("K") != weight.shape.back()) outOfBounds = true;
  }
  Use tileOf(const Task& t, std::int64_t id) {
    const Buffer& b = s_.buffers[index(id)];
    const std::int64_t from = *t.integer("n_off");
    const std::int64_t columns = *t.integer("N_tile");
    const bool rowsToo = t.op == Opcode::gemmTile;
    const std::int64_t rowFrom = t.integer("m_off").value_or(0);
    const std::int64_t height = t.integer("M_tile").value_or(0);
    within(from, columns, b.shape.back(), 1);
    if (rowsToo) within(rowFrom, height, b.shape.size() > 1 ? b.shape[0] : 1, 1);
    return use(id, [&](const Buffer& buffer, const std::vector<std::int64_t>& at) {
      const std::int64_t row = buffer.shape.size() > 1 ? at[0] : 0;
      return at.back() >= from && at.back() < from + columns &&
             (!rowsToo || (row >= rowFrom && row < rowFrom + height));
    });
  }
  Use rows(std::int64_t id, std::int64_t from, std::int64_t length, std::int64_t least) {
    const Buffer& b = s_.buffers[index(id)];
    within(from, length, b.shape[rowAxis(b)], least);
    return use(id, [&](const Buffer& buffer, const std::vector<std::int64_t>& at) {
      const std::int64_t row = at[rowAxis(buffer)];
      return row >= from && row < from + length;
    });
  }
  /// One buffer, or two that are one storage.
  bool sameCache(std::int64_t a, std::int64_t b) const {
    const Buffer& x = s_.buffers[index(a)];
    const Buffer& y = s_.buffers[index(b)];
    const bool caches = x.kind == BufferKind::kvCache && y.kind == BufferKind::kvCache;
    return a == b || (x.source && x.source == y.source) || (caches && x.name == y.name);
  }
  void declared(const std::vector<Access>& list, std::vector<Use>& into) {
    for (const Access& access : list) {
      const auto& ranges = access.region.ranges;
      const Buffer& b = s_.buffers[index(access.buffer)];
      for (std::size_t i = 0; i < ranges.size(); ++i)
        within(ranges[i].first, ranges[i].second - ranges[i].first, b.shape[i], 0);
      into.push_back(use(access.buffer, [&](const Buffer&, const std::vector<std::int64_t>& at) {
        for (std::size_t i = 0; i < ranges.size(); ++i) {
          if (at[i] < ranges[i].first || at[i] >= ranges[i].second) return false;
        }
        return true;
      }));
    }
  }
};

struct Explorer {
  const Schedule& s;
  Accesses touched;
  std::vector<std::size_t> storage;        ///< per buffer: the first buffer of its storage
  std::vector<Elements> initial;           ///< per buffer: elements that hold values before the pass
  std::vector<std::int64_t> page;          ///< per buffer; -1: none
  std::vector<std::size_t> clobberOffset;  ///< per buffer on a page: where its elements begin in a set
  bool anyPage = false;
  struct State {
    std::uint64_t tasks = 0;  ///< two bits a task: 0 waiting, 1 running, 2 done
    std::uint64_t clobbered = 0;
    bool operator==(const State&) const = default;
  };
  struct Hash {
    std::size_t operator()(const State& a) const {
      return std::hash<std::uint64_t>()(a.tasks * 0x9E3779B97F4A7C15ULL ^ a.clobbered);
    }
  };
  std::unordered_set<State, Hash> seen;
  std::set<std::string> found;
  bool clobberOfUnwritten = false;

  explicit Explorer(const Schedule& schedule) : s(schedule), touched(schedule) {
    const std::size_t n = s.buffers.size();
    storage.resize(n);
    for (std::size_t b = 0; b < n; ++b) storage[b] = b;
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t a = 0; a < n; ++a) {
        for (std::size_t b = 0; b < n; ++b) {
          const Buffer& x = s.buffers[a];
          const Buffer& y = s.buffers[b];
          const bool one =
              (x.source && y.source && *x.source == *y.source) ||
              (x.kind == BufferKind::kvCache && y.kind == BufferKind::kvCache && x.name == y.name);
          if (!one || storage[a] == storage[b]) continue;
          storage[a] = storage[b] = std::min(storage[a], storage[b]);
          changed = true;
        }
      }
    }
    initial.resize(n);
    for (std::size_t b = 0; b < n; ++b) {
      const Buffer& buffer = s.buffers[b];
      for (std::int64_t e = 0; e < count(buffer); ++e) {
        if (readOnly(buffer) || (buffer.kind == BufferKind::kvCache &&
                                 coordinates(buffer, e)[rowAxis(buffer)] < firstAppended(storage[b])))
          initial[b].set(static_cast<std::size_t>(e));
      }
    }
    page.assign(n, -1);
    clobberOffset.assign(n, 0);
    if (!s.pages) return;
    std::size_t offset = 0;
    for (const auto& [id, pageId] : s.pages->ofBuffer) {
      anyPage = true;
      page[touched.index(id)] = pageId;
      clobberOffset[touched.index(id)] = offset;
      offset += static_cast<std::size_t>(count(s.buffers[touched.index(id)]));
    }
  }
  std::int64_t firstAppended(std::size_t ofStorage) const {
    std::int64_t first = INT64_MAX;
    for (const Task& t : s.tasks) {
      if (t.writes) {
        for (const Access& access : *t.writes) {
          const std::size_t b = touched.index(access.buffer);
          if (s.buffers[b].kind != BufferKind::kvCache || storage[b] != ofStorage) continue;
          const auto& ranges = access.region.ranges;
          first = std::min(first, ranges.empty() ? 0 : ranges[rowAxis(s.buffers[b])].first);
        }
      } else if (t.op == Opcode::kvAppend && storage[touched.index(t.outputs[0])] == ofStorage) {
        first = std::min(first, *t.integer("pos"));
      }
    }
    return first;
  }

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
  void collide(const std::vector<Use>& a, const std::vector<Use>& b) {
    for (const Use& x : a) {
      for (const Use& y : b) {
        if (storage[x.buffer] == storage[y.buffer]) {
          if ((x.elements & y.elements).any()) found.insert("race");
        } else if (page[x.buffer] >= 0 && page[x.buffer] == page[y.buffer] && x.elements.any() &&
                   y.elements.any()) {
          found.insert("page-clobber");
        }
      }
    }
  }
  Elements written(std::uint64_t all, std::size_t ofStorage) const {
    Elements result;
    for (std::size_t t = 0; t < s.tasks.size(); ++t) {
      if (state(all, t) != 2) continue;
      for (const Use& w : touched.writes[t]) {
        if (storage[w.buffer] == ofStorage) result |= w.elements;
      }
    }
    return result;
  }
  Elements clobberedOf(const State& at, std::size_t b) const {
    Elements all;
    for (std::int64_t e = 0; e < count(s.buffers[b]); ++e) all.set(static_cast<std::size_t>(e));
    return Elements(page[b] < 0 ? 0 : at.clobbered >> clobberOffset[b]) & all;
  }
  void starting(const State& at, std::size_t t) {
    for (std::size_t o = 0; o < s.tasks.size(); ++o) {
      if (o == t || state(at.tasks, o) != 1) continue;
      collide(touched.writes[t], touched.writes[o]);
      collide(touched.writes[t], touched.reads[o]);
      collide(touched.reads[t], touched.writes[o]);
    }
    for (const Use& r : touched.reads[t]) {
      const Elements holds = initial[r.buffer] | written(at.tasks, storage[r.buffer]);
      if ((r.elements & ~holds).any()) found.insert("uninitialised-read");
      const Elements lost = r.elements & clobberedOf(at, r.buffer);
      if ((lost & holds).any()) found.insert("page-clobber");
      if ((lost & ~holds).any()) clobberOfUnwritten = true;
    }
  }
  State completed(State at, std::size_t t) const {
    at.tasks += std::uint64_t{1} << (2 * t);
    if (!anyPage) return at;
    for (const Use& w : touched.writes[t]) {
      if (w.elements.none() || page[w.buffer] < 0) continue;
      for (std::size_t b = 0; b < s.buffers.size(); ++b) {
        if (page[b] != page[w.buffer] || storage[b] == storage[w.buffer]) continue;
        for (std::int64_t e = 0; e < count(s.buffers[b]); ++e)
          at.clobbered |= std::uint64_t{1} << (clobberOffset[b] + static_cast<std::size_t>(e));
      }
    }
    for (const Use& w : touched.writes[t]) {
      if (page[w.buffer] >= 0) at.clobbered &= ~(w.elements.to_ullong() << clobberOffset[w.buffer]);
    }
    return at;
  }
  void visit(const State& at) {
    if (!seen.insert(at).second) return;
    bool moved = false;
    for (std::size_t t = 0; t < s.tasks.size(); ++t) {
      if (state(at.tasks, t) == 1) {
        moved = true;
        visit(completed(at, t));
      } else if (canStart(at.tasks, t)) {
        moved = true;
        starting(at, t);
        visit({at.tasks | (std::uint64_t{1} << (2 * t)), at.clobbered});
      }
    }
    if (moved) return;
    for (std::size_t t = 0; t < s.tasks.size(); ++t) {
      if (state(at.tasks, t) != 2) found.insert("deadlock");
    }
  }

  // What follows from the records alone.
  void records() {
    for (const Task& t : s.tasks) {
      for (const Wait& w : t.waits) {
        std::int64_t producers = 0;
        for (const Task& p : s.tasks) producers += std::ranges::count(p.signals, w.counter);
        if (w.threshold > producers) found.insert("unsatisfiable-wait");
      }
      if (t.sm && (*t.sm < 0 || (s.numSms && *t.sm >= *s.numSms))) found.insert("bad-placement");
    }
    if (touched.outOfBounds) found.insert("out-of-bounds");
    for (std::size_t b = 0; b < s.buffers.size(); ++b) ofBuffer(b);
    if (!s.pages) return;
    for (const auto& [id, pageId] : s.pages->ofBuffer) {
      const Buffer& b = s.buffers[touched.index(id)];
      const std::map<ElementType, int> width{{ElementType::f32, 32},
                                             {ElementType::i32, 32},
                                             {ElementType::f16, 16},
                                             {ElementType::bf16, 16},
                                             {ElementType::i4, 4}};
      const auto at = width.find(b.type);
      const std::int64_t bytes = (count(b) * (at == width.end() ? 8 : at->second) + 7) / 8;
      for (const Page& p : s.pages->pages) {
        if (p.id == pageId && bytes > p.bytes) found.insert("page-capacity");
      }
    }
  }
  void ofBuffer(std::size_t b) {
    const Buffer& buffer = s.buffers[b];
    std::set<std::optional<std::int64_t>> places;
    Elements all;
    for (std::size_t t = 0; t < s.tasks.size(); ++t) {
      const auto names = [&](const auto& ids) { return std::ranges::count(ids, buffer.id) > 0; };
      const auto uses = [&](const auto& list) {
        return std::ranges::any_of(list, [&](const Use& u) { return u.buffer == b; });
      };
      const bool writes = uses(touched.writes[t]);
      if (writes && readOnly(buffer)) found.insert("read-only-write");
      if (writes || uses(touched.reads[t]) || names(s.tasks[t].inputs) || names(s.tasks[t].outputs))
        places.insert(s.tasks[t].sm);
      for (const Use& w : touched.writes[t]) {
        if (storage[w.buffer] == storage[b]) all |= w.elements;
      }
    }
    const bool onChip = buffer.space == Space::smem || buffer.space == Space::reg;
    if (onChip && (places.size() > 1 || places.contains(std::nullopt))) found.insert("on-chip-locality");
    if (buffer.kind != BufferKind::output) return;
    for (std::int64_t e = 0; e < count(buffer); ++e) {
      if (!all.test(static_cast<std::size_t>(e))) found.insert("output-incomplete");
    }
  }
};

}  // namespace

Truth explore(const Schedule& schedule) {
  Explorer explorer(schedule);
  explorer.visit({});
  explorer.records();
  Truth truth{explorer.found, {}};
  const auto demote = [&](const char* code) {
    if (truth.rules.erase(code) != 0) truth.also.insert(code);
  };
  const bool clobber = truth.rules.contains("page-clobber");
  const bool bounds = truth.rules.contains("out-of-bounds");
  if (truth.rules.contains("deadlock") || bounds) {
    for (const char* code : {"race", "page-clobber", "uninitialised-read"}) demote(code);
  }
  if (bounds) demote("output-incomplete");
  if (truth.rules.contains("unsatisfiable-wait")) demote("deadlock");
  if (clobber && !truth.rules.contains("race")) truth.also.insert("race");
  if (explorer.clobberOfUnwritten) truth.also.insert("page-clobber");
  return truth;
}

std::set<std::string> codesOf(const Report& report) {
  std::set<std::string> result;
  for (const Finding& f : report.findings) result.insert(std::string(code(f.rule)));
  return result;
}

std::string disagreement(const Report& report, const Truth& truth) {
  std::string result;
  const std::set<std::string> ours = codesOf(report);
  for (const std::string& rule : truth.rules) result += ours.contains(rule) ? "" : " lacks " + rule;
  for (const std::string& rule : ours)
    result += truth.rules.contains(rule) || truth.also.contains(rule) ? "" : " has a false alarm: " + rule;
  const Safety expected = truth.rules.empty() ? Safety::safe : Safety::unsafe;
  if (report.verdict != expected) result += " says " + std::string(text(report.verdict));
  return result;
}

}  // namespace nuscope::schedule::testing
