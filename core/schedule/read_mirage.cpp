// Mirage Persistent Kernel's task_graph.json (mirage-project/mirage at de8745d, src/kernel/runtime.cc
// print_task_graph, include/mirage/persistent_kernel/runtime_header.h) -> Schedule.
//
//  * An event is a counter: id = its position; num_triggers = the threshold of everything that waits for it.
//  * A task raises its trigger_event. It waits for the event whose range launches it, and for its
//  dependent_event.
//    Tasks named in first_tasks, and the one that begins the graph, wait for nothing.
//  * There are no queues: tasks go to whichever worker the scheduler picks. What holds here holds for every
//  dispatch.
//  * A tensor is its base_ptr, as a buffer of bytes; a region is offset (bytes) + dims and strides (elements)
//  * size.
//  * Nothing says which tensors hold values before the pass, so that all do; and tasks may write tensors that
//  they list
//    as inputs (paged attention appends to its cache). So "safe" is never said: what stays open is in
//    notDecided.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "core/base/text.h"
#include "core/schedule/record_reader.h"

namespace nuscope::schedule {
namespace {

// X(number, name) of TaskType; others are shown by number.
// clang-format off
#define NUSCOPE_MIRAGE_TASKS(X) \
  X(0, "TERMINATE") \
  X(10, "BEGIN_TASK_GRAPH") \
  X(101, "EMBEDDING") \
  X(102, "RMS_NORM_LINEAR") \
  X(103, "ATTENTION_1") \
  X(104, "ATTENTION_2") \
  X(105, "SILU_MUL_LINEAR_WITH_RESIDUAL") \
  X(106, "ALLREDUCE") \
  X(107, "REDUCE") \
  X(108, "LINEAR_WITH_RESIDUAL") \
  X(109, "ARGMAX") \
  X(110, "ARGMAX_PARTIAL") \
  X(111, "ARGMAX_REDUCE") \
  X(112, "FIND_NGRAM_PARTIAL") \
  X(113, "FIND_NGRAM_GLOBAL") \
  X(114, "TARGET_VERIFY_GREEDY") \
  X(115, "SINGLE_BATCH_EXTEND_ATTENTION") \
  X(116, "PAGED_ATTENTION_1") \
  X(117, "PAGED_ATTENTION_2") \
  X(118, "SILU_MUL") \
  X(119, "RMS_NORM") \
  X(120, "LINEAR") \
  X(121, "IDENTITY") \
  X(151, "LINEAR_WITH_RESIDUAL_HOPPER") \
  X(152, "LINEAR_HOPPER") \
  X(153, "PAGED_ATTENTION_HOPPER") \
  X(154, "RMS_NORM_HOPPER") \
  X(155, "LINEAR_SWAPAB_HOPPER") \
  X(156, "LINEAR_SWAPAB_WITH_RESIDUAL_HOPPER") \
  X(157, "LINEAR_CUTLASS_HOPPER") \
  X(158, "LINEAR_CUTLASS_WITH_RESIDUAL_HOPPER") \
  X(159, "SILU_MUL_HOPPER") \
  X(160, "EMBEDDING_HOPPER") \
  X(161, "MOE_W13_LINEAR_SM90") \
  X(162, "MOE_W2_LINEAR_SM90") \
  X(163, "SPLITK_LINEAR_SWAPAB_HOPPER") \
  X(164, "PAGED_ATTENTION_SPLIT_KV_HOPPER") \
  X(200, "SCHD_TASKS") \
  X(201, "SCHD_EVENTS") \
  X(202, "GET_EVENT") \
  X(203, "GET_NEXT_TASK") \
  X(231, "SM100_TMA_START_TASK") \
  X(248, "MOE_W13_FP8_SM100") \
  X(249, "MOE_W2_FP8_SM100") \
  X(251, "SPLITK_LINEAR_SM100") \
  X(252, "LINEAR_WITH_RESIDUAL_SM100") \
  X(253, "LINEAR_SM100") \
  X(254, "MOE_W13_LINEAR_SM100") \
  X(255, "MOE_W2_LINEAR_SM100") \
  X(256, "SM100_TMA_END_TASK") \
  X(257, "ATTN_SM100") \
  X(258, "ARGMAX_REDUCE_SM100") \
  X(259, "ARGMAX_PARTIAL_SM100") \
  X(260, "MOE_TOPK_SOFTMAX_SM100") \
  X(261, "MOE_MUL_SUM_ADD_SM100") \
  X(262, "TENSOR_INIT") \
  X(263, "PAGED_ATTENTION_SPLIT_KV_SM100") \
  X(264, "PAGED_ATTENTION_SPLIT_KV_MERGE_SM100") \
  X(265, "SAMPLING_SM100") \
  X(266, "MLA_DECODE_SM100") \
  X(267, "MLA_REDUCE_SM100") \
  X(268, "MLA_PREFILL_SM100") \
  X(269, "MLA_MTP_DECODE_SM100") \
  X(270, "MLA_MTP_REDUCE_SM100") \
  X(271, "MTP_VERIFY_STRICT") \
  X(272, "MTP_ACCEPT_COMMIT") \
  X(273, "MTP_TOKEN_SCATTER") \
  X(274, "MTP_PREPARE_VERIFY") \
  X(275, "QUANTIZE_FP8_SM100") \
  X(276, "LINEAR_FP8_SM100") \
  X(277, "LINEAR_FP8_WITH_RESIDUAL_SM100") \
  X(278, "MLA_KV_GATHER_SM100") \
  X(280, "MOE_TOPK_SIGMOID_SM100") \
  X(281, "ELEMENTWISE_ADD_SM100") \
  X(282, "SOFTMAX_GATHER_SM100") \
  X(283, "MTP_VERIFY_PROBABILISTIC") \
  X(284, "PROB_SCATTER_SM100") \
  X(285, "MTP_FLOAT_SCATTER") \
  X(286, "PROB_EXTRACT_SM100") \
  X(287, "MLA_MTP_DECODE_TP2_SM100") \
  X(288, "MLA_MTP_DECODE_TP2_REDUCE_SM100") \
  X(289, "MLA_MTP_DECODE_TP4_SM100") \
  X(290, "MLA_MTP_DECODE_TP4_REDUCE_SM100") \
  X(291, "MLA_MTP_DECODE_TP8_SM100") \
  X(292, "MLA_MTP_DECODE_TP8_REDUCE_SM100") \
  X(293, "MLA_KV_GATHER_SPLIT_SM100") \
  X(294, "MTP_BUILD_EMBED_INPUT") \
  X(295, "MLA_PREFILL_TP8_SM100") \
  X(301, "NVSHMEM_ALLGATHER_STRIDED_PUT") \
  X(302, "NVSHMEM_TILE_ALLREDUCE")
// clang-format on

enum Event : std::int64_t {
  empty = 900,
  launch = 901,
  launchMassive = 902,
  launchDependent = 903,
  endOfGraph = 910,
  termination = 911
};
constexpr std::int64_t taskTerminate = 0;
constexpr std::int64_t taskBegin = 10;
constexpr std::int64_t invalidEvent = 0x7ffffffffffffffe;
constexpr std::int64_t nvshmemTag = 0x1e00000000000000;
constexpr std::size_t mostPieces = 16;  // intervals or bands that one tensor may fall into
// Pieces beyond one a tensor, in all: so many in any file, and one more for so many bytes of text.
constexpr std::size_t fewPieces = 100'000;
constexpr std::size_t textOfPiece = 64;
constexpr std::int64_t largestByte = std::int64_t{1} << 50U;

std::string taskName(std::int64_t type) {
  switch (type) {
#define X(number, name) \
  case number:          \
    return name;
    NUSCOPE_MIRAGE_TASKS(X)
#undef X
    default:
      return fmt::format("TASK_{}", type);
  }
}

/// Bytes of an element by DataType number; 0: unknown. 4-bit types take a byte, as in its own tools.
std::int64_t elementBytes(std::int64_t type) {
  if (type >= 920 && type < 940) return 1;
  if (type >= 940 && type < 950) return 2;
  if (type >= 950 && type < 960) return 4;
  return type >= 960 && type < 970 ? 8 : 0;
}

class MirageReader : public RecordReader {
 public:
  explicit MirageReader(std::string_view text) : RecordReader(text) {
    schedule_.format = Format::mirage;
    schedule_.dynamicDispatch = true;
  }
  ReadResult read() { return readAll({"all_tasks", "all_events", "first_tasks"}); }

