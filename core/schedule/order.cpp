#include "core/schedule/order.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <queue>

#include "core/schedule/check.h"
#include "core/schedule/explain.h"
#include "core/schedule/storage.h"

namespace nuscope::schedule {
namespace {

/// Links by which something that comes after `u` (or is u) is known to have completed when `x` starts.
std::vector<OrderLink> linksInto(const Analysis& a, std::int32_t u, std::int32_t x) {
  const Model& m = a.model();
  const auto t = static_cast<std::size_t>(x);
  const auto after = [&](std::int32_t p) { return p == u || a.clocks()->happensBefore(u, p); };
  std::vector<OrderLink> result;
  const auto add = [&](std::int32_t from) -> OrderLink& {
    OrderLink& link = result.emplace_back();
    link.from = from;
    link.to = x;
    return link;
  };
  if (m.before[t] >= 0 && after(m.before[t])) add(m.before[t]);
  for (const Model::Need& need : m.needs[t]) {
    const auto& producers = m.producers[static_cast<std::size_t>(need.counter)];
    std::vector<std::int32_t> among;
    std::ranges::copy_if(producers, std::back_inserter(among), after);
    const auto count = static_cast<std::int64_t>(producers.size());
    if (static_cast<std::int64_t>(among.size()) <= count - need.threshold) continue;
    for (const std::int32_t p : among) {
      OrderLink& link = add(p);
      link.counter = need.counter;
      link.threshold = need.threshold;
      link.producers = count;
      if (need.threshold < count) link.among = among;
    }
  }
  return result;
}

std::string linkText(const Schedule& s, const OrderLink& link) {
  const std::string from = nameOf(s, link.from);
  const std::string to = nameOf(s, link.to);
  if (link.counter < 0)
    return fmt::format("{} stands behind {} in the queue of SM {}", to, from,
                       s.tasks[static_cast<std::size_t>(link.to)].sm.value_or(-1));
  const std::int64_t id = s.counters[static_cast<std::size_t>(link.counter)].id;
  if (link.among.empty())
    return fmt::format("{} waits for counter {} to reach {}, which takes {}", to, id, link.threshold, from);
  return fmt::format(
      "{} waits for counter {} to reach {} of {}, and {} of the tasks that raise it are {} or come after "
      "the same task: one of them must have completed",
      to, id, link.threshold, link.producers, link.among.size(), from);
}

std::vector<OrderLink> shortestChain(const Analysis& a, std::int32_t u, std::int32_t v) {
  std::vector<OrderLink> cameBy(static_cast<std::size_t>(a.model().tasks));
  std::vector<char> seen(cameBy.size(), 0);
  std::queue<std::int32_t> open;
  open.push(v);
  seen[static_cast<std::size_t>(v)] = 1;
  while (!open.empty() && seen[static_cast<std::size_t>(u)] == 0) {
    const std::int32_t x = open.front();
    open.pop();
    for (OrderLink& link : linksInto(a, u, x)) {
      auto& mark = seen[static_cast<std::size_t>(link.from)];
      if (mark != 0) continue;
      mark = 1;
      open.push(link.from);
      cameBy[static_cast<std::size_t>(link.from)] = std::move(link);
    }
  }
  std::vector<OrderLink> chain;
  for (std::int32_t x = u; x != v;) {
    OrderLink link = std::move(cameBy[static_cast<std::size_t>(x)]);
    if (link.to < 0) return {};  // u does not come before v
    link.text = linkText(a.schedule(), link);
    x = link.to;
    chain.push_back(std::move(link));
  }
  return chain;
}

/// A run in which `done` has completed and `next` can start.
std::vector<std::int32_t> runWith(const Analysis& a, std::int32_t done, std::int32_t next) {
  const std::int32_t held[] = {next};
  const Closure run = closure(a.model(), held);
  const std::int32_t targets[] = {done, next};
  std::vector<std::int32_t> firing = slice(a.model(), run, targets);
  if (std::ranges::find(firing, done) == firing.end()) firing.push_back(done);
  return firing;
}

/// Row of what has happened when a task starts, without one of its waits: the other waits and the queue.
bool impliedByOthers(const Analysis& a, std::int32_t task, std::size_t wait,
                     const std::vector<char>& dropped) {
  const Model& m = a.model();
  const auto t = static_cast<std::size_t>(task);
  const auto& needs = m.needs[t];
  const auto& clocks = *a.clocks();
  const auto atLeast = [&](std::int32_t p, std::int32_t q) { return p == q || clocks.happensBefore(p, q); };
  // Each task that the wait makes certain must be certain by a full wait or the queue. Partial waits only
  // count as what is dropped, never as what implies: their meaning may rest on this very wait.
  const auto certain = [&](std::int32_t p) {
    if (m.before[t] >= 0 && atLeast(p, m.before[t])) return true;
    for (std::size_t w = 0; w < needs.size(); ++w) {
      if (w == wait || dropped[w] != 0) continue;
      const auto& producers = m.producers[static_cast<std::size_t>(needs[w].counter)];
      if (needs[w].counter == needs[wait].counter && needs[w].threshold >= needs[wait].threshold) return true;
      if (needs[w].threshold != static_cast<std::int64_t>(producers.size())) continue;
      if (std::ranges::any_of(producers, [&](std::int32_t q) { return atLeast(p, q); })) return true;
    }
    return false;
  };
  const auto& producers = m.producers[static_cast<std::size_t>(needs[wait].counter)];
  // t of n: it suffices that t producers are certain; for n of n all.
  std::int64_t known = 0;
  for (const std::int32_t p : producers) {
    known += certain(p) ? 1 : 0;
    if (known >= needs[wait].threshold) return true;
  }
  return false;
}

bool conflict(const Analysis& a, const std::vector<std::int32_t>& storage, std::int32_t u, std::int32_t v) {
  for (const Touch& x : a.touchesOf(u)) {
    for (const Touch& y : a.touchesOf(v)) {
      if ((x.write || y.write) &&
          storage[static_cast<std::size_t>(x.buffer)] == storage[static_cast<std::size_t>(y.buffer)] &&
          overlap(x.region, y.region))
        return true;
    }
  }
  return false;
}

}  // namespace

OrderExplanation explainOrder(const Analysis& a, std::int32_t first, std::int32_t second) {
  OrderExplanation result;
  if (a.clocks()->happensBefore(first, second)) {
    result.kind = OrderExplanation::Kind::firstBeforeSecond;
    result.chain = shortestChain(a, first, second);
  } else if (a.clocks()->happensBefore(second, first)) {
    result.kind = OrderExplanation::Kind::secondBeforeFirst;
    result.chain = shortestChain(a, second, first);
  } else {
    result.firstThenSecond = runWith(a, first, second);
    result.secondThenFirst = runWith(a, second, first);
  }
  return result;
}

std::vector<RegionUse> usesOf(const Analysis& a, std::int32_t buffer, const Region& region,
                              std::size_t most) {
  const auto storage = storageOf(a.schedule());
  const auto wanted = stridedParts(a.schedule().buffers[static_cast<std::size_t>(buffer)].shape, region);
  std::vector<RegionUse> result;
  std::vector<const Touch*> touches;
  for (const Touch& t : a.footprints().touches) {
    if (storage[static_cast<std::size_t>(t.buffer)] != storage[static_cast<std::size_t>(buffer)]) continue;
    for (const Strided& part : wanted) {
      const std::int64_t element = firstCommon(part, t.region);
      if (element < 0) continue;
      result.push_back({t.task, t.buffer, t.write, element, -1});
      touches.push_back(&t);
      break;
    }
  }
  std::vector<std::size_t> order(result.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    return std::make_pair(a.rank()[static_cast<std::size_t>(result[i].task)], result[i].write);
  });
  if (order.size() > most) order.resize(most);
  std::vector<RegionUse> sorted;
  for (std::size_t i = 0; i < order.size(); ++i) {
    RegionUse use = result[order[i]];
    for (std::size_t k = 0; k < i && use.unordered < 0; ++k) {
      const RegionUse& earlier = sorted[k];
      if (earlier.task != use.task && (earlier.write || use.write) &&
          overlap(touches[order[k]]->region, touches[order[i]]->region) &&
          !a.clocks()->ordered(earlier.task, use.task))
        use.unordered = static_cast<std::int32_t>(k);
    }
    sorted.push_back(use);
  }
  return sorted;
}

