#pragma once
// The steps of an argument as they are found. Attempts that fail are taken back.
#include <chrono>

#include "core/proof/verdict.h"

namespace nuscope::proof {

class Recorder {
 public:
  std::vector<ProofStep> steps;
  std::string decidedBy = "normal-form";  ///< the strongest means used
  int depth = 0;

  void add(std::string lemma, std::string what, std::string before = {}, std::string after = {},
           double milliseconds = 0, std::string smt = {}) {
    steps.push_back({depth, std::move(lemma), std::move(what), std::move(before), std::move(after),
                     milliseconds, std::move(smt)});
  }
  [[nodiscard]] std::size_t mark() const { return steps.size(); }
  void takeBack(std::size_t mark) { steps.resize(mark); }
  /// Means in order of strength: normal-form, congruence, cases, induction, z3.
  void use(const std::string& means) {
    const auto rank = [](const std::string& s) {
      return s == "z3" ? 4 : s == "induction" ? 3 : s == "cases" ? 2 : s == "congruence" ? 1 : 0;
    };
    if (rank(means) > rank(decidedBy)) decidedBy = means;
  }
};

/// Deeper steps while it lives.
class Indent {
 public:
  explicit Indent(Recorder& recorder) : recorder_(recorder) { ++recorder_.depth; }
  ~Indent() { --recorder_.depth; }
  Indent(const Indent&) = delete;
  Indent& operator=(const Indent&) = delete;

 private:
  Recorder& recorder_;
};

}  // namespace nuscope::proof
