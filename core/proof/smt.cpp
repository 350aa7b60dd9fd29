#include "core/proof/smt.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/proof/fold_facts.h"
#include "core/proof/functions.h"
#include "core/proof/int_facts.h"
#include "core/proof/math_text.h"
#include "core/proof/real_term.h"
#include "core/proof/signs.h"
#include "core/proof/substitute.h"
#include "core/proof/walk.h"

namespace nuscope::proof {
namespace {

std::string literal(const Rational& value) {
  const Integer top = abs(value.get_num());
  const std::string size = value.get_den() == 1
                               ? top.get_str() + ".0"
                               : "(/ " + top.get_str() + ".0 " + value.get_den().get_str() + ".0)";
  return value < 0 ? "(- " + size + ")" : size;
}

constexpr int longestProduct = 32;

class Printer {
 public:
  Printer(Calculus& c, bool relaxed) : c_(c), relaxed_(relaxed) {}

  std::string real(PolyRef p) {
    std::vector<std::string> parts;
    for (const auto& [mono, coefficient] : p->terms) {
      std::vector<std::string> factors;
      if (coefficient != 1 || mono->factors.empty()) factors.push_back(literal(coefficient));
      for (const auto& [atom, exponent] : mono->factors) power(atom, exponent, factors);
      parts.push_back(join("*", factors));
    }
    return parts.empty() ? "0.0" : join("+", parts);
  }

  std::string integer(IntRef term) {
    std::vector<std::string> parts;
    for (const auto& [mono, coefficient] : term->terms) {
      std::vector<std::string> factors;
      if (coefficient != 1 || mono->atoms.empty()) factors.push_back(number(coefficient));
      for (const IntAtomRef atom : mono->atoms) factors.push_back(integerAtom(atom));
      parts.push_back(join("*", factors));
    }
    return parts.empty() ? number(0) : join("+", parts);
  }

  std::string condition(AtomRef atom) {
    switch (atom->kind) {
      case AtomKind::intNonNegative:
        return "(>= " + integer(atom->intTerm) + " " + number(0) + ")";
      case AtomKind::intZero:
        return "(= " + integer(atom->intTerm) + " " + number(0) + ")";
      case AtomKind::positive:
        return "(> " + real(atom->poly) + " 0.0)";
      default:
        return "(= " + real(atom->poly) + " 0.0)";
    }
  }

  /// Facts that relate the atoms met so far; may meet more. `free`: index variables of the goal.
  void finish(const Variables& free) {
    free_ = free;
    for (const IntRef fact : c_.facts.nonNegative) assertion("(>= " + integer(fact) + " " + number(0) + ")");
    for (int round = 0; round < 2; ++round) {
      const auto elements = elements_;
      for (const auto& [atom, name] : elements) instantiate(atom);
    }
    for (const Template& t : c_.facts.templates) {
      if (t.variables.empty()) {
        instance(t.condition);
      } else {
        instantiateAt(t, t.variables, Substitution(c_));
      }
    }
    elementsOfMaxima();
    factsOfFolds();
    pairsOfIntegers();
    pairsOfExponentials();
  }

  [[nodiscard]] const std::string& declarations() const { return declarations_; }
  [[nodiscard]] const std::string& assertions() const { return assertions_; }
  void assertion(const std::string& text) { assertions_ += "(assert " + text + ")\n"; }

 private:
  struct Rounded {
    std::string integer;  ///< the integer variable
    std::string value;    ///< what it rounds
    bool floor;
  };

  static std::string join(const std::string& op, const std::vector<std::string>& parts) {
    if (parts.size() == 1) return parts[0];
    std::string result = "(" + op;
    for (const auto& part : parts) result += " " + part;
    return result + ")";
  }

  std::string number(const Integer& value) const {
    if (relaxed_) return literal(Rational(value));
    return value < 0 ? "(- " + Integer(-value).get_str() + ")" : value.get_str();
  }
  [[nodiscard]] const char* intSort() const { return relaxed_ ? "Real" : "Int"; }
  std::string toReal(const std::string& text) const { return relaxed_ ? text : "(to_real " + text + ")"; }

