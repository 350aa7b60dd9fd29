#include "views/schedule/tasks_view.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QToolButton>
#include <algorithm>

#include "views/graph/graph_widget.h"
#include "views/jobs.h"
#include "views/schedule/schedule_words.h"
#include "views/table_view.h"
#include "views/text.h"
#include "views/theme.h"

namespace nuscope::views {

namespace {

constexpr std::size_t mostAround = 24;
constexpr std::size_t fewTasks = 24;   ///< so many are shown one by one from the start
constexpr std::size_t fewBoxes = 100;  ///< so many are made at once
const QString boxesLane = QStringLiteral("schedule.boxes");

}  // namespace

TasksView::TasksView(const ViewContext& context, QWidget* parent)
    : View(context, "tasks", tr("Tasks"), parent),
      schedule_(*ScheduleDocument::of(context.document)),
      pages_(new QStackedWidget),
      graph_(new GraphWidget(context.theme, context.jobs, QStringLiteral("taskGraph"))),
      table_(new TableView(context.theme)) {
  graph_->setAccessibleName(tr("Graph of the tasks"));
  const auto chip = [this](const QString& text, Mode mode) {
    return addChip(text, mode == mode_, [this, mode](bool) {
      chosenByHand_ = true;
      setMode(mode);
    });
  };
  aroundChip_ = chip(tr("around the finding"), Mode::around);
  layersChip_ = chip(tr("layers"), Mode::layers);
  allChip_ = chip(tr("all"), Mode::all);
  asTable_ = addHeaderToggle(QStringLiteral("table"), tr("As a table"), false, [this](bool on) {
    pages_->setCurrentWidget(on ? static_cast<QWidget*>(table_) : graph_);
  });
  asTable_->setObjectName(QStringLiteral("asTable"));
  addHeaderButton(QStringLiteral("fit"), tr("Fit to window (F)"), [this] { fit(); });
  buildTable();
  pages_->addWidget(graph_);
  pages_->addWidget(table_);
  setContent(pages_);
  connect(graph_, &GraphWidget::boxChosen, this, &TasksView::chosen);
  connect(graph_, &GraphWidget::boxOpened, this, &TasksView::opened);
  connect(graph_, &GraphWidget::stubClicked, this, &TasksView::opened);
  connect(graph_, &GraphWidget::laidOut, this, &TasksView::revealFault);
  connect(graph_, &GraphWidget::edgeChosen, this, [this](quint64 key) {
    if (!tasks_ || key == 0 || key > tasks_->edges.size()) return;
    const auto& edge = tasks_->edges[static_cast<std::size_t>(key - 1)];
    if (edge.counter >= 0) schedule_.selectCounter(edge.counter);
  });
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          [this](const QModelIndex& now) {
            if (now.isValid()) schedule_.selectTask(now.row());
          });
  connect(&schedule_, &ScheduleDocument::opened, this, [this] {
    openGroups_.clear();
    chosenByHand_ = false;
    markStale();
  });
  for (const auto signal : {&ScheduleDocument::stateChanged, &ScheduleDocument::stepChanged,
                            &ScheduleDocument::differenceChanged})
    connect(&schedule_, signal, this, [this] { markStale(); });
  connect(&schedule_, &ScheduleDocument::selectionChanged, this, [this] { markStale(); });
}

void TasksView::buildTable() {
  const auto text = [this](int row, const std::function<QString(const ScheduleState&, std::int32_t)>& of) {
    const auto state = schedule_.shown();
    if (!state || !state->wellFormed() || row >= static_cast<int>(state->schedule->tasks.size()))
      return QString();
    return of(*state, row);
  };
  const auto column = [text](const QString& title, bool number,
                             std::function<QString(const ScheduleState&, std::int32_t)> of) {
    return Column{title, {}, number, [text, of = std::move(of)](int row, int role) -> QVariant {
                    if (role == Qt::DisplayRole) return text(row, of);
                    return {};
                  }};
  };
  rows_ = new RowsModel(
      {column(tr("Id"), true,
              [](const ScheduleState& s, std::int32_t t) {
                return QString::number(s.schedule->tasks[static_cast<std::size_t>(t)].id);
              }),
       column(tr("Task"), false, [](const ScheduleState& s, std::int32_t t) { return s.taskName(t); }),
       column(tr("Operation"), false,
              [](const ScheduleState& s, std::int32_t t) {
                return opName(s.schedule->tasks[static_cast<std::size_t>(t)]);
              }),
       column(tr("Queue"), false, [](const ScheduleState& s, std::int32_t t) { return queueText(s, t); }),
       column(tr("Waits for"), false,
              [](const ScheduleState& s, std::int32_t t) {
                QStringList waits;
                for (const auto& w : s.schedule->tasks[static_cast<std::size_t>(t)].waits)
                  waits << QStringLiteral("c%1 \u2265 %2").arg(w.counter).arg(w.threshold);
                return waits.join(QStringLiteral(", "));
              }),
       column(tr("Raises"), false,
              [](const ScheduleState& s, std::int32_t t) {
                QStringList raised;
                for (const auto c : s.schedule->tasks[static_cast<std::size_t>(t)].signals)
                  raised << QStringLiteral("c%1").arg(c);
                return raised.join(QStringLiteral(", "));
              }),
       column(tr("At this step"), false,
              [this](const ScheduleState& s, std::int32_t t) {
                const auto run = schedule_.run();
                return run ? taskStateText(s, *run, t, schedule_.step()) : QString();
              })},
      this);
  table_->setObjectName(QStringLiteral("taskRows"));
  table_->setAccessibleName(tr("Tasks"));
  table_->setModel(rows_);
}

