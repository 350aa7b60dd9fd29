// Edits applied to a schedule, and as a JSON patch of its file.
#include <fmt/format.h>

#include <algorithm>

#include "core/schedule/repair.h"

namespace nuscope::schedule {

Schedule applyEdits(const Schedule& schedule, const std::vector<Edit>& edits) {
  Schedule s = schedule;
  std::vector<std::int32_t> order;  // positions of the original tasks, in their new order
  for (std::size_t t = 0; t < s.tasks.size(); ++t) order.push_back(static_cast<std::int32_t>(t));
  std::vector<std::pair<std::int32_t, std::size_t>> dropped;
  for (const Edit& e : edits) {
    Task* task = e.task >= 0 ? &s.tasks[static_cast<std::size_t>(e.task)] : nullptr;
    switch (e.kind) {
      case Edit::Kind::addWait: {
        const Wait wait{s.counters[static_cast<std::size_t>(e.counter)].id, e.value};
        const bool there = std::ranges::any_of(task->waits, [&](const Wait& w) {
          return w.counter == wait.counter && w.threshold == wait.threshold;
        });
        if (!there) task->waits.push_back(wait);
        break;
      }
      case Edit::Kind::setThreshold:
        task->waits[e.index].threshold = e.value;
        break;
      case Edit::Kind::dropWait:
        dropped.emplace_back(e.task, e.index);
        break;
      case Edit::Kind::dropTask:
        std::erase(order, e.task);
        break;
      case Edit::Kind::moveBefore: {
        std::erase(order, e.task);
        order.insert(std::ranges::find(order, e.other), e.task);
        break;
      }
      case Edit::Kind::setSm:
        task->sm = e.value;
        break;
      case Edit::Kind::setParam:
        for (auto& [key, value] : task->params) {
          if (key == e.key) value = std::to_string(e.value);
        }
        break;
      case Edit::Kind::ownPage: {
        const Buffer& b = s.buffers[static_cast<std::size_t>(e.buffer)];
        std::int64_t id = 0;
        for (const Page& page : s.pages->pages) id = std::max(id, page.id + 1);
        s.pages->pages.push_back(
            {id, s.pages->pages.empty() ? Space::hbm : s.pages->pages[0].space, b.bytes(), {}});
        for (auto& [buffer, page] : s.pages->ofBuffer) {
          if (buffer == b.id) page = id;
        }
        break;
      }
    }
  }
  std::ranges::sort(dropped, std::greater<>());
  dropped.erase(std::unique(dropped.begin(), dropped.end()), dropped.end());
  for (const auto& [t, index] : dropped) {
    auto& waits = s.tasks[static_cast<std::size_t>(t)].waits;
    waits.erase(waits.begin() + static_cast<std::ptrdiff_t>(index));
  }
  std::vector<Task> tasks;
  tasks.reserve(order.size());
  for (const std::int32_t t : order) tasks.push_back(std::move(s.tasks[static_cast<std::size_t>(t)]));
  s.tasks = std::move(tasks);
  return s;
}

std::string jsonPatch(const Schedule& schedule, const std::vector<Edit>& edits) {
  std::string out = "[";
  std::vector<std::int32_t> order;
  for (std::size_t t = 0; t < schedule.tasks.size(); ++t) order.push_back(static_cast<std::int32_t>(t));
  const auto at = [&](std::int32_t t) { return std::ranges::find(order, t) - order.begin(); };
  const auto line = [&](std::string text) { out += (out.size() > 1 ? ",\n " : "") + std::move(text); };
  for (const Edit& e : edits) {
    switch (e.kind) {
      case Edit::Kind::addWait:
        line(fmt::format(
            R"({{"op": "add", "path": "/tasks/{}/waits/-", "value": {{"counter": {}, "threshold": {}}}}})",
            at(e.task), schedule.counters[static_cast<std::size_t>(e.counter)].id, e.value));
        break;
      case Edit::Kind::setThreshold:
        line(fmt::format(R"({{"op": "replace", "path": "/tasks/{}/waits/{}/threshold", "value": {}}})",
                         at(e.task), e.index, e.value));
        break;
      case Edit::Kind::dropTask: {
        line(fmt::format(R"({{"op": "remove", "path": "/tasks/{}"}})", at(e.task)));
        std::erase(order, e.task);
        break;
      }
      case Edit::Kind::dropWait:
        line(fmt::format(R"({{"op": "remove", "path": "/tasks/{}/waits/{}"}})", at(e.task), e.index));
        break;
      case Edit::Kind::moveBefore: {
        const auto from = at(e.task);
        std::erase(order, e.task);
        const auto to = at(e.other);
        order.insert(order.begin() + to, e.task);
        line(fmt::format(R"({{"op": "move", "from": "/tasks/{}", "path": "/tasks/{}"}})", from, to));
        break;
      }
      case Edit::Kind::setSm:
        line(fmt::format(R"({{"op": "replace", "path": "/tasks/{}/sm", "value": {}}})", at(e.task), e.value));
        break;
      case Edit::Kind::setParam:
        line(fmt::format(R"({{"op": "replace", "path": "/tasks/{}/params/{}", "value": {}}})", at(e.task),
                         e.key, e.value));
        break;
      case Edit::Kind::ownPage: {
        const std::vector<Edit> soFar(edits.begin(), edits.begin() + (&e - edits.data()) + 1);
        const Schedule after = applyEdits(schedule, soFar);
        const std::int64_t id = schedule.buffers[static_cast<std::size_t>(e.buffer)].id;
        const Page& page = after.pages->pages.back();
        line(fmt::format(
            R"({{"op": "add", "path": "/pages/pages/-", "value": {{"id": {}, "space": "{}", "nbytes": {}}}}})",
            page.id, text(page.space), page.bytes));
        line(fmt::format(R"({{"op": "replace", "path": "/pages/buffer_to_page/{}", "value": {}}})", id,
                         page.id));
        break;
      }
    }
  }
  return out + "]\n";
}

}  // namespace nuscope::schedule
