#include "core/record/record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/diagnostics.h"
#include "core/language/printer.h"
#include "core/replay/late_moves.h"
#include "core/replay/loops.h"

namespace nuscope::record {
namespace {

using nlohmann::json;
using namespace replay;

/// Looks for a lemma that fits a fold, and writes down what was used.
class Searching : public Guide {
 public:
  struct Entry {
    Instance instance;
    std::string fold;
  };
  std::vector<Entry> tape;

  Instance next(Kernel& kernel, const Fold& fold) override {
    const std::string here = text(fold);
    const std::size_t mark = tape.size();
    const int fresh = kernel.fresh;
    for (const Instance& candidate : candidates(fold)) {
      const bool fits = kernel.apply(fold, candidate, true) != nullptr;
      tape.resize(mark);
      kernel.fresh = fresh;
      if (!fits) continue;
      tape.push_back({candidate, here});
      return candidate;
    }
    tape.push_back({{}, here});
    return {};
  }

 private:
  static std::vector<Instance> candidates(const Fold& fold) {
    std::vector<Instance> result;
    const int n = static_cast<int>(fold.variables.size());
    const auto each = [&](Lemma lemma, int seconds) {
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < seconds; ++j) result.push_back({lemma, i, j});
      }
    };
    const auto factorsOf = [&](Lemma lemma, Kind kind) {
      const auto& factors = fold.body->terms[0].first->factors;
      for (int j = 0; j < static_cast<int>(factors.size()); ++j) {
        if (factors[static_cast<std::size_t>(j)].first->kind != kind) continue;
        for (int i = 0; i < n; ++i) result.push_back({lemma, i, j});
      }
    };
    if (fold.kind == Kind::sum) {
      each(Lemma::tile, 4);
      each(Lemma::count, n);
      factorsOf(Lemma::delta, Kind::isZeroInteger);
      factorsOf(Lemma::range, Kind::notNegative);
      each(Lemma::merge, n);
      each(Lemma::powers, 1);
      each(Lemma::shift, 1);
    } else if (fold.kind == Kind::maxFold) {
      each(Lemma::unused, 1);
      result.push_back({Lemma::addends, 0, 0});
      each(Lemma::tile, 4);
      each(Lemma::guardRange, 4);
      for (int j = 0; j < 8; ++j) result.push_back({Lemma::condition, 0, j});
      each(Lemma::splitRange, 8);
      each(Lemma::mirror, 1);
      result.push_back({Lemma::outward, 0, 0});
      each(Lemma::oneAtATime, 1);
      result.push_back({Lemma::factors, 0, 0});
      each(Lemma::merge, n);
    } else {
      if (fold.body->indicators) each(Lemma::unused, 1);
      if (fold.body->indicators) each(Lemma::vanishes, 2);
      if (fold.body->indicators) each(Lemma::splitRange, 8);
      each(Lemma::mirror, 1);
      each(Lemma::tile, 4);
      each(Lemma::merge, n);
    }
    return result;
  }
};

struct Context {
  Conditions conditions;
  Hypotheses zeros;
};

class Search {
 public:
  Search(Kernel& kernel, Searching& guide, Solver* solver) : k_(kernel), guide_(guide), solver_(solver) {}

  std::vector<std::string> obligations;
  json loops = json::array();
  std::string deepest;  ///< what was left where the search ended

