#include "core/replay/obligation.h"

#include <algorithm>

#include "core/base/diagnostics.h"
#include "core/base/process.h"

namespace nuscope::replay {
namespace {

class Printer {
 public:
  Printer(Kernel& k, bool relaxed) : k_(k), relaxed_(relaxed) {}

  std::string declarations, assertions;
  void require(const std::string& text) { assertions += "(assert " + text + ")\n"; }

  std::string real(PolyRef p) {
    std::vector<std::string> parts;
    for (const auto& [mono, coefficient] : p->terms) {
      std::vector<std::string> factors;
      std::vector<std::string> conditions;
      for (const auto& [atom, e] : mono->factors) {
        if (atom->isIndicator() && e > 0) {
          conditions.push_back(condition(atom));
        } else {
          power(atom, e, factors);
        }
      }
      if (coefficient != 1 || factors.empty()) factors.insert(factors.begin(), literal(coefficient));
      const std::string value = joined("*", factors);
      parts.push_back(conditions.empty() ? value
                                         : "(ite " + joined("and", conditions) + " " + value + " 0.0)");
    }
    return parts.empty() ? "0.0" : joined("+", parts);
  }

  /// A term whose atoms are all integers, as an integer (as a real if relaxed).
  std::string integer(PolyRef p) {
    if (relaxed_) return real(p);
    std::vector<std::string> parts;
    for (const auto& [mono, coefficient] : p->terms) {
      if (coefficient.get_den() != 1) throw Refused{"a fraction in an integer obligation"};
      std::vector<std::string> factors;
      if (coefficient != 1 || mono->factors.empty()) factors.push_back(whole(coefficient.get_num()));
      for (const auto& [atom, e] : mono->factors) {
        if (e.get_den() != 1 || e < 0 || !isIntVariable(atom)) throw Refused{"no integer term"};
        for (Integer i = 0; i < e.get_num(); ++i) factors.push_back(variable(atom));
      }
      parts.push_back(joined("*", factors));
    }
    return parts.empty() ? "0" : joined("+", parts);
  }

  std::string condition(AtomRef atom) {
    const PolyRef p = atom->parts[0];
    switch (atom->kind) {
      case Kind::notNegative:
        return "(>= " + integer(p) + " " + zero() + ")";
      case Kind::isZeroInteger:
        return "(= " + integer(p) + " " + zero() + ")";
      case Kind::positive:
        return "(> " + real(p) + " 0.0)";
      default:
        return "(= " + real(p) + " 0.0)";
    }
  }

  /// Facts that relate the atoms met; may meet more. `free`: index variables of the obligation.
  void finish(const Variables& free) {
    for (const PolyRef fact : k_.facts.notNegative) require("(>= " + integer(fact) + " " + zero() + ")");
    statements(free);
    const auto met = atoms_;
    for (const auto& [atom, name] : met) {
      if (atom->kind == Kind::maxFold && atom->parts[1] == nullptr) elementsOfMaximum(atom, name, free);
    }
    for (const auto& [a, x] : met) {
      for (const auto& [b, y] : met) jointFacts(a, x, b, y);
    }
    pairsOfIntegers();
    pairsOfExponentials();
  }

 private:
  [[nodiscard]] std::string zero() const { return relaxed_ ? "0.0" : "0"; }
  [[nodiscard]] const char* intSort() const { return relaxed_ ? "Real" : "Int"; }
  std::string asReal(const std::string& text) const { return relaxed_ ? text : "(to_real " + text + ")"; }

  static std::string literal(const Rational& value) {
    const Integer top = abs(value.get_num());
    const std::string size = value.get_den() == 1
                                 ? top.get_str() + ".0"
                                 : "(/ " + top.get_str() + ".0 " + value.get_den().get_str() + ".0)";
    return value < 0 ? "(- " + size + ")" : size;
  }
  std::string whole(const Integer& value) const {
    if (relaxed_) return literal(Rational(value));
    return value < 0 ? "(- " + Integer(-value).get_str() + ")" : value.get_str();
  }
  static std::string joined(const std::string& op, const std::vector<std::string>& parts) {
    if (parts.size() == 1) return parts[0];
    std::string result = "(" + op;
    for (const auto& part : parts) result += " " + part;
    return result + ")";
  }

  static bool isIntVariable(AtomRef atom) {
    return atom->kind == Kind::dimension || atom->kind == Kind::index || atom->kind == Kind::quotient ||
           atom->kind == Kind::floor || atom->kind == Kind::rint ||
           (atom->kind == Kind::element && atom->integer);
  }

