#include "core/schedule/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

namespace nuscope::schedule {
namespace {

/// Label where it names one task in both schedules, else id.
class Matcher {
 public:
  Matcher(const Schedule& a, const Schedule& b) {
    for (const Task& t : a.tasks) ++inA_[t.label];
    for (const Task& t : b.tasks) ++inB_[t.label];
  }
  [[nodiscard]] std::string key(const Task& t) const {
    const auto once = [&](const auto& counts) {
      const auto at = counts.find(t.label);
      return at != counts.end() && at->second == 1;
    };
    return !t.label.empty() && once(inA_) && once(inB_) ? t.label : fmt::format("#{}", t.id);
  }

 private:
  std::unordered_map<std::string, int> inA_, inB_;
};

std::string smText(const Task& t) {
  return t.sm ? fmt::format("SM {}", *t.sm) : "no queue";
}

std::string waitText(const Wait& w) {
  return fmt::format("counter {} \u2265 {}", w.counter, w.threshold);
}

std::string idsText(const std::vector<std::int64_t>& ids) {
  std::string out;
  for (const std::int64_t id : ids) out += (out.empty() ? "" : ", ") + std::to_string(id);
  return out.empty() ? "none" : out;
}

/// Positions (into `values`) of a longest strictly increasing subsequence.
std::vector<char> increasing(const std::vector<std::int64_t>& values) {
  std::vector<std::size_t> tails;
  std::vector<std::ptrdiff_t> parent(values.size(), -1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto at = std::ranges::lower_bound(tails, values[i], {}, [&](std::size_t t) { return values[t]; });
    parent[i] = at == tails.begin() ? -1 : static_cast<std::ptrdiff_t>(*(at - 1));
    if (at == tails.end()) {
      tails.push_back(i);
    } else {
      *at = i;
    }
  }
  std::vector<char> kept(values.size(), 0);
  for (auto i = tails.empty() ? -1 : static_cast<std::ptrdiff_t>(tails.back()); i >= 0;
       i = parent[static_cast<std::size_t>(i)])
    kept[static_cast<std::size_t>(i)] = 1;
  return kept;
}

/// Places in queues, 0-based; -1 for tasks in none.
std::vector<std::int64_t> placesOf(const Schedule& s) {
  std::map<std::int64_t, std::int64_t> next;
  std::vector<std::int64_t> places;
  for (const Task& t : s.tasks) places.push_back(t.sm ? next[*t.sm]++ : -1);
  return places;
}

class Comparer {
 public:
  Comparer(const Schedule& a, const Schedule& b) : a_(a), b_(b), matcher_(a, b) {}

  Difference run() {
    std::unordered_map<std::string, std::int32_t> inA;
    for (std::size_t t = 0; t < a_.tasks.size(); ++t)
      inA.emplace(matcher_.key(a_.tasks[t]), static_cast<std::int32_t>(t));
    std::vector<char> matched(a_.tasks.size(), 0);
    ofB_.assign(b_.tasks.size(), -1);
    for (std::size_t t = 0; t < b_.tasks.size(); ++t) {
      const auto at = inA.find(matcher_.key(b_.tasks[t]));
      if (at == inA.end() || matched[static_cast<std::size_t>(at->second)] != 0) continue;
      ofB_[t] = at->second;
      matched[static_cast<std::size_t>(at->second)] = 1;
    }
    findMoved();
    std::size_t nextA = 0;
    const auto removedUntil = [&](std::size_t end) {
      for (; nextA < end; ++nextA) {
        if (matched[nextA] == 0)
          add(Change::Kind::removed, static_cast<std::int32_t>(nextA), -1, "removed", smText(a_.tasks[nextA]),
              "");
      }
    };
    for (std::size_t t = 0; t < b_.tasks.size(); ++t) {
      const auto after = static_cast<std::int32_t>(t);
      if (ofB_[t] < 0) {
        add(Change::Kind::added, -1, after, "added", "", smText(b_.tasks[t]));
        continue;
      }
      removedUntil(std::max(nextA, static_cast<std::size_t>(ofB_[t])));
      const std::size_t before = result_.changes.size();
      pair(ofB_[t], after);
      result_.same += result_.changes.size() == before ? 1 : 0;
    }
    removedUntil(a_.tasks.size());
    result_.recordsDiffer = recordsDiffer();
    return std::move(result_);
  }