  bool zero(PolyRef p, const Context& c, int depth, json& out) {
    PolyRef q = p;
    json* at = &out;
    if (attempt([&] { return closes(k_, q); })) return by(*at, "normal form");
    // Output indices by the divisors of their extents.
    for (int round = 0; round < 4; ++round) {
      const auto splits = indexSplits(k_, q);
      if (splits.empty()) break;
      (*at)["by"] = "split index";
      (*at)["index"] = text(splits[0].variable);
      (*at)["divisor"] = text(splits[0].divisor);
      q = splitIndex(k_, q, splits[0]);
      at = &(*at)["then"];
      if (attempt([&] { return closes(k_, q); })) return by(*at, "normal form");
    }
    if (attempt([&] { return peel(q, c, depth, *at); })) return true;
    if (depth == 0 && attempt([&] { return late(q, c, *at); })) return true;
    if (attempt([&] { return congruence(q, c, depth, *at); })) return true;
    if (q->indicators && attempt([&] { return branch(q, c, 0, *at); })) return true;
    if (attempt([&] { return expand(q, c, *at); })) return true;
    if (depth < 2 && c.conditions.empty() && c.zeros.empty() &&
        attempt([&] { return induct(q, depth, *at); }))
      return true;
    if (attempt([&] { return solve(q, c, *at); })) return true;
    if (deepest.empty()) deepest = text(q);
    return false;
  }

  /// Where one side is not defined at the same places by the normal form alone.
  bool implied(const std::vector<PolyRef>& from, const std::vector<PolyRef>& to, json& steps) {
    steps = json::array();
    for (const PolyRef wanted : to) {
      if (wanted == k_.arena.one || std::find(from.begin(), from.end(), wanted) != from.end()) continue;
      if (std::find(from.begin(), from.end(), k_.arena.zero) != from.end()) continue;
      Hypotheses zeros;
      for (const PolyRef given : from) zeros.push_back(k_.negation(given));
      json step;
      if (!ask({{}, zeros, k_.negation(wanted)}, step)) {
        deepest = "definedness: " + text(wanted);
        return false;
      }
      steps.push_back(step);
    }
    return true;
  }

  /// Closed forms that can be shown, found by trying; then built anew as the replay will build them.
  std::optional<std::vector<ClosedState>> loop(Forms& forms, tensor::NodeRef node) {
    json entry;
    attempt([&] {
      entry = closedForms(forms, node);
      return false;  // taken back: only the choice is kept
    });
    LoopStates states(k_, forms, node);
    std::string why;
    const bool readable = states.read(why);
    if (!readable || entry.is_null()) {
      loops.push_back(nullptr);
      return std::nullopt;
    }
    for (const json& form : entry["forms"]) build(states, form);
    entry["shown"] = json::array();
    for (std::size_t i = 0; i < states.size(); ++i) {
      json shown;
      if (!zero(states.base(i), {}, 1, shown["base"])) throw Refused{"a loop's first round is not shown"};
      const PolyRef step = states.step(i);
      if (step != nullptr && !zero(step, {}, 1, shown["step"])) throw Refused{"a loop's step is not shown"};
      shown["needs"] = json::array();
      for (const PolyRef need : states.needs(i)) {
        if (!zero(need, {}, 1, shown["needs"].emplace_back()))
          throw Refused{"a loop's rounds are not shown to be defined"};
      }
      entry["shown"].push_back(shown);
    }
    loops.push_back(entry);
    return states.result();
  }

 private:
  static bool build(LoopStates& states, const json& form) {
    const auto i = form["state"].get<std::size_t>();
    if (form["form"] == "extremum") return states.closeExtremum(i);
    if (form["form"] == "product") return states.closeProduct(i);
    return states.closeCarried(i, form["factor"].get<std::size_t>(),
                               {form["states"][0].get<int>(), form["states"][1].get<int>(),
                                form["weight"].get<int>(), form["sign"].get<int>()});
  }

  json closedForms(Forms& forms, tensor::NodeRef node) {
    LoopStates states(k_, forms, node);
    std::string why;
    if (!states.read(why)) return nullptr;
    json entry;
    entry["forms"] = json::array();
    std::size_t open = states.size();
    for (bool progress = true; progress && open > 0;) {
      progress = false;
      for (std::size_t i = 0; i < states.size(); ++i) {
        if (states.closed(i)) continue;
        const json form = closedForm(states, i);
        if (form.is_null()) continue;
        entry["forms"].push_back(form);
        progress = true;
        --open;
      }
    }
    if (open > 0) return nullptr;
    for (std::size_t i = 0; i < states.size(); ++i) {
      for (const PolyRef need : states.needs(i)) {
        json unused;
        if (!zero(need, {}, 2, unused)) return nullptr;
      }
    }
    return entry;
  }

