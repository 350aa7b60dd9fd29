#include "core/replay/proof_record.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "core/base/diagnostics.h"
#include "core/language/parse.h"
#include "core/replay/late_moves.h"
#include "core/replay/loops.h"
#include "core/replay/readable.h"

namespace nuscope::replay {

using nlohmann::json;

namespace {

tensor::Program parsed(const std::string& text, const std::shared_ptr<tensor::NodeStore>& store,
                       const char* side) {
  language::Parsed result = language::parse(text, store);
  if (!result.program) {
    const std::string first = result.diagnostics.empty() ? "" : ": " + result.diagnostics[0].message;
    throw Refused{std::string("the ") + side + " side of the goal is no program" + first};
  }
  return std::move(*result.program);
}

}  // namespace

Sides::Sides(const ProofGoal& goal, Guide& guide, std::function<void()> onWork)
    : kernel(guide), refines_(goal.refines) {
  kernel.onWork = std::move(onWork);
  const auto store = std::make_shared<tensor::NodeStore>();
  left_ = parsed(goal.left, store, "left");
  right_ = parsed(goal.right, store, "right");
  const bool same = std::equal(
      left_.parameters.begin(), left_.parameters.end(), right_.parameters.begin(), right_.parameters.end(),
      [](const auto& a, const auto& b) { return a.name == b.name && a.node == b.node; });
  if (!same) throw Refused{"the sides have different parameters"};
  if (left_.results.size() != right_.results.size())
    throw Refused{"the sides have different numbers of results"};
  asserts_ = distinctAsserts(left_, right_);
  dims_ = dimensionFacts(asserts_);
  forms_ = std::make_unique<Forms>(kernel, dims_, loops);
  assume(kernel, *forms_, dims_, asserts_, left_);
}

std::vector<std::string> Sides::assumptions() const {
  std::vector<std::string> result;
  for (const auto* p : asserts_) result.push_back(p->text);
  return result;
}

Sides::Result Sides::result(std::size_t at) {
  const tensor::NodeRef a = left_.results[at];
  const tensor::NodeRef b = right_.results[at];
  Result result;
  result.identical = a == b;
  if (result.identical) return result;
  if (!dims_.equal(a->shape, b->shape))
    throw Refused{"the shapes differ: " + tensor::text(a->shape) + " and " + tensor::text(b->shape)};
  // Equal as numbers; a step of the nu-graph must keep the type as well.
  result.typesDiffer = tensor::isReal(a->dtype) != tensor::isReal(b->dtype);
  if (refines_ && result.typesDiffer) throw Refused{"the types differ"};
  std::vector<PolyRef> index;
  for (const auto& extent : a->shape) {
    const PolyRef size = forms_->dim(extent);
    index.push_back(size == kernel.arena.one ? kernel.arena.zero : kernel.of(kernel.index(size, "i")));
  }
  const Value left = forms_->element(a, index);
  const Value right = forms_->element(b, index);
  // Where an element is infinite it is undefined: that is a matter of definedness.
  result.difference = kernel.subtract(left.p, right.p);
  for (const PolyRef infinite : {left.minus, left.plus}) {
    if (infinite != nullptr)
      result.difference = kernel.multiply(result.difference, kernel.negation(infinite));
  }
  result.left = forms_->definedness(left);
  result.right = forms_->definedness(right);
  return result;
}

namespace {

/// The instances of a record, in order.
class Tape : public Guide {
 public:
  explicit Tape(const json& entries) : entries_(entries) {}

