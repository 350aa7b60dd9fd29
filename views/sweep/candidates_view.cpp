#include "views/sweep/candidates_view.h"

#include <QHeaderView>
#include <QMenu>
#include <QSignalBlocker>
#include <QToolButton>
#include <algorithm>
#include <cmath>
#include <map>

#include "views/document.h"
#include "views/selection.h"
#include "views/sweep/sweep_words.h"
#include "views/text.h"
#include "views/theme.h"

namespace nuscope::views {

namespace {

constexpr const char* filterNames[CandidatesView::filterCount] = {"all",       "passed", "wrong",
                                                                  "timed out", "failed", "marked"};

double gateError(const SweepRow& row) {
  if (!row.measurement) return NAN;
  const sweep::GateRecord& gate = row.measurement->gate;
  if (gate.worst < 0 || gate.worst >= static_cast<int>(gate.draws.size())) return NAN;
  return gate.draws[static_cast<std::size_t>(gate.worst)].error;
}

std::optional<std::int64_t> parameter(const SweepRow& row, const char* name) {
  const auto found = row.candidate.parameters.find(name);
  if (found == row.candidate.parameters.end()) return std::nullopt;
  return found->second;
}

bool hasTime(const SweepRow& row) {
  return row.candidate.state == sweep::CandidateState::measured && row.measurement;
}

}  // namespace

CandidatesView::CandidatesView(const ViewContext& viewContext, QWidget* parent)
    : View(viewContext, "candidates", tr("Candidates"), parent) {
  for (int i = 0; i < filterCount; ++i) {
    chips_[i] = addChip(tr(filterNames[i]), i == all, [this, i](bool) { setFilter(static_cast<Filter>(i)); });
  }
  model_ = new RowsModel(columns(), this);
  table_ = new TableView(context().theme, this);
  table_->setModel(model_);
  table_->setAccessibleName(tr("Candidates"));
  // What was measured stands before the parameters, so that a narrow window cuts the latter; the longest of
  // all comes last and has what is left.
  QHeaderView* header = table_->horizontalHeader();
  int place = variant + 1;
  for (const ColumnId column : {median, interval, gate, state})
    header->moveSection(header->visualIndex(column), place++);
  header->moveSection(header->visualIndex(other), header->count() - 1);
  header->setStretchLastSection(true);
  table_->horizontalHeader()->setSectionsClickable(true);
  table_->horizontalHeader()->setSortIndicatorShown(false);
  setContent(table_);
  connect(table_->horizontalHeader(), &QHeaderView::sectionClicked, this, [this](int column) {
    descending_ = column == sortColumn_ && !descending_;
    sortColumn_ = column;
    table_->horizontalHeader()->setSortIndicatorShown(true);
    table_->horizontalHeader()->setSortIndicator(column,
                                                 descending_ ? Qt::DescendingOrder : Qt::AscendingOrder);
    filterAndSort();
  });
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& now) { pick(now.row()); });
  connect(&context().document, &Document::sweepChanged, this, [this] { markStale(); });
  connect(&context().selection, &Selection::changed, this, [this](const Place& now, const Place& before) {
    if (now.candidate != before.candidate) followSelection();
  });
  connect(&context().selection, &Selection::brushChanged, this, [this] { followBrush(); });
}

bool CandidatesView::belongs(const SweepRow& row, Filter filter) const {
  using State = sweep::CandidateState;
  const State now = row.candidate.state;
  switch (filter) {
    case passed:
      return now == State::measured;
    case wrong:
      return now == State::wrong;
    case timedOut:
      return now == State::timedOut;
    case failed:
      return now == State::failed || now == State::crashed;
    case marked:
      return context().selection.brushed().contains(row.candidate.id);
    default:
      return true;
  }
}

/// What is marked in a plot is what the table shows, until it is let go.
void CandidatesView::followBrush() {
  const bool any = !context().selection.brushed().empty();
  if (any != (filter_ == marked)) setFilter(any ? marked : all);
  markStale();
}

