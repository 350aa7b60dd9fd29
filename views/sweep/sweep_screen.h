#pragma once
// The screen of sweeps: headline with the number that matters, progress and acts; candidates at the left,
// plots and the kernel of the chosen candidate at the right. Before the first sweep it says what a sweep does
// and starts one.
#include <QWidget>

#include "views/sweep/sweep_runner.h"
#include "views/view.h"

class QLabel;
class QProgressBar;
class QPushButton;
class QSpinBox;
class QSplitter;
class QStackedWidget;

namespace nuscope::views {

class CandidatesView;
class CodeView;
class FasterView;
class PlotsView;

class SweepScreen : public QWidget {
  Q_OBJECT
 public:
  explicit SweepScreen(const ViewContext& context, QWidget* parent = nullptr);
  [[nodiscard]] CandidatesView* candidates() const { return candidates_; }
  [[nodiscard]] PlotsView* plots() const { return plots_; }
  [[nodiscard]] CodeView* code() const { return code_; }
  [[nodiscard]] FasterView* faster() const { return faster_; }
  /// The kernel of the chosen candidate, or why it is faster or slower than another.
  enum Detail { kernel, whyFaster };
  void showDetail(int detail);
  [[nodiscard]] SweepRunner* runner() const { return runner_; }
  [[nodiscard]] SweepSettings settings() const;
  void setBudget(int seconds);
  /// The headline and what stands under it; for tests and readers.
  [[nodiscard]] QString summary() const;

 public Q_SLOTS:
  void startSweep();
  void continueSweep();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void buildHeader();
  void update();
  void updateSoon();
  void selectFastest();
  void retheme();

  ViewContext context_;
  bool updateScheduled_ = false;
  SweepRunner* runner_;
  CandidatesView* candidates_;
  PlotsView* plots_;
  CodeView* code_;
  FasterView* faster_;
  QStackedWidget* details_;
  QWidget* header_;
  QLabel *headline_, *subtitle_, *progressText_, *note_;
  QProgressBar* progress_;
  QPushButton *start_, *continue_, *cancel_;
  QSpinBox *seconds_, *threads_;
  QStackedWidget* pages_;
  QSplitter *columns_, *right_;
  QWidget* empty_;
  QLabel *emptyTitle_, *emptyText_, *emptyWhy_;
  QPushButton* emptyStart_;
  QString message_;  ///< why the last sweep failed; empty: it did not
};

}  // namespace nuscope::views