void TasksView::setMode(Mode mode) {
  mode_ = mode;
  const QSignalBlocker a(aroundChip_), l(layersChip_), n(allChip_);
  aroundChip_->setChecked(mode == Mode::around);
  layersChip_->setChecked(mode == Mode::layers);
  allChip_->setChecked(mode == Mode::all);
  tasks_.reset();
  state_.reset();
  markStale();
}

void TasksView::toggleGroup(int group) {
  if (!openGroups_.erase(group)) openGroups_.insert(group);
  setMode(Mode::layers);
}

bool TasksView::openGroup(const QString& name) {
  const auto state = schedule_.shown();
  if (!state || !state->outline) return false;
  TaskBoxes boxes;
  boxes.state = state;
  const auto& groups = state->outline->groups();
  for (std::int32_t g = 0; g < static_cast<std::int32_t>(groups.size()); ++g) {
    if (boxes.groupName(g) != name) continue;
    for (std::int32_t open = g; open >= 0; open = groups[static_cast<std::size_t>(open)].parent)
      openGroups_.insert(open);
    setMode(Mode::layers);
    return true;
  }
  return false;
}

bool TasksView::showPage(const QString& name) {
  const QStringList pages{QStringLiteral("around"), QStringLiteral("layers"), QStringLiteral("all"),
                          QStringLiteral("table")};
  const auto page = static_cast<int>(pages.indexOf(name));
  if (page < 0) return false;
  asTable_->setChecked(page == 3);
  if (page == 3) return true;
  chosenByHand_ = true;
  setMode(static_cast<Mode>(page));
  return true;
}

void TasksView::refresh() {
  const auto state = schedule_.shown();
  const bool any = state && state->wellFormed();
  const auto count = any ? state->schedule->tasks.size() : 0;
  allChip_->setText(count == 0 ? tr("all") : tr("all %1").arg(grouped(static_cast<qint64>(count))));
  allChip_->setEnabled(count <= mostTaskBoxes);
  allChip_->setToolTip(count <= mostTaskBoxes
                           ? QString()
                           : tr("More than %1 boxes say nothing: open layers and operators instead")
                                 .arg(grouped(static_cast<qint64>(mostTaskBoxes))));
  const SchedulePlace& place = schedule_.place();
  aroundChip_->setText(place.finding >= 0 ? tr("around the finding") : tr("around the task"));
  aroundChip_->setEnabled(any && (place.finding >= 0 || place.task >= 0));
  if (!any) {
    state_.reset();
    tasks_.reset();
    graph_->setContent({});
    rows_->resetRows(0);
    setSubtitle(schedule_.state() ? tr("once the file is well formed") : QString());
    return;
  }
  if (!chosenByHand_ && state_ != state) {
    const Mode wanted = place.finding >= 0 ? Mode::around : count <= fewTasks ? Mode::all : Mode::layers;
    if (wanted != mode_) setMode(wanted);
  }
  if (mode_ == Mode::around && !aroundChip_->isEnabled())
    setMode(count <= fewTasks ? Mode::all : Mode::layers);
  if (mode_ == Mode::all && count > mostTaskBoxes) setMode(Mode::layers);
  if (rows_->rowCount() != static_cast<int>(count)) {
    rows_->resetRows(static_cast<int>(count));
    table_->fitColumns(1);
  } else {
    table_->viewport()->update();
  }
  reload();
  followSelection();
}

