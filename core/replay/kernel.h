#pragma once
// The checker's calculus: exact arithmetic on terms with the laws of functions, and laws of folds that are
// applied only where a Guide names an instance. Laws hold where both sides are defined; definedness is shown
// apart (forms.h). The lemma names are those of reference/proofs.md, section 7.
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "core/replay/terms.h"

namespace nuscope::replay {

/// A lemma about one fold, as a record names it. What the numbers mean depends on the lemma; each instance is
/// checked before it is used.
enum class Lemma : std::uint8_t {
  keep,        ///< no lemma: the fold stays (its independent parts become separate folds, S9)
  tile,        ///< S4, S5: variable `first` by the `second`-th divisor
  count,       ///< S3: variable `first` counts how often `second` is met
  delta,       ///< S6: factor `second` fixes variable `first`
  range,       ///< S7: factor `second` bounds variable `first`
  merge,       ///< S5: variables `first` and `second` are one index
  powers,      ///< S10: powers of variable `first`
  shift,       ///< S8: variable `first` starts at its offset
  unused,      ///< a variable that the body does not use
  addends,     ///< M1
  guardRange,  ///< a guard that is a prefix of variable `first`
  condition,   ///< the fold under a condition that does not depend on its variables
  splitRange,  ///< S4, of maxima and products: the range of `first` cut where condition `second` changes
  outward,     ///< M3, M6: nested maxima, binary maxima, monotone functions
  oneAtATime,  ///< M1, M2 for variable `first` alone
  factors,     ///< M2
  vanishes,    ///< a product with a factor 0 at an end of variable `first`
  mirror       ///< a maximum or product over variable `first` backwards
};
std::string_view text(Lemma lemma);
std::optional<Lemma> parseLemma(std::string_view name);

struct Instance {
  Lemma lemma = Lemma::keep;
  int first = 0;
  int second = 0;
  bool operator==(const Instance&) const = default;
};

/// A fold before it is closed. Variables outermost first; an extent may depend on those before it.
struct Fold {
  Kind kind = Kind::sum;
  std::vector<AtomRef> variables;
  PolyRef body = nullptr;   ///< sum: one monomial with coefficient 1
  PolyRef guard = nullptr;  ///< maxFold
};
std::string text(const Fold& fold);

class Kernel;
/// Names the lemma to use on a fold. A replay reads it from the record; a recording looks for one that fits.
class Guide {
 public:
  virtual ~Guide() = default;
  virtual Instance next(Kernel& kernel, const Fold& fold) = 0;
};

/// Is told of every lemma instance that is used on a fold, around the work on it.
class Witness {
 public:
  virtual ~Witness() = default;
  virtual void begin(Kernel& kernel, const Fold& fold, const Instance& instance) = 0;
  virtual void end(PolyRef result) = 0;
};

/// What the asserts say, in the forms that terms are simplified by.
struct Facts {
  std::map<std::string, Sign> signs;  ///< of every element
  std::set<std::string> nonZero;
  std::map<std::string, Rational> constants;
  std::set<std::string> symmetric;
  std::map<std::string, PolyRef> scalars;  ///< integer scalars replaced by terms
  std::vector<PolyRef> notNegative;        ///< integer terms >= 0
  struct Statement {
    std::string text;
    Variables variables;
    PolyRef condition = nullptr;  ///< 0/1, is 1 for all values of the variables
  };
  std::vector<Statement> statements;
};

struct Linear {
  PolyRef coefficient, rest;
};

/// A common monomial, the leading coefficient, and what is left (leading coefficient 1).
struct Content {
  MonoRef mono;
  Rational coefficient;
  PolyRef core;
};

class Kernel {
 public:
  explicit Kernel(Guide& guide, std::size_t limit = 1500000) : arena(limit), guide_(guide) {}
  Arena arena;
  Facts facts;
  int fresh = 0;                      ///< number of the latest fresh variable or symbol
  std::function<void()> onWork = {};  ///< called often; may throw to stop
  Witness* witness = nullptr;

  // Polynomials (algebra.cpp).
  PolyRef number(const Rational& value);
  PolyRef of(AtomRef atom, const Rational& exponent = 1);
  PolyRef of(MonoRef mono, const Rational& coefficient = 1);
  PolyRef add(PolyRef a, PolyRef b);
  PolyRef subtract(PolyRef a, PolyRef b) { return add(a, scale(b, -1)); }
  PolyRef plus(PolyRef a, long b) { return add(a, number(b)); }
  PolyRef negate(PolyRef a) { return scale(a, -1); }
  PolyRef scale(PolyRef a, const Rational& factor);
  PolyRef multiply(PolyRef a, PolyRef b);
  PolyRef power(PolyRef a, unsigned long n);
  PolyRef power(MonoRef mono, const Rational& exponent);
  PolyRef total(const std::vector<PolyRef>& parts);
  MonoRef monoOf(std::vector<Factor> factors);
  MonoRef without(MonoRef mono, AtomRef atom);
  Content content(PolyRef p);
  AtomRef firstIndicator(PolyRef p);
  PolyRef setIndicator(PolyRef p, AtomRef indicator, bool value);
  static bool isInteger(PolyRef p);
  static bool isInteger(AtomRef atom);
  std::optional<Linear> linear(PolyRef p, AtomRef variable);
  /// a / b where b divides a as polynomials; null otherwise. `rest`: what is left, where b has one term.
  PolyRef exactDivide(PolyRef a, PolyRef b);
  std::pair<PolyRef, PolyRef> divide(PolyRef a, PolyRef b);
  PolyRef multipliedThrough(PolyRef p);

