#pragma once
// A row below the top bar that says what went wrong, why, and what to do; it goes when closed, or when
// replaced.
#include <QWidget>
#include <functional>

#include "views/marks.h"

class QLabel;
class QPushButton;

namespace nuscope::views {

class ThemeSource;

class MessageBar : public QWidget {
  Q_OBJECT
 public:
  explicit MessageBar(ThemeSource& theme, QWidget* parent = nullptr);
  void say(Mark mark, const QString& text, const QString& actText = {},
           const std::function<void()>& act = {});
  [[nodiscard]] QString text() const;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  ThemeSource& theme_;
  Mark mark_ = Mark::none;
  QLabel* text_;
  QPushButton* act_;
  std::function<void()> action_;
};

}  // namespace nuscope::views
