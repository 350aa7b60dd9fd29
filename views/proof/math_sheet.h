#pragma once
// Lines of mathematics laid out to a width: two sides under each other, what their names stand for in muted
// ink. A plain class that paints with any QPainter (screen, PNG, SVG); MathView is the widget around it.
#include <QWidget>
#include <functional>

#include "core/semantics/formula.h"
#include "views/proof/formula_box.h"

class QMenu;

namespace nuscope::views {

class ThemeSource;
struct Theme;

struct MathLine {
  QString relation;               ///< before the formula: "", "=", "\u2260"; lines with one are aligned at it
  semantics::FormulaRef left;     ///< "r_m" of "r_m = ..."; null: none
  semantics::FormulaRef formula;  ///< null: only `words`
  FormulaMarks marks;
  QString words;  ///< roman, behind the formula
  bool muted = false;
};

MathColors mathColors(const Theme& theme);

class MathSheet {
 public:
  void setLines(std::vector<MathLine> lines);
  [[nodiscard]] const std::vector<MathLine>& lines() const { return lines_; }
  /// Lays out for at most `width` pixels, running text of `pixelSize`. Cheap when nothing changed.
  void layout(qreal pixelSize, qreal width);
  [[nodiscard]] QSizeF size() const { return size_; }
  void paint(QPainter& painter, QPointF topLeft, const MathColors& colors) const;
  /// One line of Unicode a line; for readers, clipboard and tests.
  [[nodiscard]] QString text() const;

 private:
  std::vector<MathLine> lines_;
  std::vector<std::pair<MathBox, qreal>> placed_;  ///< box and its baseline
  QSizeF size_;
  qreal pixelSize_ = 0;
  qreal width_ = -1;
};

/// Shows a sheet; as high as it needs. Context menu: copy as text, save as SVG or PNG.
class MathView : public QWidget {
  Q_OBJECT
 public:
  explicit MathView(ThemeSource& theme, QWidget* parent = nullptr);
  void setLines(std::vector<MathLine> lines);
  [[nodiscard]] const MathSheet& sheet() const { return sheet_; }
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;
  [[nodiscard]] bool hasHeightForWidth() const override { return true; }
  [[nodiscard]] int heightForWidth(int width) const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;  ///< Ctrl+C copies

 private:
  [[nodiscard]] qreal pixelSize() const;
  void save();
  ThemeSource& theme_;
  mutable MathSheet sheet_;  ///< laid out for the width last asked for
};

}  // namespace nuscope::views