  // Atoms.
  PolyRef dimension(const std::string& name);
  AtomRef index(PolyRef extent, const std::string& letter = "k");  ///< ranged exactly if extent >= 0 is shown
  AtomRef unrangedIndex();
  PolyRef symbol(Sign sign);
  PolyRef element(const std::string& name, std::vector<PolyRef> subscripts, bool integer);
  PolyRef atomOf(Kind kind, std::vector<PolyRef> parts, const std::string& name = {}, bool integer = false);

  // Functions (functions.cpp).
  PolyRef quotient(PolyRef a, PolyRef b);
  PolyRef inverse(PolyRef p);
  PolyRef exp(PolyRef p);
  PolyRef log(PolyRef p);
  PolyRef sqrt(PolyRef p);
  PolyRef abs(PolyRef p);
  PolyRef sin(PolyRef p) { return trigonometric(p, false); }
  PolyRef cos(PolyRef p) { return trigonometric(p, true); }
  PolyRef tanh(PolyRef p);
  PolyRef floor(PolyRef p);
  PolyRef rint(PolyRef p);
  PolyRef maximum(std::vector<PolyRef> parts);
  PolyRef minimum(std::vector<PolyRef> parts);
  PolyRef whenNotNegative(PolyRef integer);
  PolyRef whenPositive(PolyRef p);
  PolyRef whenZero(PolyRef p);
  PolyRef negation(PolyRef condition) { return subtract(arena.one, condition); }
  PolyRef choose(PolyRef condition, PolyRef a, PolyRef b);

  // Signs (signs.cpp): a shown sign is a promise, unknown is not.
  Sign sign(PolyRef p);
  Sign sign(AtomRef atom);
  Sign sign(MonoRef mono);
  bool notNegative(PolyRef p);
  bool positive(PolyRef p);  ///< integers also by p - 1 >= 0
  bool nonZero(AtomRef atom);
  void forgetSigns() { signs_.clear(); }

  // Folds (folds.cpp).
  PolyRef sum(std::vector<AtomRef> variables, PolyRef body);
  PolyRef max(std::vector<AtomRef> variables, PolyRef body, PolyRef guard);
  PolyRef product(std::vector<AtomRef> variables, PolyRef body);
  /// The fold after the lemma; null if that is no instance of it. `dry`: only says whether it is one.
  PolyRef apply(const Fold& fold, const Instance& instance, bool dry);
  /// The fold's body (and guard) at given values of its variables.
  PolyRef bodyAt(AtomRef fold, const std::vector<PolyRef>& values, PolyRef* guard = nullptr);
  /// Fresh variables in place of the bound ones.
  std::vector<AtomRef> opened(AtomRef fold, PolyRef& body, PolyRef& guard);
  std::vector<PolyRef> divisors(PolyRef p, AtomRef variable, const Variables& others);

 private:
  friend class Substitution;
  friend class FoldLaws;
  void work();
  PolyRef product(MonoRef a, MonoRef b);
  PolyRef raise(PolyRef p, const Integer& exponent);
  PolyRef law(AtomRef atom, Rational& exponent);
  PolyRef lift(PolyRef p, const std::function<PolyRef(PolyRef)>& f);
  PolyRef trigonometric(PolyRef p, bool cosine);
  Sign compute(PolyRef p, int depth);
  Sign termwise(PolyRef p, int depth);
  Sign byVariables(PolyRef p, int depth);
  bool decide(PolyRef p, int depth);
  Sign signAt(PolyRef p, int depth);
  Sign signAt(AtomRef atom, int depth);
  Sign signAt(MonoRef mono, int depth);
  PolyRef sumTerm(const std::vector<AtomRef>& variables, MonoRef mono);
  PolyRef close(const Fold& fold);
  PolyRef byLemma(const Fold& fold);
  PolyRef zeroOfProduct(AtomRef product);
  Guide& guide_;
  std::unordered_map<PolyRef, Sign> signs_;
  int nesting_ = 0;
};

inline bool isNonNegative(Sign s) {
  return s == Sign::positive || s == Sign::nonNegative || s == Sign::zero;
}
inline bool isNonPositive(Sign s) {
  return s == Sign::negative || s == Sign::nonPositive || s == Sign::zero;
}
inline bool isNonZero(Sign s) {
  return s == Sign::positive || s == Sign::negative;
}
Sign negated(Sign s);

/// Simultaneous replacement of atoms by terms; everything above is built anew.
class Substitution {
 public:
  explicit Substitution(Kernel& kernel) : k_(kernel) {}
  void map(AtomRef atom, PolyRef value);
  PolyRef operator()(PolyRef p);
  [[nodiscard]] bool empty() const { return values_.empty(); }

 private:
  PolyRef atom(AtomRef a);
  PolyRef rebuilt(AtomRef a);
  [[nodiscard]] bool touches(const Info* node) const;
  Kernel& k_;
  std::map<AtomRef, PolyRef, Before> values_;
  bool others_ = false;  ///< atoms other than index atoms are mapped
  Variables variables_;
  std::unordered_map<PolyRef, PolyRef> polys_;
  std::unordered_map<AtomRef, PolyRef> atoms_;
};

PolyRef replaced(Kernel& k, PolyRef p, AtomRef atom, PolyRef value);

/// Every atom inside, each once; not into folds if told so.
void visit(PolyRef p, const std::function<void(AtomRef)>& f, bool intoFolds = true);
bool occurs(PolyRef p, AtomRef atom);

}  // namespace nuscope::replay
