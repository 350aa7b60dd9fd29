#pragma once
// Which buffers are one storage, and what is in it before the pass.
#include <vector>

#include "core/schedule/footprint.h"

namespace nuscope::schedule {

/// Alias classes: buffers with one non-null source, and caches with one name. Class of a buffer = smallest
/// position.
std::vector<std::int32_t> storageOf(const Schedule& schedule);

/// Which elements hold nothing until a task of this pass has written them: activations, outputs, and the rows
/// of a cache from the first position on that this pass appends to it.
class Transience {
 public:
  Transience(const Schedule& schedule, const Ids& ids, const std::vector<std::int32_t>& storage);
  /// Of a read through `buffer`; row-major position in the storage.
  [[nodiscard]] bool isTransient(std::int32_t buffer, std::int64_t element) const;
  /// Some element of the buffer may be.
  [[nodiscard]] bool any(std::int32_t buffer) const;
  /// The rows of a cache that earlier passes wrote; length 0 if none.
  [[nodiscard]] Strided initial(std::int32_t buffer) const;

 private:
  [[nodiscard]] const Buffer& at(std::int32_t buffer) const {
    return schedule_.buffers[static_cast<std::size_t>(buffer)];
  }
  const Schedule& schedule_;
  const std::vector<std::int32_t>& storage_;
  std::vector<std::int64_t> firstAppended_;  ///< per storage; INT64_MAX: nothing is appended
};

}  // namespace nuscope::schedule
