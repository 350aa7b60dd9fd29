// Changed records. What is still accepted must be a proof of the goal that it prints: either that goal is the
// untouched one, or draws find nothing against it.
#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "core/base/diagnostics.h"
#include "core/language/parse.h"
#include "core/proof/refute.h"
#include "core/record/record.h"
#include "tests/need_cases.h"
#include "tests/replay/proof_cases.h"

namespace nuscope::record {
namespace {

using nlohmann::json;
using replay::ProofOutcome;
using Status = ProofOutcome::Status;

const std::vector<std::string> corpora{"rewrites", "float_traps", "streams"};

/// One obligation may be asked thousands of times by changed records: each text is asked once.
class Remembering : public replay::Solver {
 public:
  Answer ask(const replay::Script& script, replay::Setup setup) override {
    const auto key = std::make_pair(script.file(), setup);
    const auto known = answers_.find(key);
    if (known != answers_.end()) return known->second;
    return answers_[key] = z3_.ask(script, setup);
  }

 private:
  replay::Z3Program z3_{std::chrono::milliseconds(1000)};
  std::map<std::pair<std::string, replay::Setup>, Answer> answers_;
};

struct Recorded {
  Case given;
  json record;
};

std::vector<Recorded> records(replay::Solver& solver, const std::vector<std::string>& from = corpora) {
  std::vector<Recorded> result;
  for (const auto& corpus : from) {
    for (const Case& c : casesOf(corpus)) {
      if (!c.provable) continue;
      const Attempt attempt = recordProof(c.goal, &solver);
      if (attempt.record.empty()) continue;
      result.push_back({c, json::parse(attempt.record)});
    }
  }
  return result;
}

/// All values of a record that a change may touch; of those under a key only, if one is given.
void collect(json& node, const std::set<std::string>& keys, bool under, std::vector<json*>& into) {
  if (under) into.push_back(&node);
  if (node.is_object()) {
    for (auto& [key, value] : node.items())
      collect(value, keys, keys.empty() ? under : keys.contains(key), into);
  } else if (node.is_array()) {
    for (auto& value : node) collect(value, keys, under, into);
  }
}

/// One change of a record. There is no checksum to seal anew; what the checker computes itself and compares
/// is set right by `sealed`, below.
class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  /// Says of which kind the change is.
  std::string change(json& record) {
    switch (pick(8)) {
      case 0:
        return number(record, {}, "number");
      case 1:
        return number(record, {"first", "second", "group", "solved", "state", "factor", "states", "weight"},
                      "index");
      case 2:
        return lemma(record);
      case 3:
        return bound(record);
      case 4:
        return editedGoal(record);
      case 5:
        return exchange(record);
      default:
        return anything(record);
    }
  }

 private:
  std::size_t pick(std::size_t n) { return random_() % n; }

  std::vector<json*> valuesOf(json& record, const std::set<std::string>& keys, bool (*fits)(const json&)) {
    std::vector<json*> all;
    collect(record, keys, keys.empty(), all);
    std::erase_if(all, [&](json* value) { return !fits(*value); });
    return all;
  }
  static bool isNumber(const json& value) { return value.is_number_integer(); }
  static bool isText(const json& value) { return value.is_string(); }

  std::string number(json& record, const std::set<std::string>& keys, const char* kind) {
    const auto all = valuesOf(record, keys, isNumber);
    if (all.empty()) return "nothing";
    json& node = *all[pick(all.size())];
    node = node.get<long>() + (pick(2) == 0 ? 1 : -1) * static_cast<long>(1 + pick(2));
    return kind;
  }

  std::string lemma(json& record) {
    static const std::vector<std::string> names{
        "S5 tile",     "S3 count", "S6 delta",   "S7 range",   "S5 merge",      "S10 powers",
        "S8 shift",    "S4 split", "M1 addends", "S8 mirror",  "M3 M6 outward", "M2 factors",
        "normal form", "cases",    "solver",     "impossible", "induction",     "S4 write out",
        "S5 lanes",    "M3 union", "L angles",   "residues",   "S0 congruence", "S4 peel",
        "boundary",    "known",    "expansion",  "split index"};
    const auto all = valuesOf(record, {"lemma", "by"}, isText);
    if (all.empty()) return "nothing";
    *all[pick(all.size())] = names[pick(names.size())];
    return "lemma";
  }

