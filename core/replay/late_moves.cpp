#include "core/replay/late_moves.h"

#include <algorithm>

#include "core/replay/fold_laws.h"

namespace nuscope::replay {
namespace {

constexpr long longest = 8;            ///< elements of a range that is written out, and lanes
constexpr std::size_t mostParts = 32;  ///< of one fold
constexpr std::size_t mostFolds = 24;
constexpr long mostMultiples = 12;  ///< of one angle
constexpr unsigned long mostModulus = 16;
constexpr std::size_t mostClasses = 48;

/// Outermost folds without a guard, in the canonical order.
std::vector<AtomRef> outerFolds(PolyRef p) {
  std::vector<AtomRef> result;
  visit(
      p,
      [&](AtomRef atom) {
        const bool guarded = atom->kind == Kind::maxFold && atom->parts[1] != nullptr;
        if (atom->isFold() && !guarded) result.push_back(atom);
      },
      false);
  std::sort(result.begin(), result.end(), Before());
  return result;
}

PolyRef folded(Kernel& k, Kind kind, const std::vector<AtomRef>& variables, PolyRef body) {
  if (kind == Kind::sum) return k.sum(variables, body);
  if (kind == Kind::product) return k.product(variables, body);
  return k.max(variables, body, k.arena.one);
}

PolyRef combined(Kernel& k, Kind kind, const std::vector<PolyRef>& parts) {
  if (kind == Kind::sum) return k.total(parts);
  if (kind == Kind::maxFold) return k.maximum(parts);
  PolyRef result = k.arena.one;
  for (const PolyRef part : parts) result = k.multiply(result, part);
  return result;
}

PolyRef whole(Kernel& k, long value) {
  return k.number(Rational(Integer(value)));
}

struct Part {
  std::vector<AtomRef> variables;
  PolyRef body = nullptr;
};

/// The part where `v` has the value: extents that depend on it become others.
Part at(Kernel& k, const Part& part, AtomRef v, PolyRef value) {
  Substitution s(k);
  s.map(v, value);
  Part result;
  for (const AtomRef w : part.variables) {
    if (w == v) continue;
    const PolyRef extent = s(w->extent());
    result.variables.push_back(extent == w->extent() ? w : k.index(extent));
    if (result.variables.back() != w) s.map(w, k.of(result.variables.back()));
  }
  result.body = s(part.body);
  return result;
}

/// Its length, if the variable is to be written out. Only sums have prefixes of negative length (S8), and
/// only they may lose a variable on which a range depends, for that range may be empty.
std::optional<long> fewElements(Kind kind, const Part& part, AtomRef v) {
  if (!v->extent()->isConstant()) return std::nullopt;
  const Rational length = v->extent()->constant();
  if (length.get_den() != 1 || length > longest || length < (kind == Kind::sum ? -longest : 1))
    return std::nullopt;
  if (kind != Kind::sum && (!v->ranged || inExtents(part.variables, v))) return std::nullopt;
  return length.get_num().get_si();
}

/// The fold with its short ranges written out, and those of the folds inside; null if there are none.
PolyRef foldWrittenOut(Kernel& k, AtomRef fold) {
  PolyRef body = nullptr;
  PolyRef guard = nullptr;
  const auto variables = k.opened(fold, body, guard);
  std::vector<Part> open{{variables, writtenOut(k, body)}};
  bool changed = open[0].body != body;
  std::vector<PolyRef> done;
  while (!open.empty()) {
    const Part part = std::move(open.back());
    open.pop_back();
    const auto v = std::find_if(part.variables.begin(), part.variables.end(),
                                [&](AtomRef w) { return fewElements(fold->kind, part, w).has_value(); });
    const long length = v == part.variables.end() ? 0 : *fewElements(fold->kind, part, *v);
    if (v == part.variables.end() ||
        open.size() + done.size() + static_cast<std::size_t>(std::abs(length)) > mostParts) {
      done.push_back(folded(k, fold->kind, part.variables, part.body));
      continue;
    }
    changed = true;
    for (long i = 0; i < length; ++i) open.push_back(at(k, part, *v, whole(k, i)));
    for (long i = -1; i >= length; --i) {  // F(-n) = -f(-1) - ... - f(-n)
      open.push_back(at(k, part, *v, whole(k, i)));
      open.back().body = k.negate(open.back().body);
    }
  }
  return changed ? combined(k, fold->kind, done) : nullptr;
}

/// How many times as long as the range of another fold of the same kind that of v is.
std::optional<long> lanesOf(Kernel& k, const std::vector<AtomRef>& folds, AtomRef fold, AtomRef v) {
  for (const AtomRef other : folds) {
    if (other == fold || other->kind != fold->kind) continue;
    for (const AtomRef w : other->bound) {
      if (w->extent()->isConstant()) continue;
      const PolyRef times = k.exactDivide(v->extent(), w->extent());
      if (times == nullptr || !times->isConstant() || times->constant().get_den() != 1) continue;
      if (times->constant() >= 2 && times->constant() <= longest) return times->constant().get_num().get_si();
    }
  }
  return std::nullopt;
}

/// A range [from, from + length) of the elements of one body.
struct Interval {
  PolyRef from = nullptr;
  PolyRef length = nullptr;
};

/// A maximum over one index whose range is not empty.
bool isPlainMaximum(Kernel& k, AtomRef atom) {
  return atom != nullptr && atom->kind == Kind::maxFold && atom->parts[1] == nullptr &&
         atom->bound.size() == 1 && atom->bound[0]->ranged && k.positive(atom->bound[0]->extent());
}

/// Where `part` lies among the elements of the maximum `fold`, if it is one of them, or a maximum of them.
std::optional<Interval> intervalOf(Kernel& k, AtomRef fold, PolyRef part) {
  const AtomRef other = part->asAtom();
  const bool isFold = isPlainMaximum(k, other);
  const AtomRef w = isFold ? k.index(other->bound[0]->extent()) : nullptr;
  const PolyRef body = isFold ? k.bodyAt(other, {k.of(w)}) : part;
  const AtomRef v = k.unrangedIndex();
  // Offsets are guessed from the elements, and then compared in full.
  std::vector<AtomRef> patterns;
  visit(k.bodyAt(fold, {k.of(v)}), [&](AtomRef atom) {
    if (atom->kind == Kind::element && contains(atom->variables, v)) patterns.push_back(atom);
  });
  if (patterns.empty()) return std::nullopt;
  const AtomRef pattern = *std::min_element(patterns.begin(), patterns.end(), Before());
  std::vector<PolyRef> offsets;
  visit(body, [&](AtomRef atom) {
    if (atom->kind != Kind::element || atom->name != pattern->name ||
        atom->parts.size() != pattern->parts.size())
      return;
    for (std::size_t i = 0; i < pattern->parts.size(); ++i) {
      const auto linear = k.linear(pattern->parts[i], v);
      if (!linear || linear->coefficient != k.arena.one) continue;
      PolyRef offset = k.subtract(atom->parts[i], linear->rest);
      if (isFold) offset = k.subtract(offset, k.of(w));
      // A variable that some fold inside binds must not leave it.
      const bool bound = std::any_of(offset->variables.begin(), offset->variables.end(),
                                     [](AtomRef u) { return u->boundLevel > 0; });
      if (bound || (isFold && contains(offset->variables, w)) || contains(offset->variables, v)) continue;
      if (std::find(offsets.begin(), offsets.end(), offset) == offsets.end()) offsets.push_back(offset);
    }
  });
  std::sort(offsets.begin(), offsets.end(), Before());
  for (const PolyRef offset : offsets) {
    if (!Kernel::isInteger(offset)) continue;
    if (k.bodyAt(fold, {isFold ? k.add(offset, k.of(w)) : offset}) != body) continue;
    return Interval{offset, isFold ? other->bound[0]->extent() : k.arena.one};
  }
  return std::nullopt;
}

/// [0, n) and the other interval as one range, if nothing lies between them.
std::optional<Interval> unionWith(Kernel& k, PolyRef n, const Interval& other) {
  const PolyRef end = k.add(other.from, other.length);
  if (!k.notNegative(k.subtract(n, other.from)) || !k.notNegative(end)) return std::nullopt;
  Interval result;
  if (k.notNegative(other.from)) {
    result.from = k.arena.zero;
  } else if (k.notNegative(k.negate(other.from))) {
    result.from = other.from;
  } else {
    return std::nullopt;
  }
  if (k.notNegative(k.subtract(n, end))) {
    result.length = k.subtract(n, result.from);
  } else if (k.notNegative(k.subtract(end, n))) {
    result.length = k.subtract(end, result.from);
  } else {
    return std::nullopt;
  }
  return result;
}

/// Two operands joined, or false.
bool uniteOnce(Kernel& k, std::vector<PolyRef>& parts) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const AtomRef fold = parts[i]->asAtom();
    if (!isPlainMaximum(k, fold)) continue;
    for (std::size_t j = 0; j < parts.size(); ++j) {
      const auto other = i == j ? std::nullopt : intervalOf(k, fold, parts[j]);
      const auto both = other ? unionWith(k, fold->bound[0]->extent(), *other) : std::nullopt;
      if (!both || !k.positive(both->length)) continue;
      const AtomRef v = k.index(both->length);
      parts[i] = k.max({v}, k.bodyAt(fold, {k.add(k.of(v), both->from)}), k.arena.one);
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(j));
      return true;
    }
  }
  return false;
}