  std::string declare(const std::string& prefix, const char* sort, const std::string& meaning) {
    std::string name = prefix + std::to_string(++count_);
    std::string comment = meaning.substr(0, 100);
    std::replace(comment.begin(), comment.end(), '\n', ' ');
    declarations_ +=
        "(declare-const " + name + " " + sort + ")" + (comment.empty() ? "" : " ; " + comment) + "\n";
    return name;
  }

  void signFact(const std::string& name, Sign sign, const char* zero) {
    switch (sign) {
      case Sign::positive:
        assertion("(> " + name + " " + zero + ")");
        break;
      case Sign::nonNegative:
        assertion("(>= " + name + " " + zero + ")");
        break;
      case Sign::negative:
        assertion("(< " + name + " " + zero + ")");
        break;
      case Sign::nonPositive:
        assertion("(<= " + name + " " + zero + ")");
        break;
      case Sign::zero:
        assertion("(= " + name + " " + zero + ")");
        break;
      case Sign::unknown:
        break;
    }
  }

  std::string integerAtom(IntAtomRef atom) {
    const auto known = ints_.find(atom);
    if (known != ints_.end()) return known->second;
    if (atom->kind == IntAtom::Kind::embed && relaxed_) return ints_[atom] = real(atom->value);
    const IntRef term = intOf(c_, atom);
    const std::string name = declare("n", intSort(), proof::text(c_, term));
    ints_[atom] = name;
    const std::string zero = number(0);
    switch (atom->kind) {
      case IntAtom::Kind::dimension:
        assertion("(>= " + name + " " + number(1) + ")");
        break;
      case IntAtom::Kind::variable:
        if (atom->ranged) {
          assertion("(>= " + name + " " + zero + ")");
          assertion("(< " + name + " " + integer(atom->extent) + ")");
        }
        break;
      case IntAtom::Kind::quotient: {
        // floor semantics for both signs of the divisor.
        const std::string n = integer(atom->numerator);
        const std::string d = integer(atom->denominator);
        const std::string low = "(* " + d + " " + name + ")";
        const std::string high = "(+ " + low + " " + d + ")";
        assertion("(=> (> " + d + " " + zero + ") (and (<= " + low + " " + n + ") (< " + n + " " + high +
                  ")))");
        if (!positive(c_, atom->denominator)) {
          assertion("(=> (< " + d + " " + zero + ") (and (>= " + low + " " + n + ") (> " + n + " " + high +
                    ")))");
        }
        break;
      }
      case IntAtom::Kind::element: {
        const auto sign = c_.facts.signs.find(atom->source);
        if (sign != c_.facts.signs.end()) signFact(name, sign->second, zero.c_str());
        if (c_.facts.nonZero.contains(atom->source)) assertion("(not (= " + name + " " + zero + "))");
        bounds(atom->source, name);
        const auto others = intElements_;  // printing may meet more
        for (const auto& [other, otherName] : others) {
          if (other->source == atom->source)
            sameElement(atom->subscripts, other->subscripts, name, otherName);
        }
        intElements_.emplace_back(atom, name);
        for (const Template& t : c_.facts.templates) instantiateInteger(t, atom);
        break;
      }
      case IntAtom::Kind::embed:
        assertion("(= (to_real " + name + ") " + real(atom->value) + ")");
        break;
    }
    return name;
  }

  /// What the asserts say of every element.
  void bounds(int source, const std::string& name) {
    const auto low = c_.facts.atLeast.find(source);
    if (low != c_.facts.atLeast.end()) {
      for (const IntRef bound : low->second) assertion("(>= " + name + " " + integer(bound) + ")");
    }
    const auto high = c_.facts.atMost.find(source);
    if (high != c_.facts.atMost.end()) {
      for (const IntRef bound : high->second) assertion("(<= " + name + " " + integer(bound) + ")");
    }
  }

  void sameElement(const std::vector<IntRef>& a, const std::vector<IntRef>& b, const std::string& x,
                   const std::string& y) {
    std::vector<std::string> equal;
    if (a.size() != b.size()) return;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const IntRef gap = subtract(c_, a[i], b[i]);
      if (gap->isZero()) continue;
      if (gap->isConstant()) return;
      equal.push_back("(= " + integer(gap) + " " + number(0) + ")");
    }
    if (equal.empty()) return;
    assertion("(=> " + join("and", equal) + " (= " + x + " " + y + "))");
  }

