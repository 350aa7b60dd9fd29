#include "core/proof/loops.h"

#include <algorithm>

#include "core/proof/definedness.h"
#include "core/proof/folds.h"
#include "core/proof/functions.h"
#include "core/proof/int_facts.h"
#include "core/proof/late_rules.h"
#include "core/proof/math_text.h"
#include "core/proof/real_term.h"
#include "core/proof/signs.h"
#include "core/proof/substitute.h"
#include "core/proof/symbolic_domain.h"
#include "core/proof/walk.h"
#include "core/proof/zero_test.h"

namespace nuscope::proof {
namespace {

using tensor::NodeRef;

/// One state: its next value in terms of the old ones, and what is known of it.
struct State {
  std::vector<IntAtomRef> index;
  PolyRef self = nullptr;  ///< the old value at `index`
  int source = -1;
  PolyRef start = nullptr;          ///< before the first round; null if infinite or not always defined
  PolyRef first = nullptr;          ///< after the first round
  PolyRef next = nullptr;           ///< after round `counter`, in old values
  PolyRef closed = nullptr;         ///< in terms of `rounds`, once found
  PolyRef last = nullptr;           ///< after all rounds
  std::vector<PolyRef> firstNeeds;  ///< 0/1: what the first round requires
  std::vector<PolyRef> needs;       ///< and a later one, besides that the states it reads are defined
  // How it is closed. All but `start` and the constant are, like `next`, in terms of the states and the
  // counter. An extremum: of `body` over the rounds in which `guard` holds, and of `first` unless the body
  // starts there.
  PolyRef body = nullptr, guard = nullptr;
  bool mirrored = false, startsHere = true;
  // A product: of `start` and of `ratio` over the rounds.
  PolyRef ratio = nullptr;
  // A sum: carried * state + stored = constant + the sum of `gain`.
  PolyRef carried = nullptr, stored = nullptr, gain = nullptr, constant = nullptr;
};

class Solver {
 public:
  Solver(Calculus& c, SymbolicDomain& domain, NodeRef loop, std::string& why)
      : c_(c), domain_(domain), loop_(loop), why_(why) {}

  std::optional<std::vector<ClosedState>> run() {
    extent_ = domain_.dim(loop_->attributes.shape[0]);
    if (!positive(c_, extent_)) return refuse("its extent is not shown to be at least 1");
    counter_ = freshIndex(c_, extent_, "k");
    // A number of rounds is at least 1, as a dimension is.
    rounds_ = dimension(c_, "n'" + std::to_string(c_.arena.nextNumber()))->terms[0].first->atoms[0];
    for (std::size_t i = 0; i < loop_->attributes.body.size(); ++i) {
      if (!read(i)) return std::nullopt;
    }
    for (std::size_t left = states_.size(); left > 0;) {
      std::size_t solved = 0;
      for (State& state : states_) {
        if (state.closed != nullptr || !close(state)) continue;
        order_.push_back(&state);
        ++solved;
      }
      if (solved == 0) return refuse("no closed form was found for " + text(c_, firstOpen().next));
      left -= solved;
    }
    for (const State& state : states_) {
      if (!verify(state)) return refuse("a closed form was guessed, but not proved");
      if (!defined(state)) return refuse("a round is not shown to be always defined");
    }
    std::vector<ClosedState> result;
    for (State* state : order_) {
      state->last = form(*state, extent_, &State::last);
      if (state->last == nullptr) return refuse("the value after all rounds is not shown to be defined");
    }
    for (const State& state : states_) result.push_back({state.index, rounds_, state.closed, state.last});
    return result;
  }

 private:
  std::optional<std::vector<ClosedState>> refuse(std::string why) {
    why_ = std::move(why);
    return std::nullopt;
  }

  const State& firstOpen() const {
    return *std::find_if(states_.begin(), states_.end(), [](const State& s) { return s.closed == nullptr; });
  }

