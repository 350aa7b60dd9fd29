#pragma once
// Which buffers are one storage, and the elementary segments into which the accesses cut it.
#include <vector>

#include "core/schedule/footprint.h"

namespace nuscope::schedule {

/// Alias classes: buffers with one non-null source, and caches with one name. Class of a buffer = smallest
/// position.
std::vector<std::int32_t> storageOf(const Schedule& schedule);

/// A set of elements that every access of the storage covers whole or not at all.
struct Segment {
  std::int64_t element = 0;           ///< its first element, row-major
  std::int64_t size = 0;              ///< number of elements
  std::vector<std::int32_t> touches;  ///< positions in Footprints::touches
};

/// Segments of one storage of `elements` elements; `touches` are positions in `all`. Segments without an
/// access are included, with an empty list, so that gaps can be seen. Exact for every mix of regions.
std::vector<Segment> segments(const std::vector<Touch>& all, const std::vector<std::int32_t>& touches,
                              std::int64_t elements);

}  // namespace nuscope::schedule
