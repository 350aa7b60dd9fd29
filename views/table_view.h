#pragma once
// Tables that look and behave alike: 24 px rows, no grid, right-aligned numbers in the monospaced face, rows
// copied as text, export as CSV, and a model that is told by functions.
#include <QAbstractTableModel>
#include <QTableView>
#include <functional>
#include <optional>
#include <vector>

namespace nuscope::views {

class ThemeSource;

/// How a cell is shown, besides Qt's roles.
enum TableRole {
  markRole = Qt::UserRole + 1,  ///< int(Mark) of marks.h: painted before the text
  mutedRole,                    ///< bool: secondary text
  monoRole,                     ///< bool: monospaced face
  sortRole,                     ///< value to sort by, where the text does not sort
  strongRole                    ///< bool: semi-bold
};

struct Column {
  QString title;        ///< with the unit: "Median ms"
  QString help;         ///< tooltip of the header
  bool number = false;  ///< right-aligned, monospaced, sorts as a number
  /// Text for DisplayRole; other roles may return an invalid QVariant.
  std::function<QVariant(int row, int role)> data;
};

/// Rows are numbers 0 .. n-1; the functions look them up. Append-only growth inserts rows, everything else
/// resets.
class RowsModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  explicit RowsModel(std::vector<Column> columns, QObject* parent = nullptr);
  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  /// The data behind the functions changed: same meaning of rows, perhaps more of them.
  void setRows(int count);
  /// Other rows altogether.
  void resetRows(int count);

 private:
  std::vector<Column> columns_;
  int rows_ = 0;
};

class TableView : public QTableView {
  Q_OBJECT
 public:
  explicit TableView(ThemeSource& theme, QWidget* parent = nullptr);
  /// Visible rows and columns in the order shown.
  [[nodiscard]] QString csv() const;
  /// Rows and columns as lines of text separated by tabs; for the clipboard and tests.
  [[nodiscard]] QString plainText(bool selectedOnly) const;
  /// Columns get the width of their contents (of the first screen), again at another scale; the given one
  /// takes what is left.
  void fitColumns(int stretch);

 protected:
  void keyPressEvent(QKeyEvent* event) override;  ///< Ctrl+C

 private:
  ThemeSource& theme_;
  std::optional<int> fitted_;  ///< the column that took what was left
  double fittedScale_ = 1;
};

/// One CSV field, quoted where needed.
QString csvField(const QString& text);

}  // namespace nuscope::views