  /// A number or a dimension in an extent: of a fold in a lemma, or of the programs of the goal.
  std::string bound(json& record) {
    const auto all = valuesOf(record, {"fold", "over", "divisor", "left", "right"}, isText);
    if (all.empty()) return "nothing";
    json& node = *all[pick(all.size())];
    auto text = node.get<std::string>();
    std::vector<std::size_t> places;
    for (std::size_t at = 0; at < text.size(); ++at) {
      const bool alone =
          (at == 0 || std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0) &&
          (at + 1 == text.size() || std::isalnum(static_cast<unsigned char>(text[at + 1])) == 0);
      if (alone && std::string_view("0123456789MNKTPBHD").find(text[at]) != std::string_view::npos)
        places.push_back(at);
    }
    if (places.empty()) return "nothing";
    const std::size_t at = places[pick(places.size())];
    static const std::vector<std::string> values{"0", "1", "2", "3", "4", "M", "N", "K", "N - 1", "K + 1"};
    text.replace(at, 1, values[pick(values.size())]);
    node = text;
    return "bound";
  }

  std::string editedGoal(json& record) {
    auto& text = record["goal"][pick(2) == 0 ? "left" : "right"];
    text = edited(text.get<std::string>());
    return "goal edited";
  }

  std::string exchange(json& record) {
    const auto all = valuesOf(record, {}, isText);
    *all[pick(all.size())] = json(*all[pick(all.size())]);
    return "text exchanged";
  }

  std::string anything(json& record) {
    std::vector<json*> all;
    collect(record, {}, true, all);
    all.erase(all.begin());
    json& node = *all[pick(all.size())];
    switch (node.type()) {
      case json::value_t::number_integer:
      case json::value_t::number_unsigned:
        node = node.get<long>() * 2 + 1;
        return "number";
      case json::value_t::boolean:
        node = !node.get<bool>();
        return "boolean";
      case json::value_t::string:
        node = edited(node.get<std::string>());
        return "text edited";
      case json::value_t::array:
        if (node.empty()) {
          node.push_back(json(*all[pick(all.size())]));
          return "entry added";
        }
        if (pick(2) == 0) {
          node.erase(pick(node.size()));
          return "entry removed";
        }
        node.push_back(json(node[pick(node.size())]));
        return "entry doubled";
      case json::value_t::object: {
        if (node.empty()) return "nothing";
        auto at = node.begin();
        std::advance(at, pick(node.size()));
        if (pick(2) == 0) {
          node.erase(at);
          return "key removed";
        }
        *at = json(*all[pick(all.size())]);
        return "subtree exchanged";
      }
      default:
        node = json::object();
        return "null filled";
    }
  }

  std::string edited(std::string text) {
    if (text.empty()) return "x";
    const std::size_t at = pick(text.size());
    static constexpr std::string_view characters = "0123456789+-*/()[]<>=xywkNMK. ";
    switch (pick(3)) {
      case 0:
        text.erase(at, 1);
        break;
      case 1:
        text.insert(at, 1, characters[pick(characters.size())]);
        break;
      default:
        text[at] = characters[pick(characters.size())];
    }
    return text;
  }

