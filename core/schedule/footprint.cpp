#include "core/schedule/footprint.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/schedule/storage.h"

namespace nuscope::schedule {
namespace {

std::int64_t floorDivide(std::int64_t a, std::int64_t b) {
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

/// Index of the first interval of `b` that meets [from, to), or -1.
std::int64_t firstMeeting(const Strided& b, std::int64_t from, std::int64_t to) {
  if (b.count == 1) return b.start < to && from < b.start + b.length ? 0 : -1;
  // start + j*stride + length > from  <=>  j > (from - start - length) / stride
  const std::int64_t j = std::max<std::int64_t>(0, floorDivide(from - b.start - b.length, b.stride) + 1);
  return j < b.count && b.start + j * b.stride < to ? j : -1;
}

/// Row-major strides of a buffer's axes.
std::vector<std::int64_t> strides(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> result(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) result[i - 1] = result[i] * shape[i];
  return result;
}

class Collector {
 public:
  Collector(const Schedule& schedule, const Ids& ids)
      : schedule_(schedule), ids_(ids), storage_(schedule::storageOf(schedule)) {}

  Footprints run() {
    for (std::size_t t = 0; t < schedule_.tasks.size(); ++t) {
      task_ = static_cast<std::int32_t>(t);
      collect(schedule_.tasks[t]);
    }
    return std::move(result_);
  }

 private:
  const Buffer& buffer(std::int32_t index) const {
    return schedule_.buffers[static_cast<std::size_t>(index)];
  }
  std::int32_t storageOf(std::int64_t id) const {
    return storage_[static_cast<std::size_t>(ids_.buffer(id))];
  }
  void overrun(std::int32_t index, std::string what) {
    result_.overruns.push_back({task_, index, std::move(what)});
  }
  void touch(std::int32_t index, bool write, const Strided& region) {
    if (region.length > 0 && region.count > 0) result_.touches.push_back({task_, index, write, region});
  }
  void whole(std::int64_t id, bool write) {
    const std::int32_t index = ids_.buffer(id);
    touch(index, write, {0, buffer(index).elements(), 0, 1});
  }

  /// [from, to) clipped to [0, extent); an overrun when that changes it or it is empty.
  std::pair<std::int64_t, std::int64_t> clip(std::int32_t index, std::string_view what, std::int64_t from,
                                             std::int64_t length, std::int64_t extent,
                                             bool emptyAllowed = false) {
    const std::int64_t to = from + length;  // both are int32 parameters
    if (from < 0 || to > extent || length < (emptyAllowed ? 0 : 1)) {
      overrun(index,
              fmt::format("{} [{}, {}) of {} in buffer {}", what, from, to, extent, buffer(index).name));
    }
    const std::int64_t low = std::clamp<std::int64_t>(from, 0, extent);
    return {low, std::clamp<std::int64_t>(to, low, extent)};
  }

  /// Columns of the last axis in rows [rowFrom, rowTo) of the flattened rest.
  void columns(std::int32_t index, bool write, std::int64_t from, std::int64_t to, std::int64_t rowFrom,
               std::int64_t rowTo) {
    const auto& shape = buffer(index).shape;
    const std::int64_t width = shape.empty() ? 1 : shape.back();
    if (from >= to || rowFrom >= rowTo) return;
    if (to - from == width) {
      touch(index, write, {rowFrom * width, (rowTo - rowFrom) * width, 0, 1});
    } else {
      touch(index, write, {rowFrom * width + from, to - from, width, rowTo - rowFrom});
    }
  }

  void tile(const Task& task) {
    const std::int32_t out = ids_.buffer(task.outputs[0]);
    const Buffer& target = buffer(out);
    const std::int64_t width = target.shape.empty() ? 1 : target.shape.back();
    const std::int64_t rows = target.elements() / width;
    const auto [from, to] = clip(out, "columns", *task.integer("n_off"), *task.integer("N_tile"), width);
    std::int64_t rowFrom = 0;
    std::int64_t rowTo = rows;
    if (task.op == Opcode::gemmTile) {
      // Rows of an output of rank 3 or more are its first dimension.
      const std::int64_t extent = target.shape.size() > 1 ? target.shape[0] : 1;
      const std::int64_t rowsEach = rows / extent;
      const auto [a, b] =
          clip(out, "rows", task.integer("m_off").value_or(0), *task.integer("M_tile"), extent);
      rowFrom = a * rowsEach;
      rowTo = b * rowsEach;
    }
    const Buffer& weight = buffer(ids_.buffer(task.inputs[1]));
    const std::int64_t depth = weight.shape.empty() ? 1 : weight.shape.back();
    if (const std::int64_t k = *task.integer("K"); k != depth) {
      overrun(ids_.buffer(task.inputs[1]),
              fmt::format("K is {}, the last dimension of {} is {}", k, weight.name, depth));
    }
    columns(out, true, from, to, rowFrom, rowTo);
  }

  /// Rows [from, from+count) of a cache: its first axis, or the second of four.
  void cacheRows(std::int32_t index, bool write, std::string_view what, std::int64_t from,
                 std::int64_t count) {
    const auto& shape = buffer(index).shape;
    if (shape.empty()) return touch(index, write, {0, 1, 0, 1});
    const std::size_t axis = shape.size() == 4 ? 1 : 0;
    const auto [low, high] = clip(index, what, from, count, shape[axis], !write);
    const std::int64_t row = strides(shape)[axis];
    const std::int64_t batches = axis == 1 ? shape[0] : 1;
    touch(index, write, {low * row, (high - low) * row, batches > 1 ? shape[1] * row : 0, batches});
  }

  void collect(const Task& task) {
    if (task.declared()) return declared(task);
    switch (task.op) {
      case Opcode::gemvTile:
      case Opcode::gemmTile:
        for (const std::int64_t id : task.inputs) whole(id, false);
        return tile(task);
      case Opcode::kvAppend: {
        for (const std::int64_t id : task.inputs) {
          // The cache that is updated in place is no read, whatever buffer names its storage.
          if (storageOf(id) != storageOf(task.outputs[0])) whole(id, false);
        }
        return cacheRows(ids_.buffer(task.outputs[0]), true, "row", *task.integer("pos"), 1);
      }
      case Opcode::attentionTile: {
        for (std::size_t i = 0; i < task.inputs.size(); ++i) {
          if (i != 1 && i != 2) {
            whole(task.inputs[i], false);
          } else {
            cacheRows(ids_.buffer(task.inputs[i]), false, "rows", *task.integer("kv_start"),
                      *task.integer("kv_len"));
          }
        }
        return whole(task.outputs[0], true);
      }
      default:
        for (const std::int64_t id : task.inputs) whole(id, false);
        for (const std::int64_t id : task.outputs) whole(id, true);
    }
  }

  void declared(const Task& task) {
    const auto all = [&](const std::optional<std::vector<Access>>& list, bool write) {
      if (!list) return;
      for (const Access& access : *list) rectangle(access, write);
    };
    all(task.reads, false);
    all(task.writes, true);
  }
  void rectangle(const Access& access, bool write) {
    const std::int32_t index = ids_.buffer(access.buffer);
    if (access.strided) return intervals(index, write, *access.strided);
    const auto& shape = buffer(index).shape;
    for (std::size_t i = 0; i < access.region.ranges.size(); ++i) {
      const auto& [from, to] = access.region.ranges[i];
      clip(index, fmt::format("axis {}", i), from, to - from, shape[i], true);
    }
    for (const Strided& part : stridedParts(shape, access.region)) touch(index, write, part);
  }

  void intervals(std::int32_t index, bool write, Strided region) {
    const std::int64_t elements = buffer(index).elements();
    if (region.end() <= elements) return touch(index, write, region);
    overrun(index, fmt::format("elements [{}, {}) of {} in buffer {}", region.start, region.end(), elements,
                               buffer(index).name));
    if (region.start >= elements) return;
    // Those that end within it, and the beginning of the one that does not.
    const std::int64_t stride = std::max<std::int64_t>(1, region.stride);
    const std::int64_t begun = std::min(region.count, (elements - region.start - 1) / stride + 1);
    const std::int64_t last = region.start + (begun - 1) * stride;
    touch(index, write, {last, std::min(region.length, elements - last), 0, 1});
    region.count = begun - 1;
    touch(index, write, region);
  }

  const Schedule& schedule_;
  const Ids& ids_;
  const std::vector<std::int32_t> storage_;
  Footprints result_;
  std::int32_t task_ = 0;
};

}  // namespace

namespace {

/// The region's ranges clipped to the shape; empty if nothing is left.
std::vector<std::pair<std::int64_t, std::int64_t>> clipped(const std::vector<std::int64_t>& shape,
                                                           const Region& region) {
  std::vector<std::pair<std::int64_t, std::int64_t>> result;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto [from, to] = region.ranges[i];
    result.emplace_back(std::clamp<std::int64_t>(from, 0, shape[i]),
                        std::clamp<std::int64_t>(to, 0, shape[i]));
    if (result.back().first >= result.back().second) return {};
  }
  return result;
}

/// The axes from here on are covered whole.
std::size_t wholeFrom(const std::vector<std::int64_t>& shape,
                      const std::vector<std::pair<std::int64_t, std::int64_t>>& ranges) {
  std::size_t inner = shape.size();
  while (inner > 0 && ranges[inner - 1] == std::pair<std::int64_t, std::int64_t>{0, shape[inner - 1]})
    --inner;
  return inner;
}

}  // namespace

std::int64_t regionParts(const std::vector<std::int64_t>& shape, const Region& region) {
  if (region.ranges.empty() || shape.empty()) return 1;
  const auto ranges = clipped(shape, region);
  if (ranges.empty()) return 0;
  std::int64_t parts = 1;
  // One axis is an interval, one the stride; every axis outside repeats. An axis of one row repeats nothing.
  std::size_t axis = wholeFrom(shape, ranges);
  if (axis > 0) --axis;
  bool strided = false;
  for (std::size_t i = axis; i-- > 0;) {
    const std::int64_t rows = ranges[i].second - ranges[i].first;
    if (rows == 1) continue;
    if (strided && __builtin_mul_overflow(parts, rows, &parts)) return INT64_MAX;
    strided = true;
  }
  return parts;
}

std::vector<Strided> stridedParts(const std::vector<std::int64_t>& shape, const Region& region) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape) elements *= extent;
  const Strided whole{0, elements, 0, 1};
  if (region.ranges.empty() || shape.empty()) return {whole};
  const auto ranges = clipped(shape, region);
  if (ranges.empty()) return {};
  const std::size_t inner = wholeFrom(shape, ranges);
  if (inner == 0) return {whole};
  const auto step = strides(shape);
  const std::size_t axis = inner - 1;
  std::vector<Strided> parts{
      {ranges[axis].first * step[axis], (ranges[axis].second - ranges[axis].first) * step[axis], 0, 1}};
  for (std::size_t i = axis; i-- > 0;) {
    const auto [from, to] = ranges[i];
    for (Strided& part : parts) part.start += from * step[i];
    if (to - from == 1) continue;
    if (parts.size() == 1 && parts[0].count == 1) {
      parts[0].stride = step[i];
      parts[0].count = to - from;
      continue;
    }
    const std::vector<Strided> once = parts;
    for (std::int64_t r = 1; r < to - from; ++r) {
      for (Strided part : once) {
        part.start += r * step[i];
        parts.push_back(part);
      }
    }
  }
  return parts;
}

