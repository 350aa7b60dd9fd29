#pragma once
// Steps through a run: first, back, forward, last, and a slider.
#include <QWidget>

class QLabel;
class QSlider;
class QToolButton;

namespace nuscope::views {

class ScheduleDocument;
class ThemeSource;

class StepperBar : public QWidget {
  Q_OBJECT
 public:
  StepperBar(ThemeSource& theme, ScheduleDocument& schedule, QWidget* parent = nullptr);
  [[nodiscard]] QString text() const;

 private:
  void update();
  void retheme();
  ThemeSource& theme_;
  ScheduleDocument& schedule_;
  QLabel* label_;
  QSlider* slider_;
  std::vector<QToolButton*> buttons_;
};

}  // namespace nuscope::views
