#include "views/schedule/schedule_document.h"

#include <QFile>
#include <QFileInfo>
#include <QPlainTextDocumentLayout>
#include <QSaveFile>
#include <QTextCursor>
#include <algorithm>

#include "core/schedule/rewrite.h"
#include "views/document.h"
#include "views/jobs.h"
#include "views/text.h"

namespace nuscope::views {

namespace {

constexpr int editDelay = 300;  // milliseconds after the last key
constexpr qint64 largestFile = qint64(2) << 30;
constexpr std::size_t mostVersions = 100;
constexpr std::size_t mostVersionBytes = std::size_t(256) << 20;
const QString checkLane = QStringLiteral("schedule.check");
const QString detailLane = QStringLiteral("schedule.finding");
const QString repairLane = QStringLiteral("schedule.repairs");
const QString compareLane = QStringLiteral("schedule.compare");

/// As it is, blanks of all kinds included.
QByteArray bytesOf(const QTextDocument& document) {
  QString text = document.toRawText();
  text.replace(QChar::ParagraphSeparator, QLatin1Char('\n'));
  return text.toUtf8();
}

/// A refused schedule opens on its first finding, a malformed one on its first fault.
SchedulePlace firstPlace(const ScheduleState& state) {
  SchedulePlace place;
  if (!state.wellFormed()) {
    if (!state.faults.empty()) place.fault = 0;
  } else if (!state.groups.empty()) {
    place.finding = static_cast<int>(state.groups.front().findings.front());
  }
  return place;
}

struct Repaired {
  std::shared_ptr<const ScheduleState> state;
  std::shared_ptr<const schedule::Difference> difference;
};

}  // namespace

std::shared_ptr<const std::string> readFile(const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly))
    throw UserError(QStringLiteral("%1 could not be read: %2.").arg(path, file.errorString()).toStdString());
  if (file.size() > largestFile)
    throw UserError(QStringLiteral("%1 is larger than 2 GiB.").arg(path).toStdString());
  auto text = std::make_shared<std::string>(static_cast<std::size_t>(file.size()), '\0');
  const qint64 got = file.read(text->data(), file.size());
  if (got != file.size())
    throw UserError(QStringLiteral("%1 could not be read: %2.").arg(path, file.errorString()).toStdString());
  return text;
}

void writeFile(const QString& path, const std::string& text) {
  QSaveFile file(path);
  const auto size = static_cast<qint64>(text.size());
  if (!file.open(QIODevice::WriteOnly) || file.write(text.data(), size) != size || !file.commit())
    throw UserError(
        QStringLiteral("%1 could not be written: %2.").arg(path, file.errorString()).toStdString());
}

ScheduleDocument* ScheduleDocument::of(Document& document) {
  if (auto* found = document.findChild<ScheduleDocument*>(QString(), Qt::FindDirectChildrenOnly))
    return found;
  return new ScheduleDocument(document, document.jobs());
}

ScheduleDocument::ScheduleDocument(Document& document, Jobs& jobs)
    : QObject(&document), jobs_(jobs), source_(new QTextDocument(this)) {
  source_->setDocumentLayout(new QPlainTextDocumentLayout(source_));
  source_->setUndoRedoEnabled(false);  // versions are the undo history
  editTimer_.setSingleShot(true);
  editTimer_.setInterval(editDelay);
  connect(&editTimer_, &QTimer::timeout, this, [this] {
    check(std::make_shared<const std::string>(bytesOf(*source_).toStdString()), tr("edited"));
  });
  connect(source_, &QTextDocument::contentsChange, this, [this](int, int removed, int added) {
    if (adopting_ || (removed == 0 && added == 0)) return;
    // A highlighter tells of the colours of the whole text in the same way.
    if (removed == added && isOpen() && bytesOf(*source_) == QByteArrayView(*versions_[at_]->text)) return;
    textEdited();
  });
}

// File

bool ScheduleDocument::isSchedulePath(const QString& path) {
  return path.endsWith(QLatin1String(".json"), Qt::CaseInsensitive);
}

QString ScheduleDocument::displayName() const {
  const QFileInfo file(path_);
  // Every case of a collection may be called schedule.json: its folder tells more.
  return file.fileName() == QLatin1String("schedule.json")
             ? file.dir().dirName() + QLatin1Char('/') + file.fileName()
             : file.fileName();
}

