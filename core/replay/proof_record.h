#pragma once
// Proof records: a goal (two programs as text) and the steps by which it is shown. `replayProof` needs
// nothing but the record: it parses the programs, builds both sides in its own terms (terms.h, kernel.h,
// forms.h) and takes the steps one by one. A step names a lemma of reference/proofs.md, section 7, an
// induction, a case or a ground obligation, and where it is used; what follows from it the checker computes
// itself. Formats: JSON,
//   {"kind": "nuscope proof record", "version": 3, "semantics": 2,
//    "goal": {"mode": "equal" | "refines", "left": TEXT, "right": TEXT, "assumptions": [TEXT...]},
//    "loops": [null | {"forms": [{"state", "form": "extremum" | "product" | "carried", "factor",
//    "states", "weight", "sign"}...],
//              "shown": [{"base": STEP, "step": STEP, "needs": [STEP...]}...]}...],   how the states of loops
//              are closed (loops.h)
//    "lemmas": [{"lemma", "first", "second", "fold"} | {"keep": N}...],   instances in the order of use
//    "results": [{"identity": true} | {"difference": TEXT, "zero": STEP, "defined": [[...], [...]]}...],
//    "obligations": [TEXT...]}    SMT-LIB, in the order of use; compared with what the checker asks itself
// A STEP is an object with "by" and, by kind, "then", "true", "false", "base", "step", "bodies", "classes".
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "core/replay/assumptions.h"
#include "core/replay/obligation.h"

namespace nuscope::replay {

inline constexpr std::string_view proofKind = "nuscope proof record";
inline constexpr int recordVersion = 3;
/// Raised whenever the meaning of an operator or of an assert changes.
inline constexpr int semanticsVersion = 2;
inline constexpr std::size_t recordLimit = std::size_t{2} << 20U;  ///< bytes

struct ProofGoal {
  bool refines = false;
  std::string left, right;  ///< complete program texts

  bool operator==(const ProofGoal&) const = default;
};

/// Both sides in the checker's terms. Throws Refused where the programs cannot be compared.
class Sides {
 public:
  Sides(const ProofGoal& goal, Guide& guide, std::function<void()> onWork);
  struct Result {
    bool identical = false;
    bool typesDiffer = false;  ///< one side is real, the other integer: compared as numbers
    PolyRef difference = nullptr;
    std::vector<PolyRef> left, right;  ///< 0/1 terms that are 1 where each side is defined
  };
  [[nodiscard]] std::size_t results() const { return left_.results.size(); }
  Result result(std::size_t at);
  [[nodiscard]] std::vector<std::string> assumptions() const;
  Kernel kernel;
  LoopGuide loops;  ///< set before the results are built

 private:
  bool refines_ = false;
  tensor::Program left_, right_;
  std::vector<const tensor::Precondition*> asserts_;
  tensor::DimFacts dims_;
  std::unique_ptr<Forms> forms_;
};

/// A lemma instance as the replay used it, for people; nested by `depth`.
struct LemmaUse {
  int depth = 0;
  std::string lemma;
  std::string substitution;  ///< "k = 4*t + r with r < 4"
  std::string before, after;
};

struct ProofOutcome {
  enum class Status : std::uint8_t { confirmed, refused, needsSolver };
  Status status = Status::refused;
  std::string why;  ///< what was confirmed, or the first thing that is wrong
  ProofGoal goal;   ///< as read; what was confirmed is this
  std::vector<std::string> assumptions;
  int lemmas = 0;  ///< instances used
  int inductions = 0;
  int cases = 0;
  std::vector<std::string> obligations;  ///< SMT-LIB, built by the checker
  std::vector<LemmaUse> uses;            ///< in the order of use, where they are wanted
  double seconds = 0;
};

/// Checks a record. Never throws for bad text. `solver` may be null: what needs one is then `needsSolver`.
/// `mostUses`: of the lemma instances that are written down for people.
ProofOutcome replayProof(std::string_view record, Solver* solver, double secondsLimit = 10,
                         std::size_t mostUses = 0);
/// Does the text claim to be a proof record?
bool isProofRecord(std::string_view text);

}  // namespace nuscope::replay
