#include "core/schedule/amk_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "core/schedule/explain.h"
#include "core/schedule/structure.h"

namespace nuscope::schedule {
namespace {

using Kind = AmkReason::Kind;
constexpr std::size_t mostReasons = 100;
constexpr std::size_t mostTasks = 8000;  // above, its race checks are skipped

/// Its validator step by step. Tasks are told by id, as there.
class Validator {
 public:
  explicit Validator(const Schedule& s) : s_(s), ids_(s) {}

  AmkVerdict run(const std::vector<Fault>& faults) {
    for (const Fault& f : faults) {
      if (!f.amkAccepts) refuse(Kind::record, f.message);
      if (f.code == code(Rule::unknownOp)) result_.raises = "KeyError";
    }
    const auto n = static_cast<std::int64_t>(s_.tasks.size());
    const bool sparse = std::ranges::any_of(s_.tasks, [&](const Task& t) { return t.id >= n || t.id < -n; });
    if (sparse && result_.raises.empty()) result_.raises = "IndexError";
    if (!result_.raises.empty()) return std::move(result_);
    edges();
    for (const Task& t : s_.tasks) waits(t);
    result_.skipsRaces = s_.tasks.size() > mostTasks;
    if (!acyclic()) {
      refuse(Kind::cycle, "the counter edges form a cycle");
    } else if (!result_.skipsRaces) {
      ancestors();
      reads();
      writers();
      pages();
    }
    onChip();
    placement();
    for (const Buffer& b : s_.buffers) {
      if (b.kind == BufferKind::output && writersOf(b.id).empty())
        refuse(Kind::output, fmt::format("output {} ({}) has no writer", b.id, b.name));
    }
    result_.accepts = refused_ == 0;
    return std::move(result_);
  }