  json closedForm(LoopStates& states, std::size_t i) {
    std::vector<json> candidates{json{{"state", i}, {"form", "extremum"}},
                                 json{{"state", i}, {"form", "product"}}};
    const std::size_t factors = states.factors(i);
    for (std::size_t f = 0; f < factors; ++f) {
      if (!attempt([&] { return states.carries(i, f); })) continue;
      const auto carried = [&](int first, int second, int weight, int sign) {
        candidates.push_back({{"state", i},
                              {"form", "carried"},
                              {"factor", f},
                              {"states", {first, second}},
                              {"weight", weight},
                              {"sign", sign}});
      };
      constexpr int most = 3;  // states in a gain
      carried(-1, -1, 0, 1);
      for (int first = 0; first < most; ++first) {
        for (int second = first; second < most; ++second) {
          for (int weight = 0; weight < 2 + most; ++weight) {
            for (const int sign : {1, -1}) carried(first, second, weight, sign);
          }
        }
      }
    }
    for (const json& form : candidates) {
      const bool fits = attempt([&] {
        states.reopen(i);
        if (!build(states, form) || !states.ready(i)) return false;
        json unused;
        if (!zero(states.base(i), {}, 2, unused)) return false;
        const PolyRef step = states.step(i);
        return step == nullptr || zero(step, {}, 2, unused);
      });
      if (fits) return form;
      states.reopen(i);
    }
    return nullptr;
  }

  static bool by(json& out, std::string_view what) {
    out = json::object();
    out["by"] = std::string(what);
    return true;
  }

  /// Takes back what a failed attempt used, so that the replay meets the same names.
  template <class F>
  bool attempt(F f) {
    const std::size_t tape = guide_.tape.size();
    const std::size_t asked = obligations.size();
    const std::size_t looped = loops.size();
    const int fresh = k_.fresh;
    bool done = false;
    try {
      done = f();
    } catch (const Refused& refused) {
      if (refused.reason == outOfTime) throw;
    }
    if (done) return true;
    guide_.tape.resize(tape);
    obligations.resize(asked);
    while (loops.size() > looped) loops.erase(loops.size() - 1);
    k_.fresh = fresh;
    return false;
  }

  bool peel(PolyRef p, const Context& c, int depth, json& out) {
    const PolyRef q = peeled(k_, p);
    if (q == p) return false;
    by(out, "S4 peel");
    if (attempt([&] { return closes(k_, q); })) return by(out["then"], "normal form");
    if (depth >= 3) return false;
    return zero(q, c, depth + 1, out["then"]);
  }

  /// Each rewriting is tried once on the way.
  bool late(PolyRef p, const Context& c, json& out) {
    for (const LateMove& move : lateMoves()) {
      const bool done = attempt([&] {
        const PolyRef q = move.apply(k_, p);
        if (q == p || !rewritten_.insert(q).second) return false;
        by(out, move.lemma);
        return zero(q, c, 0, out["then"]);
      });
      if (done) return true;
    }
    return attempt([&] { return residues(p, c, out); });
  }

  bool residues(PolyRef p, const Context& c, json& out) {
    by(out, "residues");
    const auto classes = residueClasses(k_, p);
    out["classes"] = json::array();
    return !classes.empty() && std::all_of(classes.begin(), classes.end(), [&](PolyRef q) {
      json& step = out["classes"].emplace_back();
      if (attempt([&] { return closes(k_, q); })) return by(step, "normal form");
      return q->indicators && attempt([&] { return branch(q, c, 0, step); });
    });
  }