  /// The body at one element of state i: in the first round, and in a later one.
  bool read(std::size_t i) {
    State state;
    const NodeRef start = loop_->operands[i];
    if (!tensor::isReal(start->dtype)) {
      why_ = "a state is not real";
      return false;
    }
    std::vector<IntRef> at;
    for (const auto& extent : start->shape) {
      const IntRef size = domain_.dim(extent);
      if (size == c_.arena.oneInt) {
        state.index.push_back(nullptr);
        at.push_back(c_.arena.zeroInt);
        continue;
      }
      state.index.push_back(freshIndex(c_, size, "i"));
      at.push_back(intOf(c_, state.index.back()));
    }
    const Scalar first = domain_.stateAfter(loop_, i, at, c_.arena.zeroInt, true);
    const Scalar next = domain_.stateAfter(loop_, i, at, intOf(c_, counter_), false);
    if (first.minus != nullptr || first.plus != nullptr || next.minus != nullptr || next.plus != nullptr) {
      why_ = "a state is infinite after the first round";
      return false;
    }
    state.firstNeeds = needsOf(first);
    state.needs = needsOf(next);
    const Scalar begin = domain_.element(start, at);
    if (begin.minus == nullptr && begin.plus == nullptr && begin.requirements.empty())
      state.start = domain_.realOf(begin);
    state.first = domain_.realOf(first);
    state.next = domain_.realOf(next);
    state.source = domain_.stateSource(loop_, i);
    state.self = element(c_, state.source, at);
    states_.push_back(std::move(state));
    return true;
  }

  /// What is required besides that the states that are read are defined.
  std::vector<PolyRef> needsOf(const Scalar& value) {
    std::vector<PolyRef> result;
    for (const auto& requirement : value.requirements) {
      const AtomRef atom = requirement->holds->asAtom();
      const AtomRef element =
          atom != nullptr && atom->kind == AtomKind::positive ? atom->poly->asAtom() : nullptr;
      const bool mark = element != nullptr && element->kind == AtomKind::element &&
                        domain_.isStateMark(loop_, element->source);
      if (!mark) result.push_back(proof::closed(c_, *requirement));
    }
    return result;
  }

  /// Every round is defined: the first one, and each later one on the values that the rounds before it leave,
  /// which are the closed forms.
  bool defined(const State& state) {
    const auto holds = [&](PolyRef need) { return need == c_.arena.one || isZero(negation(c_, need)); };
    if (!std::all_of(state.firstNeeds.begin(), state.firstNeeds.end(), holds)) return false;
    if (state.needs.empty() || extent_ == c_.arena.oneInt) return true;
    const auto n = laterRound();
    return n != nullptr && std::all_of(state.needs.begin(), state.needs.end(),
                                       [&](PolyRef need) { return holds(afterRounds(need, n)); });
  }

  /// Any number of rounds from 1 to one less than the extent; null where there may be none.
  IntRef laterRound() {
    const IntAtomRef before = freshIndex(c_, plus(c_, extent_, -1), "n");
    return before->ranged ? plus(c_, intOf(c_, before), 1) : nullptr;
  }

  /// In round n, with the closed forms for the states.
  PolyRef afterRounds(PolyRef p, IntRef n) {
    return atCounter(replaceStates(p, [&](const State& s) { return atRound(s.closed, n); }), n);
  }

  std::vector<AtomRef> stateAtoms(PolyRef p) const {
    std::vector<AtomRef> result;
    Walker walker;
    walker.onAtom = [&](AtomRef atom) {
      if (atom->kind != AtomKind::element) return;
      if (stateOf(atom) != nullptr) result.push_back(atom);
    };
    walker.walk(p);
    return result;
  }

  const State* stateOf(AtomRef atom) const {
    for (const State& state : states_) {
      if (state.source == atom->source) return &state;
    }
    return nullptr;
  }

  /// `value` of a state, given at its own index, at the index of `atom`.
  PolyRef at(const State& state, PolyRef value, AtomRef atom) {
    Substitution s(c_);
    for (std::size_t i = 0; i < state.index.size(); ++i) {
      if (state.index[i] != nullptr) s.map(state.index[i], atom->subscripts[i]);
    }
    return s.empty() ? value : s(value);
  }

  template <class Value>
  PolyRef replaceStates(PolyRef p, Value value) {
    Substitution s(c_);
    for (const AtomRef atom : stateAtoms(p)) s.map(atom, at(*stateOf(atom), value(*stateOf(atom)), atom));
    return s.empty() ? p : s(p);
  }

  /// After one more round.
  PolyRef advanced(PolyRef p) {
    return replaceStates(p, [](const State& s) { return s.next; });
  }
  /// With the values after the first round.
  PolyRef started(PolyRef p) {
    return replaceStates(p, [](const State& s) { return s.first; });
  }

  PolyRef atCounter(PolyRef p, IntRef value) { return substitute(c_, p, counter_, value); }
  PolyRef atRound(PolyRef p, IntRef value) {
    Substitution s(c_);
    s.map(rounds_, value);
    return s(p);
  }

