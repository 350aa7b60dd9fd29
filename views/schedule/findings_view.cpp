#include "views/schedule/findings_view.h"

#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QMenu>
#include <QSignalBlocker>
#include <algorithm>

#include "views/schedule/schedule_words.h"
#include "views/table_view.h"
#include "views/text.h"
#include "views/theme.h"

namespace nuscope::views {

namespace {
constexpr std::size_t mostMembers = 500;  ///< findings of one group that are listed
}

FindingsView::FindingsView(const ViewContext& context, QWidget* parent)
    : View(context, "findings", tr("Findings"), parent), schedule_(*ScheduleDocument::of(context.document)) {
  const auto column = [this](int c) {
    return Column{QString(), QString(), false,
                  [this, c](int row, int role) -> QVariant { return cell(row, c, role); }};
  };
  model_ = new RowsModel({column(0), column(1)}, this);
  table_ = new TableView(context.theme);
  table_->setObjectName(QStringLiteral("findingRows"));
  table_->setAccessibleName(tr("Findings and rules"));
  table_->setModel(model_);
  table_->horizontalHeader()->hide();
  setContent(table_);
  addHeaderButton(QStringLiteral("copy"), tr("Copy findings and rules as text"),
                  [this] { QApplication::clipboard()->setText(table_->plainText(false)); });
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& now) { choose(now.row()); });
  connect(table_, &QTableView::doubleClicked, this, [this](const QModelIndex& at) { toggle(at.row()); });
  connect(table_, &QTableView::activated, this, [this](const QModelIndex& at) { toggle(at.row()); });
  connect(&schedule_, &ScheduleDocument::opened, this, [this] { opened_.clear(); });
  connect(&schedule_, &ScheduleDocument::stateChanged, this, [this] { markStale(); });
  connect(&schedule_, &ScheduleDocument::selectionChanged, this, &FindingsView::followSelection);
}

QWidget* FindingsView::focusTarget() const {
  return table_;
}

void FindingsView::build() {
  using Kind = Row::Kind;
  rows_.clear();
  state_ = schedule_.state();
  const auto& state = state_;
  if (!state) return;
  for (std::size_t i = 0; i < state->faults.size(); ++i)
    rows_.push_back({Kind::fault, static_cast<int>(i), -1});
  for (std::size_t g = 0; g < state->groups.size(); ++g) {
    const auto& group = state->groups[g];
    const int index = static_cast<int>(g);
    rows_.push_back({Kind::group, index, index});
    const auto& first = state->report.findings[group.findings.front()];
    if (group.findings.size() > 1 && opened_.count(index) > 0) {
      for (std::size_t i = 0; i < std::min(group.findings.size(), mostMembers); ++i)
        rows_.push_back({Kind::member, static_cast<int>(group.findings[i]), index});
      if (group.findings.size() > mostMembers)
        rows_.push_back({Kind::more, static_cast<int>(group.findings.size() - mostMembers), index});
    }
    if (first.rule == schedule::Rule::deadlock && first.stuck.size() > first.cycle.size())
      rows_.push_back({Kind::follows, static_cast<int>(first.stuck.size() - first.cycle.size()), index});
  }
  for (const auto& [key, count] : state->report.unlisted)
    rows_.push_back({Kind::more, static_cast<int>(count), -1});
  if (!rows_.empty() && !state->rules.empty()) rows_.push_back({Kind::gap, -1, -1});
  for (std::size_t i = 0; i < state->rules.size(); ++i)
    rows_.push_back({Kind::rule, static_cast<int>(i), -1});
  if (!state->amk) return;
  rows_.push_back({Kind::gap, -1, -1});
  rows_.push_back({Kind::theirs, -1, -1});
  for (std::size_t i = 0; i < state->amkDiffers.size(); ++i)
    rows_.push_back({Kind::differs, static_cast<int>(i), -1});
}

/// What AutoMegaKernel's own validator says of the file.
QString FindingsView::theirVerdict() const {
  const schedule::AmkVerdict& amk = *state_->amk;
  QString words = !amk.raises.empty() ? tr("ends with %1").arg(qs(amk.raises))
                  : amk.accepts       ? tr("accepts")
                                      : tr("refuses");
  if (!amk.accepts && !amk.reasons.empty()) words += QStringLiteral(": ") + qs(amk.reasons.front().text);
  if (amk.skipsRaces) words += tr("; skips races above 8,000 tasks");
  return words;
}

