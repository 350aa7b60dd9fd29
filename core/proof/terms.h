#pragma once
// Immutable, hash-consed terms of the prover. Equal terms of one Arena are the same object, so equality is a
// pointer comparison and every pass can be memoised by address. Coefficients, exponents and subscripts are
// GMP numbers.
//
//  IntTerm  canonical polynomial with integer coefficients over IntAtoms. There is no modulo: e % d is e -
//  d*(e//d). Poly     canonical polynomial with rational coefficients over monomials; a monomial maps Atoms
//  to rational
//           exponents, negative = inverse. Meaning is "where defined" (definedness.h keeps the conditions).
//  Bound variables of folds are canonical: named by (level, position, extent). A fold's level is greater than
//  every level inside it, so closed terms never capture; to work inside a fold it is opened with fresh
//  variables.
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/exact.h"

namespace nuscope::proof {

struct IntAtom;
struct IntMono;
struct IntTerm;
struct Atom;
struct Mono;
struct Poly;
using IntAtomRef = const IntAtom*;
using IntMonoRef = const IntMono*;
using IntRef = const IntTerm*;
using AtomRef = const Atom*;
using MonoRef = const Mono*;
using PolyRef = const Poly*;
using Variables = std::vector<IntAtomRef>;  ///< sorted by id, each once

/// What every node knows about itself.
struct Info {
  std::uint32_t id = 0;  ///< order of creation in the arena; the canonical order of terms
  std::size_t hash = 0;
  int level = 0;        ///< greatest level of a fold inside; 0: none
  Variables variables;  ///< free index variables
};

struct IntAtom : Info {
  enum class Kind : std::uint8_t { dimension, variable, quotient, element, embed };
  Kind kind = Kind::dimension;
  std::string name;            ///< dimension: symbol (any integer >= 1); variable: letter for printing
  IntRef extent = nullptr;     ///< variable: 0 <= v < extent if `ranged`; null: none
  bool ranged = false;         ///< variable: extent >= 0 is proved and the variable stays in [0, extent)
  int boundLevel = 0;          ///< variable: level of the fold that binds it; 0: fresh or an output index
  int number = 0;              ///< variable: position in its fold, or a running number
  IntRef numerator = nullptr;  ///< quotient: floor(numerator / denominator)
  IntRef denominator = nullptr;
  int source = -1;  ///< element of an integer tensor (Arena::source)
  std::vector<IntRef> subscripts;
  PolyRef value = nullptr;  ///< embed: an integer-valued polynomial
};

struct IntMono : Info {
  std::vector<IntAtomRef> atoms;  ///< sorted by id, repeated for powers
};

struct IntTerm : Info {
  std::vector<std::pair<IntMonoRef, Integer>> terms;  ///< sorted by id of the monomial, no zeros
  [[nodiscard]] bool isZero() const { return terms.empty(); }
  [[nodiscard]] bool isConstant() const {
    return terms.empty() || (terms.size() == 1 && terms[0].first->atoms.empty());
  }
  [[nodiscard]] Integer constant() const {
    return terms.empty() ? Integer(0) : terms[0].second;
  }  ///< if isConstant
};

enum class AtomKind : std::uint8_t {
  element,  ///< source[subscripts]
  integer,  ///< an IntAtom as a real
  exp,      ///< exp(mono); a coefficient is the exponent
  log,
  sqrt,
  abs,
  sin,
  cos,
  power,           ///< poly, only with negative exponents: an inverse
  intNonNegative,  ///< indicator [integer term >= 0]
  intZero,         ///< indicator [integer term == 0]
  positive,        ///< indicator [poly > 0]
  zero,            ///< indicator [poly == 0]
  maximum,         ///< max of polys
  sum,          ///< sum over `bound` of mono; extents that are not `ranged`: antidifference on all integers
  maxFold,      ///< max over `bound` of poly where guard; extents >= 1 proved
  productFold,  ///< product over `bound` of poly
  function,     ///< name(poly): floor, rint
  symbol        ///< an unknown of known sign (prefix value in an induction)
};

enum class Sign : std::uint8_t { unknown, positive, nonNegative, negative, nonPositive, zero };

struct Atom : Info {
  AtomKind kind = AtomKind::element;
  int source = -1;
  std::vector<IntRef> subscripts;
  IntAtomRef integer = nullptr;
  IntRef intTerm = nullptr;
  MonoRef mono = nullptr;
  PolyRef poly = nullptr;
  PolyRef guard = nullptr;        ///< maxFold: 0/1 polynomial, null for 1
  std::vector<PolyRef> polys;     ///< maximum, sorted by id
  std::vector<IntAtomRef> bound;  ///< folds
  std::string name;               ///< function, symbol
  Sign sign = Sign::unknown;      ///< symbol
  bool zeroOne = false;           ///< productFold: every factor is 0 or 1
  int number = 0;                 ///< symbol
  [[nodiscard]] bool isIndicator() const {
    return kind >= AtomKind::intNonNegative && kind <= AtomKind::zero;
  }
  [[nodiscard]] bool isFold() const { return kind >= AtomKind::sum && kind <= AtomKind::productFold; }
};

struct Mono : Info {
  std::vector<std::pair<AtomRef, Rational>> factors;  ///< sorted by id of the atom, no zero exponents
  [[nodiscard]] Rational exponent(AtomRef atom) const;
  bool indicators = false;  ///< some factor is an indicator
};

struct Poly : Info {
  std::vector<std::pair<MonoRef, Rational>> terms;  ///< sorted by id of the monomial, no zeros
  bool indicators = false;
  [[nodiscard]] bool isZero() const { return terms.empty(); }
  [[nodiscard]] bool isConstant() const {
    return terms.empty() || (terms.size() == 1 && terms[0].first->factors.empty());
  }
  [[nodiscard]] Rational constant() const {
    return terms.empty() ? Rational(0) : terms[0].second;
  }  ///< if isConstant
  /// The monomial if this is one monomial with coefficient 1, else null.
  [[nodiscard]] MonoRef asMono() const {
    return terms.size() == 1 && terms[0].second == 1 ? terms[0].first : nullptr;
  }
  /// The atom if this is one atom with coefficient and exponent 1, else null.
  [[nodiscard]] AtomRef asAtom() const;
};

/// A tensor of unknown elements: an input, or a node that a local proof cuts off.
struct Source {
  std::string name;
  const void* key = nullptr;  ///< cut node; null for inputs, which are known by name
  bool integer = false;
  std::vector<IntRef> shape;  ///< extents, where asserts may speak of the whole tensor; else empty
};

template <class T>
class Interner {
 public:
  const T* intern(T&& node) {
    const auto [first, last] = byHash_.equal_range(node.hash);
    for (auto at = first; at != last; ++at) {
      if (same(*at->second, node)) return at->second;
    }
    node.id = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back(std::move(node));
    const T* added = &nodes_.back();
    byHash_.emplace(added->hash, added);
    return added;
  }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }

 private:
  static bool same(const T& a, const T& b);
  std::deque<T> nodes_;
  std::unordered_multimap<std::size_t, const T*> byHash_;
};

/// Owns the terms of one proof attempt. Not thread-safe: each attempt has its own.
class Arena {
 public:
  Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Raw construction: arguments must already be canonical; int_term.h and real_term.h give the checked
  // operations.
  IntAtomRef intern(IntAtom node);
  IntMonoRef intern(IntMono node);
  IntRef intern(IntTerm node);
  AtomRef intern(Atom node);
  MonoRef intern(Mono node);
  PolyRef intern(Poly node);

  int source(const Source& source);
  [[nodiscard]] const Source& source(int index) const { return sources_[static_cast<std::size_t>(index)]; }
  int nextNumber() { return ++number_; }
  /// Nodes and the terms they hold: what the memory of an attempt is measured by, some 150 bytes each.
  [[nodiscard]] std::size_t size() const;

  IntRef zeroInt = nullptr, oneInt = nullptr;
  IntMonoRef unitInt = nullptr;
  PolyRef zero = nullptr, one = nullptr;
  MonoRef unit = nullptr;

 private:
  Interner<IntAtom> intAtoms_;
  Interner<IntMono> intMonos_;
  Interner<IntTerm> intTerms_;
  Interner<Atom> atoms_;
  Interner<Mono> monos_;
  Interner<Poly> polys_;
  std::vector<Source> sources_;
  std::size_t terms_ = 0;
  int number_ = 0;
};

bool contains(const Variables& variables, IntAtomRef variable);
bool intersects(const Variables& a, const Variables& b);
void unite(Variables& into, const Variables& from);

}  // namespace nuscope::proof