  bool congruence(PolyRef p, const Context& c, int depth, json& out) {
    const auto groups = sumGroups(k_, p);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      by(out, "S0 congruence");
      out["group"] = g;
      const bool same = attempt([&] {
        const PolyRef body = bodiesOf(k_, groups[g]);
        return pointwise(body, c, out["bodies"]);
      });
      if (!same) continue;
      const PolyRef rest = withoutGroup(k_, p, groups[g]);
      if (attempt([&] { return closes(k_, rest); })) return by(out["then"], "normal form");
      if (attempt([&] { return congruence(rest, c, depth, out["then"]); })) return true;
      if (depth < 3 && attempt([&] { return zero(rest, c, depth + 1, out["then"]); })) return true;
      return false;
    }
    return false;
  }

  bool pointwise(PolyRef body, const Context& c, json& out) {
    if (attempt([&] { return closes(k_, body); })) return by(out, "normal form");
    if (body->indicators) return attempt([&] { return branch(body, c, 0, out); });
    bool worth = false;
    visit(
        body,
        [&](AtomRef a) {
          worth = worth || a->kind == Kind::maximum || a->kind == Kind::abs || a->kind == Kind::floor ||
                  a->kind == Kind::rint;
        },
        false);
    return worth && solve(body, c, out);
  }

  bool branch(PolyRef p, const Context& c, int level, json& out) {
    if (attempt([&] { return closes(k_, p); })) return by(out, "normal form");
    if (level > 12) return false;
    const PolyRef there = atBoundary(k_, p, c.conditions);
    if (there != p) {
      by(out, "boundary");
      return branch(there, c, level + 1, out["then"]);
    }
    const auto conditions = conditionsOf(k_, p);
    // What is known of the indices may close folds otherwise; conditions on values speak of folds.
    const auto onIndices =
        std::find_if(conditions.begin(), conditions.end(), [](AtomRef a) { return isOnIndices(a); });
    if (onIndices == conditions.end() && attempt([&] { return anew(p, c, level, out); })) return true;
    if (conditions.empty()) return leaf(p, c, out);
    if (conditions.size() > 8) return false;
    const AtomRef condition = onIndices == conditions.end() ? conditions[0] : *onIndices;
    const PolyRef known = condition->kind == Kind::notNegative ? k_.whenNotNegative(condition->parts[0])
                          : condition->kind == Kind::positive  ? k_.whenPositive(condition->parts[0])
                                                               : k_.whenZero(condition->parts[0]);
    if (known->isConstant()) {
      by(out, "known");
      const bool value = known->constant() == 1;
      out["on"] = text(condition);
      out["value"] = value;
      return branch(k_.setIndicator(p, condition, value), c, level + 1, out["then"]);
    }
    by(out, "cases");
    out["on"] = text(condition);
    for (const bool value : {true, false}) {
      const Branch facts(k_, condition, value);
      Context more = c;
      more.conditions.emplace_back(condition, value);
      json& side = out[value ? "true" : "false"];
      if (attempt([&] { return branch(inBranch(k_, p, condition, value), more, level + 1, side); })) continue;
      // Perhaps the branch cannot be taken.
      by(side, "impossible");
      inBranch(k_, p, condition, value);  // the replay takes this step first
      if (!ask({more.conditions, {}, nullptr}, side)) return false;
    }
    return true;
  }

  static bool isOnIndices(AtomRef condition) {
    return condition->kind == Kind::notNegative || condition->kind == Kind::isZeroInteger;
  }

  bool anew(PolyRef p, const Context& c, int level, json& out) {
    const bool known = std::any_of(c.conditions.begin(), c.conditions.end(),
                                   [](const auto& condition) { return isOnIndices(condition.first); });
    const PolyRef q = known ? foldedAnew(k_, p) : p;
    if (q == p) return false;
    by(out, "folds anew");
    const PolyRef r = peeled(k_, q);
    json* then = &out["then"];
    if (r != q) {
      by(*then, "S4 peel");
      then = &(*then)["then"];
    }
    return branch(r, c, level + 1, *then);
  }

  bool leaf(PolyRef p, const Context& c, json& out) {
    if (attempt([&] { return congruence(p, c, 3, out); })) return true;
    return solve(p, c, out);
  }

  bool expand(PolyRef p, const Context& c, json& out) {
    bool functions = p->indicators;  // there may be maxima inside conditions
    visit(
        p,
        [&](AtomRef a) {
          functions = functions || a->kind == Kind::exp || a->kind == Kind::log || a->kind == Kind::sqrt ||
                      a->kind == Kind::quotient;
        },
        false);
    if (!functions) return false;
    const PolyRef q = expanded(k_, p);
    if (q == p) return false;
    by(out, "expansion");
    return branch(q, c, 0, out["then"]);
  }

  bool induct(PolyRef whole, int depth, json& out) {
    const PolyRef p = k_.multipliedThrough(whole);
    if (p != whole && whole->indicators) return false;
    const auto all = inductions(k_, p);
    for (std::size_t g = 0; g < all.size(); ++g) {
      if (attempt([&] { return inductOver(p, all[g], g, depth, out); })) return true;
    }
    return false;
  }

  bool inductOver(PolyRef p, const Induction& induction, std::size_t g, int depth, json& out) {
    by(out, "induction");
    out["group"] = g;
    out["over"] = text(induction.extent);
    const PolyRef base = inductionBase(k_, p, induction);
    if (!zero(base, {}, depth + 1, out["base"])) return false;
    const InductionGoals goals = inductionStep(k_, p, induction);
    for (std::size_t i = 0; i < goals.prefixes.size(); ++i) {
      const bool done = attempt([&] {
        const PolyRef left = solvedStep(k_, goals, i);
        if (left == nullptr) return false;
        out["solved"] = i;
        return zero(left, {}, depth + 1, out["step"]);
      });
      if (done) return true;
    }
    out.erase("solved");
    return solve(goals.step, {{}, {goals.hypothesis}}, out["step"]);
  }

  bool solve(PolyRef p, const Context& c, json& out) {
    const PolyRef through = p->indicators ? p : k_.multipliedThrough(p);
    if (!fitForSolver(through)) return false;
    by(out, "solver");
    return ask({c.conditions, c.zeros, through}, out);
  }

  bool ask(const Obligation& o, json& out) {
    if (solver_ == nullptr) return false;
    for (const Setup setup : {Setup::real, Setup::nlsat, Setup::integer}) {
      const bool done = attempt([&] {
        const Script s = script(k_, o, setup != Setup::integer);
        if (answerOf(s, setup) != Solver::Answer::unsat) return false;
        obligations.push_back(s.file());
        return true;
      });
      if (!done) continue;
      out["setup"] = std::string(text(setup));
      return true;
    }
    return false;
  }

  /// A search comes to one obligation in many ways; a solver's process is started for the first.
  Solver::Answer answerOf(const Script& s, Setup setup) {
    const auto key = std::pair(setup, s.hypotheses + s.goal);
    const auto known = answers_.find(key);
    if (known != answers_.end()) return known->second;
    return answers_[key] = solver_->ask(s, setup);
  }

  Kernel& k_;
  Searching& guide_;
  Solver* solver_;
  std::map<std::pair<Setup, std::string>, Solver::Answer> answers_;
  std::set<PolyRef> rewritten_;

 public:
  static constexpr const char* outOfTime = "no record was found within the time";
};

