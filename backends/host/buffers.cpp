#include "backends/host/buffers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/diagnostics.h"

namespace nuscope::backends {
namespace {

constexpr std::byte margin{0xC5};

std::size_t pageSize() {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

class Descriptor {
 public:
  Descriptor(const std::string& path, int flags)
      : value(open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600)) {
    if (value < 0)
      throw UserError(fmt::format("the array file {} cannot be opened: {}", path, std::strerror(errno)));
  }
  ~Descriptor() { close(value); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int value;
};

}  // namespace

Buffer::Buffer(std::size_t bytes, bool guarded) : size_(bytes) {
  const std::size_t page = pageSize();
  const std::size_t body = (std::max<std::size_t>(bytes, 1) + page - 1) / page * page;
  mapped_ = body + 2 * page;
  void* mapping = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) throw UserError(fmt::format("no memory for an array of {} bytes", bytes));
  mapping_ = static_cast<std::byte*>(mapping);
  if (mprotect(mapping_ + page, body, PROT_READ | PROT_WRITE) != 0) {
    munmap(mapping_, mapped_);
    throw UserError(fmt::format("no memory for an array of {} bytes", bytes));
  }
  data_ = guarded ? mapping_ + page + (body - bytes) : mapping_ + page;
  std::fill(mapping_ + page, data_, margin);
}

Buffer::~Buffer() {
  munmap(mapping_, mapped_);
}

void Buffer::fillUntouched() {
  std::memset(data_, 0xFF, size_);
}

void Buffer::protectFromWrites() {
  const std::size_t page = pageSize();
  mprotect(mapping_ + page, mapped_ - 2 * page, PROT_READ);
}

bool Buffer::marginIntact() const {
  return std::all_of(mapping_ + pageSize(), data_, [](std::byte b) { return b == margin; });
}

std::size_t bytesOf(const sweep::ArrayFile& array) {
  return static_cast<std::size_t>(array.count) * static_cast<std::size_t>(tensor::byteSize(array.dtype));
}

std::unique_ptr<Buffer> readArray(const sweep::ArrayFile& array, bool guarded) {
  const std::size_t bytes = bytesOf(array);
  const Descriptor file(array.file, O_RDONLY);
  struct stat status {};
  if (fstat(file.value, &status) != 0 || status.st_size < 0 ||
      static_cast<std::size_t>(status.st_size) != bytes) {
    throw UserError(
        fmt::format("the array file {} holds {} bytes instead of {}", array.file, status.st_size, bytes));
  }
  auto buffer = std::make_unique<Buffer>(bytes, guarded);
  std::size_t done = 0;
  while (done < bytes) {
    const auto got = read(file.value, buffer->data() + done, bytes - done);
    if (got <= 0) throw UserError(fmt::format("the array file {} cannot be read", array.file));
    done += static_cast<std::size_t>(got);
  }
  return buffer;
}

void writeArray(const sweep::ArrayFile& array, const Buffer& buffer) {
  const Descriptor file(array.file, O_WRONLY | O_CREAT | O_TRUNC);
  std::size_t done = 0;
  while (done < buffer.size()) {
    const auto put = write(file.value, buffer.data() + done, buffer.size() - done);
    if (put <= 0)
      throw UserError(
          fmt::format("the array file {} cannot be written: {}", array.file, std::strerror(errno)));
    done += static_cast<std::size_t>(put);
  }
}

}  // namespace nuscope::backends
