#pragma once
// Every value of both sides at a counterexample, one row each, and where they part: by a word and by colour.
// A plain table that paints; the values come from core/semantics/parting.h.
#include <QString>
#include <QWidget>
#include <vector>

#include "core/semantics/parting.h"

namespace nuscope::views {

class ThemeSource;

struct PartingRow {
  QString name;         ///< "r[0, 0]": with the element that is shown
  QString left, right;  ///< empty where that side has none
  QString word;         ///< "parts here", "differs", "left only"; empty where they agree
  bool parts = false;
  bool differs = false;
};

/// Tensors of a few elements are shown whole where the sides agree, else the element in which they differ.
std::vector<PartingRow> partingRows(const semantics::Partings& partings);

class PartingView : public QWidget {
  Q_OBJECT
 public:
  explicit PartingView(ThemeSource& theme, QWidget* parent = nullptr);
  void setRows(std::vector<PartingRow> rows);
  [[nodiscard]] const std::vector<PartingRow>& rows() const { return rows_; }
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;
  /// Columns separated by tabs; for the clipboard and tests.
  [[nodiscard]] QString text() const;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;  ///< Ctrl+C copies

 private:
  ThemeSource& theme_;
  std::vector<PartingRow> rows_;
};

}  // namespace nuscope::views