 private:
  struct EventRecord {
    std::int64_t type = 0, triggers = 0, first = 0, last = 0;
    JsonValue at;  ///< without its items
  };
  struct TaskRecord {
    std::int64_t type = 0, trigger = invalidEvent, dependent = invalidEvent;
  };

  void onRecord(const std::string& key, const JsonValue& item) override {
    if (key == "all_tasks") {
      task(item);
    } else if (key == "all_events") {
      event(item);
    } else {
      std::int64_t id = 0;
      if (item.isInteger(id)) {
        first_.push_back(id);
      } else {
        fault("load", fmt::format("first_tasks[{}] is no task", first_.size()), item);
      }
    }
  }
  void onKey(const std::string& key, const JsonValue& value) override {
    const bool list = key == "all_tasks" || key == "all_events" || key == "first_tasks";
    if (list && value.kind != Kind::null)
      fault("load", fmt::format("'{}' is {}, not a list", key, kindText(value.kind)), value);
    if (!list) schedule_.rest.emplace_back(key, value.raw);
  }
  void forget(const std::string& key) override {
    if (key == "all_tasks") {
      records_.clear();
      schedule_.tasks.clear();
    }
    if (key == "all_events") events_.clear();
    if (key == "first_tasks") first_.clear();
  }

  void event(const JsonValue& item) {
    const std::string what = fmt::format("all_events[{}]", events_.size());
    EventRecord made;
    made.at.begin = item.begin;
    made.at.raw = item.raw;
    if (isRecord(item, what)) {
      integer(item, "event_type", what, made.type);
      integer(item, "num_triggers", what, made.triggers);
      integer(item, "first_task_id", what, made.first);
      integer(item, "last_task_id", what, made.last);
    }
    events_.push_back(std::move(made));
  }

