#include "tests/proof/pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/base/files.h"
#include "core/language/parse.h"

namespace nuscope::proof {

namespace fs = std::filesystem;

namespace {

/// The pair of a file while its lines are read.
struct Section {
  TestPair pair;
  std::string signature;
  std::vector<std::string> given, left, right;

  [[nodiscard]] std::string module(const std::vector<std::string>& side) const {
    std::string text = "from __future__ import annotations\nimport numpy as np\n\n\ndef " + signature + ":\n";
    for (const auto& line : given) text += "    " + line + "\n";
    for (std::size_t i = 0; i < side.size(); ++i)
      text += (i + 1 == side.size() ? "    return " : "    ") + side[i] + "\n";
    return text;
  }
};

}  // namespace

std::vector<TestPair> pairsOfFile(const fs::path& file) {
  std::vector<TestPair> result;
  std::istringstream in(readWholeFile(file));
  std::optional<Section> section;
  std::vector<std::string>* lines = nullptr;
  const auto finish = [&] {
    if (!section) return;
    section->pair.left = section->module(section->left);
    section->pair.right = section->module(section->right);
    result.push_back(std::move(section->pair));
  };
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    const auto bad = [&] { return UserError(fmt::format("{}:{}: {}", file.string(), number, line)); };
    if (line.starts_with("=== ")) {
      finish();
      const std::size_t bar = line.find(" | ");
      if (bar == std::string::npos) throw bad();
      section.emplace();
      section->pair.name = line.substr(4, bar - 4);
      const std::string expect = line.substr(bar + 3);
      if (expect != "proved" && expect != "refuted") throw bad();
      section->pair.provable = expect == "proved";
      lines = &section->given;
    } else if (line == "--- left" || line == "--- right") {
      if (!section) throw bad();
      lines = line == "--- left" ? &section->left : &section->right;
    } else if (!line.empty()) {
      if (!section) throw bad();
      if (section->signature.empty()) {
        section->signature = line;
      } else {
        lines->push_back(line);
      }
    }
  }
  finish();
  return result;
}

std::vector<TestPair> corpusPairs(const fs::path& root) {
  std::vector<TestPair> pairs;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root, error)) {
    if (!fs::exists(entry.path() / "case.json")) continue;
    const auto json = nlohmann::json::parse(readWholeFile(entry.path() / "case.json"));
    pairs.push_back({entry.path().filename().string(), json.at("expect") == "proved",
                     readWholeFile(entry.path() / "left.py"), readWholeFile(entry.path() / "right.py")});
  }
  std::ranges::sort(pairs, {}, &TestPair::name);
  return pairs;
}

std::vector<TestPair> secondCorpus(const std::string& ending) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(NUSCOPE_SOURCE_DIR) / "tests/data/rewrites2")) {
    if (entry.path().extension() == ending) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  std::vector<TestPair> pairs;
  for (const auto& file : files) {
    for (auto& pair : pairsOfFile(file)) pairs.push_back(std::move(pair));
  }
  return pairs;
}

std::vector<TestPair> sharedCorpus(const std::string& name) {
  return corpusPairs(fs::path(NUSCOPE_SHARED_DIR) / "cases" / name);
}

SolverPool& testSolvers() {
  static SolverPool pool(NUSCOPE_SOLVER, 1);
  return pool;
}

Proof proofOf(const TestPair& pair, const Options& options, const Progress& progress) {
  Proof proof;
  auto store = std::make_shared<tensor::NodeStore>();
  const auto left = language::parse(pair.left, store);
  const auto right = language::parse(pair.right, store);
  if (!left.program || !right.program) {
    const bool first = !left.program;
    proof.reason = "does not parse: " + render(first ? left.diagnostics : right.diagnostics, pair.name,
                                               first ? pair.left : pair.right);
    return proof;
  }
  try {
    return prove(*left.program, *right.program, options, progress);
  } catch (const UserError& error) {
    proof.reason = error.what();
  }
  return proof;
}

double Outcome::provedShare() const {
  return provable.all() == 0 ? 1 : static_cast<double>(provable.proved) / provable.all();
}

double Outcome::refutedShare() const {
  return refutable.all() == 0 ? 1 : static_cast<double>(refutable.refuted) / refutable.all();
}

Outcome runPairs(const std::string& title, const std::vector<TestPair>& pairs, bool draws) {
  Outcome o;
  const char* only = std::getenv("NUSCOPE_CASES");
  const bool verbose = std::getenv("NUSCOPE_VERBOSE") != nullptr;
  for (const TestPair& pair : pairs) {
    if (only != nullptr && pair.name.find(only) == std::string::npos) continue;
    Options options;
    options.draws = draws;
    options.anyType = true;
    options.solvers = &testSolvers();
    const Proof proof = proofOf(pair, options);
    Outcome::Tally& tally = pair.provable ? o.provable : o.refutable;
    ++(proof.verdict == Verdict::proved    ? tally.proved
       : proof.verdict == Verdict::refuted ? tally.refuted
                                           : tally.unknown);
    const bool wrong = proof.verdict == (pair.provable ? Verdict::refuted : Verdict::proved);
    if (wrong) o.wrong.push_back(pair.name);
    o.seconds.push_back(proof.seconds);
    const bool open = proof.verdict == Verdict::unknown && (pair.provable || draws);
    if (wrong || verbose || open) {
      std::cout << fmt::format("{}{} {} {} {} {:.0f} ms {}\n", wrong ? "WRONG " : "", text(proof.verdict),
                               pair.provable ? "P" : "R", pair.name, proof.decidedBy, proof.seconds * 1000,
                               proof.reason);
      for (const auto& note : proof.steps) {
        if (note.lemma == "tuple fold") std::cout << "    " << note.text << "\n";
      }
    }
  }
  std::ranges::sort(o.seconds);
  const auto line = [](const Outcome::Tally& t) {
    return fmt::format("{} proved, {} refuted, {} unknown", t.proved, t.refuted, t.unknown);
  };
  std::cout << title << "\n  should be proved:  " << line(o.provable)
            << "\n  should be refuted: " << line(o.refutable) << "\n";
  if (!o.seconds.empty()) {
    std::cout << fmt::format("  median {:.2f} ms, 90 % {:.1f} ms, longest {:.0f} ms (measured)\n",
                             o.seconds[o.seconds.size() / 2] * 1000,
                             o.seconds[o.seconds.size() * 9 / 10] * 1000, o.seconds.back() * 1000);
  }
  return o;
}

}  // namespace nuscope::proof
