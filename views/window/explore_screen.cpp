#include "views/window/explore_screen.h"

#include <QHBoxLayout>
#include <QSplitter>
#include <algorithm>

#include "views/editor/source_view.h"
#include "views/proof/proof_view.h"
#include "views/theme.h"
#include "views/variants/explore_panel.h"
#include "views/variants/inspector_view.h"
#include "views/variants/variant_view.h"
#include "views/variants/variants_view.h"

namespace nuscope::views {

QSplitter* hairSplitter(Qt::Orientation orientation, const char* name, QWidget* parent) {
  auto* splitter = new QSplitter(orientation, parent);
  splitter->setObjectName(QLatin1String(name));
  splitter->setHandleWidth(1);
  splitter->setChildrenCollapsible(false);
  return splitter;
}

void shareOut(QSplitter& splitter, const QList<int>& sizes, const std::vector<int>& stretch) {
  for (std::size_t i = 0; i < stretch.size(); ++i) splitter.setStretchFactor(static_cast<int>(i), stretch[i]);
  splitter.setSizes(sizes);
}

QSplitter* hairSplitter(Qt::Orientation orientation, const char* name, const std::vector<QWidget*>& parts,
                        const QList<int>& sizes, const std::vector<int>& stretch) {
  QSplitter* splitter = hairSplitter(orientation, name, nullptr);
  for (QWidget* part : parts) splitter->addWidget(part);
  shareOut(*splitter, sizes, stretch);
  return splitter;
}

namespace {

QWidget* wrap(QSplitter* splitter, QWidget* parent) {
  auto* screen = new QWidget(parent);
  auto* row = new QHBoxLayout(screen);
  row->setContentsMargins(0, 0, 0, 0);
  row->addWidget(splitter);
  return screen;
}

}  // namespace

QWidget* makeExploreScreen(const ViewContext& context, QWidget* parent) {
  auto* left = hairSplitter(Qt::Vertical, "explore.left",
                            {new SourceView(context), new ExplorePanel(context)}, {300, 420}, {1, 1});
  auto* middle = hairSplitter(Qt::Vertical, "explore.middle",
                              {new VariantsView(context), new VariantView(context)}, {350, 390}, {1, 1});
  auto* right = hairSplitter(Qt::Vertical, "explore.right",
                             {new ProofView(context), new InspectorView(context)}, {470, 250}, {2, 1});
  // Larger letters need wider columns, up to where the graphs would have no room.
  const auto measure = [left, right, theme = &context.theme] {
    for (QSplitter* side : {left, right})
      side->setMinimumWidth(std::min(400, static_cast<int>(240 * theme->theme().scale)));
  };
  QObject::connect(&context.theme, &ThemeSource::changed, left, measure);
  measure();
  auto* all =
      hairSplitter(Qt::Horizontal, "explore.columns", {left, middle, right}, {322, 560, 358}, {1, 3, 1});
  return wrap(all, parent);
}

QWidget* makeProgramScreen(const ViewContext& context, QWidget* parent) {
  auto* right =
      hairSplitter(Qt::Vertical, "program.right",
                   {new VariantView(context, nullptr, true), new InspectorView(context)}, {460, 260}, {2, 1});
  auto* all =
      hairSplitter(Qt::Horizontal, "program.columns", {new SourceView(context), right}, {640, 600}, {1, 1});
  return wrap(all, parent);
}

}  // namespace nuscope::views
