#include "core/sweep/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <unordered_set>

#include "core/base/diagnostics.h"
#include "core/base/files.h"
#include "core/emit/kernel.h"
#include "core/emit/model.h"
#include "core/tiling/space.h"

namespace nuscope::sweep {
namespace {

/// The runtime header is part of every kernel: another header, another measurement.
std::string runtimeHash() {
  std::vector<std::filesystem::path> files;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(emit::runtimeFolder(), ignored))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::string all;
  for (const auto& file : files) all += readWholeFile(file);
  return textHash(all).substr(0, 12);
}

std::string flagsOf(const std::vector<std::string>& command) {
  std::string flags;
  for (std::size_t i = 1; i < command.size(); ++i) {
    const std::string& word = command[i];
    if (word == "{source}" || word == "{output}" || word == "-o" || word.starts_with("-I")) continue;
    flags += " " + word;
  }
  return flags;
}

constexpr std::size_t poolFactor = 8;

class Enumeration {
 public:
  Enumeration(const nugraph::NuGraph& graph, const tensor::Extents& extents, const machine::Target& target,
              int threads, const std::string& toolchain)
      : graph_(graph),
        extents_(extents),
        target_(target),
        threads_(threads),
        toolchain_(toolchain),
        runtime_(runtimeHash()),
        command_(emit::compileApart(target)),
        object_{"nuscope_runtime", emit::runtimeObject(), emit::objectCommand(target),
                std::string(emit::runtimeObjectName)} {}

  void addVariant(const nugraph::Variant& variant, const tiling::Space& space, std::size_t limit,
                  const Progress& progress) {
    found_.admitted += space.admitted;
    if (space.admitted == 0) {
      const std::string why = space.conflict.empty() ? "it takes none of the values that were asked for"
                                                     : fmt::format("{}", fmt::join(space.conflict, "; "));
      found_.notes.push_back(fmt::format("variant {} ({}) has no candidate on {}: {}", variant.id,
                                         variant.title, target_.name, why));
      return;
    }
    for (const tiling::Parameters& parameters : pointsOf(variant, space, limit, progress)) {
      progress.check();
      if (!addPoint(variant, parameters)) return;
    }
  }

  Candidates take() { return std::move(found_); }

 private:
  /// All points; of too many, half spread evenly, and the fastest by the model among several times as many.
  std::vector<tiling::Parameters> pointsOf(const nugraph::Variant& variant, const tiling::Space& space,
                                           std::size_t limit, const Progress& progress) const {
    if (static_cast<std::size_t>(space.admitted) <= limit) return tiling::enumerate(space, limit);
    std::vector<tiling::Parameters> points = tiling::enumerate(space, (limit + 1) / 2);
    const auto kernel = emit::emitHost(graph_.root(), variant.results, extents_, target_, points[0]);
    if (!kernel) return points;
    std::vector<std::pair<double, tiling::Parameters>> pool;
    for (tiling::Parameters& parameters : tiling::enumerate(space, poolFactor * limit)) {
      progress.check();
      const auto work =
          emit::workOf(graph_.root(), variant.results, extents_, target_, parameters, kernel->withoutVectors);
      pool.emplace_back(machine::modelledSeconds(work, target_, threads_), std::move(parameters));
    }
    std::ranges::stable_sort(pool, {}, [](const auto& one) { return one.first; });
    std::set<tiling::Parameters> taken(points.begin(), points.end());
    for (auto& [seconds, parameters] : pool) {
      if (points.size() >= limit) break;
      if (taken.insert(parameters).second) points.push_back(std::move(parameters));
    }
    return points;
  }
  /// False when the variant cannot be emitted at all.
  bool addPoint(const nugraph::Variant& variant, const tiling::Parameters& parameters) {
    auto kernel = emit::emitHost(graph_.root(), variant.results, extents_, target_, parameters);
    if (!kernel) {
      found_.notes.push_back(fmt::format("variant {} ({}) cannot be emitted: {}", variant.id, variant.title,
                                         kernel.refusal().message));
      return false;
    }
    if (!texts_.insert(textHash(kernel->text)).second) {
      ++found_.merged;
      return true;
    }
    Entrant entrant;
    entrant.record.label = variant.title;
    entrant.record.variant = variant.id;
    entrant.record.parameters = parameters;
    entrant.record.kernel = textHash(kernel->text);
    const auto work =
        emit::workOf(graph_.root(), variant.results, extents_, target_, parameters, kernel->withoutVectors);
    entrant.record.modelledSeconds = machine::modelledSeconds(work, target_, threads_);
    entrant.function = kernel->name;
    entrant.text = kernel->text;
    entrant.command = command_;
    entrant.object = object_;
    entrant.toolchain =
        fmt::format("{}{}, runtime {}", toolchain_, flagsOf(kernel->compileCommand), runtime_);
    entrant.results = variant.results;
    found_.entrants.push_back(std::move(entrant));
    return true;
  }

