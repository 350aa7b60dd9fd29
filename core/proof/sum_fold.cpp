// Sums as multi-index folds of one monomial each (lemmas S1 to S10).
#include <algorithm>

#include "core/proof/folds.h"
#include "core/proof/functions.h"
#include "core/proof/int_facts.h"
#include "core/proof/planted.h"
#include "core/proof/real_term.h"
#include "core/proof/signs.h"
#include "core/proof/substitute.h"

namespace nuscope::proof {
namespace {

/// One sum while its rules are tried: prefactor * sum over variables of mono.
struct Term {
  std::vector<IntAtomRef> variables;
  MonoRef mono;  ///< factors that depend on the variables
  Variables set;
};
using Rule = PolyRef (*)(Calculus&, const Term&);

std::vector<IntAtomRef> removed(std::vector<IntAtomRef> variables, IntAtomRef variable) {
  std::erase(variables, variable);
  return variables;
}

bool inExtents(const Term& t, IntAtomRef variable) {
  return std::any_of(t.variables.begin(), t.variables.end(),
                     [&](IntAtomRef other) { return contains(other->extent->variables, variable); });
}

/// p * inverse(p) leaves a whole: lead(p) * inverse(p) -> (1 - (p - lead) * inverse(p)) / coefficient.
PolyRef reduceInverses(Calculus& c, PolyRef body) {
  for (int round = 0; round < 40; ++round) {
    std::vector<PolyRef> parts;
    bool changed = false;
    for (const auto& [mono, coefficient] : body->terms) {
      PolyRef replacement = nullptr;
      for (const auto& [atom, exponent] : mono->factors) {
        if (atom->kind != AtomKind::power || exponent >= 0) continue;
        const PolyRef core = atom->poly;
        const std::pair<MonoRef, Rational>* lead = nullptr;
        Rational best = 0;
        for (const auto& term : core->terms) {
          Rational degree = 0;
          for (const auto& [a, e] : term.first->factors) degree += e;
          if (lead == nullptr || degree > best || (degree == best && term.first->id > lead->first->id)) {
            lead = &term;
            best = degree;
          }
        }
        if (lead->first->factors.empty()) continue;
        const bool inside =
            std::all_of(lead->first->factors.begin(), lead->first->factors.end(), [&](const auto& factor) {
              return factor.second > 0 && mono->exponent(factor.first) >= factor.second;
            });
        if (!inside) continue;
        auto factors = mono->factors;
        for (const auto& [a, e] : lead->first->factors) {
          if (!a->isIndicator()) factors.emplace_back(a, -e);
        }
        MonoRef base = rawMono(c, std::move(factors));
        const PolyRef basePoly = polyOf(c, base, coefficient / lead->second);
        PolyRef lifted =
            multiply(c, polyOf(c, without(c, base, atom)), polyOf(c, atom, base->exponent(atom) + 1));
        lifted = scale(c, lifted, coefficient / lead->second);
        const PolyRef others = subtract(c, core, polyOf(c, lead->first, lead->second));
        replacement = subtract(c, lifted, multiply(c, basePoly, others));
        break;
      }
      changed = changed || replacement != nullptr;
      parts.push_back(replacement != nullptr ? replacement : polyOf(c, mono, coefficient));
    }
    if (!changed) break;
    body = sumOf(c, parts);
  }
  return body;
}

PolyRef splitByDivisor(Calculus& c, const Term& t) {
  const PolyRef body = polyOf(c, t.mono);
  for (const IntAtomRef v : t.variables) {
    if (!v->ranged || intersects(v->extent->variables, t.set) || inExtents(t, v)) continue;
    for (const IntRef d : divisorsOf(c, body, v, t.set)) {
      if (const IntRef q = exactDivide(c, v->extent, d)) {
        const Split split = splitVariable(c, q, d);
        return makeSum(c, replaced(t.variables, v, {split.outer, split.inner}),
                       substitute(c, body, v, split.value));
      }
      // Up to the largest multiple, and the tail.
      const Division parts = divideTerms(c, v->extent, d);
      if (parts.quotient == nullptr || parts.rest->isZero() || parts.quotient->isZero()) continue;
      if (!nonNegative(c, parts.quotient) || !nonNegative(c, parts.rest) || !atMost(c, parts.rest, d))
        continue;
      const Split split = splitVariable(c, parts.quotient, d);
      const IntAtomRef tail = freshIndex(c, parts.rest);
      const IntRef tailAt = add(c, multiply(c, parts.quotient, d), intOf(c, tail));
      return add(c,
                 makeSum(c, replaced(t.variables, v, {split.outer, split.inner}),
                         substitute(c, body, v, split.value)),
                 makeSum(c, replaced(t.variables, v, {tail}), substitute(c, body, v, tailAt)));
    }
  }
  return nullptr;
}

/// sum_{v<e} sum_{w<v+b} f(w), v not in f: each w is met e - max(0, w-b+1) times, for b in {0, 1}.
PolyRef countOuter(Calculus& c, const Term& t) {
  for (const IntAtomRef v : t.variables) {
    if (contains(t.mono->variables, v) || intersects(v->extent->variables, t.set) || !v->ranged) continue;
    for (const IntAtomRef w : t.variables) {
      if (w == v || !contains(w->extent->variables, v)) continue;
      const auto linear = linearIn(c, w->extent, v);
      const bool alone = std::count_if(t.variables.begin(), t.variables.end(), [&](IntAtomRef other) {
                           return contains(other->extent->variables, v);
                         }) == 1;
      if (!linear || linear->coefficient != c.arena.oneInt || !linear->rest->isConstant() || !alone) continue;
      const Integer offset = linear->rest->constant();
      if ((offset != 0 && offset != 1) || inExtents(t, w)) continue;
      const IntRef extent = plus(c, v->extent, offset == 1 ? 0 : -1);
      const IntAtomRef moved = freshIndex(c, extent);
      if (!moved->ranged) continue;
      PolyRef body = substitute(c, polyOf(c, t.mono), w, intOf(c, moved));
      body = multiply(c, body, toReal(c, subtract(c, extent, intOf(c, moved))));
      return makeSum(c, replaced(removed(t.variables, v), w, {moved}), body);
    }
  }
  return nullptr;
}

/// [v == s] picks one element (S6).
PolyRef delta(Calculus& c, const Term& t) {
  for (const auto& [atom, exponent] : t.mono->factors) {
    if (atom->kind != AtomKind::intZero) continue;
    for (const IntAtomRef v : t.variables) {
      if (!v->ranged || inExtents(t, v)) continue;
      const auto linear = linearIn(c, atom->intTerm, v);
      if (!linear || !linear->coefficient->isConstant()) continue;
      const Integer k = linear->coefficient->constant();
      if (k != 1 && k != -1) continue;
      const IntRef value = scale(c, linear->rest, -k);
      // The inner extent may not depend on a variable that is bound later.
      PolyRef body = substitute(c, polyOf(c, without(c, t.mono, atom)), v, value);
      body = multiply(c, body, whenNonNegative(c, value));
      body = multiply(c, body, whenNonNegative(c, plus(c, subtract(c, v->extent, value), -1)));
      return makeSum(c, removed(t.variables, v), body);
    }
  }
  return nullptr;
}

/// [v < n] is a prefix, [v >= n] the whole without it (S7).
PolyRef range(Calculus& c, const Term& t) {
  for (const auto& [atom, exponent] : t.mono->factors) {
    if (atom->kind != AtomKind::intNonNegative) continue;
    for (const IntAtomRef v : t.variables) {
      if (!v->ranged) continue;
      const auto linear = linearIn(c, atom->intTerm, v);
      if (!linear || !linear->coefficient->isConstant() || linear->coefficient->isZero()) continue;
      if (intersects(linear->rest->variables, t.set)) continue;
      const Integer k = linear->coefficient->constant();
      // k*v + r >= 0:  k > 0: v >= ceil(-r/k) = n;  k < 0: v < floor(r/|k|) + 1 = n.
      const bool upper = k < 0;
      const IntRef size = intConstant(c, abs(k));
      const IntRef n = upper ? plus(c, floorDivide(c, linear->rest, size), 1)
                             : negate(c, floorDivide(c, linear->rest, size));
      const PolyRef rest = polyOf(c, without(c, t.mono, atom));
      const auto whole = [&] { return makeSum(c, t.variables, rest); };
      const auto prefix = [&] {
        const IntAtomRef moved = freshIndex(c, n);
        return makeSum(c, replaced(t.variables, v, {moved}), substitute(c, rest, v, intOf(c, moved)));
      };
      const bool inside =
          (nonNegative(c, n) && nonNegative(c, subtract(c, v->extent, n))) || planted(Planted::prefix);
      if (!inExtents(t, v) && inside) {
        return upper ? prefix() : subtract(c, whole(), prefix());
      }
      if (inExtents(t, v) || intersects(v->extent->variables, t.set)) continue;
      const PolyRef someOf = whenNonNegative(c, n);
      const PolyRef notAll = whenNonNegative(c, plus(c, subtract(c, v->extent, n), -1));
      const PolyRef all = whole();
      const PolyRef below = multiply(c, someOf, add(c, all, multiply(c, notAll, subtract(c, prefix(), all))));
      return upper ? below : subtract(c, all, below);
    }
  }
  return nullptr;
}

PolyRef merge(Calculus& c, const Term& t) {
  const PolyRef body = polyOf(c, t.mono);
  for (const IntAtomRef u : t.variables) {
    for (const IntAtomRef v : t.variables) {
      if (u == v || !u->ranged || !v->ranged) continue;
      if (intersects(u->extent->variables, t.set) || intersects(v->extent->variables, t.set)) continue;
      if (!mergeable(c, body, v, u) || inExtents(t, u) || inExtents(t, v)) continue;
      const IntAtomRef merged = freshIndex(c, multiply(c, v->extent, u->extent));
      if (!merged->ranged) continue;
      Substitution s(c);
      s.map(v, c.arena.zeroInt);
      s.map(u, intOf(c, merged));
      return makeSum(c, replaced(removed(t.variables, v), u, {merged}), s(body));
    }
  }
  return nullptr;
}

PolyRef countUnused(Calculus& c, const Term& t) {
  for (const IntAtomRef v : t.variables) {
    if (contains(t.mono->variables, v) || inExtents(t, v)) continue;
    // The extent may depend on earlier variables: it becomes a factor under them.
    return makeSum(c, removed(t.variables, v), multiply(c, polyOf(c, t.mono), toReal(c, v->extent)));
  }
  return nullptr;
}

/// sum_{k<n} k^p as a polynomial in n.
PolyRef faulhaber(Calculus& c, unsigned long p, PolyRef n) {
  std::vector<Rational> bernoulli{1};
  const auto binomial = [](unsigned long top, unsigned long bottom) {
    Integer value;
    mpz_bin_uiui(value.get_mpz_t(), top, bottom);
    return Rational(value);
  };
  for (unsigned long m = 1; m <= p; ++m) {
    Rational sum = 0;
    for (unsigned long j = 0; j < m; ++j) sum += binomial(m + 1, j) * bernoulli[j];
    bernoulli.push_back(-sum / Rational(Integer(m + 1)));
  }
  PolyRef result = c.arena.zero;
  for (unsigned long j = 0; j <= p; ++j) {
    const Rational factor = binomial(p + 1, j) * bernoulli[j] / Rational(Integer(p + 1));
    result = add(c, result, scale(c, power(c, n, p + 1 - j), factor));
  }
  return result;
}

PolyRef closedPower(Calculus& c, const Term& t) {
  for (const IntAtomRef v : t.variables) {
    if (inExtents(t, v)) continue;
    AtomRef only = nullptr;
    int uses = 0;
    for (const auto& [atom, exponent] : t.mono->factors) {
      if (!contains(atom->variables, v)) continue;
      ++uses;
      if (atom->kind == AtomKind::integer && atom->integer == v && exponent > 0 && exponent.get_den() == 1 &&
          exponent < 16) {
        only = atom;
      }
    }
    if (uses != 1 || only == nullptr) continue;
    const unsigned long p = t.mono->exponent(only).get_num().get_ui();
    return makeSum(c, removed(t.variables, v),
                   multiply(c, polyOf(c, without(c, t.mono, only)), faulhaber(c, p, toReal(c, v->extent))));
  }
  return nullptr;
}

/// Where v occurs as +-v + r everywhere, r free of bound variables: the offset of its first occurrence.
struct Offset {
  bool mirrored = false;
  IntRef by = nullptr;
};

std::optional<Offset> offsetOf(Calculus& c, const Term& t, IntAtomRef v) {
  const PolyRef body = polyOf(c, t.mono);
  std::vector<IntRef> positions = positionsOf(c, body, v, true);
  if (positions.empty()) positions = positionsOf(c, body, v);
  std::optional<Offset> first;
  for (const IntRef position : positions) {
    const auto linear = linearIn(c, position, v);
    if (!linear || !linear->coefficient->isConstant()) return std::nullopt;
    const Integer k = linear->coefficient->constant();
    if (k != 1 && k != -1) return std::nullopt;
    const bool outputsOnly = std::all_of(linear->rest->variables.begin(), linear->rest->variables.end(),
                                         [](IntAtomRef other) { return other->name == "i"; });
    if (!outputsOnly) return std::nullopt;
    if (!first || linear->rest->id < first->by->id) first = Offset{k == -1, linear->rest};
  }
  return first;
}

/// sum_{k<e} f(k+r) = F(r+e) - F(r) with F on all integers (S8).
PolyRef shift(Calculus& c, const Term& t) {
  for (const IntAtomRef v : t.variables) {
    if (intersects(v->extent->variables, t.set) || inExtents(t, v)) continue;
    const auto offset = offsetOf(c, t, v);
    if (!offset || (!offset->mirrored && offset->by->isZero())) continue;
    const IntRef r = offset->by;
    const IntRef low = offset->mirrored ? plus(c, subtract(c, r, v->extent), 1) : r;
    const IntRef high = offset->mirrored ? plus(c, r, 1) : add(c, r, v->extent);
    const auto prefix = [&](IntRef n) {
      if (n->isZero()) return c.arena.zero;
      // In range only where n >= 0 is proved; else the body is kept for all integers.
      const IntAtomRef moved = freshIndex(c, n);
      IntRef value = subtract(c, intOf(c, moved), r);
      if (offset->mirrored) value = negate(c, value);
      return makeSum(c, replaced(t.variables, v, {moved}), substitute(c, polyOf(c, t.mono), v, value));
    };
    return subtract(c, prefix(high), prefix(low));
  }
  return nullptr;
}

/// One atom, or, where renaming turned a condition round, several.
PolyRef closeSum(Calculus& c, const std::vector<IntAtomRef>& variables, MonoRef mono) {
  return closeFold(c, variables, polyOf(c, mono), c.arena.one,
                   [&](const std::vector<IntAtomRef>& bound, PolyRef body, PolyRef) {
                     std::vector<PolyRef> parts;
                     for (const auto& [term, coefficient] : body->terms) {
                       const bool all = std::all_of(bound.begin(), bound.end(), [&](IntAtomRef v) {
                         return contains(term->variables, v) ||
                                std::any_of(bound.begin(), bound.end(),
                                            [&](IntAtomRef w) { return contains(w->extent->variables, v); });
                       });
                       const Variables own = asSet(bound);
                       const bool dependent = std::all_of(
                           term->factors.begin(), term->factors.end(),
                           [&](const auto& factor) { return intersects(factor.first->variables, own); });
                       if ((all && dependent) || c.closings > 3) {
                         Atom atom;
                         atom.kind = AtomKind::sum;
                         atom.bound = bound;
                         atom.mono = term;
                         parts.push_back(scale(c, polyOf(c, c.arena.intern(std::move(atom))), coefficient));
                         continue;
                       }
                       // Simplification freed a variable or a factor: start again with fresh ones.
                       Substitution fresh(c);
                       std::vector<IntAtomRef> again;
                       for (const IntAtomRef v : bound) {
                         again.push_back(freshVariable(c, fresh(v->extent), v->ranged));
                         fresh.map(v, intOf(c, again.back()));
                       }
                       ++c.closings;
                       parts.push_back(makeSum(c, again, fresh(polyOf(c, term, coefficient))));
                       --c.closings;
                     }
                     return parts.empty() ? c.arena.zero : sumOf(c, parts);
                   });
}

/// Factors that share no variable are sums of their own (S9).
PolyRef components(Calculus& c, const Term& t) {
  std::vector<int> group(t.variables.size());
  for (std::size_t i = 0; i < group.size(); ++i) group[i] = static_cast<int>(i);
  const auto join = [&](const Variables& used, const IntAtomRef* self) {
    int first = -1;
    for (std::size_t i = 0; i < t.variables.size(); ++i) {
      if (!contains(used, t.variables[i]) && (self == nullptr || *self != t.variables[i])) continue;
      if (first < 0) {
        first = group[i];
      } else if (group[i] != first) {
        const int old = group[i];
        std::replace(group.begin(), group.end(), old, first);
      }
    }
  };
  for (const auto& [atom, exponent] : t.mono->factors) join(atom->variables, nullptr);
  for (const IntAtomRef v : t.variables) join(v->extent->variables, &v);
  PolyRef result = c.arena.one;
  std::vector<int> done;
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (std::find(done.begin(), done.end(), group[i]) != done.end()) continue;
    done.push_back(group[i]);
    std::vector<IntAtomRef> variables;
    for (std::size_t j = 0; j < group.size(); ++j) {
      if (group[j] == group[i]) variables.push_back(t.variables[j]);
    }
    const Variables own = asSet(variables);
    std::vector<std::pair<AtomRef, Rational>> factors;
    for (const auto& factor : t.mono->factors) {
      if (intersects(factor.first->variables, own)) factors.push_back(factor);
    }
    result = multiply(c, result, closeSum(c, variables, rawMono(c, std::move(factors))));
  }
  return result;
}

/// Nested sums that depend on the variables are opened into one multi-index sum.
PolyRef openNested(Calculus& c, const std::vector<IntAtomRef>& variables, const Variables& set,
                   MonoRef mono) {
  for (const auto& [atom, exponent] : mono->factors) {
    if (atom->kind != AtomKind::sum || exponent < 1 || exponent.get_den() != 1) continue;
    if (!intersects(atom->variables, set)) continue;
    const Opened opened = open(c, atom);
    PolyRef body = multiply(c, polyOf(c, without(c, mono, atom)), opened.body);
    if (exponent > 1) body = multiply(c, body, polyOf(c, atom, exponent - 1));
    std::vector<IntAtomRef> both = variables;
    both.insert(both.end(), opened.variables.begin(), opened.variables.end());
    return makeSum(c, both, body);
  }
  return nullptr;
}

PolyRef sumTerm(Calculus& c, const std::vector<IntAtomRef>& variables, MonoRef mono) {
  const Variables set = asSet(variables);
  if (const PolyRef opened = openNested(c, variables, set, mono)) return opened;
  Mono dependent;
  Mono invariant;
  for (const auto& factor : mono->factors) {
    (intersects(factor.first->variables, set) ? dependent : invariant).factors.push_back(factor);
  }
  const PolyRef outside = polyOf(c, c.arena.intern(std::move(invariant)));
  const Term term{variables, c.arena.intern(std::move(dependent)), set};
  if (variables.empty()) return multiply(c, outside, polyOf(c, term.mono));
  static constexpr Rule rules[] = {splitByDivisor, countOuter,  delta,       range,
                                   merge,          countUnused, closedPower, shift};
  for (const Rule rule : rules) {
    if (const PolyRef result = rule(c, term)) return multiply(c, outside, result);
  }
  return multiply(c, outside, components(c, term));
}

struct Nesting {
  explicit Nesting(Calculus& c) : calculus(c) {
    if (++calculus.depth > 200) {
      --calculus.depth;
      throw GaveUp{"folds are nested too deeply", false};
    }
  }
  ~Nesting() { --calculus.depth; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;
  Calculus& calculus;
};

}  // namespace

PolyRef makeSum(Calculus& c, std::vector<IntAtomRef> variables, PolyRef body) {
  const Nesting nesting(c);
  c.tick();
  PolyRef guard = c.arena.one;
  dropUnits(c, variables, body, guard);
  if (variables.empty()) return body;
  const auto empty = [](IntAtomRef v) { return v->extent->isZero(); };
  if (std::any_of(variables.begin(), variables.end(), empty)) return c.arena.zero;
  body = reduceInverses(c, body);
  std::vector<PolyRef> parts;
  for (const auto& [mono, coefficient] : body->terms) {
    parts.push_back(scale(c, sumTerm(c, variables, mono), coefficient));
  }
  return parts.empty() ? c.arena.zero : sumOf(c, parts);
}

}  // namespace nuscope::proof