  bool close(State& state) { return closeExtremum(state) || closeProduct(state) || closeAffine(state); }

  /// next = a*self with an a that knows no state: the first value times the product of a.
  bool closeProduct(State& state) {
    const AtomRef self = state.self->asAtom();
    std::vector<PolyRef> parts;
    for (const auto& [mono, coefficient] : state.next->terms) {
      if (mono->exponent(self) != 1) return false;
      parts.push_back(polyOf(c_, without(c_, mono, self), coefficient));
    }
    if (parts.empty() || state.start == nullptr) return false;
    const PolyRef a = sumOf(c_, parts);
    if (a->isConstant() || !stateAtoms(a).empty()) return false;
    if (!same(state.first, multiply(c_, state.start, atCounter(a, c_.arena.zeroInt)))) return false;
    state.ratio = a;
    state.closed = form(state, intOf(c_, rounds_), &State::closed);
    return true;
  }

  /// next = taken where the guard holds, and self elsewhere.
  struct Guarded {
    PolyRef guard = nullptr;
    PolyRef taken = nullptr;
  };
  std::optional<Guarded> guarded(const State& state) {
    Guarded result{c_.arena.one, state.next};
    while (const AtomRef condition = firstIndicator(result.taken)) {
      const PolyRef yes = setIndicator(c_, result.taken, condition, true);
      const PolyRef no = setIndicator(c_, result.taken, condition, false);
      if (yes != state.self && no != state.self) return std::nullopt;
      const PolyRef holds = polyOf(c_, condition);
      result.guard = multiply(c_, result.guard, no == state.self ? holds : negation(c_, holds));
      result.taken = no == state.self ? yes : no;
    }
    return stateAtoms(result.guard).empty() ? std::optional(result) : std::nullopt;
  }

  /// next = max(self, f), in rounds where a guard holds: the maximum of f over these rounds, and of the first
  /// value. Minima mirrored.
  bool closeExtremum(State& state) {
    const auto found = guarded(state);
    if (!found) return false;
    for (const auto& [mono, coefficient] : found->taken->terms) {
      const AtomRef atom =
          mono->factors.size() == 1 && mono->factors[0].second == 1 ? mono->factors[0].first : nullptr;
      if (atom == nullptr || atom->kind != AtomKind::maximum) continue;
      const PolyRef rest = subtract(c_, found->taken, polyOf(c_, mono, coefficient));
      std::vector<PolyRef> others;
      bool self = false;
      for (const PolyRef part : atom->polys) {
        const PolyRef whole = add(c_, rest, scale(c_, part, coefficient));
        if (whole == state.self) {
          self = true;
        } else {
          others.push_back(whole);
        }
      }
      if (self && closeOver(state, others, found->guard, coefficient < 0)) return true;
    }
    return false;
  }

  bool closeOver(State& state, const std::vector<PolyRef>& others, PolyRef guard, bool mirrored) {
    PolyRef f = mirrored ? minimumOf(c_, others) : maximumOf(c_, others);
    const bool readsStates = !stateAtoms(f).empty();
    if (readsStates && (f = beforeRound(f)) == nullptr) return false;
    const bool plain = guard == c_.arena.one;
    const bool startsHere = same(state.first, atCounter(f, c_.arena.zeroInt));
    if (readsStates && !startsHere) return false;
    // Under a guard the first round must count, or there would be nothing to take the maximum of.
    if (!plain && (!startsHere || atCounter(guard, c_.arena.zeroInt) != c_.arena.one)) return false;
    state.body = f;
    state.guard = guard;
    state.mirrored = mirrored;
    state.startsHere = startsHere;
    state.closed = form(state, intOf(c_, rounds_), &State::closed);
    return true;
  }

  /// p with the closed forms of the states before round `counter`, which may be the first: only of those that
  /// are plain sums and products, which have a value after no round as well. Null where there are others.
  PolyRef beforeRound(PolyRef p) {
    for (const AtomRef atom : stateAtoms(p)) {
      const State& s = *stateOf(atom);
      const bool plain = s.closed != nullptr && s.body == nullptr &&
                         (s.ratio != nullptr || (s.carried == c_.arena.one && s.stored->isZero()));
      if (!plain) return nullptr;
    }
    return replaceStates(p, [&](const State& s) { return folded(s, intOf(c_, counter_)); });
  }