 private:
  void refuse(Kind kind, std::string text) {
    if (++refused_ <= mostReasons) result_.reasons.push_back({kind, std::move(text)});
  }
  std::size_t index(std::int64_t id) const {  // as a list is indexed there
    return static_cast<std::size_t>(id < 0 ? id + static_cast<std::int64_t>(s_.tasks.size()) : id);
  }
  static std::string nameOf(const Task& t) {
    return t.label.empty() ? fmt::format("task {}", t.id) : fmt::format("task {} ({})", t.id, t.label);
  }
  const std::vector<const Task*>& writersOf(std::int64_t buffer) const {
    static const std::vector<const Task*> none;
    const auto at = writers_.find(buffer);
    return at == writers_.end() ? none : at->second;
  }
  void edges() {
    for (const Task& t : s_.tasks) {
      for (const std::int64_t c : t.signals) producers_[c].push_back(&t);
      for (const std::int64_t b : std::set<std::int64_t>(t.outputs.begin(), t.outputs.end()))
        writers_[b].push_back(&t);
    }
    before_.resize(s_.tasks.size());
    for (const Task& t : s_.tasks) {
      for (const Wait& w : t.waits) {
        for (const Task* p : producers_[w.counter]) before_[index(t.id)].push_back(index(p->id));
      }
    }
  }
  void waits(const Task& t) {
    for (const Wait& w : t.waits) {
      if (ids_.counter(w.counter) < 0) continue;  // refused already
      const auto count = static_cast<std::int64_t>(producers_[w.counter].size());
      if (std::ranges::find(t.signals, w.counter) != t.signals.end())
        refuse(Kind::selfWait,
               fmt::format("{} waits for counter {}, which it raises itself", nameOf(t), w.counter));
      if (w.threshold > count) {
        refuse(Kind::noProducer, fmt::format("{} waits for counter {} to reach {}, and {} tasks raise it",
                                             nameOf(t), w.counter, w.threshold, count));
      } else if (count > 1 && w.threshold != count) {
        refuse(Kind::partial, fmt::format("{} waits for {} of the {} tasks that raise counter {}", nameOf(t),
                                          w.threshold, count, w.counter));
      }
    }
  }
  bool acyclic() {
    std::vector<std::vector<std::size_t>> after(before_.size());
    std::vector<std::size_t> open(before_.size());
    for (std::size_t t = 0; t < before_.size(); ++t) {
      open[t] = before_[t].size();
      for (const std::size_t p : before_[t]) after[p].push_back(t);
    }
    for (std::size_t t = 0; t < open.size(); ++t) {
      if (open[t] == 0) order_.push_back(t);
    }
    for (std::size_t i = 0; i < order_.size(); ++i) {
      for (const std::size_t t : after[order_[i]]) {
        if (--open[t] == 0) order_.push_back(t);
      }
    }
    return order_.size() == before_.size();
  }
  void ancestors() {
    const std::size_t words = (before_.size() + 63) / 64;
    ancestors_.assign(before_.size(), std::vector<std::uint64_t>(words, 0));
    for (const std::size_t t : order_) {
      for (const std::size_t p : before_[t]) {
        for (std::size_t w = 0; w < words; ++w) ancestors_[t][w] |= ancestors_[p][w];
        ancestors_[t][p / 64] |= std::uint64_t{1} << (p % 64);
      }
    }
  }
  bool ancestor(const Task& u, const Task& v) const {
    const std::size_t p = index(u.id);
    return (ancestors_[index(v.id)][p / 64] >> (p % 64) & 1U) != 0;
  }
  void reads() {
    for (const Task& t : s_.tasks) {
      for (const std::int64_t id : t.inputs) {
        const std::int32_t b = ids_.buffer(id);
        if (b < 0) continue;
        const Buffer& buffer = s_.buffers[static_cast<std::size_t>(b)];
        if (isReadOnly(buffer.kind)) continue;
        const auto& writers = writersOf(id);
        if (writers.empty() && buffer.kind != BufferKind::kvCache)
          refuse(Kind::unwritten, fmt::format("{} reads buffer {}, which nothing writes", nameOf(t), id));
        for (const Task* w : writers) {
          if (w->id == t.id || ancestor(*w, t)) continue;
          refuse(Kind::race, fmt::format("{} reads buffer {}, and its writer {} is no ancestor", nameOf(t),
                                         id, nameOf(*w)));
          break;
        }
      }
    }
  }
  struct Area {
    std::int64_t from = 0, to = INT64_MAX, rowFrom = 0, rowTo = INT64_MAX;
  };
  static Area area(const Task& t) {
    Area a;
    if (t.op != Opcode::gemvTile && t.op != Opcode::gemmTile) return a;
    a.from = t.integer("n_off").value_or(0);
    a.to = a.from + t.integer("N_tile").value_or(0);
    if (t.op == Opcode::gemmTile && t.integer("m_off") && t.integer("M_tile")) {
      a.rowFrom = *t.integer("m_off");
      a.rowTo = a.rowFrom + *t.integer("M_tile");
    }
    return a;
  }
  void writers() {
    for (const auto& [id, writers] : writers_) {
      const std::int32_t b = ids_.buffer(id);
      if (writers.size() < 2 || b < 0 || isReadOnly(s_.buffers[static_cast<std::size_t>(b)].kind)) continue;
      const bool oneCounter =
          std::ranges::all_of(writers, [&](const Task* t) { return t->signals == writers[0]->signals; });
      if (oneCounter && disjoint(writers)) continue;
      if (const auto pair = unordered(writers))
        refuse(Kind::writers, fmt::format("{} and {} write buffer {} in no order", nameOf(*pair->first),
                                          nameOf(*pair->second), id));
    }
  }
  static bool disjoint(const std::vector<const Task*>& writers) {
    for (std::size_t i = 0; i < writers.size(); ++i) {
      for (std::size_t j = i + 1; j < writers.size(); ++j) {
        const Area a = area(*writers[i]);
        const Area b = area(*writers[j]);
        if (a.from < b.to && b.from < a.to && a.rowFrom < b.rowTo && b.rowFrom < a.rowTo) return false;
      }
    }
    return true;
  }
  std::optional<std::pair<const Task*, const Task*>> unordered(
      const std::vector<const Task*>& writers) const {
    for (std::size_t i = 0; i < writers.size(); ++i) {
      for (std::size_t j = i + 1; j < writers.size(); ++j) {
        if (!ancestor(*writers[i], *writers[j]) && !ancestor(*writers[j], *writers[i]))
          return std::pair(writers[i], writers[j]);
      }
    }
    return std::nullopt;
  }
  void onChip() {
    std::map<std::int64_t, std::set<std::int64_t>> sms;
    for (const Task& t : s_.tasks) {
      for (const auto* list : {&t.inputs, &t.outputs}) {
        for (const std::int64_t b : *list) {
          if (t.sm) sms[b].insert(*t.sm);
        }
      }
    }
    for (const Buffer& b : s_.buffers) {
      if ((b.space == Space::smem || b.space == Space::reg) && sms[b.id].size() > 1)
        refuse(Kind::onChip, fmt::format("buffer {} is on chip and used on {} SMs", b.id, sms[b.id].size()));
    }
  }
  void placement() {
    std::vector<std::size_t> position(s_.tasks.size(), 0);
    std::vector<const Task*> byId(s_.tasks.size(), nullptr);
    for (std::size_t i = 0; i < s_.tasks.size(); ++i) {
      position[index(s_.tasks[i].id)] = i;
      byId[index(s_.tasks[i].id)] = &s_.tasks[i];
    }
    for (const Task& t : s_.tasks) {
      if (!t.sm) continue;
      if (s_.numSms && (*t.sm < 0 || *t.sm >= *s_.numSms))
        refuse(Kind::placement, fmt::format("{} is on SM {}", nameOf(t), *t.sm));
      for (const std::size_t p : before_[index(t.id)]) {
        if (byId[p] == nullptr || byId[p]->sm != t.sm || position[p] < position[index(t.id)]) continue;
        refuse(Kind::queueOrder, fmt::format("{} stands before {} on SM {}, and waits for it", nameOf(t),
                                             nameOf(*byId[p]), *t.sm));
        break;
      }
    }
  }
  void pages() {
    if (!s_.pages) return;
    std::map<std::int64_t, std::vector<std::int64_t>> tenants;
    for (const auto& [buffer, page] : s_.pages->ofBuffer) tenants[page].push_back(buffer);
    std::map<std::int64_t, std::vector<const Task*>> uses;
    for (const Task& t : s_.tasks) {
      std::set<std::int64_t> touched(t.inputs.begin(), t.inputs.end());
      touched.insert(t.outputs.begin(), t.outputs.end());
      for (const std::int64_t b : touched) uses[b].push_back(&t);
    }
    const auto allBefore = [&](std::int64_t first, std::int64_t second) {
      return std::ranges::all_of(uses[first], [&](const Task* u) {
        return std::ranges::all_of(writersOf(second), [&](const Task* w) { return ancestor(*u, *w); });
      });
    };
    for (const auto& [page, buffers] : tenants) {
      for (std::size_t i = 0; i < buffers.size(); ++i) {
        for (std::size_t j = i + 1; j < buffers.size(); ++j) {
          if (!allBefore(buffers[i], buffers[j]) && !allBefore(buffers[j], buffers[i]))
            refuse(Kind::pages, fmt::format("buffers {} and {} share page {} and are in use at once",
                                            buffers[i], buffers[j], page));
        }
      }
    }
  }

