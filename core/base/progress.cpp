#include "core/base/progress.h"

namespace nuscope {

Progress::Progress(std::stop_token stop, Callback callback)
    : stop_(std::move(stop)), callback_(std::move(callback)) {}

void Progress::report(double fraction, std::string_view message) const {
  if (callback_) callback_(fraction, message);
}

void Progress::check() const {
  if (cancelled()) throw Cancelled{};
}

Progress Progress::part(double from, double to) const {
  if (!callback_) return Progress(stop_);
  return Progress(stop_, [parent = callback_, from, to](double fraction, std::string_view message) {
    parent(fraction < 0 ? fraction : from + (to - from) * fraction, message);
  });
}

}  // namespace nuscope
