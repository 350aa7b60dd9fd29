#pragma once
// The difference of two texts, line by line.
#include <string>
#include <string_view>
#include <vector>

namespace nuscope {

struct DiffLine {
  enum class Kind : char { both = ' ', removed = '-', added = '+' };
  Kind kind = Kind::both;
  std::string text;
  bool operator==(const DiffLine&) const = default;
};

/// A shortest list of removed and added lines between what both have. Texts whose differing middles have more
/// than four million pairs of lines are not compared there: the middle is removed and added as a whole.
std::vector<DiffLine> lineDiff(std::string_view before, std::string_view after);

/// Without the lines that are further than `context` from any difference; each gap becomes one line "...".
std::vector<DiffLine> nearDifferences(const std::vector<DiffLine>& lines, std::size_t context = 2);

}  // namespace nuscope
