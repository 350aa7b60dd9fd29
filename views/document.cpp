#include "views/document.h"

#include <QDateTime>
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QPlainTextDocumentLayout>
#include <QSaveFile>
#include <QTextCursor>
#include <QThread>
#include <algorithm>
#include <filesystem>
#include <mutex>

#include "core/base/process.h"
#include "core/language/parse.h"
#include "core/nugraph/json.h"
#include "core/nugraph/nugraph.h"
#include "core/proof/solver_pool.h"
#include "core/propagate/by_hand.h"
#include "core/propagate/explore.h"
#include "core/sweep/study.h"
#include "views/jobs.h"
#include "views/selection.h"
#include "views/study_cache.h"
#include "views/sweep/sweep_snapshot.h"
#include "views/text.h"

namespace nuscope::views {

namespace {

constexpr int parseDelay = 150;  // milliseconds after the last key
constexpr int autosaveDelay = 2000;
constexpr qint64 largestProgram = qint64(4) << 20;
constexpr const char* viewStateName = "explorer";

QString autosavePath() {
  return cacheDirectory() + QStringLiteral("/unsaved.json");
}

bool isStudyPath(const QString& path) {
  return path.endsWith(QLatin1String(".nuscope"), Qt::CaseInsensitive);
}

QByteArray readProgram(const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly))
    throw UserError(QStringLiteral("%1 could not be read: %2.").arg(path, file.errorString()).toStdString());
  if (file.size() > largestProgram)
    throw UserError(QStringLiteral("%1 is larger than 4 MiB; that is no program.").arg(path).toStdString());
  return file.readAll();
}

QJsonObject stateObject(const std::optional<std::string>& state) {
  return state ? QJsonDocument::fromJson(QByteArray::fromStdString(*state)).object() : QJsonObject();
}

tensor::Extents extentsFromState(const QJsonObject& state) {
  tensor::Extents extents;
  const QJsonObject object = state.value(QStringLiteral("extents")).toObject();
  for (auto it = object.begin(); it != object.end(); ++it) {
    const auto value = static_cast<std::int64_t>(it.value().toDouble());
    if (value >= 1) extents[it.key().toStdString()] = value;
  }
  return extents;
}

std::string stateText(const tensor::Extents& extents, std::int64_t candidate) {
  QJsonObject object;
  for (const auto& [name, value] : extents) object.insert(qs(name), static_cast<double>(value));
  return QJsonDocument(QJsonObject{{QStringLiteral("version"), 1},
                                   {QStringLiteral("extents"), object},
                                   {QStringLiteral("candidate"), static_cast<double>(candidate)}})
      .toJson(QJsonDocument::Compact)
      .toStdString();
}

/// Sizes a sweep may start from; powers of two satisfy most divisibilities.
std::int64_t usualExtent(const std::string& dimension) {
  if (dimension == "M" || dimension == "T" || dimension == "S" || dimension == "L") return 512;
  if (dimension.starts_with("B") || dimension == "H" || dimension == "G") return 8;
  if (dimension == "D" || dimension == "E" || dimension == "R") return 64;
  return 1024;
}

}  // namespace

/// What a job brings back from opening.
struct Document::Opened {
  QString path, programName, text;
  std::shared_ptr<sweep::Study> study;
  int revision = 0;
  std::shared_ptr<const nugraph::NuGraph> graph;
  double seconds = 0;
  QString origin;
  QString note;  ///< what could not be read, in words
  std::shared_ptr<const SweepSnapshot> sweep;
  tensor::Extents extents;
  std::int64_t candidate = -1;  ///< that was selected when the study was saved
  bool explore = true;
  bool dirty = false;
  void takeCached();
};

struct Document::Explored {
  std::shared_ptr<const nugraph::NuGraph> graph;
  std::shared_ptr<sweep::Study> study;
  int revision = 0;
  double seconds = 0;
  std::vector<std::string> lost;  ///< variants by hand that no longer hold, a sentence each
};

