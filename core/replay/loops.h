#pragma once
// Loops as folds over a tuple: each state has a closed form, shown by base (after the first round) and step
// (from n rounds to n + 1). A record says how the forms are built; that they hold is shown like any other
// goal.
#include "core/replay/forms.h"
#include "core/replay/moves.h"

namespace nuscope::replay {

/// A gain that mentions states is a pure gain minus the growth of weight * s * t for two states of the gain.
struct Telescope {
  int first = -1;  ///< which states in the gain; -1: the gain mentions none
  int second = -1;
  int weight = 0;  ///< 0: the number of rounds; 1: one; 2 and more: the states in the gain
  int sign = 1;
};

/// The states of one loop while their closed forms are built.
class LoopStates {
 public:
  LoopStates(Kernel& kernel, Forms& forms, tensor::NodeRef loop) : k_(kernel), forms_(forms), loop_(loop) {}

  /// One round of the body for each state. False where no closed form can be given, with the reason.
  bool read(std::string& why);
  [[nodiscard]] std::size_t size() const { return states_.size(); }
  [[nodiscard]] bool closed(std::size_t i) const { return states_[i].closed != nullptr; }
  /// next = max(self, f), or min, in the rounds in which a guard holds that knows no state; f only such that
  /// are closed as plain sums or products.
  bool closeExtremum(std::size_t i);
  /// next = a*self with an a that knows no state.
  bool closeProduct(std::size_t i);
  /// next = a*self + b, and a factor g of the rounds for which g*self grows by g'*b.
  bool closeCarried(std::size_t i, std::size_t factor, const Telescope& telescope);
  std::size_t factors(std::size_t i);
  /// Does g' * a = g hold for the factor as it stands? (Only a hint for a search.)
  bool carries(std::size_t i, std::size_t factor);
  void reopen(std::size_t i);
  /// Are all states known that the next value mentions?
  bool ready(std::size_t i);
  /// Terms that must be 0: the form after one round, and after one more. `step` is null for a single round,
  /// and for an extremum, whose fold has the next round in it by its definition.
  PolyRef base(std::size_t i);
  PolyRef step(std::size_t i);
  /// What the rounds require, besides that the states they read are defined: terms that must be 0. In the
  /// first round, and in each later one on the closed forms.
  std::vector<PolyRef> needs(std::size_t i);
  /// The states after all rounds.
  [[nodiscard]] std::vector<ClosedState> result();

 private:
  struct State {
    std::vector<AtomRef> index;
    std::string name;
    PolyRef self = nullptr;    ///< the old value at `index`
    PolyRef start = nullptr;   ///< before the first round; null if infinite or not always defined
    PolyRef first = nullptr;   ///< after the first round
    PolyRef next = nullptr;    ///< after round `counter`, in old values
    PolyRef closed = nullptr;  ///< in terms of `rounds`
    PolyRef last = nullptr;    ///< after all rounds
    bool extremum = false;     ///< closed as one
    bool fromStart = false;    ///< closed as a plain sum or product: the form holds after no round as well
    /// The closed form after n >= 1 rounds; the states that it mentions by the given member.
    std::function<PolyRef(PolyRef n, PolyRef State::*value)> form;
    std::vector<PolyRef> firstNeeds, nextNeeds;  ///< 0/1 terms that must be 1
  };
  void close(std::size_t i);
  std::vector<PolyRef> needsOf(Value value);
  std::vector<AtomRef> stateAtoms(PolyRef p) const;
  const State* stateOf(AtomRef atom) const;
  PolyRef replaceStates(PolyRef p, const std::function<PolyRef(const State&)>& value);
  PolyRef later(PolyRef g);
  PolyRef beforeRound(PolyRef p);
  bool guarded(const State& state, PolyRef& guard, PolyRef& taken);
  PolyRef divided(PolyRef p);
  bool affine(const State& state, PolyRef& a, PolyRef& b);
  bool telescoped(PolyRef& gain, PolyRef& potential, const Telescope& telescope);
  std::vector<PolyRef> candidates(PolyRef a);
  PolyRef atRounds(PolyRef p, PolyRef n);

  Kernel& k_;
  Forms& forms_;
  tensor::NodeRef loop_;
  PolyRef extent_ = nullptr;
  AtomRef counter_ = nullptr;
  AtomRef rounds_ = nullptr;
  std::vector<State> states_;
  std::vector<std::size_t> order_;  ///< as they were closed
};

}  // namespace nuscope::replay