  const Schedule& s_;
  Ids ids_;
  std::unordered_map<std::int64_t, std::vector<const Task*>> producers_;
  std::map<std::int64_t, std::vector<const Task*>> writers_;
  std::vector<std::vector<std::size_t>> before_;
  std::vector<std::size_t> order_;
  std::vector<std::vector<std::uint64_t>> ancestors_;
  AmkVerdict result_;
  std::size_t refused_ = 0;
};

/// Why it lets a rule of ours pass.
std::string blindSpot(Rule rule, bool skipsRaces) {
  switch (rule) {
    case Rule::deadlock:
      return "it looks at queue order along direct waits of one SM only, so that a deadlock across queues "
             "passes";
    case Rule::race:
    case Rule::uninitialisedRead:
      return skipsRaces ? "above 8,000 tasks it looks for no races at all"
                        : "it sees no aliases, takes a buffer as written once any task writes part of it, "
                          "and does not look at "
                          "writes to weights, constants and inputs";
    case Rule::readOnlyWrite:
      return "it skips weights, constants and inputs, also where they are written";
    case Rule::outOfBounds:
      return "it compares no tile, position or window with the shape of its buffer";
    case Rule::outputIncomplete:
      return "an output counts as written once one tile of it is";
    case Rule::pageCapacity:
      return "it does not compare buffers with the size of their pages";
    case Rule::pageClobber:
      return skipsRaces ? "above 8,000 tasks it does not look at pages"
                        : "it asks for no order between readers of a page";
    case Rule::onChipLocality:
      return "a task without an SM counts as being on none";
    case Rule::badPlacement:
      return "without a target it accepts every SM";
    case Rule::counterInit:
      return "it does not look at where counters start";
    default:
      return fmt::format("it has no rule '{}'", code(rule));
  }
}

std::string tooStrict(Kind kind) {
  switch (kind) {
    case Kind::record:
      return "it refuses a record that the format allows";
    case Kind::selfWait:
      return "it refuses every wait for a counter that the task itself raises, also where its siblings "
             "satisfy it";
    case Kind::noProducer:
      return "it counts producers of a counter before the launch only";
    case Kind::partial:
      return "it refuses every threshold below the number of producers, also where the order makes it exact";
    case Kind::cycle:
      return "it takes every producer of a counter as waited for, which closes a cycle that no run has";
    case Kind::unwritten:
      return "it asks for a writer of every buffer that is read";
    case Kind::race:
      return "it asks that all writers of a buffer come before every reader, whole buffers at a time, and "
             "does not take the "
             "order of a queue as synchronisation";
    case Kind::writers:
      return "it takes only tiles of one counter as disjoint, and does not take the order of a queue as "
             "synchronisation";
    case Kind::onChip:
      return "it counts SMs of an on-chip buffer otherwise";
    case Kind::queueOrder:
      return "it refuses a list order in which a task stands before one that may raise its counter, though "
             "others do in time";
    case Kind::placement:
      return "it knows another number of SMs";
    case Kind::pages:
      return "it asks that all uses of one buffer of a page come before all writes of the other, once and "
             "for all";
    case Kind::output:
      return "it asks for a writer of every output";
  }
  return {};
}

}  // namespace

AmkVerdict amkVerdict(const ReadResult& read) {
  const Schedule* s = read.schedule ? &*read.schedule : read.lenient ? &*read.lenient : nullptr;
  if (s == nullptr) {
    AmkVerdict verdict;
    for (const Fault& f : read.faults) verdict.reasons.push_back({Kind::record, f.message});
    return verdict;
  }
  std::vector<Fault> faults = read.faults;
  for (Fault& f : malformations(*s, Ids(*s))) faults.push_back(std::move(f));
  return Validator(*s).run(faults);
}

std::vector<std::string> whyDifferent(const ReadResult& read, const AmkVerdict& theirs, const Report& ours) {
  const bool loaded = read.schedule && read.faults.empty();
  const bool safe = loaded && ours.verdict == Safety::safe;
  if (theirs.accepts == safe) return {};
  std::vector<std::string> result;
  const auto add = [&](std::string why) {
    if (std::ranges::find(result, why) == result.end()) result.push_back(std::move(why));
  };
  if (safe) {
    if (!theirs.raises.empty())
      add(fmt::format("it ends with {}: ids that are not list positions", theirs.raises));
    for (const AmkReason& reason : theirs.reasons) add(tooStrict(reason.kind));
    return result;
  }
  for (const Fault& f : read.faults) add("it does not check that " + f.message);
  for (const Fault& f : ours.faults) add("it does not check that " + f.message);
  for (const Finding& f : ours.findings) add(blindSpot(f.rule, theirs.skipsRaces));
  return result;
}

}  // namespace nuscope::schedule