/// Made on first use by whoever comes first, in any thread.
struct Document::Solvers {
  std::mutex mutex;
  bool tried = false;
  std::unique_ptr<proof::SolverPool> pool;
  std::string missing;
  proof::SolverPool* get() {
    const std::lock_guard lock(mutex);
    if (!tried) {
      tried = true;
      const auto nuscope = std::filesystem::path(executablePath()).parent_path() / "nuscope";
      try {
        if (!std::filesystem::exists(nuscope)) throw EnvironmentError(nuscope.string() + " does not exist");
        pool = std::make_unique<proof::SolverPool>(nuscope.string(),
                                                   std::clamp(QThread::idealThreadCount(), 1, 8));
      } catch (const std::exception& e) {
        missing = std::string("No solver: ") + e.what() + ". Moves that need one stay unknown.";
      }
    }
    return pool.get();
  }
};

/// A graph from the cache goes into a study without a file at once, so that it can be swept.
void Document::Opened::takeCached() {
  CachedGraph cached = readCachedGraph(text);
  if (!cached.graph) return;
  graph = std::move(cached.graph);
  seconds = cached.seconds;
  origin = tr("from the cache");
  study = sweep::Study::temporary();
  revision = study->addRevision(graph->root().name, text.toStdString(),
                                (path.isEmpty() ? programName : path).toStdString());
  study->setNuGraph(revision, nugraph::toJson(*graph));
}

Document::Document(Jobs& jobs, Selection& selection, QObject* parent)
    : QObject(parent),
      jobs_(jobs),
      selection_(selection),
      source_(new QTextDocument(this)),
      solvers_(std::make_shared<Solvers>()) {
  source_->setDocumentLayout(new QPlainTextDocumentLayout(source_));
  parseTimer_.setSingleShot(true);
  parseTimer_.setInterval(parseDelay);
  autosaveTimer_.setSingleShot(true);
  autosaveTimer_.setInterval(autosaveDelay);
  connect(&parseTimer_, &QTimer::timeout, this, &Document::parseNow);
  connect(&autosaveTimer_, &QTimer::timeout, this, &Document::keepAutosave);
  connect(source_, &QTextDocument::contentsChange, this, [this](int, int removed, int added) {
    if (removed != 0 || added != 0) textEdited();
  });
  jobs_.run(
      this, {.title = tr("Start solvers"), .lane = {}, .quiet = true},
      [solvers = solvers_](JobHandle&) { solvers->get(); }, [] {});
}

Document::~Document() {
  jobs_.stopAll();
}

proof::SolverPool* Document::solvers() const {
  return solvers_->get();
}

QString Document::solversMissing() const {
  const std::lock_guard lock(solvers_->mutex);
  return QString::fromStdString(solvers_->missing);
}

QString Document::displayName() const {
  return path_.isEmpty() ? programName_ : QFileInfo(path_).fileName();
}

QString Document::text() const {
  return source_->toPlainText();
}

QString Document::readOnlyReason() const {
  return study_ && study_->readOnly() ? qs(study_->readOnlyReason()) : QString();
}

bool Document::upToDate() const {
  return nuGraph_ && textIsValid_ && !parsing_ && exploredText_ == programText_;
}

QString Document::ageText() const {
  if (!program_) return {};
  if (!textIsValid_ && !parsing_) return tr("of the last valid text");
  if (nuGraph_ && !explore_.running && exploredText_ != text()) return tr("of the last explored text");
  return {};
}

// Opening

