#pragma once
// What panels of proofs are put together from: hairlines, labels that wrap, marks, sections that fold.
#include <QLabel>
#include <QWidget>
#include <functional>
#include <vector>

#include "views/marks.h"

class QFrame;
class QToolButton;
class QVBoxLayout;

namespace nuscope::views {

struct Theme;

QFrame* hairline(const Theme& theme, QWidget* parent = nullptr);

/// By palette: a style sheet on each of a hundred labels is what makes a window stall.
void colourText(QWidget& widget, const QColor& color);

/// Plain text that wraps and can be selected.
QLabel* wrappedLabel(const QString& text, const QFont& font, const QColor& color);
/// Mathematics of math_text.h, `factor` times as large as running formulas.
QLabel* mathLabel(const QString& html, const Theme& theme, double factor = 1);
QLabel* markLabel(Mark mark, const Theme& theme);

/// A heading that folds what is below it, which is built when it is first unfolded. Mouse, Space and Enter
/// fold and unfold.
class FoldedSection : public QWidget {
  Q_OBJECT
 public:
  FoldedSection(const QString& title, const QString& note, Mark mark, const Theme& theme,
                QWidget* parent = nullptr);
  void setOpen(bool open);
  /// Adds to the body when it is first unfolded, in this order.
  void add(std::function<void(QVBoxLayout&)> build);

 private:
  QToolButton* button_;
  QLabel* arrow_;
  QWidget* body_;
  QVBoxLayout* bodyLayout_;
  std::vector<std::function<void(QVBoxLayout&)>> builders_;
};

}  // namespace nuscope::views
