#include "core/proof/terms.h"

#include <algorithm>

#include "core/base/hash.h"

namespace nuscope::proof {
namespace {

struct ById {
  template <class T>
  bool operator()(const T* a, const T* b) const {
    return a->id < b->id;
  }
};

std::size_t hashInteger(const Integer& value) {
  std::size_t h = static_cast<std::size_t>(sgn(value) + 1);
  const std::size_t limbs = mpz_size(value.get_mpz_t());
  for (std::size_t i = 0; i < limbs; ++i)
    h = mixHash(h, mpz_getlimbn(value.get_mpz_t(), static_cast<mp_size_t>(i)));
  return h;
}

std::size_t hashRational(const Rational& value) {
  return mixHash(hashInteger(value.get_num()), hashInteger(value.get_den()));
}

std::size_t hashRef(const Info* node) {
  return node == nullptr ? 0 : node->hash;
}

void absorb(Info& info, const Info* child) {
  if (child == nullptr) return;
  info.level = std::max(info.level, child->level);
  unite(info.variables, child->variables);
}

}  // namespace

bool contains(const Variables& variables, IntAtomRef variable) {
  return std::binary_search(variables.begin(), variables.end(), variable, ById{});
}

bool intersects(const Variables& a, const Variables& b) {
  auto i = a.begin();
  auto j = b.begin();
  while (i != a.end() && j != b.end()) {
    if (*i == *j) return true;
    if ((*i)->id < (*j)->id) {
      ++i;
    } else {
      ++j;
    }
  }
  return false;
}

void unite(Variables& into, const Variables& from) {
  if (from.empty()) return;
  if (into.empty()) {
    into = from;
    return;
  }
  Variables result;
  std::set_union(into.begin(), into.end(), from.begin(), from.end(), std::back_inserter(result), ById{});
  into = std::move(result);
}

Rational Mono::exponent(AtomRef atom) const {
  const auto at =
      std::lower_bound(factors.begin(), factors.end(), atom,
                       [](const auto& factor, AtomRef wanted) { return factor.first->id < wanted->id; });
  return at != factors.end() && at->first == atom ? at->second : Rational(0);
}

AtomRef Poly::asAtom() const {
  const MonoRef mono = asMono();
  return mono != nullptr && mono->factors.size() == 1 && mono->factors[0].second == 1 ? mono->factors[0].first
                                                                                      : nullptr;
}

template <>
bool Interner<IntAtom>::same(const IntAtom& a, const IntAtom& b) {
  return a.kind == b.kind && a.name == b.name && a.extent == b.extent && a.ranged == b.ranged &&
         a.boundLevel == b.boundLevel && a.number == b.number && a.numerator == b.numerator &&
         a.denominator == b.denominator && a.source == b.source && a.subscripts == b.subscripts &&
         a.value == b.value;
}
template <>
bool Interner<IntMono>::same(const IntMono& a, const IntMono& b) {
  return a.atoms == b.atoms;
}
template <>
bool Interner<IntTerm>::same(const IntTerm& a, const IntTerm& b) {
  return a.terms == b.terms;
}
template <>
bool Interner<Atom>::same(const Atom& a, const Atom& b) {
  return a.kind == b.kind && a.source == b.source && a.subscripts == b.subscripts && a.integer == b.integer &&
         a.intTerm == b.intTerm && a.mono == b.mono && a.poly == b.poly && a.guard == b.guard &&
         a.polys == b.polys && a.bound == b.bound && a.name == b.name && a.sign == b.sign &&
         a.number == b.number;
}
template <>
bool Interner<Mono>::same(const Mono& a, const Mono& b) {
  return a.factors == b.factors;
}
template <>
bool Interner<Poly>::same(const Poly& a, const Poly& b) {
  return a.terms == b.terms;
}

Arena::Arena() {
  unitInt = intern(IntMono{});
  zeroInt = intern(IntTerm{});
  IntTerm oneTerm;
  oneTerm.terms.emplace_back(unitInt, 1);
  oneInt = intern(std::move(oneTerm));
  unit = intern(Mono{});
  zero = intern(Poly{});
  Poly onePoly;
  onePoly.terms.emplace_back(unit, 1);
  one = intern(std::move(onePoly));
}

IntAtomRef Arena::intern(IntAtom node) {
  std::size_t h = mixHash(static_cast<std::size_t>(node.kind), std::hash<std::string>{}(node.name));
  h = mixHash(h, hashRef(node.extent) + (node.ranged ? 1 : 0));
  h = mixHash(h, static_cast<std::size_t>(node.boundLevel * 1000 + node.number));
  h = mixHash(mixHash(h, hashRef(node.numerator)), hashRef(node.denominator));
  h = mixHash(h, static_cast<std::size_t>(node.source + 1));
  absorb(node, node.numerator);
  absorb(node, node.denominator);
  absorb(node, node.value);
  for (const IntRef subscript : node.subscripts) {
    h = mixHash(h, hashRef(subscript));
    absorb(node, subscript);
  }
  node.hash = mixHash(h, hashRef(node.value));
  const bool variable = node.kind == IntAtom::Kind::variable;
  const IntAtomRef result = intAtoms_.intern(std::move(node));
  if (variable && result->variables.empty()) {
    // A variable is its own free variable; the interner hands out const nodes, and this one is new.
    const_cast<IntAtom*>(result)->variables.push_back(
        result);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  }
  return result;
}

IntMonoRef Arena::intern(IntMono node) {
  std::size_t h = 11;
  for (const IntAtomRef atom : node.atoms) {
    h = mixHash(h, atom->hash);
    absorb(node, atom);
  }
  node.hash = h;
  return intMonos_.intern(std::move(node));
}

IntRef Arena::intern(IntTerm node) {
  std::size_t h = 13;
  for (const auto& [mono, coefficient] : node.terms) {
    h = mixHash(mixHash(h, mono->hash), hashInteger(coefficient));
    absorb(node, mono);
  }
  node.hash = h;
  return intTerms_.intern(std::move(node));
}

AtomRef Arena::intern(Atom node) {
  std::size_t h =
      mixHash(static_cast<std::size_t>(node.kind) + 17, static_cast<std::size_t>(node.source + 1));
  const auto take = [&](const Info* child) {
    h = mixHash(h, hashRef(child));
    absorb(node, child);
  };
  for (const IntRef subscript : node.subscripts) take(subscript);
  take(node.integer);
  take(node.intTerm);
  take(node.mono);
  take(node.poly);
  take(node.guard);
  for (const PolyRef poly : node.polys) take(poly);
  h = mixHash(h, std::hash<std::string>{}(node.name));
  h = mixHash(h, static_cast<std::size_t>(node.number));
  if (!node.bound.empty()) {
    for (const IntAtomRef variable : node.bound) take(variable->extent);
    for (const IntAtomRef variable : node.bound) {
      h = mixHash(h, variable->hash);
      std::erase(node.variables, variable);
      node.level = std::max(node.level, variable->boundLevel);
    }
  }
  node.hash = h;
  return atoms_.intern(std::move(node));
}

MonoRef Arena::intern(Mono node) {
  std::size_t h = 19;
  for (const auto& [atom, exponent] : node.factors) {
    h = mixHash(mixHash(h, atom->hash), hashRational(exponent));
    absorb(node, atom);
    node.indicators = node.indicators || atom->isIndicator();
  }
  node.hash = h;
  return monos_.intern(std::move(node));
}

PolyRef Arena::intern(Poly node) {
  std::size_t h = 23;
  for (const auto& [mono, coefficient] : node.terms) {
    h = mixHash(mixHash(h, mono->hash), hashRational(coefficient));
    absorb(node, mono);
    node.indicators = node.indicators || mono->indicators;
  }
  node.hash = h;
  const std::size_t terms = node.terms.size();
  const std::size_t before = polys_.size();
  const PolyRef result = polys_.intern(std::move(node));
  if (polys_.size() != before) terms_ += terms;
  return result;
}

int Arena::source(const Source& wanted) {
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (sources_[i].name == wanted.name && sources_[i].key == wanted.key) return static_cast<int>(i);
  }
  sources_.push_back(wanted);
  return static_cast<int>(sources_.size()) - 1;
}

std::size_t Arena::size() const {
  return intAtoms_.size() + intMonos_.size() + intTerms_.size() + atoms_.size() + monos_.size() +
         polys_.size() + terms_;
}

}  // namespace nuscope::proof
