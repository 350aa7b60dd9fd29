#include "core/proof/prove.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/diagnostics.h"
#include "core/proof/assumptions.h"
#include "core/proof/definedness.h"
#include "core/proof/functions.h"
#include "core/proof/import_nodes.h"
#include "core/proof/math_text.h"
#include "core/proof/real_term.h"
#include "core/proof/refute.h"
#include "core/proof/zero_test.h"

namespace nuscope::proof {

using tensor::NodeRef;
using tensor::Precondition;
using tensor::Program;

std::string_view text(Verdict verdict) {
  switch (verdict) {
    case Verdict::proved:
      return "proved";
    case Verdict::refuted:
      return "refuted";
    case Verdict::unknown:
      return "unknown";
  }
  return "unknown";
}

namespace {

using Clock = std::chrono::steady_clock;
using Cut = std::unordered_set<NodeRef>;

/// One attempt on lists of nodes of one store.
struct Attempt {
  std::span<const NodeRef> left;
  std::span<const NodeRef> right;
  std::span<const Precondition> leftAsserts;
  std::span<const Precondition> rightAsserts;
  std::vector<std::string> dimensions;
  const Cut& cut;
  const Options& options;
};

std::string joined(const std::vector<std::string>& parts, const std::string& separator) {
  std::string result;
  for (const auto& part : parts) result += (result.empty() ? "" : separator) + part;
  return result;
}

std::string holdsFor(const std::vector<std::string>& dimensions, const std::vector<std::string>& used) {
  std::string result = dimensions.empty() ? "all inputs" : "all " + joined(dimensions, ", ") + " >= 1";
  if (!used.empty()) result += " with " + joined(used, " and ");
  return result;
}

/// Every requirement of `to` where those of `from` hold.
bool implied(Calculus& c, Oracle& oracle, const std::vector<PolyRef>& from, const std::vector<PolyRef>& to,
             PolyRef& missing) {
  for (const PolyRef wanted : to) {
    if (wanted == c.arena.one || std::find(from.begin(), from.end(), wanted) != from.end()) continue;
    std::vector<PolyRef> hypotheses;
    for (const PolyRef given : from) hypotheses.push_back(negation(c, given));  // given = 1
    const bool never = std::find(from.begin(), from.end(), c.arena.zero) != from.end();
    if (never || oracle.impossible({{}, hypotheses, negation(c, wanted)})) continue;
    missing = wanted;
    return false;
  }
  return true;
}

class Prover {
 public:
  Prover(const Attempt& attempt, const Progress& progress, Clock::time_point deadline, Proof& proof)
      : attempt_(attempt),
        c_(progress),
        assumptions_(dimensionFacts(attempt.leftAsserts, attempt.rightAsserts)),
        domain_(c_, assumptions_.dims, attempt.cut),
        oracle_(c_, attempt.options.solvers, recorder_),
        proof_(proof) {
    c_.deadline = deadline;
  }

  void run() {
    try {
      assume(c_, domain_, assumptions_, attempt_.leftAsserts, attempt_.rightAsserts);
      proof_.unusedAsserts = assumptions_.unused;
      bool all = true;
      for (std::size_t i = 0; all && i < attempt_.left.size(); ++i) all = result(i);
      if (all) {
        proof_.verdict = Verdict::proved;
        proof_.reason = reasonOfProof();
        proof_.decidedBy = recorder_.decidedBy;
        proof_.holdsFor = holdsFor(attempt_.dimensions, assumptions_.used);
      }
    } catch (const GaveUp& gaveUp) {
      proof_.reason = "gave up: " + gaveUp.reason;
      proof_.cutByTime = gaveUp.byTime;
    } catch (const UserError& error) {
      proof_.reason = std::string("gave up: ") + error.what();
    }
    if (proof_.verdict == Verdict::unknown && oracle_.cutByTime()) proof_.cutByTime = true;
    proof_.steps = std::move(recorder_.steps);
  }