  std::mt19937_64 random_;
};

/// What the checker says it computed is written into the record where the two differ. True if something was.
bool sealed(json& record, const ProofOutcome& outcome) {
  const std::string difference = "the difference is ";
  const std::string lemma = "a lemma is for ";
  const std::string fold = ", but the fold is ";
  try {
    if (outcome.why == "the assumptions are not those of the programs") {
      record.at("goal").at("assumptions") = outcome.assumptions;
      return true;
    }
    if (outcome.why.starts_with(difference)) {
      for (json& result : record.at("results")) {
        if (!result.contains("difference") || result["difference"] == outcome.why.substr(difference.size()))
          continue;
        result["difference"] = outcome.why.substr(difference.size());
        return true;
      }
    }
    const std::size_t but = outcome.why.find(fold);
    if (outcome.why.starts_with(lemma) && but != std::string::npos) {
      const std::string stated = outcome.why.substr(lemma.size(), but - lemma.size());
      for (json& entry : record.at("lemmas")) {
        if (!entry.contains("fold") || entry["fold"] != stated) continue;
        entry["fold"] = outcome.why.substr(but + fold.size());
        return true;
      }
    }
  } catch (const json::exception&) {
    return false;  // no place to write to
  }
  return false;
}

ProofOutcome replayedAndSealed(json& record, replay::Solver& solver) {
  ProofOutcome outcome = replay::replayProof(record.dump(), &solver);
  for (int round = 0; round < 12 && outcome.status == Status::refused && sealed(record, outcome); ++round)
    outcome = replay::replayProof(record.dump(), &solver);
  return outcome;
}

/// Do draws find inputs at which the goal is false?
bool refutedByDraws(const replay::ProofGoal& goal) {
  const auto store = std::make_shared<tensor::NodeStore>();
  const auto left = language::parse(goal.left, store);
  const auto right = language::parse(goal.right, store);
  if (!left.program || !right.program) return true;
  proof::RefuteOptions options;
  options.mode = goal.refines ? proof::Mode::refines : proof::Mode::equal;
  options.lastDraw = 300;
  return proof::refute(*left.program, *right.program, options, {}).counterexample.has_value();
}

void changedRecords(const std::vector<std::string>& from, int each, std::uint64_t seed) {
  Remembering solver;
  auto originals = records(solver, from);
  if (originals.empty()) GTEST_SKIP() << "no cases at " << NUSCOPE_SHARED_DIR;
  Mutator mutator(seed);
  std::map<std::string, std::pair<int, int>> byKind;  // accepted, refused
  int accepted = 0;
  int otherGoal = 0;
  int refused = 0;
  for (const Recorded& original : originals) {
    for (int i = 0; i < each; ++i) {
      json changed = original.record;
      const std::string kind = mutator.change(changed);
      if (changed == original.record) continue;
      const ProofOutcome outcome = replayedAndSealed(changed, solver);
      if (outcome.status != Status::confirmed) {
        ++refused;
        ++byKind[kind].second;
        continue;
      }
      ++accepted;
      ++byKind[kind].first;
      if (outcome.goal == original.given.goal) continue;
      ++otherGoal;
      EXPECT_FALSE(refutedByDraws(outcome.goal))
          << original.given.name << " (" << kind << ") proves a false goal:\n"
          << outcome.goal.left << "\n"
          << outcome.goal.right;
    }
  }
  std::cout << "  seed " << seed << ": " << accepted + refused << " changed records of " << originals.size()
            << " goals: " << refused << " refused, " << accepted << " still proofs of the goal they print ("
            << otherGoal << " of a changed goal)\n";
  for (const auto& [kind, counts] : byKind)
    std::cout << "    " << kind << ": " << counts.second << " refused, " << counts.first << " accepted\n";
  EXPECT_GT(refused, accepted);
}

TEST(ProofMutants, ChangedRecords) {
  changedRecords(corpora, 10, 1);
}
/// More than 20,000 over the records of every corpus, those of loops and of obligations among them.
TEST(ProofMutantsLong, ChangedRecords) {
  changedRecords({"rewrites", "float_traps", "streams"}, 64, 2);
  changedRecords({".floats", ".loops"}, 64, 3);
}
TEST(ProofMutantsLong, ChangedRecordsOfPairs) {
  changedRecords({".pairs"}, 16, 4);
}
TEST(ProofMutantsLong, ChangedRecordsOfPrograms) {
  changedRecords({".programs"}, 16, 5);
}

/// One token of a program changed: an operator, a number, a name, a function, an axis.
std::string changedProgram(const std::string& text, std::mt19937_64& random) {
  static const std::vector<std::pair<std::string, std::string>> changes{{" + ", " - "},
                                                                        {" - ", " + "},
                                                                        {" * ", " + "},
                                                                        {" * ", " / "},
                                                                        {" / ", " * "},
                                                                        {"max", "min"},
                                                                        {"min", "max"},
                                                                        {"exp", "sin"},
                                                                        {"sqrt", "abs"},
                                                                        {"sum", "mean"},
                                                                        {"mean", "sum"},
                                                                        {"sum", "prod"},
                                                                        {" < ", " <= "},
                                                                        {" >= ", " > "},
                                                                        {" > ", " >= "},
                                                                        {" <= ", " < "},
                                                                        {"axis=0", "axis=1"},
                                                                        {"axis=1", "axis=0"},
                                                                        {"1", "2"},
                                                                        {"2", "3"},
                                                                        {"0", "1"},
                                                                        {"4", "5"},
                                                                        {"abs", ""},
                                                                        {"x", "y"},
                                                                        {" // ", " % "},
                                                                        {" % ", " // "},
                                                                        {"floor", "rint"},
                                                                        {"rint", "floor"},
                                                                        {".T", ""},
                                                                        {"- 1", "- 2"},
                                                                        {"+ 1", "+ 2"},
                                                                        {"maximum", "minimum"},
                                                                        {"minimum", "maximum"},
                                                                        {"cos", "sin"},
                                                                        {"sin", "cos"},
                                                                        {"log", "sqrt"},
                                                                        {"[:, None]", ""},
                                                                        {", None", ""},
                                                                        {"1e-5", "1e-4"},
                                                                        {"a", "b"},
                                                                        {"w1", "w2"},
                                                                        {"k", "v"}};
  for (int tries = 0; tries < 200; ++tries) {
    const auto& [from, to] = changes[random() % changes.size()];
    std::vector<std::size_t> places;
    const std::size_t body = text.find("return");
    for (std::size_t at = text.find(from, text.find("):\n") == std::string::npos ? body : 0);
         at != std::string::npos; at = text.find(from, at + 1)) {
      if (at > text.find("def ")) places.push_back(at);
    }
    if (places.empty()) continue;
    std::string changed = text;
    changed.replace(places[random() % places.size()], from.size(), to);
    return changed;
  }
  return text;
}

/// Goals that draws refute after one change of a program: the search may use every step and must find
/// nothing.
void falseGoals(int each, std::uint64_t seed, replay::Solver* solver) {
  std::mt19937_64 random(seed);
  int wrong = 0;
  int undecided = 0;
  int proofs = 0;
  for (const auto& corpus : corpora) {
    for (const Case& c : casesOf(corpus)) {
      for (int i = 0; i < each; ++i) {
        replay::ProofGoal goal = c.goal;
        goal.right = changedProgram(goal.right, random);
        if (goal.right == c.goal.right || !language::parse(goal.right).program) continue;
        bool refuted = false;
        try {
          refuted = refutedByDraws(goal);
        } catch (const UserError&) {
          continue;  // other parameters or asserts
        }
        const Attempt attempt = recordProof(goal, solver, 0.5);
        if (!refuted) {
          ++(attempt.record.empty() ? undecided : proofs);
          continue;
        }
        ++wrong;
        EXPECT_TRUE(attempt.record.empty()) << c.name << " has a record after a change that makes it false:\n"
                                            << goal.right;
      }
    }
  }
  std::cout << "  seed " << seed << ": no record for " << wrong << " false goals; " << proofs
            << " changed goals that draws do not refute have one, " << undecided << " have none\n";
  EXPECT_GT(wrong, 0);
}

TEST(ProofMutants, ChangedPrograms) {
  NEED_CASES();
  falseGoals(2, 3, nullptr);
}
TEST(ProofMutantsLong, ChangedPrograms) {
  Remembering solver;
  falseGoals(4, 4, &solver);
}

/// The steps of one goal under another, false one.
TEST(ProofMutants, RecordsGraftedOntoFalseGoals) {
  Remembering solver;
  const auto originals = records(solver);
  if (originals.empty()) GTEST_SKIP() << "no cases at " << NUSCOPE_SHARED_DIR;
  std::map<std::string, const Recorded*> byName;
  for (const Recorded& r : originals) byName[r.given.name] = &r;
  std::mt19937 random(5);
  int grafts = 0;
  for (const auto& corpus : corpora) {
    for (const Case& c : casesOf(corpus)) {
      if (c.provable) continue;
      std::vector<const Recorded*> donors;
      const std::string stem = c.name.substr(0, c.name.rfind('_'));
      for (const auto& [name, r] : byName) {
        if (name.starts_with(stem.substr(0, stem.find('_')))) donors.push_back(r);
      }
      while (donors.size() < 12) donors.push_back(&originals[random() % originals.size()]);
      for (const Recorded* donor : donors) {
        for (const bool assumptionsToo : {false, true}) {
          json graft = donor->record;
          graft["goal"]["left"] = c.goal.left;
          graft["goal"]["right"] = c.goal.right;
          if (assumptionsToo) {
            // What the checker would say of the goal's own asserts and difference.
            for (int round = 0; round < 2; ++round) {
              const ProofOutcome first = replay::replayProof(graft.dump(), &solver);
              graft["goal"]["assumptions"] = first.assumptions;
              if (first.why.starts_with("the difference is ") && !graft["results"].empty())
                graft["results"][0]["difference"] = first.why.substr(18);
            }
          }
          const ProofOutcome outcome = replay::replayProof(graft.dump(), &solver);
          EXPECT_NE(outcome.status, Status::confirmed) << donor->given.name << " on " << c.name;
          ++grafts;
        }
      }
    }
  }
  std::cout << "  " << grafts << " grafts onto false goals, none accepted\n";
}

}  // namespace
}  // namespace nuscope::record