  std::string declare(const std::string& prefix, const char* sort, AtomRef meaning) {
    std::string name = prefix + std::to_string(++count_);
    declarations += "(declare-const " + name + " " + sort + ")";
    if (meaning != nullptr) declarations += " ; " + text(meaning, 100);
    declarations += "\n";
    return name;
  }

  void signFact(const std::string& name, Sign sign, const std::string& zero) {
    static constexpr const char* relations[] = {"", ">", ">=", "<", "<=", "="};
    if (sign != Sign::unknown)
      require(std::string("(") + relations[static_cast<std::size_t>(sign)] + " " + name + " " + zero + ")");
  }

  void power(AtomRef atom, const Rational& exponent, std::vector<std::string>& factors) {
    std::string base;
    Rational times = exponent;
    if (atom->kind == Kind::exp) {
      // exp(m)^(p/q) is the p-th power of exp(m/q).
      const auto key = std::make_pair(atom, Integer(exponent.get_den()).get_str());
      auto at = exponentials_.find(key);
      if (at == exponentials_.end()) {
        const std::string name = declare("e", "Real", atom);
        at = exponentials_.emplace(key, name).first;
        require("(> " + name + " 0.0)");
      }
      base = at->second;
      times = exponent * Rational(exponent.get_den());
    } else {
      if (exponent.get_den() != 1) throw Refused{"a root in an obligation"};
      base = atom->kind == Kind::inverse ? defined(atom->parts[0]) : realAtom(atom);
    }
    if (times < 0) {
      auto at = inverses_.find(base);
      if (at == inverses_.end()) {
        const std::string name = declare("r", "Real", nullptr);
        at = inverses_.emplace(base, name).first;
        const bool apart = atom->kind == Kind::exp || isNonZero(k_.sign(atom));
        require(apart ? "(= (* " + name + " " + base + ") 1.0)"
                      : "(ite (= " + base + " 0.0) (= " + name + " 0.0) (= (* " + name + " " + base +
                            ") 1.0))");
      }
      base = at->second;
      times = -times;
    }
    if (times > 32) throw Refused{"a high power in an obligation"};
    for (Integer i = 0; i < times.get_num(); ++i) factors.push_back(base);
  }

  /// A name for the value of a term.
  std::string defined(PolyRef p) {
    const auto known = terms_.find(p);
    if (known != terms_.end()) return known->second;
    const std::string value = real(p);
    const std::string name = declare("p", "Real", nullptr);
    require("(= " + name + " " + value + ")");
    return terms_[p] = name;
  }

  std::string realAtom(AtomRef atom) {
    if (isIntVariable(atom)) return asReal(variable(atom));
    if (atom->isIndicator()) return "(ite " + condition(atom) + " 1.0 0.0)";
    return variable(atom);
  }

  /// The solver's variable for an atom, with what holds of it.
  std::string variable(AtomRef atom) {
    const auto known = atoms_.find(atom);
    if (known != atoms_.end()) return known->second;
    switch (atom->kind) {
      case Kind::abs: {
        const std::string inner = real(atom->parts[0]);
        const std::string name = named("a", "Real", atom);
        require("(= " + name + " (ite (>= " + inner + " 0.0) " + inner + " (- " + inner + ")))");
        return name;
      }
      case Kind::maximum: {
        std::vector<std::string> values;
        for (const PolyRef part : atom->parts) values.push_back(real(part));
        const std::string name = named("m", "Real", atom);
        std::vector<std::string> reached;
        for (const auto& value : values) {
          require("(>= " + name + " " + value + ")");
          reached.push_back("(= " + name + " " + value + ")");
        }
        require(joined("or", reached));
        return name;
      }
      case Kind::floor:
      case Kind::rint:
        return rounded(atom);
      case Kind::quotient:
        return quotient(atom);
      case Kind::index: {
        const std::string name = named("i", intSort(), atom);
        if (atom->ranged && atom->boundLevel == 0) {
          require("(>= " + name + " " + zero() + ")");
          require("(< " + name + " " + integer(atom->extent()) + ")");
        }
        return name;
      }
      case Kind::dimension: {
        const std::string name = named("n", intSort(), atom);
        require("(>= " + name + " " + whole(1) + ")");
        return name;
      }
      case Kind::element:
        return element(atom);
      case Kind::sqrt: {
        const std::string inner = real(atom->parts[0]);
        const std::string name = named("s", "Real", atom);
        require("(>= " + name + " 0.0)");
        const std::string square = "(= (* " + name + " " + name + ") " + inner + ")";
        require(k_.notNegative(atom->parts[0]) ? square : "(=> (>= " + inner + " 0.0) " + square + ")");
        return name;
      }
      case Kind::sin:
      case Kind::cos: {
        const std::string name = named("t", "Real", atom);
        Atom partner;
        partner.kind = atom->kind == Kind::sin ? Kind::cos : Kind::sin;
        partner.parts = atom->parts;
        const std::string other = variable(k_.arena.make(std::move(partner)));
        require("(= (+ (* " + name + " " + name + ") (* " + other + " " + other + ")) 1.0)");
        return name;
      }
      default: {
        const std::string name = named("x", "Real", atom);
        signFact(name, k_.sign(atom), "0.0");
        if (atom->kind == Kind::maxFold && atom->parts[1] == nullptr && inhabited(atom)) {
          const std::vector<PolyRef> first(atom->bound.size(), k_.arena.zero);
          require("(>= " + name + " " + real(k_.bodyAt(atom, first)) + ")");
        }
        return name;
      }
    }
  }