  /// Left minus right in normal form, for a refuted pair.
  void remainingOf(std::size_t i) {
    try {
      assume(c_, domain_, assumptions_, attempt_.leftAsserts, attempt_.rightAsserts);
      if (!assumptions_.dims.equal(attempt_.left[i]->shape, attempt_.right[i]->shape)) return;
      const auto index = indexOf(attempt_.left[i]);
      const Scalar left = domain_.element(attempt_.left[i], index);
      const Scalar right = domain_.element(attempt_.right[i], index);
      proof_.remaining = shortText(c_, differenceOf(left, right));
    } catch (const GaveUp&) {
      proof_.remaining.clear();  // too large to show
    } catch (const UserError&) {
      proof_.remaining.clear();
    }
  }

 private:
  std::vector<IntRef> indexOf(NodeRef node) {
    std::vector<IntRef> index;
    for (const auto& extent : node->shape) {
      const IntRef size = domain_.dim(extent);
      index.push_back(size == c_.arena.oneInt ? c_.arena.zeroInt : intOf(c_, freshIndex(c_, size, "i")));
    }
    return index;
  }

  std::string reasonOfProof() const {
    const std::string& by = recorder_.decidedBy;
    if (by == "normal-form") return "the normal forms agree";
    if (by == "congruence") return "the normal forms agree fold by fold";
    if (by == "cases") return "the normal forms agree in every case";
    if (by == "induction") return "by induction over the extents of the folds";
    return "the solver closed what the normal form left";
  }

  bool result(std::size_t i) {
    const NodeRef a = attempt_.left[i];
    const NodeRef b = attempt_.right[i];
    if (a == b) {
      recorder_.add("identity", "both sides are the same graph");
      return true;
    }
    if (!assumptions_.dims.equal(a->shape, b->shape)) {
      proof_.reason =
          fmt::format("the shapes differ: {} and {}", tensor::text(a->shape), tensor::text(b->shape));
      return false;
    }
    const bool sameSort = (sort(a->dtype) == tensor::Sort::real) == (sort(b->dtype) == tensor::Sort::real);
    if (!sameSort && attempt_.options.anyType) {
      recorder_.add("types", fmt::format("the values of {} and {} are compared as reals",
                                         tensor::text(a->dtype), tensor::text(b->dtype)));
    } else if (!sameSort) {
      proof_.reason =
          fmt::format("the types differ: {} and {}", tensor::text(a->dtype), tensor::text(b->dtype));
      return false;
    }
    const auto index = indexOf(a);
    const Scalar left = domain_.element(a, index);
    const Scalar right = domain_.element(b, index);
    const PolyRef difference = differenceOf(left, right);
    recorder_.add("normal form",
                  attempt_.left.size() > 1 ? fmt::format("both sides of result {} at one index", i + 1)
                                           : "both sides at one index",
                  shortText(c_, domain_.realOf(left)), shortText(c_, domain_.realOf(right)));
    for (; loopNotes_ < domain_.loopNotes().size(); ++loopNotes_) {
      recorder_.add("tuple fold", domain_.loopNotes()[loopNotes_]);
    }
    ZeroTest test(c_, oracle_, recorder_);
    if (!difference->isZero() && !test.zero(difference)) {
      const PolyRef rest = test.remaining() == nullptr ? difference : test.remaining();
      proof_.remaining = shortText(c_, rest);
      proof_.reason = "remaining difference: " + shortText(c_, rest, 160);
      if (oracle_.wanted()) proof_.reason += " (no solver was at hand)";
      return false;
    }
    return defined(left, right);
  }

  PolyRef differenceOf(const Scalar& left, const Scalar& right) {
    if (left.sort == tensor::Sort::integer && right.sort == tensor::Sort::integer) {
      return toReal(c_, subtract(c_, left.integer, right.integer));
    }
    PolyRef difference = subtract(c_, domain_.realOf(left), domain_.realOf(right));
    // Where an element is infinite it is undefined: that is a matter of definedness.
    for (const PolyRef infinite : {left.minus, left.plus}) {
      if (infinite != nullptr) difference = multiply(c_, difference, negation(c_, infinite));
    }
    return difference;
  }