  void power(AtomRef atom, const Rational& exponent, std::vector<std::string>& factors) {
    std::string base;
    Rational times = exponent;
    if (atom->kind == AtomKind::exp) {
      const auto key = std::make_pair(atom->id, exponent.get_den().get_str());
      auto at = exponentials_.find(key);
      if (at == exponentials_.end()) {
        const std::string name = declare(
            "e", "Real",
            "exp(" + proof::text(c_, polyOf(c_, atom->mono, Rational(1) / Rational(exponent.get_den()))) +
                ")");
        at = exponentials_.emplace(key, std::make_pair(atom, name)).first;
        assertion("(> " + name + " 0.0)");
      }
      base = at->second.second;
      times = exponent * Rational(exponent.get_den());
    } else {
      base = realAtom(atom);
      if (exponent.get_den() != 1) throw GaveUp{"a root in a solver goal", false};
    }
    if (times < 0) {
      auto at = inverses_.find(base);
      if (at == inverses_.end()) {
        const std::string name = declare("r", "Real", "");
        at = inverses_.emplace(base, name).first;
        if (atom->kind == AtomKind::exp || isNonZero(signOf(c_, atom))) {
          assertion("(= (* " + name + " " + base + ") 1.0)");
        } else {
          assertion("(ite (= " + base + " 0.0) (= " + name + " 0.0) (= (* " + name + " " + base + ") 1.0))");
        }
      }
      base = at->second;
      times = -times;
    }
    if (times > longestProduct) {
      factors.push_back(highPower(base, times.get_num(), atom->kind == AtomKind::exp));
      return;
    }
    for (Integer i = 0; i < times.get_num(); ++i) factors.push_back(base);
  }

  /// A power too high to be written as a product (exp of a decimal times x is one of millions): a number of
  /// which only the sign is told. The goal is the weaker for it, so what is impossible still is.
  std::string highPower(const std::string& base, const Integer& times, bool positive) {
    auto at = highPowers_.find({base, times.get_str()});
    if (at == highPowers_.end()) {
      const std::string name = declare("h", "Real", base + " to the power of " + times.get_str());
      at = highPowers_.emplace(std::make_pair(base, times.get_str()), name).first;
      if (positive) {
        assertion("(> " + name + " 0.0)");
      } else if (times % 2 == 0) {
        assertion("(>= " + name + " 0.0)");
      }
    }
    return at->second;
  }

  std::string realAtom(AtomRef atom) {
    const auto known = atoms_.find(atom);
    if (known != atoms_.end()) return known->second;
    switch (atom->kind) {
      case AtomKind::integer:
        return atoms_[atom] = toReal(integerAtom(atom->integer));
      case AtomKind::intNonNegative:
      case AtomKind::intZero:
      case AtomKind::positive:
      case AtomKind::zero:
        return atoms_[atom] = "(ite " + condition(atom) + " 1.0 0.0)";
      case AtomKind::power: {
        const std::string name = declare("p", "Real", "");
        assertion("(= " + name + " " + real(atom->poly) + ")");
        return atoms_[atom] = name;
      }
      case AtomKind::abs: {
        const std::string inner = real(atom->poly);
        const std::string name = declare("a", "Real", "absolute value");
        assertion("(= " + name + " (ite (>= " + inner + " 0.0) " + inner + " (- " + inner + ")))");
        return atoms_[atom] = name;
      }
      case AtomKind::maximum:
        return atoms_[atom] = maximum(atom);
      case AtomKind::function:
        if (atom->name == "floor" || atom->name == "rint") return atoms_[atom] = rounded(atom);
        break;
      default:
        break;
    }
    const std::string name = declare("x", "Real", proof::text(c_, atom));
    atoms_[atom] = name;
    signFact(name, signOf(c_, atom), "0.0");
    if (atom->kind == AtomKind::element) {
      if (c_.facts.nonZero.contains(atom->source)) assertion("(not (= " + name + " 0.0))");
      const auto others = elements_;
      for (const auto& [other, otherName] : others) {
        if (other->source == atom->source) sameElement(atom->subscripts, other->subscripts, name, otherName);
      }
      elements_.emplace_back(atom, name);
    } else if (atom->kind == AtomKind::sqrt) {
      const std::string inner = real(atom->poly);
      const std::string square = "(= (* " + name + " " + name + ") " + inner + ")";
      assertion(isNonNegative(signOf(c_, atom->poly)) ? square
                                                      : "(=> (>= " + inner + " 0.0) " + square + ")");
    } else if (atom->kind == AtomKind::sin || atom->kind == AtomKind::cos) {
      Atom partner;
      partner.kind = atom->kind == AtomKind::sin ? AtomKind::cos : AtomKind::sin;
      partner.poly = atom->poly;
      const std::string other = realAtom(c_.arena.intern(std::move(partner)));
      if (atom->kind == AtomKind::sin)
        assertion("(= (+ (* " + name + " " + name + ") (* " + other + " " + other + ")) 1.0)");
    } else if (atom->kind == AtomKind::maxFold && atom->guard == nullptr) {
      const std::vector<IntRef> first(atom->bound.size(), c_.arena.zeroInt);
      assertion("(>= " + name + " " + real(openAt(c_, atom, first).body) + ")");
    }
    return name;
  }