void Document::open(const QString& path) {
  const auto read = [path](JobHandle& job) -> Opened {
    Opened opened;
    opened.path = QFileInfo(path).absoluteFilePath();
    if (!isStudyPath(path) && !sweep::Study::looksLikeStudy(path.toStdString())) {
      opened.programName = QFileInfo(path).fileName();
      opened.text = QString::fromUtf8(readProgram(path));
      opened.takeCached();
      return opened;
    }
    opened.study = sweep::Study::open(path.toStdString(), sweep::Study::Access::write);
    const auto revision = opened.study->latestRevision();
    if (!revision) throw UserError(path.toStdString() + " holds no program yet.");
    opened.revision = revision->id;
    opened.text = qs(revision->program);
    opened.programName = revision->file.empty() ? qs(revision->name) + QStringLiteral(".py")
                                                : QFileInfo(qs(revision->file)).fileName();
    opened.explore = false;
    opened.origin = tr("from the study");
    const QJsonObject state = stateObject(opened.study->viewState(viewStateName));
    opened.extents = extentsFromState(state);
    opened.candidate = static_cast<std::int64_t>(state.value(QStringLiteral("candidate")).toDouble(-1));
    job.progress().check();
    if (const auto json = opened.study->nuGraph(revision->id)) {
      auto graph = nugraph::fromJson(*json);
      if (graph) {
        opened.graph = std::make_shared<const nugraph::NuGraph>(std::move(graph).value());
      } else {
        opened.note = tr("The variants in this study could not be read: %1 Explore again to find them anew.")
                          .arg(qs(graph.refusal().message));
      }
    }
    opened.sweep = readSweep(opened.study, revision->id);
    if (opened.extents.empty() && opened.sweep) opened.extents = opened.sweep->record.extents;
    return opened;
  };
  Job* job = jobs_.run(
      this, {.title = tr("Open %1").arg(QFileInfo(path).fileName()), .lane = QStringLiteral("open")}, read,
      [this](Opened opened) {
        const QString note = opened.note;
        adopt(std::move(opened));
        if (!note.isEmpty()) Q_EMIT openFailed(note);
      });
  connect(job, &Job::failed, this, &Document::openFailed);
}

void Document::setNew(const QString& name, const QString& text) {
  jobs_.run(
      this, {.title = tr("Open %1").arg(name), .lane = QStringLiteral("open"), .quiet = true},
      [name, text](JobHandle&) -> Opened {
        Opened opened;
        opened.programName = name;
        opened.text = text;
        opened.takeCached();
        opened.explore = !text.trimmed().isEmpty();
        return opened;
      },
      [this](Opened opened) { adopt(std::move(opened)); });
}

void Document::restore(const Autosave& saved) {
  Opened opened;
  opened.path = saved.path;
  opened.programName = saved.programName;
  opened.text = saved.text;
  opened.explore = false;
  opened.dirty = true;
  if (isStudyPath(saved.path)) opened.path.clear();  // the study itself is untouched; saving asks where to
  adopt(std::move(opened));
}

void Document::adopt(Opened opened) {
  jobs_.cancel(QStringLiteral("explore"));
  jobs_.cancel(QStringLiteral("sweep"));
  jobs_.cancel(QStringLiteral("parse"));
  path_ = opened.path;
  programName_ = opened.programName;
  study_ = std::move(opened.study);
  nuGraph_.reset();
  program_.reset();
  programText_.clear();
  exploredText_.clear();
  diagnostics_.clear();
  textIsValid_ = false;
  extents_ = std::move(opened.extents);
  sweep_.reset();
  explore_ = {};
  limitFactor_ = 1;
  dirty_ = opened.dirty;
  selection_.reset();
  adopting_ = true;
  source_->setPlainText(opened.text);
  source_->setModified(opened.dirty);
  adopting_ = false;
  exploreWhenParsed_ = opened.explore && !opened.graph;
  if (opened.graph) {
    explore_.seconds = opened.seconds;
    explore_.origin = opened.origin;
    explore_.finished = QDateTime::currentMSecsSinceEpoch();
    // The graph brings a program of its own; the parse that follows adds the places in the text, with the
    // same nodes.
    setProgram(std::make_shared<const tensor::Program>(opened.graph->root()), source_->toPlainText());
    textIsValid_ = true;
    adoptGraph(std::move(opened.graph), source_->toPlainText());
  }
  revision_ = opened.revision;
  sweep_ = std::move(opened.sweep);
  Q_EMIT this->opened();
  Q_EMIT nameChanged();
  Q_EMIT sweepChanged();
  Q_EMIT exploreChanged();
  proposeCandidate(opened.candidate);
  parseNow();
}

