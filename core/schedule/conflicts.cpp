#include "core/schedule/conflicts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/schedule/explain.h"
#include "core/schedule/storage.h"

namespace nuscope::schedule {
namespace {

constexpr std::size_t pairwiseLimit = 4000;  // accesses of one racy segment that are compared pair by pair

class Finder {
 public:
  Finder(const Schedule& schedule, const Ids& ids, const Model& model, const Footprints& footprints,
         const std::vector<std::int32_t>& order, const Clocks& clocks, const ConflictOptions& options,
         const Progress& progress)
      : schedule_(schedule),
        ids_(ids),
        model_(model),
        all_(footprints.touches),
        clocks_(clocks),
        options_(options),
        progress_(progress),
        storage_(storageOf(schedule)),
        rank_(static_cast<std::size_t>(model.tasks)) {
    for (std::size_t i = 0; i < order.size(); ++i)
      rank_[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
  }

  Conflicts run() {
    collectStorages();
    double done = 0;
    for (const auto& [storage, touches] : byStorage_) {
      progress_.check();
      progress_.report(done++ / static_cast<double>(byStorage_.size()), "comparing accesses");
      oneStorage(storage, touches);
    }
    if (schedule_.pages) pages(*schedule_.pages);
    return std::move(result_);
  }

 private:
  const Touch& touch(std::int32_t index) const { return all_[static_cast<std::size_t>(index)]; }
  const Buffer& buffer(std::int32_t index) const {
    return schedule_.buffers[static_cast<std::size_t>(index)];
  }
  bool before(std::int32_t u, std::int32_t v) const { return clocks_.happensBefore(u, v); }

  void collectStorages() {
    for (std::size_t b = 0; b < storage_.size(); ++b) byStorage_[storage_[b]];
    for (std::size_t i = 0; i < all_.size(); ++i) {
      byStorage_[storage_[static_cast<std::size_t>(all_[i].buffer)]].push_back(static_cast<std::int32_t>(i));
    }
    for (auto& [storage, touches] : byStorage_) {
      std::ranges::stable_sort(touches, {}, [&](std::int32_t i) {
        return std::make_pair(rank_[static_cast<std::size_t>(touch(i).task)], touch(i).write);
      });
    }
    for (const Task& task : schedule_.tasks) {
      if (task.op != Opcode::kvAppend) continue;
      const auto storage = storage_[static_cast<std::size_t>(ids_.buffer(task.outputs[0]))];
      const std::int64_t position = task.integer("pos").value_or(0);
      const auto [at, isNew] = firstAppended_.emplace(storage, position);
      if (!isNew) at->second = std::min(at->second, position);
    }
  }

  void add(Finding finding) {
    const auto key = std::make_pair(finding.rule, finding.buffer);
    if (listed_[key]++ >= static_cast<std::int64_t>(options_.listedPerBuffer)) {
      ++result_.unlisted[key];
      return;
    }
    finding.message = describe(schedule_, finding);
    result_.findings.push_back(std::move(finding));
  }
  [[nodiscard]] bool listed(Rule rule, std::int32_t b) const {
    const auto at = listed_.find({rule, b});
    return at == listed_.end() || at->second < static_cast<std::int64_t>(options_.listedPerBuffer);
  }

  void oneStorage(std::int32_t storage, const std::vector<std::int32_t>& touches) {
    std::int64_t elements = 0;
    for (std::size_t b = 0; b < storage_.size(); ++b) {
      if (storage_[b] == storage) elements = std::max(elements, schedule_.buffers[b].elements());
    }
    std::set<std::pair<std::int32_t, std::int32_t>> pairs;    // (task, task) already reported here
    std::set<std::pair<std::int32_t, std::int32_t>> readers;  // (task, buffer)
    std::int64_t incomplete = -1;
    for (const Segment& segment : segments(all_, touches, elements)) {
      if (!raceFree(segment)) races(segment, pairs);
      earlyReads(storage, segment, readers);
      const bool written =
          std::ranges::any_of(segment.touches, [&](std::int32_t i) { return touch(i).write; });
      if (!written && incomplete < 0) incomplete = segment.element;
    }
    if (incomplete >= 0) incompleteOutputs(storage, incomplete);
  }

  /// Neighbours in firing order are ordered, hence all pairs are.
  bool raceFree(const Segment& segment) const {
    std::int32_t lastWrite = -1;
    std::vector<std::int32_t> reads;
    for (const std::int32_t i : segment.touches) {
      const std::int32_t task = touch(i).task;
      if (lastWrite >= 0 && lastWrite != task && !before(lastWrite, task)) return false;
      if (!touch(i).write) {
        reads.push_back(task);
        continue;
      }
      for (const std::int32_t reader : reads) {
        if (reader != task && !before(reader, task)) return false;
      }
      reads.clear();
      lastWrite = task;
    }
    return true;
  }

  void races(const Segment& segment, std::set<std::pair<std::int32_t, std::int32_t>>& pairs) {
    const auto& list = segment.touches;
    const std::size_t window = list.size() <= pairwiseLimit ? list.size() : 64;
    for (std::size_t i = 0; i < list.size(); ++i) {
      for (std::size_t j = i + 1; j < std::min(list.size(), i + 1 + window); ++j) {
        const Touch& a = touch(list[i]);
        const Touch& b = touch(list[j]);
        if (a.task == b.task || (!a.write && !b.write) || clocks_.ordered(a.task, b.task)) continue;
        if (!pairs.insert(std::minmax(a.task, b.task)).second) continue;
        race(Rule::race, a, b, segment.element);
      }
    }
  }

  void race(Rule rule, const Touch& a, const Touch& b, std::int64_t element) {
    Finding finding;
    finding.unordered = true;
    finding.rule = rule;
    finding.task = a.task;
    finding.other = b.task;
    finding.buffer = a.buffer;
    finding.otherBuffer = a.buffer == b.buffer ? -1 : b.buffer;
    finding.element = element;
    if (listed(rule, a.buffer)) {
      const std::int32_t held[] = {a.task, b.task};
      finding.firing = slice(model_, closure(model_, held), held);
    }
    add(std::move(finding));
  }

  [[nodiscard]] bool isTransient(std::int32_t b, std::int32_t storage, std::int64_t element) const {
    const Buffer& it = buffer(b);
    if (it.kind == BufferKind::activation || it.kind == BufferKind::output) return true;
    if (it.kind != BufferKind::kvCache) return false;
    const auto appended = firstAppended_.find(storage);
    if (appended == firstAppended_.end()) return false;
    const std::size_t axis = it.shape.size() == 4 ? 1 : 0;
    std::int64_t row = 1;
    for (std::size_t i = axis + 1; i < it.shape.size(); ++i) row *= it.shape[i];
    const std::int64_t position = it.shape.empty() ? 0 : element / row % it.shape[axis];
    return position >= appended->second;
  }

  void earlyReads(std::int32_t storage, const Segment& segment,
                  std::set<std::pair<std::int32_t, std::int32_t>>& reported) {
    std::vector<std::int32_t> writers;
    for (const std::int32_t i : segment.touches) {
      if (touch(i).write) writers.push_back(touch(i).task);
    }
    std::optional<Closure> without;
    for (const std::int32_t i : segment.touches) {
      const Touch& read = touch(i);
      if (read.write || !isTransient(read.buffer, storage, segment.element)) continue;
      if (std::ranges::any_of(writers, [&](std::int32_t w) { return before(w, read.task); })) continue;
      if (!without) without = closure(model_, writers);
      if (without->started[static_cast<std::size_t>(read.task)] == 0) continue;
      if (!reported.insert({read.task, read.buffer}).second) continue;
      Finding finding;
      finding.rule = Rule::uninitialisedRead;
      finding.task = read.task;
      finding.buffer = read.buffer;
      finding.element = segment.element;
      if (listed(finding.rule, read.buffer)) {
        const std::int32_t target[] = {read.task};
        finding.firing = slice(model_, *without, target);
      }
      add(std::move(finding));
    }
  }

  void incompleteOutputs(std::int32_t storage, std::int64_t element) {
    for (std::size_t b = 0; b < storage_.size(); ++b) {
      if (storage_[b] != storage || schedule_.buffers[b].kind != BufferKind::output) continue;
      if (element >= schedule_.buffers[b].elements()) continue;
      Finding finding;
      finding.rule = Rule::outputIncomplete;
      finding.buffer = static_cast<std::int32_t>(b);
      finding.element = element;
      add(std::move(finding));
    }
  }

  void pages(const Pages& pages) {
    std::map<std::int64_t, std::vector<std::int32_t>> tenants;
    for (const auto& [id, page] : pages.ofBuffer) tenants[page].push_back(ids_.buffer(id));
    for (const auto& [page, buffers] : tenants) {
      std::vector<std::int32_t> touches;
      for (const std::int32_t b : buffers) {
        for (const std::int32_t i : byStorage_[storage_[static_cast<std::size_t>(b)]]) {
          if (touch(i).buffer == b) touches.push_back(i);
        }
      }
      progress_.check();
      if (!pageRaces(touches)) staleReads(buffers, touches);
    }
  }
  [[nodiscard]] bool sameTenant(const Touch& a, const Touch& b) const {
    return storage_[static_cast<std::size_t>(a.buffer)] == storage_[static_cast<std::size_t>(b.buffer)];
  }
  bool pageRaces(const std::vector<std::int32_t>& touches) {
    bool found = false;
    std::set<std::pair<std::int32_t, std::int32_t>> pairs;
    for (std::size_t i = 0; i < touches.size(); ++i) {
      for (std::size_t j = i + 1; j < touches.size(); ++j) {
        const Touch& a = touch(touches[i]);
        const Touch& b = touch(touches[j]);
        if (a.task == b.task || (!a.write && !b.write) || sameTenant(a, b) || clocks_.ordered(a.task, b.task))
          continue;
        found = true;
        if (pairs.insert(std::minmax(a.task, b.task)).second) race(Rule::pageClobber, a, b, 0);
      }
    }
    return found;
  }
  /// Reads of a tenant whose last own write is older than another tenant's write.
  void staleReads(const std::vector<std::int32_t>& buffers, const std::vector<std::int32_t>& touches) {
    std::set<std::int32_t> storages;
    for (const std::int32_t b : buffers) storages.insert(storage_[static_cast<std::size_t>(b)]);
    for (const std::int32_t storage : storages) {
      std::set<std::pair<std::int32_t, std::int32_t>> reported;
      for (const Segment& segment : segments(all_, byStorage_[storage], buffer(storage).elements())) {
        std::int32_t own = -1;  // the last write of this segment in firing order
        for (const std::int32_t i : segment.touches) {
          const Touch& read = touch(i);
          if (read.write) {
            own = read.task;
            continue;
          }
          for (const std::int32_t k : touches) {
            const Touch& other = touch(k);
            if (!other.write || sameTenant(other, read) || other.task == read.task ||
                !before(other.task, read.task))
              continue;
            if (own >= 0 && before(own, read.task) && (other.task == own || before(other.task, own)))
              continue;
            if (!reported.insert({read.task, read.buffer}).second) break;
            Finding finding;
            finding.rule = Rule::pageClobber;
            finding.task = read.task;
            finding.other = other.task;
            finding.buffer = read.buffer;
            finding.otherBuffer = other.buffer;
            finding.element = segment.element;
            const std::int32_t held[] = {read.task};
            if (listed(finding.rule, read.buffer))
              finding.firing = slice(model_, closure(model_, held), held);
            add(std::move(finding));
            break;
          }
        }
      }
    }
  }

  const Schedule& schedule_;
  const Ids& ids_;
  const Model& model_;
  const std::vector<Touch>& all_;
  const Clocks& clocks_;
  const ConflictOptions& options_;
  const Progress& progress_;
  std::vector<std::int32_t> storage_;
  std::vector<std::int32_t> rank_;  ///< position of a task in the firing order
  std::map<std::int32_t, std::vector<std::int32_t>> byStorage_;
  std::map<std::int32_t, std::int64_t>
      firstAppended_;  ///< per storage: the smallest position appended in this pass
  std::map<std::pair<Rule, std::int32_t>, std::int64_t> listed_;
  Conflicts result_;
};

}  // namespace

Conflicts conflicts(const Schedule& schedule, const Ids& ids, const Model& model,
                    const Footprints& footprints, const std::vector<std::int32_t>& order,
                    const Clocks& clocks, const ConflictOptions& options, const Progress& progress) {
  return Finder(schedule, ids, model, footprints, order, clocks, options, progress).run();
}

}  // namespace nuscope::schedule