  std::string maximum(AtomRef atom) {
    const std::string name = declare("m", "Real", "maximum");
    std::vector<std::string> reached;
    for (const PolyRef part : atom->polys) {
      const std::string value = real(part);
      assertion("(>= " + name + " " + value + ")");
      reached.push_back("(= " + name + " " + value + ")");
    }
    assertion(join("or", reached));
    return name;
  }

  std::string rounded(AtomRef atom) {
    const std::string value = real(atom->poly);
    const bool floor = atom->name == "floor";
    const std::string name = declare(floor ? "f" : "g", intSort(), proof::text(c_, atom));
    const std::string as = toReal(name);
    if (floor) {
      assertion("(<= " + as + " " + value + ")");
      assertion("(< " + value + " (+ " + as + " 1.0))");
    } else {
      const std::string half = declare("h", intSort(), "");
      const std::string twice = "(* 2.0 (- " + value + " " + as + "))";
      assertion("(and (<= " + twice + " 1.0) (>= " + twice + " (- 1.0)))");
      assertion("(=> (or (= " + twice + " 1.0) (= " + twice + " (- 1.0))) (= " + name + " (* " + number(2) +
                " " + half + ")))");
    }
    rounded_.push_back({name, value, floor});
    return as;
  }

  /// An integer that is near 0 or far from it: what relaxing it to a real would lose.
  void nearZero(const std::string& value) {
    assertion("(or (<= " + value + " " + number(-2) + ") (= " + value + " " + number(-1) + ") (= " + value +
              " " + number(0) + ") (= " + value + " " + number(1) + ") (>= " + value + " " + number(2) +
              "))");
  }

  void pairsOfIntegers() {
    for (std::size_t i = 0; i < rounded_.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const auto& [r, p, rFloor] = rounded_[i];
        const auto& [s, q, sFloor] = rounded_[j];
        nearZero("(- " + r + " " + s + ")");
        nearZero("(+ " + r + " " + s + ")");
        if (rounded_.size() <= 3) {
          nearZero("(- " + r + " (* " + number(2) + " " + s + "))");
          nearZero("(- " + s + " (* " + number(2) + " " + r + "))");
        }
        for (std::size_t k = 0; rounded_.size() <= 4 && k < rounded_.size(); ++k) {
          if (k != i && k != j) nearZero("(- " + rounded_[k].integer + " " + r + " " + s + ")");
        }
        if (rFloor != sFloor) continue;
        assertion("(=> (<= " + p + " " + q + ") (<= " + r + " " + s + "))");
        assertion("(=> (<= " + q + " " + p + ") (<= " + s + " " + r + "))");
      }
    }
  }

  void pairsOfExponentials() {
    if (exponentials_.size() > 5) return;
    std::vector<std::pair<PolyRef, std::string>> list;
    for (const auto& [key, named] : exponentials_) {
      if (key.second == "1") list.emplace_back(polyOf(c_, named.first->mono), named.second);
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string argument = real(list[i].first);
      assertion("(= (> " + list[i].second + " 1.0) (> " + argument + " 0.0))");
      assertion("(= (< " + list[i].second + " 1.0) (< " + argument + " 0.0))");
      for (std::size_t j = 0; j < i; ++j) {
        assertion("(= (>= " + list[i].second + " " + list[j].second + ") (>= " + argument + " " +
                  real(list[j].first) + "))");
      }
    }
  }