json lemmasOf(const std::vector<Searching::Entry>& tape) {
  json list = json::array();
  int kept = 0;
  const auto flush = [&] {
    if (kept > 0) list.push_back({{"keep", kept}});
    kept = 0;
  };
  for (const auto& [instance, fold] : tape) {
    if (instance.lemma == Lemma::keep) {
      ++kept;
      continue;
    }
    flush();
    list.push_back({{"lemma", std::string(text(instance.lemma))},
                    {"first", instance.first},
                    {"second", instance.second},
                    {"fold", fold}});
  }
  flush();
  return list;
}

}  // namespace

ProofGoal goalOf(const tensor::Program& left, const tensor::Program& right, bool refines) {
  return {refines, language::print(left, left.results).text, language::print(right, right.results).text};
}

Attempt recordProof(const ProofGoal& goal, Solver* solver, double secondsLimit, const Progress& progress) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const auto deadline =
      begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(secondsLimit));
  Attempt attempt;
  try {
    Searching guide;
    unsigned calls = 0;
    Sides sides(goal, guide, [&] {
      if (++calls % 128 != 0) return;
      progress.check();
      if (Clock::now() > deadline) throw Refused{Search::outOfTime};
    });
    Search search(sides.kernel, guide, solver);
    sides.loops = [&](Forms& forms, tensor::NodeRef loop) { return search.loop(forms, loop); };
    json record;
    record["kind"] = std::string(proofKind);
    record["version"] = recordVersion;
    record["semantics"] = semanticsVersion;
    record["goal"] = {{"mode", goal.refines ? "refines" : "equal"},
                      {"left", goal.left},
                      {"right", goal.right},
                      {"assumptions", sides.assumptions()}};
    record["results"] = json::array();
    for (std::size_t i = 0; i < sides.results(); ++i) {
      const Sides::Result result = sides.result(i);
      if (result.identical) {
        record["results"].push_back({{"identity", true}});
        continue;
      }
      json entry;
      entry["difference"] = text(result.difference);
      if (!search.zero(result.difference, {}, 0, entry["zero"]))
        throw Refused{"what is left is not shown to be zero: " + search.deepest};
      json there = json::array();
      json back = json::array();
      if (!search.implied(result.left, result.right, there) ||
          (!goal.refines && !search.implied(result.right, result.left, back)))
        throw Refused{"not shown to be defined at the same inputs: " + search.deepest};
      entry["defined"] = json::array({there, back});
      record["results"].push_back(entry);
    }
    record["loops"] = search.loops;
    record["lemmas"] = lemmasOf(guide.tape);
    record["obligations"] = search.obligations;
    attempt.record = record.dump(1, ' ', false, json::error_handler_t::replace);
    if (attempt.record.size() > recordLimit) {
      attempt.record.clear();
      attempt.why = "not replayable: the record would be larger than 2 MiB";
    }
  } catch (const Refused& refused) {
    attempt.why = "not replayable: " + refused.reason;
  } catch (const UserError& error) {
    attempt.why = std::string("not replayable: ") + error.what();
  }
  attempt.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return attempt;
}

