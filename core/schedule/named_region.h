#pragma once
// A region as people write it: "63", "L0.q", "63[0:1, 16:32]", "L0.q[3, :]".
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/schedule/ir.h"

namespace nuscope::schedule {

struct NamedRegion {
  std::int32_t buffer = -1;  ///< position in the list of buffers
  Region region;             ///< empty: the whole buffer
};

/// A buffer by its id, or by its name where only one has it; behind it one range an axis, ends exclusive.
/// Refused with what is wrong: no such buffer, another number of axes, a range outside the buffer.
Result<NamedRegion> parseRegion(const Schedule& schedule, std::string_view text);

/// "L0.q[0:1, 16:32]"; the name alone for the whole buffer.
std::string text(const Schedule& schedule, const NamedRegion& region);

}  // namespace nuscope::schedule
