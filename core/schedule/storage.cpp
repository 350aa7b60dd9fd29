#include "core/schedule/storage.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace nuscope::schedule {
namespace {

/// A storage seen as rows of `width` elements: every access is a rectangle of it.
std::int64_t commonWidth(const std::vector<Touch>& all, const std::vector<std::int32_t>& touches,
                         std::int64_t elements) {
  std::int64_t width = 0;
  for (const std::int32_t t : touches) {
    const Strided& r = all[static_cast<std::size_t>(t)].region;
    if (r.count > 1) width = std::gcd(width, r.stride);
  }
  if (width == 0) return elements;  // intervals only: one row
  for (const std::int32_t t : touches) {
    const Strided& r = all[static_cast<std::size_t>(t)].region;
    const bool insideOneRow = r.start / width == (r.start + r.length - 1) / width;
    const bool wholeRows = r.start % width == 0 && r.length % width == 0;
    const bool consecutive = r.count == 1 || r.stride == width || wholeRows;
    if (!(insideOneRow || wholeRows) || !consecutive) return 0;
    if (wholeRows && r.count > 1 && r.stride != r.length) return 0;  // bands of whole rows with gaps
  }
  return width;
}

/// Without a common width: every element boundary that any interval has. Only for small or odd storages.
std::vector<Segment> byIntervals(const std::vector<Touch>& all, const std::vector<std::int32_t>& touches,
                                 std::int64_t elements) {
  struct Edge {
    std::int64_t at;
    bool open;
    std::int32_t touch;
  };
  std::vector<Edge> edges;
  for (const std::int32_t t : touches) {
    const Strided& r = all[static_cast<std::size_t>(t)].region;
    for (std::int64_t i = 0; i < r.count; ++i) {
      edges.push_back({r.start + i * r.stride, true, t});
      edges.push_back({r.start + i * r.stride + r.length, false, t});
    }
  }
  std::ranges::sort(edges, {}, [](const Edge& e) { return std::make_tuple(e.at, e.open, e.touch); });
  std::map<std::vector<std::int32_t>, Segment> byAccess;  // equal sets of accesses are one segment
  std::vector<std::int32_t> open;
  std::int64_t from = 0;
  const auto close = [&](std::int64_t to) {
    if (to <= from) return;
    auto [at, isNew] = byAccess.try_emplace(open);
    if (isNew) at->second = {from, 0, open};
    at->second.size += to - from;
    from = to;
  };
  for (const Edge& edge : edges) {
    close(edge.at);
    const auto place = std::ranges::lower_bound(open, edge.touch);
    if (edge.open) {
      open.insert(place, edge.touch);
    } else {
      open.erase(place);
    }
  }
  close(elements);
  std::vector<Segment> result;
  for (auto& [key, segment] : byAccess) result.push_back(std::move(segment));
  std::ranges::sort(result, {}, &Segment::element);
  return result;
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

std::vector<Segment> segments(const std::vector<Touch>& all, const std::vector<std::int32_t>& touches,
                              std::int64_t elements) {
  const std::int64_t width = commonWidth(all, touches, elements);
  if (width == 0) return byIntervals(all, touches, elements);
  struct Box {
    std::int64_t rowFrom, rowTo, from, to;
    std::int32_t touch;
  };
  std::vector<Box> boxes;
  std::vector<std::int64_t> columnEdges{0, width};
  std::vector<std::int64_t> rowEdges{0, (elements + width - 1) / width};
  for (const std::int32_t t : touches) {
    const Strided& r = all[static_cast<std::size_t>(t)].region;
    Box box{r.start / width, 0, r.start % width, 0, t};
    if (r.start % width == 0 && r.length % width == 0) {
      box.rowTo = box.rowFrom + r.count * (r.length / width);
      box.to = width;
    } else {
      box.rowTo = box.rowFrom + r.count;
      box.to = box.from + r.length;
    }
    boxes.push_back(box);
    columnEdges.insert(columnEdges.end(), {box.from, box.to});
    rowEdges.insert(rowEdges.end(), {box.rowFrom, box.rowTo});
  }
  const auto distinct = [](std::vector<std::int64_t>& edges) {
    std::ranges::sort(edges);
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  };
  distinct(columnEdges);
  distinct(rowEdges);
  const std::size_t columns = columnEdges.size() - 1;
  const std::size_t rows = rowEdges.size() - 1;
  std::vector<Segment> result(rows * columns);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      Segment& s = result[i * columns + j];
      s.element = rowEdges[i] * width + columnEdges[j];
      s.size = (rowEdges[i + 1] - rowEdges[i]) * (columnEdges[j + 1] - columnEdges[j]);
    }
  }
  const auto position = [](const std::vector<std::int64_t>& edges, std::int64_t value) {
    return static_cast<std::size_t>(std::ranges::lower_bound(edges, value) - edges.begin());
  };
  for (const Box& box : boxes) {
    const std::size_t lastRow = position(rowEdges, box.rowTo);
    const std::size_t lastColumn = position(columnEdges, box.to);
    for (std::size_t i = position(rowEdges, box.rowFrom); i < lastRow; ++i) {
      for (std::size_t j = position(columnEdges, box.from); j < lastColumn; ++j) {
        result[i * columns + j].touches.push_back(box.touch);
      }
    }
  }
  return result;
}

}  // namespace nuscope::schedule
