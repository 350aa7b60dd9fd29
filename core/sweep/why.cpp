#include "core/sweep/why.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <set>

#if defined(__linux__)
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "core/base/diagnostics.h"
#include "core/emit/kernel.h"
#include "core/emit/model.h"
#include "core/sweep/statistics.h"

namespace nuscope::sweep {
namespace {

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// What the description promises, for a machine that was not calibrated.
machine::Ceiling nominal(const machine::Target& target, int threads) {
  const machine::VectorUnit& unit = target.vector;
  machine::Ceiling ceiling;
  ceiling.threads = threads;
  ceiling.gigaflops = unit.floats() * unit.fmaPerCycle * (unit.fma ? 2 : 1) * target.gigahertz * threads;
  for (const machine::MemoryLevel& level : target.memory) {
    const double gain = level.bytes == 0 && threads > 1 ? 1.5 : threads;
    ceiling.gigabytes[level.name] = level.bytesPerCycle * target.gigahertz * gain;
  }
  ceiling.dispatchMicroseconds = target.dispatchMicroseconds;
  return ceiling;
}

std::vector<ParameterDifference> differences(const Parameters& a, const Parameters& b) {
  std::set<std::string> names;
  for (const auto* list : {&a, &b}) {
    for (const auto& [name, value] : *list) names.insert(name);
  }
  const auto valueOf = [](const Parameters& list, const std::string& name) -> std::optional<std::int64_t> {
    const auto found = list.find(name);
    return found == list.end() ? std::nullopt : std::optional(found->second);
  };
  std::vector<ParameterDifference> found;
  for (const std::string& name : names) {
    const auto left = valueOf(a, name);
    const auto right = valueOf(b, name);
    if (left != right) found.push_back({name, left, right});
  }
  return found;
}

std::vector<Share> sharesOf(const machine::Breakdown& a, const machine::Breakdown& b) {
  std::map<std::string, Share> shares;
  for (const auto& [cause, seconds] : a.causes) shares[cause] = {cause, seconds, 0};
  for (const auto& [cause, seconds] : b.causes) {
    shares[cause].cause = cause;
    shares[cause].b = seconds;
  }
  std::vector<Share> list;
  for (const auto& [cause, share] : shares) {
    if (share.a > 0 || share.b > 0) list.push_back(share);
  }
  std::ranges::stable_sort(list, std::greater(), [](const Share& s) { return std::abs(s.b - s.a); });
  return list;
}

bool isTimed(const std::optional<Measurement>& measurement) {
  return measurement && measurement->gate.passed && !measurement->samples.empty();
}

}  // namespace

std::string hardwareCounters() {
#if defined(__linux__)
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.config = PERF_COUNT_HW_CPU_CYCLES;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  const long file = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0UL);
  if (file >= 0) {
    close(static_cast<int>(file));
    return "hardware counters are permitted here, but not read yet: all figures of work are modelled";
  }
  return fmt::format("no hardware counters: this system does not permit them (perf_event_open: {})",
                     std::strerror(errno));
#else
  return "no hardware counters: they are read on Linux only";
#endif
}

Explainer::Explainer(const nugraph::NuGraph& graph, const SweepRecord& sweep)
    : graph_(graph),
      sweep_(sweep),
      target_(machine::loadTarget(sweep.target.empty() ? "host" : sweep.target)) {
  const auto kept = machine::keptCalibration(target_);
  calibrated_ = kept.has_value();
  if (kept) {
    ceiling_ = kept->at(sweep.threads);
    target_ = machine::calibrated(target_, *kept, sweep.threads);
    model_ = fmt::format("calibrated on this machine {}", kept->date);
  } else {
    ceiling_ = nominal(target_, sweep.threads);
    model_ = fmt::format("nominal figures of {}: this machine is not calibrated", target_.name);
  }
}

const nugraph::Variant& Explainer::variantOf(const CandidateRecord& candidate) const {
  if (candidate.kind != CandidateKind::emitted) {
    throw UserError(
        fmt::format("{} is {}: only kernels that Nuscope emits are modelled", candidate.label,
                    candidate.kind == CandidateKind::baseline ? "a baseline" : "a kernel of yours"));
  }
  for (const nugraph::Variant& variant : graph_.variants()) {
    if (variant.id == candidate.variant) return variant;
  }
  throw UserError(fmt::format("candidate {} is of variant {}, which the explored graph has not", candidate.id,
                              candidate.variant));
}

