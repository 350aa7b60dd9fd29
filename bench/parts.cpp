// Parts of the way from a program to its candidates, one by one (Google Benchmark). Built where
// libbenchmark-dev is installed:
//   cmake --build --preset release --target nuscope_parts && build/release/bench/nuscope_parts
#include <benchmark/benchmark.h>

#include "core/emit/kernel.h"
#include "core/emit/model.h"
#include "core/language/parse.h"
#include "core/machine/target.h"
#include "core/tiling/space.h"

namespace nuscope {
namespace {

const tensor::Extents shape{{"M", 512}, {"K", 1024}, {"N", 1024}};

tensor::Program program() {
  return language::parseFile(NUSCOPE_SOURCE_DIR "/resources/programs/rmsnorm_matmul.py");
}

void parse(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(program());
}
BENCHMARK(parse)->Unit(benchmark::kMicrosecond);

void space(benchmark::State& state) {
  const tensor::Program one = program();
  const machine::Target target = machine::loadTarget("host-avx2");
  for (auto _ : state) benchmark::DoNotOptimize(tiling::spaceOf(one, one.results, shape, target));
}
BENCHMARK(space)->Unit(benchmark::kMicrosecond);

void enumerate(benchmark::State& state) {
  const tensor::Program one = program();
  const tiling::Space all = tiling::spaceOf(one, one.results, shape, machine::loadTarget("host-avx2"));
  for (auto _ : state) benchmark::DoNotOptimize(tiling::enumerate(all));
  state.counters["points"] = static_cast<double>(all.admitted);
}
BENCHMARK(enumerate)->Unit(benchmark::kMicrosecond);

void emitKernel(benchmark::State& state) {
  const tensor::Program one = program();
  const machine::Target target = machine::loadTarget("host-avx2");
  for (auto _ : state) benchmark::DoNotOptimize(emit::emitHost(one, one.results, shape, target, {}));
}
BENCHMARK(emitKernel)->Unit(benchmark::kMicrosecond);

void model(benchmark::State& state) {
  const tensor::Program one = program();
  const machine::Target target = machine::loadTarget("host-avx2");
  for (auto _ : state) benchmark::DoNotOptimize(emit::workOf(one, one.results, shape, target, {}, {}));
}
BENCHMARK(model)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace nuscope

BENCHMARK_MAIN();
