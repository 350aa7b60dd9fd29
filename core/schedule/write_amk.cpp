// Schedule -> AutoMegaKernel JSON 0.2, equal as a JSON value to what was read.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/schedule/read.h"

namespace nuscope::schedule {
namespace {

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump();
}

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
  return fmt::format(
      R"({{"id": {}, "name": {}, "kind": "{}", "dtype": "{}", "shape": {}, "space": "{}", "source": {}{}}})",
      b.id, quoted(b.name), text(b.kind), text(b.type), ids(b.shape), text(b.space),
      b.source ? quoted(*b.source) : "null", extrasText(b.extras));
}

std::string counterText(const Counter& c) {
  return fmt::format(R"({{"id": {}, "init": {}, "note": {}{}}})", c.id, c.init, quoted(c.note),
                     extrasText(c.extras));
}

std::string taskText(const Task& t) {
  const std::string waits = joined(t.waits, [](const Wait& w) {
    return fmt::format(R"({{"counter": {}, "threshold": {}}})", w.counter, w.threshold);
  });
  const std::string params =
      joined(t.params, [](const auto& p) { return fmt::format("{}: {}", quoted(p.first), p.second); });
  const std::string op = t.op == Opcode::custom ? t.customOp : std::string(text(t.op));
  return fmt::format(
      R"({{"id": {}, "op": {}, "inputs": {}, "outputs": {}, "out_counter": {}, "waits": [{}], "params": {{{}}}, "sm": {}, "est_bytes": {}, "est_flops": {}, "label": {}{}}})",
      t.id, quoted(op), ids(t.inputs), ids(t.outputs), t.signals.empty() ? 0 : t.signals[0], waits, params,
      t.sm ? std::to_string(*t.sm) : "null", t.estBytes, t.estFlops, quoted(t.label), extrasText(t.extras));
}

std::string pagesText(const Pages& pages) {
  const std::string map = joined(
      pages.ofBuffer, [](const auto& pair) { return fmt::format(R"("{}": {})", pair.first, pair.second); });
  const std::string list = joined(pages.pages, [](const Page& page) {
    return fmt::format(R"({{"id": {}, "space": "{}", "nbytes": {}{}}})", page.id, text(page.space),
                       page.bytes, extrasText(page.extras));
  });
  return fmt::format(R"({{"buffer_to_page": {{{}}}, "pages": [{}]{}}})", map, list, extrasText(pages.extras));
}

}  // namespace

std::string writeAmk(const Schedule& s) {
  const auto list = [](const auto& records, auto format) {
    return records.empty() ? std::string("[]") : "[\n " + joined(records, format, ",\n ") + "\n]";
  };
  std::string out = fmt::format("{{\n\"ir_version\": {},\n\"abi_version\": {},\n", quoted(s.irVersion),
                                quoted(s.abiVersion));
  for (const auto& [key, value] : s.rest) out += fmt::format("{}: {},\n", quoted(key), value);
  out += fmt::format("\"buffers\": {},\n\"counters\": {},\n\"tasks\": {},\n\"pages\": {}\n}}\n",
                     list(s.buffers, bufferText), list(s.counters, counterText), list(s.tasks, taskText),
                     s.pages ? pagesText(*s.pages) : "null");
  return out;
}

}  // namespace nuscope::schedule