QString FindingsView::text(const Row& row, int column) const {
  using Kind = Row::Kind;
  const auto& state = state_;
  const auto i = static_cast<std::size_t>(row.index);
  switch (row.kind) {
    case Kind::fault: {
      const schedule::Fault& fault = state->faults[i];
      QString code = qs(fault.code).replace(QLatin1Char('-'), QLatin1Char(' '));
      if (!code.isEmpty()) code[0] = code[0].toUpper();
      return column == 0 ? code
                         : (fault.where.empty() ? QString() : qs(fault.where) + QStringLiteral(": ")) +
                               qs(fault.message);
    }
    case Kind::group: {
      const auto& group = state->groups[i];
      const auto& first = state->report.findings[group.findings.front()];
      const auto count = static_cast<std::int64_t>(group.findings.size());
      if (column == 0)
        return ruleTitle(group.rule) +
               (count > 1 ? QStringLiteral(" \u00D7\u2009%1").arg(grouped(count)) : QString());
      return qs(schedule::brief(*state->schedule, first)) +
             (count > 1 ? tr(", and %1 like it").arg(grouped(count - 1)) : QString());
    }
    case Kind::member:
      return column == 0 ? QString() : qs(schedule::brief(*state->schedule, state->report.findings[i]));
    case Kind::more:
      return column == 0 ? QString() : tr("and %1 more, not listed").arg(grouped(row.index));
    case Kind::follows:
      return column == 0 ? tr("follows from it")
                         : counted(row.index, tr("task waits behind them"), tr("tasks wait behind them"));
    case Kind::rule:
      return column == 0 ? qs(state->rules[i].name) : qs(state->rules[i].what);
    case Kind::theirs:
      return column == 0 ? tr("AutoMegaKernel") : theirVerdict();
    case Kind::differs:
      return column == 0 ? tr("why they differ") : qs(state->amkDiffers[i]);
    case Kind::gap:
      break;
  }
  return {};
}

QVariant FindingsView::cell(int row, int column, int role) const {
  using Kind = Row::Kind;
  using State = schedule::RuleVerdict::State;
  const auto& state = state_;
  if (!state || row >= static_cast<int>(rows_.size())) return {};
  const Row& r = rows_[static_cast<std::size_t>(row)];
  if (role == Qt::DisplayRole) return text(r, column);
  const bool rule = r.kind == Kind::rule;
  const auto verdict = rule ? state->rules[static_cast<std::size_t>(r.index)].state : State::holds;
  if (role == markRole) {
    if (column == 0 && (r.kind == Kind::group || r.kind == Kind::fault))
      return static_cast<int>(Mark::refuted);
    if (column == 1 && rule && verdict != State::notJudged)
      return static_cast<int>(verdict == State::holds ? Mark::proved : Mark::refuted);
  }
  if (role == mutedRole)
    return r.kind == Kind::follows || r.kind == Kind::more || r.kind == Kind::differs ||
           (rule && verdict == State::notJudged);
  if (role == Qt::ToolTipRole && r.kind == Kind::group) {
    const auto& group = state->groups[static_cast<std::size_t>(r.index)];
    return qs(state->report.findings[group.findings.front()].message) +
           (group.findings.size() > 1 ? tr("\nEnter lists all %1.").arg(group.findings.size()) : QString());
  }
  if (role == Qt::ToolTipRole && r.kind == Kind::theirs)
    return tr("What AutoMegaKernel's own validator says of this file; it is no oracle.") + QLatin1Char('\n') +
           theirVerdict();
  if (role == Qt::ToolTipRole && r.kind == Kind::differs) return text(r, 1);
  if (role == Qt::ToolTipRole && r.kind == Kind::member)
    return qs(state->report.findings[static_cast<std::size_t>(r.index)].message);
  return {};
}

void FindingsView::refresh() {
  const QSignalBlocker quiet(table_->selectionModel());
  build();
  model_->resetRows(static_cast<int>(rows_.size()));
  table_->fitColumns(1);
  const auto state = schedule_.state();
  if (state && !state->faults.empty()) table_->setColumnWidth(0, static_cast<int>(130 * theme().scale));
  followSelection();
  QString subtitle;
  if (schedule_.checking()) {
    subtitle = tr("checking");
  } else if (state && state != schedule_.shown() && schedule_.shown()) {
    subtitle = tr("pictures are of the last well-formed text");
  }
  setSubtitle(subtitle);
}

