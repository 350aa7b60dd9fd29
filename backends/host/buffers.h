#pragma once
// Arrays that kernels work on. Guarded ones end at a page that may not be touched, so a kernel that reads or
// writes past an end dies there instead of passing by luck; what lies before is checked after the run.
#include <cstddef>
#include <memory>
#include <string>

#include "core/sweep/protocol.h"

namespace nuscope::backends {

class Buffer {
 public:
  /// `guarded`: ends exactly at an untouchable page, aligned to the element only. Else aligned to 64 bytes.
  Buffer(std::size_t bytes, bool guarded);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  void fillUntouched();      ///< every byte 0xFF: NaN in float types, no condition in bool
  void protectFromWrites();  ///< a kernel that writes to its inputs dies
  /// The bytes between the mapping's start and the data are as they were made.
  [[nodiscard]] bool marginIntact() const;

 private:
  std::byte* mapping_ = nullptr;
  std::size_t mapped_ = 0;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Throws UserError when the file is missing or has another size.
std::unique_ptr<Buffer> readArray(const sweep::ArrayFile& array, bool guarded);
void writeArray(const sweep::ArrayFile& array, const Buffer& buffer);
std::size_t bytesOf(const sweep::ArrayFile& array);

}  // namespace nuscope::backends
