#include "core/schedule/storage.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace nuscope::schedule {
namespace {

/// The axis of a cache that counts positions: the first, or the second of four ([batch, position, head,
/// dim]).
std::size_t positionAxis(const Buffer& cache) {
  return cache.shape.size() == 4 ? 1 : 0;
}

std::int64_t rowOf(const Buffer& cache) {
  std::int64_t row = 1;
  for (std::size_t i = positionAxis(cache) + 1; i < cache.shape.size(); ++i) row *= cache.shape[i];
  return row;
}

}  // namespace

std::vector<std::int32_t> storageOf(const Schedule& schedule) {
  std::vector<std::int32_t> storage(schedule.buffers.size());
  std::map<std::string, std::int32_t> bySource;
  std::map<std::string, std::int32_t> byCacheName;
  std::iota(storage.begin(), storage.end(), 0);
  const auto find = [&](std::int32_t b) {
    while (storage[static_cast<std::size_t>(b)] != b) b = storage[static_cast<std::size_t>(b)];
    return b;
  };
  const auto unite = [&](std::int32_t a, std::int32_t b) {
    a = find(a);
    b = find(b);
    storage[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
  };
  for (std::size_t i = 0; i < schedule.buffers.size(); ++i) {
    const Buffer& buffer = schedule.buffers[i];
    const auto index = static_cast<std::int32_t>(i);
    if (buffer.source) unite(bySource.emplace(*buffer.source, index).first->second, index);
    if (buffer.kind == BufferKind::kvCache)
      unite(byCacheName.emplace(buffer.name, index).first->second, index);
  }
  for (std::size_t i = 0; i < storage.size(); ++i) storage[i] = find(static_cast<std::int32_t>(i));
  return storage;
}

Transience::Transience(const Schedule& schedule, const Ids& ids, const std::vector<std::int32_t>& storage)
    : schedule_(schedule), storage_(storage), firstAppended_(schedule.buffers.size(), INT64_MAX) {
  if (schedule.dynamicDispatch) return;  // nothing says what holds values before the pass: all does
  const auto appends = [&](std::int64_t id, std::int64_t position) {
    const auto b = static_cast<std::size_t>(ids.buffer(id));
    auto& first = firstAppended_[static_cast<std::size_t>(storage[b])];
    first = std::min(first, position);
  };
  for (const Task& task : schedule.tasks) {
    if (task.writes) {  // declared: what is written to a cache is what this pass appends
      for (const Access& access : *task.writes) {
        const Buffer& buffer = at(ids.buffer(access.buffer));
        if (buffer.kind != BufferKind::kvCache) continue;
        const auto& ranges = access.region.ranges;
        appends(access.buffer, access.strided   ? access.strided->start
                               : ranges.empty() ? 0
                                                : ranges[positionAxis(buffer)].first);
      }
    } else if (task.op == Opcode::kvAppend) {
      appends(task.outputs[0], task.integer("pos").value_or(0));
    }
  }
}

bool Transience::any(std::int32_t buffer) const {
  const Buffer& it = at(buffer);
  if (it.kind == BufferKind::activation || it.kind == BufferKind::output) return true;
  return it.kind == BufferKind::kvCache &&
         firstAppended_[static_cast<std::size_t>(storage_[static_cast<std::size_t>(buffer)])] != INT64_MAX;
}

bool Transience::isTransient(std::int32_t buffer, std::int64_t element) const {
  if (!any(buffer)) return false;
  const Buffer& it = at(buffer);
  if (it.kind != BufferKind::kvCache) return true;
  const std::int64_t extent = it.shape.empty() ? 1 : it.shape[positionAxis(it)];
  const std::int64_t position = it.shape.empty() ? 0 : element / rowOf(it) % extent;
  return position >= firstAppended_[static_cast<std::size_t>(storage_[static_cast<std::size_t>(buffer)])];
}

Strided Transience::initial(std::int32_t buffer) const {
  const Buffer& it = at(buffer);
  if (it.kind != BufferKind::kvCache || it.shape.empty()) return {};
  const std::int64_t extent = it.shape[positionAxis(it)];
  const std::int64_t first = std::clamp<std::int64_t>(
      firstAppended_[static_cast<std::size_t>(storage_[static_cast<std::size_t>(buffer)])], 0, extent);
  const std::int64_t row = rowOf(it);
  if (positionAxis(it) == 0) return {0, first * row, 0, 1};
  return {0, first * row, extent * row, it.shape[0]};
}

}  // namespace nuscope::schedule
