#include "core/proof/weakest_assert.h"

#include <algorithm>
#include <random>

#include "core/proof/assert_candidates.h"
#include "core/proof/import_nodes.h"
#include "core/proof/refute.h"
#include "core/semantics/draw.h"

namespace nuscope::proof {
namespace {

using tensor::Program;
using Clock = std::chrono::steady_clock;

constexpr int kDraws = 48;                   ///< of the refuter for one candidate
constexpr int kWitnesses = 6;                ///< inputs that satisfy an assert, for comparing two
constexpr double kProofSeconds = 1;          ///< for one candidate
constexpr int kStrong = 5;                   ///< above it asserts are the last resort
constexpr std::size_t kAnswers = 8;          ///< kept while the search goes on
constexpr std::size_t kCombinations = 4000;  ///< looked at

using Combination = std::vector<const AssertCandidate*>;

Program with(Program program, const Combination& asserts) {
  for (const AssertCandidate* candidate : asserts) {
    program.preconditions.push_back(candidate->precondition);
    if (candidate->precondition.dims) program.facts.assume(*candidate->precondition.dims);
  }
  return program;
}

struct Point {
  tensor::Extents extents;
  semantics::Inputs inputs;
};

class Search {
 public:
  Search(const Program& left, const Program& right, const AssertOptions& options, const Progress& progress)
      : left_(left), right_(right), options_(options), progress_(progress), begin_(Clock::now()) {}

  AssertSearch run(const Proof& failed) {
    candidates_ = assertCandidates(left_, right_);
    if (failed.counterexample)
      points_.push_back({failed.counterexample->extents, failed.counterexample->inputs});
    for (const AssertCandidate& candidate : candidates_) {
      if (done() || (candidate.strength > kStrong && weakest() <= kStrong)) break;
      attempt({&candidate});
    }
    // Two weak asserts may ask less than a strong one.
    if (!result_.cutByTime && weakest() > kStrong) together();
    std::vector<std::size_t> order(result_.found.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return strengthOf(answers_[a].asserts) < strengthOf(answers_[b].asserts);
    });
    AssertSearch sorted = std::move(result_);
    std::vector<ConditionalProof> found;
    for (std::size_t i = 0; i < order.size() && static_cast<int>(i) < options_.atMost; ++i)
      found.push_back(std::move(sorted.found[order[i]]));
    sorted.found = std::move(found);
    return sorted;
  }

 private:
  bool done() {
    progress_.check();
    if (seconds() > options_.secondsLimit) result_.cutByTime = true;
    return result_.cutByTime || result_.found.size() >= kAnswers;
  }
  static int strengthOf(const Combination& asserts) {
    int sum = 0;
    for (const AssertCandidate* candidate : asserts) sum += candidate->strength;
    return sum;
  }
  [[nodiscard]] int weakest() const {
    int least = 1000;
    for (const Answer& answer : answers_) least = std::min(least, strengthOf(answer.asserts));
    return least;
  }
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(Clock::now() - begin_).count();
  }