void FindingsView::choose(int row) {
  using Kind = Row::Kind;
  const auto& state = state_;
  if (!state || row < 0 || row >= static_cast<int>(rows_.size())) return;
  const Row& r = rows_[static_cast<std::size_t>(row)];
  switch (r.kind) {
    case Kind::fault:
      schedule_.selectFault(r.index);
      break;
    case Kind::group:
      schedule_.selectFinding(
          static_cast<int>(state->groups[static_cast<std::size_t>(r.index)].findings.front()));
      break;
    case Kind::member:
      schedule_.selectFinding(r.index);
      break;
    case Kind::follows:
      schedule_.selectFinding(
          static_cast<int>(state->groups[static_cast<std::size_t>(r.group)].findings.front()));
      break;
    case Kind::rule: {
      const auto& rules = state->rules[static_cast<std::size_t>(r.index)].rules;
      const auto& findings = state->report.findings;
      const auto at = std::ranges::find_if(findings, [&](const schedule::Finding& f) {
        return std::ranges::find(rules, f.rule) != rules.end();
      });
      if (at != findings.end()) schedule_.selectFinding(static_cast<int>(at - findings.begin()));
      break;
    }
    case Kind::more:
    case Kind::theirs:
    case Kind::differs:
    case Kind::gap:
      break;
  }
}

void FindingsView::toggle(int row) {
  if (row < 0 || row >= static_cast<int>(rows_.size())) return;
  const Row& r = rows_[static_cast<std::size_t>(row)];
  if (r.kind != Row::Kind::group) return;
  if (!opened_.erase(r.index)) opened_.insert(r.index);
  refresh();
}

void FindingsView::followSelection() {
  const SchedulePlace& place = schedule_.place();
  const auto& state = state_;
  if (!state) return;
  int wanted = -1;
  for (std::size_t i = 0; i < rows_.size() && wanted < 0; ++i) {
    const Row& r = rows_[i];
    if (place.fault >= 0 ? r.kind == Row::Kind::fault && r.index == place.fault
                         : r.kind == Row::Kind::member && r.index == place.finding)
      wanted = static_cast<int>(i);
  }
  for (std::size_t i = 0; i < rows_.size() && wanted < 0 && place.finding >= 0; ++i) {
    const Row& r = rows_[i];
    if (r.kind != Row::Kind::group) continue;
    const auto& findings = state->groups[static_cast<std::size_t>(r.index)].findings;
    if (std::ranges::find(findings, static_cast<std::size_t>(place.finding)) != findings.end())
      wanted = static_cast<int>(i);
  }
  const QSignalBlocker quiet(table_->selectionModel());
  if (wanted < 0) {
    table_->clearSelection();
  } else if (table_->currentIndex().row() != wanted || !table_->selectionModel()->isRowSelected(wanted, {})) {
    table_->setCurrentIndex(model_->index(wanted, 0));
    table_->selectRow(wanted);
  }
  table_->viewport()->update();
}

QString FindingsView::find(const QString& sought, bool backwards) {
  if (sought.isEmpty()) return {};
  std::vector<int> hits;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (text(rows_[i], 0).contains(sought, Qt::CaseInsensitive) ||
        text(rows_[i], 1).contains(sought, Qt::CaseInsensitive))
      hits.push_back(static_cast<int>(i));
  }
  if (hits.empty()) return tr("no match");
  const int now = table_->currentIndex().row();
  auto next = backwards ? std::ranges::lower_bound(hits, now) : std::ranges::upper_bound(hits, now);
  if (backwards) next = next == hits.begin() ? hits.end() - 1 : next - 1;
  if (next == hits.end()) next = hits.begin();
  table_->setCurrentIndex(model_->index(*next, 0));
  return tr("%1 of %2").arg(next - hits.begin() + 1).arg(hits.size());
}

QString FindingsView::csv() const {
  return table_->csv();
}

QString FindingsView::summary() const {
  const auto state = schedule_.state();
  return state ? state->headline : tr("No schedule is open");
}

void FindingsView::fillContextMenu(QMenu& menu) {
  const int row = table_->currentIndex().row();
  if (row >= 0 && row < static_cast<int>(rows_.size()) &&
      rows_[static_cast<std::size_t>(row)].kind == Row::Kind::group)
    menu.addAction(tr("List or fold its findings"), this, [this, row] { toggle(row); });
  View::fillContextMenu(menu);
}

}  // namespace nuscope::views

#include "moc_findings_view.cpp"