/// The one that was selected when the study was saved, or the fastest.
void Document::proposeCandidate(std::int64_t saved) {
  if (!sweep_ || !nuGraph_) return;
  SweepRowRef row = saved >= 0 ? sweep_->find(saved) : nullptr;
  if (!row) row = sweep_->best();
  if (row) selection_.selectCandidate(row->candidate.id, row->candidate.variant);
}

// Text and parse

void Document::textEdited() {
  if (adopting_) return;
  setDirty(true);
  parsing_ = true;
  parseTimer_.start();
  autosaveTimer_.start();
}

void Document::parseNow() {
  parseTimer_.stop();
  parsing_ = true;
  const QString now = text();
  // The text of the current graph is parsed into its store, so that both have the same nodes.
  std::shared_ptr<tensor::NodeStore> store =
      nuGraph_ && now == exploredText_ ? nuGraph_->root().store : nullptr;
  jobs_.run(
      this, {.title = tr("Check %1").arg(programName_), .lane = QStringLiteral("parse"), .quiet = true},
      [now, store](JobHandle&) { return language::parse(now.toStdString(), store); },
      [this, now](language::Parsed parsed) {
        if (now != text()) return;  // a newer text waits for its own parse
        parsing_ = false;
        diagnostics_ = std::move(parsed.diagnostics);
        textIsValid_ = parsed.program.has_value();
        if (parsed.program) {
          setProgram(std::make_shared<const tensor::Program>(std::move(*parsed.program)), now);
        }
        Q_EMIT this->parsed();
        if (std::exchange(exploreWhenParsed_, false) && textIsValid_) explore();
      });
}

void Document::setProgram(std::shared_ptr<const tensor::Program> program, const QString& text) {
  program_ = std::move(program);
  programText_ = text;
  tensor::Extents extents;
  for (const std::string& dimension : program_->dimensions) {
    const auto it = extents_.find(dimension);
    extents[dimension] = it != extents_.end() ? it->second : usualExtent(dimension);
  }
  const bool others = extents != extents_;
  extents_ = std::move(extents);
  Q_EMIT programChanged();
  if (others) Q_EMIT extentsChanged();
}

void Document::setExtent(const std::string& dimension, std::int64_t extent) {
  const auto it = extents_.find(dimension);
  if (it == extents_.end() || it->second == extent || extent < 1) return;
  it->second = extent;
  Q_EMIT extentsChanged();
}

// Exploration

void Document::adoptGraph(std::shared_ptr<const nugraph::NuGraph> graph, const QString& text) {
  const bool other = exploredText_ != text || !nuGraph_ || nuGraph_->root().store != graph->root().store;
  nuGraph_ = std::move(graph);
  exploredText_ = text;
  byHand_.clear();
  byHandAt_ = 0;
  if (other) {
    selection_.reset();
    revision_ = 0;  // until it is stored; a sweep of other variants does not belong here
    if (sweep_) setSweep(nullptr);
  }
  Q_EMIT nuGraphChanged();
}

void Document::addByHand(std::shared_ptr<const nugraph::NuGraph> graph) {
  if (byHand_.empty()) byHand_.push_back(nuGraph_);
  byHand_.resize(byHandAt_ + 1);  // what was undone is given up
  byHand_.push_back(std::move(graph));
  showByHand(byHandAt_ + 1);
}

void Document::undoByHand() {
  if (canUndoByHand()) showByHand(byHandAt_ - 1);
}
void Document::redoByHand() {
  if (canRedoByHand()) showByHand(byHandAt_ + 1);
}

void Document::showByHand(std::size_t at) {
  byHandAt_ = at;
  nuGraph_ = byHand_[at];
  const Place& place = selection_.place();
  if (place.variant >= static_cast<int>(nuGraph_->variants().size()) ||
      place.step >= static_cast<int>(nuGraph_->steps().size()))
    selection_.selectVariant(0);
  setDirty(true);
  Q_EMIT nuGraphChanged();
  if (!study_ || study_->readOnly() || revision_ == 0) return;
  jobs_.run(
      this, {.title = tr("Store variants"), .lane = QStringLiteral("store variants"), .quiet = true},
      [study = study_, revision = revision_, graph = nuGraph_](JobHandle&) {
        study->setNuGraph(revision, nugraph::toJson(*graph));
      },
      [] {});
}

