// `nuscope prove A.py B.py...`: are two programs equal, for all extents and inputs? With more files each is
// compared with the first, one line a file.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/cancel.h"
#include "app/commands.h"
#include "app/program_argument.h"
#include "app/proof_recording.h"
#include "core/base/diagnostics.h"
#include "core/base/files.h"
#include "core/base/process.h"
#include "core/proof/prove.h"
#include "core/proof/solver_pool.h"
#include "core/proof/weakest_assert.h"

namespace nuscope::app {
namespace {

namespace fs = std::filesystem;
using proof::Counterexample;
using proof::Proof;
using proof::Verdict;

struct Options {
  std::vector<std::string> files;
  bool refines = false;
  bool noDraws = false;
  bool json = false;
  bool steps = false;
  bool noAssert = false;
  std::string smtFolder;
  std::string recordFile;
  bool cache = false;
  double secondsLimit = 10;
  std::uint64_t seed = 1;
};

std::string numberText(double value) {
  return value != value ? "undefined" : fmt::format("{:.10g}", value);
}

std::string tensorText(const semantics::TensorValue& value, std::size_t& at, std::size_t axis) {
  if (axis == value.shape.size()) return numberText(value.values[at++]);
  std::string result = "[";
  for (std::int64_t i = 0; i < value.shape[axis]; ++i)
    result += (i == 0 ? "" : ", ") + tensorText(value, at, axis + 1);
  return result + "]";
}

std::string tensorText(const semantics::TensorValue& value) {
  std::size_t at = 0;
  return tensorText(value, at, 0);
}

nlohmann::json tensorJson(const semantics::TensorValue& value) {
  auto values = nlohmann::json::array();
  for (const double v : value.values) values.push_back(v != v ? nlohmann::json(nullptr) : nlohmann::json(v));
  return {{"dtype", std::string(tensor::text(value.dtype))},
          {"shape", value.shape},
          {"values", std::move(values)}};
}

std::string kindText(Counterexample::Kind kind) {
  switch (kind) {
    case Counterexample::Kind::values:
      return "values";
    case Counterexample::Kind::leftUndefined:
      return "left_undefined";
    case Counterexample::Kind::rightUndefined:
      return "right_undefined";
  }
  return "values";
}

nlohmann::json counterexampleJson(const Counterexample& c) {
  nlohmann::json inputs = nlohmann::json::object();
  for (const auto& [name, value] : c.inputs) inputs[name] = tensorJson(value);
  return {{"kind", kindText(c.kind)},
          {"extents", c.extents},
          {"inputs", inputs},
          {"result", c.result},
          {"index", c.index},
          {"left", tensorJson(c.left)},
          {"right", tensorJson(c.right)},
          {"left_text", c.leftText},
          {"right_text", c.rightText},
          {"seed", c.seed},
          {"draw", c.draw}};
}

nlohmann::json proofJson(const std::string& file, const Proof& p) {
  auto steps = nlohmann::json::array();
  for (const auto& s : p.steps) {
    steps.push_back({{"depth", s.depth},
                     {"lemma", s.lemma},
                     {"text", s.text},
                     {"before", s.before},
                     {"after", s.after},
                     {"milliseconds", s.milliseconds},
                     {"smt", s.smt}});
  }
  return {
      {"file", file},
      {"verdict", std::string(proof::text(p.verdict))},
      {"mode", p.mode == proof::Mode::equal ? "equal" : "refines"},
      {"reason", p.reason},
      {"decided_by", p.decidedBy},
      {"holds_for", p.holdsFor},
      {"over", "the reals, and the unbounded integers for integer types"},
      {"remaining", p.remaining},
      {"definedness", p.definedness},
      {"unused_asserts", p.unusedAsserts},
      {"counterexample", p.counterexample ? counterexampleJson(*p.counterexample) : nlohmann::json(nullptr)},
      {"steps", steps},
      {"seconds", p.seconds},
      {"cut_by_time", p.cutByTime}};
}

bool usesIntegers(const tensor::Program& program) {
  return std::ranges::any_of(tensor::topological(program.results), [](tensor::NodeRef node) {
    return tensor::sort(node->dtype) == tensor::Sort::integer;
  });
}

void printCounterexample(const Counterexample& c) {
  std::string extents;
  for (const auto& [name, value] : c.extents)
    extents += fmt::format("{}{}={}", extents.empty() ? "" : ", ", name, value);
  std::string index;
  for (const auto i : c.index) index += fmt::format("{}{}", index.empty() ? "" : ", ", i);
  fmt::print("  element [{}]{}: left {}, right {}\n", index,
             c.result > 0 ? fmt::format(" of result {}", c.result + 1) : "", c.leftText, c.rightText);
  if (!extents.empty()) fmt::print("  with {}\n", extents);
  for (const auto& [name, value] : c.inputs) fmt::print("  {} = {}\n", name, tensorText(value));
  fmt::print("  left  = {}\n  right = {}\n", tensorText(c.left), tensorText(c.right));
}

void printProof(const Proof& p, bool integers, bool steps) {
  const std::string domain = integers ? "over the reals and the unbounded integers" : "over the reals";
  const std::string relation = p.mode == proof::Mode::equal ? "equal" : "the right side refines the left one";
  switch (p.verdict) {
    case Verdict::proved:
      fmt::print("proved: {} {}, for {}\n", relation, domain, p.holdsFor);
      fmt::print("  {} ({:.1f} ms, measured)\n", p.reason, p.seconds * 1000);
      break;
    case Verdict::refuted:
      fmt::print("refuted: {} ({:.1f} ms, measured)\n", p.reason, p.seconds * 1000);
      printCounterexample(*p.counterexample);
      break;
    case Verdict::unknown:
      fmt::print("unknown: {}{}\n", p.reason, p.cutByTime ? " (cut by time)" : "");
      if (!p.remaining.empty()) fmt::print("  left - right = {}\n", p.remaining);
      break;
  }
  if (!p.definedness.empty() && p.verdict == Verdict::proved) {
    fmt::print("  both sides are defined where\n");
    for (const auto& condition : p.definedness) fmt::print("    {}\n", condition);
  }
  for (const auto& text : p.unusedAsserts) fmt::print("  not used: assert {}\n", text);
  if (!steps) return;
  for (const auto& s : p.steps) {
    fmt::print("  {}{}: {}\n", std::string(static_cast<std::size_t>(s.depth) * 2, ' '), s.lemma, s.text);
    if (!s.before.empty())
      fmt::print("  {}    {}\n", std::string(static_cast<std::size_t>(s.depth) * 2, ' '), s.before);
    if (!s.after.empty())
      fmt::print("  {} -> {}\n", std::string(static_cast<std::size_t>(s.depth) * 2, ' '), s.after);
  }
}

/// The obligations that the prover's solver closed, for a proof without a record.
std::vector<std::string> obligationsOf(const Proof& p) {
  std::vector<std::string> result;
  for (const auto& s : p.steps) {
    if (!s.smt.empty()) result.push_back(s.smt);
  }
  return result;
}

nlohmann::json recordJson(const std::string& file, const Recording& r) {
  return {{"file", file},
          {"replayable", r.replayable},
          {"why", r.why},
          {"bytes", r.record.size()},
          {"obligations", r.obligations.size()},
          {"seconds", r.seconds}};
}

void printRecording(const std::string& file, const Recording& r) {
  if (!r.replayable) {
    std::cerr << "no record: " << r.why << "\n";
    return;
  }
  fmt::print("  record: {} bytes, {} obligations, replayed independently ({:.1f} ms, measured){}\n",
             r.record.size(), r.obligations.size(), r.seconds * 1000, file.empty() ? "" : ", in " + file);
}

nlohmann::json assertsJson(const proof::AssertSearch& search) {
  auto all = nlohmann::json::array();
  for (const auto& answer : search.found)
    all.push_back({{"asserts", answer.asserts}, {"words", answer.words}, {"reason", answer.proof.reason}});
  return all;
}

void printAsserts(const proof::AssertSearch& search) {
  for (std::size_t i = 0; i < search.found.size(); ++i) {
    const auto& answer = search.found[i];
    fmt::print("  {} if {}; proved with\n", i == 0 ? "equal" : "or", answer.words);
    for (const auto& text : answer.asserts) fmt::print("    assert {}\n", text);
  }
}

/// The record of a proof, where one is asked for, and what is to be kept of it.
std::optional<Recording> recorded(const Options& options, const tensor::Program& left,
                                  const tensor::Program& right, proof::Mode mode, const Progress& progress) {
  if (options.recordFile.empty() && options.smtFolder.empty() && !options.cache) return std::nullopt;
  Recording result = recordingOf(left, right, mode, options.secondsLimit, progress);
  if (result.replayable && !options.recordFile.empty()) writeWholeFile(options.recordFile, result.record);
  if (options.cache) rememberProof(left, right, mode, result);
  return result;
}

Exit exitOf(Verdict verdict) {
  return verdict == Verdict::proved ? yes : verdict == Verdict::refuted ? no : undecided;
}

int runProve(const Options& options) {
  const auto reference = readProgramArgument(options.files[0]);
  CommandProgress command;
  proof::SolverPool solvers(executablePath(), 1);
  proof::Options how;
  how.mode = options.refines ? proof::Mode::refines : proof::Mode::equal;
  how.draws = !options.noDraws;
  how.anyType = true;
  how.seed = options.seed;
  how.secondsLimit = options.secondsLimit;
  how.solvers = &solvers;
  auto all = nlohmann::json::array();
  Exit worst = yes;
  const bool single = options.files.size() == 2;
  if (!single && !options.recordFile.empty()) throw UserError("--record takes two programs");
  for (std::size_t i = 1; i < options.files.size(); ++i) {
    const auto other = readProgramArgument(options.files[i]);
    const auto remembered =
        options.cache ? rememberedProof(reference.program, other.program, how.mode) : std::nullopt;
    const Proof p =
        remembered ? *remembered : proof::prove(reference.program, other.program, how, command.progress());
    // The worst of several: refuted, then unknown.
    const Exit code = exitOf(p.verdict);
    if (code == no || (code == undecided && worst == yes)) worst = code;
    std::optional<Recording> recording;
    if (p.verdict == Verdict::proved &&
        !(remembered && options.recordFile.empty() && options.smtFolder.empty()))
      recording = recorded(options, reference.program, other.program, how.mode, command.progress());
    if (!options.smtFolder.empty()) {
      writeObligations(options.smtFolder, fs::path(options.files[i]).stem().string(),
                       recording && recording->replayable ? recording->obligations : obligationsOf(p));
    }
    proof::AssertSearch asserts;
    if (single && !options.noAssert && p.verdict != Verdict::proved) {
      proof::AssertOptions search;
      search.prove = how;
      asserts = proof::weakestAsserts(reference.program, other.program, p, search, command.progress());
    }
    if (options.json) {
      all.push_back(proofJson(options.files[i], p));
      if (single) all.back()["weakest_asserts"] = assertsJson(asserts);
      if (recording) all.back()["record"] = recordJson(options.recordFile, *recording);
    } else if (single) {
      printProof(p, usesIntegers(reference.program) || usesIntegers(other.program), options.steps);
      printAsserts(asserts);
      if (recording) printRecording(options.recordFile, *recording);
    } else {
      fmt::print("{}: {} ({}; {:.1f} ms)\n", options.files[i], proof::text(p.verdict), p.reason,
                 p.seconds * 1000);
    }
  }
  if (options.json) {
    nlohmann::json out = single ? all[0] : nlohmann::json{{"proofs", all}};
    out["version"] = 1;
    fmt::print("{}\n", out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  return worst;
}

}  // namespace

void addProve(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("prove", "Prove two programs equal, or show where they differ");
  command->add_option("files", options->files, "The reference and one or more programs to compare with it")
      ->required()
      ->expected(2, 1 << 20);
  command->add_flag("--refines", options->refines, "The right side may be defined at more inputs");
  command->add_flag("--no-draws", options->noDraws, "Do not try to refute by random inputs");
  command->add_flag("--no-assert", options->noAssert,
                    "Do not look for an assert under which a pair that is not equal is (at most 2 seconds)");
  command->add_flag("--steps", options->steps, "Print the steps of the argument");
  command->add_flag("--json", options->json, "The whole proof as JSON");
  command->add_flag(
      "--cache", options->cache,
      "Keep records in the user's cache folder; a goal found there is proved once its record is "
      "replayed (no draws, and no steps to show)");
  command->add_option("--record", options->recordFile,
                      "File for a record of the proof, which `nuscope replay` confirms independently");
  command->add_option(
      "--smt2", options->smtFolder,
      "Folder for the ground obligations in SMT-LIB, one file each: those of the record, or, where there "
      "is none, those that the prover's solver closed");
  command->add_option("--limit", options->secondsLimit, "Seconds for one pair (default: 10)");
  command->add_option("--seed", options->seed, "Seed of the draws");
  command->callback([&action, options] { action = [options] { return runProve(*options); }; });
}

}  // namespace nuscope::app