machine::Breakdown Explainer::work(const CandidateRecord& candidate) const {
  const nugraph::Variant& variant = variantOf(candidate);
  return machine::breakdown(
      emit::workOf(graph_.root(), variant.results, sweep_.extents, target_, candidate.parameters), target_,
      sweep_.threads);
}

Account Explainer::account(const CandidateRecord& candidate, std::optional<Measurement> measurement) const {
  const nugraph::Variant& variant = variantOf(candidate);
  const auto kernel =
      emit::emitHost(graph_.root(), variant.results, sweep_.extents, target_, candidate.parameters);
  if (!kernel)
    throw UserError(fmt::format("candidate {} is not emitted: {}", candidate.id, kernel.refusal().message));
  Account account;
  account.candidate = candidate;
  if (isTimed(measurement)) account.measurement = std::move(measurement);
  account.model = machine::breakdown(emit::workOf(graph_.root(), variant.results, sweep_.extents, target_,
                                                  candidate.parameters, kernel->withoutVectors),
                                     target_, sweep_.threads);
  account.code = kernel->text;
  return account;
}

std::vector<std::string> Explainer::steps(int variant) const {
  std::vector<std::string> words;
  for (const int id : graph_.derivation(variant)) {
    for (const nugraph::Step& step : graph_.steps()) {
      if (step.id == id) words.push_back(step.what);
    }
  }
  return words;
}

Why Explainer::why(const CandidateRecord& a, std::optional<Measurement> ofA, const CandidateRecord& b,
                   std::optional<Measurement> ofB) const {
  Why why;
  why.a = account(a, std::move(ofA));
  why.b = account(b, std::move(ofB));
  why.model = model_;
  why.counters = hardwareCounters();
  const auto stepsA = steps(a.variant);
  const auto stepsB = steps(b.variant);
  const auto same = std::ranges::mismatch(stepsA, stepsB);
  why.onlyA.assign(same.in1, stepsA.end());
  why.onlyB.assign(same.in2, stepsB.end());
  why.parameters = differences(a.parameters, b.parameters);
  why.shares = sharesOf(why.a.model, why.b.model);
  why.modelled = why.b.model.seconds - why.a.model.seconds;
  why.code = lineDiff(why.a.code, why.b.code);
  if (!why.a.measurement || !why.b.measurement) return why;
  const Measurement& x = *why.a.measurement;
  const Measurement& y = *why.b.measurement;
  why.measured = y.median - x.median;
  why.unexplained = *why.measured - why.modelled;
  why.tie = x.low <= y.high && y.low <= x.high;
  return why;
}

RooflinePoint rooflinePoint(const CandidateRecord& candidate, double seconds, const machine::Breakdown& work,
                            const machine::Target& target) {
  RooflinePoint point;
  point.candidate = candidate.id;
  point.seconds = seconds;
  point.flops = work.flops;
  for (const machine::MemoryLevel& level : target.memory) {
    const auto found = work.bytes.find(level.name);
    if (found == work.bytes.end() || found->second <= 0) continue;
    point.level = level.name;
    point.bytes = found->second;
  }
  return point;
}

double ParameterEffect::spread() const {
  double least = 0;
  double most = 0;
  for (const Value& value : values) {
    least = least == 0 ? value.median : std::min(least, value.median);
    most = std::max(most, value.median);
  }
  return least > 0 ? most / least : 1;
}

std::vector<ParameterEffect> parameterEffects(const std::vector<TimedPoint>& points) {
  std::map<std::string, std::map<std::int64_t, std::vector<double>>> times;
  for (const TimedPoint& point : points) {
    for (const auto& [name, value] : point.parameters) times[name][value].push_back(point.seconds);
  }
  std::vector<ParameterEffect> effects;
  for (const auto& [name, values] : times) {
    if (values.size() < 2) continue;
    ParameterEffect effect{name, {}};
    for (const auto& [value, seconds] : values) {
      effect.values.push_back(
          {value, static_cast<int>(seconds.size()), *std::ranges::min_element(seconds), median(seconds)});
    }
    effects.push_back(std::move(effect));
  }
  std::ranges::stable_sort(effects, std::greater(), &ParameterEffect::spread);
  return effects;
}

}  // namespace nuscope::sweep
