#include "core/proof/assumptions.h"

#include <algorithm>

#include "core/proof/functions.h"
#include "core/proof/int_facts.h"
#include "core/proof/real_term.h"
#include "core/proof/signs.h"

namespace nuscope::proof {
namespace {

using tensor::DimRelation;
using tensor::NodeRef;
using tensor::Op;
using tensor::Precondition;
using tensor::Relation;

std::vector<const Precondition*> distinct(std::span<const Precondition> left,
                                          std::span<const Precondition> right) {
  std::vector<const Precondition*> result;
  for (const auto list : {left, right}) {
    for (const Precondition& p : list) {
      const bool known = std::any_of(result.begin(), result.end(),
                                     [&](const Precondition* other) { return other->text == p.text; });
      if (!known) result.push_back(&p);
    }
  }
  return result;
}

/// One assert at arbitrary indices: a 0/1 term and its index variables.
struct Statement {
  std::string text;
  Variables variables;
  PolyRef condition = nullptr;
};

void collect(Calculus& c, SymbolicDomain& domain, const std::string& text, NodeRef node,
             std::vector<Statement>& into) {
  if (node->op == Op::logicalAnd && node->shape.empty()) {
    collect(c, domain, text, node->operands[0], into);
    collect(c, domain, text, node->operands[1], into);
    return;
  }
  std::vector<IntRef> index;
  Statement statement;
  statement.text = text;
  const bool everywhere = node->op == Op::all && node->shape.empty() && !node->attributes.keepDims &&
                          node->attributes.axes.size() == node->operands[0]->shape.size();
  const NodeRef body = everywhere ? node->operands[0] : node;
  for (const auto& extent : body->shape) {
    const IntRef size = domain.dim(extent);
    if (size == c.arena.oneInt) {
      index.push_back(c.arena.zeroInt);
      continue;
    }
    const IntAtomRef variable = freshIndex(c, size, "f");
    unite(statement.variables, Variables{variable});
    index.push_back(intOf(c, variable));
  }
  statement.condition = domain.element(body, index).real;
  into.push_back(std::move(statement));
}

std::vector<Statement> statements(Calculus& c, SymbolicDomain& domain,
                                  const std::vector<const Precondition*>& asserts, Assumptions& assumptions) {
  std::vector<Statement> result;
  for (const Precondition* p : asserts) {
    if (p->dims || p->condition == nullptr) continue;
    try {
      collect(c, domain, p->text, p->condition, result);
    } catch (const GaveUp&) {
      if (std::find(assumptions.unused.begin(), assumptions.unused.end(), p->text) ==
          assumptions.unused.end()) {
        assumptions.unused.push_back(p->text);
      }
    }
  }
  return result;
}

/// The source of x[f1, f2, ...], if the distinct variables run over the whole of x; else -1.
int wholeSource(Calculus& c, const std::vector<IntRef>& subscripts, int source, const Statement& s) {
  const auto& shape = c.arena.source(source).shape;
  if (shape.size() != subscripts.size()) return -1;
  Variables seen;
  for (std::size_t i = 0; i < subscripts.size(); ++i) {
    const IntRef subscript = subscripts[i];
    if (subscript->isZero() && shape[i] == c.arena.oneInt) continue;
    if (subscript->terms.size() != 1 || subscript->terms[0].second != 1) return -1;
    const auto& atoms = subscript->terms[0].first->atoms;
    if (atoms.size() != 1 || !contains(s.variables, atoms[0]) || contains(seen, atoms[0])) return -1;
    if (atoms[0]->extent != shape[i]) return -1;
    unite(seen, Variables{atoms[0]});
  }
  return source;
}

int wholeSource(Calculus& c, PolyRef p, const Statement& s) {
  const AtomRef atom = p->asAtom();
  if (atom == nullptr) return -1;
  if (atom->kind == AtomKind::element) return wholeSource(c, atom->subscripts, atom->source, s);
  if (atom->kind == AtomKind::integer && atom->integer->kind == IntAtom::Kind::element) {
    return wholeSource(c, atom->integer->subscripts, atom->integer->source, s);
  }
  return -1;
}

void setSign(Calculus& c, int source, Sign sign) {
  const auto [at, inserted] = c.facts.signs.emplace(source, sign);
  if (inserted || at->second == sign) return;
  if (isNonZero(sign) && (at->second == Sign::nonNegative || at->second == Sign::nonPositive))
    at->second = sign;
}

/// x[f1, f2, ...] == x[f1, 0, ...]: x does not change along that axis.
bool learnUnchanging(Calculus& c, PolyRef difference, const Statement& s) {
  if (difference->terms.size() != 2 || difference->terms[0].second != -difference->terms[1].second)
    return false;
  const AtomRef both[] = {polyOf(c, difference->terms[0].first)->asAtom(),
                          polyOf(c, difference->terms[1].first)->asAtom()};
  for (const AtomRef atom : both) {
    if (atom == nullptr || atom->kind != AtomKind::element || atom->source != both[0]->source) return false;
  }
  for (const bool swapped : {false, true}) {
    const AtomRef whole = both[swapped ? 1 : 0];
    const AtomRef part = both[swapped ? 0 : 1];
    if (wholeSource(c, whole->subscripts, whole->source, s) < 0) continue;
    std::set<std::size_t> axes;
    bool fits = true;
    for (std::size_t i = 0; i < whole->subscripts.size(); ++i) {
      if (part->subscripts[i] == whole->subscripts[i]) continue;
      fits = fits && part->subscripts[i]->isZero();
      axes.insert(i);
    }
    if (!fits || axes.empty()) continue;
    auto& known = c.facts.unchanging[whole->source];
    const std::size_t before = known.size();
    known.insert(axes.begin(), axes.end());
    return known.size() != before;
  }
  return false;
}

bool integerFact(Calculus& c, IntRef e) {
  auto& facts = c.facts.nonNegative;
  if (std::find(facts.begin(), facts.end(), e) != facts.end()) return false;
  facts.push_back(e);
  return true;
}

/// x - d*(x // d) == 0 with a scalar x: x = d*q.  x == t: x = t.
bool integerSubstitution(Calculus& c, IntRef e) {
  for (const auto& [mono, coefficient] : e->terms) {
    if (mono->atoms.size() != 1 || abs(coefficient) != 1) continue;
    const IntAtomRef atom = mono->atoms[0];
    if (atom->kind != IntAtom::Kind::element || !atom->subscripts.empty()) continue;
    const IntRef x = intOf(c, atom);
    const IntRef rest = subtract(c, scale(c, x, coefficient), e);  // coefficient*x == rest where e == 0
    const IntRef value = scale(c, rest, coefficient);
    // value = d * floor(x / d)?
    IntAtomRef quotient = nullptr;
    for (const auto& [other, k] : value->terms) {
      for (const IntAtomRef a : other->atoms) {
        if (a->kind == IntAtom::Kind::quotient && a->numerator == x) quotient = a;
      }
    }
    if (quotient != nullptr) {
      if (value != multiply(c, quotient->denominator, intOf(c, quotient)) ||
          !positive(c, quotient->denominator))
        continue;
      Source divided;
      divided.name = c.arena.source(atom->source).name + "'";
      divided.integer = true;
      const int number = c.arena.source(divided);
      const IntRef q = intElement(c, number, {});
      if (positive(c, x)) integerFact(c, plus(c, q, -1));
      if (nonNegative(c, x)) integerFact(c, q);
      c.facts.integers.emplace(atom->source, multiply(c, quotient->denominator, q));
      return true;
    }
    bool inside = false;
    for (const auto& [other, k] : value->terms) {
      for (const IntAtomRef a : other->atoms) inside = inside || a->kind != IntAtom::Kind::dimension;
    }
    if (inside && !std::all_of(value->terms.begin(), value->terms.end(), [&](const auto& t) {
          return std::all_of(t.first->atoms.begin(), t.first->atoms.end(), [&](IntAtomRef a) {
            return a->kind == IntAtom::Kind::dimension || (a->kind == IntAtom::Kind::element && a != atom);
          });
        })) {
      continue;
    }
    c.facts.integers.emplace(atom->source, value);
    return true;
  }
  return false;
}

/// e >= 0 with e = x[f1, f2, ...] + rest or rest - x[f1, f2, ...]: a bound of every element of x.
bool learnBound(Calculus& c, IntRef e, const Statement& s) {
  bool news = false;
  for (const auto& [mono, coefficient] : e->terms) {
    if (mono->atoms.size() != 1 || abs(coefficient) != 1) continue;
    const IntRef x = intOf(c, mono->atoms[0]);
    const IntRef rest = subtract(c, e, scale(c, x, coefficient));
    if (intersects(rest->variables, s.variables)) continue;
    const int source = wholeSource(c, toReal(c, x), s);
    if (source < 0) continue;
    auto& bounds = coefficient == 1 ? c.facts.atLeast[source] : c.facts.atMost[source];
    const IntRef bound = coefficient == 1 ? negate(c, rest) : rest;
    if (std::find(bounds.begin(), bounds.end(), bound) != bounds.end()) continue;
    bounds.push_back(bound);
    news = true;
  }
  return news;
}

/// What one statement says in a form that terms are simplified by. True if something new was learned.
bool learn(Calculus& c, const Statement& s) {
  const PolyRef p = s.condition;
  bool negative = false;
  AtomRef atom = p->asAtom();
  if (atom == nullptr) {
    atom = negation(c, p)->asAtom();
    negative = true;
  }
  if (atom == nullptr || !atom->isIndicator()) return false;
  const auto before =
      std::make_tuple(c.facts.signs, c.facts.nonZero, c.facts.constants.size(), c.facts.symmetric.size(),
                      c.facts.integers.size(), c.facts.nonNegative.size());
  const auto changed = [&] {
    return before != std::make_tuple(c.facts.signs, c.facts.nonZero, c.facts.constants.size(),
                                     c.facts.symmetric.size(), c.facts.integers.size(),
                                     c.facts.nonNegative.size());
  };
  if (atom->kind == AtomKind::positive) {
    const int plus = wholeSource(c, atom->poly, s);
    const int minus = wholeSource(c, negate(c, atom->poly), s);
    if (plus >= 0) setSign(c, plus, negative ? Sign::nonPositive : Sign::positive);
    if (minus >= 0) setSign(c, minus, negative ? Sign::nonNegative : Sign::negative);
    return changed();
  }
  if (atom->kind == AtomKind::zero) {
    if (negative) {
      const int source = wholeSource(c, atom->poly, s);
      if (source >= 0) c.facts.nonZero.insert(source);
      return changed();
    }
    const PolyRef q = atom->poly;
    if (learnUnchanging(c, q, s)) return true;
    if (q->terms.size() == 2 && q->terms[0].first->factors.empty()) {  // constant first: the unit has id 0
      const PolyRef variable = polyOf(c, q->terms[1].first);
      const int source = wholeSource(c, variable, s);
      if (source >= 0) c.facts.constants.emplace(source, -q->terms[0].second / q->terms[1].second);
    } else if (q->terms.size() == 1) {
      const int source = wholeSource(c, polyOf(c, q->terms[0].first), s);
      if (source >= 0) c.facts.constants.emplace(source, Rational(0));
    } else if (q->terms.size() == 2 && q->terms[0].second == -q->terms[1].second && s.variables.size() == 2) {
      const AtomRef a = polyOf(c, q->terms[0].first)->asAtom();
      const AtomRef b = polyOf(c, q->terms[1].first)->asAtom();
      const bool mirrored =
          a != nullptr && b != nullptr && a->kind == AtomKind::element && b->kind == AtomKind::element &&
          a->source == b->source && a->subscripts.size() == 2 && a->subscripts[0] == b->subscripts[1] &&
          a->subscripts[1] == b->subscripts[0] && wholeSource(c, a->subscripts, a->source, s) >= 0;
      if (mirrored) c.facts.symmetric.insert(a->source);
    }
    return changed();
  }
  IntRef e = atom->intTerm;
  if (atom->kind == AtomKind::intNonNegative) {
    if (negative) e = plus(c, negate(c, e), -1);
    if (s.variables.empty()) integerFact(c, e);
    const bool bounded = learnBound(c, e, s);
    for (const Integer& offset : {Integer(0), Integer(-1)}) {  // x >= 0, x >= 1 for a whole tensor
      const IntRef shifted = subtract(c, e, intConstant(c, offset));
      if (shifted->terms.size() != 1 || shifted->terms[0].second != 1) continue;
      const int source = wholeSource(c, toReal(c, shifted), s);
      if (source >= 0) setSign(c, source, offset == 0 ? Sign::nonNegative : Sign::positive);
    }
    return changed() || bounded;
  }
  if (negative) {
    const int source = wholeSource(c, toReal(c, e), s);
    if (source >= 0) c.facts.nonZero.insert(source);
    return changed();
  }
  if (s.variables.empty()) {
    integerSubstitution(c, e);
  } else if (e->terms.size() <= 2) {
    IntRef rest = e;
    for (const auto& [mono, coefficient] : e->terms) {
      if (mono->atoms.size() != 1 || coefficient != 1) continue;
      const IntRef x = intOf(c, mono->atoms[0]);
      rest = subtract(c, x, e);
      const int source = wholeSource(c, toReal(c, x), s);
      if (source >= 0 && rest->isConstant()) c.facts.constants.emplace(source, Rational(rest->constant()));
    }
  }
  return changed();
}

void forgetMemos(Calculus& c, SymbolicDomain& domain) {
  c.nonNegative.clear();
  c.signs.clear();
  domain.forget();
}

}  // namespace

Assumptions dimensionFacts(std::span<const Precondition> left, std::span<const Precondition> right) {
  Assumptions result;
  const auto asserts = distinct(left, right);
  // Divisibilities first: a later bound must not take their symbol.
  const auto isDivisibility = [](const DimRelation& r) {
    return r.relation == Relation::equal && (r.left - r.right).text().find("//") != std::string::npos;
  };
  for (const bool divisibility : {true, false}) {
    for (const Precondition* p : asserts) {
      if (!p->dims || isDivisibility(*p->dims) != divisibility) continue;
      result.dims.assume(*p->dims);
      result.used.push_back(p->text);
    }
  }
  return result;
}

void assume(Calculus& c, SymbolicDomain& domain, Assumptions& assumptions, std::span<const Precondition> left,
            std::span<const Precondition> right) {
  for (const auto& [symbol, bound] : assumptions.dims.lowerBounds()) {
    if (bound <= 1 || assumptions.dims.normalise(tensor::Dim::symbol(symbol)).asSymbol() != symbol) continue;
    domain.bind(symbol, plus(c, dimension(c, symbol + "'"), static_cast<long>(bound - 1)));
  }
  for (const DimRelation& relation : assumptions.dims.relations()) {
    const IntRef gap = subtract(c, domain.dim(relation.right), domain.dim(relation.left));
    if (relation.relation == Relation::equal && !gap->isZero()) {
      integerFact(c, gap);
      integerFact(c, negate(c, gap));
    }
    if (relation.relation == Relation::lessEqual && !nonNegative(c, gap)) integerFact(c, gap);
    if (relation.relation == Relation::less && !positive(c, gap)) integerFact(c, plus(c, gap, -1));
    forgetMemos(c, domain);
  }
  const auto asserts = distinct(left, right);
  std::vector<Statement> current;
  for (int round = 0; round < 4; ++round) {
    current = statements(c, domain, asserts, assumptions);
    bool news = false;
    for (const Statement& s : current) {
      if (s.condition->isConstant()) continue;
      if (!learn(c, s)) continue;
      news = true;
      forgetMemos(c, domain);
    }
    if (!news) break;
  }
  // Integer facts in terms of what replaced their scalars.
  forgetMemos(c, domain);
  for (const Statement& s : current) {
    if (std::find(assumptions.used.begin(), assumptions.used.end(), s.text) == assumptions.used.end()) {
      assumptions.used.push_back(s.text);
    }
    if (!s.condition->isConstant()) c.facts.templates.push_back({s.variables, s.condition, s.text});
  }
  forgetMemos(c, domain);
}

}  // namespace nuscope::proof
