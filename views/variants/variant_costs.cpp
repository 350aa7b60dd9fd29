#include "views/variants/variant_costs.h"

#include <cmath>

#include "core/emit/model.h"
#include "core/machine/calibration.h"
#include "core/machine/target.h"
#include "core/nugraph/nugraph.h"
#include "core/tiling/space.h"
#include "views/document.h"
#include "views/jobs.h"
#include "views/text.h"

namespace nuscope::views {

namespace {

struct Costs {
  std::unordered_map<int, double> seconds;
  QString target, why;
};

Costs modelled(const nugraph::NuGraph& graph, const tensor::Extents& extents, const Progress& progress) {
  const machine::HostTarget host = machine::hostTarget();
  Costs costs{{}, qs(host.name), qs(host.why)};
  const machine::Target target = machine::thisMachine(machine::loadTarget(host.name), 1);
  for (const nugraph::Variant& variant : graph.variants()) {
    progress.check();
    try {
      const tiling::Parameters presets =
          tiling::spaceOf(graph.root(), variant.results, extents, target).presets();
      const double seconds = emit::modelledSeconds(graph.root(), variant.results, extents, target, presets);
      if (std::isfinite(seconds) && seconds > 0) costs.seconds[variant.id] = seconds;
    } catch (const UserError&) {
      // extents that the asserts forbid, or a dtype that the target lacks: no figure for this variant
    }
  }
  return costs;
}

}  // namespace

VariantCosts* VariantCosts::of(Document& document) {
  auto* found = document.findChild<VariantCosts*>();
  return found ? found : new VariantCosts(document);
}

VariantCosts::VariantCosts(Document& document) : QObject(&document), document_(document) {
  connect(&document_, &Document::opened, this, [this] {
    seconds_.clear();
    start();
  });
  connect(&document_, &Document::exploreChanged, this, &VariantCosts::start);
  connect(&document_, &Document::extentsChanged, this, &VariantCosts::start);
  start();
}

void VariantCosts::start() {
  const auto graph = document_.nuGraph();
  if (document_.exploreState().running) {
    seconds_.clear();
    return;
  }
  if (!graph) return;
  const tensor::Extents extents = document_.extents();
  document_.jobs().run(
      this, {.title = tr("Model variants"), .lane = QStringLiteral("model"), .quiet = true},
      [graph, extents](JobHandle& job) { return modelled(*graph, extents, job.progress()); },
      [this](Costs costs) {
        seconds_ = std::move(costs.seconds);
        target_ = costs.target;
        why_ = costs.why;
        Q_EMIT changed();
      });
}

}  // namespace nuscope::views
