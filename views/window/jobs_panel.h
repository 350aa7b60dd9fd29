#pragma once
// Running jobs with progress, time and a way to stop each; what failed last, with the reason.
#include <QFrame>
#include <QString>
#include <vector>

#include "views/view.h"

class QVBoxLayout;

namespace nuscope::views {

class JobsPanel : public QFrame {
  Q_OBJECT
 public:
  JobsPanel(const ViewContext& context, QWidget* window);
  void openAt(const QPoint& bottomRight);
  /// One line a job; for tests.
  [[nodiscard]] QString plainText() const;

 private:
  struct Past {
    QString title, message;
    bool failed = false;
    double seconds = 0;
  };
  void rebuild();
  ViewContext context_;
  QVBoxLayout* column_;
  QWidget* inside_ = nullptr;
  std::vector<Past> past_;
  QPoint corner_;
};

}  // namespace nuscope::views