std::vector<Column> CandidatesView::columns() const {
  const auto usualValue = [this](int row, const char* name, int role) -> QVariant {
    const auto value = parameter(at(row), name);
    if (!value) return {};
    if (role == Qt::DisplayRole) return grouped(*value);
    if (role == sortRole) return static_cast<qlonglong>(*value);
    if (role == mutedRole) {
      const auto found = usual_.find(name);
      return found != usual_.end() && found->second == *value;
    }
    return {};
  };
  std::vector<Column> list;
  list.push_back({.title = tr("#"),
                  .help = tr("Place among the candidates that passed."),
                  .number = true,
                  .data = [this](int row, int role) -> QVariant {
                    const auto found = ranks_.find(at(row).candidate.id);
                    if (role == mutedRole) return true;
                    if (found == ranks_.end()) return {};
                    if (role == Qt::DisplayRole) return QString::number(found->second);
                    if (role == sortRole) return found->second;
                    return {};
                  }});
  list.push_back(
      {.title = tr("Variant"),
       .help = tr("How it computes: the variant's last step, and the variant's number."),
       .data = [this](int row, int role) -> QVariant {
         const sweep::CandidateRecord& c = at(row).candidate;
         if (c.kind == sweep::CandidateKind::foreign) {
           if (role == Qt::DisplayRole) return qs(c.label);
           if (role == Qt::ToolTipRole)
             return tr("A kernel of yours: it races, but nothing is proved of it and it is never chosen.");
           return {};
         }
         if (role == Qt::DisplayRole) {
           QString title = qs(c.label);
           if (!title.isEmpty()) title[0] = title[0].toUpper();
           return QStringLiteral("%1 %2").arg(title).arg(c.variant);
         }
         if (role == Qt::ToolTipRole)
           return tr("%1\nvariant %2, %3")
               .arg(qs(c.label))
               .arg(c.variant)
               .arg(qs(sweep::parametersText(c.parameters)));
         return {};
       }});
  list.push_back({.title = tr("Tile"),
                  .help = tr("Rows and columns of the register block."),
                  .number = true,
                  .data = [this](int row, int role) -> QVariant {
                    if (role == Qt::DisplayRole) return tileText(at(row).candidate.parameters);
                    if (role == mutedRole) {
                      const auto m = parameter(at(row), "tile_m");
                      const auto n = parameter(at(row), "tile_n");
                      const auto um = usual_.find("tile_m");
                      const auto un = usual_.find("tile_n");
                      return m && n && um != usual_.end() && un != usual_.end() && um->second == *m &&
                             un->second == *n;
                    }
                    return {};
                  }});
  list.push_back({.title = tr("Block"),
                  .help = tr("Depth over K that is packed at once (block_k)."),
                  .number = true,
                  .data = [=](int row, int role) { return usualValue(row, "block_k", role); }});
  list.push_back({.title = tr("Strip"),
                  .help = tr("Rows that pass through all fused loops together (strip_m)."),
                  .number = true,
                  .data = [=](int row, int role) { return usualValue(row, "strip_m", role); }});
  list.push_back({.title = tr("Other"),
                  .help = tr("Every other parameter of the kernel."),
                  .data = [this](int row, int role) -> QVariant {
                    if (role == Qt::DisplayRole) return otherParameters(at(row).candidate.parameters);
                    if (role == mutedRole) return true;
                    return {};
                  }});
  list.push_back({.title = tr("Model ms"),
                  .help = tr("Modelled time, milliseconds; it only orders what is measured."),
                  .number = true,
                  .data = [this](int row, int role) -> QVariant {
                    const double ms = at(row).candidate.modelledSeconds * 1e3;
                    if (role == mutedRole) return true;
                    if (ms <= 0) return {};
                    if (role == Qt::DisplayRole) return millisecondsText(ms);
                    if (role == sortRole) return ms;
                    return {};
                  }});
  list.push_back({.title = tr("Median ms"),
                  .help = tr("Measured: median of all runs on the device, milliseconds."),
                  .number = true,
                  .data = [this](int row, int role) -> QVariant {
                    if (!hasTime(at(row))) return {};
                    const double ms = at(row).measurement->median * 1e3;
                    if (role == Qt::DisplayRole) return millisecondsText(ms);
                    if (role == sortRole) return ms;
                    if (role == strongRole) return best_ && at(row).candidate.id == best_->candidate.id;
                    if (role == Qt::ToolTipRole) {
                      return tr("%1 runs, %2, %3")
                          .arg(at(row).measurement->samples.size())
                          .arg(qs(at(row).measurement->key.device), qs(at(row).measurement->date));
                    }
                    return {};
                  }});
  list.push_back({.title = tr("95 %"),
                  .help = tr("Half the width of the median's confidence interval, milliseconds."),
                  .number = true,
                  .data = [this](int row, int role) -> QVariant {
                    if (role == mutedRole) return true;
                    if (!hasTime(at(row))) return {};
                    const double half = (at(row).measurement->high - at(row).measurement->low) * 0.5e3;
                    if (role == Qt::DisplayRole) return QStringLiteral("\u00B1") + number(half, 2);
                    if (role == sortRole) return half;
                    return {};
                  }});
  list.push_back(
      {.title = tr("Gate, error"),
       .help =
           tr("Passed: the error against float64 is what rounding explains. The worst element of all draws."),
       .data = [this](int row, int role) -> QVariant {
         if (role == markRole) return static_cast<int>(stateMark(at(row).candidate.state));
         if (role == monoRole) return true;
         const double error = gateError(at(row));
         if (std::isnan(error)) return {};
         if (role == Qt::DisplayRole)
           return error == 0 ? QStringLiteral("0") : QString::number(error, 'e', 1);
         if (role == sortRole) return error;
         if (role == Qt::ToolTipRole) return qs(at(row).measurement->gate.text);
         return {};
       }});
  list.push_back({.title = tr("Standing"),
                  .help = tr("Against the fastest; a tie lies within noise."),
                  .data = [this](int row, int role) -> QVariant {
                    if (role == Qt::DisplayRole) return standing(at(row), best_.get());
                    if (role == mutedRole) return !best_ || at(row).candidate.id != best_->candidate.id;
                    return {};
                  }});
  return list;
}