/// The graph is made in a job, for a schedule may have very many tasks; texts and marks follow the step here.
void TasksView::reload() {
  const auto state = schedule_.shown();
  const FindingDetail* detail = schedule_.detail();
  const SchedulePlace place = schedule_.place();
  const Mode mode = mode_;
  if (mode == Mode::around && place.finding >= 0 && detail == nullptr) return;  // it is on its way
  std::optional<schedule::Finding> finding;
  if (mode == Mode::around && detail != nullptr) finding = detail->finding;
  if (state == state_ && tasks_ && mode != Mode::around) {
    restate();
    return;
  }
  std::set<std::int32_t> opened = openGroups_;
  if (mode == Mode::all) {
    for (std::size_t g = 0; g < state->outline->groups().size(); ++g)
      opened.insert(static_cast<std::int32_t>(g));
  }
  context().jobs.run(
      this, {.title = tr("Arrange tasks"), .lane = QStringLiteral("schedule.graph"), .quiet = true},
      [state, mode, finding, task = place.task, opened](JobHandle&) {
        if (mode != Mode::around)
          return schedule::graphOf(*state->outline, *state->model, opened, mostTaskBoxes);
        return finding ? schedule::graphAround(*state->model, *finding, mostAround)
                       : schedule::graphAround(*state->model, std::max(task, 0), mostAround);
      },
      [this, state](schedule::TaskGraph graph) {
        state_ = state;
        tasks_ = std::make_shared<const schedule::TaskGraph>(std::move(graph));
        restate();
        followSelection();
      });
}

void TasksView::restate() {
  if (!tasks_ || !state_) return;
  const FindingDetail* detail = schedule_.detail();
  const bool ring = mode_ == Mode::around && detail != nullptr && detail->finding.cycle.size() > 1;
  TaskBoxes now{state_,
                tasks_,
                schedule_.run(),
                schedule_.difference(),
                certificateTasks(schedule_),
                schedule_.step(),
                schedule_.place().counter,
                mode_ == Mode::around,
                ring};
  if (now == shownNow_) return;
  shownNow_ = now;
  if (tasks_->nodes.size() <= fewBoxes) {
    context().jobs.cancel(boxesLane);
    show(now.content());
    return;
  }
  context().jobs.run(
      this, {.title = tr("Draw tasks"), .lane = boxesLane, .quiet = true},
      [now = std::move(now)](JobHandle&) { return now.content(); },
      [this](GraphContent content) {
        show(std::move(content));
        followSelection();
      });
}

void TasksView::show(GraphContent content) {
  graph_->setContent(std::move(content));
  const FindingDetail* detail = schedule_.detail();
  const bool cycle = mode_ == Mode::around && detail != nullptr && !detail->finding.cycle.empty();
  setSubtitle(cycle ? tr("arrows: waits for") : QString());
}

void TasksView::chosen(quint64 key) {
  switch (kindOf(key)) {
    case schedule::TaskGraph::Kind::task:
      schedule_.selectTask(indexOf(key));
      break;
    case schedule::TaskGraph::Kind::counter:
      schedule_.selectCounter(indexOf(key));
      break;
    case schedule::TaskGraph::Kind::group:
      break;
  }
}

void TasksView::opened(quint64 key) {
  if (kindOf(key) == schedule::TaskGraph::Kind::group) {
    chosenByHand_ = true;
    openGroups_.insert(indexOf(key));
    setMode(Mode::layers);
  } else if (kindOf(key) == schedule::TaskGraph::Kind::task) {
    schedule_.selectTask(indexOf(key));
  }
}

/// Selects the task, or the group that hides it.
void TasksView::followSelection() {
  if (!tasks_ || !state_) return;
  const SchedulePlace& place = schedule_.place();
  std::optional<std::uint64_t> key;
  const auto has = [&](std::uint64_t k) {
    return std::ranges::any_of(graph_->content().boxes, [&](const Box& b) { return b.key == k; });
  };
  if (place.counter >= 0) {
    key = keyOf(schedule::TaskGraph::Kind::counter, place.counter);
  } else if (place.task >= 0 && place.task < static_cast<int>(state_->schedule->tasks.size())) {
    key = keyOf(schedule::TaskGraph::Kind::task, place.task);
    for (std::int32_t g = state_->outline->groupOf(place.task); g > 0 && !has(*key);
         g = state_->outline->groups()[static_cast<std::size_t>(g)].parent)
      key = keyOf(schedule::TaskGraph::Kind::group, g);
  }
  if (key && !has(*key)) key.reset();
  if (!key && place.task < 0 && place.counter < 0 && graph_->selectedBox() &&
      kindOf(*graph_->selectedBox()) == schedule::TaskGraph::Kind::group)
    return;  // a group that was clicked stays chosen
  graph_->setSelectedBox(key);
  if (key) graph_->ensureVisible(*key);
  if (place.task >= 0 && table_->currentIndex().row() != place.task) {
    const QSignalBlocker quiet(table_->selectionModel());
    table_->setCurrentIndex(rows_->index(place.task, 0));
    table_->selectRow(place.task);
  }
}

