#include "core/sweep/baselines.h"

#include <fmt/format.h>

#include "core/sweep/plain.h"

namespace nuscope::sweep {
namespace {

std::string threadsText(int threads) {
  return fmt::format("{} thread{}", threads, threads == 1 ? "" : "s");
}

Entrant baseline(std::string label) {
  Entrant entrant;
  entrant.record.kind = CandidateKind::baseline;
  entrant.record.label = std::move(label);
  return entrant;
}

void skip(Entrant& entrant, std::string reason) {
  entrant.record.state = CandidateState::skipped;
  entrant.record.reason = std::move(reason);
}

void fill(Entrant& entrant, const PlainKernel& kernel, const tensor::Program& program,
          const std::string& toolchain) {
  entrant.function = kernel.function;
  entrant.text = kernel.text;
  entrant.command = kernel.command;
  entrant.record.kernel = textHash(kernel.text);
  entrant.toolchain = toolchain;
  entrant.results = program.results;
}

}  // namespace

std::vector<Entrant> makeBaselines(const tensor::Program& program, const tensor::Extents& extents,
                                   const Hello& worker, int threads) {
  std::vector<Entrant> baselines;
  const std::string flags = fmt::format("-O3 -march=native{}", threads > 1 ? " -fopenmp" : "");
  Entrant plain =
      baseline(fmt::format("plain C++ loops ({} {}), {}", worker.compiler, flags, threadsText(threads)));
  const auto loops = emitPlain(program, extents, {false, threads});
  if (loops) {
    fill(plain, *loops, program, fmt::format("{} {}", worker.compiler, flags));
  } else {
    skip(plain, loops.refusal().message);
  }
  baselines.push_back(std::move(plain));

  const auto found = worker.libraries.find("openblas");
  const Library blas = found == worker.libraries.end()
                           ? Library{false, "the worker knows nothing of OpenBLAS"}
                           : found->second;
  Entrant withBlas = baseline(fmt::format("{} and plain C++ loops, {}",
                                          blas.available ? blas.text : "OpenBLAS", threadsText(threads)));
  const auto calls = emitPlain(program, extents, {true, threads});
  if (!blas.available) {
    skip(withBlas, blas.text);
  } else if (!calls) {
    skip(withBlas, calls.refusal().message);
  } else if (!calls->usesBlas) {
    skip(withBlas, "the program has no matmul that BLAS takes");
  } else {
    fill(withBlas, *calls, program, fmt::format("{} {}, {}", worker.compiler, flags, blas.text));
  }
  baselines.push_back(std::move(withBlas));
  return baselines;
}

}  // namespace nuscope::sweep
