#pragma once
// The graphs of two programs in one picture: what only the left one computes is dashed, what only the right
// one computes or computes elsewhere is marked.
#include <memory>

#include "views/variants/variant_content.h"
#include "views/view.h"

namespace nuscope::views {

class GraphWidget;

/// Two programs of one store, compared; a value that jobs may make.
struct GraphDifference {
  tensor::Program right;  ///< keeps the store alive
  Changes changes;
  VariantGraph graph;
};
GraphDifference graphDifference(const tensor::Program& left, const tensor::Program& right);

class DifferenceView : public View {
  Q_OBJECT
 public:
  explicit DifferenceView(const ViewContext& context, QWidget* parent = nullptr);
  void show(std::shared_ptr<const GraphDifference> difference);
  void clear();
  [[nodiscard]] GraphWidget& graph() const { return *graph_; }
  [[nodiscard]] const GraphDifference* difference() const { return difference_.get(); }

  [[nodiscard]] QSizeF exportSize() const override;
  void paintExport(QPainter& painter) const override;
  [[nodiscard]] QStringList moreExports() const override { return {tr("Graphviz (*.dot)")}; }
  [[nodiscard]] QString exportText(const QString& suffix) const override;
  void fit() override;
  [[nodiscard]] QWidget* focusTarget() const override;
  [[nodiscard]] QString summary() const override;

 private:
  GraphWidget* graph_;
  std::shared_ptr<const GraphDifference> difference_;
};

}  // namespace nuscope::views
