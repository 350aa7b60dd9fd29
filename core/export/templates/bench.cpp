// Repeats the conditions of the study: its inputs (data/), its number of threads, the kernel and the program as plain
// loops in turns, sample by sample, each sample at least 0.1 ms long, on pinned processors where that is allowed.
//
//   ./build/bench [--check] [--json]        --check: compare with the expected values only
//
// Exit code: 0 right, 1 a wrong result, 2 the data cannot be read.
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "bench_cases.h"

#ifndef NUSCOPE_FOLDER
#define NUSCOPE_FOLDER "."
#endif

namespace {

using Clock = std::chrono::steady_clock;

double seconds(Clock::time_point from, Clock::time_point to) { return std::chrono::duration<double>(to - from).count(); }

/// Memory at the start of a page, as in the study.
void* pages(size_t bytes) {
  void* memory = aligned_alloc(4096, (bytes + 8191) / 4096 * 4096);
  if (memory == nullptr) {
    fprintf(stderr, "no memory for %zu bytes\n", bytes);
    exit(2);
  }
  return memory;
}

/// The elements of an .npy file that Nuscope wrote.
void readArray(const std::string& file, void* into, size_t bytes) {
  const std::string path = std::string(NUSCOPE_FOLDER) + "/data/" + file + ".npy";
  FILE* in = fopen(path.c_str(), "rb");
  unsigned char head[10];
  bool ok = in != nullptr && fread(head, 1, 10, in) == 10 && memcmp(head, "\x93NUMPY\x01", 7) == 0;
  ok = ok && fseek(in, 10 + head[8] + 256 * head[9], SEEK_SET) == 0 && fread(into, 1, bytes, in) == bytes &&
       fgetc(in) == EOF;
  if (in != nullptr) fclose(in);
  if (!ok) {
    fprintf(stderr, "%s cannot be read, or is not as it was exported\n", path.c_str());
    exit(2);
  }
}

double element(const Array& array, const void* data, int64_t i) {
  switch (array.type) {
    case 'd': return static_cast<const double*>(data)[i];
    case 'f': return static_cast<const float*>(data)[i];
    case 'i': return static_cast<const int32_t*>(data)[i];
    case 'b': return static_cast<const signed char*>(data)[i];
    default: return static_cast<const unsigned char*>(data)[i];
  }
}

/// The largest error of the results, in bounds of rounding; 4 are allowed.
double worstError(const Case& one, const std::vector<void*>& data) {
  double worst = 0;
  for (int a = 0; a < one.count; ++a) {
    const Array& array = one.arrays[a];
    if (!array.output) continue;
    const std::string folder = std::to_string(one.number) + "/";
    std::vector<double> expected(array.elements), bound(array.elements);
    readArray(folder + "expected_" + array.name, expected.data(), 8 * array.elements);
    readArray(folder + "bound_" + array.name, bound.data(), 8 * array.elements);
    for (int64_t i = 0; i < array.elements; ++i) {
      if (std::isnan(bound[i])) continue;  // not defined, or too close to a jump
      const double error = std::fabs(element(array, data[a], i) - expected[i]);
      const double ratio = error == 0 ? 0 : bound[i] > 0 ? error / bound[i] : INFINITY;
      if (!(ratio <= worst)) worst = std::isnan(ratio) ? INFINITY : ratio;
    }
  }
  return worst;
}

bool pin(int threads) {
  cpu_set_t allowed, chosen;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < threads) return false;
  CPU_ZERO(&chosen);
  for (int cpu = CPU_SETSIZE - 1, left = threads; cpu >= 0 && left > 0; --cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    CPU_SET(cpu, &chosen);
    --left;
  }
  return sched_setaffinity(0, sizeof chosen, &chosen) == 0;
}

double timeOnce(Call call, void** data, int threads, int repeats) {
  const auto start = Clock::now();
  for (int i = 0; i < repeats; ++i) call(data, threads);
  return seconds(start, Clock::now()) / repeats;
}

struct Median {
  double median, low, high;
};

/// The median with order statistics around it that cover it with 95 % (normal approximation of the binomial).
Median medianOf(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const double n = double(samples.size());
  const auto at = [&](double rank) { return samples[size_t(std::clamp(rank, 0.0, n - 1))]; };
  const double median = (at(std::floor((n - 1) / 2)) + at(std::ceil((n - 1) / 2))) / 2;
  return {median, at(std::floor((n - 1.96 * std::sqrt(n)) / 2)), at(std::ceil((n - 1 + 1.96 * std::sqrt(n)) / 2))};
}

struct Outcome {
  double error = 0;
  bool pinned = false;
  Median kernel{}, plain{};
  size_t samples = 0;
};