  std::string named(const std::string& prefix, const char* sort, AtomRef atom) {
    return atoms_[atom] = declare(prefix, sort, atom);
  }

  bool inhabited(AtomRef fold) {
    return std::all_of(fold->bound.begin(), fold->bound.end(),
                       [&](AtomRef v) { return v->ranged && k_.positive(v->extent()); });
  }

  std::string element(AtomRef atom) {
    const bool integral = atom->integer;
    const std::string name = named("x", integral ? intSort() : "Real", atom);
    const std::string none = integral ? zero() : "0.0";
    signFact(name, k_.sign(atom), none);
    if (k_.facts.nonZero.contains(atom->name)) require("(not (= " + name + " " + none + "))");
    const auto others = elements_;
    elements_.push_back(atom);
    for (const AtomRef other : others) {
      if (other->name != atom->name || other->parts.size() != atom->parts.size()) continue;
      std::vector<std::string> equal;
      bool apart = false;
      for (std::size_t i = 0; i < atom->parts.size() && !apart; ++i) {
        const PolyRef gap = k_.subtract(atom->parts[i], other->parts[i]);
        if (gap->isZero()) continue;
        apart = gap->isConstant();
        if (!apart) equal.push_back("(= " + integer(gap) + " " + zero() + ")");
      }
      if (!apart && !equal.empty())
        require("(=> " + joined("and", equal) + " (= " + name + " " + atoms_.at(other) + "))");
    }
    return name;
  }

  /// floor for both signs of the divisor.
  std::string quotient(AtomRef atom) {
    const std::string n = integer(atom->parts[0]);
    const std::string d = integer(atom->parts[1]);
    const std::string name = named("q", intSort(), atom);
    const std::string low = "(* " + d + " " + name + ")";
    const std::string high = "(+ " + low + " " + d + ")";
    require("(=> (> " + d + " " + zero() + ") (and (<= " + low + " " + n + ") (< " + n + " " + high + ")))");
    if (!k_.positive(atom->parts[1]))
      require("(=> (< " + d + " " + zero() + ") (and (>= " + low + " " + n + ") (> " + n + " " + high +
              ")))");
    return name;
  }

  std::string rounded(AtomRef atom) {
    const std::string value = real(atom->parts[0]);
    const bool floor = atom->kind == Kind::floor;
    const std::string name = named(floor ? "f" : "g", intSort(), atom);
    const std::string as = asReal(name);
    if (floor) {
      require("(<= " + as + " " + value + ")");
      require("(< " + value + " (+ " + as + " 1.0))");
    } else {
      const std::string half = declare("h", intSort(), nullptr);
      const std::string twice = "(* 2.0 (- " + value + " " + as + "))";
      require("(and (<= " + twice + " 1.0) (>= " + twice + " (- 1.0)))");
      require("(=> (or (= " + twice + " 1.0) (= " + twice + " (- 1.0))) (= " + name + " (* " + whole(2) +
              " " + half + ")))");
    }
    rounded_.push_back({name, value, atom->parts[0], floor});
    return name;
  }