WaitNotes waitNotes(const Analysis& a, double secondsLimit, const Progress& progress) {
  const auto start = std::chrono::steady_clock::now();
  const auto late = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > secondsLimit;
  };
  WaitNotes result;
  const Schedule& s = a.schedule();
  const Model& m = a.model();
  const auto storage = storageOf(s);
  std::vector<std::pair<std::int32_t, std::size_t>> open;  // waits that may be unneeded
  for (std::int32_t t = 0; t < m.tasks; ++t) {
    if (t % 256 == 0) progress.check();
    const auto& needs = m.needs[static_cast<std::size_t>(t)];
    if (late()) {
      result.notExamined += needs.size();
      continue;
    }
    std::vector<char> dropped(needs.size(), 0);
    for (std::size_t w = 0; w < needs.size(); ++w) {
      const std::int64_t counter = s.counters[static_cast<std::size_t>(needs[w].counter)].id;
      if (impliedByOthers(a, t, w, dropped)) {
        dropped[w] = 1;
        result.notes.push_back(
            {WaitNote::Kind::redundant, t, w,
             fmt::format("{} need not wait for counter {}: its other waits and its queue imply it",
                         nameOf(s, t), counter)});
        continue;
      }
      const auto& producers = m.producers[static_cast<std::size_t>(needs[w].counter)];
      const bool asked =
          std::ranges::any_of(producers, [&](std::int32_t p) { return conflict(a, storage, p, t); });
      if (!asked) open.emplace_back(t, w);
    }
  }
  for (std::size_t i = 0; i < open.size(); ++i) {
    if (late()) {
      result.notExamined += open.size() - i;
      break;
    }
    const auto [task, wait] = open[i];
    const WaitNote note{
        WaitNote::Kind::unneeded, task, wait,
        fmt::format("{} waits for counter {} though nothing that conflicts asks for it", nameOf(s, task),
                    s.tasks[static_cast<std::size_t>(task)].waits[wait].counter)};
    if (check(withoutWaits(s, {note}), {}, progress).verdict == Safety::safe) result.notes.push_back(note);
  }
  return result;
}

Schedule withoutWaits(const Schedule& schedule, const std::vector<WaitNote>& notes) {
  Schedule result = schedule;
  std::vector<WaitNote> sorted = notes;
  std::ranges::sort(sorted, std::greater<>(),
                    [](const WaitNote& n) { return std::make_pair(n.task, n.wait); });
  for (const WaitNote& note : sorted) {
    auto& waits = result.tasks[static_cast<std::size_t>(note.task)].waits;
    waits.erase(waits.begin() + static_cast<std::ptrdiff_t>(note.wait));
  }
  return result;
}

}  // namespace nuscope::schedule
