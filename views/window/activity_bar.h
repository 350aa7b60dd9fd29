#pragma once
// The column of screens at the left: icon over word, the current one with a bar of the selection's colour.
#include <QAction>
#include <QButtonGroup>
#include <QWidget>
#include <vector>

#include "views/screens.h"

namespace nuscope::views {

class ThemeSource;

class ActivityBar : public QWidget {
  Q_OBJECT
 public:
  ActivityBar(ThemeSource& theme, const std::vector<ScreenSpec>& screens, QWidget* parent = nullptr);
  void setCurrent(const QString& id);
  /// A button at the bottom for a panel that a checkable command shows beside the screens.
  void addPanel(QAction& command, const QString& icon);

 Q_SIGNALS:
  void chosen(const QString& id);

 private:
  class Button;
  ThemeSource& theme_;
  std::vector<Button*> buttons_;
  QButtonGroup screens_;  ///< one of them is current
};

}  // namespace nuscope::views
