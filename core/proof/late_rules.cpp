#include "core/proof/late_rules.h"

#include <algorithm>

#include "core/proof/folds.h"
#include "core/proof/functions.h"
#include "core/proof/int_facts.h"
#include "core/proof/real_term.h"
#include "core/proof/substitute.h"
#include "core/proof/walk.h"

namespace nuscope::proof {
namespace {

constexpr long kLongest = 8;           ///< elements of a range that is written out
constexpr std::size_t kElements = 32;  ///< of one fold
constexpr std::size_t kFolds = 24;
constexpr long kMultiples = 12;  ///< of one angle
constexpr long kModulus = 16;
constexpr std::size_t kClasses = 48;

/// Outermost folds.
std::vector<AtomRef> outerFolds(PolyRef p) {
  std::vector<AtomRef> result;
  Walker walker;
  walker.intoFolds = false;
  walker.onAtom = [&](AtomRef atom) {
    if (atom->isFold() && atom->guard == nullptr) result.push_back(atom);
  };
  walker.walk(p);
  return result;
}

/// The length to write out, or empty. Only sums have prefixes of negative length (S8).
std::optional<long> fewElements(AtomRef fold, IntAtomRef v) {
  if (!v->extent->isConstant()) return std::nullopt;
  const Integer length = v->extent->constant();
  if (length > kLongest || length < (fold->kind == AtomKind::sum && !v->ranged ? -kLongest : 1))
    return std::nullopt;
  return length.get_si();
}

PolyRef combined(Calculus& c, AtomKind kind, const std::vector<PolyRef>& parts) {
  if (kind == AtomKind::sum) return parts.empty() ? c.arena.zero : sumOf(c, parts);
  if (kind == AtomKind::maxFold) return maximumOf(c, parts);
  PolyRef result = c.arena.one;
  for (const PolyRef part : parts) result = multiply(c, result, part);
  return result;
}

PolyRef remade(Calculus& c, AtomKind kind, const std::vector<IntAtomRef>& variables, PolyRef body) {
  if (kind == AtomKind::sum) return makeSum(c, variables, body);
  if (kind == AtomKind::productFold) return makeProduct(c, variables, body);
  return makeMax(c, variables, body, c.arena.one);
}

/// The fold with its short ranges written out, and those of the folds inside; null if it has none.
PolyRef writtenOut(Calculus& c, AtomRef fold) {
  const Opened opened = open(c, fold);
  std::vector<IntAtomRef> kept;
  std::vector<std::pair<IntAtomRef, long>> few;
  std::size_t elements = 1;
  const Variables own = asSet(opened.variables);
  for (const IntAtomRef v : opened.variables) {
    const auto length = fewElements(fold, v);
    if (length && isFree(opened.variables, own, v) &&
        elements * static_cast<std::size_t>(std::abs(*length)) <= kElements) {
      few.emplace_back(v, *length);
      elements *= static_cast<std::size_t>(std::abs(*length));
    } else {
      kept.push_back(v);
    }
  }
  const PolyRef body = unrolled(c, opened.body);
  if (few.empty()) return body == opened.body ? nullptr : remade(c, fold->kind, kept, body);
  std::vector<PolyRef> parts{body};
  for (const auto& [v, length] : few) {
    std::vector<PolyRef> next;
    for (const PolyRef part : parts) {
      // F(-n) = -f(-1) - ... - f(-n)
      for (long i = 0; i < length; ++i) next.push_back(substitute(c, part, v, intConstant(c, i)));
      for (long i = -1; i >= length; --i)
        next.push_back(negate(c, substitute(c, part, v, intConstant(c, i))));
    }
    parts = std::move(next);
  }
  if (!kept.empty()) {
    for (PolyRef& part : parts) part = remade(c, fold->kind, kept, part);
  }
  return combined(c, fold->kind, parts);
}

/// A range [from, from + length) of the elements of one body.
struct Interval {
  IntRef from = nullptr;
  IntRef length = nullptr;
};

/// A maximum over one index whose range is not empty.
bool isPlainMaximum(AtomRef atom) {
  return atom != nullptr && atom->kind == AtomKind::maxFold && atom->guard == nullptr &&
         atom->bound.size() == 1 && atom->bound[0]->ranged;
}

/// Where the elements of `part` lie among those of the maximum `fold`, if they are elements of its body.
std::optional<Interval> intervalOf(Calculus& c, AtomRef fold, PolyRef part) {
  const AtomRef other = part->asAtom();
  const bool isFold = isPlainMaximum(other);
  const IntAtomRef w = isFold ? freshIndex(c, other->bound[0]->extent) : nullptr;
  PolyRef body = part;
  if (isFold) {
    const IntRef at[] = {intOf(c, w)};
    body = openAt(c, other, at).body;
  }
  const IntAtomRef v = freshVariable(c, nullptr, false);
  const IntRef at[] = {intOf(c, v)};
  const PolyRef mine = openAt(c, fold, at).body;
  // The first subscript in which the index of the fold occurs, against those of the part.
  AtomRef pattern = nullptr;
  Walker walker;
  walker.only = v;
  walker.onAtom = [&](AtomRef atom) {
    if (pattern == nullptr && atom->kind == AtomKind::element) pattern = atom;
  };
  walker.walk(mine);
  if (pattern == nullptr) return std::nullopt;
  std::vector<IntRef> offsets;
  Walker others;
  others.onAtom = [&](AtomRef atom) {
    if (atom->kind != AtomKind::element || atom->source != pattern->source) return;
    for (std::size_t i = 0; i < pattern->subscripts.size(); ++i) {
      const auto linear = linearIn(c, pattern->subscripts[i], v);
      if (!linear || linear->coefficient != c.arena.oneInt) continue;
      IntRef offset = subtract(c, atom->subscripts[i], linear->rest);
      if (isFold) offset = subtract(c, offset, intOf(c, w));
      if (isFold && contains(offset->variables, w)) continue;
      if (std::find(offsets.begin(), offsets.end(), offset) == offsets.end()) offsets.push_back(offset);
    }
  };
  others.walk(body);
  for (const IntRef offset : offsets) {
    const IntRef index[] = {isFold ? add(c, offset, intOf(c, w)) : offset};
    if (openAt(c, fold, index).body != body) continue;
    return Interval{offset, isFold ? other->bound[0]->extent : c.arena.oneInt};
  }
  return std::nullopt;
}

/// [0, n) and the interval as one range, if nothing lies between them.
std::optional<Interval> unionWith(Calculus& c, IntRef n, const Interval& other) {
  const IntRef end = add(c, other.from, other.length);
  if (!nonNegative(c, subtract(c, n, other.from)) || !nonNegative(c, end)) return std::nullopt;  // a gap
  Interval result;
  if (nonNegative(c, other.from)) {
    result.from = c.arena.zeroInt;
  } else if (nonNegative(c, negate(c, other.from))) {
    result.from = other.from;
  } else {
    return std::nullopt;
  }
  if (nonNegative(c, subtract(c, n, end))) {
    result.length = subtract(c, n, result.from);
  } else if (nonNegative(c, subtract(c, end, n))) {
    result.length = subtract(c, end, result.from);
  } else {
    return std::nullopt;
  }
  return result;
}

/// Two operands joined, or false.
bool uniteOnce(Calculus& c, std::vector<PolyRef>& parts) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const AtomRef fold = parts[i]->asAtom();
    if (!isPlainMaximum(fold)) continue;
    for (std::size_t j = 0; j < parts.size(); ++j) {
      if (i == j) continue;
      const auto other = intervalOf(c, fold, parts[j]);
      if (!other) continue;
      const auto whole = unionWith(c, fold->bound[0]->extent, *other);
      if (!whole) continue;
      const IntAtomRef v = freshIndex(c, whole->length);
      if (!v->ranged) continue;
      const IntRef at[] = {add(c, intOf(c, v), whole->from)};
      parts[i] = makeMax(c, {v}, openAt(c, fold, at).body, c.arena.one);
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(j));
      return true;
    }
  }
  return false;
}

