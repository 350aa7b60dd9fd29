// Exact polynomial arithmetic; the laws of powers of atoms live in the product of monomials.
#include <algorithm>
#include <unordered_set>

#include "core/base/stack.h"
#include "core/replay/kernel.h"

namespace nuscope::replay {
namespace {

using Sum = std::map<MonoRef, Rational, Before>;

PolyRef build(Kernel& k, const Sum& sum) {
  if (sum.size() > 4000) throw Refused{"a polynomial outgrows the checker's limit"};
  std::vector<Term> terms;
  for (const auto& [mono, coefficient] : sum) {
    if (coefficient != 0) terms.emplace_back(mono, coefficient);
  }
  return k.arena.make(std::move(terms));
}

void accumulate(Sum& sum, PolyRef p, const Rational& factor) {
  for (const auto& [mono, coefficient] : p->terms) sum[mono] += coefficient * factor;
}

/// The largest even integer between 0 and e.
Integer evenPart(const Rational& e) {
  Integer half;
  const Rational halved = e / 2;
  mpz_tdiv_q(half.get_mpz_t(), halved.get_num().get_mpz_t(), halved.get_den().get_mpz_t());
  return half * 2;
}

bool natural(const Rational& e) {
  return e.get_den() == 1 && e > 0;
}

}  // namespace

void Kernel::work() {
  if (stackNearlyFull()) throw Refused{"the terms nest too deeply"};
  if (onWork) onWork();
}

PolyRef Kernel::number(const Rational& value) {
  return of(arena.unit, value);
}

PolyRef Kernel::of(MonoRef mono, const Rational& coefficient) {
  if (coefficient == 0) return arena.zero;
  return arena.make(std::vector<Term>{{mono, coefficient}});
}

PolyRef Kernel::of(AtomRef atom, const Rational& exponent) {
  if (exponent == 0) return arena.one;
  Rational e = exponent;
  const PolyRef extra = law(atom, e);
  std::vector<Factor> factors;
  if (e != 0) factors.emplace_back(atom, e);
  const PolyRef result = of(arena.make(std::move(factors)));
  return extra == nullptr ? result : multiply(result, extra);
}

PolyRef Kernel::raise(PolyRef p, const Integer& exponent) {
  if (::abs(exponent) > 64) throw Refused{"an exponent above 64"};
  const PolyRef raised = power(p, Integer(::abs(exponent)).get_ui());
  return exponent >= 0 ? raised : inverse(raised);
}

/// The exponent that an atom keeps, and what its law turns the rest into (null: nothing).
PolyRef Kernel::law(AtomRef atom, Rational& exponent) {
  if (atom->isIndicator()) {  // 0/1
    exponent = 1;
    return nullptr;
  }
  if (exponent.get_den() != 1) return nullptr;
  switch (atom->kind) {
    case Kind::sqrt:
    case Kind::abs: {
      const Integer even = evenPart(exponent);
      if (even == 0) return nullptr;
      exponent -= Rational(even);
      return raise(atom->parts[0], atom->kind == Kind::sqrt ? Integer(even / 2) : even);
    }
    case Kind::inverse: {
      if (exponent < 0) return nullptr;
      const Integer e = exponent.get_num();
      exponent = 0;
      return raise(atom->parts[0], e);
    }
    case Kind::sin: {
      if (exponent < 2) return nullptr;
      const Integer even = evenPart(exponent);
      exponent -= Rational(even);
      return raise(subtract(arena.one, power(cos(atom->parts[0]), 2)), even / 2);
    }
    default:
      return nullptr;
  }
}

PolyRef Kernel::add(PolyRef a, PolyRef b) {
  if (a->isZero()) return b;
  if (b->isZero()) return a;
  Sum sum;
  accumulate(sum, a, 1);
  accumulate(sum, b, 1);
  return build(*this, sum);
}

PolyRef Kernel::total(const std::vector<PolyRef>& parts) {
  Sum sum;
  for (const PolyRef part : parts) accumulate(sum, part, 1);
  return build(*this, sum);
}

PolyRef Kernel::scale(PolyRef a, const Rational& factor) {
  if (factor == 1) return a;
  if (factor == 0) return arena.zero;
  std::vector<Term> terms = a->terms;
  for (auto& term : terms) term.second *= factor;
  return arena.make(std::move(terms));
}

PolyRef Kernel::product(MonoRef a, MonoRef b) {
  if (a->factors.empty()) return of(b);
  if (b->factors.empty()) return of(a);
  std::vector<Factor> factors;
  std::vector<PolyRef> extras;
  const Before before;
  auto i = a->factors.begin();
  auto j = b->factors.begin();
  while (i != a->factors.end() || j != b->factors.end()) {
    if (j == b->factors.end() || (i != a->factors.end() && before(i->first, j->first))) {
      factors.push_back(*i++);
    } else if (i == a->factors.end() || before(j->first, i->first)) {
      factors.push_back(*j++);
    } else {
      Rational exponent = i->second + j->second;
      const AtomRef atom = i->first;
      ++i;
      ++j;
      if (exponent == 0) continue;
      if (const PolyRef extra = law(atom, exponent)) extras.push_back(extra);
      if (exponent != 0) factors.emplace_back(atom, exponent);
    }
  }
  PolyRef result = of(arena.make(std::move(factors)));
  for (const PolyRef extra : extras) result = multiply(result, extra);
  return result;
}

PolyRef Kernel::multiply(PolyRef a, PolyRef b) {
  if (a->isZero() || b->isZero()) return arena.zero;
  if (a->isConstant()) return scale(b, a->constant());
  if (b->isConstant()) return scale(a, b->constant());
  work();
  Sum sum;
  for (const auto& [left, leftFactor] : a->terms) {
    for (const auto& [right, rightFactor] : b->terms) {
      accumulate(sum, product(left, right), leftFactor * rightFactor);
      if (sum.size() > 4000) throw Refused{"a polynomial outgrows the checker's limit"};
    }
  }
  return build(*this, sum);
}

PolyRef Kernel::power(PolyRef a, unsigned long n) {
  PolyRef result = arena.one;
  for (; n > 0; n /= 2) {
    if (n % 2 == 1) result = multiply(result, a);
    if (n > 1) a = multiply(a, a);
  }
  return result;
}

PolyRef Kernel::power(MonoRef mono, const Rational& exponent) {
  PolyRef result = arena.one;
  for (const auto& [atom, e] : mono->factors) result = multiply(result, of(atom, e * exponent));
  return result;
}

MonoRef Kernel::monoOf(std::vector<Factor> factors) {
  std::sort(factors.begin(), factors.end(),
            [](const Factor& a, const Factor& b) { return Before()(a.first, b.first); });
  std::vector<Factor> merged;
  for (auto& factor : factors) {
    if (!merged.empty() && merged.back().first == factor.first) {
      merged.back().second += factor.second;
      if (merged.back().second == 0) merged.pop_back();
    } else if (factor.second != 0) {
      merged.push_back(std::move(factor));
    }
  }
  return arena.make(std::move(merged));
}

MonoRef Kernel::without(MonoRef mono, AtomRef atom) {
  std::vector<Factor> factors;
  for (const auto& factor : mono->factors) {
    if (factor.first != atom) factors.push_back(factor);
  }
  return arena.make(std::move(factors));
}

Content Kernel::content(PolyRef p) {
  if (p->terms.size() == 1) return {p->terms[0].first, p->terms[0].second, arena.one};
  std::map<AtomRef, Rational, Before> least;
  for (const auto& [mono, coefficient] : p->terms) {
    for (const auto& [atom, e] : mono->factors) least.emplace(atom, e);
  }
  std::vector<Factor> common;
  for (auto& [atom, e] : least) {
    for (const auto& [mono, coefficient] : p->terms) e = std::min(e, mono->exponent(atom));
    if (e != 0) common.emplace_back(atom, e);
  }
  PolyRef core = p;
  if (!common.empty()) {
    std::vector<PolyRef> parts;
    for (const auto& [mono, coefficient] : p->terms) {
      std::vector<Factor> factors = mono->factors;
      for (const auto& [atom, e] : common) {
        if (atom->isIndicator()) {
          std::erase_if(factors, [a = atom](const Factor& f) { return f.first == a; });
        } else {
          factors.emplace_back(atom, -e);
        }
      }
      // Powers may become such that a law applies.
      PolyRef part = number(coefficient);
      for (const auto& [atom, e] : monoOf(std::move(factors))->factors) part = multiply(part, of(atom, e));
      parts.push_back(part);
    }
    core = total(parts);
  }
  if (core->isZero()) return {arena.unit, 0, arena.one};
  const Rational leading = core->terms[0].second;
  return {monoOf(std::move(common)), leading, scale(core, 1 / leading)};
}

AtomRef Kernel::firstIndicator(PolyRef p) {
  AtomRef first = nullptr;
  for (const auto& [mono, coefficient] : p->terms) {
    if (!mono->indicators) continue;
    for (const auto& [atom, e] : mono->factors) {
      if (atom->isIndicator() && (first == nullptr || Before()(atom, first))) first = atom;
    }
  }
  return first;
}

PolyRef Kernel::setIndicator(PolyRef p, AtomRef indicator, bool value) {
  Sum sum;
  for (const auto& [mono, coefficient] : p->terms) {
    const bool there = mono->indicators && mono->exponent(indicator) != 0;
    if (there && !value) continue;
    sum[there ? without(mono, indicator) : mono] += coefficient;
  }
  return build(*this, sum);
}

bool Kernel::isInteger(AtomRef atom) {
  switch (atom->kind) {
    case Kind::dimension:
    case Kind::index:
    case Kind::quotient:
    case Kind::floor:
    case Kind::rint:
      return true;
    case Kind::element:
      return atom->integer;
    case Kind::abs:
    case Kind::maximum:
      return std::all_of(atom->parts.begin(), atom->parts.end(), [](PolyRef p) { return isInteger(p); });
    case Kind::sum:
    case Kind::maxFold:
    case Kind::product:
      return isInteger(atom->parts[0]);
    default:
      return atom->isIndicator();
  }
}

bool Kernel::isInteger(PolyRef p) {
  return std::all_of(p->terms.begin(), p->terms.end(), [](const Term& term) {
    return term.second.get_den() == 1 &&
           std::all_of(term.first->factors.begin(), term.first->factors.end(),
                       [](const Factor& f) { return natural(f.second) && isInteger(f.first); });
  });
}

std::optional<Linear> Kernel::linear(PolyRef p, AtomRef variable) {
  Sum coefficient;
  Sum rest;
  for (const auto& [mono, factor] : p->terms) {
    const Rational e = mono->exponent(variable);
    if (e != 0 && e != 1) return std::nullopt;
    const MonoRef other = e == 0 ? mono : without(mono, variable);
    if (contains(other->variables, variable)) return std::nullopt;
    (e == 1 ? coefficient : rest)[other] += factor;
  }
  return Linear{build(*this, coefficient), build(*this, rest)};
}

std::pair<PolyRef, PolyRef> Kernel::divide(PolyRef a, PolyRef b) {
  PolyRef quotient = arena.zero;
  PolyRef rest = a;
  if (b->isZero()) return {quotient, rest};
  const bool single = b->terms.size() == 1;
  const auto& [leading, coefficient] = b->terms.back();
  for (const auto& [mono, factor] : a->terms) {
    std::vector<Factor> factors = mono->factors;
    bool divides = true;
    for (const auto& [atom, e] : leading->factors) {
      divides = divides && mono->exponent(atom) >= e;
      factors.emplace_back(atom, -e);
    }
    if (!divides) continue;
    Rational times = factor / coefficient;
    if (times.get_den() != 1) {
      // Constants leave their whole part; a fraction of a symbolic multiple stays.
      if (!single || !leading->factors.empty()) continue;
      Integer whole;
      mpz_fdiv_q(whole.get_mpz_t(), times.get_num().get_mpz_t(), times.get_den().get_mpz_t());
      times = Rational(whole);
      if (times == 0) continue;
    }
    const PolyRef part = of(monoOf(std::move(factors)), times);
    const PolyRef left = subtract(rest, multiply(part, b));
    if (!single && left->terms.size() >= rest->terms.size()) continue;
    rest = left;
    quotient = add(quotient, part);
  }
  return {quotient, rest};
}

PolyRef Kernel::exactDivide(PolyRef a, PolyRef b) {
  if (a == b) return arena.one;
  if (b->isZero()) return nullptr;
  const auto [quotient, rest] = divide(a, b);
  return rest->isZero() ? quotient : nullptr;
}

PolyRef Kernel::multipliedThrough(PolyRef p) {
  for (int round = 0; round < 6; ++round) {
    std::map<AtomRef, Rational, Before> inverses;
    for (const auto& [mono, coefficient] : p->terms) {
      for (const auto& [atom, e] : mono->factors) {
        if (e < 0) inverses[atom] = std::max(inverses[atom], Rational(-e));
      }
    }
    if (inverses.empty()) return p;
    std::vector<PolyRef> parts;
    for (const auto& [mono, coefficient] : p->terms) {
      PolyRef part = number(coefficient);
      for (const auto& [atom, e] : mono->factors) {
        if (!inverses.contains(atom)) part = multiply(part, of(atom, e));
      }
      for (const auto& [atom, times] : inverses) {
        const Rational e = mono->exponent(atom) + times;
        if (e != 0) part = multiply(part, of(atom, e));
      }
      parts.push_back(part);
    }
    p = total(parts);
  }
  return p;
}

PolyRef Kernel::atomOf(Kind kind, std::vector<PolyRef> parts, const std::string& name, bool integer) {
  Atom atom;
  atom.kind = kind;
  atom.parts = std::move(parts);
  atom.name = name;
  atom.integer = integer;
  return of(arena.make(std::move(atom)));
}

PolyRef Kernel::dimension(const std::string& name) {
  return atomOf(Kind::dimension, {}, name);
}

AtomRef Kernel::index(PolyRef extent, const std::string& letter) {
  Atom atom;
  atom.kind = Kind::index;
  atom.name = letter;
  atom.ranged = notNegative(extent);
  atom.number = ++fresh;
  atom.parts = {extent};
  return arena.make(std::move(atom));
}

AtomRef Kernel::unrangedIndex() {
  Atom atom;
  atom.kind = Kind::index;
  atom.name = "u";
  atom.number = ++fresh;
  atom.parts = {arena.zero};
  return arena.make(std::move(atom));
}

PolyRef Kernel::symbol(Sign sign) {
  Atom atom;
  atom.kind = Kind::symbol;
  atom.name = "p";
  atom.number = ++fresh;
  atom.sign = sign;
  return of(arena.make(std::move(atom)));
}

PolyRef Kernel::element(const std::string& name, std::vector<PolyRef> subscripts, bool integer) {
  const auto constant = facts.constants.find(name);
  if (constant != facts.constants.end()) return number(constant->second);
  const auto scalar = facts.scalars.find(name);
  if (scalar != facts.scalars.end() && subscripts.empty()) return scalar->second;
  if (facts.symmetric.contains(name) && subscripts.size() == 2 && Before()(subscripts[1], subscripts[0]))
    std::swap(subscripts[0], subscripts[1]);
  return atomOf(Kind::element, std::move(subscripts), name, integer);
}

void visit(PolyRef root, const std::function<void(AtomRef)>& f, bool intoFolds) {
  std::unordered_set<const Info*> seen;
  const std::function<void(PolyRef)> walk = [&](PolyRef p) {
    if (p == nullptr || !seen.insert(p).second) return;
    for (const auto& [mono, coefficient] : p->terms) {
      if (!seen.insert(mono).second) continue;
      for (const auto& [atom, e] : mono->factors) {
        if (!seen.insert(atom).second) continue;
        f(atom);
        if (atom->isFold() && !intoFolds) continue;
        if (atom->kind != Kind::index) {
          for (const PolyRef part : atom->parts) walk(part);
        }
        for (const AtomRef bound : atom->bound) walk(bound->extent());
      }
    }
  };
  walk(root);
}

bool occurs(PolyRef p, AtomRef atom) {
  bool found = false;
  visit(p, [&](AtomRef other) { found = found || other == atom; });
  return found;
}

// Substitution.

void Substitution::map(AtomRef atom, PolyRef value) {
  values_[atom] = value;
  if (atom->kind == Kind::index) {
    unite(variables_, Variables{atom});
  } else {
    others_ = true;
  }
  polys_.clear();
  atoms_.clear();
}

bool Substitution::touches(const Info* node) const {
  return others_ || intersects(node->variables, variables_);
}

PolyRef Substitution::operator()(PolyRef p) {
  if (p == nullptr || !touches(p)) return p;
  const auto known = polys_.find(p);
  if (known != polys_.end()) return known->second;
  std::vector<PolyRef> parts;
  for (const auto& [mono, coefficient] : p->terms) {
    if (!touches(mono)) {
      parts.push_back(k_.of(mono, coefficient));
      continue;
    }
    PolyRef part = k_.number(coefficient);
    for (const auto& [a, e] : mono->factors) {
      const PolyRef image = touches(a) ? atom(a) : nullptr;
      if (image == nullptr || image->asAtom() == a) {
        part = k_.multiply(part, k_.of(a, e));
      } else if (a->kind == Kind::exp) {
        // exp(m)^e as exp(e*m): rational exponents need no root. `atom` gave exp of the image of m.
        part = k_.multiply(part, k_.exp(k_.scale((*this)(a->parts[0]), e)));
      } else if (e.get_den() == 1) {
        part = k_.multiply(part, k_.raise(image, e.get_num()));
      } else if (const AtomRef single = image->asAtom()) {
        part = k_.multiply(part, k_.of(single, e));
      } else {
        throw Refused{"a root of a replaced term"};
      }
    }
    parts.push_back(part);
  }
  const PolyRef result = k_.total(parts);
  polys_.emplace(p, result);
  return result;
}

PolyRef Substitution::atom(AtomRef a) {
  const auto mapped = values_.find(a);
  if (mapped != values_.end()) return mapped->second;
  const auto known = atoms_.find(a);
  if (known != atoms_.end()) return known->second;
  const PolyRef result = rebuilt(a);
  atoms_.emplace(a, result);
  return result;
}

PolyRef Substitution::rebuilt(AtomRef a) {
  std::vector<PolyRef> parts;
  if (a->kind == Kind::index || a->kind == Kind::symbol || a->kind == Kind::dimension) return k_.of(a);
  if (!a->isFold()) {
    for (const PolyRef part : a->parts) parts.push_back((*this)(part));
    if (parts == a->parts) return a->kind == Kind::inverse ? a->parts[0] : k_.of(a);
  }
  switch (a->kind) {
    case Kind::element:
      return k_.element(a->name, std::move(parts), a->integer);
    case Kind::quotient:
      return k_.quotient(parts[0], parts[1]);
    case Kind::exp:
      return k_.exp(parts[0]);
    case Kind::log:
      return k_.log(parts[0]);
    case Kind::sqrt:
      return k_.sqrt(parts[0]);
    case Kind::abs:
      return k_.abs(parts[0]);
    case Kind::sin:
      return k_.sin(parts[0]);
    case Kind::cos:
      return k_.cos(parts[0]);
    case Kind::inverse:  // occurs with negative exponents only; `raise` inverts
      return parts[0];
    case Kind::floor:
      return k_.floor(parts[0]);
    case Kind::rint:
      return k_.rint(parts[0]);
    case Kind::undefined:
      return k_.atomOf(Kind::undefined, std::move(parts), a->name);
    case Kind::notNegative:
      return k_.whenNotNegative(parts[0]);
    case Kind::positive:
      return k_.whenPositive(parts[0]);
    case Kind::isZeroInteger:
    case Kind::isZero:
      return k_.whenZero(parts[0]);
    case Kind::maximum:
      return k_.maximum(std::move(parts));
    default: {
      if (others_ && !intersects(a->variables, variables_)) {
        bool inside = false;
        visit(k_.of(a), [&](AtomRef other) { inside = inside || values_.contains(other); });
        if (!inside) return k_.of(a);
      }
      // Open the fold with fresh variables, whose extents are replaced as well.
      Substitution inner(*this);
      std::vector<AtomRef> variables;
      for (const AtomRef b : a->bound) {
        variables.push_back(k_.index(inner(b->extent())));
        inner.map(b, k_.of(variables.back()));
      }
      const PolyRef body = inner(a->parts[0]);
      if (a->kind == Kind::sum) return k_.sum(std::move(variables), body);
      if (a->kind == Kind::product) return k_.product(std::move(variables), body);
      const PolyRef guard = a->parts[1] == nullptr ? k_.arena.one : inner(a->parts[1]);
      return k_.max(std::move(variables), body, guard);
    }
  }
}

PolyRef replaced(Kernel& k, PolyRef p, AtomRef atom, PolyRef value) {
  Substitution s(k);
  s.map(atom, value);
  return s(p);
}

}  // namespace nuscope::replay