Rational gcdOf(const Rational& a, const Rational& b) {
  if (a == 0) return b;
  const Integer denominator = lcm(a.get_den(), b.get_den());
  const Rational left = a * Rational(denominator);
  const Rational right = b * Rational(denominator);
  Rational result(gcd(left.get_num(), right.get_num()), denominator);
  result.canonicalize();
  return result;
}

/// sin or cos of n times an angle, by the addition theorems.
PolyRef multipleAngle(Kernel& k, PolyRef sine, PolyRef cosine, long n, bool wantCosine) {
  PolyRef s = k.arena.zero;
  PolyRef c = k.arena.one;
  for (long i = 0; i < n; ++i) {
    const PolyRef next = k.subtract(k.multiply(c, cosine), k.multiply(s, sine));
    s = k.add(k.multiply(s, cosine), k.multiply(c, sine));
    c = next;
  }
  return wantCosine ? c : s;
}

/// Integers that stand in quotients by constants, with the modulus that decides all those quotients.
std::map<AtomRef, Integer, Before> moduli(PolyRef p) {
  std::map<AtomRef, Integer, Before> result;
  visit(
      p,
      [&](AtomRef quotient) {
        if (quotient->kind != Kind::quotient || !quotient->parts[1]->isConstant()) return;
        const Integer d = ::abs(quotient->parts[1]->constant().get_num());
        if (d == 0) return;
        for (const auto& [mono, coefficient] : quotient->parts[0]->terms) {
          for (const auto& [atom, e] : mono->factors) {
            const bool plain = atom->kind == Kind::dimension ||
                               (atom->kind == Kind::element && atom->integer) ||
                               (atom->kind == Kind::index && atom->boundLevel == 0);
            if (!plain) continue;
            Integer& modulus = result.emplace(atom, 1).first->second;
            modulus = lcm(modulus, d);
          }
        }
      },
      false);
  return result;
}

