#pragma once
// The tensors of a counterexample as small tables: inputs first, then the differing result of both sides with
// the differing element marked by colour, by a frame and by name. A plain class that paints; a widget around
// it.
#include <QString>
#include <QWidget>
#include <optional>
#include <vector>

#include "core/proof/verdict.h"

namespace nuscope::views {

class ThemeSource;
struct Theme;

/// One element for people: "undefined" for NaN, "true", "-inf" as a sign.
QString valueText(double value, tensor::DType dtype);

/// One tensor as cells of text, at most `limit` rows and columns; axes before the last two are stacked.
struct TensorCells {
  QString name;
  std::vector<std::vector<QString>> rows;
  std::optional<std::pair<std::size_t, std::size_t>> marked;  ///< row and column
  QString cut;  ///< "8 of 512 rows" when not all is shown; else empty
};
TensorCells tensorCells(const QString& name, const semantics::TensorValue& value,
                        const std::vector<std::int64_t>* markedIndex, const QString& markedText,
                        std::size_t limit = 8);

/// Inputs in the order of the signature (by name if it has none), then "left" and "right".
std::vector<TensorCells> counterexampleCells(const proof::Counterexample& counterexample,
                                             const std::vector<std::string>& order);

/// "M = 1, K = 2; x = [[1, -1]]; left [0, 0] = 1; right [0, 0] = 0".
QString counterexampleText(const proof::Counterexample& counterexample,
                           const std::vector<std::string>& order);

class CounterexampleView : public QWidget {
  Q_OBJECT
 public:
  explicit CounterexampleView(ThemeSource& theme, QWidget* parent = nullptr);
  void show(const proof::Counterexample& counterexample, const std::vector<std::string>& order);
  [[nodiscard]] bool hasHeightForWidth() const override { return true; }
  [[nodiscard]] int heightForWidth(int width) const override;
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] const std::vector<TensorCells>& cells() const { return tensors_; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;  ///< Ctrl+C copies

 private:
  struct Placed {
    QRectF area;
    std::vector<double> columns;  ///< widths
  };
  double place(double width, std::vector<Placed>& placed) const;
  ThemeSource& theme_;
  std::vector<TensorCells> tensors_;
  QString text_;
};

}  // namespace nuscope::views
