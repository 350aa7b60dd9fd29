// `nuscope solve` without the rest of nuscope, so that the prover's tests need only the prover.
#include <iostream>

#include "core/proof/solver_pool.h"

int main() {
  return nuscope::proof::serveSolver(std::cin, std::cout);
}
