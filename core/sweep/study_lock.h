#pragma once
// One writer a study: an flock on "FILE-lock" beside it. A killed writer's lock is gone with it; the file may
// stay.
#include <string>

namespace nuscope::sweep {

class WriterLock {
 public:
  /// Tries once. Without the lock `reason` says why, for people.
  explicit WriterLock(const std::string& studyPath);
  ~WriterLock();
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;
  [[nodiscard]] bool held() const { return descriptor_ >= 0; }
  [[nodiscard]] const std::string& reason() const { return reason_; }

 private:
  std::string path_;
  int descriptor_ = -1;
  std::string reason_;
};

}  // namespace nuscope::sweep
