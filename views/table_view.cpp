#include "views/table_view.h"

#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QKeyEvent>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QTimer>
#include <algorithm>

#include "views/marks.h"
#include "views/theme.h"

namespace nuscope::views {

namespace {

/// Paints mark, text and selection; 2 px of the selection colour at the left edge of the selected row.
class CellDelegate : public QStyledItemDelegate {
 public:
  CellDelegate(ThemeSource& theme, QObject* parent) : QStyledItemDelegate(parent), theme_(theme) {}

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const Theme& t = theme_.theme();
    const bool selected = option.state.testFlag(QStyle::State_Selected);
    const bool hovered = option.state.testFlag(QStyle::State_MouseOver);
    painter->save();
    const QVariant ground = index.data(Qt::BackgroundRole);
    painter->fillRect(option.rect, selected                                          ? t.selectionFill
                                   : ground.canConvert<QColor>() && ground.isValid() ? ground.value<QColor>()
                                   : hovered                                         ? t.hoverFill
                                                                                     : t.surface);
    if (selected && index.column() == firstColumn(option))
      painter->fillRect(QRect(option.rect.topLeft(), QSize(2, option.rect.height())), t.selection);
    QRect box = option.rect.adjusted(t.padding, 0, -t.padding, 0);
    const auto mark = static_cast<Mark>(index.data(markRole).toInt());
    if (mark != Mark::none) {
      const int side = static_cast<int>(14 * t.scale);
      paintMark(*painter, QRectF(box.left(), box.center().y() - side / 2.0 + 0.5, side, side), mark, t);
      box.setLeft(box.left() + side + t.unit);
    }
    QFont font = index.data(monoRole).toBool() ? t.code : t.ui;
    if (index.data(strongRole).toBool()) font.setWeight(QFont::DemiBold);
    painter->setFont(font);
    const QVariant colour = index.data(Qt::ForegroundRole);
    painter->setPen(colour.isValid()                 ? colour.value<QColor>()
                    : index.data(mutedRole).toBool() ? t.muted
                                                     : t.text);
    const auto alignment = Qt::Alignment(index.data(Qt::TextAlignmentRole).toInt());
    const QString text =
        QFontMetrics(font).elidedText(index.data(Qt::DisplayRole).toString(), Qt::ElideRight, box.width());
    painter->drawText(box, static_cast<int>(alignment | Qt::AlignVCenter | Qt::TextSingleLine), text);
    painter->restore();
  }

  [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex& index) const override {
    const Theme& t = theme_.theme();
    const QFont& font = index.data(monoRole).toBool() ? t.code : t.ui;
    int width =
        QFontMetrics(font).horizontalAdvance(index.data(Qt::DisplayRole).toString()) + 2 * t.padding + 2;
    if (index.data(markRole).toInt() != 0) width += static_cast<int>(14 * t.scale) + t.unit;
    return {width, t.row};
  }

 private:
  static int firstColumn(const QStyleOptionViewItem& option) {
    const auto* view = qobject_cast<const QTableView*>(option.widget);
    return view ? view->horizontalHeader()->logicalIndex(0) : 0;
  }
  ThemeSource& theme_;
};

}  // namespace

RowsModel::RowsModel(std::vector<Column> columns, QObject* parent)
    : QAbstractTableModel(parent), columns_(std::move(columns)) {}

int RowsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : rows_;
}

int RowsModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(columns_.size());
}

QVariant RowsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rows_) return {};
  const Column& column = columns_[static_cast<std::size_t>(index.column())];
  if (role == Qt::TextAlignmentRole)
    return int(column.number ? Qt::AlignRight : Qt::AlignLeft) | int(Qt::AlignVCenter);
  QVariant value = column.data(index.row(), role);
  if (role == monoRole && !value.isValid()) return column.number;
  if (role == sortRole && !value.isValid()) return column.data(index.row(), Qt::DisplayRole);
  if (role == Qt::ToolTipRole && !value.isValid()) return column.data(index.row(), Qt::DisplayRole);
  return value;
}

QVariant RowsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
  const Column& column = columns_[static_cast<std::size_t>(section)];
  if (role == Qt::DisplayRole) return column.title;
  if (role == Qt::ToolTipRole) return column.help;
  if (role == Qt::TextAlignmentRole)
    return int(column.number ? Qt::AlignRight : Qt::AlignLeft) | int(Qt::AlignVCenter);
  return {};
}

void RowsModel::setRows(int count) {
  if (count < rows_) {
    resetRows(count);
    return;
  }
  const int before = rows_;
  if (count > before) {
    beginInsertRows({}, before, count - 1);
    rows_ = count;
    endInsertRows();
  }
  if (before > 0) Q_EMIT dataChanged(index(0, 0), index(before - 1, columnCount() - 1));
}