  /// Variables of the template from the subscripts of one of its elements.
  std::optional<Substitution> unify(const Template& t, const std::vector<IntRef>& pattern,
                                    const std::vector<IntRef>& subscripts) {
    Substitution s(c_);
    Variables bound;
    if (pattern.size() != subscripts.size()) return std::nullopt;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      const IntRef p = pattern[i];
      const bool single =
          p->terms.size() == 1 && p->terms[0].second == 1 && p->terms[0].first->atoms.size() == 1;
      if (single && contains(t.variables, p->terms[0].first->atoms[0])) {
        if (contains(bound, p->terms[0].first->atoms[0])) return std::nullopt;
        // The assert speaks of its own range only.
        const IntRef room = subtract(c_, p->terms[0].first->atoms[0]->extent, subscripts[i]);
        if (!nonNegative(c_, subscripts[i]) || !positive(c_, room)) return std::nullopt;
        s.map(p->terms[0].first->atoms[0], subscripts[i]);
        unite(bound, Variables{p->terms[0].first->atoms[0]});
      } else if (p != subscripts[i]) {
        return std::nullopt;
      }
    }
    if (bound.size() != t.variables.size()) return std::nullopt;
    return s;
  }

  void instantiate(AtomRef atom) {
    for (const Template& t : c_.facts.templates) {
      std::vector<AtomRef> patterns;
      Walker walker;
      walker.onAtom = [&](AtomRef other) {
        if (other->kind == AtomKind::element && other->source == atom->source) patterns.push_back(other);
      };
      walker.walk(t.condition);
      for (const AtomRef pattern : patterns) {
        if (auto s = unify(t, pattern->subscripts, atom->subscripts)) instance((*s)(t.condition));
      }
    }
  }

  void instantiateInteger(const Template& t, IntAtomRef atom) {
    std::vector<IntAtomRef> patterns;
    Walker walker;
    walker.onIntAtom = [&](IntAtomRef other) {
      if (other->kind == IntAtom::Kind::element && other->source == atom->source) patterns.push_back(other);
    };
    walker.walk(t.condition);
    for (const IntAtomRef pattern : patterns) {
      if (auto s = unify(t, pattern->subscripts, atom->subscripts)) instance((*s)(t.condition));
    }
  }

  /// At the index variables of the goal that run over the same ranges.
  void instantiateAt(const Template& t, Variables open, Substitution s) {
    if (open.empty()) {
      instance(s(t.condition));
      return;
    }
    const IntAtomRef variable = open.back();
    open.pop_back();
    for (const IntAtomRef candidate : free_) {
      if (!candidate->ranged || candidate->extent != variable->extent) continue;
      Substitution next(s);
      next.map(variable, intOf(c_, candidate));
      instantiateAt(t, open, next);
    }
  }

  std::vector<AtomRef> foldsMet() const {
    std::vector<AtomRef> folds;
    for (const auto& [atom, name] : atoms_) {
      if (atom->isFold()) folds.push_back(atom);
    }
    std::sort(folds.begin(), folds.end(), [](AtomRef a, AtomRef b) { return a->id < b->id; });
    return folds;
  }

  /// M4: a maximum reaches its elements at the goal's indices.
  void elementsOfMaxima() {
    for (const AtomRef fold : foldsMet()) {
      if (fold->kind != AtomKind::maxFold || fold->guard != nullptr || fold->bound.size() != 1) continue;
      for (const IntAtomRef v : free_) {
        if (!v->ranged || v->extent != fold->bound[0]->extent) continue;
        const IntRef at[] = {intOf(c_, v)};
        assertion("(>= " + atoms_.at(fold) + " " + real(openAt(c_, fold, at).body) + ")");
      }
    }
  }

  void factsOfFolds() {
    for (const FoldFact& fact : foldFacts(c_, foldsMet())) {
      const std::string& a = atoms_.at(fact.first);
      const std::string& b = atoms_.at(fact.second);
      switch (fact.kind) {
        case FoldFact::Kind::positiveTogether:
          assertion("(=> (> " + a + " 0.0) (> " + b + " 0.0))");
          break;
        case FoldFact::Kind::zeroTogether:
          assertion("(= (= " + a + " 0.0) (= " + b + " 0.0))");
          break;
        case FoldFact::Kind::squares:
          assertion("(>= (* " + toReal(integer(fact.extent)) + " " + a + ") (* " + b + " " + b + "))");
          break;
        case FoldFact::Kind::above:
          assertion("(>= (* " + toReal(integer(fact.extent)) + " " + a + ") " + b + ")");
          break;
        case FoldFact::Kind::below:
          assertion("(>= (* " + toReal(integer(fact.extent)) + " " + a + ") (- " + b + "))");
          break;
        case FoldFact::Kind::emptyTogether:
          assertion("(= (= " + a + " 0.0) (= " + b + " 1.0))");
          assertion("(or (= " + b + " 0.0) (= " + b + " 1.0))");
          break;
      }
    }
  }

  void instance(PolyRef condition) {
    if (condition->isConstant() ||
        std::find(instances_.begin(), instances_.end(), condition) != instances_.end())
      return;
    if (instances_.size() > 24) return;
    instances_.push_back(condition);
    // A lone condition prints best as itself.
    const AtomRef atom = condition->asAtom();
    const AtomRef opposite = atom == nullptr ? negation(c_, condition)->asAtom() : nullptr;
    if (atom != nullptr && atom->isIndicator()) {
      assertion(this->condition(atom));
    } else if (opposite != nullptr && opposite->isIndicator()) {
      assertion("(not " + this->condition(opposite) + ")");
    } else {
      assertion("(= " + real(condition) + " 1.0)");
    }
  }

  Calculus& c_;
  bool relaxed_;
  int count_ = 0;
  std::string declarations_;
  std::string assertions_;
  std::unordered_map<IntAtomRef, std::string> ints_;
  std::unordered_map<AtomRef, std::string> atoms_;
  /// By atom's id and root, so that scripts come out the same every time.
  std::map<std::pair<std::uint32_t, std::string>, std::pair<AtomRef, std::string>> exponentials_;
  std::unordered_map<std::string, std::string> inverses_;
  std::map<std::pair<std::string, std::string>, std::string> highPowers_;  ///< by base and exponent
  std::vector<std::pair<AtomRef, std::string>> elements_;
  std::vector<std::pair<IntAtomRef, std::string>> intElements_;
  std::vector<Rounded> rounded_;
  std::vector<PolyRef> instances_;
  Variables free_;
};

}  // namespace