/// sin or cos of n times an angle by those of the angle.
PolyRef multipleAngle(Calculus& c, PolyRef sine, PolyRef cosine, long n, bool wantCosine) {
  PolyRef s = c.arena.zero;
  PolyRef k = c.arena.one;
  for (long i = 0; i < n; ++i) {
    const PolyRef next = subtract(c, multiply(c, k, cosine), multiply(c, s, sine));
    s = add(c, multiply(c, s, cosine), multiply(c, k, sine));
    k = next;
  }
  return wantCosine ? k : s;
}

Rational gcdOf(const Rational& a, const Rational& b) {
  if (a == 0) return b;
  const Integer denominator = lcm(a.get_den(), b.get_den());
  const Rational scaled[] = {a * Rational(denominator), b * Rational(denominator)};
  Rational result(gcd(scaled[0].get_num(), scaled[1].get_num()), denominator);
  result.canonicalize();
  return result;
}

/// Integers that stand in quotients by constants, with the modulus that decides all those quotients.
std::vector<std::pair<IntAtomRef, Integer>> moduli(PolyRef p) {
  std::vector<std::pair<IntAtomRef, Integer>> result;
  Walker walker;
  walker.intoFolds = false;
  walker.onIntAtom = [&](IntAtomRef quotient) {
    if (quotient->kind != IntAtom::Kind::quotient || !quotient->denominator->isConstant()) return;
    const Integer d = abs(quotient->denominator->constant());
    for (const auto& [mono, coefficient] : quotient->numerator->terms) {
      for (const IntAtomRef atom : mono->atoms) {
        const bool plain = atom->kind == IntAtom::Kind::dimension || atom->kind == IntAtom::Kind::element ||
                           (atom->kind == IntAtom::Kind::variable && atom->boundLevel == 0);
        if (!plain) continue;
        const auto at =
            std::find_if(result.begin(), result.end(), [&](const auto& m) { return m.first == atom; });
        if (at == result.end()) {
          result.emplace_back(atom, d);
        } else {
          at->second = lcm(at->second, d);
        }
      }
    }
  };
  walker.walk(p);
  return result;
}