void ScheduleDocument::open(const QString& path) {
  const QString absolute = QFileInfo(path).absoluteFilePath();
  Job* job = jobs_.run(
      this, {.title = tr("Check %1").arg(QFileInfo(path).fileName()), .lane = checkLane},
      [absolute](JobHandle& handle) {
        return makeScheduleState(readFile(absolute), QObject::tr("opened"), handle.progress());
      },
      [this, absolute](State state) {
        editTimer_.stop();
        jobs_.cancel(repairLane);
        path_ = absolute;
        versions_.clear();
        at_ = 0;
        saved_ = state;
        lastGood_.reset();
        dropComparison();
        closeDump();
        adopt(std::move(state), true);
        Q_EMIT opened();
        Q_EMIT nameChanged();
      });
  connect(job, &Job::failed, this, &ScheduleDocument::openFailed);
  checking_ = true;
  connect(job, &Job::ended, this, [this] {
    checking_ = jobs_.current(checkLane) != nullptr;
    Q_EMIT stateChanged();
  });
  Q_EMIT stateChanged();
}

void ScheduleDocument::save(const QString& path) {
  if (!isOpen()) return;
  const State state = versions_[at_];
  Job* job = jobs_.run(
      this, {.title = tr("Save %1").arg(QFileInfo(path).fileName()), .lane = QStringLiteral("schedule.save")},
      [state, path](JobHandle&) { writeFile(path, *state->text); },
      [this, state, path] {
        saved_ = state;
        path_ = QFileInfo(path).absoluteFilePath();
        Q_EMIT saved();
        Q_EMIT nameChanged();
      });
  connect(job, &Job::failed, this, &ScheduleDocument::saveFailed);
}

// Versions

ScheduleDocument::State ScheduleDocument::state() const {
  return preview_ ? preview_ : isOpen() ? versions_[at_] : nullptr;
}

ScheduleDocument::State ScheduleDocument::shown() const {
  const State now = state();
  return now && now->wellFormed() ? now : lastGood_;
}

void ScheduleDocument::adopt(State state, bool push) {
  preview_.reset();
  if (push) {
    if (isOpen()) versions_.resize(at_ + 1);
    versions_.push_back(std::move(state));
    at_ = versions_.size() - 1;
    trim();
  }
  showVersion();
}

void ScheduleDocument::trim() {
  std::size_t bytes = 0;
  for (const State& s : versions_) bytes += s->text->size();
  while (versions_.size() > 2 && (versions_.size() > mostVersions || bytes > mostVersionBytes)) {
    bytes -= versions_.front()->text->size();
    versions_.erase(versions_.begin());
    --at_;
  }
}

/// After another version came to stand: text, selection, step and everything that hangs on them.
void ScheduleDocument::showVersion() {
  const State now = state();
  if (now->wellFormed()) lastGood_ = now;
  const QString text = now->large
                           ? QString()
                           : QString::fromUtf8(now->text->data(), static_cast<qsizetype>(now->text->size()));
  putText(text);
  jobs_.cancel(detailLane);
  detail_.reset();
  place_ = firstPlace(*now);
  onlyThis_ = false;
  anchor_ = -1;
  step_ = now->whole ? now->whole->faultStep() : 0;
  Q_EMIT stateChanged();
  Q_EMIT nameChanged();
  Q_EMIT selectionChanged();
  Q_EMIT stepChanged();
  loadDetail();
}

/// Replaces what differs, so that editors keep their place.
void ScheduleDocument::putText(const QString& text) {
  QString old = source_->toRawText();
  old.replace(QChar::ParagraphSeparator, QLatin1Char('\n'));
  if (old == text) return;
  adopting_ = true;
  const qsizetype shorter = std::min(old.size(), text.size());
  qsizetype same = 0;
  while (same < shorter && old[same] == text[same]) ++same;
  qsizetype tail = 0;
  while (tail < shorter - same && old[old.size() - 1 - tail] == text[text.size() - 1 - tail]) ++tail;
  if (same == 0 && tail == 0) {
    source_->setPlainText(text);
  } else {
    QTextCursor cursor(source_);
    cursor.setPosition(static_cast<int>(same));
    cursor.setPosition(static_cast<int>(old.size() - tail), QTextCursor::KeepAnchor);
    cursor.insertText(text.mid(same, text.size() - tail - same));
  }
  adopting_ = false;
}

void ScheduleDocument::textEdited() {
  if (!isOpen()) return;
  preview_.reset();
  checking_ = true;
  editTimer_.start();
  Q_EMIT stateChanged();
}

void ScheduleDocument::check(std::shared_ptr<const std::string> text, const QString& what) {
  checking_ = true;
  Job* job = jobs_.run(
      this, {.title = tr("Check %1").arg(displayName()), .lane = checkLane, .quiet = text->size() < 65536},
      [text, what](JobHandle& handle) { return makeScheduleState(text, what, handle.progress(), true); },
      [this](State state) {
        checking_ = false;
        adopt(std::move(state), true);
      });
  connect(job, &Job::ended, this, [this] {
    checking_ = editTimer_.isActive() || jobs_.current(checkLane) != nullptr;
    Q_EMIT stateChanged();
  });
}

