#include "core/schedule/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

namespace nuscope::schedule {
namespace {

constexpr double gapAfterFreeze = 0.1;
constexpr double headOfFrozenQueue = 4.2;  ///< wide enough to say what it waits for

/// Tasks in no queue, packed into as few rows as their bars allow.
void addLoose(Chart& chart, std::vector<Bar> bars) {
  std::ranges::sort(bars, {}, [](const Bar& b) { return std::make_pair(b.begin, b.item); });
  std::vector<std::size_t> rows;
  std::size_t from = 0;  // rows before it are taken at the current begin
  double now = -1;
  for (const Bar& bar : bars) {
    if (bar.begin != now) {
      from = 0;
      now = bar.begin;
    }
    while (from < rows.size() && chart.rows[rows[from]].bars.back().end > bar.begin) ++from;
    if (from == rows.size()) {
      rows.push_back(chart.rows.size());
      chart.rows.push_back({rows.size() == 1 ? "no queue" : "", -1, {}});
    }
    chart.rows[rows[from]].bars.push_back(bar);
  }
}

struct Slot {
  double begin, end;
};

template <class Place>
Chart chartOf(const Rounds& run, double frozen, Place place) {
  const Model& model = run.model();
  Chart chart;
  chart.end = frozen;
  std::vector<std::size_t> bySm(model.queues.size());
  std::iota(bySm.begin(), bySm.end(), 0);
  std::vector<char> concerned(model.queues.size(), 0);
  for (const std::int32_t t : run.faults()) {
    const std::int32_t queue = model.queueOf[static_cast<std::size_t>(t)];
    if (queue >= 0) concerned[static_cast<std::size_t>(queue)] = 1;
  }
  std::ranges::sort(bySm, {},
                    [&](std::size_t q) { return std::make_pair(concerned[q] == 0, model.queueSm[q]); });
  bool waits = false;
  for (const std::size_t q : bySm) {
    ChartRow row{fmt::format("SM {}", model.queueSm[q]), static_cast<std::int32_t>(q), {}};
    double next = frozen + gapAfterFreeze;
    for (const std::int32_t t : model.queues[q]) {
      std::optional<Slot> slot = place(t);
      if (!slot) {
        const bool head = row.bars.empty() || row.bars.back().end <= frozen;
        slot = Slot{next, next + (head ? headOfFrozenQueue : 1)};
        next = slot->end;
        waits = true;
      }
      row.bars.push_back({slot->begin, slot->end, t});
      chart.end = std::max(chart.end, slot->end);
    }
    std::ranges::stable_sort(row.bars, {}, &Bar::begin);
    chart.rows.push_back(std::move(row));
  }
  std::vector<Bar> loose;
  for (std::int32_t t = 0; t < model.tasks; ++t) {
    if (model.queueOf[static_cast<std::size_t>(t)] >= 0) continue;
    const std::optional<Slot> slot = place(t);
    waits = waits || !slot;
    loose.push_back(
        {slot ? slot->begin : frozen + gapAfterFreeze, slot ? slot->end : frozen + gapAfterFreeze + 1, t});
    chart.end = std::max(chart.end, loose.back().end);
  }
  addLoose(chart, std::move(loose));
  chart.frozen = waits ? frozen : -1;
  return chart;
}

/// Per buffer from its first access to the end of its last.
std::vector<std::optional<Slot>> lifetimes(const Schedule& schedule, const Footprints& touched,
                                           const Rounds& run) {
  std::vector<std::optional<Slot>> life(schedule.buffers.size());
  for (const Touch& touch : touched.touches) {
    const std::int32_t round = run.roundOf(touch.task);
    if (round < 0) continue;
    auto& slot = life[static_cast<std::size_t>(touch.buffer)];
    const double begin = round;
    slot = slot ? Slot{std::min(slot->begin, begin), std::max(slot->end, begin + 1)} : Slot{begin, begin + 1};
  }
  return life;
}

}  // namespace

Chart queueChart(const Rounds& run) {
  return chartOf(run, run.rounds(), [&](std::int32_t t) -> std::optional<Slot> {
    const std::int32_t round = run.roundOf(t);
    if (round < 0) return std::nullopt;
    return Slot{static_cast<double>(round), static_cast<double>(round + 1)};
  });
}

Chart queueChart(const Rounds& run, const Times& times) {
  double last = 0;
  for (const double end : times.end) last = std::max(last, end);
  Chart chart = chartOf(run, last, [&](std::int32_t t) -> std::optional<Slot> {
    const auto i = static_cast<std::size_t>(t);
    if (times.start[i] < 0) return std::nullopt;
    return Slot{times.start[i], times.end[i]};
  });
  chart.modelled = true;
  return chart;
}

Chart bufferChart(const Schedule& schedule, const Footprints& touched, const Rounds& run) {
  Chart chart;
  chart.end = run.rounds();
  const auto life = lifetimes(schedule, touched, run);
  for (std::size_t b = 0; b < life.size(); ++b) {
    if (!life[b]) continue;
    const Buffer& buffer = schedule.buffers[b];
    const auto item = static_cast<std::int32_t>(b);
    chart.rows.push_back({buffer.name.empty() ? fmt::format("buffer {}", buffer.id) : buffer.name,
                          item,
                          {{life[b]->begin, life[b]->end, item}}});
  }
  std::ranges::stable_sort(chart.rows, {}, [](const ChartRow& r) { return r.bars.front().begin; });
  return chart;
}

Chart pageChart(const Schedule& schedule, const Ids& ids, const Footprints& touched, const Rounds& run) {
  Chart chart;
  chart.end = run.rounds();
  if (!schedule.pages) return chart;
  const auto life = lifetimes(schedule, touched, run);
  for (std::size_t p = 0; p < schedule.pages->pages.size(); ++p) {
    const Page& page = schedule.pages->pages[p];
    ChartRow row{fmt::format("page {}", page.id), static_cast<std::int32_t>(p), {}};
    for (const auto& [bufferId, pageId] : schedule.pages->ofBuffer) {
      const std::int32_t b = ids.buffer(bufferId);
      if (pageId != page.id || b < 0 || !life[static_cast<std::size_t>(b)]) continue;
      const Slot& slot = *life[static_cast<std::size_t>(b)];
      row.bars.push_back({slot.begin, slot.end, b});
    }
    std::ranges::stable_sort(row.bars, {}, &Bar::begin);
    chart.rows.push_back(std::move(row));
  }
  return chart;
}

}  // namespace nuscope::schedule