/// Any integer (>= 1, where the atom is a dimension): the same kind of unknown.
IntRef anyInteger(Calculus& c, IntAtomRef like) {
  if (like->kind == IntAtom::Kind::dimension)
    return dimension(c, like->name + "'" + std::to_string(c.arena.nextNumber()));
  return intOf(c, freshVariable(c, nullptr, false, "q"));
}

}  // namespace

PolyRef unrolled(Calculus& c, PolyRef p) {
  const std::vector<AtomRef> folds = outerFolds(p);
  if (folds.empty() || folds.size() > kFolds) return p;
  Substitution replace(c);
  for (const AtomRef fold : folds) {
    if (const PolyRef value = writtenOut(c, fold)) replace.map(fold, value);
  }
  return replace.empty() ? p : replace(p);
}

PolyRef inLanes(Calculus& c, PolyRef p) {
  const std::vector<AtomRef> folds = outerFolds(p);
  if (folds.size() < 2 || folds.size() > kFolds) return p;
  const auto lanesOf = [&](AtomRef fold, IntAtomRef v) -> std::optional<long> {
    for (const AtomRef other : folds) {
      if (other == fold || other->kind != fold->kind) continue;
      for (const IntAtomRef w : other->bound) {
        const IntRef times = exactDivide(c, v->extent, w->extent);
        if (times == nullptr || !times->isConstant()) continue;
        if (times->constant() >= 2 && times->constant() <= kLongest) return times->constant().get_si();
      }
    }
    return std::nullopt;
  };
  Substitution replace(c);
  for (const AtomRef fold : folds) {
    const Opened opened = open(c, fold);
    const Variables own = asSet(opened.variables);
    for (std::size_t i = 0; i < opened.variables.size(); ++i) {
      const IntAtomRef v = opened.variables[i];
      const auto lanes = lanesOf(fold, fold->bound[i]);
      if (!lanes || !v->ranged || !isFree(opened.variables, own, v)) continue;
      const IntRef length = exactDivide(c, v->extent, intConstant(c, *lanes));
      if (length == nullptr || !positive(c, length)) continue;
      const IntAtomRef k = freshIndex(c, length);
      std::vector<PolyRef> parts;
      for (long lane = 0; lane < *lanes; ++lane) {
        const IntRef at = plus(c, scale(c, intOf(c, k), *lanes), lane);
        parts.push_back(
            remade(c, fold->kind, replaced(opened.variables, v, {k}), substitute(c, opened.body, v, at)));
      }
      replace.map(fold, combined(c, fold->kind, parts));
      break;
    }
  }
  return replace.empty() ? p : replace(p);
}