  void pairsOfIntegers() {
    const std::string one = whole(1);
    for (std::size_t i = 0; i < rounded_.size() && rounded_.size() <= 8; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const auto& [r, p, rOf, rFloor] = rounded_[i];
        const auto& [s, q, sOf, sFloor] = rounded_[j];
        require("(or (= " + r + " " + s + ") (>= " + r + " (+ " + s + " " + one + ")) (<= (+ " + r + " " +
                one + ") " + s + "))");
        const std::string sum = "(+ " + r + " " + s + ")";
        require("(or (= " + sum + " " + zero() + ") (>= " + sum + " " + one + ") (<= " + sum + " " +
                whole(-1) + "))");
        if (rFloor != sFloor) continue;
        if (const PolyRef both = k_.add(rOf, sOf); rFloor && both->isConstant())
          oppositeFloors(sum, both->constant());
        require("(=> (<= " + p + " " + q + ") (<= " + r + " " + s + "))");
        require("(=> (<= " + q + " " + p + ") (<= " + s + " " + r + "))");
      }
    }
  }

  /// floor(a) + floor(c - a) for an integer c: c where a is an integer, else c - 1. Solvers that branch on
  /// each floor alone do not end here.
  void oppositeFloors(const std::string& sum, const Rational& c) {
    if (c.get_den() != 1) return;
    require("(or (= " + sum + " " + whole(c.get_num()) + ") (= " + sum + " " + whole(c.get_num() - 1) + "))");
  }

  void pairsOfExponentials() {
    if (exponentials_.size() > 5) return;
    std::vector<std::pair<PolyRef, std::string>> list;
    for (const auto& [key, name] : exponentials_) {
      if (key.second == "1") list.emplace_back(key.first->parts[0], name);
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string argument = real(list[i].first);
      require("(= (> " + list[i].second + " 1.0) (> " + argument + " 0.0))");
      for (std::size_t j = 0; j < i; ++j)
        require("(= (>= " + list[i].second + " " + list[j].second + ") (>= " + argument + " " +
                real(list[j].first) + "))");
    }
  }

  /// M4: a maximum reaches its elements at the obligation's indices.
  void elementsOfMaximum(AtomRef fold, const std::string& name, const Variables& free) {
    if (fold->bound.size() != 1 || !fold->bound[0]->ranged) return;
    for (const AtomRef v : free) {
      if (v->ranged && v->boundLevel == 0 && v->extent() == fold->bound[0]->extent())
        require("(>= " + name + " " + real(k_.bodyAt(fold, {k_.of(v)})) + ")");
    }
  }

  /// F1, F2, F3 of folds over one range.
  void jointFacts(AtomRef a, const std::string& x, AtomRef b, const std::string& y) {
    const auto plain = [](AtomRef f) {
      return f->isFold() && f->bound.size() == 1 && f->bound[0]->ranged &&
             (f->kind != Kind::maxFold || f->parts[1] == nullptr);
    };
    if (a == b || !plain(a) || !plain(b) || b->kind != Kind::sum || a->kind == Kind::product ||
        a->bound[0]->extent() != b->bound[0]->extent())
      return;
    if (!k_.notNegative(a->bound[0]->extent())) return;
    const PolyRef at = k_.of(k_.index(a->bound[0]->extent()));
    const PolyRef f = k_.bodyAt(a, {at});
    const PolyRef g = k_.bodyAt(b, {at});
    if (a->kind == Kind::sum) {
      if (k_.multiply(g, g) == f)
        require("(>= (* " + real(a->bound[0]->extent()) + " " + x + ") (* " + y + " " + y + "))");
      return;
    }
    if (!k_.notNegative(g) || !inhabited(a)) return;
    if (const AtomRef above = k_.whenPositive(f)->asAtom();
        above != nullptr && k_.sign(k_.setIndicator(g, above, true)) == Sign::positive)
      require("(=> (> " + x + " 0.0) (> " + y + " 0.0))");
    if (k_.notNegative(f) && k_.whenZero(f) == k_.whenZero(g))
      require("(= (= " + x + " 0.0) (= " + y + " 0.0))");
  }

  /// Asserts at the elements met, and at the obligation's indices.
  void statements(const Variables& free) {
    for (int round = 0; round < 2; ++round) {
      const auto met = elements_;
      for (const AtomRef atom : met) {
        for (const auto& s : k_.facts.statements) {
          visit(s.condition, [&](AtomRef pattern) {
            if (pattern->kind == Kind::element && pattern->name == atom->name) unified(s, pattern, atom);
          });
        }
      }
    }
    for (const auto& s : k_.facts.statements) atIndices(s, s.variables, Substitution(k_), free);
  }

