#pragma once
// Ground obligations in SMT-LIB for any solver, built from the checker's own terms, and their trial by the
// `z3` program in a child process under a hard limit.
#include <chrono>
#include <string>

#include "core/replay/moves.h"

namespace nuscope::replay {

/// "The conditions have their values and the hypotheses are 0, and yet `nonZero` is not 0": to be impossible.
struct Obligation {
  Conditions conditions;
  Hypotheses zeros;
  PolyRef nonZero = nullptr;  ///< null: the conditions alone are impossible
};

enum class Setup : std::uint8_t {
  real,    ///< integers relaxed to reals (sound for unsat), the plain solver
  nlsat,   ///< the same by qfnra-nlsat
  integer  ///< integers as such, nonlinear reals left out
};
std::string_view text(Setup setup);
std::optional<Setup> parseSetup(std::string_view name);

struct Script {
  std::string hypotheses;  ///< logic, declarations, facts: satisfiable, else an `unsat` would mean nothing
  std::string goal;        ///< what is to be impossible
  /// A file for any solver, whose answer must be `unsat`.
  [[nodiscard]] std::string file() const { return hypotheses + goal + "(check-sat)\n"; }
};
/// Throws Refused where the terms have no such form.
Script script(Kernel& kernel, const Obligation& obligation, bool relaxed);
/// Small enough for a solver?
bool fitForSolver(PolyRef p);

/// Asks one solver program. Not thread-safe.
class Solver {
 public:
  virtual ~Solver() = default;
  enum class Answer : std::uint8_t { unsat, other, none };  ///< none: there is no solver
  /// `unsat` only if the goal is unsat and the hypotheses alone are sat.
  virtual Answer ask(const Script& script, Setup setup) = 0;
};

/// The `z3` program in PATH, a child for each question, killed at the limit.
class Z3Program : public Solver {
 public:
  explicit Z3Program(std::chrono::milliseconds limit = std::chrono::milliseconds(3000)) : limit_(limit) {}
  Answer ask(const Script& script, Setup setup) override;

 private:
  std::chrono::milliseconds limit_;
};

}  // namespace nuscope::replay