PolyRef rangesUnited(Calculus& c, PolyRef p) {
  Substitution replace(c);
  Walker walker;
  walker.intoFolds = false;
  walker.onAtom = [&](AtomRef atom) {
    if (atom->kind != AtomKind::maximum || atom->polys.size() > 8) return;
    std::vector<PolyRef> parts = atom->polys;
    bool changed = false;
    while (parts.size() > 1 && uniteOnce(c, parts)) changed = true;
    if (changed) replace.map(atom, maximumOf(c, parts));
  };
  walker.walk(p);
  return replace.empty() ? p : replace(p);
}

PolyRef anglesUnited(Calculus& c, PolyRef p) {
  std::vector<AtomRef> angles;
  std::map<MonoRef, Rational> units;
  Walker walker;
  walker.intoFolds = false;
  walker.onAtom = [&](AtomRef atom) {
    if ((atom->kind != AtomKind::sin && atom->kind != AtomKind::cos) || atom->poly->terms.size() != 1) return;
    angles.push_back(atom);
    Rational& unit = units[atom->poly->terms[0].first];
    unit = gcdOf(unit, atom->poly->terms[0].second);
  };
  walker.walk(p);
  Substitution replace(c);
  for (const AtomRef atom : angles) {
    const auto& [mono, coefficient] = atom->poly->terms[0];
    const Rational times = coefficient / units.at(mono);
    if (times == 1 || times.get_den() != 1 || times > kMultiples) continue;
    const PolyRef angle = polyOf(c, mono, units.at(mono));
    replace.map(atom, multipleAngle(c, sinOf(c, angle), cosOf(c, angle), times.get_num().get_si(),
                                    atom->kind == AtomKind::cos));
  }
  return replace.empty() ? p : replace(p);
}

bool byResidues(Calculus& c, PolyRef p, const std::function<bool(PolyRef)>& zero) {
  const auto found = moduli(p);
  if (found.empty() || found.size() > 3) return false;
  std::size_t classes = 1;
  for (const auto& [atom, modulus] : found) {
    if (modulus < 2 || modulus > kModulus) return false;
    classes *= modulus.get_ui();
  }
  if (classes > kClasses) return false;
  for (std::size_t number = 0; number < classes; ++number) {
    Substitution inClass(c);
    std::size_t left = number;
    for (const auto& [atom, modulus] : found) {
      // A dimension d >= 1 is m*(q - 1) + r with q >= 1 and 1 <= r <= m.
      const bool isDimension = atom->kind == IntAtom::Kind::dimension;
      const auto residue = static_cast<long>(left % modulus.get_ui());
      left /= modulus.get_ui();
      const IntRef multiple = scale(c, anyInteger(c, atom), modulus);
      inClass.map(atom, plus(c, multiple, isDimension ? residue + 1 - modulus.get_si() : residue));
    }
    const PolyRef q = inClass(p);
    if (!q->isZero() && !zero(q)) return false;
  }
  return true;
}

}  // namespace nuscope::proof
