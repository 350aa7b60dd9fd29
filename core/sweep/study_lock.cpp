#include "core/sweep/study_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace nuscope::sweep {
namespace {

std::string ownerOf(int descriptor) {
  char text[64] = {};
  const auto got = pread(descriptor, text, sizeof text - 1, 0);
  std::string owner(text, got > 0 ? static_cast<std::size_t>(got) : 0);
  for (const char c : owner) {
    if (c < '0' || c > '9') return "another process";
  }
  return owner.empty() ? "another process" : "process " + owner;
}

bool sameFile(int descriptor, const std::string& path) {
  struct stat a {};
  struct stat b {};
  return fstat(descriptor, &a) == 0 && stat(path.c_str(), &b) == 0 && a.st_ino == b.st_ino &&
         a.st_dev == b.st_dev;
}

}  // namespace

WriterLock::WriterLock(const std::string& studyPath) : path_(studyPath + "-lock") {
  for (int attempt = 0; attempt < 100; ++attempt) {
    const int descriptor = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (descriptor < 0) {
      reason_ = fmt::format("its folder may not be written ({})", std::strerror(errno));
      return;
    }
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
      reason_ = fmt::format("{} is writing it", ownerOf(descriptor));
      close(descriptor);
      return;
    }
    if (!sameFile(descriptor, path_)) {  // its last owner removed it between our open and flock
      close(descriptor);
      continue;
    }
    const std::string owner = std::to_string(getpid());
    if (ftruncate(descriptor, 0) != 0 || pwrite(descriptor, owner.data(), owner.size(), 0) < 0) {
      reason_ = fmt::format("its lock may not be written ({})", std::strerror(errno));
      close(descriptor);
      return;
    }
    descriptor_ = descriptor;
    return;
  }
  reason_ = "other processes keep opening it";
}

WriterLock::~WriterLock() {
  if (descriptor_ < 0) return;
  unlink(path_.c_str());
  close(descriptor_);
}

}  // namespace nuscope::sweep