  Instance next(Kernel&, const Fold& fold) override {
    ++used;
    if (kept_ > 0) {
      --kept_;
      return {};
    }
    if (at_ >= entries_.size())
      throw Refused{"the record ends before its goal is shown: no lemma for " + text(fold)};
    const json& entry = entries_[at_++];
    if (entry.contains("keep")) {
      const int count = entry.at("keep").get<int>();
      if (count < 1 || entry.size() != 1) throw Refused{"a faulty entry in the list of lemmas"};
      kept_ = count - 1;
      return {};
    }
    const auto lemma = parseLemma(entry.at("lemma").get_ref<const std::string&>());
    if (!lemma || *lemma == Lemma::keep)
      throw Refused{"unknown lemma " + entry.at("lemma").get<std::string>()};
    const std::string here = text(fold);
    if (entry.at("fold").get_ref<const std::string&>() != here)
      throw Refused{"a lemma is for " + entry.at("fold").get<std::string>() + ", but the fold is " + here};
    return {*lemma, entry.at("first").get<int>(), entry.at("second").get<int>()};
  }
  [[nodiscard]] bool finished() const { return kept_ == 0 && at_ == entries_.size(); }
  int used = 0;

 private:
  const json& entries_;
  std::size_t at_ = 0;
  int kept_ = 0;
};

/// Writes down the lemma instances that are used.
class Listing : public Witness {
 public:
  Listing(std::vector<LemmaUse>& uses, std::size_t most) : uses_(uses), most_(most) {}

  void begin(Kernel& kernel, const Fold& fold, const Instance& instance) override {
    open_.push_back({uses_.size(), {}});
    if (uses_.size() >= most_) return;
    Letters& letters = open_.back().letters;
    uses_.push_back({static_cast<int>(open_.size()) - 1, std::string(text(instance.lemma)), {}, {}, {}});
    uses_.back().before = readable(fold, letters);
    uses_.back().substitution = substitutionOf(kernel, fold, instance, letters);
  }
  void end(PolyRef result) override {
    Open& last = open_.back();
    if (last.at < most_) uses_[last.at].after = readable(result, last.letters);
    open_.pop_back();
  }

 private:
  struct Open {
    std::size_t at = 0;
    Letters letters;
  };
  std::vector<LemmaUse>& uses_;
  std::size_t most_;
  std::vector<Open> open_;
};

/// Takes the steps of one record.
class Replay {
 public:
  Replay(Sides& sides, Solver* solver, const json& record, ProofOutcome& outcome)
      : k_(sides.kernel),
        solver_(solver),
        obligations_(record.at("obligations")),
        loops_(record.at("loops")),
        outcome_(outcome) {}

  bool needsSolver = false;

