#include "core/schedule/export.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "core/schedule/explain.h"
#include "core/schedule/record_reader.h"

namespace nuscope::schedule {
namespace {

std::string taskNode(const Schedule& s, std::int32_t t) {
  return fmt::format("  t{} [shape=box, label={}];\n", t, quoted(nameOf(s, t)));
}

/// Every task and counter by itself.
std::string fullDot(const Schedule& s, const Model& m) {
  std::string out;
  for (std::size_t q = 0; q < m.queues.size(); ++q) {
    out += fmt::format(" subgraph cluster_{} {{ label=\"SM {}\";\n", q, m.queueSm[q]);
    for (const std::int32_t t : m.queues[q]) out += taskNode(s, t);
    for (std::size_t i = 1; i < m.queues[q].size(); ++i)
      out += fmt::format("  t{} -> t{} [style=dotted];\n", m.queues[q][i - 1], m.queues[q][i]);
    out += " }\n";
  }
  for (std::int32_t t = 0; t < m.tasks; ++t) {
    if (m.queueOf[static_cast<std::size_t>(t)] < 0) out += taskNode(s, t);
  }
  for (std::size_t c = 0; c < s.counters.size(); ++c)
    out += fmt::format("  c{} [shape=ellipse, label=\"counter {}\"];\n", c, s.counters[c].id);
  for (std::size_t t = 0; t < s.tasks.size(); ++t) {
    for (const std::int32_t c : m.raises[t]) out += fmt::format("  t{} -> c{};\n", t, c);
    for (const Model::Need& need : m.needs[t])
      out += fmt::format("  c{} -> t{} [label=\">= {}\"];\n", need.counter, t, need.threshold);
  }
  return out;
}

/// Tasks that differ in layer, tile or queue only as one node.
std::string collapsedDot(const Schedule& s, const Model& m) {
  std::map<std::string, std::pair<std::size_t, std::size_t>> nodes;  // pattern -> (number, tasks)
  std::vector<std::size_t> nodeOf(s.tasks.size());
  for (std::size_t t = 0; t < s.tasks.size(); ++t) {
    auto& [number, count] =
        nodes.try_emplace(kindName(s, static_cast<std::int32_t>(t)), nodes.size(), 0).first->second;
    ++count;
    nodeOf[t] = number;
  }
  std::string out;
  for (const auto& [pattern, node] : nodes)
    out += fmt::format("  n{} [shape=box, label={}];\n", node.first,
                       quoted(fmt::format("{} x {}", pattern, node.second)));
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> edges;
  for (std::size_t t = 0; t < s.tasks.size(); ++t) {
    std::set<std::size_t> from;
    for (const Model::Need& need : m.needs[t]) {
      for (const std::int32_t p : m.producers[static_cast<std::size_t>(need.counter)])
        from.insert(nodeOf[static_cast<std::size_t>(p)]);
    }
    for (const std::size_t f : from) ++edges[{f, nodeOf[t]}];
  }
  for (const auto& [edge, count] : edges)
    out += fmt::format("  n{} -> n{} [label=\"{}\"];\n", edge.first, edge.second, count);
  return out;
}

}  // namespace

std::string dotText(const Schedule& s, std::size_t mostTasks) {
  const Ids ids(s);
  const Model m = modelOf(s, ids);
  const bool whole = s.tasks.size() <= mostTasks;
  const std::string label =
      whole ? fmt::format("{} tasks, {} counters", s.tasks.size(), s.counters.size())
            : fmt::format("{} tasks, shown by kind; edges count tasks that wait", s.tasks.size());
  return fmt::format("digraph schedule {{\n rankdir=LR; label=\"{}\";\n{}}}\n", label,
                     whole ? fullDot(s, m) : collapsedDot(s, m));
}

std::string chromeTrace(const Schedule& s, const Timing& timing) {
  std::string out = fmt::format(
      "{{\"displayTimeUnit\": \"ns\", \"otherData\": {{\"kind\": \"modelled\", \"target\": {}}},\n"
      "\"traceEvents\": [\n",
      quoted(timing.target.name));
  out += R"x({"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "schedule (modelled)"}})x";
  for (const QueueTime& q : timing.queues) {
    if (q.tasks == 0) continue;
    out += fmt::format(
        ",\n{{\"ph\": \"M\", \"pid\": 1, \"tid\": {0}, \"name\": \"thread_name\", \"args\": {{\"name\": \"SM "
        "{0}\"}}}}",
        q.sm);
  }
  for (std::size_t t = 0; t < s.tasks.size(); ++t) {
    const Task& task = s.tasks[t];
    out += fmt::format(
        ",\n{{\"ph\": \"X\", \"pid\": 1, \"tid\": {}, \"name\": {}, \"cat\": {}, \"ts\": {:.3f}, \"dur\": "
        "{:.3f}, "
        "\"args\": {{\"id\": {}}}}}",
        timing.ranOn[t], quoted(task.label.empty() ? fmt::format("task {}", task.id) : task.label),
        quoted(task.op == Opcode::custom ? task.customOp : std::string(text(task.op))), timing.start[t] * 1e6,
        (timing.finish[t] - timing.start[t]) * 1e6, task.id);
  }
  return out + "\n]}\n";
}

}  // namespace nuscope::schedule