void Document::explore() {
  if (!program_) {
    exploreWhenParsed_ = true;
    return;
  }
  if (parsing_) {
    exploreWhenParsed_ = true;
    parseNow();
    return;
  }
  const auto program = program_;
  const QString explored = programText_;
  const QString file = path_.isEmpty() || isStudyPath(path_) ? programName_ : path_;
  const auto study = study_;
  explore_ = {};
  explore_.running = true;
  auto clock = std::make_shared<QElapsedTimer>();
  clock->start();
  const auto earlier = nuGraph_ && exploredText_ == programText_ ? nuGraph_ : nullptr;
  const auto work = [this, program, explored, file, study, clock, earlier, factor = limitFactor_,
                     solvers = solvers_](JobHandle& job) -> Explored {
    propagate::ExploreOptions options;
    options.threads = std::max(1, QThread::idealThreadCount());
    options.solvers = solvers->get();
    options.maxVariants *= factor;
    options.maxSteps *= factor;
    options.maxAttempts *= factor;
    options.maxRefusedPerVariant *= factor;
    options.secondsLimit *= factor;
    Explored done;
    done.graph = propagate::explore(*program, options, job.progress(),
                                    [&](std::shared_ptr<const nugraph::NuGraph> graph) {
                                      job.publish([this, graph = std::move(graph), explored, clock] {
                                        explore_.seconds = static_cast<double>(clock->elapsed()) / 1000;
                                        adoptGraph(graph, explored);
                                      });
                                    });
    if (earlier) {
      propagate::ByHandOptions byHand;
      byHand.solvers = options.solvers;
      done.graph = propagate::withByHandOf(done.graph, *earlier, byHand, job.progress(), done.lost);
    }
    done.seconds = static_cast<double>(clock->elapsed()) / 1000;
    job.progress().check();
    writeCachedGraph(explored, *done.graph, done.seconds);
    done.study = study;
    if (!done.study || done.study->readOnly()) done.study = sweep::Study::temporary();
    const std::string text = explored.toStdString();
    const auto known = done.study->latestRevision();
    done.revision = known && known->program == text
                        ? known->id
                        : done.study->addRevision(program->name, text, file.toStdString());
    done.study->setNuGraph(done.revision, nugraph::toJson(*done.graph));
    return done;
  };
  Job* job = jobs_.run(this, {.title = tr("Explore %1").arg(programName_), .lane = QStringLiteral("explore")},
                       work, [this, explored](Explored done) {
                         explore_.running = false;
                         explore_.seconds = done.seconds;
                         explore_.origin = tr("explored");
                         explore_.finished = QDateTime::currentMSecsSinceEpoch();
                         adoptGraph(std::move(done.graph), explored);
                         study_ = std::move(done.study);
                         revision_ = done.revision;
                         Q_EMIT exploreChanged();
                         for (const std::string& sentence : done.lost) Q_EMIT noticed(qs(sentence));
                       });
  connect(job, &Job::failed, this, [this](const QString& message) {
    explore_.running = false;
    explore_.error = message;
    Q_EMIT exploreFailed(message);
    Q_EMIT exploreChanged();
  });
  connect(job, &Job::cancelled, this, [this, clock] {
    if (jobs_.current(QStringLiteral("explore"))) return;  // replaced by a newer one
    explore_.running = false;
    explore_.cancelled = true;
    explore_.seconds = static_cast<double>(clock->elapsed()) / 1000;
    Q_EMIT exploreChanged();
  });
  Q_EMIT exploreChanged();
}

void Document::exploreFurther() {
  limitFactor_ = std::min(64, limitFactor_ * 2);
  explore();
}

void Document::setSweep(std::shared_ptr<const SweepSnapshot> sweep) {
  sweep_ = std::move(sweep);
  Q_EMIT sweepChanged();
}