  /// Throws Refused unless the step shows that p is 0 under the conditions and hypotheses.
  void zero(PolyRef p, const Conditions& conditions, const Hypotheses& zeros, const json& step, int depth) {
    if (depth > 120) throw Refused{"the steps are nested too deeply"};
    const auto& by = step.at("by").get_ref<const std::string&>();
    const auto then = [&](PolyRef q) { zero(q, conditions, zeros, step.at("then"), depth + 1); };
    if (by == "normal form") {
      if (!closes(k_, p)) throw Refused{"what is left is not zero: " + text(p)};
    } else if (by == "split index") {
      const auto splits = indexSplits(k_, p);
      const auto at = std::find_if(splits.begin(), splits.end(), [&](const IndexSplit& s) {
        return text(s.variable) == step.at("index").get_ref<const std::string&>() &&
               text(s.divisor) == step.at("divisor").get_ref<const std::string&>();
      });
      if (at == splits.end()) throw Refused{"no such index to split"};
      then(splitIndex(k_, p, *at));
    } else if (by == "S4 peel") {
      then(peeled(k_, p));
    } else if (const LateMove* late = lateMove(by)) {
      then(late->apply(k_, p));
    } else if (by == "residues") {
      ++outcome_.cases;
      const auto classes = residueClasses(k_, p);
      const json& steps = step.at("classes");
      if (classes.empty() || steps.size() != classes.size()) throw Refused{"another number of residues"};
      for (std::size_t i = 0; i < classes.size(); ++i)
        zero(classes[i], conditions, zeros, steps[i], depth + 1);
    } else if (by == "S0 congruence") {
      const auto groups = sumGroups(k_, p);
      const auto g = step.at("group").get<std::size_t>();
      if (g >= groups.size()) throw Refused{"no such group of sums"};
      zero(bodiesOf(k_, groups[g]), conditions, zeros, step.at("bodies"), depth + 1);
      then(withoutGroup(k_, p, groups[g]));
    } else if (by == "boundary") {
      then(atBoundary(k_, p, conditions));
    } else if (by == "known") {
      const AtomRef condition = named(p, step);
      const bool value = step.at("value").get<bool>();
      const PolyRef known = decided(condition);
      if (!known->isConstant() || (known->constant() == 1) != value)
        throw Refused{"the condition is not known: " + text(condition)};
      then(k_.setIndicator(p, condition, value));
    } else if (by == "cases") {
      ++outcome_.cases;
      const AtomRef condition = named(p, step);
      for (const bool value : {true, false}) {
        const Branch branch(k_, condition, value);
        Conditions more = conditions;
        more.emplace_back(condition, value);
        zero(inBranch(k_, p, condition, value), more, zeros, step.at(value ? "true" : "false"), depth + 1);
      }
    } else if (by == "folds anew") {
      then(foldedAnew(k_, p));
    } else if (by == "expansion") {
      then(expanded(k_, p));
    } else if (by == "induction") {
      ++outcome_.inductions;
      // With conditions about, a factor multiplied in may be 0 where its inverse is not read.
      const PolyRef q = k_.multipliedThrough(p);
      if (q != p && p->indicators) throw Refused{"an induction on a term with conditions and inverses"};
      const auto all = inductions(k_, q);
      const auto g = step.at("group").get<std::size_t>();
      if (g >= all.size()) throw Refused{"no such folds to induct on"};
      if (text(all[g].extent) != step.at("over").get_ref<const std::string&>())
        throw Refused{"the induction is over " + text(all[g].extent)};
      if (!conditions.empty() || !zeros.empty()) throw Refused{"an induction inside a case"};
      zero(inductionBase(k_, q, all[g]), {}, {}, step.at("base"), depth + 1);
      const InductionGoals goals = inductionStep(k_, q, all[g]);
      if (step.contains("solved")) {
        const auto prefix = step.at("solved").get<std::size_t>();
        const PolyRef left = prefix < goals.prefixes.size() ? solvedStep(k_, goals, prefix) : nullptr;
        if (left == nullptr) throw Refused{"the hypothesis cannot be solved for that prefix"};
        zero(left, {}, {}, step.at("step"), depth + 1);
      } else {
        zero(goals.step, {}, {goals.hypothesis}, step.at("step"), depth + 1);
      }
    } else if (by == "solver") {
      const PolyRef through = p->indicators ? p : k_.multipliedThrough(p);
      obligation({conditions, zeros, through}, step);
    } else if (by == "impossible") {
      obligation({conditions, {}, nullptr}, step);
    } else {
      throw Refused{"unknown step " + by};
    }
  }

  /// Every term of `to` is 1 where those of `from` are.
  void implied(const std::vector<PolyRef>& from, const std::vector<PolyRef>& to, const json& steps) {
    std::size_t at = 0;
    for (const PolyRef wanted : to) {
      if (wanted == k_.arena.one || std::find(from.begin(), from.end(), wanted) != from.end()) continue;
      if (std::find(from.begin(), from.end(), k_.arena.zero) != from.end()) continue;
      if (at >= steps.size()) throw Refused{"not shown to be defined: " + text(wanted)};
      const json& step = steps[at++];
      Hypotheses zeros;
      for (const PolyRef given : from) zeros.push_back(k_.negation(given));
      obligation({{}, zeros, k_.negation(wanted)}, step);
    }
    if (at != steps.size()) throw Refused{"steps about definedness are left over"};
  }

