#pragma once
// Left bottom: why the chosen finding is one, in sentences whose names can be clicked, and its repairs, each
// checked, with preview and apply.
#include <tuple>

#include "views/view.h"

class QLabel;
class QScrollArea;
class QVBoxLayout;

namespace nuscope::views {

class ScheduleDocument;

class WhyView : public View {
  Q_OBJECT
 public:
  explicit WhyView(const ViewContext& context, QWidget* parent = nullptr);
  [[nodiscard]] QWidget* focusTarget() const override;
  [[nodiscard]] QString summary() const override;
  [[nodiscard]] QString plainText() const;  ///< sentences and repairs, for the clipboard and tests

 protected:
  void refresh() override;
  void fillContextMenu(QMenu& menu) override;

 private:
  void addSentences();
  void addRepairs();
  void addRepair(int repair, bool first);
  void addText(const QString& html, bool muted);
  void addNumbered(int number, const QString& html);
  QLabel* label(const QString& html);
  void follow(const QString& link);
  [[nodiscard]] std::tuple<int, int, bool> asked() const;
  ScheduleDocument& schedule_;
  QScrollArea* scroll_;
  QVBoxLayout* column_ = nullptr;
  std::tuple<int, int, bool> told_{-1, -1, false};  ///< finding, fault, and whether its detail was there
};

}  // namespace nuscope::views
