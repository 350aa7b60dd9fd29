#include <algorithm>
#include <array>
#include <set>

#include "core/semantics/draw.h"

namespace nuscope::semantics {
namespace {

using tensor::Dim;
using tensor::DimFacts;

constexpr std::int64_t kLargestBound = 1 << 16;

/// Largest c <= kLargestBound such that symbol >= c is known.
std::int64_t lowerBound(const std::string& symbol, const DimFacts& facts) {
  const auto known = [&](std::int64_t c) { return facts.nonNegative(Dim::symbol(symbol) - Dim(c)); };
  std::int64_t low = 1;
  std::int64_t high = 2;
  while (high <= kLargestBound && known(high)) {
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const std::int64_t middle = (low + high) / 2;
    (known(middle) ? low : high) = middle;
  }
  return low;
}

bool allHold(const DimFacts& facts, const tensor::Extents& extents) {
  return std::ranges::all_of(facts.relations(),
                             [&](const auto& relation) { return relation.holds(extents); });
}

}  // namespace

std::optional<tensor::Extents> drawExtents(const std::vector<std::string>& dimensions, const DimFacts& facts,
                                           int number, std::mt19937_64& random) {
  // Substitutions of the facts turn divisibilities and equalities into free symbols.
  std::set<std::string> free;
  for (const std::string& dimension : dimensions)
    facts.normalise(Dim::symbol(dimension)).collectSymbols(free);
  std::map<std::string, std::int64_t> lower;
  for (const std::string& symbol : free) lower[symbol] = lowerBound(symbol, facts);
  const auto any = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
  };
  for (int attempt = 0; attempt < 300; ++attempt) {
    tensor::Extents values;
    std::int64_t next = 1;
    for (const std::string& symbol : free) {
      std::int64_t extra = 0;
      if (attempt > 0) {
        const std::int64_t reach = free.size() > 2 ? 7 : 11;
        extra = any(0, attempt < 100 ? reach : reach * 4);
      } else if (number == 1) {
        extra = next++;
      } else if (number > 1) {
        constexpr std::array<std::int64_t, 12> few{0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 15, 23};
        constexpr std::array<std::int64_t, 8> many{0, 1, 1, 2, 2, 3, 4, 6};
        extra = free.size() > 2 ? many[random() % many.size()] : few[random() % few.size()];
      }
      values[symbol] = lower[symbol] + extra;
    }
    tensor::Extents extents = values;
    bool positive = true;
    for (const std::string& dimension : dimensions) {
      extents[dimension] = facts.normalise(Dim::symbol(dimension)).evaluate(values);
      positive = positive && extents[dimension] >= 1;
    }
    tensor::Extents wanted;
    for (const std::string& dimension : dimensions) wanted[dimension] = extents[dimension];
    if (positive && allHold(facts, wanted)) return wanted;
  }
  return std::nullopt;
}

}  // namespace nuscope::semantics