  void task(const JsonValue& item) override {
    const auto index = static_cast<std::int64_t>(records_.size());
    const std::string what = fmt::format("all_tasks[{}]", index);
    TaskRecord record;
    Task made;
    made.place = placeOf(item);
    made.id = index;
    made.op = Opcode::custom;
    std::vector<Access> reads;
    std::vector<Access> writes;
    if (isRecord(item, what)) {
      integer(item, "task_type", what, record.type);
      made.customOp = taskName(record.type);
      made.label = fmt::format("{} {}", made.customOp, index);
      integer(item, "trigger_event", what, record.trigger);
      integer(item, "dependent_event", what, record.dependent);
      tensors(item, "inputs", what, reads);
      tensors(item, "outputs", what, writes);
      for (const char* key : {"expert_offset", "kv_idx", "merge_task_offset"}) {
        std::int64_t value = -1;
        if (const JsonValue* field = item.find(key); field != nullptr && field->isInteger(value))
          indexed_ = indexed_ || value >= 0;
      }
    }
    made.reads = std::move(reads);
    made.writes = std::move(writes);
    records_.push_back(record);
    schedule_.tasks.push_back(std::move(made));
  }
  void tensors(const JsonValue& item, const char* key, const std::string& what, std::vector<Access>& into) {
    const JsonValue* list = optional(item, key, Kind::array, what);
    if (list == nullptr) return;
    for (const JsonValue& tensor : list->items) {
      if (isRecord(tensor, fmt::format("{}: a tensor of '{}'", what, key))) region(tensor, what, into);
    }
  }
  void region(const JsonValue& tensor, const std::string& what, std::vector<Access>& into) {
    const JsonValue* base = field(tensor, "base_ptr", Kind::string, what);
    std::int64_t offset = 0;
    std::int64_t type = 0;
    std::vector<std::int64_t> dims;
    std::vector<std::int64_t> strides;
    if (base == nullptr || base->string == "nullptr") return;
    if (!integer(tensor, "offset", what, offset) || !integer(tensor, "data_type", what, type) ||
        !integers(tensor, "dims", what, dims) || !integers(tensor, "strides", what, strides))
      return;
    const auto refuse = [&](std::string why) {
      fault("load", fmt::format("{}: tensor '{}' {}", what, shortened(base->string, 80), why), tensor);
    };
    const std::int64_t size = elementBytes(type);
    if (size == 0) return refuse(fmt::format("has data type {}, whose size is not known", type));
    if (dims.size() != strides.size() || dims.size() > 8)
      return refuse("has dims and strides that do not fit each other");
    if (offset < 0 || offset > largestByte) return refuse(fmt::format("has offset {}", offset));
    // Axes by stride, the innermost first; those that follow without a gap are one.
    std::vector<std::pair<std::int64_t, std::int64_t>> axes;  // (stride in bytes, extent)
    std::int64_t end = offset + size;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      std::int64_t reach = 0;
      if (dims[i] < 1 || strides[i] < 0 || dims[i] > largestByte || strides[i] > largestByte ||
          __builtin_mul_overflow(dims[i] - 1, strides[i] * size, &reach) || reach > largestByte)
        return refuse(fmt::format("has an axis of {} elements {} apart", dims[i], strides[i]));
      end += reach;
      if (dims[i] > 1 && strides[i] > 0) axes.emplace_back(strides[i] * size, dims[i]);
    }
    if (end > largestByte) return refuse("is larger than 2^50 bytes");
    std::ranges::sort(axes);
    Strided part{offset, size, 0, 1};
    std::size_t axis = 0;
    while (axis < axes.size() && axes[axis].first <= part.length) {
      part.length = axes[axis].first * (axes[axis].second - 1) + part.length;
      ++axis;
    }
    std::vector<Strided> parts{part};
    if (axis < axes.size()) {
      parts[0].stride = axes[axis].first;
      parts[0].count = axes[axis].second;
      ++axis;
    }
    for (; axis < axes.size(); ++axis) {
      if (parts[0].stride * parts[0].count == axes[axis].first && parts.size() == 1) {
        parts[0].count *= axes[axis].second;  // the bands go on in the next axis
        continue;
      }
      if (static_cast<std::int64_t>(parts.size()) * axes[axis].second > static_cast<std::int64_t>(mostPieces))
        return refuse(fmt::format("falls into more than {} pieces, which is not supported", mostPieces));
      const std::vector<Strided> once = parts;
      for (std::int64_t k = 1; k < axes[axis].second; ++k) {
        for (Strided again : once) {
          again.start += k * axes[axis].first;
          parts.push_back(again);
        }
      }
    }
    morePieces_ += parts.size() - 1;
    if (morePieces_ > fewPieces + text_.size() / textOfPiece)
      return refuse("and those before it fall into too many pieces, which is not supported");
    const std::int64_t buffer = bufferOf(std::string(base->string), end);
    for (const Strided& one : parts) {
      Access access;
      access.buffer = buffer;
      access.strided = one;
      into.push_back(std::move(access));
    }
  }
  std::int64_t bufferOf(const std::string& name, std::int64_t end) {
    const auto [at, isNew] = buffers_.try_emplace(name, static_cast<std::int64_t>(schedule_.buffers.size()));
    if (isNew) {
      Buffer made;
      made.id = at->second;
      made.name = name;
      made.kind = BufferKind::kvCache;  // holds values from before, and may be written
      made.type = ElementType::u8;
      made.shape = {0};
      schedule_.buffers.push_back(std::move(made));
    }
    auto& extent = schedule_.buffers[static_cast<std::size_t>(at->second)].shape[0];
    extent = std::max(extent, end);
    return at->second;
  }

