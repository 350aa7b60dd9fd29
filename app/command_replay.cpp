// `nuscope replay`: confirms proof records and schedule certificates with code that shares nothing with what
// made them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "app/proof_recording.h"
#include "core/base/diagnostics.h"
#include "core/base/files.h"
#include "core/language/parse.h"
#include "core/replay/proof_record.h"
#include "core/replay/schedule_certificate.h"

namespace nuscope::app {
namespace {

namespace fs = std::filesystem;
using replay::ProofOutcome;

struct Options {
  std::vector<std::string> files;
  std::vector<std::string> of;  ///< two programs: the goal must be theirs
  bool goal = false;
  bool json = false;
  std::string smtFolder;
  double secondsLimit = 10;
};

/// Is the goal's program the one in the file? Texts may differ, graphs and asserts may not.
bool isProgramOf(const std::string& text, const std::string& file) {
  const auto store = std::make_shared<tensor::NodeStore>();
  const tensor::Program given = language::parseFile(file, store);
  const auto mine = language::parse(text, store);
  if (!mine.program || mine.program->results != given.results) return false;
  const auto same = [](const auto& a, const auto& b) { return a.text == b.text; };
  return std::equal(mine.program->preconditions.begin(), mine.program->preconditions.end(),
                    given.preconditions.begin(), given.preconditions.end(), same);
}

std::string summary(const ProofOutcome& o) {
  std::string text = o.why;
  if (o.status != ProofOutcome::Status::confirmed) return text;
  text += ", for all extents >= 1 and all inputs";
  for (std::size_t i = 0; i < o.assumptions.size(); ++i)
    text += (i == 0 ? " with " : " and ") + o.assumptions[i];
  return text + fmt::format(
                    "\n  {} folds met, {} inductions, {} case splits, {} obligations unsat for z3 ({:.1f} "
                    "ms, measured)",
                    o.lemmas, o.inductions, o.cases, o.obligations.size(), o.seconds * 1000);
}

Exit replayRecord(const std::string& file, const std::string& text, const Options& options,
                  nlohmann::json& all) {
  replay::Z3Program z3;
  ProofOutcome o = replay::replayProof(text, &z3, options.secondsLimit);
  if (o.status != ProofOutcome::Status::refused && options.of.size() == 2 &&
      !(isProgramOf(o.goal.left, options.of[0]) && isProgramOf(o.goal.right, options.of[1]))) {
    o.status = ProofOutcome::Status::refused;
    o.why = "the goal of the record is not about " + options.of[0] + " and " + options.of[1];
  }
  if (!options.smtFolder.empty())
    writeObligations(options.smtFolder, fs::path(file).stem().string(), o.obligations);
  const char* status = o.status == ProofOutcome::Status::confirmed     ? "confirmed"
                       : o.status == ProofOutcome::Status::needsSolver ? "needs solver"
                                                                       : "refused";
  if (options.json) {
    all.push_back({{"file", file},
                   {"kind", "proof"},
                   {"status", status},
                   {"why", o.why},
                   {"mode", o.goal.refines ? "refines" : "equal"},
                   {"left", o.goal.left},
                   {"right", o.goal.right},
                   {"assumptions", o.assumptions},
                   {"folds", o.lemmas},
                   {"inductions", o.inductions},
                   {"cases", o.cases},
                   {"obligations", o.obligations.size()},
                   {"seconds", o.seconds}});
  } else {
    fmt::print("{}: {}: {}\n", file, status, summary(o));
    if (options.goal) fmt::print("--- left\n{}--- right\n{}", o.goal.left, o.goal.right);
  }
  return o.status == ProofOutcome::Status::confirmed     ? yes
         : o.status == ProofOutcome::Status::needsSolver ? undecided
                                                         : no;
}

Exit replayCertificate(const std::string& file, const std::string& text, const Options& options,
                       nlohmann::json& all) {
  const replay::Outcome outcome = replay::replaySchedule(text);
  if (options.json) {
    all.push_back({{"file", file},
                   {"kind", "schedule"},
                   {"status", outcome.confirmed ? "confirmed" : "refused"},
                   {"why", outcome.why}});
  } else {
    fmt::print("{}: {}: {}\n", file, outcome.confirmed ? "confirmed" : "refused", outcome.why);
  }
  return outcome.confirmed ? yes : no;
}

int run(const Options& options) {
  if (!options.of.empty() && options.of.size() != 2)
    throw UserError("--of takes the two programs of the goal");
  const auto rank = [](Exit e) { return e == badInput ? 3 : e == no ? 2 : e == undecided ? 1 : 0; };
  Exit worst = yes;
  auto all = nlohmann::json::array();
  for (const std::string& file : options.files) {
    const std::string text = readWholeFile(file);
    Exit code = badInput;
    if (!nlohmann::json::accept(text)) {
      std::cerr << file << ": neither a proof record nor a schedule certificate: it is no JSON\n";
    } else if (replay::isProofRecord(text)) {
      code = replayRecord(file, text, options, all);
    } else {
      code = replayCertificate(file, text, options, all);
    }
    if (rank(code) > rank(worst)) worst = code;
  }
  if (options.json) {
    const nlohmann::json out{{"version", 1}, {"replayed", all}};
    fmt::print("{}\n", out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  return worst;
}

}  // namespace

void addReplay(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("replay",
                                         "Confirm proof records and schedule certificates independently: "
                                         "exit 0 confirmed, 1 refused, 2 needs the z3 program");
  command
      ->add_option("FILE", options->files,
                   "Records of `nuscope prove --record`, certificates of `nuscope check --certificates`")
      ->required();
  command->add_option("--of", options->of, "Two programs: a proof record must be about them")->expected(2);
  command->add_flag("--goal", options->goal, "Print both programs of a proof record");
  command->add_option("--smt2", options->smtFolder,
                      "Folder for the obligations, as the checker builds them, one file each");
  command->add_option("--limit", options->secondsLimit, "Seconds for one record (default: 10)");
  command->add_flag("--json", options->json, "The outcome as JSON");
  command->callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace nuscope::app
