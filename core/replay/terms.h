#pragma once
// Terms of the proof checker. It shares nothing with core/proof: what it accepts holds whatever the prover
// did.
//
// One kind of polynomial serves integers and reals: rational coefficients over monomials, which map atoms to
// rational exponents (negative = inverse). Terms of one Arena that are equal are the same object. Their order
// is that of structural hashes, so that a replay meets the same order as the recording.
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/exact.h"

namespace nuscope::replay {

struct Atom;
struct Mono;
struct Poly;
using AtomRef = const Atom*;
using MonoRef = const Mono*;
using PolyRef = const Poly*;
using Variables = std::vector<AtomRef>;  ///< index atoms, sorted by id, each once

/// A record that does not prove its goal, or that the checker cannot follow; the reason in words.
struct Refused {
  std::string reason;
};

enum class Kind : std::uint8_t {
  dimension,  ///< name; an integer >= 1
  index,      ///< parts[0]: extent (may be null); 0 <= index < extent if `ranged`
  element,    ///< name[parts...]; an integer if `integer`
  quotient,   ///< floor(parts[0] / parts[1]) of integers
  exp,        ///< of one monomial with coefficient 1
  log,
  sqrt,
  abs,
  sin,
  cos,
  inverse,  ///< parts[0]; occurs with negative exponents only
  floor,
  rint,
  undefined,    ///< name(parts[0]) where a function has no value
  notNegative,  ///< indicator [parts[0] >= 0] of an integer
  isZeroInteger,
  positive,  ///< indicator [parts[0] > 0] of a real
  isZero,
  maximum,  ///< of parts
  sum,      ///< over `bound` of the monomial parts[0]; an unranged variable: antidifference on all integers
  maxFold,  ///< over `bound` of parts[0] where the 0/1 term parts[1] is 1
  product,  ///< over `bound` of parts[0]
  symbol    ///< an unknown number of known sign
};

enum class Sign : std::uint8_t { unknown, positive, nonNegative, negative, nonPositive, zero };

struct Info {
  std::uint64_t hash = 0;
  std::uint64_t shape = 0;  ///< hash that does not see which index is which
  std::uint32_t id = 0;
  int level = 0;        ///< greatest level of a fold inside
  Variables variables;  ///< free index atoms
  bool indicators = false;
};

struct Atom : Info {
  Kind kind = Kind::symbol;
  std::string name;
  int number = 0;  ///< index, symbol
  bool integer = false;
  bool ranged = false;
  int boundLevel = 0;  ///< index: level of the fold that binds it; 0: free
  Sign sign = Sign::unknown;
  std::vector<PolyRef> parts;
  std::vector<AtomRef> bound;
  [[nodiscard]] bool isIndicator() const { return kind >= Kind::notNegative && kind <= Kind::isZero; }
  [[nodiscard]] bool isFold() const { return kind >= Kind::sum && kind <= Kind::product; }
  [[nodiscard]] PolyRef extent() const { return parts[0]; }
  [[nodiscard]] PolyRef body() const { return parts[0]; }
};

using Factor = std::pair<AtomRef, Rational>;
struct Mono : Info {
  std::vector<Factor> factors;
  [[nodiscard]] Rational exponent(AtomRef atom) const;
};

using Term = std::pair<MonoRef, Rational>;
struct Poly : Info {
  std::vector<Term> terms;
  [[nodiscard]] bool isZero() const { return terms.empty(); }
  [[nodiscard]] bool isConstant() const {
    return terms.empty() || (terms.size() == 1 && terms[0].first->factors.empty());
  }
  [[nodiscard]] Rational constant() const { return terms.empty() ? Rational(0) : terms[0].second; }
  /// The atom if this is one atom with coefficient and exponent 1, else null.
  [[nodiscard]] AtomRef asAtom() const;
  [[nodiscard]] MonoRef asMono() const {
    return terms.size() == 1 && terms[0].second == 1 ? terms[0].first : nullptr;
  }
};

/// The canonical order: by shape, so that renaming an index seldom changes it, then by hash.
struct Before {
  bool operator()(const Info* a, const Info* b) const {
    if (a->shape != b->shape) return a->shape < b->shape;
    return a->hash != b->hash ? a->hash < b->hash : a->id < b->id;
  }
};

/// Owns terms. `limit`: more nodes than this are refused.
class Arena {
 public:
  explicit Arena(std::size_t limit);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  AtomRef make(Atom atom);
  MonoRef make(std::vector<Factor> sortedFactors);
  PolyRef make(std::vector<Term> sortedTerms);
  [[nodiscard]] std::size_t size() const { return atoms_.size() + monos_.size() + polys_.size(); }
  PolyRef zero = nullptr, one = nullptr;
  MonoRef unit = nullptr;

 private:
  void count();
  std::size_t limit_;
  std::uint32_t next_ = 0;
  std::deque<Atom> atoms_;
  std::deque<Mono> monos_;
  std::deque<Poly> polys_;
  std::unordered_multimap<std::uint64_t, AtomRef> atomsByHash_;
  std::unordered_multimap<std::uint64_t, MonoRef> monosByHash_;
  std::unordered_multimap<std::uint64_t, PolyRef> polysByHash_;
};

bool contains(const Variables& variables, AtomRef variable);
bool intersects(const Variables& a, const Variables& b);
void unite(Variables& into, const Variables& from);

std::uint64_t mix(std::uint64_t a, std::uint64_t b);
std::uint64_t hashText(std::string_view text);
std::uint64_t hashNumber(const Rational& value);

/// Text for people and for comparison with what a record says; longer texts end in their hash.
std::string text(PolyRef poly, std::size_t limit = 240);
std::string text(AtomRef atom, std::size_t limit = 240);
std::string_view text(Kind kind);

}  // namespace nuscope::replay