  /// The fold that a state is, over a number of rounds >= 1.
  PolyRef folded(const State& state, IntRef rounds) {
    const IntAtomRef k = freshIndex(c_, rounds, "k");
    if (state.ratio != nullptr)
      return multiply(c_, state.start, makeProduct(c_, {k}, atCounter(state.ratio, intOf(c_, k))));
    if (state.body == nullptr)
      return add(c_, state.constant, makeSum(c_, {k}, atCounter(state.gain, intOf(c_, k))));
    const PolyRef body = atCounter(state.body, intOf(c_, k));
    PolyRef fold =
        makeMax(c_, {k}, state.mirrored ? negate(c_, body) : body, atCounter(state.guard, intOf(c_, k)));
    if (state.mirrored) fold = negate(c_, fold);
    if (state.startsHere) return fold;
    const std::vector<PolyRef> both{state.first, fold};
    return state.mirrored ? minimumOf(c_, both) : maximumOf(c_, both);
  }

  /// The state after a number of rounds >= 1, by the values of the others then; null where one is not known.
  PolyRef form(const State& state, IntRef rounds, PolyRef State::*value) {
    const PolyRef fold = folded(state, rounds);
    if (state.body != nullptr || state.ratio != nullptr) return fold;
    const auto then = [&](PolyRef p) -> PolyRef {
      const auto atoms = stateAtoms(p);
      if (std::ranges::any_of(atoms, [&](AtomRef atom) { return stateOf(atom)->*value == nullptr; }))
        return nullptr;
      return replaceStates(atCounter(p, rounds), [&](const State& s) { return s.*value; });
    };
    const PolyRef carried = then(state.carried);
    const PolyRef stored = then(state.stored);
    if (carried == nullptr || stored == nullptr || !isNonZero(signOf(c_, carried))) return nullptr;
    return multiply(c_, subtract(c_, fold, stored), inverse(c_, carried));
  }

  bool same(PolyRef a, PolyRef b) { return isZero(subtract(c_, a, b)); }

  bool isZero(PolyRef p) {
    Recorder recorder;
    Oracle none(c_, nullptr, recorder);
    ZeroTest test(c_, none, recorder);
    return test.zero(p, 2);
  }

  /// next = a*self + b, and a factor g of the rounds with g' * a = g: then (g*self)' = g*self + g'*b.
  bool closeAffine(State& state) {
    const AtomRef self = state.self->asAtom();
    PolyRef a = c_.arena.zero;
    PolyRef b = c_.arena.zero;
    for (const auto& [mono, coefficient] : state.next->terms) {
      const Rational exponent = mono->exponent(self);
      const PolyRef rest = polyOf(c_, without(c_, mono, self), coefficient);
      if (occurs(rest, self) || (exponent != 0 && exponent != 1)) return false;
      (exponent == 1 ? a : b) =
          add(c_, exponent == 1 ? a : b, exponent == 1 ? rest : polyOf(c_, mono, coefficient));
    }
    for (const PolyRef g : factorsOf(a)) {
      const PolyRef later = advancedFactor(g);
      if (!same(multiply(c_, later, a), g)) continue;
      if (closeSum(state, g, cancelled(multiply(c_, later, b)))) return true;
    }
    return false;
  }

  /// (x + y) * r * 1/(x + y) is r.
  PolyRef cancelled(PolyRef p) {
    if (p->isZero()) return p;
    const Content content = contentOf(c_, p);
    for (const auto& [atom, exponent] : content.mono->factors) {
      if (atom->kind != AtomKind::power || exponent >= 0 || atom->poly != content.core) continue;
      const PolyRef rest = polyOf(c_, without(c_, content.mono, atom), content.coefficient);
      return multiply(c_, rest, polyOf(c_, atom, exponent + 1));
    }
    return p;
  }

  /// g after one more round: the states advanced, and the counter one further.
  PolyRef advancedFactor(PolyRef g) {
    const IntAtomRef blank = freshVariable(c_, nullptr, false);
    const PolyRef moved = advanced(atCounter(g, intOf(c_, blank)));
    return substitute(c_, moved, blank, plus(c_, intOf(c_, counter_), 1));
  }