void ScheduleDocument::undo() {
  if (preview_) {
    dropPreview();
    return;
  }
  if (editTimer_.isActive()) {  // not a version yet: back to the one that stands
    editTimer_.stop();
    checking_ = false;
    showVersion();
    return;
  }
  if (!canUndo()) return;
  jobs_.cancel(checkLane);
  checking_ = false;
  --at_;
  showVersion();
}

void ScheduleDocument::redo() {
  if (!canRedo()) return;
  jobs_.cancel(checkLane);
  preview_.reset();
  ++at_;
  showVersion();
}

// Selection and step

void ScheduleDocument::select(const SchedulePlace& place) {
  if (place == place_) return;
  const bool otherFinding = place.finding != place_.finding;
  place_ = place;
  if (otherFinding) detail_.reset();
  Q_EMIT selectionChanged();
  if (otherFinding) loadDetail();
}

void ScheduleDocument::selectFinding(int finding) {
  select({.finding = finding});
}
void ScheduleDocument::selectFault(int fault) {
  select({.finding = place_.finding, .fault = fault});
}
void ScheduleDocument::selectTask(int task) {
  select({.finding = place_.finding, .task = task});
}
void ScheduleDocument::setAnchor(int task) {
  anchor_ = task;
  Q_EMIT selectionChanged();
}
void ScheduleDocument::selectCounter(int counter) {
  select({.finding = place_.finding, .counter = counter});
}
void ScheduleDocument::selectBuffer(int buffer) {
  select({.finding = place_.finding, .buffer = buffer});
}

void ScheduleDocument::selectRegion(int buffer, const schedule::Region& region) {
  select({.finding = place_.finding, .buffer = buffer, .region = region.ranges});
}

void ScheduleDocument::loadDetail() {
  const State now = shown();
  repairs_.clear();
  jobs_.cancel(repairLane);
  seeking_ = false;
  Q_EMIT repairsChanged();
  if (!now || place_.finding < 0) {
    step_ = now && now->whole ? now->whole->faultStep() : 0;
    Q_EMIT stepChanged();
    return;
  }
  jobs_.run(
      this, {.title = tr("Explain"), .lane = detailLane, .quiet = true},
      [now, finding = static_cast<std::size_t>(place_.finding)](JobHandle&) {
        return makeFindingDetail(*now, finding);
      },
      [this](FindingDetail detail) {
        detail_ = std::move(detail);
        step_ = detail_->run->faultStep();
        Q_EMIT selectionChanged();
        Q_EMIT stepChanged();
        if (!preview_) seekRepairs();
      });
}

std::shared_ptr<const schedule::Rounds> ScheduleDocument::run() const {
  if (detail_) return detail_->run;
  const State now = shown();
  return now ? now->whole : nullptr;
}

void ScheduleDocument::setStep(int step) {
  const auto now = run();
  const int wanted = now ? std::clamp(step, 0, now->steps()) : 0;
  if (wanted == step_) return;
  step_ = wanted;
  Q_EMIT stepChanged();
}

// Repairs

void ScheduleDocument::setOnlyThis(bool only) {
  if (only == onlyThis_) return;
  onlyThis_ = only;
  seekRepairs();
}

void ScheduleDocument::seekRepairs() {
  const State now = shown();
  if (!now || place_.finding < 0 || now->report.verdict != schedule::Safety::unsafe) return;
  const auto finding = static_cast<std::size_t>(place_.finding);
  const auto group = std::ranges::find_if(now->groups, [&](const schedule::FindingGroup& g) {
    return std::ranges::find(g.findings, finding) != g.findings.end();
  });
  if (group == now->groups.end()) return;
  repairs_.clear();
  seeking_ = true;
  schedule::FindingGroup wanted = *group;
  if (onlyThis_) wanted.findings = {finding};
  Job* job = jobs_.run(
      this, {.title = tr("Seek repairs"), .lane = repairLane},
      [now, wanted](JobHandle& handle) {
        const schedule::RepairOptions options;
        auto found = schedule::repairs(*now->schedule, now->report, wanted, options, handle.progress());
        const bool safe = std::ranges::any_of(found, &schedule::Repair::makesSafe);
        if (!safe && now->groups.size() > 1) {
          if (auto all = schedule::repairAll(*now->schedule, now->report, options, handle.progress()))
            found.push_back(std::move(*all));
          std::ranges::stable_sort(found, {}, [](const schedule::Repair& r) { return !r.makesSafe; });
        }
        return found;
      },
      [this](std::vector<schedule::Repair> found) { repairs_ = std::move(found); });
  connect(job, &Job::ended, this, [this] {
    seeking_ = jobs_.current(repairLane) != nullptr;
    Q_EMIT repairsChanged();
  });
  Q_EMIT repairsChanged();
}