  void finish() override {
    requireRoot({"all_tasks", "all_events", "first_tasks"});
    for (std::size_t e = 0; e < events_.size(); ++e) {
      Counter made;
      made.id = static_cast<std::int64_t>(e);
      made.note = fmt::format("event {}", e);
      schedule_.counters.push_back(std::move(made));
    }
    const std::vector<std::int64_t> launchedBy = launches();
    bool polls = false;
    std::vector<Task> kept;
    for (std::size_t t = 0; t < records_.size(); ++t) {
      const TaskRecord& record = records_[t];
      Task& made = schedule_.tasks[t];
      if (record.type == taskTerminate) continue;
      if (const auto e = eventOf(record.trigger, t, "trigger_event")) made.signals.push_back(*e);
      if (launchedBy[t] >= 0) wait(made, launchedBy[t]);
      if (launchedBy[t] == never && record.type != taskBegin) made.waits.push_back({neverCounter(), 1});
      if (const auto e = eventOf(record.dependent, t, "dependent_event")) {
        polls = true;
        if (launchedBy[t] != *e) wait(made, *e);
      }
      kept.push_back(std::move(made));
    }
    schedule_.tasks = std::move(kept);
    open(polls);
  }
  static constexpr std::int64_t never = -1;
  static constexpr std::int64_t atOnce = -2;