 private:
  void add(Change::Kind kind, std::int32_t before, std::int32_t after, std::string what, std::string was,
           std::string is) {
    result_.changes.push_back({kind, before, after, std::move(what), std::move(was), std::move(is)});
  }
  /// Per queue, the tasks that both have there: those outside a longest common order have moved.
  void findMoved() {
    moved_.assign(b_.tasks.size(), 0);
    std::map<std::int64_t, std::vector<std::size_t>> queues;
    for (std::size_t t = 0; t < b_.tasks.size(); ++t) {
      if (ofB_[t] >= 0 && b_.tasks[t].sm && a_.tasks[static_cast<std::size_t>(ofB_[t])].sm == b_.tasks[t].sm)
        queues[*b_.tasks[t].sm].push_back(t);
    }
    for (const auto& [sm, tasks] : queues) {
      std::vector<std::int64_t> order;
      for (const std::size_t t : tasks) order.push_back(ofB_[t]);
      const std::vector<char> kept = increasing(order);
      for (std::size_t i = 0; i < tasks.size(); ++i) moved_[tasks[i]] = kept[i] == 0;
    }
  }
  void pair(std::int32_t before, std::int32_t after) {
    const Task& a = a_.tasks[static_cast<std::size_t>(before)];
    const Task& b = b_.tasks[static_cast<std::size_t>(after)];
    const auto changed = [&](std::string what, std::string was, std::string is) {
      add(Change::Kind::changed, before, after, std::move(what), std::move(was), std::move(is));
    };
    if (a.sm != b.sm) {
      add(Change::Kind::moved, before, after, "other SM", smText(a), smText(b));
    } else if (moved_[static_cast<std::size_t>(after)] != 0) {
      add(Change::Kind::moved, before, after, fmt::format("place in {}'s queue", smText(b)),
          std::to_string(placesA_[static_cast<std::size_t>(before)] + 1),
          std::to_string(placesB_[static_cast<std::size_t>(after)] + 1));
    }
    if (a.op != b.op || a.customOp != b.customOp)
      changed("operation", a.customOp.empty() ? std::string(text(a.op)) : a.customOp,
              b.customOp.empty() ? std::string(text(b.op)) : b.customOp);
    waits(a, b, changed);
    if (a.signals != b.signals) changed("raises", idsText(a.signals), idsText(b.signals));
    if (a.inputs != b.inputs) changed("inputs", idsText(a.inputs), idsText(b.inputs));
    if (a.outputs != b.outputs) changed("outputs", idsText(a.outputs), idsText(b.outputs));
    for (const auto& [key, value] : a.params) {
      const std::string* other = b.param(key);
      if (other == nullptr || *other != value) changed(key, value, other == nullptr ? "absent" : *other);
    }
    for (const auto& [key, value] : b.params) {
      if (a.param(key) == nullptr) changed(key, "absent", value);
    }
  }
  template <class Changed>
  static void waits(const Task& a, const Task& b, const Changed& changed) {
    const auto find = [](const Task& t, std::int64_t counter) -> const Wait* {
      const auto at = std::ranges::find(t.waits, counter, &Wait::counter);
      return at == t.waits.end() ? nullptr : &*at;
    };
    for (const Wait& w : a.waits) {
      const Wait* other = find(b, w.counter);
      if (other == nullptr || other->threshold != w.threshold)
        changed("waits for", waitText(w), other == nullptr ? "no longer" : waitText(*other));
    }
    for (const Wait& w : b.waits) {
      if (find(a, w.counter) == nullptr) changed("waits for", "nothing", waitText(w));
    }
  }
  [[nodiscard]] bool recordsDiffer() const {
    const auto buffer = [](const Buffer& x, const Buffer& y) {
      return x.id == y.id && x.name == y.name && x.kind == y.kind && x.type == y.type && x.space == y.space &&
             x.shape == y.shape && x.source == y.source && x.extras == y.extras;
    };
    const auto counter = [](const Counter& x, const Counter& y) {
      return x.id == y.id && x.init == y.init && x.note == y.note;
    };
    const auto page = [](const Page& x, const Page& y) {
      return x.id == y.id && x.space == y.space && x.bytes == y.bytes;
    };
    const bool pages = a_.pages.has_value() == b_.pages.has_value() &&
                       (!a_.pages || (a_.pages->ofBuffer == b_.pages->ofBuffer &&
                                      std::ranges::equal(a_.pages->pages, b_.pages->pages, page)));
    return !pages || !std::ranges::equal(a_.buffers, b_.buffers, buffer) ||
           !std::ranges::equal(a_.counters, b_.counters, counter) || a_.rest != b_.rest;
  }

  const Schedule& a_;
  const Schedule& b_;
  Matcher matcher_;
  std::vector<std::int64_t> placesA_ = placesOf(a_), placesB_ = placesOf(b_);
  std::vector<std::int32_t> ofB_;  ///< per task of b its match in a; -1
  std::vector<char> moved_;
  Difference result_;
};

}  // namespace

Difference differenceOf(const Schedule& first, const Schedule& second) {
  return Comparer(first, second).run();
}

}  // namespace nuscope::schedule