Outcome run(const Case& one, bool checkOnly) {
  Outcome outcome;
  std::vector<void*> data;
  for (int a = 0; a < one.count; ++a) {
    const Array& array = one.arrays[a];
    data.push_back(pages(array.elements * array.bytes));
    if (array.output) memset(data.back(), 0xFF, array.elements * array.bytes);
    else readArray(std::to_string(one.number) + "/" + array.name, data.back(), array.elements * array.bytes);
  }
  one.kernel(data.data(), one.threads);
  outcome.error = worstError(one, data);
  if (!checkOnly) {
    outcome.pinned = pin(one.threads);
    const Call calls[2] = {one.kernel, one.plain};
    const int count = one.plain != nullptr ? 2 : 1;
    int repeats[2] = {1, 1};
    bool again[2] = {false, false};  // a call that is not timed, for the other one has used the caches
    double budget = 2;
    for (int k = 0; k < count; ++k) {
      double once = timeOnce(calls[k], data.data(), one.threads, 1);
      if (once < 5e-3) once = std::min(once, timeOnce(calls[k], data.data(), one.threads, 1));
      repeats[k] = int(std::clamp(100e-6 / std::max(once, 1e-9), 1.0, 10000.0));
      again[k] = count > 1 && once < 5e-3;
      if (k == 1) budget += std::min(21 * once, 8.0);
    }
    std::vector<double> samples[2];
    const auto start = Clock::now();
    for (int round = 0; round < 150; ++round) {
      for (int turn = 0; turn < count; ++turn) {
        const int k = round % 2 == 0 ? turn : count - 1 - turn;
        if (again[k]) calls[k](data.data(), one.threads);
        samples[k].push_back(timeOnce(calls[k], data.data(), one.threads, repeats[k]));
      }
      if (round >= 10 && seconds(start, Clock::now()) > budget) break;
    }
    outcome.samples = samples[0].size();
    outcome.kernel = medianOf(samples[0]);
    if (count == 2) outcome.plain = medianOf(samples[1]);
  }
  for (void* memory : data) free(memory);
  return outcome;
}

void print(const Case& one, const Outcome& outcome, bool checkOnly) {
  printf("%s: %s, off by %.3g bounds of rounding (4 are allowed)\n", one.extents, outcome.error <= 4 ? "right" : "WRONG",
         outcome.error);
  if (checkOnly) return;
  printf("  kernel       %10.3f ms  (95 %%: %.3f .. %.3f), %zu samples, %d thread%s%s\n", outcome.kernel.median * 1e3,
         outcome.kernel.low * 1e3, outcome.kernel.high * 1e3, outcome.samples, one.threads, one.threads == 1 ? "" : "s",
         outcome.pinned ? ", pinned" : "");
  if (one.plain != nullptr)
    printf("  plain loops  %10.3f ms  (95 %%: %.3f .. %.3f): the kernel is %.2f times as fast\n", outcome.plain.median * 1e3,
           outcome.plain.low * 1e3, outcome.plain.high * 1e3, outcome.plain.median / outcome.kernel.median);
  if (one.studied > 0)
    printf("  in the study %10.3f ms  (95 %%: %.3f .. %.3f) on %s\n", one.studied * 1e3, one.studiedLow * 1e3,
           one.studiedHigh * 1e3, one.device);
  if (one.studiedPlain > 0) printf("  plain there  %10.3f ms\n", one.studiedPlain * 1e3);
}

void printJson(const Case& one, const Outcome& o, bool first) {
  printf("%s{\"extents\": \"%s\", \"error\": %.9g, \"threads\": %d, \"pinned\": %s, \"samples\": %zu, \"median_s\": %.9g, "
         "\"low_s\": %.9g, \"high_s\": %.9g, \"plain_s\": %.9g, \"study_s\": %.9g}",
         first ? "[" : ",\n ", one.extents, std::isfinite(o.error) ? o.error : 1e308, one.threads,
         o.pinned ? "true" : "false", o.samples, o.kernel.median, o.kernel.low, o.kernel.high, o.plain.median, one.studied);
}

}  // namespace

int main(int argc, char** argv) {
  bool checkOnly = false, json = false;
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--check") == 0) checkOnly = true;
    else if (strcmp(argv[i], "--json") == 0) json = true;
    else return fprintf(stderr, "usage: bench [--check] [--json]\n"), 2;
  }
  bool right = true, first = true;
  for (const Case& one : cases) {
    const Outcome outcome = run(one, checkOnly);
    right = right && outcome.error <= 4;
    if (json) printJson(one, outcome, first);
    else print(one, outcome, checkOnly);
    first = false;
  }
  if (json) printf("]\n");
  return right ? 0 : 1;
}