  /// The states of a loop in closed form, as the record builds them, shown by base and step.
  std::optional<std::vector<ClosedState>> loop(Forms& forms, tensor::NodeRef node) {
    LoopStates states(k_, forms, node);
    std::string why;
    const bool readable = states.read(why);
    if (nextLoop_ >= loops_.size()) throw Refused{"the record does not say how a loop is closed"};
    const json& entry = loops_[nextLoop_++];
    if (entry.is_null()) return std::nullopt;
    if (!readable) throw Refused{"a loop has no closed form: " + why};
    for (const json& form : entry.at("forms")) {
      const auto i = form.at("state").get<std::size_t>();
      if (i >= states.size() || states.closed(i)) throw Refused{"no such state of a loop"};
      const auto& kind = form.at("form").get_ref<const std::string&>();
      bool built = false;
      if (kind == "extremum") built = states.closeExtremum(i);
      if (kind == "product") built = states.closeProduct(i);
      if (kind == "carried") {
        const Telescope telescope{form.at("states").at(0).get<int>(), form.at("states").at(1).get<int>(),
                                  form.at("weight").get<int>(), form.at("sign").get<int>()};
        built = states.closeCarried(i, form.at("factor").get<std::size_t>(), telescope);
      }
      if (!built) throw Refused{"a loop's state has no such closed form"};
    }
    const json& shown = entry.at("shown");
    if (shown.size() != states.size()) throw Refused{"a loop has another number of states"};
    for (std::size_t i = 0; i < states.size(); ++i) {
      if (!states.closed(i)) throw Refused{"a loop's state is left without a closed form"};
      ++outcome_.inductions;
      zero(states.base(i), {}, {}, shown[i].at("base"), 0);
      if (const PolyRef step = states.step(i)) zero(step, {}, {}, shown[i].at("step"), 0);
      const auto needs = states.needs(i);
      const json& steps = shown[i].at("needs");
      if (steps.size() != needs.size()) throw Refused{"a loop's rounds are not shown to be defined"};
      for (std::size_t j = 0; j < needs.size(); ++j) zero(needs[j], {}, {}, steps[j], 0);
    }
    return states.result();
  }

  [[nodiscard]] bool finished() const { return next_ == obligations_.size() && nextLoop_ == loops_.size(); }

 private:
  AtomRef named(PolyRef p, const json& step) {
    for (const AtomRef condition : conditionsOf(k_, p)) {
      if (text(condition) == step.at("on").get_ref<const std::string&>()) return condition;
    }
    throw Refused{"there is no condition " + step.at("on").get<std::string>()};
  }

  PolyRef decided(AtomRef condition) {
    return condition->kind == Kind::notNegative ? k_.whenNotNegative(condition->parts[0])
           : condition->kind == Kind::positive  ? k_.whenPositive(condition->parts[0])
                                                : k_.whenZero(condition->parts[0]);
  }

  void obligation(const Obligation& o, const json& step) {
    const auto setup = parseSetup(step.at("setup").get_ref<const std::string&>());
    if (!setup) throw Refused{"unknown setup of a solver"};
    const Script s = script(k_, o, *setup != Setup::integer);
    if (next_ >= obligations_.size() || obligations_[next_].get_ref<const std::string&>() != s.file())
      throw Refused{"an obligation in the record is not the one that is needed"};
    ++next_;
    outcome_.obligations.push_back(s.file());
    const auto answer = solver_ == nullptr ? Solver::Answer::none : solver_->ask(s, *setup);
    if (answer == Solver::Answer::none) needsSolver = true;
    if (answer == Solver::Answer::other) throw Refused{"the solver does not close an obligation"};
  }

