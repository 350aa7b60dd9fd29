#include "views/sweep/faster_view.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPlainTextEdit>
#include <QSignalBlocker>
#include <QSplitter>
#include <QTextBlock>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "core/base/diagnostics.h"
#include "core/nugraph/nugraph.h"
#include "views/document.h"
#include "views/jobs.h"
#include "views/selection.h"
#include "views/sweep/sweep_words.h"
#include "views/text.h"
#include "views/theme.h"
#include "views/wrapped_label.h"

namespace nuscope::views {

namespace {

QString tr(const char* text) {
  return QString::fromUtf8(text);
}

bool isTimed(const SweepRow& row) {
  return row.candidate.kind == sweep::CandidateKind::emitted &&
         row.candidate.state == sweep::CandidateState::measured && row.measurement;
}

QString msText(double seconds) {
  return millisecondsText(seconds * 1e3);
}

/// With its sign: a share may take time away.
QString shareText(double seconds) {
  if (std::abs(seconds) < 5e-10) return QStringLiteral("0");
  const QString text = millisecondsText(std::abs(seconds) * 1e3);
  return (seconds < 0 ? QStringLiteral("\u2212") : QStringLiteral("+")) + text;
}

QString megabytes(double bytes) {
  return number(bytes * 1e-6, 3);
}

QString valueText(const std::optional<std::int64_t>& value) {
  return value ? grouped(*value) : QStringLiteral("\u2013");
}

QString passesText(const machine::Breakdown& model, const std::string& name) {
  for (const machine::TensorUse& use : model.tensors) {
    if (use.name != name) continue;
    QStringList parts;
    if (use.reads > 0) parts << tr("read %1\u00D7").arg(number(use.reads, 3));
    if (use.writes > 0) parts << tr("written %1\u00D7").arg(number(use.writes, 3));
    if (use.packed) parts << tr("packed");
    return parts.join(QStringLiteral(", "));
  }
  return QStringLiteral("\u2013");
}

void addPasses(const sweep::Why& why, std::vector<FasterRow>& rows) {
  QStringList done;
  for (const auto* model : {&why.a.model, &why.b.model}) {
    for (const machine::TensorUse& use : model->tensors) {
      if (done.contains(qs(use.name))) continue;
      done << qs(use.name);
      rows.push_back({.what = qs(use.name),
                      .a = passesText(why.a.model, use.name),
                      .b = passesText(why.b.model, use.name)});
    }
  }
}

void addBytes(const sweep::Why& why, std::vector<FasterRow>& rows) {
  std::map<std::string, std::pair<double, double>> bytes;
  for (const auto& [level, moved] : why.a.model.bytes) bytes[level].first = moved;
  for (const auto& [level, moved] : why.b.model.bytes) bytes[level].second = moved;
  for (const auto& [level, pair] : bytes) {
    rows.push_back(
        {.what = tr("MB from %1").arg(qs(level)), .a = megabytes(pair.first), .b = megabytes(pair.second)});
  }
}

QString percent(double share) {
  return QStringLiteral("%1 %").arg(100 * share, 0, 'f', 0);
}

}  // namespace

std::vector<FasterRow> fasterRows(const sweep::Why& why) {
  std::vector<FasterRow> rows;
  const auto heading = [&](const QString& text) { rows.push_back({.what = text, .heading = true}); };
  heading(tr("Time, ms"));
  if (why.measured) {
    rows.push_back({.what = tr("measured"),
                    .a = msText(why.a.measurement->median),
                    .b = msText(why.b.measurement->median),
                    .share = shareText(*why.measured),
                    .strong = true});
  }
  rows.push_back({.what = tr("modelled"),
                  .a = msText(why.a.model.seconds),
                  .b = msText(why.b.model.seconds),
                  .share = shareText(why.modelled)});
  heading(tr("Time that loops wait for, ms, modelled"));
  for (const sweep::Share& share : why.shares) {
    rows.push_back({.what = qs(share.cause),
                    .a = msText(share.a),
                    .b = msText(share.b),
                    .share = shareText(share.b - share.a)});
  }
  if (why.unexplained)
    rows.push_back({.what = tr("unexplained"), .share = shareText(*why.unexplained), .strong = true});
  if (!why.parameters.empty()) heading(tr("Parameters"));
  for (const sweep::ParameterDifference& one : why.parameters) {
    rows.push_back({.what = qs(one.name).replace(QLatin1Char('_'), QLatin1Char(' ')),
                    .a = valueText(one.a),
                    .b = valueText(one.b)});
  }
  if (!why.onlyA.empty() || !why.onlyB.empty()) heading(tr("Steps that only one has"));
  for (const std::string& step : why.onlyA) rows.push_back({.what = qs(step), .a = tr("yes")});
  for (const std::string& step : why.onlyB) rows.push_back({.what = qs(step), .b = tr("yes")});
  heading(tr("Work, modelled"));
  rows.push_back({.what = tr("Mflop"),
                  .a = number(why.a.model.flops * 1e-6, 4),
                  .b = number(why.b.model.flops * 1e-6, 4)});
  addBytes(why, rows);
  rows.push_back({.what = tr("vector instructions"),
                  .a = percent(why.a.model.vectorShare),
                  .b = percent(why.b.model.vectorShare)});
  rows.push_back({.what = tr("MB packed"),
                  .a = megabytes(why.a.model.packedBytes),
                  .b = megabytes(why.b.model.packedBytes)});
  heading(tr("Passes over tensors, modelled"));
  addPasses(why, rows);
  rows.push_back({.what = tr("Model: %1; %2").arg(qs(why.model), qs(why.counters)), .heading = true});
  return rows;
}

QString fasterHeadline(const sweep::Why& why) {
  if (!why.measured) return tr("Not both were measured: the difference is modelled only");
  const QString a = msText(why.a.measurement->median);
  const QString b = msText(why.b.measurement->median);
  if (why.tie) return tr("A tie: %1 against %2 ms, the difference is noise").arg(a, b);
  const double ratio = why.b.measurement->median / why.a.measurement->median;
  return tr("%1 against %2 ms: %3 times as fast").arg(a, b, number(ratio, 3));
}

FasterView::FasterView(const ViewContext& viewContext, QWidget* parent)
    : DetailView(viewContext, "faster", tr("Why faster"), parent) {
  headline_ = new WrappedLabel;
  headline_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  headline_->setAccessibleName(tr("Comparison"));
  other_ = new QComboBox;
  other_->setAccessibleName(tr("Compare with"));
  other_->setToolTip(tr("The candidate that the selected one is compared with."));
  other_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  other_->setMinimumContentsLength(12);
  connect(other_, &QComboBox::activated, this, [this](int index) {
    compareWith(index == 0 ? std::nullopt : std::optional(listed_[static_cast<std::size_t>(index - 1)]));
  });
  const auto at = [this](int row) -> const FasterRow& { return rows_[static_cast<std::size_t>(row)]; };
  const auto cell = [at](QString FasterRow::*field, bool mono) {
    return [at, field, mono](int row, int role) -> QVariant {
      if (role == Qt::DisplayRole) return at(row).*field;
      if (role == Qt::ToolTipRole) return at(row).*field;
      if (role == strongRole) return at(row).strong;
      if (role == mutedRole) return at(row).heading;
      if (role == monoRole) return mono;
      return {};
    };
  };
  std::vector<Column> columns;
  columns.push_back({.title = tr("A against B"), .help = {}, .data = cell(&FasterRow::what, false)});
  columns.push_back(
      {.title = tr("A"), .help = tr("The quicker one."), .number = true, .data = cell(&FasterRow::a, true)});
  columns.push_back({.title = tr("B"), .help = {}, .number = true, .data = cell(&FasterRow::b, true)});
  columns.push_back({.title = tr("B less A"),
                     .help = tr("Share of the difference, milliseconds."),
                     .number = true,
                     .data = cell(&FasterRow::share, true)});
  model_ = new RowsModel(std::move(columns), this);
  table_ = new TableView(context().theme);
  table_->setModel(model_);
  table_->setAccessibleName(tr("Why faster"));
  code_ = new QPlainTextEdit;
  code_->setReadOnly(true);
  code_->setFrameShape(QFrame::NoFrame);
  code_->setLineWrapMode(QPlainTextEdit::NoWrap);
  code_->setAccessibleName(tr("Difference of the kernels"));
  code_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  parts_ = new QSplitter(Qt::Vertical);
  parts_->addWidget(table_);
  parts_->addWidget(code_);
  parts_->setStretchFactor(0, 3);
  parts_->setStretchFactor(1, 1);
  parts_->setHandleWidth(1);
  parts_->setChildrenCollapsible(false);
  auto* content = new QWidget;
  auto* layout = new QVBoxLayout(content);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(headline_);
  choice_ = new QHBoxLayout;
  choice_->addWidget(other_, 1);
  layout->addLayout(choice_);
  layout->addWidget(parts_, 1);
  setContent(content);
  connect(&context().document, &Document::sweepChanged, this, [this] { markStale(); });
  connect(&context().document, &Document::nuGraphChanged, this, [this] { markStale(); });
  connect(&context().selection, &Selection::changed, this, [this](const Place& now, const Place& before) {
    if (now.candidate != before.candidate) markStale();
  });
}

void FasterView::compareWith(std::optional<int> candidate) {
  wanted_ = candidate;
  markStale();
}

/// The list follows the ranks while nobody has it open.
void FasterView::fillOthers() {
  constexpr std::size_t most = 60;
  std::vector<int> ids;
  QStringList words{tr("against the fastest, or as written")};
  if (snapshot_) {
    for (const SweepRowRef& row : snapshot_->rows) {
      if (!isTimed(*row) || ids.size() >= most) continue;
      ids.push_back(row->candidate.id);
      words << tr("against %1 ms, %2 %3 %4")
                   .arg(msText(row->measurement->median), qs(row->candidate.label))
                   .arg(row->candidate.variant)
                   .arg(qs(sweep::parametersText(row->candidate.parameters)));
    }
  }
  if (ids == listed_ && other_->count() == words.size()) return;
  listed_ = std::move(ids);
  const QSignalBlocker quiet(other_);
  other_->clear();
  other_->addItems(words);
}

SweepRowRef FasterView::reference(const SweepRow& chosen) const {
  if (wanted_ && *wanted_ != chosen.candidate.id) {
    if (SweepRowRef row = snapshot_->find(*wanted_)) return row;
  }
  const SweepRowRef best = snapshot_->best();
  if (!best || best->candidate.id != chosen.candidate.id) return best;
  SweepRowRef otherVariant;
  SweepRowRef next;
  for (const SweepRowRef& row : snapshot_->rows) {  // fastest first
    if (!isTimed(*row) || row->candidate.id == chosen.candidate.id) continue;
    if (row->candidate.variant == 0 && chosen.candidate.variant != 0) return row;
    if (!otherVariant && row->candidate.variant != chosen.candidate.variant) otherVariant = row;
    if (!next) next = row;
  }
  return otherVariant ? otherVariant : next;
}

void FasterView::message(const QString& text) {
  key_ = {};
  why_.reset();
  rows_.clear();
  model_->resetRows(0);
  setSubtitle(QString());
  headline_->setText(text);
  parts_->setVisible(false);
}

void FasterView::refresh() {
  const Theme& t = theme();
  headline_->setFont(t.ui);
  headline_->setContentsMargins(t.gutter, t.unit, t.gutter, t.unit);
  choice_->setContentsMargins(t.gutter, 0, t.gutter, t.unit);
  code_->setFont(t.code);
  snapshot_ = context().document.sweep();
  fillOthers();
  other_->setVisible(!listed_.empty());
  const QSignalBlocker quiet(other_);
  const auto place = wanted_ ? std::ranges::find(listed_, *wanted_) : listed_.end();
  other_->setCurrentIndex(place == listed_.end() ? 0 : static_cast<int>(place - listed_.begin()) + 1);
  const SweepRowRef chosen = snapshot_ ? snapshot_->find(context().selection.place().candidate) : nullptr;
  if (!chosen) return message(tr("Choose a candidate: it is compared with the fastest."));
  if (chosen->candidate.kind != sweep::CandidateKind::emitted)
    return message(
        tr("Only kernels that Nuscope emits are modelled; this one is compared by its time alone."));
  const SweepRowRef other = reference(*chosen);
  if (!other) return message(tr("Nothing to compare with yet: fewer than two candidates were measured."));
  const auto time = [](const SweepRow& row) {
    return isTimed(row) ? row.measurement->median : row.candidate.modelledSeconds;
  };
  const bool first = time(*chosen) <= time(*other);
  compare(first ? chosen : other, first ? other : chosen);
}

void FasterView::compare(SweepRowRef a, SweepRowRef b) {
  const auto graph = context().document.nuGraph();
  if (!graph) return message(tr("The variants of this sweep are not here: explore the program again (F5)."));
  const auto medianOf = [](const SweepRow& row) { return row.measurement ? row.measurement->median : 0; };
  const Key key{graph.get(),     snapshot_->record.id, a->candidate.id,
                b->candidate.id, medianOf(*a),         medianOf(*b)};
  if (key == key_) {
    showCode();  // in the colours of the theme
    return;
  }
  key_ = key;
  struct Found {
    std::shared_ptr<const sweep::Why> why;
    QString error;
  };
  context().jobs.run(
      this, {.title = tr("Compare candidates"), .lane = QStringLiteral("faster"), .quiet = true},
      [graph, record = snapshot_->record, a, b](JobHandle&) -> Found {
        try {
          const sweep::Explainer explainer(*graph, record);
          return {std::make_shared<const sweep::Why>(
                      explainer.why(a->candidate, a->measurement, b->candidate, b->measurement)),
                  {}};
        } catch (const UserError& error) {
          return {nullptr, QString::fromUtf8(error.what())};
        }
      },
      [this](Found found) {
        if (found.why) {
          adopt(std::move(found.why));
        } else {
          const Key kept = key_;
          message(found.error);
          key_ = kept;
        }
      });
}

void FasterView::adopt(std::shared_ptr<const sweep::Why> why) {
  why_ = std::move(why);
  rows_ = fasterRows(*why_);
  headline_->setText(fasterHeadline(*why_));
  setSubtitle(tr("%1 against %2").arg(why_->a.candidate.id).arg(why_->b.candidate.id));
  parts_->setVisible(true);
  model_->resetRows(static_cast<int>(rows_.size()));
  table_->clearSpans();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].heading) table_->setSpan(static_cast<int>(i), 0, 1, 4);
  }
  table_->fitColumns(0);
  const double scale = theme().scale;
  for (const int column : {1, 2, 3}) {  // long passes are cut; their tooltips have them whole
    const int widest = static_cast<int>((column == 3 ? 84 : 92) * scale);
    table_->setColumnWidth(column, std::min(table_->columnWidth(column), widest));
  }
  showCode();
}

