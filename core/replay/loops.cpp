#include "core/replay/loops.h"

#include <algorithm>

#include "core/replay/fold_laws.h"
#include "core/replay/late_moves.h"

namespace nuscope::replay {

bool LoopStates::read(std::string& why) {
  extent_ = forms_.dim(loop_->attributes.shape[0]);
  if (!k_.positive(extent_)) {
    why = "its extent is not shown to be at least 1";
    return false;
  }
  counter_ = k_.index(extent_, "h");
  // A number of rounds is at least 1, as a dimension is. No dimension of a program has such a name.
  rounds_ = k_.dimension("rounds " + std::to_string(++k_.fresh))->asAtom();
  for (std::size_t i = 0; i < loop_->attributes.body.size(); ++i) {
    State state;
    const tensor::NodeRef start = loop_->operands[i];
    if (!tensor::isReal(start->dtype)) {
      why = "a state is not real";
      return false;
    }
    std::vector<PolyRef> at;
    for (const auto& extent : start->shape) {
      const PolyRef size = forms_.dim(extent);
      state.index.push_back(size == k_.arena.one ? nullptr : k_.index(size, "i"));
      at.push_back(state.index.back() == nullptr ? k_.arena.zero : k_.of(state.index.back()));
    }
    const Value first = forms_.stateAfter(loop_, i, at, k_.arena.zero, true);
    const Value next = forms_.stateAfter(loop_, i, at, k_.of(counter_), false);
    if (first.minus != nullptr || first.plus != nullptr || next.minus != nullptr || next.plus != nullptr) {
      why = "a state is infinite after the first round";
      return false;
    }
    state.firstNeeds = needsOf(first);
    state.nextNeeds = needsOf(next);
    const Value begin = forms_.stateBefore(loop_, i, at);
    if (begin.minus == nullptr && begin.plus == nullptr && begin.requirements.empty()) state.start = begin.p;
    state.first = first.p;
    state.next = next.p;
    state.name = forms_.stateName(loop_, i);
    state.self = k_.element(state.name, at, false);
    states_.push_back(std::move(state));
  }
  return true;
}

/// What is required besides that the states that are read are defined.
std::vector<PolyRef> LoopStates::needsOf(Value value) {
  std::erase_if(value.requirements, [&](const auto& requirement) {
    const AtomRef atom = requirement->holds->asAtom();
    const AtomRef mark = atom != nullptr && atom->kind == Kind::positive ? atom->parts[0]->asAtom() : nullptr;
    if (mark == nullptr || mark->kind != Kind::element) return false;
    for (std::size_t i = 0; i < loop_->attributes.body.size(); ++i) {
      if (mark->name == "defined " + forms_.stateName(loop_, i)) return true;
    }
    return false;
  });
  return forms_.definedness(value);
}

std::vector<PolyRef> LoopStates::needs(std::size_t i) {
  std::vector<PolyRef> result;
  for (const PolyRef need : states_[i].firstNeeds) result.push_back(k_.negation(need));
  if (extent_ == k_.arena.one || states_[i].nextNeeds.empty()) return result;
  const AtomRef before = k_.index(k_.plus(extent_, -1), "n");
  const PolyRef n = k_.plus(k_.of(before), 1);
  for (const PolyRef need : states_[i].nextNeeds) {
    const PolyRef later = replaceStates(need, [&](const State& s) {
      if (s.closed == nullptr) throw Refused{"a state without a closed form"};
      return atRounds(s.closed, n);
    });
    result.push_back(k_.negation(replaced(k_, later, counter_, n)));
  }
  return result;
}

std::vector<AtomRef> LoopStates::stateAtoms(PolyRef p) const {
  std::vector<AtomRef> result;
  visit(p, [&](AtomRef atom) {
    if (atom->kind == Kind::element && stateOf(atom) != nullptr) result.push_back(atom);
  });
  std::sort(result.begin(), result.end(), Before());
  return result;
}

const LoopStates::State* LoopStates::stateOf(AtomRef atom) const {
  for (const State& state : states_) {
    if (state.name == atom->name) return &state;
  }
  return nullptr;
}

/// Every state in p replaced by a value given at the state's own index.
PolyRef LoopStates::replaceStates(PolyRef p, const std::function<PolyRef(const State&)>& value) {
  Substitution s(k_);
  for (const AtomRef atom : stateAtoms(p)) {
    const State& state = *stateOf(atom);
    Substitution at(k_);
    for (std::size_t i = 0; i < state.index.size(); ++i) {
      if (state.index[i] != nullptr) at.map(state.index[i], atom->parts[i]);
    }
    s.map(atom, at.empty() ? value(state) : at(value(state)));
  }
  return s.empty() ? p : s(p);
}

/// g after one more round: the states advanced, and the counter one further.
PolyRef LoopStates::later(PolyRef g) {
  const AtomRef blank = k_.unrangedIndex();
  const PolyRef moved =
      replaceStates(replaced(k_, g, counter_, k_.of(blank)), [](const State& s) { return s.next; });
  return replaced(k_, moved, blank, k_.plus(k_.of(counter_), 1));
}

PolyRef LoopStates::atRounds(PolyRef p, PolyRef n) {
  return replaced(k_, p, rounds_, n);
}

/// next = taken where the guard holds, and self elsewhere; the guard knows no state.
bool LoopStates::guarded(const State& state, PolyRef& guard, PolyRef& taken) {
  guard = k_.arena.one;
  taken = state.next;
  while (const AtomRef condition = k_.firstIndicator(taken)) {
    const PolyRef yes = k_.setIndicator(taken, condition, true);
    const PolyRef no = k_.setIndicator(taken, condition, false);
    if (yes != state.self && no != state.self) return false;
    const PolyRef holds = k_.of(condition);
    guard = k_.multiply(guard, no == state.self ? holds : k_.negation(holds));
    taken = no == state.self ? yes : no;
  }
  return stateAtoms(guard).empty();
}

bool LoopStates::closeExtremum(std::size_t i) {
  State& state = states_[i];
  PolyRef guard = nullptr;
  PolyRef taken = nullptr;
  if (!guarded(state, guard, taken)) return false;
  for (const auto& [mono, coefficient] : taken->terms) {
    const AtomRef atom = k_.of(mono)->asAtom();
    if (atom == nullptr || atom->kind != Kind::maximum) continue;
    const PolyRef rest = k_.subtract(taken, k_.of(mono, coefficient));
    std::vector<PolyRef> others;
    bool self = false;
    for (const PolyRef part : atom->parts) {
      const PolyRef whole = k_.add(rest, k_.scale(part, coefficient));
      if (whole == state.self) {
        self = true;
      } else {
        others.push_back(whole);
      }
    }
    if (!self) continue;
    const bool mirrored = coefficient < 0;
    PolyRef f = mirrored ? k_.minimum(others) : k_.maximum(others);
    const bool readsStates = !stateAtoms(f).empty();
    if (readsStates && (f = beforeRound(f)) == nullptr) return false;
    const auto in = [&](PolyRef p, PolyRef round) { return replaced(k_, p, counter_, round); };
    const bool startsHere = closes(k_, k_.subtract(state.first, in(f, k_.arena.zero)));
    if (readsStates && !startsHere) return false;
    // Under a guard the first round must count, or there would be nothing to take the maximum of.
    if (guard != k_.arena.one && (!startsHere || in(guard, k_.arena.zero) != k_.arena.one)) return false;
    state.form = [this, i, f, guard, mirrored, startsHere](PolyRef n, PolyRef State::*) {
      const AtomRef k = k_.index(n, "k");
      const PolyRef body = replaced(k_, f, counter_, k_.of(k));
      PolyRef fold = k_.max({k}, mirrored ? k_.negate(body) : body, replaced(k_, guard, counter_, k_.of(k)));
      if (mirrored) fold = k_.negate(fold);
      if (startsHere) return fold;
      const PolyRef first = states_[i].first;
      return mirrored ? k_.minimum({first, fold}) : k_.maximum({first, fold});
    };
    close(i);
    state.extremum = true;
    return true;
  }
  return false;
}

/// p with the states before round `counter`, which may be the first. Null where one is not closed for that.
PolyRef LoopStates::beforeRound(PolyRef p) {
  for (const AtomRef atom : stateAtoms(p)) {
    if (stateOf(atom)->closed == nullptr || !stateOf(atom)->fromStart) return nullptr;
  }
  return replaceStates(p, [&](const State& s) { return s.form(k_.of(counter_), &State::closed); });
}

bool LoopStates::closeProduct(std::size_t i) {
  State& state = states_[i];
  PolyRef a = nullptr;
  PolyRef b = nullptr;
  if (state.start == nullptr || !affine(state, a, b) || !b->isZero() || a->isConstant() ||
      !stateAtoms(a).empty())
    return false;
  state.form = [this, i, a](PolyRef n, PolyRef State::*) {
    const AtomRef k = k_.index(n, "k");
    return k_.multiply(states_[i].start, k_.product({k}, replaced(k_, a, counter_, k_.of(k))));
  };
  close(i);
  state.fromStart = true;
  return true;
}

bool LoopStates::affine(const State& state, PolyRef& a, PolyRef& b) {
  const AtomRef self = state.self->asAtom();
  a = k_.arena.zero;
  b = k_.arena.zero;
  for (const auto& [mono, coefficient] : state.next->terms) {
    const Rational e = mono->exponent(self);
    const PolyRef rest = k_.of(e == 0 ? mono : k_.without(mono, self), coefficient);
    if (occurs(rest, self) || (e != 0 && e != 1)) return false;
    (e == 1 ? a : b) = k_.add(e == 1 ? a : b, rest);
  }
  return true;
}

/// 1, the inverse of the product of positive coefficients, parts of the coefficient that mention states, what
/// it is a quotient of, its denominators, and the states themselves.
std::vector<PolyRef> LoopStates::candidates(PolyRef a) {
  std::vector<PolyRef> result{k_.arena.one};
  if (stateAtoms(a).empty() && a != k_.arena.one && k_.sign(a) == Sign::positive) {
    // 1 / (a(0) * ... * a(h - 1)).
    const AtomRef j = k_.index(k_.of(counter_), "k");
    result.push_back(k_.exp(k_.negate(k_.sum({j}, k_.log(replaced(k_, a, counter_, k_.of(j)))))));
  }
  const auto add = [&](PolyRef p) {
    if (std::find(result.begin(), result.end(), p) == result.end()) result.push_back(p);
  };
  constexpr std::size_t mostTerms = 4;
  for (std::size_t t = 0; t < a->terms.size() && a->terms.size() <= mostTerms; ++t) {
    std::vector<Factor> parts;
    for (const auto& factor : a->terms[t].first->factors) {
      if (!factor.first->isIndicator() && !stateAtoms(k_.of(factor.first)).empty()) parts.push_back(factor);
    }
    for (unsigned mask = 1; parts.size() <= 5 && mask < (1U << parts.size()); ++mask) {
      std::vector<Factor> chosen;
      for (std::size_t i = 0; i < parts.size(); ++i) {
        if ((mask >> i & 1U) != 0) chosen.push_back(parts[i]);
      }
      add(k_.of(k_.monoOf(std::move(chosen))));
    }
  }
  std::map<AtomRef, Rational, Before> inverses;
  for (const auto& [mono, coefficient] : a->terms) {
    for (const auto& [atom, e] : mono->factors) {
      if (e < 0 && atom->kind != Kind::exp) inverses.emplace(atom, -e);
    }
  }
  PolyRef denominator = k_.arena.one;
  for (const auto& [atom, e] : inverses) denominator = k_.multiply(denominator, k_.of(atom, e));
  if (denominator != k_.arena.one) {
    const PolyRef numerator = k_.multipliedThrough(a);
    if (!stateAtoms(numerator).empty()) add(numerator);
    if (!stateAtoms(denominator).empty()) add(k_.inverse(denominator));
    if (contains(denominator->variables, counter_))
      add(replaced(k_, denominator, counter_, k_.plus(k_.of(counter_), -1)));
  }
  for (const AtomRef atom : stateAtoms(a)) add(k_.of(atom));
  return result;
}

std::size_t LoopStates::factors(std::size_t i) {
  PolyRef a = nullptr;
  PolyRef b = nullptr;
  return affine(states_[i], a, b) ? candidates(a).size() : 0;
}

bool LoopStates::carries(std::size_t i, std::size_t factor) {
  PolyRef a = nullptr;
  PolyRef b = nullptr;
  if (!affine(states_[i], a, b)) return false;
  const auto all = candidates(a);
  if (factor >= all.size()) return false;
  const PolyRef left = k_.subtract(k_.multiply(later(all[factor]), a), all[factor]);
  return closes(k_, left) || closes(k_, peeled(k_, left));
}

/// A quotient that comes out even, such as (e*s + e*e) / (s + e): read off the terms that have one term of
/// the divisor, then compared in full.
PolyRef LoopStates::divided(PolyRef p) {
  if (stateAtoms(p).empty()) return p;
  for (const auto& [mono, coefficient] : p->terms) {
    for (const auto& [atom, exponent] : mono->factors) {
      if (exponent != -1 || atom->kind != Kind::inverse) continue;
      for (const auto& [lead, leading] : atom->parts[0]->terms) {
        if (stateAtoms(k_.of(lead)).empty()) continue;
        const PolyRef divisor = k_.scale(k_.power(lead, -1), 1 / leading);
        PolyRef guess = k_.arena.zero;
        for (const auto& [other, times] : p->terms) {
          const bool over = other->exponent(atom) == -1;
          const PolyRef part =
              over ? k_.multiply(k_.of(k_.without(other, atom), times), divisor) : k_.of(other, times);
          if (stateAtoms(part).empty()) guess = k_.add(guess, part);
        }
        if (!guess->isZero() && closes(k_, k_.subtract(p, guess))) return guess;
      }
    }
  }
  return p;
}

/// The gain without what its states telescope to, and that.
bool LoopStates::telescoped(PolyRef& gain, PolyRef& potential, const Telescope& telescope) {
  const auto atoms = stateAtoms(gain);
  const auto stateAt = [&](int at) {
    const bool there = at >= 0 && static_cast<std::size_t>(at) < atoms.size();
    return there ? k_.of(atoms[static_cast<std::size_t>(at)]) : nullptr;
  };
  const PolyRef s = stateAt(telescope.first);
  const PolyRef t = stateAt(telescope.second);
  const PolyRef weight = telescope.weight == 0   ? k_.of(counter_)
                         : telescope.weight == 1 ? k_.arena.one
                                                 : stateAt(telescope.weight - 2);
  if (s == nullptr || t == nullptr || weight == nullptr || std::abs(telescope.sign) != 1) return false;
  const PolyRef product = k_.multiply(weight, k_.multiply(s, t));
  const PolyRef growth = k_.subtract(later(product), product);
  const PolyRef whole = k_.add(gain, k_.scale(growth, telescope.sign));
  std::vector<PolyRef> pure;
  for (const auto& [mono, coefficient] : whole->terms) {
    const bool inverses =
        std::any_of(mono->factors.begin(), mono->factors.end(), [](const Factor& f) { return f.second < 0; });
    const PolyRef term = k_.of(mono, coefficient);
    if (!inverses && stateAtoms(term).empty()) pure.push_back(term);
  }
  gain = k_.total(pure);
  potential = k_.scale(product, telescope.sign);
  return closes(k_, k_.subtract(whole, gain));
}

bool LoopStates::closeCarried(std::size_t i, std::size_t factor, const Telescope& telescope) {
  State& state = states_[i];
  PolyRef a = nullptr;
  PolyRef b = nullptr;
  if (!affine(state, a, b)) return false;
  const auto all = candidates(a);
  if (factor >= all.size()) return false;
  const PolyRef g = all[factor];
  PolyRef gain = k_.multiply(later(g), b);
  PolyRef potential = k_.arena.zero;
  if (telescope.first >= 0 && !telescoped(gain, potential, telescope)) return false;
  if (!stateAtoms(gain).empty()) gain = reduceInverses(k_, gain);  // (x + y) * r / (x + y) is r
  gain = divided(gain);
  if (!stateAtoms(gain).empty()) return false;
  const auto afterFirst = [&](PolyRef p) {
    const AtomRef blank = k_.unrangedIndex();
    const PolyRef moved =
        replaceStates(replaced(k_, p, counter_, k_.of(blank)), [](const State& s) { return s.first; });
    return replaced(k_, moved, blank, k_.arena.one);
  };
  // After the first round: g * first = constant + gain(0) - potential.
  const PolyRef begin = k_.add(k_.multiply(afterFirst(g), state.first), afterFirst(potential));
  PolyRef constant = k_.subtract(begin, replaced(k_, gain, counter_, k_.arena.zero));
  if (closes(k_, constant)) constant = k_.arena.zero;
  for (const PolyRef p : {g, potential}) {
    const auto atoms = stateAtoms(p);
    if (std::any_of(atoms.begin(), atoms.end(), [&](AtomRef atom) { return !stateOf(atom)->closed; }))
      return false;
  }
  state.form = [this, g, gain, potential, constant](PolyRef n, PolyRef State::*value) {
    const auto then = [&](PolyRef p) {
      return replaceStates(replaced(k_, p, counter_, n), [&](const State& s) { return s.*value; });
    };
    const AtomRef k = k_.index(n, "k");
    const PolyRef sum = k_.sum({k}, replaced(k_, gain, counter_, k_.of(k)));
    return k_.multiply(k_.subtract(k_.add(constant, sum), then(potential)), k_.inverse(then(g)));
  };
  const PolyRef carried =
      replaceStates(replaced(k_, g, counter_, k_.of(rounds_)), [](const State& s) { return s.closed; });
  if (!isNonZero(k_.sign(carried))) return false;
  close(i);
  state.fromStart = g == k_.arena.one && potential->isZero();
  return true;
}

void LoopStates::close(std::size_t i) {
  states_[i].closed = states_[i].form(k_.of(rounds_), &State::closed);
  order_.push_back(i);
}

void LoopStates::reopen(std::size_t i) {
  states_[i].closed = nullptr;
  states_[i].extremum = false;
  states_[i].fromStart = false;
  std::erase(order_, i);
}

bool LoopStates::ready(std::size_t i) {
  const auto atoms = stateAtoms(states_[i].next);
  return std::all_of(atoms.begin(), atoms.end(),
                     [&](AtomRef atom) { return stateOf(atom)->closed != nullptr; });
}

PolyRef LoopStates::base(std::size_t i) {
  // Sums over the first elements, where the loop begins after some, are written out.
  return k_.subtract(writtenOut(k_, atRounds(states_[i].closed, k_.arena.one)), states_[i].first);
}

PolyRef LoopStates::step(std::size_t i) {
  // One more round is what an extremum means.
  if (extent_ == k_.arena.one || states_[i].extremum) return nullptr;
  const AtomRef before = k_.index(k_.plus(extent_, -1), "n");
  const PolyRef n = k_.plus(k_.of(before), 1);
  const PolyRef next = replaceStates(states_[i].next, [&](const State& s) {
    if (s.closed == nullptr) throw Refused{"a state without a closed form"};
    return atRounds(s.closed, n);
  });
  return k_.subtract(replaced(k_, next, counter_, n), atRounds(states_[i].closed, k_.plus(n, 1)));
}

/// Built for all rounds at once, not from the form for any number: what is known of the extent simplifies it.
std::vector<ClosedState> LoopStates::result() {
  for (const std::size_t i : order_) states_[i].last = states_[i].form(extent_, &State::last);
  std::vector<ClosedState> result;
  for (const State& state : states_) {
    if (state.closed == nullptr) throw Refused{"a state without a closed form"};
    result.push_back({state.index, state.last});
  }
  return result;
}

}  // namespace nuscope::replay
