#include "core/schedule/read.h"
namespace nuscope::schedule {
ReadResult readMirage(std::string_view text) {
  return readAmk(text);
}
}  // namespace nuscope::schedule