void FasterView::showCode() {
  if (!why_) return;
  const Theme& t = theme();
  QString text;
  const auto lines = nearDifferences(why_->code);
  for (const DiffLine& line : lines)
    text +=
        QLatin1Char(static_cast<char>(line.kind)) + QStringLiteral(" ") + qs(line.text) + QLatin1Char('\n');
  if (why_->a.code == why_->b.code) text = tr("The kernels are the same.");
  if (code_->toPlainText() != text) code_->setPlainText(text);
  QList<QTextEdit::ExtraSelection> tints;
  for (QTextBlock block = code_->document()->begin(); block.isValid(); block = block.next()) {
    const bool removed = block.text().startsWith(QLatin1Char('-'));
    if (!removed && !block.text().startsWith(QLatin1Char('+'))) continue;
    QTextEdit::ExtraSelection tint;
    tint.cursor = QTextCursor(block);
    tint.format.setBackground(removed ? t.refutedFill : t.provedFill);
    tint.format.setProperty(QTextFormat::FullWidthSelection, true);
    tints << tint;
  }
  code_->setExtraSelections(tints);
}

QString FasterView::summary() const {
  return headline_->text();
}

QWidget* FasterView::focusTarget() const {
  return table_;
}

QStringList FasterView::moreExports() const {
  return why_ ? QStringList{tr("Difference of the kernels (*.diff)")} : QStringList();
}

QString FasterView::exportText(const QString& suffix) const {
  if (!why_ || suffix != QLatin1String("diff")) return {};
  QString text;
  for (const DiffLine& line : why_->code)
    text += QLatin1Char(static_cast<char>(line.kind)) + qs(line.text) + QLatin1Char('\n');
  return text;
}

}  // namespace nuscope::views

#include "moc_faster_view.cpp"
