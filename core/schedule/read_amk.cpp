// AutoMegaKernel JSON 0.2 (reference/megakernel.md A.3, A.4) -> Schedule.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/schedule/record_reader.h"

namespace nuscope::schedule {
namespace {

class AmkReader : public RecordReader {
 public:
  explicit AmkReader(std::string_view text) : RecordReader(text) {}
  ReadResult read() { return readAll({"buffers", "counters", "tasks"}); }

 private:
  void finish() override {
    requireRoot({"ir_version", "buffers", "counters", "tasks"});
    if (std::ranges::find(seen_, "abi_version") == seen_.end()) schedule_.absent |= Schedule::noAbiVersion;
    if (std::ranges::find(seen_, "pages") == seen_.end()) schedule_.absent |= Schedule::noPages;
  }

  void task(const JsonValue& item) override {
    std::string what = fmt::format("tasks[{}]", schedule_.tasks.size());
    Task made;
    made.place = placeOf(item);
    schedule_.tasks.push_back({});
    if (!isRecord(item, what)) return;
    textOrExtra(item, "label", made.label, made.extras, made.absent, Task::noLabel);
    what = named(what, made.label);
    integer(item, "id", what, made.id);
    if (const JsonValue* op = field(item, "op", Kind::string, what)) {
      if (const auto parsed = parseOpcode(op->string)) {
        made.op = *parsed;
      } else {
        fault("unknown-op",
              fmt::format("{}: '{}' is no operation of the format", what, shortened(op->string, 80)), *op);
        made.op = Opcode::custom;
        made.customOp = op->string;
      }
    }
    integers(item, "inputs", what, made.inputs);
    integers(item, "outputs", what, made.outputs);
    std::int64_t signal = 0;
    if (integer(item, "out_counter", what, signal)) made.signals.push_back(signal);
    waits(item, what, made);
    params(item, what, made);
    queue(item, what, made);
    estimate(item, "est_bytes", what, made.estBytes);
    estimate(item, "est_flops", what, made.estFlops);
    if (item.find("est_bytes") == nullptr) made.absent |= Task::noBytes;
    if (item.find("est_flops") == nullptr) made.absent |= Task::noFlops;
    extras(item,
           {"id", "op", "inputs", "outputs", "out_counter", "waits", "params", "sm", "est_bytes", "est_flops",
            "label"},
           made.extras);
    schedule_.tasks.back() = std::move(made);
  }

  void onKey(const std::string& key, const JsonValue& value) override {
    if (key == "buffers" || key == "counters" || key == "tasks") {
      fault("load", fmt::format("'{}' is {}, not a list", key, kindText(value.kind)), value);
    } else if (key == "ir_version" || key == "abi_version") {
      version(key, value);
    } else if (key == "pages") {
      pages(value);
    } else {
      if (key == "target") target(value);
      std::erase_if(schedule_.rest, [&](const auto& pair) { return pair.first == key; });
      schedule_.rest.emplace_back(key, value.raw);
    }
  }
  void version(const std::string& key, const JsonValue& value) {
    if (value.kind != Kind::string) {
      fault("load", fmt::format("'{}' is {}, not a string", key, kindText(value.kind)), value);
      return;
    }
    (key == "ir_version" ? schedule_.irVersion : schedule_.abiVersion) = value.string;
    const std::string_view major = std::string_view(value.string).substr(0, value.string.find('.'));
    if (major != "0")
      fault("load",
            fmt::format("'{}' is {}; only major version 0 is known", key, shortened(value.string, 80)),
            value);
  }
};

}  // namespace

ReadResult readAmk(std::string_view text) {
  return AmkReader(text).read();
}

}  // namespace nuscope::schedule
