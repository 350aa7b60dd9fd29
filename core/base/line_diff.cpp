#include "core/base/line_diff.h"

#include <algorithm>
#include <cstdint>

namespace nuscope {
namespace {

using Lines = std::vector<std::string_view>;
constexpr std::size_t mostPairs = 4'000'000;

Lines linesOf(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

/// Lengths of the longest common subsequences of all pairs of tails.
class Table {
 public:
  Table(const Lines& a, const Lines& b) : width_(b.size() + 1), cells_((a.size() + 1) * width_) {
    for (std::size_t i = a.size(); i-- > 0;) {
      for (std::size_t j = b.size(); j-- > 0;) {
        cell(i, j) = a[i] == b[j] ? cell(i + 1, j + 1) + 1 : std::max(cell(i + 1, j), cell(i, j + 1));
      }
    }
  }
  std::uint32_t& cell(std::size_t i, std::size_t j) { return cells_[i * width_ + j]; }

 private:
  std::size_t width_;
  std::vector<std::uint32_t> cells_;
};

void middle(const Lines& a, const Lines& b, std::vector<DiffLine>& into) {
  using Kind = DiffLine::Kind;
  const auto put = [&](Kind kind, std::string_view line) { into.push_back({kind, std::string(line)}); };
  std::size_t i = 0;
  std::size_t j = 0;
  if (a.size() * b.size() <= mostPairs) {
    Table table(a, b);
    while (i < a.size() && j < b.size()) {
      if (a[i] == b[j]) {
        put(Kind::both, a[i]);
        ++i, ++j;
      } else if (table.cell(i + 1, j) >= table.cell(i, j + 1)) {
        put(Kind::removed, a[i++]);
      } else {
        put(Kind::added, b[j++]);
      }
    }
  }
  while (i < a.size()) put(Kind::removed, a[i++]);
  while (j < b.size()) put(Kind::added, b[j++]);
}

}  // namespace

std::vector<DiffLine> lineDiff(std::string_view before, std::string_view after) {
  const Lines a = linesOf(before);
  const Lines b = linesOf(after);
  const auto shorter = static_cast<std::ptrdiff_t>(std::min(a.size(), b.size()));
  const auto head = std::mismatch(a.begin(), a.begin() + shorter, b.begin()).first - a.begin();
  const auto tail = std::mismatch(a.rbegin(), a.rbegin() + (shorter - head), b.rbegin()).first - a.rbegin();
  std::vector<DiffLine> lines;
  for (std::ptrdiff_t i = 0; i < head; ++i)
    lines.push_back({DiffLine::Kind::both, std::string(a[static_cast<std::size_t>(i)])});
  middle(Lines(a.begin() + head, a.end() - tail), Lines(b.begin() + head, b.end() - tail), lines);
  for (auto at = a.end() - tail; at != a.end(); ++at)
    lines.push_back({DiffLine::Kind::both, std::string(*at)});
  return lines;
}

std::vector<DiffLine> nearDifferences(const std::vector<DiffLine>& lines, std::size_t context) {
  std::vector<bool> near(lines.size(), false);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].kind == DiffLine::Kind::both) continue;
    const std::size_t from = i > context ? i - context : 0;
    for (std::size_t k = from; k < std::min(lines.size(), i + context + 1); ++k) near[k] = true;
  }
  std::vector<DiffLine> kept;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (near[i]) {
      kept.push_back(lines[i]);
    } else if (kept.empty() || kept.back().text != "...") {
      kept.push_back({DiffLine::Kind::both, "..."});
    }
  }
  return kept;
}

}  // namespace nuscope