void CandidatesView::setFilter(Filter filter) {
  filter_ = filter;
  for (int i = 0; i < filterCount; ++i) {
    const QSignalBlocker quiet(chips_[i]);
    chips_[i]->setChecked(i == filter);
  }
  filterAndSort();
}

void CandidatesView::refresh() {
  snapshot_ = context().document.sweep();
  best_ = snapshot_ ? snapshot_->best() : nullptr;
  ranks_.clear();
  usual_.clear();
  int counts[filterCount] = {};
  if (snapshot_) {
    std::map<std::string, std::map<std::int64_t, int>> values;
    int place = 0;
    for (const SweepRowRef& row : snapshot_->rows) {
      if (hasTime(*row) && row->candidate.kind == sweep::CandidateKind::emitted)
        ranks_[row->candidate.id] = ++place;
      for (const auto& [name, value] : row->candidate.parameters) ++values[name][value];
      for (int i = 0; i < filterCount; ++i) counts[i] += belongs(*row, static_cast<Filter>(i)) ? 1 : 0;
    }
    for (const auto& [name, histogram] : values) {
      const auto most = std::max_element(histogram.begin(), histogram.end(),
                                         [](const auto& a, const auto& b) { return a.second < b.second; });
      usual_[name] = most->first;
    }
  }
  for (int i = 0; i < filterCount; ++i) {
    chips_[i]->setText(QStringLiteral("%1 %2").arg(tr(filterNames[i]), grouped(counts[i])));
    chips_[i]->setVisible(i <= passed || counts[i] > 0 || filter_ == i);
  }
  filterAndSort();
}