  Kernel& k_;
  Solver* solver_;
  const json& obligations_;
  const json& loops_;
  std::size_t nextLoop_ = 0;
  ProofOutcome& outcome_;
  std::size_t next_ = 0;
};

void replayInto(ProofOutcome& outcome, const json& record, Solver* solver, double secondsLimit,
                std::size_t mostUses) {
  using Clock = std::chrono::steady_clock;
  if (record.at("version").get<int>() != recordVersion ||
      record.at("semantics").get<int>() != semanticsVersion)
    throw Refused{"the record is of another version"};
  const json& goal = record.at("goal");
  const std::string mode = goal.at("mode").get<std::string>();
  if (mode != "equal" && mode != "refines") throw Refused{"the mode is neither equal nor refines"};
  outcome.goal.refines = mode == "refines";
  outcome.goal.left = goal.at("left").get<std::string>();
  outcome.goal.right = goal.at("right").get<std::string>();
  Tape tape(record.at("lemmas"));
  const auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(secondsLimit));
  unsigned calls = 0;
  Sides sides(outcome.goal, tape, [&] {
    if (++calls % 256 == 0 && Clock::now() > deadline)
      throw Refused{"the replay takes longer than its limit"};
  });
  Listing listing(outcome.uses, mostUses);
  if (mostUses > 0) sides.kernel.witness = &listing;
  outcome.assumptions = sides.assumptions();
  if (goal.at("assumptions").get<std::vector<std::string>>() != outcome.assumptions)
    throw Refused{"the assumptions are not those of the programs"};
  const json& results = record.at("results");
  if (results.size() != sides.results()) throw Refused{"the record is about another number of results"};
  Replay replay(sides, solver, record, outcome);
  sides.loops = [&](Forms& forms, tensor::NodeRef loop) { return replay.loop(forms, loop); };
  bool typesDiffer = false;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Sides::Result result = sides.result(i);
    typesDiffer = typesDiffer || result.typesDiffer;
    if (result.identical) {
      if (!results[i].at("identity").get<bool>())
        throw Refused{"both sides are the same graph, and the record says otherwise"};
      continue;
    }
    if (results[i].at("difference").get_ref<const std::string&>() != text(result.difference))
      throw Refused{"the difference is " + text(result.difference)};
    replay.zero(result.difference, {}, {}, results[i].at("zero"), 0);
    const json& defined = results[i].at("defined");
    if (defined.size() != 2) throw Refused{"definedness has two directions"};
    replay.implied(result.left, result.right, defined.at(0));
    if (outcome.goal.refines) {
      if (!defined.at(1).empty()) throw Refused{"a refinement needs one direction of definedness only"};
    } else {
      replay.implied(result.right, result.left, defined.at(1));
    }
  }
  if (!tape.finished() || !replay.finished()) throw Refused{"steps are left over"};
  outcome.lemmas = tape.used;
  outcome.status = replay.needsSolver ? ProofOutcome::Status::needsSolver : ProofOutcome::Status::confirmed;
  outcome.why = replay.needsSolver ? "every step is valid, but the z3 program is needed for the obligations"
                                   : (outcome.goal.refines ? "the right side refines the left one"
                                      : typesDiffer ? "the sides are equal as numbers; their types differ"
                                                    : "the sides are equal");
}

}  // namespace

bool isProofRecord(std::string_view text) {
  return text.substr(0, 4096).find(proofKind) != std::string_view::npos;
}

ProofOutcome replayProof(std::string_view text, Solver* solver, double secondsLimit, std::size_t mostUses) {
  const auto begin = std::chrono::steady_clock::now();
  ProofOutcome outcome;
  try {
    if (text.size() > recordLimit) throw Refused{"the record is larger than 2 MiB"};
    const json record = json::parse(text);
    if (record.at("kind").get<std::string>() != proofKind) throw Refused{"this is no proof record"};
    replayInto(outcome, record, solver, secondsLimit, mostUses);
  } catch (const Refused& refused) {
    outcome.status = ProofOutcome::Status::refused;
    outcome.why = refused.reason;
  } catch (const json::exception& error) {
    outcome.status = ProofOutcome::Status::refused;
    outcome.why = std::string("a faulty record: ") + error.what();
  } catch (const UserError& error) {
    outcome.status = ProofOutcome::Status::refused;
    outcome.why = error.what();
  }
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return outcome;
}

}  // namespace nuscope::replay
