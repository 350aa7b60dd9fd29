#include "core/sweep/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
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

class Enumeration {
 public:
  Enumeration(const nugraph::NuGraph& graph, const tensor::Extents& extents, const machine::Target& target,
              int threads, const std::string& toolchain)
      : graph_(graph),
        extents_(extents),
        target_(target),
        threads_(threads),
        toolchain_(toolchain),
        runtime_(runtimeHash()) {}

  void addVariant(const nugraph::Variant& variant, std::size_t limit) {
    const tiling::Space space = tiling::spaceOf(graph_.root(), variant.results, extents_, target_);
    found_.admitted += space.admitted;
    if (space.admitted == 0) {
      found_.notes.push_back(fmt::format("variant {} ({}) has no candidate on {}: {}", variant.id,
                                         variant.title, target_.name, fmt::join(space.conflict, "; ")));
      return;
    }
    for (const tiling::Parameters& parameters : tiling::enumerate(space, limit)) {
      if (!addPoint(variant, parameters)) return;
    }
  }

  Candidates take() { return std::move(found_); }

 private:
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
    const double modelled =
        emit::modelledSeconds(graph_.root(), variant.results, extents_, target_, parameters, threads_);
    entrant.record.modelledSeconds = std::isfinite(modelled) ? modelled : 0;
    entrant.function = kernel->name;
    entrant.text = kernel->text;
    entrant.command = kernel->compileCommand;
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
  std::unordered_set<std::string> texts_;
  Candidates found_;
};

}  // namespace

Candidates enumerateCandidates(const nugraph::NuGraph& graph, const tensor::Extents& extents,
                               const machine::Target& target, const std::vector<int>& variants, int threads,
                               int limit, const std::string& toolchain, const Progress& progress) {
  std::vector<const nugraph::Variant*> chosen;
  for (const nugraph::Variant& variant : graph.variants()) {
    if (variants.empty() || std::find(variants.begin(), variants.end(), variant.id) != variants.end())
      chosen.push_back(&variant);
  }
  for (const int id : variants) {
    if (id < 0 || id >= static_cast<int>(graph.variants().size()))
      throw UserError(fmt::format("there is no variant {}", id));
  }
  Enumeration enumeration(graph, extents, target, threads, toolchain);
  const std::size_t each =
      std::max<std::size_t>(8, static_cast<std::size_t>(limit) / std::max<std::size_t>(chosen.size(), 1));
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    progress.check();
    progress.report(static_cast<double>(i) / static_cast<double>(chosen.size()), "emitting candidates");
    enumeration.addVariant(*chosen[i], each);
  }
  Candidates candidates = enumeration.take();
  const auto seen = static_cast<std::int64_t>(candidates.entrants.size()) + candidates.merged;
  if (seen < candidates.admitted) {
    candidates.notes.push_back(
        fmt::format("{} of {} admitted points were enumerated, spread evenly over {} variants", seen,
                    candidates.admitted, chosen.size()));
  }
  return candidates;
}

}  // namespace nuscope::sweep
