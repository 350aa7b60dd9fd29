#include "views/prove/difference_view.h"

#include "views/graph/graph_widget.h"
#include "views/theme.h"

namespace nuscope::views {

GraphDifference graphDifference(const tensor::Program& left, const tensor::Program& right) {
  GraphDifference result{right, compareVariants(left.results, right.results, {}), {}};
  VariantOptions options;
  options.ghosts = true;
  options.mostCards = 400;
  result.graph = variantGraph(right, right.results, left.results, result.changes, options);
  return result;
}

DifferenceView::DifferenceView(const ViewContext& viewContext, QWidget* parent)
    : View(viewContext, "difference", tr("Difference"), parent),
      graph_(new GraphWidget(context().theme, context().jobs, QStringLiteral("difference"))) {
  graph_->setAccessibleName(tr("Both graphs, with what differs"));
  addHeaderButton(QStringLiteral("fit"), tr("Fit to window (F)"), [this] { fit(); });
  setContent(graph_);
  connect(graph_, &GraphWidget::boxChosen, this, [this](quint64 key) { graph_->setSelectedBox(key); });
}

void DifferenceView::show(std::shared_ptr<const GraphDifference> difference) {
  difference_ = std::move(difference);
  graph_->setContent(difference_->graph.content);
  setSubtitle(difference_->changes.any() ? tr("right against left: %1").arg(difference_->changes.text())
                                         : tr("the same operators on both sides"));
}

void DifferenceView::clear() {
  difference_.reset();
  graph_->setContent({});
  setSubtitle({});
}

QSizeF DifferenceView::exportSize() const {
  return graph_->pictureSize();
}
void DifferenceView::paintExport(QPainter& painter) const {
  graph_->paintPicture(painter);
}
QString DifferenceView::exportText(const QString& suffix) const {
  return suffix == QLatin1String("dot") ? graph_->dot() : QString();
}
void DifferenceView::fit() {
  graph_->fit();
}
QWidget* DifferenceView::focusTarget() const {
  return graph_;
}
QString DifferenceView::summary() const {
  return difference_ ? difference_->changes.text() : QString();
}

}  // namespace nuscope::views

#include "moc_difference_view.cpp"