  /// Joined asserts, the least demanding first.
  void together() {
    std::vector<Combination> all;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      for (std::size_t j = i + 1; j < candidates_.size(); ++j) {
        if (candidates_[i].combines && candidates_[j].combines)
          all.push_back({&candidates_[i], &candidates_[j]});
      }
    }
    std::stable_sort(all.begin(), all.end(), [&](const Combination& a, const Combination& b) {
      return strengthOf(a) < strengthOf(b);
    });
    if (all.size() > kCombinations) all.resize(kCombinations);
    const int least = weakest();
    for (const Combination& combination : all) {
      if (done() || strengthOf(combination) >= std::min(least, weakest())) return;
      attempt(combination);
    }
  }

  bool holdsAt(const AssertCandidate& candidate, std::size_t point) {
    const auto key = std::make_pair(&candidate, point);
    const auto known = holds_.find(key);
    if (known != holds_.end()) return known->second;
    Program alone = left_;
    alone.preconditions = {candidate.precondition};
    const bool value =
        semantics::satisfiesPreconditions(alone, points_[point].extents, points_[point].inputs);
    holds_.emplace(key, value);
    return value;
  }

  /// A point where the sides differ although the asserts hold there.
  bool ruledOut(const Combination& asserts) {
    for (std::size_t i = points_.size(); i-- > 0;) {
      if (std::all_of(asserts.begin(), asserts.end(),
                      [&](const AssertCandidate* candidate) { return holdsAt(*candidate, i); }))
        return true;
    }
    return false;
  }

  /// Inputs that satisfy the asserts of both programs.
  std::vector<Point> witnesses(const Program& left, const Program& right) {
    std::vector<Point> result;
    std::mt19937_64 random(options_.prove.seed);
    tensor::DimFacts facts = left.facts;
    for (const auto& relation : right.facts.relations()) facts.assume(relation);
    for (int i = 0; i < kWitnesses; ++i) {
      const auto extents = semantics::drawExtents(left.dimensions, facts, i, random);
      if (!extents) break;
      semantics::InputDrawer drawer({&left, &right}, *extents);
      const auto inputs = drawer.draw(semantics::Distribution::mixed,
                                      options_.prove.seed + static_cast<unsigned>(i), 60, progress_);
      if (inputs) result.push_back({*extents, *inputs});
    }
    return result;
  }

  /// Everything that satisfies these asserts satisfies an answer that is already there, as far as the points
  /// tell.
  bool followsAnAnswer(const std::vector<Point>& points) {
    return std::any_of(answers_.begin(), answers_.end(),
                       [&](const Answer& answer) { return follows(answer.asserts, points); });
  }
  bool follows(const Combination& asserts, const std::vector<Point>& points) {
    Program alone = left_;
    alone.preconditions.clear();
    for (const AssertCandidate* candidate : asserts) alone.preconditions.push_back(candidate->precondition);
    return std::all_of(points.begin(), points.end(), [&](const Point& p) {
      return semantics::satisfiesPreconditions(alone, p.extents, p.inputs);
    });
  }

  /// Answers that ask more than this one go.
  void dropStronger(const Combination& asserts) {
    for (std::size_t i = answers_.size(); i-- > 0;) {
      if (!follows(asserts, answers_[i].points)) continue;
      answers_.erase(answers_.begin() + static_cast<std::ptrdiff_t>(i));
      result_.found.erase(result_.found.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  void attempt(const Combination& asserts) {
    if (ruledOut(asserts)) return;
    try {
      tryOut(asserts);
    } catch (const UserError&) {
      // The asserts contradict those of the programs.
    }
  }

  void tryOut(const Combination& asserts) {
    ++result_.tried;
    const Program left = with(left_, asserts);
    const Program right = with(right_, asserts);
    const auto points = witnesses(left, right);
    if (points.empty() || followsAnAnswer(points)) return;
    RefuteOptions draws;
    draws.mode = options_.prove.mode;
    draws.seed = options_.prove.seed;
    draws.lastDraw = kDraws;
    draws.shrink = false;
    if (const auto counterexample = refute(left, right, draws, progress_).counterexample) {
      points_.push_back({counterexample->extents, counterexample->inputs});
      return;
    }
    Options how = options_.prove;
    how.draws = false;
    how.secondsLimit = std::min(kProofSeconds, std::max(0.05, options_.secondsLimit - seconds()));
    Proof proof = prove(left, right, how, progress_);
    if (proof.verdict != Verdict::proved) return;
    ConditionalProof answer;
    for (const AssertCandidate* candidate : asserts) {
      answer.asserts.push_back(candidate->text);
      answer.words += (answer.words.empty() ? "" : " and ") + candidate->words;
    }
    answer.proof = std::move(proof);
    dropStronger(asserts);
    answers_.push_back({asserts, points});
    result_.found.push_back(std::move(answer));
  }

  const Program& left_;
  const Program& right_;
  const AssertOptions& options_;
  const Progress& progress_;
  Clock::time_point begin_;
  std::vector<AssertCandidate> candidates_;
  std::vector<Point> points_;  ///< where the sides differ
  std::map<std::pair<const AssertCandidate*, std::size_t>, bool> holds_;
  struct Answer {
    Combination asserts;
    std::vector<Point> points;  ///< inputs that satisfy them
  };
  std::vector<Answer> answers_;  ///< beside result_.found
  AssertSearch result_;
};

}  // namespace

AssertSearch weakestAsserts(const Program& left, const Program& right, const Proof& failed,
                            const AssertOptions& options, const Progress& progress) {
  Imported imported = importNodes(left, right);
  if (!imported.refusal.empty()) return {};
  Program shared = right;
  shared.store = left.store;
  shared.parameters = left.parameters;
  shared.results = imported.results;
  shared.preconditions = imported.preconditions;
  return Search(left, shared, options, progress).run(failed);
}

}  // namespace nuscope::proof
