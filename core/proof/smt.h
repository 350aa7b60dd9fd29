#pragma once
// Our own SMT-LIB printer: ground goals with a stated logic, symbols [a-z0-9_] only, no quantifiers.
#include "core/proof/oracle.h"

namespace nuscope::proof {

struct Script {
  std::string hypotheses;  ///< set-logic, declarations, facts about the atoms, hypotheses of the goal
  std::string goal;        ///< the assertions that are to be impossible
};

/// `relaxed`: every integer is declared Real (sound for unsat); else Int, to be solved without nonlinear
/// reasoning.
Script smtScript(Calculus& c, const Goal& goal, bool relaxed);
/// Does the goal need integer reasoning at all?
bool mentionsIntegers(Calculus& c, const Goal& goal);

}  // namespace nuscope::proof
