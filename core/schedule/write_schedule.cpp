// Schedule -> AutoMegaKernel JSON 0.2 and our own form, equal as JSON values to what was read.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/schedule/record_reader.h"

namespace nuscope::schedule {
namespace {

template <class List, class Format>
std::string joined(const List& list, Format format, std::string_view separator = ", ") {
  std::string out;
  for (const auto& item : list) {
    if (!out.empty()) out += separator;
    out += format(item);
  }
  return out;
}

std::string extrasText(const Extras& extras) {
  std::string out;
  for (const auto& [key, value] : extras) out += fmt::format(", {}: {}", quoted(key), value);
  return out;
}

std::string ids(const std::vector<std::int64_t>& list) {
  return "[" + joined(list, [](std::int64_t id) { return std::to_string(id); }) + "]";
}

std::string bufferText(const Buffer& b) {
  std::string out = fmt::format(R"({{"id": {}, "name": {}, "kind": "{}", "dtype": "{}", "shape": {})", b.id,
                                quoted(b.name), text(b.kind), text(b.type), ids(b.shape));
  if ((b.absent & Buffer::noSpace) == 0 || b.space != Space::hbm)
    out += fmt::format(R"(, "space": "{}")", text(b.space));
  if ((b.absent & Buffer::noSource) == 0 || b.source)
    out += ", \"source\": " + (b.source ? quoted(*b.source) : "null");
  return out + extrasText(b.extras) + "}";
}

std::string counterText(const Counter& c) {
  std::string out = fmt::format(R"({{"id": {})", c.id);
  if ((c.absent & Counter::noInit) == 0 || c.init != 0) out += fmt::format(R"(, "init": {})", c.init);
  if ((c.absent & Counter::noNote) == 0 || !c.note.empty()) out += ", \"note\": " + quoted(c.note);
  return out + extrasText(c.extras) + "}";
}

std::string waitsText(const Task& t) {
  return "[" +
         joined(t.waits,
                [](const Wait& w) {
                  const std::string step =
                      w.perPass != 0 ? fmt::format(R"(, "per_pass": {})", w.perPass) : "";
                  return fmt::format(R"({{"counter": {}, "threshold": {}{}{}}})", w.counter, w.threshold,
                                     step, w.extras);
                }) +
         "]";
}

/// What both forms say of a task behind its inputs, outputs and signals.
std::string tailText(const Task& t) {
  std::string out;
  if ((t.absent & Task::noParams) == 0 || !t.params.empty()) {
    out += ", \"params\": {" +
           joined(t.params, [](const auto& p) { return fmt::format("{}: {}", quoted(p.first), p.second); }) +
           "}";
  }
  if ((t.absent & Task::noSm) == 0 || t.sm) out += ", \"sm\": " + (t.sm ? std::to_string(*t.sm) : "null");
  if ((t.absent & Task::noBytes) == 0) out += ", \"est_bytes\": " + t.estBytes;
  if ((t.absent & Task::noFlops) == 0) out += ", \"est_flops\": " + t.estFlops;
  if ((t.absent & Task::noLabel) == 0 || !t.label.empty()) out += ", \"label\": " + quoted(t.label);
  return out + extrasText(t.extras) + "}";
}

std::string opText(const Task& t) {
  return quoted(t.op == Opcode::custom ? t.customOp : std::string(text(t.op)));
}

std::string taskText(const Task& t) {
  return fmt::format(R"({{"id": {}, "op": {}, "inputs": {}, "outputs": {}, "out_counter": {}, "waits": {}{})",
                     t.id, opText(t), ids(t.inputs), ids(t.outputs), t.signals.empty() ? 0 : t.signals[0],
                     waitsText(t), tailText(t));
}

std::string accessText(const Access& a) {
  if (a.strided) {
    const Strided& s = *a.strided;
    return fmt::format(
        R"({{"buffer": {}, "intervals": {{"start": {}, "length": {}, "stride": {}, "count": {}}}}})",
        a.buffer, s.start, s.length, s.stride, s.count);
  }
  if (a.region.ranges.empty()) return fmt::format(R"({{"buffer": {}}})", a.buffer);
  std::string axes;
  for (std::size_t i = 0; i < a.region.ranges.size(); ++i) {
    const auto bound = [&](const Bound* b, std::int64_t value) {
      return b == nullptr || b->constant() ? std::to_string(value) : quoted(text(*b));
    };
    const auto* both = a.symbolic.empty() ? nullptr : &a.symbolic[i];
    axes += fmt::format("{}[{}, {}]", i == 0 ? "" : ", ",
                        bound(both ? &both->first : nullptr, a.region.ranges[i].first),
                        bound(both ? &both->second : nullptr, a.region.ranges[i].second));
  }
  return fmt::format(R"({{"buffer": {}, "region": [{}]}})", a.buffer, axes);
}

std::string accessesText(const std::vector<Access>& list) {
  return "[" + joined(list, accessText) + "]";
}

std::string ownTaskText(const Task& t) {
  std::string out = fmt::format(R"({{"id": {}, "op": {})", t.id, opText(t));
  if (!t.inputs.empty() || !t.declared()) out += ", \"inputs\": " + ids(t.inputs);
  if (!t.outputs.empty() || !t.declared()) out += ", \"outputs\": " + ids(t.outputs);
  if (t.reads) out += ", \"reads\": " + accessesText(*t.reads);
  if (t.writes) out += ", \"writes\": " + accessesText(*t.writes);
  return out + ", \"signals\": " + ids(t.signals) + ", \"waits\": " + waitsText(t) + tailText(t);
}

std::string pageText(const Page& page) {
  std::string out = fmt::format(R"({{"id": {})", page.id);
  if ((page.absent & Page::noSpace) == 0 || page.space != Space::smem)
    out += fmt::format(R"(, "space": "{}")", text(page.space));
  return out + fmt::format(R"(, "nbytes": {}{}}})", page.bytes, extrasText(page.extras));
}

std::string pagesText(const Pages& pages) {
  const std::string map = joined(
      pages.ofBuffer, [](const auto& pair) { return fmt::format(R"("{}": {})", pair.first, pair.second); });
  return fmt::format(R"({{"buffer_to_page": {{{}}}, "pages": [{}]{}}})", map, joined(pages.pages, pageText),
                     extrasText(pages.extras));
}

template <class Records, class Format>
std::string list(const Records& records, Format format) {
  return records.empty() ? std::string("[]") : "[\n " + joined(records, format, ",\n ") + "\n]";
}

/// Everything behind the versions.
template <class TaskFormat>
std::string bodyText(const Schedule& s, TaskFormat taskFormat) {
  std::string out;
  for (const auto& [key, value] : s.rest) out += fmt::format("{}: {},\n", quoted(key), value);
  out += fmt::format("\"buffers\": {},\n\"counters\": {},\n\"tasks\": {}", list(s.buffers, bufferText),
                     list(s.counters, counterText), list(s.tasks, taskFormat));
  if ((s.absent & Schedule::noPages) == 0 || s.pages)
    out += ",\n\"pages\": " + (s.pages ? pagesText(*s.pages) : "null");
  return out + "\n}\n";
}

}  // namespace

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string writeAmk(const Schedule& s) {
  std::string out = fmt::format("{{\n\"ir_version\": {},\n", quoted(s.irVersion));
  if ((s.absent & Schedule::noAbiVersion) == 0)
    out += fmt::format("\"abi_version\": {},\n", quoted(s.abiVersion));
  return out + bodyText(s, taskText);
}

std::string writeNuscope(const Schedule& s) {
  std::string out = "{\n\"format\": \"nuscope-schedule\", \"version\": 1,\n";
  if (s.positions)
    out += fmt::format("\"positions\": {{\"from\": {}, \"to\": {}}},\n", s.positions->from, s.positions->to);
  return out + bodyText(s, ownTaskText);
}

std::string writeSchedule(const Schedule& schedule) {
  return schedule.format == Format::amk ? writeAmk(schedule) : writeNuscope(schedule);
}

}  // namespace nuscope::schedule
