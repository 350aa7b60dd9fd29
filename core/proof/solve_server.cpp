// The child's side of solver_pool.h.
#include <z3++.h>

#include <chrono>
#include <istream>
#include <nlohmann/json.hpp>
#include <ostream>

#include "core/proof/solver_pool.h"

namespace nuscope::proof {
namespace {

z3::solver solverFor(z3::context& context, const std::string& setup, unsigned milliseconds) {
  if (setup == "nlsat") {
    z3::tactic chain = z3::tactic(context, "simplify") & z3::tactic(context, "purify-arith") &
                       z3::tactic(context, "elim-term-ite") & z3::tactic(context, "solve-eqs") &
                       z3::tactic(context, "qfnra-nlsat");
    z3::solver solver = chain.mk_solver();
    solver.set("timeout", milliseconds);
    return solver;
  }
  z3::solver solver(context, z3::solver::simple());
  z3::params params(context);
  params.set("timeout", milliseconds);
  if (setup == "linear") params.set("smt.arith.nl.nra", false);
  solver.set(params);
  return solver;
}

nlohmann::json answer(const nlohmann::json& request) {
  nlohmann::json reply;
  try {
    z3::context context;
    z3::solver solver = solverFor(context, request.value("setup", "smt"), request.value("limit_ms", 500U));
    solver.from_string(request.at("smt").get<std::string>().c_str());
    switch (solver.check()) {
      case z3::unsat:
        reply["status"] = "unsat";
        break;
      case z3::sat:
        reply["status"] = "sat";
        if (request.value("model", false)) reply["detail"] = solver.get_model().to_string();
        break;
      case z3::unknown:
        reply["status"] = "unknown";
        reply["detail"] = solver.reason_unknown();
        break;
    }
  } catch (const z3::exception& error) {
    reply["status"] = "failed";
    reply["detail"] = error.msg();
  } catch (const std::exception& error) {
    reply["status"] = "failed";
    reply["detail"] = error.what();
  }
  return reply;
}

}  // namespace

int serveSolver(std::istream& in, std::ostream& out) {
  {
    // Get the library ready before the first question.
    z3::context context;
    z3::solver solver(context, z3::solver::simple());
    solver.from_string("(declare-const x Real)(assert (> x 0.0))");
    static_cast<void>(solver.check());
  }
  std::string line;
  while (std::getline(in, line)) {
    const auto request = nlohmann::json::parse(line, nullptr, false);
    nlohmann::json reply{{"status", "failed"}, {"detail", "the query is no JSON object"}};
    if (request.is_object()) reply = answer(request);
    out << reply.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n" << std::flush;
  }
  return 0;
}

}  // namespace nuscope::proof
