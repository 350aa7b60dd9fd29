#include "core/proof/refute.h"

#include <algorithm>

#include "core/proof/screen.h"
#include "core/proof/shrink.h"

namespace nuscope::proof {
namespace {

using tensor::Extents;
using tensor::Program;

constexpr int kShapes = 12;                       ///< shapes that the draws go round
constexpr std::int64_t kLargestWork = 100000;     ///< scalar operations of one side at a shape
constexpr std::int64_t kTotalWork = 200'000'000;  ///< over all draws
constexpr int kFailuresAllowed = 8;               ///< draws that find no inputs before giving up

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {  // splitmix64
  std::uint64_t z = a + 0x9E3779B97F4A7C15ULL * (b + 1);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

class Refuter {
 public:
  Refuter(const Program& left, const Program& right, const RefuteOptions& options, const Progress& progress)
      : left_(left), right_(right), options_(options), progress_(progress), facts_(left.facts) {
    for (const auto& relation : right.facts.relations()) facts_.assume(relation);
    wholeInputs_ = std::ranges::any_of(left.parameters, [](const auto& parameter) {
      return tensor::sort(parameter.node->dtype) == tensor::Sort::integer;
    });
  }

  RefuteOutcome run() {
    RefuteOutcome outcome;
    int failures = 0;
    std::int64_t done = 0;
    for (int draw = options_.firstDraw; draw <= options_.lastDraw; ++draw) {
      progress_.check();
      Screen* screen = shape((draw - 1) % kShapes);
      if (!screen) {
        outcome.note = "no small extents satisfy the asserts about dimensions";
        break;
      }
      ++outcome.draws;
      done += work(left_, screen->extents()) + work(right_, screen->extents());
      if (done > kTotalWork) {
        outcome.note = "the extents that the asserts demand are too large for more draws";
        break;
      }
      const bool sweep = wholeInputs_ && draw % 4 == 0;
      const auto inputs = screen->drawer().draw(
          sweep ? semantics::Distribution::sweep : semantics::Distribution::mixed,
          mix(options_.seed, static_cast<std::uint64_t>(draw)), failures == 0 ? 300 : 60, progress_);
      if (!inputs) {
        outcome.note = "no inputs were found that satisfy assert " + screen->drawer().obstacle();
        if (++failures == kFailuresAllowed) break;
        continue;
      }
      const auto difference = screen->find(*inputs, options_.mode, progress_);
      if (!difference) {
        outcome.voided += screen->decided() == 0 ? 1 : 0;
        continue;
      }
      Case found{screen->extents(), *inputs, *difference};
      if (options_.shrink) found = shrink(left_, right_, facts_, options_.mode, std::move(found), progress_);
      outcome.counterexample = describe(left_, right_, found, progress_);
      outcome.counterexample->seed = options_.seed;
      outcome.counterexample->draw = draw;
      break;
    }
    return outcome;
  }

 private:
  Screen* shape(int number) {
    if (screens_[static_cast<std::size_t>(number)]) return screens_[static_cast<std::size_t>(number)].get();
    std::mt19937_64 random(mix(options_.seed ^ 0x5eed, static_cast<std::uint64_t>(number)));
    std::optional<Extents> extents;
    for (int attempt = 0; attempt < 12; ++attempt) {
      const auto tried = semantics::drawExtents(left_.dimensions, facts_, attempt < 11 ? number : 0, random);
      if (!tried) continue;
      extents = tried;
      if (work(left_, *tried) <= kLargestWork && work(right_, *tried) <= kLargestWork) break;
      if (number == 0) break;
    }
    if (!extents) return nullptr;
    auto& screen = screens_[static_cast<std::size_t>(number)];
    screen = std::make_unique<Screen>(left_, right_, *extents);
    return screen.get();
  }

  const Program& left_;
  const Program& right_;
  const RefuteOptions& options_;
  const Progress& progress_;
  tensor::DimFacts facts_;
  bool wholeInputs_ = false;
  std::array<std::unique_ptr<Screen>, kShapes> screens_;
};

}  // namespace

RefuteOutcome refute(const Program& left, const Program& right, const RefuteOptions& options,
                     const Progress& progress) {
  return Refuter(left, right, options, progress).run();
}

std::optional<Counterexample> confirm(const Program& left, const Program& right, Mode mode,
                                      const Extents& extents, const semantics::Inputs& inputs, bool shrinkIt,
                                      const Progress& progress) {
  Screen screen(left, right, extents, 100);
  if (!screen.drawer().satisfied(inputs)) return std::nullopt;
  const auto difference = screen.find(inputs, mode, progress);
  if (!difference) return std::nullopt;
  Case found{extents, inputs, *difference};
  tensor::DimFacts facts = left.facts;
  for (const auto& relation : right.facts.relations()) facts.assume(relation);
  if (shrinkIt) found = shrink(left, right, facts, mode, std::move(found), progress);
  return describe(left, right, found, progress);
}

}  // namespace nuscope::proof