  /// Candidates for the factor that a state carries, from its coefficient: 1, the inverse of the product of
  /// positive coefficients, parts of the coefficient that mention states, what it is a quotient of, its
  /// denominators, and the states themselves.
  std::vector<PolyRef> factorsOf(PolyRef a) {
    std::vector<PolyRef> result{c_.arena.one};
    if (stateAtoms(a).empty() && a != c_.arena.one && isPositive(signOf(c_, a))) {
      // 1 / (a(0) * ... * a(k - 1)).
      const IntAtomRef j = freshIndex(c_, intOf(c_, counter_), "j");
      result.push_back(expOf(c_, negate(c_, makeSum(c_, {j}, logOf(c_, atCounter(a, intOf(c_, j)))))));
    }
    constexpr std::size_t mostTerms = 4;
    for (std::size_t t = 0; t < a->terms.size() && a->terms.size() <= mostTerms; ++t) {
      std::vector<std::pair<AtomRef, Rational>> parts;
      for (const auto& factor : a->terms[t].first->factors) {
        if (!factor.first->isIndicator() && !stateAtoms(polyOf(c_, factor.first)).empty())
          parts.push_back(factor);
      }
      if (parts.size() > 5) continue;
      for (unsigned mask = 1; mask < (1U << parts.size()); ++mask) {
        std::vector<std::pair<AtomRef, Rational>> chosen;
        for (std::size_t i = 0; i < parts.size(); ++i) {
          if ((mask >> i & 1U) != 0) chosen.push_back(parts[i]);
        }
        const PolyRef candidate = polyOf(c_, rawMono(c_, std::move(chosen)));
        if (std::ranges::find(result, candidate) == result.end()) result.push_back(candidate);
      }
    }
    PolyRef denominator = c_.arena.one;
    std::vector<AtomRef> seen;
    for (const auto& [mono, coefficient] : a->terms) {
      for (const auto& [atom, exponent] : mono->factors) {
        if (exponent >= 0 || atom->kind == AtomKind::exp ||
            std::find(seen.begin(), seen.end(), atom) != seen.end())
          continue;
        seen.push_back(atom);
        denominator = multiply(c_, denominator, polyOf(c_, atom, -exponent));
      }
    }
    if (denominator != c_.arena.one) {
      const PolyRef numerator = multipliedThrough(c_, a);
      if (!stateAtoms(numerator).empty()) result.push_back(numerator);
      if (!stateAtoms(denominator).empty()) result.push_back(inverse(c_, denominator));
    }
    if (denominator != c_.arena.one && contains(denominator->variables, counter_)) {
      result.push_back(atCounter(denominator, plus(c_, intOf(c_, counter_), -1)));
    }
    for (const AtomRef atom : stateAtoms(a)) {
      const PolyRef state = polyOf(c_, atom);
      if (std::find(result.begin(), result.end(), state) == result.end()) result.push_back(state);
    }
    return result;
  }

  /// g*self grows by `gain` in a round.
  bool closeSum(State& state, PolyRef g, PolyRef gain) {
    PolyRef potential = c_.arena.zero;  // state.closed = (constant + sum of pure gains - potential) / g
    gain = divided(gain);
    if (!stateAtoms(gain).empty() && !telescope(gain, potential)) return false;
    // After the first round: g1 * first = constant + gain(0) - potential1.
    const auto afterFirst = [&](PolyRef p) {
      const IntAtomRef blank = freshVariable(c_, nullptr, false);
      return substitute(c_, started(atCounter(p, intOf(c_, blank))), blank, c_.arena.oneInt);
    };
    const PolyRef begin = add(c_, multiply(c_, afterFirst(g), state.first), afterFirst(potential));
    PolyRef constant = subtract(c_, begin, atCounter(gain, c_.arena.zeroInt));
    if (isZero(constant)) constant = c_.arena.zero;
    state.carried = g;
    state.stored = potential;
    state.gain = gain;
    state.constant = constant;
    state.closed = form(state, intOf(c_, rounds_), &State::closed);
    return state.closed != nullptr;
  }

  /// A quotient that comes out even, such as (e*s + e*e) / (s + e): the guess is read off the terms that have
  /// one term of the divisor.
  PolyRef divided(PolyRef p) {
    if (stateAtoms(p).empty()) return p;
    for (const auto& [mono, coefficient] : p->terms) {
      for (const auto& [atom, exponent] : mono->factors) {
        if (exponent != -1 || atom->kind != AtomKind::power) continue;
        for (const auto& [lead, leading] : atom->poly->terms) {
          if (stateAtoms(polyOf(c_, lead)).empty()) continue;
          const PolyRef divisor = scale(c_, power(c_, lead, -1), Rational(1 / leading));
          PolyRef guess = c_.arena.zero;
          for (const auto& [other, times] : p->terms) {
            const bool over = other->exponent(atom) == -1;
            const PolyRef part = over ? multiply(c_, polyOf(c_, without(c_, other, atom), times), divisor)
                                      : polyOf(c_, other, times);
            if (stateAtoms(part).empty()) guess = add(c_, guess, part);
          }
          if (!guess->isZero() && same(p, guess)) return guess;
        }
      }
    }
    return p;
  }