  bool defined(const Scalar& left, const Scalar& right) {
    const auto here = definednessOf(c_, left);
    const auto there = definednessOf(c_, right);
    for (const PolyRef requirement : there) {
      const std::string shown = conditionText(c_, requirement);
      if (std::find(proof_.definedness.begin(), proof_.definedness.end(), shown) ==
          proof_.definedness.end()) {
        proof_.definedness.push_back(shown);
      }
    }
    if (here == there) return true;
    PolyRef missing = nullptr;
    if (!implied(c_, oracle_, here, there, missing)) {
      proof_.reason = "the right side is not shown to be defined wherever the left one is: it needs " +
                      conditionText(c_, missing);
      return false;
    }
    if (attempt_.options.mode == Mode::equal && !implied(c_, oracle_, there, here, missing)) {
      proof_.reason = "the left side is not shown to be defined wherever the right one is: it needs " +
                      conditionText(c_, missing);
      return false;
    }
    recorder_.add("definedness", "both sides are defined at the same inputs");
    return true;
  }

  const Attempt& attempt_;
  Calculus c_;
  Assumptions assumptions_;
  Recorder recorder_;
  SymbolicDomain domain_;
  Oracle oracle_;
  Proof& proof_;
  std::size_t loopNotes_ = 0;
};

void checkParameters(const Program& left, const Program& right) {
  if (left.parameters.size() != right.parameters.size()) {
    throw UserError(fmt::format("the programs have {} and {} parameters; they must have the same",
                                left.parameters.size(), right.parameters.size()));
  }
  for (std::size_t i = 0; i < left.parameters.size(); ++i) {
    const auto& a = left.parameters[i];
    const auto& b = right.parameters[i];
    if (a.name != b.name)
      throw UserError(
          fmt::format("parameter {} is {} on the left and {} on the right", i + 1, a.name, b.name));
    if (a.node->dtype != b.node->dtype || !(a.node->shape == b.node->shape)) {
      throw UserError(fmt::format("parameter {} is {} on the left and {} on the right", a.name,
                                  tensor::typeText(a.node->dtype, a.node->shape),
                                  tensor::typeText(b.node->dtype, b.node->shape)));
    }
  }
  if (left.results.size() != right.results.size()) {
    throw UserError(
        fmt::format("the programs return {} and {} results", left.results.size(), right.results.size()));
  }
}

/// The dimension D of a loop over range(D - 1), which does not run for D = 1; empty if there is no such loop.
std::optional<std::string> symbolOfEmptyLoop(const Program& left, std::span<const NodeRef> right) {
  for (const auto roots : {std::span<const NodeRef>(left.results), right}) {
    for (const NodeRef node : tensor::topological(roots)) {
      if (node->op != tensor::Op::loop) continue;
      const tensor::Dim& extent = node->attributes.shape[0];
      if (left.facts.positive(extent)) continue;
      if (const auto symbol = (extent + 1).asSymbol()) return symbol;
    }
  }
  return std::nullopt;
}

/// For D = 1 and for D >= 2, each as an attempt of its own.
void proveApart(const std::string& symbol, const Program& left, const Imported& right, const Options& options,
                const Progress& progress, Clock::time_point deadline, Proof& proof) {
  const tensor::Dim d = tensor::Dim::symbol(symbol);
  const tensor::DimRelation cases[] = {{d, tensor::Relation::equal, 1}, {2, tensor::Relation::lessEqual, d}};
  std::vector<ProofStep> steps;
  for (const tensor::DimRelation& assumed : cases) {
    std::vector<Precondition> asserts = left.preconditions;
    const std::string text = symbol + (assumed.relation == tensor::Relation::equal ? " == 1" : " >= 2");
    asserts.push_back({text, {}, assumed, nullptr});
    proof.verdict = Verdict::unknown;
    proof.steps.clear();
    const Cut none;
    const Attempt attempt{left.results,    right.results, asserts, right.preconditions,
                          left.dimensions, none,          options};
    Prover(attempt, progress, deadline, proof).run();
    steps.push_back({0, "cases", "where " + text + ": " + proof.reason, {}, {}, 0, {}});
    for (ProofStep& step : proof.steps) {
      ++step.depth;
      steps.push_back(std::move(step));
    }
    if (proof.verdict != Verdict::proved) break;
  }
  proof.steps = std::move(steps);
  if (proof.verdict != Verdict::proved) return;
  std::vector<std::string> used;
  for (const Precondition& p : left.preconditions) used.push_back(p.text);
  proof.holdsFor = holdsFor(left.dimensions, used);
}

}  // namespace

Proof prove(const Program& left, const Program& right, const Options& options, const Progress& progress) {
  const auto begin = Clock::now();
  const auto deadline = begin + std::chrono::duration_cast<Clock::duration>(
                                    std::chrono::duration<double>(options.secondsLimit));
  Proof proof;
  proof.mode = options.mode;
  proof.reason = "not tried";
  checkParameters(left, right);
  progress.check();
  const auto finish = [&] {
    proof.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    return proof;
  };
  const Imported imported = importNodes(left, right);
  if (!imported.refusal.empty()) {
    proof.reason = imported.refusal;
    return finish();
  }
  const bool identical = imported.results == left.results;
  if (options.draws && !identical) {
    RefuteOptions draws;
    draws.mode = options.mode;
    draws.seed = options.seed;
    draws.lastDraw = options.maxDraws;
    const RefuteOutcome outcome = refute(left, right, draws, progress);
    if (outcome.counterexample) {
      proof.verdict = Verdict::refuted;
      proof.counterexample = outcome.counterexample;
      proof.decidedBy = "draw";
      proof.reason = fmt::format("draw {} differs", outcome.counterexample->draw);
      const Cut none;
      const Attempt attempt{
          left.results, imported.results, left.preconditions, imported.preconditions, left.dimensions,
          none,         options};
      const auto soon = Clock::now() + std::chrono::milliseconds(200);
      Prover(attempt, progress, std::min(soon, deadline), proof).remainingOf(outcome.counterexample->result);
      return finish();
    }
    if (!outcome.note.empty()) proof.reason = outcome.note;
  }
  if (options.proofs || identical) {
    const auto symbol = identical ? std::nullopt : symbolOfEmptyLoop(left, imported.results);
    if (symbol) {
      proveApart(*symbol, left, imported, options, progress, deadline, proof);
    } else {
      const Cut none;
      const Attempt attempt{
          left.results, imported.results, left.preconditions, imported.preconditions, left.dimensions,
          none,         options};
      Prover(attempt, progress, deadline, proof).run();
    }
  }
  return finish();
}

Proof proveRewrite(const Program& context, std::span<const NodeRef> before, std::span<const NodeRef> after,
                   const Cut& cut, const Options& options, const Progress& progress) {
  const auto begin = Clock::now();
  Proof proof;
  proof.mode = options.mode;
  if (before.size() != after.size()) throw InternalError("proveRewrite: lists of different lengths");
  if (std::equal(before.begin(), before.end(), after.begin())) {
    proof.verdict = Verdict::proved;
    proof.reason = "both sides are the same graph";
    proof.decidedBy = "identity";
    proof.holdsFor = holdsFor(context.dimensions, {});
  } else {
    const auto deadline = begin + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double>(options.secondsLimit));
    const Attempt attempt{before, after, context.preconditions, {}, context.dimensions, cut, options};
    Prover(attempt, progress, deadline, proof).run();
  }
  proof.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return proof;
}

}  // namespace nuscope::proof