void CandidatesView::filterAndSort() {
  std::vector<SweepRowRef> rows;
  if (snapshot_) {
    for (const SweepRowRef& row : snapshot_->rows) {
      if (belongs(*row, filter_)) rows.push_back(row);
    }
  }
  following_ = true;
  const bool sameLength = rows.size() == shown_.size();
  shown_ = std::move(rows);
  if (sortColumn_ != rank || descending_) {
    // Keys once, then the rows: 30,000 rows take some tens of milliseconds.
    std::vector<std::pair<QVariant, SweepRowRef>> keyed;
    keyed.reserve(shown_.size());
    const Column column = columns()[static_cast<std::size_t>(sortColumn_)];
    for (std::size_t i = 0; i < shown_.size(); ++i) {
      QVariant key = column.data(static_cast<int>(i), sortRole);
      if (!key.isValid()) key = column.data(static_cast<int>(i), Qt::DisplayRole);
      keyed.emplace_back(key, shown_[i]);
    }
    const bool down = descending_;
    std::stable_sort(keyed.begin(), keyed.end(), [down](const auto& a, const auto& b) {
      // What has no value stays at the end, whichever way.
      const auto missing = [](const QVariant& v) { return !v.isValid() || v.toString().isEmpty(); };
      if (missing(a.first) || missing(b.first)) return !missing(a.first) && missing(b.first);
      const QVariant& x = down ? b.first : a.first;
      const QVariant& y = down ? a.first : b.first;
      if (x.typeId() == QMetaType::QString)
        return QString::localeAwareCompare(x.toString(), y.toString()) < 0;
      return x.toDouble() < y.toDouble();
    });
    for (std::size_t i = 0; i < keyed.size(); ++i) shown_[i] = keyed[i].second;
  }
  if (sameLength) {
    model_->setRows(static_cast<int>(shown_.size()));
  } else {
    model_->resetRows(static_cast<int>(shown_.size()));
  }
  bool strips = false;
  bool tiles = false;
  bool blocks = false;
  for (const SweepRowRef& row : shown_) {
    tiles = tiles || row->candidate.parameters.contains("tile_m");
    blocks = blocks || row->candidate.parameters.contains("block_k");
    strips = strips || row->candidate.parameters.contains("strip_m");
    if (tiles && blocks && strips) break;
  }
  table_->setColumnHidden(tile, !tiles);
  table_->setColumnHidden(block, !blocks);
  table_->setColumnHidden(strip, !strips);
  if (!shown_.empty() && (!fitted_ || !sameLength)) {
    table_->fitColumns(-1);
    const int share = std::max(190, table_->viewport()->width() * 3 / 10);
    table_->setColumnWidth(variant, std::clamp(table_->columnWidth(variant), 70, share));
    fitted_ = true;
  }
  following_ = false;
  followSelection();
}

void CandidatesView::followSelection() {
  const std::int64_t wanted = context().selection.place().candidate;
  following_ = true;
  bool found = false;
  for (std::size_t i = 0; i < shown_.size() && wanted >= 0; ++i) {
    if (shown_[i]->candidate.id != wanted) continue;
    found = true;
    if (table_->currentIndex().row() != static_cast<int>(i)) {
      table_->selectRow(static_cast<int>(i));
      table_->scrollTo(model_->index(static_cast<int>(i), 0));
    }
    break;
  }
  if (!found) table_->clearSelection();
  following_ = false;
}

void CandidatesView::pick(int row) {
  if (following_ || row < 0 || row >= static_cast<int>(shown_.size())) return;
  context().selection.selectCandidate(at(row).candidate.id, at(row).candidate.variant);
}

QSizeF CandidatesView::exportSize() const {
  return shown_.empty() ? QSizeF() : QSizeF(table_->size());
}

QString CandidatesView::summary() const {
  return snapshot_ ? sweepProgress(*snapshot_) : tr("No sweep yet");
}

QString CandidatesView::find(const QString& text, bool backwards) {
  if (text.isEmpty()) return {};
  std::vector<int> hits;
  for (int row = 0; row < static_cast<int>(shown_.size()); ++row) {
    for (const int column : {int(variant), int(tile), int(block), int(strip), int(other), int(state)}) {
      if (!model_->index(row, column).data().toString().contains(text, Qt::CaseInsensitive)) continue;
      hits.push_back(row);
      break;
    }
  }
  if (hits.empty()) return tr("no match");
  const int current = table_->currentIndex().row();
  auto next = backwards ? std::lower_bound(hits.begin(), hits.end(), current)
                        : std::upper_bound(hits.begin(), hits.end(), current);
  if (backwards) next = next == hits.begin() ? std::prev(hits.end()) : std::prev(next);
  if (next == hits.end()) next = hits.begin();
  table_->selectRow(*next);
  table_->scrollTo(model_->index(*next, 0));
  return tr("%1 of %2").arg(next - hits.begin() + 1).arg(hits.size());
}

void CandidatesView::fillContextMenu(QMenu& menu) {
  const QModelIndex current = table_->currentIndex();
  QAction* same = menu.addAction(tr("Show the variant of this candidate"), this, [this, row = current.row()] {
    if (row >= 0 && row < static_cast<int>(shown_.size()))
      context().selection.selectVariant(at(row).candidate.variant);
  });
  same->setEnabled(current.isValid());
  View::fillContextMenu(menu);
}

}  // namespace nuscope::views

#include "moc_candidates_view.cpp"