void ScheduleDocument::preview(int repair) {
  const State now = isOpen() ? versions_[at_] : nullptr;
  if (!now || !now->wellFormed() || repair < 0 || repair >= static_cast<int>(repairs_.size())) return;
  const schedule::Repair wanted = repairs_[static_cast<std::size_t>(repair)];
  jobs_.run(
      this, {.title = tr("Check the repair"), .lane = checkLane},
      [now, wanted](JobHandle& handle) {
        const schedule::Schedule after = schedule::applyEdits(*now->schedule, wanted.edits);
        Repaired made;
        made.state = makeScheduleState(
            std::make_shared<const std::string>(schedule::rewrite(*now->text, *now->schedule, after)),
            qs(wanted.text), handle.progress());
        made.difference =
            std::make_shared<const schedule::Difference>(schedule::differenceOf(*now->schedule, after));
        return made;
      },
      [this, now, repair](Repaired made) {
        const std::vector<schedule::Repair> offered = repairs_;
        preview_ = std::move(made.state);
        previewed_ = repair;
        base_ = now;
        baseName_ = tr("before the repair");
        difference_ = std::move(made.difference);
        showVersion();
        repairs_ = offered;
        Q_EMIT repairsChanged();
        Q_EMIT differenceChanged();
      });
}

void ScheduleDocument::apply(int repair) {
  if (preview_ && previewed_ == repair) {
    adopt(std::exchange(preview_, nullptr), true);
    return;
  }
  const State now = isOpen() ? versions_[at_] : nullptr;
  if (!now || !now->wellFormed() || repair < 0 || repair >= static_cast<int>(repairs_.size())) return;
  const schedule::Repair& wanted = repairs_[static_cast<std::size_t>(repair)];
  adoptEdits(wanted.edits, qs(wanted.text));
}

void ScheduleDocument::adoptEdits(std::vector<schedule::Edit> edits, const QString& what) {
  const State now = versions_[at_];
  Job* job = jobs_.run(
      this, {.title = tr("Check the edited schedule"), .lane = checkLane},
      [now, edits = std::move(edits), what](JobHandle& handle) {
        return makeScheduleState(
            std::make_shared<const std::string>(
                schedule::rewrite(*now->text, *now->schedule, schedule::applyEdits(*now->schedule, edits))),
            what, handle.progress());
      },
      [this](State state) { adopt(std::move(state), true); });
  checking_ = true;
  connect(job, &Job::ended, this, [this] {
    checking_ = jobs_.current(checkLane) != nullptr;
    Q_EMIT stateChanged();
  });
}

void ScheduleDocument::dropPreview() {
  if (!preview_) return;
  preview_.reset();
  dropComparison();
  showVersion();
}

QString ScheduleDocument::jsonPatch(int repair) const {
  const State now = isOpen() ? versions_[at_] : nullptr;
  if (!now || !now->wellFormed() || repair < 0 || repair >= static_cast<int>(repairs_.size())) return {};
  return qs(schedule::jsonPatch(*now->schedule, repairs_[static_cast<std::size_t>(repair)].edits));
}

// Comparison

void ScheduleDocument::compareWith(const QString& path) {
  const State now = state();
  if (!now || !now->schedule) return;
  struct Compared {
    State base;
    std::shared_ptr<const schedule::Difference> difference;
  };
  Job* job = jobs_.run(
      this, {.title = tr("Compare with %1").arg(QFileInfo(path).fileName()), .lane = compareLane},
      [now, path](JobHandle& handle) {
        Compared made;
        made.base = makeScheduleState(readFile(path), QObject::tr("opened"), handle.progress());
        if (!made.base->schedule)
          throw UserError(QStringLiteral("%1 is no schedule: %2.")
                              .arg(path, qs(made.base->faults.front().message))
                              .toStdString());
        made.difference = std::make_shared<const schedule::Difference>(
            schedule::differenceOf(*made.base->schedule, *now->schedule));
        return made;
      },
      [this, path](Compared made) {
        base_ = std::move(made.base);
        baseName_ = QFileInfo(path).fileName();
        difference_ = std::move(made.difference);
        Q_EMIT differenceChanged();
      });
  connect(job, &Job::failed, this, &ScheduleDocument::openFailed);
}

void ScheduleDocument::dropComparison() {
  if (!difference_ && !base_) return;
  difference_.reset();
  base_.reset();
  baseName_.clear();
  Q_EMIT differenceChanged();
}

}  // namespace nuscope::views

#include "moc_schedule_document.cpp"