  /// Per task the event that launches it, `atOnce` for first tasks, `never`.
  std::vector<std::int64_t> launches() {
    std::vector<std::int64_t> by(records_.size(), never);
    for (const std::int64_t t : first_) {
      JsonValue nowhere;
      if (t < 0 || t >= static_cast<std::int64_t>(by.size())) {
        fault(std::string(code_), fmt::format("first_tasks names task {}, and there are {}", t, by.size()),
              nowhere);
        return by;
      }
      by[static_cast<std::size_t>(t)] = atOnce;
    }
    for (std::size_t e = 0; e < events_.size(); ++e) {
      const EventRecord& event = events_[e];
      if (event.type == empty || event.type == endOfGraph || event.type == termination || event.type == 999)
        continue;
      if (event.type != launch && event.type != launchMassive && event.type != launchDependent) {
        fault("load", fmt::format("all_events[{}] has event type {}, which is not known", e, event.type),
              event.at);
        continue;
      }
      if (event.first < 0 || event.last < event.first || event.last > static_cast<std::int64_t>(by.size())) {
        fault(std::string(code_),
              fmt::format("all_events[{}] launches tasks {} .. {}, and there are {}", e, event.first,
                          event.last, by.size()),
              event.at);
        continue;
      }
      for (std::int64_t t = event.first; t < event.last; ++t) {
        auto& mine = by[static_cast<std::size_t>(t)];
        if (mine >= 0) {
          fault("load",
                fmt::format("task {} is launched by events {} and {}; it would run twice", t, mine, e),
                event.at);
          return by;
        }
        if (mine == never) mine = static_cast<std::int64_t>(e);  // a first task does not wait for the event
      }
    }
    return by;
  }
  std::optional<std::int64_t> eventOf(std::int64_t id, std::size_t t, const char* key) {
    if (id == invalidEvent) return std::nullopt;
    JsonValue at;
    at.begin = schedule_.tasks[t].place.begin;
    at.raw = text_.substr(at.begin, schedule_.tasks[t].place.end - at.begin);
    if (id < 0 || (id & nvshmemTag) != 0) {
      fault("load",
            fmt::format("all_tasks[{}]: '{}' is an event of another GPU (NVSHMEM), which is not supported", t,
                        key),
            at);
      return std::nullopt;
    }
    const std::int64_t index = id & 0xffffffff;
    if (index >= static_cast<std::int64_t>(events_.size())) {
      fault(std::string(code_),
            fmt::format("all_tasks[{}]: '{}' is event {}, and there are {}", t, key, index, events_.size()),
            at);
      return std::nullopt;
    }
    return index;
  }
  void wait(Task& task, std::int64_t event) {
    const EventRecord& record = events_[static_cast<std::size_t>(event)];
    if (record.triggers < 1 || record.triggers > INT64_C(0xFFFFFFFF)) {
      fault("bad-threshold",
            fmt::format("all_events[{}] has {} triggers, and a task waits for it", event, record.triggers),
            record.at);
      return;
    }
    task.waits.push_back({event, record.triggers});
  }
  std::int64_t neverCounter() {
    const auto id = static_cast<std::int64_t>(events_.size());
    if (schedule_.counters.size() == events_.size()) {
      Counter made;
      made.id = id;
      made.note = "nothing launches it";
      schedule_.counters.push_back(std::move(made));
    }
    return id;
  }
  void open(bool polls) {
    auto& list = schedule_.notDecided;
    list.emplace_back(
        "which tensors a task writes though it lists them as inputs (paged attention appends to its cache), "
        "and "
        "which hold values from before the pass: the file does not say");
    if (polls)
      list.emplace_back(
          "whether a worker is blocked by a task that polls for one behind it in the same worker's queue: "
          "that "
          "depends on the number of workers and on the dispatch");
    if (indexed_)
      list.emplace_back(
          "which part of a tensor the tasks with an expert, cache or merge index touch: the index is known "
          "at run "
          "time only, and the whole declared region is taken");
  }

  static constexpr std::string_view code_ = "dangling-reference";
  std::vector<TaskRecord> records_;
  std::vector<EventRecord> events_;
  std::vector<std::int64_t> first_;
  std::unordered_map<std::string, std::int64_t> buffers_;
  bool indexed_ = false;
  std::size_t morePieces_ = 0;
};

}  // namespace

ReadResult readMirage(std::string_view text) {
  return MirageReader(text).read();
}

}  // namespace nuscope::schedule