  const nugraph::NuGraph& graph_;
  const tensor::Extents& extents_;
  const machine::Target& target_;
  int threads_;
  const std::string& toolchain_;
  std::string runtime_;
  std::vector<std::string> command_;
  CompileJob object_;
  std::unordered_set<std::string> texts_;
  Candidates found_;
};

std::vector<const nugraph::Variant*> chosenVariants(const nugraph::NuGraph& graph,
                                                    const std::vector<int>& ids) {
  std::vector<const nugraph::Variant*> chosen;
  for (const nugraph::Variant& variant : graph.variants()) {
    if (ids.empty() || std::find(ids.begin(), ids.end(), variant.id) != ids.end()) chosen.push_back(&variant);
  }
  for (const int id : ids) {
    if (id < 0 || id >= static_cast<int>(graph.variants().size()))
      throw UserError(
          fmt::format("there is no variant {}; there are 0 to {}", id, graph.variants().size() - 1));
  }
  return chosen;
}

/// Every parameter and value of `only` exists in some space, or a UserError lists those that do.
void checkNarrowing(const Narrowing& narrowing, const std::vector<tiling::Space>& spaces) {
  std::map<std::string, std::set<std::int64_t>> all;
  for (const tiling::Space& space : spaces) {
    for (const tiling::Parameter& one : space.parameters)
      all[one.name].insert(one.values.begin(), one.values.end());
  }
  for (const auto& [name, values] : narrowing.only) {
    const auto known = all.find(name);
    if (known == all.end()) {
      std::string list;
      for (const auto& [parameter, taken] : all)
        list += fmt::format("\n  {} = {}", parameter, fmt::join(taken, ", "));
      throw UserError(fmt::format("no variant has a parameter {} here; there are:{}", name, list));
    }
    for (const std::int64_t value : values) {
      if (!known->second.contains(value))
        throw UserError(fmt::format("{} does not take {} here; it takes: {}", name, value,
                                    fmt::join(known->second, ", ")));
    }
  }
}

}  // namespace

std::string Narrowing::text() const {
  std::string text;
  if (!variants.empty()) text = fmt::format("variants {}", fmt::join(variants, ", "));
  for (const auto& [name, values] : only)
    text += fmt::format("{}{} = {}", text.empty() ? "" : "; ", name, fmt::join(values, ", "));
  return text;
}

Candidates enumerateCandidates(const nugraph::NuGraph& graph, const tensor::Extents& extents,
                               const machine::Target& target, const Narrowing& narrowing, int threads,
                               int limit, const std::string& toolchain, const Progress& progress) {
  const auto chosen = chosenVariants(graph, narrowing.variants);
  std::vector<tiling::Space> spaces;
  for (const nugraph::Variant* variant : chosen) {
    progress.check();
    spaces.push_back(tiling::spaceOf(graph.root(), variant->results, extents, target));
  }
  checkNarrowing(narrowing, spaces);
  if (!narrowing.only.empty()) {
    for (tiling::Space& space : spaces) tiling::narrow(space, narrowing.only);
  }
  Enumeration enumeration(graph, extents, target, threads, toolchain);
  const std::size_t each =
      std::max<std::size_t>(8, static_cast<std::size_t>(limit) / std::max<std::size_t>(chosen.size(), 1));
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    progress.check();
    progress.report(static_cast<double>(i) / static_cast<double>(chosen.size()), "emitting candidates");
    enumeration.addVariant(*chosen[i], spaces[i], each, progress);
  }
  Candidates candidates = enumeration.take();
  const auto seen = static_cast<std::int64_t>(candidates.entrants.size()) + candidates.merged;
  if (seen < candidates.admitted) {
    candidates.notes.push_back(fmt::format(
        "{} of {} admitted points were enumerated, of each of {} variants as many: half spread evenly, "
        "half the fastest by the model",
        seen, candidates.admitted, chosen.size()));
  }
  return candidates;
}

}  // namespace nuscope::sweep
