// The n-ary maximum: flat, without dominated operands, common addends and non-negative common factors
// outside.
#include <algorithm>

#include "core/proof/functions.h"
#include "core/proof/real_term.h"
#include "core/proof/signs.h"

namespace nuscope::proof {
namespace {

void sortUnique(std::vector<PolyRef>& parts) {
  std::sort(parts.begin(), parts.end(), [](PolyRef a, PolyRef b) { return a->id < b->id; });
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
}

/// max(a + max(b, c), d): operands that are a maximum plus something are split when nothing else is there.
std::vector<PolyRef> flatten(std::span<const PolyRef> parts) {
  std::vector<PolyRef> flat;
  for (const PolyRef part : parts) {
    const AtomRef atom = part->asAtom();
    if (atom != nullptr && atom->kind == AtomKind::maximum) {
      flat.insert(flat.end(), atom->polys.begin(), atom->polys.end());
    } else {
      flat.push_back(part);
    }
  }
  sortUnique(flat);
  return flat;
}

/// Operands that another one is proved to reach.
void dropDominated(Calculus& c, std::vector<PolyRef>& parts) {
  for (std::size_t i = 0; i < parts.size();) {
    const bool dominated = std::any_of(parts.begin(), parts.end(), [&](PolyRef other) {
      return other != parts[i] && isNonNegative(signOf(c, subtract(c, other, parts[i])));
    });
    // Equal operands are one object, so two cannot dominate each other unless their difference is proved
    // zero.
    if (dominated) {
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

/// max(u + max(a, b), v) = max(u + a, u + b, v).
bool splitInner(Calculus& c, std::vector<PolyRef>& parts) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (const auto& [mono, coefficient] : parts[i]->terms) {
      if (coefficient < 0) continue;
      const AtomRef atom =
          mono->factors.size() == 1 && mono->factors[0].second == 1 ? mono->factors[0].first : nullptr;
      if (atom == nullptr || atom->kind != AtomKind::maximum) continue;
      const PolyRef rest = subtract(c, parts[i], polyOf(c, mono, coefficient));
      const Rational factor = coefficient;
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i));
      for (const PolyRef part : atom->polys) parts.push_back(add(c, rest, scale(c, part, factor)));
      sortUnique(parts);
      return true;
    }
  }
  return false;
}

PolyRef commonAddend(Calculus& c, const std::vector<PolyRef>& parts) {
  Poly common;
  for (const auto& term : parts[0]->terms) {
    const bool everywhere = std::all_of(parts.begin(), parts.end(), [&](PolyRef p) {
      return std::find(p->terms.begin(), p->terms.end(), term) != p->terms.end();
    });
    if (everywhere) common.terms.push_back(term);
  }
  return c.arena.intern(std::move(common));
}

/// A monomial of non-negative factors that divides every operand other than 0.
MonoRef commonFactor(Calculus& c, const std::vector<PolyRef>& parts) {
  std::vector<std::pair<AtomRef, Rational>> common;
  bool first = true;
  for (const PolyRef part : parts) {
    if (part->isZero()) continue;
    const Content content = contentOf(c, part);
    std::vector<std::pair<AtomRef, Rational>> mine;
    for (const auto& [atom, exponent] : content.mono->factors) {
      const Sign s = signOf(c, atom);
      if (atom->isIndicator()) continue;
      if (isPositive(s) || (isNonNegative(s))) mine.emplace_back(atom, exponent);
    }
    if (first) {
      common = mine;
      first = false;
      continue;
    }
    std::vector<std::pair<AtomRef, Rational>> both;
    for (const auto& [atom, exponent] : common) {
      for (const auto& [other, otherExponent] : mine) {
        if (other != atom || (exponent > 0) != (otherExponent > 0)) continue;
        both.emplace_back(
            atom, exponent > 0 ? std::min(exponent, otherExponent) : std::max(exponent, otherExponent));
      }
    }
    common = both;
  }
  return rawMono(c, common);
}

PolyRef maximumAtom(Calculus& c, std::vector<PolyRef> parts) {
  sortUnique(parts);
  if (parts.size() == 1) return parts[0];
  Atom atom;
  atom.kind = AtomKind::maximum;
  atom.polys = std::move(parts);
  return polyOf(c, c.arena.intern(std::move(atom)));
}

}  // namespace

PolyRef maximumOf(Calculus& c, std::span<const PolyRef> operands) {
  std::vector<PolyRef> parts = flatten(operands);
  if (parts.size() > 1) {
    for (int round = 0; round < 4 && parts.size() < 16 && splitInner(c, parts); ++round) {
    }
    dropDominated(c, parts);
  }
  if (parts.size() == 1) return parts[0];
  AtomRef indicator = nullptr;
  for (const PolyRef part : parts) {
    const AtomRef first = firstIndicator(part);
    if (first != nullptr && (indicator == nullptr || first->id < indicator->id)) indicator = first;
  }
  if (indicator != nullptr) {
    std::vector<PolyRef> yes;
    std::vector<PolyRef> no;
    for (const PolyRef part : parts) {
      yes.push_back(setIndicator(c, part, indicator, true));
      no.push_back(setIndicator(c, part, indicator, false));
    }
    return choose(c, polyOf(c, indicator), maximumOf(c, yes), maximumOf(c, no));
  }
  const PolyRef addend = commonAddend(c, parts);
  if (!addend->isZero()) {
    for (PolyRef& part : parts) part = subtract(c, part, addend);
  }
  const MonoRef factor = commonFactor(c, parts);
  const auto leading = std::find_if(parts.begin(), parts.end(), [](PolyRef p) { return !p->isZero(); });
  const Rational size = leading == parts.end() ? Rational(1) : Rational(abs((*leading)->terms[0].second));
  const PolyRef outer = scale(c, polyOf(c, factor), size);
  if (outer == c.arena.one) return add(c, addend, maximumAtom(c, parts));
  const PolyRef divisor = scale(c, power(c, factor, -1), 1 / size);
  for (PolyRef& part : parts) part = multiply(c, part, divisor);
  return add(c, addend, multiply(c, outer, maximumAtom(c, parts)));
}

}  // namespace nuscope::proof