/// What collides is in the picture, not somewhere beside it.
void TasksView::revealFault() {
  const FindingDetail* detail = schedule_.detail();
  if (mode_ != Mode::around || detail == nullptr || graph_->selectedBox()) return;
  for (const std::int32_t task : {detail->finding.other, detail->finding.task}) {
    if (task >= 0) graph_->ensureVisible(keyOf(schedule::TaskGraph::Kind::task, task));
  }
}

void TasksView::keyPressEvent(QKeyEvent* event) {
  const auto selected = graph_->selectedBox();
  if (event->key() == Qt::Key_Backspace && selected && state_ && mode_ == Mode::layers) {
    std::int32_t group = -1;
    if (kindOf(*selected) == schedule::TaskGraph::Kind::task)
      group = state_->outline->groupOf(indexOf(*selected));
    if (kindOf(*selected) == schedule::TaskGraph::Kind::group)
      group = state_->outline->groups()[static_cast<std::size_t>(indexOf(*selected))].parent;
    // What holds it and was opened by hand: an operator of one task opens with its layer.
    for (; group > 0; group = state_->outline->groups()[static_cast<std::size_t>(group)].parent) {
      if (openGroups_.erase(group) == 0) continue;
      setMode(Mode::layers);
      break;
    }
    return;
  }
  View::keyPressEvent(event);
}

void TasksView::fillContextMenu(QMenu& menu) {
  const auto selected = graph_->selectedBox();
  if (state_ && selected && kindOf(*selected) == schedule::TaskGraph::Kind::group)
    menu.addAction(tr("Open %1").arg(shownNow_.groupName(indexOf(*selected))), this,
                   [this, key = *selected] { opened(key); });
  if (!openGroups_.empty())
    menu.addAction(tr("Close all layers and operators"), this, [this] {
      openGroups_.clear();
      setMode(Mode::layers);
    });
  if (schedule_.place().task >= 0)
    menu.addAction(tr("Show around the task"), this, [this] {
      chosenByHand_ = true;
      setMode(Mode::around);
    });
  View::fillContextMenu(menu);
}

QString TasksView::find(const QString& text, bool backwards) {
  if (text.isEmpty() || !schedule_.shown()) {
    graph_->setHits({});
    return {};
  }
  const auto state = schedule_.shown();
  std::vector<int> hits;
  for (std::size_t t = 0; t < state->schedule->tasks.size(); ++t) {
    const schedule::Task& task = state->schedule->tasks[t];
    if (state->taskName(static_cast<std::int32_t>(t)).contains(text, Qt::CaseInsensitive) ||
        opName(task).contains(text, Qt::CaseInsensitive))
      hits.push_back(static_cast<int>(t));
  }
  std::set<std::uint64_t> keys;
  for (const int t : hits) {
    keys.insert(keyOf(schedule::TaskGraph::Kind::task, t));
    for (std::int32_t g = state->outline->groupOf(t); g > 0;
         g = state->outline->groups()[static_cast<std::size_t>(g)].parent)
      keys.insert(keyOf(schedule::TaskGraph::Kind::group, g));
  }
  graph_->setHits(std::move(keys));
  if (hits.empty()) return tr("no match");
  const int now = schedule_.place().task;
  auto next = backwards ? std::ranges::lower_bound(hits, now) : std::ranges::upper_bound(hits, now);
  if (backwards) next = next == hits.begin() ? hits.end() - 1 : next - 1;
  if (next == hits.end()) next = hits.begin();
  schedule_.selectTask(*next);
  return tr("%1 of %2").arg(next - hits.begin() + 1).arg(hits.size());
}

void TasksView::fit() {
  graph_->fit();
}

QWidget* TasksView::focusTarget() const {
  return pages_->currentWidget();
}

QSizeF TasksView::exportSize() const {
  return graph_->pictureSize();
}

void TasksView::paintExport(QPainter& painter) const {
  graph_->paintPicture(painter);
}

QString TasksView::csv() const {
  return rows_->rowCount() == 0 ? QString() : table_->csv();
}

QStringList TasksView::moreExports() const {
  return {tr("Graphviz (*.dot)")};
}

QString TasksView::exportText(const QString& suffix) const {
  return suffix == QLatin1String("dot") && !graph_->content().boxes.empty() ? graph_->dot() : QString();
}

QString TasksView::summary() const {
  return tr("%1 boxes, %2 arrows").arg(graph_->content().boxes.size()).arg(graph_->content().edges.size());
}

}  // namespace nuscope::views

#include "moc_tasks_view.cpp"
