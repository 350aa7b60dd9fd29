#include "core/schedule/conflicts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/schedule/explain.h"
#include "core/schedule/region_tree.h"
#include "core/schedule/storage.h"

namespace nuscope::schedule {
namespace {

constexpr std::size_t mostPieces = 100'000;         // intervals of one storage
constexpr std::size_t mostComparisons = 1'000'000;  // pairs that are looked at one by one, per storage
constexpr std::size_t mostBoxes = 64;               // of one read that is looked at cell by cell
constexpr std::int64_t mostCells = 4'000'000;       // of one read that is looked at cell by cell
constexpr std::int64_t closureWork = 100'000'000;   // tasks visited by closures of close looks, and of runs

using Indices = std::vector<std::int32_t>;

/// Touches per storage, in the order in which their tasks fire; reads before writes of a task.
std::vector<Indices> touchesByStorage(const std::vector<Touch>& all, const Indices& storage,
                                      const Indices& rank) {
  std::vector<Indices> result(storage.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    result[static_cast<std::size_t>(storage[static_cast<std::size_t>(all[i].buffer)])].push_back(
        static_cast<std::int32_t>(i));
  for (Indices& touches : result) {
    std::ranges::stable_sort(touches, {}, [&](std::int32_t i) {
      const Touch& t = all[static_cast<std::size_t>(i)];
      return std::make_pair(rank[static_cast<std::size_t>(t.task)], t.write);
    });
  }
  return result;
}

Strided wholeOf(const Buffer& buffer) {
  return {0, buffer.elements(), 0, 1};
}

/// One storage as a grid: boxes of its touches, of its outputs and of what its caches held before.
struct StorageGrid {
  StorageGrid(const Schedule& schedule, const Indices& buffers, const std::vector<Touch>& all,
              const Indices& touches, const Transience* transience) {
    std::vector<Strided> regions;
    regions.reserve(touches.size());
    for (const std::int32_t i : touches) regions.push_back(all[static_cast<std::size_t>(i)].region);
    std::set<std::vector<std::int64_t>> cacheShapes;
    for (const std::int32_t b : buffers) {
      const Buffer& buffer = schedule.buffers[static_cast<std::size_t>(b)];
      if (buffer.kind == BufferKind::output) {
        outputs.emplace_back(b, regions.size());
        regions.push_back(wholeOf(buffer));
      }
      if (transience == nullptr || !transience->any(b)) continue;
      cacheShapes.insert(buffer.kind == BufferKind::kvCache ? buffer.shape : std::vector<std::int64_t>{});
      if (buffer.kind != BufferKind::kvCache) continue;
      if (const Strided initial = transience->initial(b); initial.length > 0) {
        initials.push_back(regions.size());
        regions.push_back(initial);
      }
    }
    // Caches of different shapes in one storage, or a cache and something that holds nothing before the pass,
    // disagree about which elements are old: none is taken as written.
    if (cacheShapes.size() > 1) initials.clear();
    grid = Grid::of(regions, mostPieces);
  }
  std::optional<Grid> grid;
  std::vector<std::pair<std::int32_t, std::size_t>> outputs;  ///< (buffer, region)
  std::vector<std::size_t> initials;                          ///< regions
};

std::string tooManyPieces(const Schedule& schedule, std::int32_t storage) {
  const Buffer& buffer = schedule.buffers[static_cast<std::size_t>(storage)];
  return fmt::format(
      "conflicts on buffer {} ({}) and its aliases: the regions cross each other in too many pieces to "
      "compare",
      buffer.id, buffer.name);
}

class Finder {
 public:
  Finder(const Schedule& schedule, const Ids& ids, const Model& model, const Footprints& footprints,
         const Indices& order, const Clocks& clocks, const ConflictOptions& options, const Progress& progress)
      : schedule_(schedule),
        ids_(ids),
        model_(model),
        footprints_(footprints),
        all_(footprints.touches),
        clocks_(clocks),
        options_(options),
        progress_(progress),
        storage_(storageOf(schedule)),
        transience_(schedule, ids, storage_),
        rank_(static_cast<std::size_t>(model.tasks)),
        buffersOf_(schedule.buffers.size()) {
    for (std::size_t i = 0; i < order.size(); ++i)
      rank_[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
    for (std::size_t b = 0; b < storage_.size(); ++b)
      buffersOf_[static_cast<std::size_t>(storage_[b])].push_back(static_cast<std::int32_t>(b));
    byStorage_ = touchesByStorage(all_, storage_, rank_);
    for (const auto& needs : model.needs) {
      partial_ =
          partial_ || std::ranges::any_of(needs, [&](const Model::Need& need) {
            return need.threshold !=
                   static_cast<std::int64_t>(model.producers[static_cast<std::size_t>(need.counter)].size());
          });
    }
  }

  Conflicts run() {
    for (std::size_t s = 0; s < byStorage_.size(); ++s) {
      if (s % 64 == 0) {
        progress_.check();
        progress_.report(static_cast<double>(s) / static_cast<double>(byStorage_.size()),
                         "comparing accesses");
      }
      if (options_.only != nullptr && (*options_.only)[s] == 0) continue;
      if (!matters(byStorage_[s], buffersOf_[s])) continue;
      try {
        oneStorage(static_cast<std::int32_t>(s));
      } catch (const RegionTreeFull&) {
        result_.undecided.push_back(tooManyPieces(schedule_, static_cast<std::int32_t>(s)));
      }
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

  /// Nothing can go wrong where nothing is written and nothing needs to be.
  bool matters(const Indices& touches, const Indices& buffers) const {
    return std::ranges::any_of(
               touches, [&](std::int32_t i) { return touch(i).write || transience_.any(touch(i).buffer); }) ||
           std::ranges::any_of(buffers, [&](std::int32_t b) { return buffer(b).kind == BufferKind::output; });
  }

  bool add(Finding finding) {
    const auto key = std::make_pair(finding.rule, finding.buffer);
    auto& ofRule = listedOfRule_[finding.rule];
    if (listed_[key]++ >= static_cast<std::int64_t>(options_.listedPerBuffer) ||
        ofRule >= options_.listedPerRule) {
      ++result_.unlisted[key];
      return false;
    }
    finding.message = describe(schedule_, finding);
    // The first always gets its run; more while they cost little.
    const bool cheap = runs_[finding.rule] == 0 || (runWork_ += 3 * model_.tasks) < closureWork / 4;
    if (finding.task >= 0 && ofRule++ < options_.runsPerRule && cheap &&
        runs_[finding.rule]++ < options_.runsPerRule)
      finding.firing = firingOf(model_, footprints_, storage_, finding);
    result_.findings.push_back(std::move(finding));
    return true;
  }

  void oneStorage(std::int32_t storage) {
    const Indices& touches = byStorage_[static_cast<std::size_t>(storage)];
    const StorageGrid made(schedule_, buffersOf_[static_cast<std::size_t>(storage)], all_, touches,
                           &transience_);
    if (!made.grid) {
      result_.undecided.push_back(tooManyPieces(schedule_, storage));
      return;
    }
    const Grid& grid = *made.grid;
    ClockArena arena = clocks_.arena();
    RegionTree tree(grid, &clocks_, &arena);
    for (const std::size_t region : made.initials) tree.fill(grid.boxes(region));
    std::set<std::pair<std::int32_t, std::int32_t>> early;  // (task, buffer) already reported
    std::vector<std::size_t> unordered;                     // positions in `touches`
    for (std::size_t i = 0; i < touches.size();) {
      std::size_t end = i;  // of the accesses of one task
      while (end < touches.size() && touch(touches[end]).task == touch(touches[i]).task) ++end;
      for (std::size_t k = i; k < end; ++k) {
        const Touch& t = touch(touches[k]);
        if (!tree.ordered(t.task, t.write, grid.boxes(k))) unordered.push_back(k);
        if (t.write || !transience_.any(t.buffer)) continue;
        if (const auto cell = tree.gap(grid.boxes(k))) gap(grid, made, *cell, k, touches, early);
      }
      for (std::size_t k = i; k < end; ++k)
        tree.add(touch(touches[k]).task, touch(touches[k]).write, grid.boxes(k));
      i = end;
    }
    closeLook(grid, touches, unordered, early);
    for (const auto& [b, region] : made.outputs) {
      if (const auto cell = tree.gap(grid.boxes(region)))
        incomplete(b, grid.element(cell->first, cell->second));
    }
  }

  /// A read of a cell that nothing has written in the firing order. Mostly that is the finding; with old
  /// cache rows that the tree does not know, every cell has to be looked at.
  void gap(const Grid& grid, const StorageGrid& made, std::pair<std::int64_t, std::int64_t> cell,
           std::size_t k, const Indices& touches, std::set<std::pair<std::int32_t, std::int32_t>>& early) {
    const Touch& read = touch(touches[k]);
    const std::int64_t element = grid.element(cell.first, cell.second);
    if (transience_.isTransient(read.buffer, element)) {
      if (early.insert({read.task, read.buffer}).second) earlyRead(read, element);
    } else if (made.initials.empty()) {
      cellByCell(grid, k, touches, early);
    }
  }

  void earlyRead(const Touch& read, std::int64_t element) {
    Finding finding;
    finding.rule = Rule::uninitialisedRead;
    finding.task = read.task;
    finding.buffer = read.buffer;
    finding.element = element;
    add(std::move(finding));
  }

  /// The accesses that are not ordered with an earlier one: with which, and does that let a read come too
  /// early?
  void closeLook(const Grid& grid, const Indices& touches, const std::vector<std::size_t>& unordered,
                 std::set<std::pair<std::int32_t, std::int32_t>>& early) {
    std::set<std::pair<std::int32_t, std::int32_t>> pairs;  // (task, task) already reported
    std::size_t comparisons = 0;
    for (const std::size_t k : unordered) {
      progress_.check();
      const Touch& late = touch(touches[k]);
      if (comparisons > mostComparisons) {
        ++result_.unlisted[{Rule::race, late.buffer}];
        continue;
      }
      comparisons += k;
      for (std::size_t i = 0; i < k; ++i) {
        const Touch& first = touch(touches[i]);
        if (first.task == late.task || (!first.write && !late.write)) continue;
        const auto cell = common(grid.boxes(i), grid.boxes(k));
        if (!cell || before(first.task, late.task)) continue;
        if (!pairs.insert(std::minmax(first.task, late.task)).second) continue;
        race(Rule::race, first, late, grid.element(cell->first, cell->second));
      }
      if (!late.write && transience_.any(late.buffer)) cellByCell(grid, k, touches, early);
    }
  }
  static std::optional<std::pair<std::int64_t, std::int64_t>> common(std::span<const Box> a,
                                                                     std::span<const Box> b) {
    if (a.size() > 1 && b.size() > 1) {  // intervals of one row, ascending
      for (std::size_t i = 0, k = 0; i < a.size() && k < b.size();) {
        if (const Box both = a[i].meet(b[k]); !both.empty()) return std::pair(both.rowFrom, both.from);
        ++(a[i].to <= b[k].to ? i : k);
      }
      return std::nullopt;
    }
    for (const Box& x : a) {
      for (const Box& y : b) {
        if (const Box both = x.meet(y); !both.empty()) return std::pair(both.rowFrom, both.from);
      }
    }
    return std::nullopt;
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
    add(std::move(finding));
  }

  /// Exact: may the read start while all writers of one of its cells are held back?
  void cellByCell(const Grid& grid, std::size_t k, const Indices& touches,
                  std::set<std::pair<std::int32_t, std::int32_t>>& early) {
    const Touch& read = touch(touches[k]);
    if (early.contains({read.task, read.buffer})) return;
    if (grid.boxes(k).size() > mostBoxes) {
      result_.undecided.push_back(
          fmt::format("whether {} reads buffer {} too early: it reads more than {} pieces of it",
                      nameOf(schedule_, read.task), buffer(read.buffer).id, mostBoxes));
      return;
    }
    std::vector<std::size_t> writers;
    for (std::size_t i = 0; i < touches.size(); ++i) {
      if (touch(touches[i]).write && common(grid.boxes(i), grid.boxes(k))) writers.push_back(i);
    }
    std::map<Indices, bool> known;
    for (const Box& box : grid.boxes(k)) {
      const std::int64_t width = box.to - box.from;
      const std::int64_t cells = (box.rowTo - box.rowFrom) * width;
      if (cells > mostCells) {
        result_.undecided.push_back(fmt::format("whether {} reads buffer {} too early: more than {} cells",
                                                nameOf(schedule_, read.task), buffer(read.buffer).id,
                                                mostCells));
        continue;
      }
      std::vector<char> certain(static_cast<std::size_t>(cells), 0);
      for (const std::size_t w : writers) {
        if (!before(touch(touches[w]).task, read.task)) continue;
        for (const Box& written : grid.boxes(w)) {
          const Box both = box.meet(written);
          for (std::int64_t row = both.rowFrom; row < both.rowTo; ++row) {
            for (std::int64_t column = both.from; column < both.to; ++column)
              certain[static_cast<std::size_t>((row - box.rowFrom) * width + column - box.from)] = 1;
          }
        }
      }
      for (std::int64_t c = 0; c < cells; ++c) {
        if (certain[static_cast<std::size_t>(c)] != 0) continue;
        const std::int64_t row = box.rowFrom + c / width;
        const std::int64_t column = box.from + c % width;
        const std::int64_t element = grid.element(row, column);
        if (!transience_.isTransient(read.buffer, element)) continue;
        Indices held;
        for (const std::size_t w : writers) {
          const Box cell{row, row + 1, column, column + 1};
          if (common(grid.boxes(w), std::span(&cell, 1))) held.push_back(touch(touches[w]).task);
        }
        const auto [at, isNew] = known.try_emplace(held, false);
        if (isNew) {
          // No held task happens before the read. That is all with one of them, or where every wait is for
          // all producers; else several together may hold it back.
          const bool several =
              partial_ && std::ranges::any_of(held, [&](std::int32_t w) { return w != held[0]; });
          if (several && (closureWork_ += model_.tasks) > closureWork)
            return;  // the race is reported all the same
          at->second = !several || closure(model_, held).started[static_cast<std::size_t>(read.task)] != 0;
        }
        if (!at->second) continue;
        early.insert({read.task, read.buffer});
        earlyRead(read, element);
        return;
      }
    }
  }

  void incomplete(std::int32_t b, std::int64_t element) {
    Finding finding;
    finding.rule = Rule::outputIncomplete;
    finding.buffer = b;
    finding.element = element;
    add(std::move(finding));
  }

  void pages(const Pages& pages) {
    std::map<std::int64_t, Indices> tenants;
    for (const auto& [id, page] : pages.ofBuffer) tenants[page].push_back(ids_.buffer(id));
    for (const auto& [page, buffers] : tenants) {
      Indices touches;
      std::set<std::int32_t> storages;
      for (const std::int32_t b : buffers) {
        for (const std::int32_t i :
             byStorage_[static_cast<std::size_t>(storage_[static_cast<std::size_t>(b)])]) {
          if (touch(i).buffer == b) touches.push_back(i);
        }
        storages.insert(storage_[static_cast<std::size_t>(b)]);
      }
      progress_.check();
      if (storages.size() < 2) continue;
      std::ranges::stable_sort(touches, {}, [&](std::int32_t i) {
        return std::make_pair(rank_[static_cast<std::size_t>(touch(i).task)], touch(i).write);
      });
      const bool turns = handedOver(touches);
      if (!turns) pageRaces(touches);
      for (const std::int32_t storage : storages) {
        try {
          staleReads(storage, touches, turns);
        } catch (const RegionTreeFull&) {  // said already, of the storage itself
        }
      }
    }
  }
  [[nodiscard]] bool sameTenant(const Touch& a, const Touch& b) const {
    return storage_[static_cast<std::size_t>(a.buffer)] == storage_[static_cast<std::size_t>(b.buffer)];
  }
  /// The tenants take turns, and every access of a turn comes after every access of the turn before: no page
  /// race.
  [[nodiscard]] bool handedOver(const Indices& touches) const {
    std::size_t turn = 0;      // where the present turn begins
    std::size_t previous = 0;  // where the one before begins; it ends at `turn`
    for (std::size_t i = 0; i < touches.size(); ++i) {
      if (i > turn && !sameTenant(touch(touches[i]), touch(touches[turn]))) {
        previous = turn;
        turn = i;
      }
      for (std::size_t k = previous; k < turn; ++k) {
        const Touch& a = touch(touches[k]);
        const Touch& b = touch(touches[i]);
        if (a.task != b.task && !before(a.task, b.task)) return false;
      }
    }
    return true;
  }
  void pageRaces(const Indices& touches) {
    std::set<std::pair<std::int32_t, std::int32_t>> pairs;
    for (std::size_t i = 0; i < touches.size(); ++i) {
      if (i % 64 == 0) progress_.check();
      for (std::size_t j = i + 1; j < touches.size(); ++j) {
        const Touch& a = touch(touches[i]);
        const Touch& b = touch(touches[j]);
        if (a.task == b.task || (!a.write && !b.write) || sameTenant(a, b) || clocks_.ordered(a.task, b.task))
          continue;
        if (pairs.insert(std::minmax(a.task, b.task)).second) race(Rule::pageClobber, a, b, 0);
      }
    }
  }
  /// Writes of other tenants after which the read may find the page clobbered, the latest first. Where the
  /// tenants take turns, those of the last turn with a write: all before them are overwritten too.
  Indices clobbers(const Touch& read, const Indices& onPage, bool turns) const {
    const auto rankOf = [&](std::int32_t i) { return rank_[static_cast<std::size_t>(touch(i).task)]; };
    auto at = std::ranges::upper_bound(onPage, rank_[static_cast<std::size_t>(read.task)], {}, rankOf);
    Indices result;
    while (at != onPage.begin()) {
      const Touch& other = touch(*--at);
      if (turns && !result.empty() && !sameTenant(other, touch(result.front()))) break;
      if (other.write && !sameTenant(other, read) && other.task != read.task && before(other.task, read.task))
        result.push_back(*at);
    }
    return result;
  }
  /// Reads of a tenant that may find what another one wrote: after it has, no own write of the element is
  /// certain.
  void staleReads(std::int32_t storage, const Indices& onPage, bool turns) {
    const Indices& own = byStorage_[static_cast<std::size_t>(storage)];
    const StorageGrid made(schedule_, buffersOf_[static_cast<std::size_t>(storage)], all_, own, nullptr);
    if (!made.grid) return;  // said already
    std::set<std::pair<std::int32_t, std::int32_t>> reported;
    for (std::size_t k = 0; k < own.size(); ++k) {
      const Touch& read = touch(own[k]);
      if (read.write || reported.contains({read.task, read.buffer})) continue;
      for (const std::int32_t other : clobbers(read, onPage, turns)) {
        const auto element = staleElement(*made.grid, own, k, touch(other).task);
        if (!element) continue;
        reported.insert({read.task, read.buffer});
        Finding finding;
        finding.rule = Rule::pageClobber;
        finding.task = read.task;
        finding.other = touch(other).task;
        finding.buffer = read.buffer;
        finding.otherBuffer = touch(other).buffer;
        finding.element = *element;
        add(std::move(finding));
        break;
      }
    }
  }
  /// An element of read k that may not have been written again since `clobber`.
  std::optional<std::int64_t> staleElement(const Grid& grid, const Indices& own, std::size_t k,
                                           std::int32_t clobber) {
    const Touch& read = touch(own[k]);
    RegionTree certain(grid, nullptr, nullptr);
    std::vector<std::size_t> since;  // own writes after the clobber
    for (std::size_t w = 0; w < own.size(); ++w) {
      const std::int32_t writer = touch(own[w]).task;
      if (!touch(own[w]).write || writer == read.task || (writer != clobber && !before(clobber, writer)))
        continue;
      since.push_back(w);
      if (before(writer, read.task)) certain.fill(grid.boxes(w));
    }
    while (const auto cell = certain.gap(grid.boxes(k))) {
      // Not certain by one writer; perhaps by one of several.
      const Box box{cell->first, cell->first + 1, cell->second, cell->second + 1};
      Indices held;
      for (const std::size_t w : since) {
        if (common(grid.boxes(w), std::span(&box, 1))) held.push_back(touch(own[w]).task);
      }
      if (closure(model_, held).started[static_cast<std::size_t>(read.task)] != 0)
        return grid.element(cell->first, cell->second);
      certain.fill(std::span(&box, 1));
    }
    return std::nullopt;
  }

  const Schedule& schedule_;
  const Ids& ids_;
  const Model& model_;
  const Footprints& footprints_;
  const std::vector<Touch>& all_;
  const Clocks& clocks_;
  const ConflictOptions& options_;
  const Progress& progress_;
  Indices storage_;
  Transience transience_;
  Indices rank_;                    ///< position of a task in the firing order
  std::vector<Indices> buffersOf_;  ///< per storage
  std::vector<Indices> byStorage_;  ///< touches per storage, in firing order
  std::map<std::pair<Rule, std::int32_t>, std::int64_t> listed_;
  std::map<Rule, std::size_t> runs_, listedOfRule_;
  std::int64_t runWork_ = 0, closureWork_ = 0;
  bool partial_ = false;  ///< some wait is for fewer than all producers
  Conflicts result_;
};

}  // namespace

Conflicts conflicts(const Schedule& schedule, const Ids& ids, const Model& model,
                    const Footprints& footprints, const std::vector<std::int32_t>& order,
                    const Clocks& clocks, const ConflictOptions& options, const Progress& progress) {
  return Finder(schedule, ids, model, footprints, order, clocks, options, progress).run();
}

std::vector<Finding> incompleteOutputs(const Schedule& schedule, const Footprints& footprints) {
  const Indices storage = storageOf(schedule);
  std::vector<Indices> buffers(storage.size());
  for (std::size_t b = 0; b < storage.size(); ++b)
    buffers[static_cast<std::size_t>(storage[b])].push_back(static_cast<std::int32_t>(b));
  const auto touches = touchesByStorage(footprints.touches, storage, Indices(schedule.tasks.size(), 0));
  std::vector<Finding> result;
  for (std::size_t s = 0; s < buffers.size(); ++s) {
    const bool output = std::ranges::any_of(buffers[s], [&](std::int32_t b) {
      return schedule.buffers[static_cast<std::size_t>(b)].kind == BufferKind::output;
    });
    if (!output) continue;
    const StorageGrid made(schedule, buffers[s], footprints.touches, touches[s], nullptr);
    if (!made.grid) continue;
    RegionTree written(*made.grid, nullptr, nullptr);
    try {
      for (std::size_t k = 0; k < touches[s].size(); ++k) {
        if (footprints.touches[static_cast<std::size_t>(touches[s][k])].write)
          written.fill(made.grid->boxes(k));
      }
    } catch (const RegionTreeFull&) {
      continue;  // the deadlock is said; what it leaves unwritten is not
    }
    for (const auto& [b, region] : made.outputs) {
      const auto cell = written.gap(made.grid->boxes(region));
      if (!cell) continue;
      Finding& finding = result.emplace_back();
      finding.rule = Rule::outputIncomplete;
      finding.buffer = b;
      finding.element = made.grid->element(cell->first, cell->second);
      finding.message = describe(schedule, finding);
    }
  }
  return result;
}

}  // namespace nuscope::schedule