/// An unknown of the same kind: any integer, or any number that a dimension may be.
PolyRef anyLike(Kernel& k, AtomRef atom) {
  if (atom->kind != Kind::dimension) return k.of(k.unrangedIndex());
  return k.dimension("multiple " + std::to_string(++k.fresh));
}

}  // namespace

PolyRef writtenOut(Kernel& k, PolyRef p) {
  const auto folds = outerFolds(p);
  if (folds.empty() || folds.size() > mostFolds) return p;
  Substitution replace(k);
  for (const AtomRef fold : folds) {
    if (const PolyRef value = foldWrittenOut(k, fold)) replace.map(fold, value);
  }
  return replace.empty() ? p : replace(p);
}

PolyRef inLanes(Kernel& k, PolyRef p) {
  const auto folds = outerFolds(p);
  if (folds.size() < 2 || folds.size() > mostFolds) return p;
  Substitution replace(k);
  for (const AtomRef fold : folds) {
    const Variables own = asSet(fold->bound);
    for (std::size_t i = 0; i < fold->bound.size(); ++i) {
      const AtomRef bound = fold->bound[i];
      const bool free = !intersects(bound->extent()->variables, own) && !inExtents(fold->bound, bound);
      const auto lanes = free && bound->ranged ? lanesOf(k, folds, fold, bound) : std::nullopt;
      const PolyRef length = lanes ? k.exactDivide(bound->extent(), whole(k, *lanes)) : nullptr;
      if (length == nullptr || !Kernel::isInteger(length) || !k.positive(length)) continue;
      PolyRef body = nullptr;
      PolyRef guard = nullptr;
      const auto variables = k.opened(fold, body, guard);
      std::vector<PolyRef> parts;
      for (long lane = 0; lane < *lanes; ++lane) {
        const AtomRef j = k.index(length);
        const PolyRef value = k.plus(k.scale(k.of(j), Rational(Integer(*lanes))), lane);
        parts.push_back(folded(k, fold->kind, exchanged(variables, variables[i], {j}),
                               replaced(k, body, variables[i], value)));
      }
      replace.map(fold, combined(k, fold->kind, parts));
      break;
    }
  }
  return replace.empty() ? p : replace(p);
}