  void unified(const Facts::Statement& s, AtomRef pattern, AtomRef atom) {
    Substitution values(k_);
    Variables bound;
    if (pattern->parts.size() != atom->parts.size()) return;
    for (std::size_t i = 0; i < pattern->parts.size(); ++i) {
      const AtomRef v = pattern->parts[i]->asAtom();
      if (v != nullptr && contains(s.variables, v) && !contains(bound, v)) {
        // The assert speaks of its own range only.
        if (!k_.notNegative(atom->parts[i]) || !k_.positive(k_.subtract(v->extent(), atom->parts[i]))) return;
        values.map(v, atom->parts[i]);
        unite(bound, Variables{v});
      } else if (pattern->parts[i] != atom->parts[i]) {
        return;
      }
    }
    if (bound.size() == s.variables.size()) instance(values(s.condition));
  }

  void atIndices(const Facts::Statement& s, Variables open, const Substitution& values,
                 const Variables& free) {
    if (open.empty()) {
      Substitution here(values);
      instance(here(s.condition));
      return;
    }
    const AtomRef v = open.back();
    open.pop_back();
    for (const AtomRef candidate : free) {
      if (!candidate->ranged || candidate->boundLevel > 0 || candidate->extent() != v->extent()) continue;
      Substitution next(values);
      next.map(v, k_.of(candidate));
      atIndices(s, open, next, free);
    }
  }

  void instance(PolyRef condition) {
    if (condition->isConstant() || instances_.size() > 24) return;
    if (!instances_.insert(condition).second) return;
    require("(= " + real(condition) + " 1.0)");
  }

  struct Rounded {
    std::string integer, value;
    PolyRef argument;
    bool floor;
  };
  Kernel& k_;
  bool relaxed_;
  int count_ = 0;
  std::map<AtomRef, std::string, Before> atoms_;
  std::map<PolyRef, std::string, Before> terms_;
  std::map<std::pair<AtomRef, std::string>, std::string> exponentials_;
  std::map<std::string, std::string> inverses_;
  std::vector<AtomRef> elements_;
  std::vector<Rounded> rounded_;
  std::set<PolyRef> instances_;
};

constexpr std::string_view setupNames[] = {"real", "nlsat", "integer"};

}  // namespace

std::string_view text(Setup setup) {
  return setupNames[static_cast<std::size_t>(setup)];
}

std::optional<Setup> parseSetup(std::string_view name) {
  for (std::size_t i = 0; i < std::size(setupNames); ++i) {
    if (setupNames[i] == name) return static_cast<Setup>(i);
  }
  return std::nullopt;
}

bool fitForSolver(PolyRef p) {
  return p->terms.size() <= 150 && std::all_of(p->terms.begin(), p->terms.end(), [](const Term& term) {
           Rational degree = 0;
           for (const auto& [atom, e] : term.first->factors) degree += ::abs(e);
           return degree <= 16;
         });
}

Script script(Kernel& kernel, const Obligation& obligation, bool relaxed) {
  Printer printer(kernel, relaxed);
  std::string goal;
  Variables free;
  for (const auto& [atom, value] : obligation.conditions) {
    const std::string condition = printer.condition(atom);
    goal += "(assert " + (value ? condition : "(not " + condition + ")") + ")\n";
    unite(free, atom->variables);
  }
  for (const PolyRef zero : obligation.zeros) {
    printer.require("(= " + printer.real(zero) + " 0.0)");
    unite(free, zero->variables);
  }
  if (obligation.nonZero != nullptr) {
    goal += "(assert (not (= " + printer.real(obligation.nonZero) + " 0.0)))\n";
    unite(free, obligation.nonZero->variables);
  }
  std::sort(free.begin(), free.end(), Before());
  printer.finish(free);
  Script result;
  result.hypotheses = std::string("(set-logic ") + (relaxed ? "QF_NRA" : "QF_NIRA") + ")\n" +
                      printer.declarations + printer.assertions;
  result.goal = std::move(goal);
  return result;
}

Solver::Answer Z3Program::ask(const Script& script, Setup setup) {
  std::string input = script.hypotheses;
  if (setup == Setup::integer) input = "(set-option :smt.arith.nl.nra false)\n" + input;
  const std::string check =
      setup == Setup::nlsat
          ? "(check-sat-using (then simplify purify-arith elim-term-ite solve-eqs qfnra-nlsat))\n"
          : "(check-sat)\n";
  input += "(push)\n" + check + "(pop)\n" + script.goal + check;
  ProcessOptions options;
  options.arguments = {"z3", "-in", "-memory:1024"};
  options.memoryLimit = std::size_t{2} << 30U;
  options.cpuLimit = std::chrono::seconds(10);
  try {
    const Finished done = runProcess(options, input, limit_);
    return !done.timedOut && done.output == "sat\nunsat\n" ? Answer::unsat : Answer::other;
  } catch (const EnvironmentError&) {
    return Answer::none;
  }
}

}  // namespace nuscope::replay