Script smtScript(Calculus& c, const Goal& goal, bool relaxed) {
  Printer printer(c, relaxed);
  std::string goalText;
  for (const auto& [atom, value] : goal.conditions) {
    const std::string condition = printer.condition(atom);
    goalText += "(assert " + (value ? condition : "(not " + condition + ")") + ")\n";
  }
  if (goal.nonZero != nullptr) goalText += "(assert (not (= " + printer.real(goal.nonZero) + " 0.0)))\n";
  for (const PolyRef zero : goal.zeros) printer.assertion("(= " + printer.real(zero) + " 0.0)");
  Variables free;
  if (goal.nonZero != nullptr) unite(free, goal.nonZero->variables);
  for (const PolyRef zero : goal.zeros) unite(free, zero->variables);
  for (const auto& [atom, value] : goal.conditions) unite(free, atom->variables);
  printer.finish(free);
  Script script;
  script.hypotheses = std::string("(set-logic ") + (relaxed ? "QF_NRA" : "QF_NIRA") + ")\n" +
                      printer.declarations() + printer.assertions();
  script.goal = std::move(goalText);
  return script;
}

bool mentionsIntegers(Calculus& c, const Goal& goal) {
  bool found = !c.facts.nonNegative.empty();
  Walker walker;
  walker.onAtom = [&](AtomRef atom) {
    found = found || atom->kind == AtomKind::integer || atom->kind == AtomKind::intNonNegative ||
            atom->kind == AtomKind::intZero || atom->kind == AtomKind::function;
  };
  walker.intoFolds = false;
  if (goal.nonZero != nullptr) walker.walk(goal.nonZero);
  for (const PolyRef zero : goal.zeros) walker.walk(zero);
  for (const auto& [atom, value] : goal.conditions) walker.walk(atom);
  return found;
}

}  // namespace nuscope::proof
