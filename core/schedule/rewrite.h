#pragma once
// A changed schedule as a small change of its file: the text of what did not change stays as somebody wrote
// it.
#include <string>
#include <string_view>

#include "core/schedule/ir.h"

namespace nuscope::schedule {

/// The text of `after`, where `text` is that of `before`: records of tasks that are equal in both keep their
/// text, others are written anew, all in the order of `after`. Where more than tasks differs, or the text is
/// above `mostRewritten`, everything is written anew (writeSchedule). Always reads as `after`.
std::string rewrite(std::string_view text, const Schedule& before, const Schedule& after);

inline constexpr std::size_t mostRewritten = std::size_t(8) << 20;

}  // namespace nuscope::schedule