PolyRef rangesUnited(Kernel& k, PolyRef p) {
  std::vector<AtomRef> maxima;
  visit(
      p,
      [&](AtomRef atom) {
        if (atom->kind == Kind::maximum && atom->parts.size() <= 8) maxima.push_back(atom);
      },
      false);
  std::sort(maxima.begin(), maxima.end(), Before());
  Substitution replace(k);
  for (const AtomRef atom : maxima) {
    std::vector<PolyRef> parts = atom->parts;
    bool changed = false;
    while (parts.size() > 1 && uniteOnce(k, parts)) changed = true;
    if (changed) replace.map(atom, k.maximum(parts));
  }
  return replace.empty() ? p : replace(p);
}

PolyRef anglesUnited(Kernel& k, PolyRef p) {
  std::vector<AtomRef> angles;
  std::map<MonoRef, Rational, Before> units;
  visit(
      p,
      [&](AtomRef atom) {
        if ((atom->kind != Kind::sin && atom->kind != Kind::cos) || atom->parts[0]->terms.size() != 1) return;
        angles.push_back(atom);
        Rational& unit = units[atom->parts[0]->terms[0].first];
        unit = gcdOf(unit, atom->parts[0]->terms[0].second);
      },
      false);
  std::sort(angles.begin(), angles.end(), Before());
  Substitution replace(k);
  for (const AtomRef atom : angles) {
    const auto& [mono, coefficient] = atom->parts[0]->terms[0];
    const Rational times = coefficient / units.at(mono);
    if (times == 1 || times.get_den() != 1 || times < 1 || times > mostMultiples) continue;
    const PolyRef angle = k.of(mono, units.at(mono));
    replace.map(atom, multipleAngle(k, k.sin(angle), k.cos(angle), times.get_num().get_si(),
                                    atom->kind == Kind::cos));
  }
  return replace.empty() ? p : replace(p);
}

std::span<const LateMove> lateMoves() {
  static constexpr LateMove all[] = {{"S4 write out", writtenOut},
                                     {"S5 lanes", inLanes},
                                     {"M3 union", rangesUnited},
                                     {"L angles", anglesUnited}};
  return all;
}

const LateMove* lateMove(std::string_view lemma) {
  for (const LateMove& move : lateMoves()) {
    if (move.lemma == lemma) return &move;
  }
  return nullptr;
}

std::vector<PolyRef> residueClasses(Kernel& k, PolyRef p) {
  const auto found = moduli(p);
  if (found.empty() || found.size() > 3) return {};
  std::size_t classes = 1;
  for (const auto& [atom, modulus] : found) {
    if (modulus < 2 || modulus > mostModulus) return {};
    classes *= modulus.get_ui();
  }
  if (classes > mostClasses) return {};
  std::vector<PolyRef> result;
  for (std::size_t number = 0; number < classes; ++number) {
    Substitution inClass(k);
    std::size_t left = number;
    for (const auto& [atom, modulus] : found) {
      // A dimension d >= 1 is m*(q - 1) + r with q >= 1 and 1 <= r <= m.
      const auto residue = static_cast<long>(left % modulus.get_ui());
      left /= modulus.get_ui();
      const long constant = atom->kind == Kind::dimension ? residue + 1 - modulus.get_si() : residue;
      inClass.map(atom, k.plus(k.scale(anyLike(k, atom), Rational(modulus)), constant));
    }
    result.push_back(inClass(p));
  }
  return result;
}

}  // namespace nuscope::replay
