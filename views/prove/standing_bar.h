#pragma once
// Below the verdict: where the right side stands among the variants, and the acts that go with it.
#include <QWidget>

#include "views/marks.h"

class QLabel;
class QPushButton;

namespace nuscope::views {

class Commands;
class StateLabel;
class ThemeSource;

class StandingBar : public QWidget {
  Q_OBJECT
 public:
  StandingBar(ThemeSource& theme, Commands& commands, QWidget* parent = nullptr);
  /// What is known; empty: nothing was asked yet.
  void setStanding(Mark mark, const QString& words);
  [[nodiscard]] Mark mark() const;
  [[nodiscard]] QString words() const;
  /// `why`: in words, why it cannot be added now; empty: it can.
  void setWhyNot(const QString& why);
  [[nodiscard]] QPushButton& add() const { return *add_; }
  [[nodiscard]] QPushButton& ask() const { return *ask_; }
  [[nodiscard]] QPushButton& takeBack() const { return *takeBack_; }

 private:
  void retheme();
  ThemeSource& theme_;
  StateLabel* mark_;
  QLabel* words_;
  QPushButton *add_, *ask_, *takeBack_;
};

}  // namespace nuscope::views
