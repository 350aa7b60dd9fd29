#pragma once
// Killable solvers. Z3 does not always obey its own time limit, so it runs in `nuscope solve` children:
// started by exec before they are needed, killed when a query outlives its limit or is cancelled, and
// replaced at once.
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace nuscope::proof {

/// How Z3 is asked (reference/proofs.md, section 5).
enum class SolverSetup : std::uint8_t {
  linear,  ///< the smt solver with smt.arith.nl.nra=false: goals with Int
  smt,     ///< the plain smt solver
  nlsat    ///< simplify; purify-arith; elim-term-ite; solve-eqs; qfnra-nlsat: real goals only
};
std::string_view text(SolverSetup setup);

struct SolverQuery {
  std::string smt;  ///< a complete SMT-LIB 2 script without check-sat: set-logic, declarations, assertions
  SolverSetup setup = SolverSetup::smt;
  std::chrono::milliseconds limit{500};  ///< the child is killed 150 ms after it (3 s at its first query)
  bool wantModel = false;
};

struct SolverAnswer {
  enum class Status : std::uint8_t { unsat, sat, unknown, killed, cancelled, failed };
  Status status = Status::unknown;
  std::string detail;  ///< the model as SMT-LIB, the reason of `unknown`, or the error
  double milliseconds = 0;
};
std::string_view text(SolverAnswer::Status status);

/// A fixed number of children. Thread-safe: `ask` takes an idle child, or waits for one. The destructor ends
/// them.
class SolverPool {
 public:
  /// `executable`: path of `nuscope` (executablePath() for nuscope itself). The children start at once and
  /// get ready while the caller works. Throws EnvironmentError if none can be started.
  SolverPool(std::string executable, int processes);
  ~SolverPool();
  SolverPool(const SolverPool&) = delete;
  SolverPool& operator=(const SolverPool&) = delete;

  /// Never throws for what a solver does: a crash is `failed`, an overrun `killed`, a stop request
  /// `cancelled` (within 100 ms).
  SolverAnswer ask(const SolverQuery& query, const std::stop_token& stop = {});
  [[nodiscard]] int processes() const;
  /// Children killed and replaced so far.
  [[nodiscard]] int replaced() const;

 private:
  struct Child;
  std::unique_ptr<Child> start() const;
  std::string executable_;
  int processes_ = 0;
  int replaced_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable_any idleChanged_;
  std::vector<std::unique_ptr<Child>> idle_;
};

/// The loop of a `nuscope solve` child: queries on `in`, answers on `out`, one JSON object a line, until the
/// end of input. Returns the exit code. (Linked only into the executable: core/proof/solve_server.cpp,
/// library nuscope-solve-server, is the only user of Z3.)
int serveSolver(std::istream& in, std::ostream& out);

}  // namespace nuscope::proof
