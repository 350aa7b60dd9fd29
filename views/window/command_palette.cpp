#include "views/window/command_palette.h"

#include <QApplication>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListView>
#include <QPainter>
#include <QStandardItemModel>
#include <QStyledItemDelegate>
#include <QVBoxLayout>
#include <algorithm>
#include <unordered_set>

#include "core/nugraph/nugraph.h"
#include "views/commands.h"
#include "views/document.h"
#include "views/marks.h"
#include "views/selection.h"
#include "views/text.h"
#include "views/theme.h"
#include "views/variants/derivation.h"

namespace nuscope::views {

namespace {

enum Role { entryRole = Qt::UserRole + 1, hitsRole, groupRole, keysRole };
constexpr int mostListed = 60;
constexpr int rowsSeen = 12;

/// Icon, text with the letters that matched, group and keys at the right.
class EntryDelegate : public QStyledItemDelegate {
 public:
  EntryDelegate(ThemeSource& theme, QObject* parent) : QStyledItemDelegate(parent), theme_(theme) {}
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const Theme& t = theme_.theme();
    painter->save();
    if (option.state.testFlag(QStyle::State_Selected)) painter->fillRect(option.rect, t.selectionFill);
    QRect box = option.rect.adjusted(t.gutter, 0, -t.gutter, 0);
    const int side = static_cast<int>(16 * t.scale);
    index.data(Qt::DecorationRole)
        .value<QIcon>()
        .paint(painter, QRect(box.left(), box.center().y() - side / 2, side, side), Qt::AlignCenter,
               index.flags().testFlag(Qt::ItemIsEnabled) ? QIcon::Normal : QIcon::Disabled);
    box.setLeft(box.left() + side + t.padding);
    const QString keys = index.data(keysRole).toString();
    painter->setFont(t.small);
    painter->setPen(t.muted);
    QString right = index.data(groupRole).toString();
    if (!keys.isEmpty()) right = keys;
    const int rightWidth = QFontMetrics(t.small).horizontalAdvance(right) + t.padding;
    painter->drawText(box, Qt::AlignRight | Qt::AlignVCenter, right);
    box.setRight(box.right() - rightWidth);
    const QString text =
        QFontMetrics(t.ui).elidedText(index.data(Qt::DisplayRole).toString(), Qt::ElideRight, box.width());
    const auto hits = index.data(hitsRole).value<QList<int>>();
    QFont strong = t.ui;
    strong.setWeight(QFont::Bold);
    painter->setPen(index.flags().testFlag(Qt::ItemIsEnabled) ? t.text : t.disabled);
    int x = box.left();
    for (qsizetype i = 0; i < text.size();) {
      const bool hit = hits.contains(static_cast<int>(i));
      qsizetype end = i + 1;
      while (end < text.size() && hits.contains(static_cast<int>(end)) == hit) ++end;
      const QString piece = text.mid(i, end - i);
      painter->setFont(hit ? strong : t.ui);
      painter->drawText(QRect(x, box.top(), box.width(), box.height()), Qt::AlignLeft | Qt::AlignVCenter,
                        piece);
      x += QFontMetrics(hit ? strong : t.ui).horizontalAdvance(piece);
      i = end;
    }
    painter->restore();
  }
  [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override {
    return {200, theme_.theme().control};
  }

 private:
  ThemeSource& theme_;
};

}  // namespace

CommandPalette::CommandPalette(const ViewContext& context, QWidget* window)
    : QFrame(window),
      context_(context),
      field_(new QLineEdit),
      list_(new QListView),
      model_(new QStandardItemModel(this)) {
  setObjectName(QStringLiteral("palette"));
  setAccessibleName(tr("Command palette"));
  setFrameShape(QFrame::StyledPanel);
  setAutoFillBackground(true);
  field_->setObjectName(QStringLiteral("paletteField"));
  field_->setPlaceholderText(tr("Commands, variants, operators, refused moves"));
  field_->installEventFilter(this);
  list_->setObjectName(QStringLiteral("paletteList"));
  list_->setModel(model_);
  list_->setItemDelegate(new EntryDelegate(context.theme, this));
  list_->setUniformItemSizes(true);
  list_->setFocusPolicy(Qt::NoFocus);
  list_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(1, 1, 1, 1);
  column->setSpacing(0);
  column->addWidget(field_);
  column->addWidget(list_);
  connect(field_, &QLineEdit::textChanged, this, &CommandPalette::filter);
  connect(list_, &QListView::clicked, this, &CommandPalette::accept);
  hide();
}

void CommandPalette::open(std::vector<PaletteEntry> more) {
  const Theme& t = context_.theme.theme();
  focusBefore_ = QApplication::focusWidget();
  gather(std::move(more));
  setStyleSheet(QStringLiteral("#palette { background: %1; border: 1px solid %2; border-radius: 6px; }"
                               "#paletteField { border: none; border-bottom: 1px solid %2; border-radius: 0; "
                               "padding: 6px 12px; background: transparent; }"
                               "#paletteList { background: transparent; }")
                    .arg(t.surface.name(), t.line.name()));
  const int width = std::min(parentWidget()->width() - 40, static_cast<int>(560 * t.scale));
  setFixedSize(width, t.control + 10 + rowsSeen * t.control);
  move((parentWidget()->width() - width) / 2, 3);
  field_->clear();
  filter();
  show();
  raise();
  field_->setFocus();
}

void CommandPalette::gather(std::vector<PaletteEntry> more) {
  const Theme& t = context_.theme.theme();
  entries_.clear();
  for (const CommandSpec& spec : commandTable()) {
    QAction* action = context_.commands.action(spec.id);
    if (!action->isVisible() || QLatin1String(spec.id) == QLatin1String("help.palette")) continue;
    QString text = QString::fromUtf8(spec.text);
    text.remove(QChar(0x2026));
    entries_.push_back({text, tr("Command"), action->shortcut().toString(QKeySequence::NativeText),
                        action->icon(), [action] { action->trigger(); }, action->isEnabled()});
  }
  entries_.insert(entries_.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  const auto graph = context_.document.nuGraph();
  if (!graph) return;
  Selection& selection = context_.selection;
  const QIcon variantIcon = themedIcon(QStringLiteral("variants"), t);
  for (const nugraph::Variant& v : graph->variants()) {
    int step = -1;
    for (const nugraph::Step& s : graph->steps()) {
      if (s.to == v.id && s.from == v.parent) {
        step = s.id;
        break;
      }
    }
    entries_.push_back({titleOf(v) + QStringLiteral(" %1").arg(v.id),
                        tr("Variant"),
                        {},
                        variantIcon,
                        [&selection, id = v.id, step] {
                          if (step >= 0) {
                            selection.selectStep(step, id);
                          } else {
                            selection.selectVariant(id);
                          }
                        },
                        true});
  }
  const auto variant = static_cast<std::size_t>(selection.place().variant);
  if (variant < graph->variants().size()) {
    const QIcon icon = themedIcon(QStringLiteral("graph"), t);
    for (const tensor::NodeRef node : tensor::topological(graph->variants()[variant].results)) {
      if (node->op == tensor::Op::constant) continue;
      const auto name = graph->root().variables.find(node);
      QString text = node->op == tensor::Op::input ? qs(node->attributes.name) : qs(tensor::name(node->op));
      if (name != graph->root().variables.end() && node->op != tensor::Op::input)
        text += QLatin1Char(' ') + qs(name->second);
      entries_.push_back({text + QStringLiteral("  ") + qs(tensor::typeText(node->dtype, node->shape)),
                          tr("Operator"),
                          {},
                          icon,
                          [&selection, node] { selection.selectNode(node); },
                          true});
    }
  }
  for (const nugraph::Refused& r : graph->refused()) {
    entries_.push_back({qs(r.what),
                        tr("Refused move, variant %1").arg(r.from),
                        {},
                        markIcon(markOf(r.proof->verdict), t),
                        [&selection, id = r.id, from = r.from] { selection.selectRefused(id, from); },
                        true});
  }
}

void CommandPalette::filter() {
  struct Match {
    int score;
    std::size_t entry;
    std::vector<int> hits;
  };
  std::vector<Match> matches;
  const QString wanted = field_->text().trimmed();
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    std::vector<int> hits;
    int score = fuzzyScore(wanted, entries_[i].text, &hits);
    if (score < 0) continue;
    if (!entries_[i].enabled) score -= 500;
    matches.push_back({score, i, std::move(hits)});
  }
  std::stable_sort(matches.begin(), matches.end(),
                   [](const Match& a, const Match& b) { return a.score > b.score; });
  if (matches.size() > mostListed) matches.resize(mostListed);
  model_->clear();
  for (const Match& match : matches) {
    const PaletteEntry& entry = entries_[match.entry];
    auto* item = new QStandardItem(entry.icon, entry.text);
    item->setData(static_cast<int>(match.entry), entryRole);
    item->setData(QVariant::fromValue(QList<int>(match.hits.begin(), match.hits.end())), hitsRole);
    item->setData(entry.group, groupRole);
    item->setData(entry.keys, keysRole);
    item->setEnabled(entry.enabled);
    model_->appendRow(item);
  }
  list_->setCurrentIndex(model_->index(0, 0));
}

void CommandPalette::accept() {
  const QModelIndex index = list_->currentIndex();
  if (!index.isValid() || !index.flags().testFlag(Qt::ItemIsEnabled)) return;
  const auto act = entries_[static_cast<std::size_t>(index.data(entryRole).toInt())].act;
  hide();
  if (focusBefore_) focusBefore_->setFocus();
  act();
}

QStringList CommandPalette::listed() const {
  QStringList texts;
  for (int i = 0; i < model_->rowCount(); ++i) texts << model_->item(i)->text();
  return texts;
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
  if (watched == field_ && event->type() == QEvent::KeyPress) {
    const auto* key = static_cast<QKeyEvent*>(event);
    const int rows = model_->rowCount();
    const int row = list_->currentIndex().row();
    switch (key->key()) {
      case Qt::Key_Escape:
        hide();
        if (focusBefore_) focusBefore_->setFocus();
        return true;
      case Qt::Key_Return:
      case Qt::Key_Enter:
        accept();
        return true;
      case Qt::Key_Down:
        list_->setCurrentIndex(model_->index(rows == 0 ? -1 : (row + 1) % rows, 0));
        return true;
      case Qt::Key_Up:
        list_->setCurrentIndex(model_->index(rows == 0 ? -1 : (row + rows - 1) % rows, 0));
        return true;
      case Qt::Key_PageDown:
        list_->setCurrentIndex(model_->index(std::min(rows - 1, row + rowsSeen), 0));
        return true;
      case Qt::Key_PageUp:
        list_->setCurrentIndex(model_->index(std::max(0, row - rowsSeen), 0));
        return true;
      default:
        break;
    }
  }
  if (watched == field_ && event->type() == QEvent::FocusOut) hide();
  return QFrame::eventFilter(watched, event);
}

}  // namespace nuscope::views
