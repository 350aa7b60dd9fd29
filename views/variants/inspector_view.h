#pragma once
// Everything about the selected node: operator, type, operands, users, place in the text, definedness,
// formula.
#include "core/tensor/graph.h"
#include "views/view.h"

class QFormLayout;
class QLabel;
class QStackedWidget;

namespace nuscope::views {

class MathView;

class InspectorView : public View {
  Q_OBJECT
 public:
  explicit InspectorView(const ViewContext& context, QWidget* parent = nullptr);
  /// "Operator: divide" lines, for tests and the clipboard.
  [[nodiscard]] QString plainText() const;
  [[nodiscard]] QString summary() const override { return plainText(); }
  [[nodiscard]] QString csv() const override;

 protected:
  void refresh() override;
  void themeChanged() override;

 private:
  struct Fact {
    QString name, value;
    bool code = false;
  };
  [[nodiscard]] std::vector<Fact> facts(const tensor::Program& program, tensor::NodeRef node) const;
  void show(const std::vector<Fact>& facts);

  QStackedWidget* pages_;
  QLabel* empty_;
  QWidget* sheet_;
  QFormLayout* form_;
  QLabel* note_;
  MathView* formula_;
  std::vector<Fact> shown_;
  tensor::NodeRef node_ = nullptr;
  tensor::NodeRef formulaOf_ = nullptr;
};

}  // namespace nuscope::views