std::string holdsFor(const std::vector<std::string>& dimensions,
                     const std::vector<std::string>& assumptions) {
  std::string result =
      dimensions.empty() ? "all inputs" : fmt::format("all {} >= 1", fmt::join(dimensions, ", "));
  if (!assumptions.empty()) result += fmt::format(" with {}", fmt::join(assumptions, " and "));
  return result;
}

Recording confirmedRecord(const ProofGoal& goal, Solver* solver, double secondsLimit,
                          const Progress& progress, std::size_t mostUses) {
  Recording result;
  Attempt attempt = recordProof(goal, solver, secondsLimit, progress);
  result.why = attempt.why;
  result.seconds = attempt.seconds;
  if (attempt.record.empty()) return result;
  ProofOutcome outcome = replayProof(attempt.record, solver, secondsLimit, mostUses);
  result.seconds += outcome.seconds;
  result.replayable = outcome.status == ProofOutcome::Status::confirmed && outcome.goal == goal;
  if (!result.replayable) {
    result.why = "not replayable: " + outcome.why;
    return result;
  }
  result.record = std::move(attempt.record);
  result.obligations = std::move(outcome.obligations);
  result.assumptions = std::move(outcome.assumptions);
  result.uses = std::move(outcome.uses);
  result.lemmas = outcome.lemmas;
  return result;
}

}  // namespace nuscope::record