  /// A gain that mentions states is a pure gain minus the growth of n * s * t for states s and t that are
  /// running means (perhaps the same), of s * t, or of w * s * t with the total weight w, a state.
  bool telescope(PolyRef& gain, PolyRef& potential) {
    const PolyRef steps = toReal(c_, intOf(c_, counter_));
    const std::vector<AtomRef> atoms = stateAtoms(gain);
    std::vector<PolyRef> weights{steps, c_.arena.one};
    for (const AtomRef atom : atoms) weights.push_back(polyOf(c_, atom));
    for (std::size_t i = 0; i < atoms.size(); ++i) {
      for (std::size_t j = i; j < atoms.size(); ++j) {
        for (const PolyRef weight : weights) {
          const PolyRef both = multiply(c_, weight, multiply(c_, polyOf(c_, atoms[i]), polyOf(c_, atoms[j])));
          const PolyRef growth = subtract(c_, advancedFactor(both), both);
          for (const int sign : {1, -1}) {
            const PolyRef pure = cleared(add(c_, gain, scale(c_, growth, sign)));
            if (!stateAtoms(pure).empty()) continue;
            gain = pure;
            potential = scale(c_, both, sign);
            return true;
          }
        }
      }
    }
    return false;
  }

  /// The part of p without inverses and without states, where that is all of p.
  PolyRef cleared(PolyRef p) {
    PolyRef whole = c_.arena.zero;
    for (const auto& [mono, coefficient] : p->terms) {
      const bool pure = std::none_of(mono->factors.begin(), mono->factors.end(),
                                     [](const auto& f) { return f.second < 0; });
      if (pure) whole = add(c_, whole, polyOf(c_, mono, coefficient));
    }
    PolyRef free = c_.arena.zero;  // the part without states is the candidate for all of it
    for (const auto& [mono, coefficient] : whole->terms) {
      const PolyRef term = polyOf(c_, mono, coefficient);
      if (stateAtoms(term).empty()) free = add(c_, free, term);
    }
    return isZero(subtract(c_, p, free)) ? free : p;
  }

  /// Base after one round, and the step from n >= 1 rounds to n + 1. All states are proved together: each
  /// step may use the closed forms of all after n rounds.
  bool verify(const State& state) {
    // Sums over the first elements, where the loop begins after some, are written out.
    if (!same(unrolled(c_, atRound(state.closed, c_.arena.oneInt)), state.first)) return false;
    // One more round is what an extremum means.
    if (extent_ == c_.arena.oneInt || state.body != nullptr) return true;
    const IntRef n = laterRound();
    if (n == nullptr) return false;
    const PolyRef next = afterRounds(state.next, n);
    if (same(next, atRound(state.closed, plus(c_, n, 1)))) return true;
    if (state.carried == nullptr) return false;
    // The same with what the other states become in this round in place of their closed forms, and with the
    // total as the fold that it is.
    const PolyRef carried = afterRounds(advancedFactor(state.carried), n);
    const PolyRef stored = afterRounds(advancedFactor(state.stored), n);
    const PolyRef total = add(c_, atRound(folded(state, intOf(c_, rounds_)), n), afterRounds(state.gain, n));
    return isNonZero(signOf(c_, carried)) && same(multiply(c_, carried, next), subtract(c_, total, stored));
  }

  Calculus& c_;
  SymbolicDomain& domain_;
  NodeRef loop_;
  std::string& why_;
  IntRef extent_ = nullptr;
  IntAtomRef counter_ = nullptr;
  IntAtomRef rounds_ = nullptr;
  std::vector<State> states_;
  std::vector<State*> order_;  ///< as they were closed
};

}  // namespace

std::optional<std::vector<ClosedState>> solveLoop(Calculus& c, SymbolicDomain& domain, NodeRef loop,
                                                  std::string& why) {
  return Solver(c, domain, loop, why).run();
}

}  // namespace nuscope::proof