// Saving

void Document::save(const QString& path) {
  if (jobs_.current(QStringLiteral("sweep")) && isStudyPath(path) &&
      (!study_ || qs(study_->path()) != path)) {
    Q_EMIT saveFailed(
        tr("A sweep is writing into this study. Wait until it has finished, or cancel it, then save under "
           "another name."));
    return;
  }
  struct Saved {
    QString path;
    std::shared_ptr<sweep::Study> study;
    int revision = 0;
  };
  const QString now = text();
  const std::string name =
      program_ ? program_->name : programName_.section(QLatin1Char('.'), 0, 0).toStdString();
  const auto work = [path, now, name, file = programName_, study = study_, revision = revision_,
                     state = stateText(extents_, selection_.place().candidate)](JobHandle&) -> Saved {
    if (!isStudyPath(path)) {
      QSaveFile out(path);
      const QByteArray bytes = now.toUtf8();
      if (!out.open(QIODevice::WriteOnly) || out.write(bytes) != bytes.size() || !out.commit()) {
        throw EnvironmentError(
            QStringLiteral("%1 could not be written: %2.").arg(path, out.errorString()).toStdString());
      }
      return {path, study, revision};
    }
    Saved saved{path, study, revision};
    if (!saved.study) saved.study = sweep::Study::temporary();
    const bool sameFile =
        !saved.study->path().empty() && QFileInfo(qs(saved.study->path())) == QFileInfo(path);
    if (sameFile && saved.study->readOnly())
      throw UserError(saved.study->readOnlyReason() + " Save it under another name.");
    std::shared_ptr<sweep::Study> target = saved.study;
    if (!sameFile) {
      saved.study->saveCopy(path.toStdString());
      target = sweep::Study::open(path.toStdString(), sweep::Study::Access::write);
    }
    const auto latest = target->latestRevision();
    if (!latest || latest->program != now.toStdString())
      target->addRevision(name, now.toStdString(), file.toStdString());
    target->setViewState(viewStateName, state);
    saved.study = target;
    return saved;
  };
  Job* job = jobs_.run(
      this, {.title = tr("Save %1").arg(QFileInfo(path).fileName()), .lane = QStringLiteral("save")}, work,
      [this, now](Saved saved) {
        path_ = saved.path;
        study_ = std::move(saved.study);
        if (!isStudyPath(path_)) programName_ = QFileInfo(path_).fileName();
        if (now == text()) {
          source_->setModified(false);
          setDirty(false);
          dropAutosave();
        }
        Q_EMIT nameChanged();
        Q_EMIT this->saved();
      });
  connect(job, &Job::failed, this, &Document::saveFailed);
}

void Document::setDirty(bool dirty) {
  if (dirty == dirty_) return;
  dirty_ = dirty;
  Q_EMIT nameChanged();
}

void Document::keepAutosave() {
  if (!dirty_) return;
  const QJsonObject object{{QStringLiteral("path"), path_},
                           {QStringLiteral("program"), programName_},
                           {QStringLiteral("text"), text()}};
  jobs_.run(
      this, {.title = tr("Keep unsaved text"), .lane = QStringLiteral("autosave"), .quiet = true},
      [object](JobHandle&) {
        QDir().mkpath(cacheDirectory());
        QSaveFile file(autosavePath());
        if (file.open(QIODevice::WriteOnly)) {
          file.write(QJsonDocument(object).toJson());
          file.commit();
        }
      },
      [] {});
}

Document::Autosave Document::readAutosave() {
  QFile file(autosavePath());
  if (!file.open(QIODevice::ReadOnly) || file.size() > 4 * largestProgram) return {};
  const QJsonObject object = QJsonDocument::fromJson(file.readAll()).object();
  return {object.value(QStringLiteral("path")).toString(), object.value(QStringLiteral("program")).toString(),
          object.value(QStringLiteral("text")).toString()};
}

void Document::dropAutosave() {
  QFile::remove(autosavePath());
}

}  // namespace nuscope::views

#include "moc_document.cpp"
