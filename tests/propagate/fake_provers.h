#pragma once
// A prover for tests of the exploration alone: what agrees in a few float64 draws counts as proved.
#include <cmath>

#include "core/propagate/attempt.h"
#include "core/propagate/local_goal.h"
#include "core/semantics/draw.h"
#include "core/semantics/evaluate.h"

namespace nuscope::test {

inline std::optional<proof::Counterexample> fakeDifference(const tensor::Program& left,
                                                           const tensor::Program& right, int draws,
                                                           const Progress& progress) {
  std::mt19937_64 random(5);
  for (int draw = 0; draw < draws; ++draw) {
    progress.check();
    const auto extents = semantics::drawExtents(left.dimensions, left.facts, draw + 1, random);
    if (!extents) return std::nullopt;
    const auto inputs = semantics::tryDrawInputs(left, *extents, semantics::Distribution::normal, random());
    if (!inputs) continue;
    const auto a = semantics::evaluate(left, left.results, *extents, *inputs);
    const auto b = semantics::evaluate(right, right.results, *extents, *inputs);
    for (std::size_t r = 0; r < a.size(); ++r) {
      for (std::size_t i = 0; i < a[r].state.size(); ++i) {
        const auto undecided = static_cast<std::uint8_t>(semantics::State::undecided);
        if (a[r].state[i] == undecided || b[r].state[i] == undecided) continue;
        const bool defined = a[r].state[i] == 0;
        if (!defined) continue;
        const double gap = std::abs(a[r].value.values[i] - b[r].value.values[i]);
        if (b[r].state[i] == 0 && gap <= a[r].bound[i] + b[r].bound[i]) continue;
        proof::Counterexample example;
        example.extents = *extents;
        example.inputs = *inputs;
        example.result = r;
        example.left = a[r].value;
        example.right = b[r].value;
        example.draw = draw + 1;
        return example;
      }
    }
  }
  return std::nullopt;
}

inline propagate::Procedures fakeProvers() {
  propagate::Procedures fake;
  fake.refute = [](const auto& left, const auto& right, const proof::RefuteOptions& options,
                   const Progress& progress) {
    proof::RefuteOutcome outcome;
    outcome.counterexample = fakeDifference(left, right, options.lastDraw, progress);
    return outcome;
  };
  fake.rewrite = [](const auto& context, auto before, auto after, const auto&, const auto&,
                    const Progress& progress) {
    tensor::Program left = context;
    tensor::Program right = context;
    left.results.assign(before.begin(), before.end());
    right.results.assign(after.begin(), after.end());
    proof::Proof proof;
    proof.mode = proof::Mode::refines;
    proof.verdict =
        fakeDifference(left, right, 12, progress) ? proof::Verdict::unknown : proof::Verdict::proved;
    return proof;
  };
  fake.whole = [](const auto& left, const auto& right, const auto&, const Progress& progress) {
    proof::Proof proof;
    proof.mode = proof::Mode::refines;
    proof.counterexample = fakeDifference(left, right, 40, progress);
    proof.verdict = proof.counterexample ? proof::Verdict::refuted : proof::Verdict::unknown;
    return proof;
  };
  return fake;
}

}  // namespace nuscope::test
