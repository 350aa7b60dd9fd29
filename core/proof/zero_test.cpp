#include "core/proof/zero_test.h"

#include <algorithm>

#include "core/proof/folds.h"
#include "core/proof/functions.h"
#include "core/proof/int_facts.h"
#include "core/proof/late_rules.h"
#include "core/proof/math_text.h"
#include "core/proof/real_term.h"
#include "core/proof/signature.h"
#include "core/proof/substitute.h"
#include "core/proof/walk.h"

namespace nuscope::proof {

PolyRef splitOutputs(Calculus& c, PolyRef p) {
  for (int round = 0; round < 4; ++round) {
    bool changed = false;
    const Variables variables = p->variables;
    for (const IntAtomRef v : variables) {
      if (!v->ranged || v->boundLevel > 0) continue;
      for (const IntRef d : divisorsOf(c, p, v, {})) {
        const IntRef q = exactDivide(c, v->extent, d);
        if (q == nullptr) continue;
        p = substitute(c, p, v, splitVariable(c, q, d, "i").value);
        changed = true;
        break;
      }
      if (changed) break;
    }
    if (!changed) break;
  }
  return p;
}

PolyRef multipliedThrough(Calculus& c, PolyRef p) {
  for (int round = 0; round < 6; ++round) {
    std::vector<std::pair<AtomRef, Rational>> inverses;
    for (const auto& [mono, coefficient] : p->terms) {
      for (const auto& [atom, exponent] : mono->factors) {
        if (exponent >= 0) continue;
        const auto at =
            std::find_if(inverses.begin(), inverses.end(), [&](const auto& i) { return i.first == atom; });
        if (at == inverses.end()) {
          inverses.emplace_back(atom, -exponent);
        } else {
          at->second = std::max(at->second, Rational(-exponent));
        }
      }
    }
    if (inverses.empty()) return p;
    std::vector<PolyRef> parts;
    for (const auto& [mono, coefficient] : p->terms) {
      std::vector<std::pair<AtomRef, Rational>> kept;
      PolyRef factor = polyConstant(c, coefficient);
      for (const auto& [atom, exponent] : mono->factors) {
        const bool inverted =
            std::any_of(inverses.begin(), inverses.end(), [&](const auto& i) { return i.first == atom; });
        if (!inverted) kept.emplace_back(atom, exponent);
      }
      for (const auto& [atom, times] : inverses) {
        const Rational exponent = mono->exponent(atom) + times;
        if (exponent != 0) factor = multiply(c, factor, polyOf(c, atom, exponent));
      }
      parts.push_back(multiply(c, factor, polyOf(c, rawMono(c, std::move(kept)))));
    }
    p = parts.empty() ? c.arena.zero : sumOf(c, parts);
  }
  return p;
}

namespace {

/// Folds that are free of variables bound around them.
std::vector<AtomRef> freeFolds(PolyRef p) {
  std::vector<AtomRef> result;
  Walker walker;
  walker.onAtom = [&](AtomRef atom) {
    if (!atom->isFold() || atom->guard != nullptr || atom->bound.size() > 3) return;
    if (std::none_of(atom->variables.begin(), atom->variables.end(),
                     [](IntAtomRef v) { return v->boundLevel > 0; })) {
      result.push_back(atom);
    }
  };
  walker.walk(p);
  return result;
}

/// Is `longer` the fold `other` with 1 to 4 more elements of its j-th index, as far as signatures tell?
bool isLonger(Calculus& c, AtomRef longer, AtomRef other, std::size_t j) {
  if (longer->kind != other->kind || longer->bound.size() != other->bound.size()) return false;
  for (std::size_t i = 0; i < longer->bound.size(); ++i) {
    if (i != j && longer->bound[i]->extent != other->bound[i]->extent) return false;
  }
  const IntRef gap = subtract(c, longer->bound[j]->extent, other->bound[j]->extent);
  if (!gap->isConstant() || gap->constant() < 1 || gap->constant() > 4) return false;
  const auto key = [&](AtomRef fold) {
    Signature signature(asSet(fold->bound), fold->bound[j]);
    return signature(fold->kind == AtomKind::sum ? polyOf(c, fold->mono) : fold->poly);
  };
  return key(longer) == key(other);
}

/// The fold without the last element of its j-th index, and that element apart.
PolyRef withoutLast(Calculus& c, AtomRef fold, std::size_t j, IntRef less) {
  std::vector<IntAtomRef> variables;
  std::vector<IntAtomRef> others;
  std::vector<IntRef> at;
  std::vector<IntRef> last;
  for (std::size_t i = 0; i < fold->bound.size(); ++i) {
    const IntAtomRef variable = freshIndex(c, i == j ? less : fold->bound[i]->extent);
    variables.push_back(variable);
    at.push_back(intOf(c, variable));
    if (i != j) others.push_back(variable);
    last.push_back(i == j ? less : intOf(c, variable));
  }
  const PolyRef body = openAt(c, fold, at).body;
  const PolyRef end = openAt(c, fold, last).body;
  if (fold->kind == AtomKind::sum) return add(c, makeSum(c, variables, body), makeSum(c, others, end));
  if (fold->kind == AtomKind::productFold)
    return multiply(c, makeProduct(c, variables, body), makeProduct(c, others, end));
  const std::vector<PolyRef> parts{makeMax(c, variables, body, c.arena.one),
                                   makeMax(c, others, end, c.arena.one)};
  return maximumOf(c, parts);
}

}  // namespace

PolyRef peeled(Calculus& c, PolyRef p) {
  const std::vector<AtomRef> folds = freeFolds(p);
  if (folds.size() < 2 || folds.size() > 40) return p;
  Substitution replace(c);
  for (const AtomRef longer : folds) {
    for (std::size_t j = 0; j < longer->bound.size(); ++j) {
      const Variables own = asSet(longer->bound);
      const bool independent = std::none_of(longer->bound.begin(), longer->bound.end(), [&](IntAtomRef v) {
        return intersects(v->extent->variables, own);
      });
      if (!independent) break;
      const bool peel = std::any_of(folds.begin(), folds.end(), [&](AtomRef other) {
        return other != longer && isLonger(c, longer, other, j);
      });
      const IntRef less = plus(c, longer->bound[j]->extent, -1);
      // A maximum must keep an element.
      if (!peel || !(longer->kind == AtomKind::maxFold ? positive(c, less) : nonNegative(c, less))) continue;
      replace.map(longer, withoutLast(c, longer, j, less));
      break;
    }
  }
  return replace.empty() ? p : replace(p);
}

bool fitForSolver(PolyRef p) {
  if (p->terms.size() > 150) return false;
  return std::all_of(p->terms.begin(), p->terms.end(), [](const auto& term) {
    Rational degree = 0;
    for (const auto& [atom, exponent] : term.first->factors) degree += abs(exponent);
    return degree <= 16;
  });
}

void ZeroTest::note(const std::string& lemma, const std::string& what, PolyRef before, PolyRef after) {
  recorder_.add(lemma, what, shortText(c_, before), after == nullptr ? "" : shortText(c_, after));
}

bool ZeroTest::zero(PolyRef p, int depth, const std::vector<PolyRef>& hypotheses) {
  const auto mark = recorder_.mark();
  const Indent indent(recorder_);
  if (tryZero(p, depth, hypotheses)) return true;
  recorder_.takeBack(mark);
  return false;
}

bool ZeroTest::tryZero(PolyRef p, int depth, const std::vector<PolyRef>& hypotheses) {
  c_.tick();
  if (p->isZero()) return true;
  const PolyRef split = splitOutputs(c_, p);
  if (split != p) {
    note("S5 split", "output indices written as t*P + u", p, split);
    p = split;
    if (p->isZero()) return true;
  }
  PolyRef through = multipliedThrough(c_, p);
  if (through != p) {
    note("L inverses", "multiplied through by the divisors, which are not 0 where the sides are defined", p,
         through);
    if (through->isZero()) return true;
  }
  for (int round = 0; round < 4; ++round) {
    const PolyRef shorter = peeled(c_, p);
    if (shorter == p) break;
    note("S4 peel", "the last elements of the longer sums are written out", p, shorter);
    p = shorter;
    through = multipliedThrough(c_, p);
    if (p->isZero() || through->isZero()) return true;
  }
  if (depth == 0 && hypotheses.empty() && (remaining_ == nullptr || recorder_.depth <= 1)) remaining_ = p;
  if (depth == 0 && byLateRules(p, depth, hypotheses)) return true;
  if (byCongruence(p, depth, hypotheses)) return true;
  if (p->indicators && byCases(p, hypotheses)) {
    recorder_.use("cases");
    return true;
  }
  if (byExpansion(p, hypotheses)) {
    recorder_.use("cases");
    return true;
  }
  if (depth < 2 && byInduction(p, depth)) {
    recorder_.use("induction");
    return true;
  }
  // With conditions about, a factor multiplied in may be 0 where its inverse is not read.
  const PolyRef last = p->indicators ? p : through;
  if (fitForSolver(last) && oracle_.impossible({{}, hypotheses, last})) {
    recorder_.use("z3");
    return true;
  }
  return false;
}

bool ZeroTest::byLateRules(PolyRef p, int depth, const std::vector<PolyRef>& hypotheses) {
  struct Rule {
    const char* lemma;
    const char* text;
    PolyRef (*apply)(Calculus&, PolyRef);
  };
  static constexpr Rule rules[] = {
      {"S4 unroll", "the folds over a few elements are written out", unrolled},
      {"S5 lanes", "a fold over several times as many elements is taken in lanes", inLanes},
      {"M3 union", "maxima over ranges that touch are one", rangesUnited},
      {"L angles", "sin and cos written by one angle", anglesUnited},
  };
  for (const Rule& rule : rules) {
    const PolyRef q = rule.apply(c_, p);
    if (q == p || !rewritten_.insert(q).second) continue;
    const auto mark = recorder_.mark();
    note(rule.lemma, rule.text, p, q);
    if (zero(q, depth, hypotheses)) return true;
    recorder_.takeBack(mark);
  }
  const auto mark = recorder_.mark();
  note("residues", "every integer in a quotient by a constant m is m*q + r, for each r", p, nullptr);
  const bool every = byResidues(c_, p, [&](PolyRef q) {
    const PolyRef through = multipliedThrough(c_, q);
    return through->isZero() || (q->indicators && byCases(q, hypotheses));
  });
  if (every) {
    recorder_.use("cases");
    return true;
  }
  recorder_.takeBack(mark);
  return false;
}

bool ZeroTest::byCongruence(PolyRef p, int depth, const std::vector<PolyRef>& hypotheses) {
  struct Group {
    MonoRef cofactor = nullptr;
    std::vector<std::pair<AtomRef, Rational>> sums;
  };
  std::vector<Group> groups;
  std::vector<PolyRef> rest;
  const auto sameExtents = [](AtomRef a, AtomRef b) {
    if (a->bound.size() != b->bound.size()) return false;
    for (std::size_t i = 0; i < a->bound.size(); ++i) {
      if (a->bound[i]->extent != b->bound[i]->extent || a->bound[i]->ranged != b->bound[i]->ranged)
        return false;
    }
    return true;
  };
  for (const auto& [mono, coefficient] : p->terms) {
    AtomRef sum = nullptr;
    int sums = 0;
    for (const auto& [atom, exponent] : mono->factors) {
      if (atom->kind == AtomKind::sum && exponent == 1) {
        sum = atom;
        ++sums;
      }
    }
    if (sums != 1) {
      rest.push_back(polyOf(c_, mono, coefficient));
      continue;
    }
    const MonoRef cofactor = without(c_, mono, sum);
    auto at = std::find_if(groups.begin(), groups.end(), [&](const Group& g) {
      return g.cofactor == cofactor && sameExtents(g.sums[0].first, sum);
    });
    if (at == groups.end()) at = groups.insert(groups.end(), Group{cofactor, {}});
    at->sums.emplace_back(sum, coefficient);
  }
  bool changed = false;
  for (const Group& group : groups) {
    if (group.sums.size() > 1) {
      const Opened first = open(c_, group.sums[0].first);
      std::vector<IntRef> at;
      for (const IntAtomRef v : first.variables) at.push_back(intOf(c_, v));
      std::vector<PolyRef> bodies;
      for (const auto& [sum, coefficient] : group.sums)
        bodies.push_back(scale(c_, openAt(c_, sum, at).body, coefficient));
      const PolyRef body = sumOf(c_, bodies);
      const auto mark = recorder_.mark();
      recorder_.add("S0 congruence", "sums over equal ranges: their bodies are compared at one index",
                    shortText(c_, p), shortText(c_, body));
      const PolyRef through = multipliedThrough(c_, body);
      const Indent indent(recorder_);
      bool same = body->isZero() || through->isZero();
      if (!same && body->indicators) same = byCases(body, hypotheses);
      if (!same && !body->indicators && fitForSolver(through)) {
        const bool worth = std::any_of(body->terms.begin(), body->terms.end(), [](const auto& term) {
          return std::any_of(term.first->factors.begin(), term.first->factors.end(), [](const auto& factor) {
            const AtomKind kind = factor.first->kind;
            return kind == AtomKind::maximum || kind == AtomKind::abs || kind == AtomKind::function;
          });
        });
        same = worth && oracle_.impossible({{}, hypotheses, through});
        if (same) recorder_.use("z3");
      }
      if (same) {
        changed = true;
        continue;
      }
      recorder_.takeBack(mark);
    }
    for (const auto& [sum, coefficient] : group.sums) {
      rest.push_back(multiply(c_, polyOf(c_, group.cofactor, coefficient), polyOf(c_, sum)));
    }
  }
  if (!changed) return false;
  recorder_.use("congruence");
  const PolyRef left = rest.empty() ? c_.arena.zero : sumOf(c_, rest);
  return left->isZero() || zero(left, depth, hypotheses);
}

}  // namespace nuscope::proof