std::int64_t firstCommon(const Strided& a, const Strided& b) {
  if (a.end() <= b.start || b.end() <= a.start) return -1;
  const Strided& few = a.count <= b.count ? a : b;
  const Strided& many = a.count <= b.count ? b : a;
  if (few.count > 1 && few.stride == many.stride && few.length + many.length <= few.stride) {
    // Equal strides, no wrap: compare the offsets within one stride, then the ranges of rows.
    const std::int64_t d = floorDivide(many.start - few.start, few.stride);
    for (const std::int64_t shift : {d, d + 1}) {  // few's row i meets many's row i - shift
      const std::int64_t offset = many.start - few.start - shift * few.stride;
      if (offset >= few.length || -offset >= many.length) continue;
      const std::int64_t first = std::max<std::int64_t>(0, shift);
      const std::int64_t last = std::min(few.count, many.count + shift) - 1;
      if (first > last) continue;
      const std::int64_t rowA = few.start + first * few.stride;
      return std::max(rowA, many.start + (first - shift) * many.stride);
    }
    return -1;
  }
  for (std::int64_t i = 0; i < few.count; ++i) {
    const std::int64_t from = few.start + i * few.stride;
    const std::int64_t j = firstMeeting(many, from, from + few.length);
    if (j >= 0) return std::max(from, many.start + j * many.stride);
  }
  return -1;
}

bool overlap(const Strided& a, const Strided& b) {
  return firstCommon(a, b) >= 0;
}

Ids::Ids(const Schedule& schedule) {
  const auto fill = [](const auto& records, Map& map) {
    std::size_t i = 0;
    while (i < records.size() && records[i].id == static_cast<std::int64_t>(i)) ++i;
    map.dense = static_cast<std::int64_t>(i);
    map.others.reserve(records.size() - i);
    for (; i < records.size(); ++i) map.others.emplace(records[i].id, static_cast<std::int32_t>(i));
  };
  fill(schedule.buffers, buffers_);
  fill(schedule.counters, counters_);
  fill(schedule.tasks, tasks_);
}

Footprints footprints(const Schedule& schedule, const Ids& ids) {
  return Collector(schedule, ids).run();
}

}  // namespace nuscope::schedule