void RowsModel::resetRows(int count) {
  beginResetModel();
  rows_ = count;
  endResetModel();
}

TableView::TableView(ThemeSource& theme, QWidget* parent) : QTableView(parent), theme_(theme) {
  setItemDelegate(new CellDelegate(theme, this));
  setShowGrid(false);
  setSelectionBehavior(SelectRows);
  setSelectionMode(SingleSelection);
  setHorizontalScrollMode(ScrollPerPixel);
  setEditTriggers(NoEditTriggers);
  setWordWrap(false);
  setMouseTracking(true);
  setTabKeyNavigation(false);
  setCornerButtonEnabled(false);
  verticalHeader()->hide();
  verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  horizontalHeader()->setHighlightSections(false);
  horizontalHeader()->setMinimumSectionSize(24);
  const auto measure = [this] {
    const Theme& t = theme_.theme();
    verticalHeader()->setMinimumSectionSize(t.row);
    verticalHeader()->setDefaultSectionSize(t.row);
    horizontalHeader()->setFixedHeight(t.row + t.unit);
    viewport()->update();
    if (!fitted_ || fittedScale_ == t.scale) return;
    fittedScale_ = t.scale;
    QTimer::singleShot(0, this, [this] { fitColumns(*fitted_); });  // when the fonts have come
  };
  connect(&theme, &ThemeSource::changed, this, measure);
  measure();
}

QString csvField(const QString& text) {
  if (!text.contains(QLatin1Char(',')) && !text.contains(QLatin1Char('"')) &&
      !text.contains(QLatin1Char('\n')))
    return text;
  QString quoted = text;
  quoted.replace(QLatin1Char('"'), QStringLiteral("\"\""));
  return QLatin1Char('"') + quoted + QLatin1Char('"');
}

QString TableView::csv() const {
  if (!model()) return {};
  QString out;
  const QHeaderView* header = horizontalHeader();
  const auto line = [&](const std::function<QString(int)>& cell) {
    QStringList fields;
    for (int visual = 0; visual < header->count(); ++visual) {
      const int column = header->logicalIndex(visual);
      if (!isColumnHidden(column)) fields << csvField(cell(column));
    }
    out += fields.join(QLatin1Char(',')) + QLatin1Char('\n');
  };
  line([&](int c) { return model()->headerData(c, Qt::Horizontal).toString(); });
  for (int row = 0; row < model()->rowCount(); ++row) {
    line([&](int c) {
      const QModelIndex at = model()->index(row, c);
      const QVariant value = at.data(sortRole);
      QString text =
          value.isValid() && value.typeId() != QMetaType::QString ? value.toString() : at.data().toString();
      const QString mark = wordOf(static_cast<Mark>(at.data(markRole).toInt()));
      return mark.isEmpty() || text.contains(mark, Qt::CaseInsensitive) ? text
             : text.isEmpty()                                           ? mark
                                                                        : mark + QStringLiteral(": ") + text;
    });
  }
  return out;
}

QString TableView::plainText(bool selectedOnly) const {
  QStringList lines;
  for (int row = 0; model() && row < model()->rowCount(); ++row) {
    if (selectedOnly && !selectionModel()->isRowSelected(row, {})) continue;
    QStringList fields;
    for (int column = 0; column < model()->columnCount(); ++column) {
      if (!isColumnHidden(column)) fields << model()->index(row, column).data().toString();
    }
    lines << fields.join(QLatin1Char('\t'));
  }
  return lines.join(QLatin1Char('\n'));
}

void TableView::fitColumns(int stretch) {
  if (!model()) return;
  fitted_ = stretch;
  fittedScale_ = theme_.theme().scale;
  const int rows = std::min(60, model()->rowCount());  // what the first screen shows: each costs some 10 us
  for (int column = 0; column < model()->columnCount(); ++column) {
    if (column == stretch) continue;
    QStyleOptionViewItem option;
    int width = fontMetrics().horizontalAdvance(model()->headerData(column, Qt::Horizontal).toString()) +
                2 * theme_.theme().padding + theme_.theme().unit;
    for (int row = 0; row < rows; ++row)
      width = std::max(width, itemDelegate()->sizeHint(option, model()->index(row, column)).width());
    horizontalHeader()->setSectionResizeMode(column, QHeaderView::Interactive);
    setColumnWidth(column, width + theme_.theme().unit);
  }
  if (stretch >= 0 && stretch < model()->columnCount())
    horizontalHeader()->setSectionResizeMode(stretch, QHeaderView::Stretch);
}

void TableView::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy)) {
    QApplication::clipboard()->setText(plainText(true));
    return;
  }
  QTableView::keyPressEvent(event);
}

}  // namespace nuscope::views

#include "moc_table_view.cpp"
