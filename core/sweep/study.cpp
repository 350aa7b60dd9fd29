#include "core/sweep/study.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "core/base/diagnostics.h"
#include "core/sweep/database.h"
#include "core/sweep/study_json.h"
#include "core/sweep/study_lock.h"
#include "core/sweep/study_schema.h"

namespace nuscope::sweep {
namespace {

constexpr std::uintmax_t largestFile = std::uintmax_t{4} << 30U;
constexpr std::size_t largestViewState = std::size_t{16} << 20U;
constexpr const char* version = "0.1.0";

std::string_view text(SweepState state) {
  switch (state) {
    case SweepState::running:
      return "running";
    case SweepState::finished:
      return "finished";
    case SweepState::cancelled:
      return "cancelled";
  }
  return "";
}

SweepState parseSweepState(const std::string& name) {
  if (name == "running") return SweepState::running;
  return name == "finished" ? SweepState::finished : SweepState::cancelled;
}

std::string samplesBlob(const std::vector<double>& samples) {
  std::string bytes(samples.size() * sizeof(double), '\0');
  if (!samples.empty()) std::memcpy(bytes.data(), samples.data(), bytes.size());
  return bytes;
}

constexpr std::size_t mostSamples = 10'000;  // of one measurement; a sweep takes some hundreds

std::vector<double> parseSamples(const std::string& bytes) {
  if (bytes.size() > mostSamples * sizeof(double))
    throw UserError(
        fmt::format("the study is damaged: a measurement of {} samples", bytes.size() / sizeof(double)));
  if (bytes.size() % sizeof(double) != 0)
    throw UserError("the study is damaged: samples of a measurement are cut");
  std::vector<double> samples(bytes.size() / sizeof(double));
  if (!samples.empty()) std::memcpy(samples.data(), bytes.data(), bytes.size());
  return samples;
}

Revision readRevision(const Statement& row) {
  return {row.small(0), row.text(1), row.text(2), row.text(3), row.text(4), row.text(5), row.integer(6) != 0};
}
constexpr const char* revisionColumns =
    "SELECT id, name, program, file, created, version, nugraph IS NOT NULL FROM revision";

SweepRecord readSweep(const Statement& row) {
  SweepRecord sweep;
  sweep.id = row.small(0);
  sweep.revision = row.small(1);
  sweep.extents = parseExtents(row.text(2));
  sweep.target = row.text(3);
  sweep.device = row.text(4);
  sweep.toolchain = row.text(5);
  sweep.threads = row.small(6);
  sweep.seed = static_cast<std::uint64_t>(row.integer(7));
  sweep.budget = row.text(8);
  sweep.state = parseSweepState(row.text(9));
  sweep.started = row.text(10);
  sweep.ended = row.text(11);
  sweep.environment = parseTextMap(row.text(12));
  return sweep;
}

CandidateRecord readCandidate(const Statement& row) {
  CandidateRecord c;
  c.id = row.small(0);
  c.sweep = row.small(1);
  const auto kind = parseCandidateKind(row.text(2));
  if (!kind)
    throw UserError(
        fmt::format("the study is damaged: a candidate's kind is '{}'", row.text(2).substr(0, 40)));
  c.kind = *kind;
  c.label = row.text(3);
  c.variant = row.small(4);
  c.parameters = parseParameters(row.text(5));
  c.kernel = row.text(6);
  c.modelledSeconds = row.real(7);
  const auto state = parseCandidateState(row.text(8));
  if (!state)
    throw UserError(
        fmt::format("the study is damaged: a candidate's state is '{}'", row.text(8).substr(0, 40)));
  c.state = *state;
  c.reason = row.text(9);
  if (!row.isNull(10)) c.measurement = row.small(10);
  c.savedCase = row.text(11);
  return c;
}
constexpr const char* candidateColumns =
    "SELECT id, sweep, kind, label, variant, parameters, kernel, modelled, state, reason, measurement, "
    "saved_case "
    "FROM candidate";

Measurement readMeasurement(const Statement& row) {
  Measurement m;
  m.id = row.small(0);
  m.key = {row.text(1), row.text(2), row.text(3), row.text(4), row.small(5)};
  m.samples = parseSamples(row.text(6));
  m.median = row.real(7);
  m.low = row.real(8);
  m.high = row.real(9);
  m.confidence = row.real(10);
  m.gate = parseGate(row.text(11));
  m.date = row.text(12);
  return m;
}
constexpr const char* measurementColumns =
    "SELECT id, kernel, extents, device, toolchain, threads, samples, median, low, high, confidence, gate, "
    "date "
    "FROM measurement";

/// Everything of a candidate but its id, in the order of both statements below.
void addColumns(Statement& statement, const CandidateRecord& c) {
  statement.add(c.sweep)
      .add(text(c.kind))
      .add(c.label)
      .add(c.variant)
      .add(parametersJson(c.parameters))
      .add(c.kernel)
      .add(c.modelledSeconds)
      .add(text(c.state))
      .add(c.reason);
  if (c.measurement) {
    statement.add(*c.measurement);
  } else {
    statement.addNull();
  }
  statement.add(c.savedCase);
}

void writeCandidate(Database& database, const CandidateRecord& c) {
  Statement update(
      database,
      "UPDATE candidate SET sweep=?, kind=?, label=?, variant=?, parameters=?, kernel=?, modelled=?, "
      "state=?, reason=?, measurement=?, saved_case=? WHERE id=?");
  addColumns(update, c);
  update.add(c.id).run();
}

void insertCandidate(Database& database, CandidateRecord& c) {
  Statement insert(
      database,
      "INSERT INTO candidate (sweep, kind, label, variant, parameters, kernel, modelled, state, reason, "
      "measurement, saved_case) VALUES (?,?,?,?,?,?,?,?,?,?,?)");
  addColumns(insert, c);
  insert.run();
  c.id = static_cast<int>(database.lastId());
}

void syncFile(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  fsync(descriptor);
  ::close(descriptor);
}

std::string canonical(const std::string& path) {
  std::error_code error;
  const auto real = std::filesystem::weakly_canonical(std::filesystem::absolute(path), error);
  return error ? path : real.string();
}

void checkFile(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) throw UserError(fmt::format("{} does not exist", path));
  if (!std::filesystem::is_regular_file(status)) throw UserError(fmt::format("{} is no file", path));
  const auto size = std::filesystem::file_size(path, error);
  if (!error && size > largestFile)
    throw UserError(fmt::format("{} is larger than 4 GiB: no study grows so large", path));
  if (access(path.c_str(), R_OK) != 0) {
    throw EnvironmentError(fmt::format("{} may not be read: {}", path, std::strerror(errno)));
  }
  if (!Study::looksLikeStudy(path)) throw UserError(fmt::format("{} is no Nuscope study", path));
}

}  // namespace

struct Study::Impl {
  std::string path;
  std::string readOnlyReason;
  bool readOnly = false;
  std::unique_ptr<WriterLock> lock;  // released after the database is closed
  std::unique_ptr<Database> database;
  std::mutex mutex;

  /// Every public method begins with one of these.
  struct Use {
    std::unique_lock<std::mutex> guard;
    Database& db;
  };
  Use use() {
    std::unique_lock guard(mutex);
    database->setDeadline(std::chrono::seconds(60));
    return {std::move(guard), *database};
  }
  Use write() {
    if (readOnly) throw UserError(fmt::format("{} is open for reading only: {}", path, readOnlyReason));
    return use();
  }
  void prepareWriting() const {
    database->execute("PRAGMA journal_mode = WAL");
    database->execute("PRAGMA synchronous = FULL");
    database->execute("PRAGMA foreign_keys = ON");
  }
  ~Impl() {
    if (!database || readOnly || path.empty()) return;
    try {  // one plain file that also opens on read-only media; refused while readers are there, which is
           // harmless
      database->execute("PRAGMA busy_timeout = 50");
      database->execute("PRAGMA wal_checkpoint(TRUNCATE)");
      database->execute("PRAGMA journal_mode = DELETE");
    } catch (const std::exception&) {
    }
    database.reset();
  }
};

Study::Study(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Study::~Study() = default;

bool Study::looksLikeStudy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char head[16] = {};
  file.read(head, sizeof head);
  return file.gcount() == sizeof head && std::memcmp(head, "SQLite format 3\0", sizeof head) == 0;
}

std::unique_ptr<Study> Study::create(const std::string& path) {
  if (std::filesystem::exists(path)) throw UserError(fmt::format("{} exists already", path));
  auto impl = std::make_unique<Impl>();
  impl->path = canonical(path);
  impl->lock = std::make_unique<WriterLock>(impl->path);
  if (!impl->lock->held()) {
    throw EnvironmentError(fmt::format("{} cannot be made: {}", path, impl->lock->reason()));
  }
  impl->database = std::make_unique<Database>(impl->path, Database::Open::create);
  impl->prepareWriting();
  migrate(*impl->database);
  return std::unique_ptr<Study>(new Study(std::move(impl)));
}

std::unique_ptr<Study> Study::open(const std::string& path, Access access) {
  checkFile(path);
  auto impl = std::make_unique<Impl>();
  impl->path = canonical(path);
  impl->readOnly = access == Access::read;
  impl->readOnlyReason = impl->readOnly ? "it was opened so" : "";
  if (!impl->readOnly && ::access(impl->path.c_str(), W_OK) != 0) {
    impl->readOnly = true;
    impl->readOnlyReason = fmt::format("the file may not be written ({})", std::strerror(errno));
  }
  if (!impl->readOnly) {
    impl->lock = std::make_unique<WriterLock>(impl->path);
    impl->readOnly = !impl->lock->held();
    impl->readOnlyReason = impl->lock->reason();
  }
  impl->database =
      std::make_unique<Database>(impl->path, impl->readOnly ? Database::Open::read : Database::Open::write);
  verify(*impl->database, path);
  const int found = versionOf(*impl->database);
  if (found < schemaVersion && impl->readOnly) {
    throw UserError(fmt::format("{} has the older format {}; open it once for writing to bring it up to date",
                                path, found));
  }
  if (!impl->readOnly) {
    impl->prepareWriting();
    if (found < schemaVersion) {
      migrate(*impl->database);
      verify(*impl->database, path);
    }
  }
  return std::unique_ptr<Study>(new Study(std::move(impl)));
}

std::unique_ptr<Study> Study::openOrCreate(const std::string& path) {
  return std::filesystem::exists(path) ? open(path, Access::write) : create(path);
}

std::unique_ptr<Study> Study::temporary() {
  auto impl = std::make_unique<Impl>();
  impl->database = std::make_unique<Database>("", Database::Open::create);
  impl->database->execute("PRAGMA foreign_keys = ON");
  migrate(*impl->database);
  return std::unique_ptr<Study>(new Study(std::move(impl)));
}

const std::string& Study::path() const {
  return impl_->path;
}
bool Study::readOnly() const {
  return impl_->readOnly;
}
const std::string& Study::readOnlyReason() const {
  return impl_->readOnlyReason;
}

std::string Study::filesDirectory() const {
  if (!impl_->path.empty()) return impl_->path + ".files";
  return (std::filesystem::temp_directory_path() / fmt::format("nuscope-{}.files", getpid())).string();
}

void Study::saveCopy(const std::string& path) const {
  const std::string target = canonical(path);
  if (target == impl_->path) return;  // it is there already
  const WriterLock lock(target);
  if (!lock.held()) throw EnvironmentError(fmt::format("{} cannot be saved: {}", path, lock.reason()));
  const std::string beside = fmt::format("{}.{}.part", target, getpid());
  std::error_code ignored;
  std::filesystem::remove(beside, ignored);
  try {
    const auto use = impl_->use();
    use.db.setDeadline(std::chrono::minutes(10));
    Statement(use.db, "VACUUM INTO ?").add(beside).run();
  } catch (...) {
    std::filesystem::remove(beside, ignored);
    throw;
  }
  syncFile(beside);
  std::error_code error;
  std::filesystem::rename(beside, target, error);
  if (error) {
    std::filesystem::remove(beside, ignored);
    throw EnvironmentError(fmt::format("{} cannot be saved: {}", path, error.message()));
  }
  // Journals of an earlier study of this name must not be applied to the new one.
  std::filesystem::remove(target + "-wal", ignored);
  std::filesystem::remove(target + "-shm", ignored);
  std::filesystem::remove(target + "-journal", ignored);
  syncFile(std::filesystem::path(target).parent_path().string());
}

int Study::addRevision(const std::string& name, const std::string& program, const std::string& file) {
  const auto use = impl_->write();
  Statement insert(use.db, "INSERT INTO revision (name, program, file, created, version) VALUES (?,?,?,?,?)");
  insert.add(name).add(program).add(file).add(utcNow()).add(version).run();
  return static_cast<int>(use.db.lastId());
}

std::vector<Revision> Study::revisions() const {
  const auto use = impl_->use();
  Statement rows(use.db, fmt::format("{} ORDER BY id", revisionColumns));
  std::vector<Revision> all;
  while (rows.step()) all.push_back(readRevision(rows));
  return all;
}

Revision Study::revision(int id) const {
  const auto use = impl_->use();
  Statement row(use.db, fmt::format("{} WHERE id=?", revisionColumns));
  if (!row.add(id).step()) throw UserError(fmt::format("the study has no revision {}", id));
  return readRevision(row);
}

std::optional<Revision> Study::latestRevision() const {
  const auto use = impl_->use();
  Statement row(use.db, fmt::format("{} ORDER BY id DESC LIMIT 1", revisionColumns));
  if (!row.step()) return std::nullopt;
  return readRevision(row);
}

std::optional<Revision> Study::findRevision(const std::string& program) const {
  const auto use = impl_->use();
  Statement row(use.db, fmt::format("{} WHERE program=? ORDER BY id DESC LIMIT 1", revisionColumns));
  if (!row.add(program).step()) return std::nullopt;
  return readRevision(row);
}

void Study::setNuGraph(int revision, const std::string& json) {
  const auto use = impl_->write();
  Statement(use.db, "UPDATE revision SET nugraph=? WHERE id=?").add(json).add(revision).run();
}

std::optional<std::string> Study::nuGraph(int revision) const {
  const auto use = impl_->use();
  Statement row(use.db, "SELECT nugraph FROM revision WHERE id=?");
  if (!row.add(revision).step() || row.isNull(0)) return std::nullopt;
  return row.text(0);
}

int Study::addSweep(const SweepRecord& sweep) {
  const auto use = impl_->write();
  Statement insert(
      use.db,
      "INSERT INTO sweep (revision, extents, target, device, toolchain, threads, seed, budget, state, "
      "started, ended, environment) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)");
  insert.add(sweep.revision)
      .add(extentsText(sweep.extents))
      .add(sweep.target)
      .add(sweep.device)
      .add(sweep.toolchain);
  insert.add(sweep.threads)
      .add(static_cast<std::int64_t>(sweep.seed))
      .add(sweep.budget)
      .add(text(sweep.state));
  insert.add(utcNow()).add("").add(textMapJson(sweep.environment)).run();
  return static_cast<int>(use.db.lastId());
}

void Study::endSweep(int sweep, SweepState state) {
  const auto use = impl_->write();
  Statement update(use.db, "UPDATE sweep SET state=?, ended=? WHERE id=?");
  update.add(text(state)).add(state == SweepState::running ? std::string() : utcNow()).add(sweep).run();
}

void Study::resumeSweep(int sweep) {
  endSweep(sweep, SweepState::running);
}

void Study::noteSweep(int sweep, const std::string& key, const std::string& value) {
  const auto use = impl_->write();
  Transaction transaction(use.db);
  std::map<std::string, std::string> environment;
  {
    Statement row(use.db, "SELECT environment FROM sweep WHERE id=?");
    if (row.add(sweep).step()) environment = parseTextMap(row.text(0));
  }
  environment[key] = value;
  Statement(use.db, "UPDATE sweep SET environment=? WHERE id=?")
      .add(textMapJson(environment))
      .add(sweep)
      .run();
  transaction.commit();
}

std::vector<SweepRecord> Study::sweeps() const {
  const auto use = impl_->use();
  Statement rows(
      use.db,
      "SELECT id, revision, extents, target, device, toolchain, threads, seed, budget, state, started, "
      "ended, environment FROM sweep ORDER BY id");
  std::vector<SweepRecord> all;
  while (rows.step()) all.push_back(readSweep(rows));
  return all;
}

void Study::addCandidates(std::vector<CandidateRecord>& candidates) {
  const auto use = impl_->write();
  Transaction transaction(use.db);
  for (CandidateRecord& candidate : candidates) insertCandidate(use.db, candidate);
  transaction.commit();
}

void Study::updateCandidate(const CandidateRecord& candidate) {
  const auto use = impl_->write();
  writeCandidate(use.db, candidate);
}

void Study::updateCandidates(const std::vector<CandidateRecord>& candidates) {
  const auto use = impl_->write();
  Transaction transaction(use.db);
  for (const CandidateRecord& candidate : candidates) writeCandidate(use.db, candidate);
  transaction.commit();
}

std::vector<CandidateRecord> Study::candidates(int sweep) const {
  const auto use = impl_->use();
  Statement rows(use.db, fmt::format("{} WHERE sweep=? ORDER BY id", candidateColumns));
  rows.add(sweep);
  std::vector<CandidateRecord> all;
  while (rows.step()) all.push_back(readCandidate(rows));
  return all;
}

std::optional<CandidateRecord> Study::candidate(int id) const {
  const auto use = impl_->use();
  Statement row(use.db, fmt::format("{} WHERE id=?", candidateColumns));
  if (!row.add(id).step()) return std::nullopt;
  return readCandidate(row);
}

CandidateCounts Study::counts(int sweep) const {
  CandidateCounts counts;
  for (const CandidateRecord& c : candidates(sweep)) {
    if (c.kind != CandidateKind::emitted) continue;
    ++counts.enumerated;
    counts.measured += c.state == CandidateState::measured ? 1 : 0;
    counts.wrong += c.state == CandidateState::wrong ? 1 : 0;
    counts.failed += c.state == CandidateState::failed || c.state == CandidateState::crashed ? 1 : 0;
    counts.timedOut += c.state == CandidateState::timedOut ? 1 : 0;
  }
  return counts;
}

std::string Study::addKernel(const std::string& kernel) {
  const std::string hash = textHash(kernel);
  const auto use = impl_->write();
  Statement(use.db, "INSERT OR IGNORE INTO kernel (hash, text) VALUES (?,?)").add(hash).add(kernel).run();
  return hash;
}

std::optional<std::string> Study::kernelText(const std::string& hash) const {
  const auto use = impl_->use();
  Statement row(use.db, "SELECT text FROM kernel WHERE hash=?");
  if (!row.add(hash).step()) return std::nullopt;
  return row.text(0);
}

int Study::putMeasurement(const Measurement& m, CandidateRecord* candidate) {
  const auto use = impl_->write();
  Transaction transaction(use.db);
  Statement upsert(
      use.db,
      "INSERT INTO measurement (kernel, extents, device, toolchain, threads, samples, median, low, high, "
      "confidence, gate, date) VALUES (?,?,?,?,?,?,?,?,?,?,?,?) "
      "ON CONFLICT (kernel, extents, device, toolchain, threads) DO UPDATE SET samples=excluded.samples, "
      "median=excluded.median, low=excluded.low, high=excluded.high, confidence=excluded.confidence, "
      "gate=excluded.gate, date=excluded.date RETURNING id");
  upsert.add(m.key.kernel).add(m.key.extents).add(m.key.device).add(m.key.toolchain).add(m.key.threads);
  upsert.addBlob(samplesBlob(m.samples))
      .add(m.median)
      .add(m.low)
      .add(m.high)
      .add(m.confidence)
      .add(gateJson(m.gate));
  upsert.add(m.date.empty() ? utcNow() : m.date);
  if (!upsert.step()) throw InternalError("a measurement was not stored");
  const int id = upsert.small(0);
  upsert.run();
  if (candidate != nullptr) {
    CandidateRecord updated = *candidate;
    updated.measurement = id;
    writeCandidate(use.db, updated);
  }
  transaction.commit();
  if (candidate != nullptr) candidate->measurement = id;
  return id;
}

std::optional<Measurement> Study::measurement(int id) const {
  const auto use = impl_->use();
  Statement row(use.db, fmt::format("{} WHERE id=?", measurementColumns));
  if (!row.add(id).step()) return std::nullopt;
  return readMeasurement(row);
}

std::optional<Measurement> Study::findMeasurement(const MeasurementKey& key) const {
  const auto use = impl_->use();
  Statement row(use.db,
                fmt::format("{} WHERE kernel=? AND extents=? AND device=? AND toolchain=? AND threads=?",
                            measurementColumns));
  row.add(key.kernel).add(key.extents).add(key.device).add(key.toolchain).add(key.threads);
  if (!row.step()) return std::nullopt;
  return readMeasurement(row);
}

void Study::setViewState(const std::string& name, const std::string& state) {
  if (state.size() > largestViewState) throw InternalError("a view's state is larger than 16 MiB");
  const auto use = impl_->write();
  Statement put(
      use.db,
      "INSERT INTO view_state (name, text) VALUES (?,?) ON CONFLICT (name) DO UPDATE SET text=excluded.text");
  put.add(name).add(state).run();
}

std::optional<std::string> Study::viewState(const std::string& name) const {
  const auto use = impl_->use();
  Statement row(use.db, "SELECT text FROM view_state WHERE name=? AND length(text) <= ?");
  if (!row.add(name).add(static_cast<std::int64_t>(largestViewState)).step()) return std::nullopt;
  return row.text(0);
}

}  // namespace nuscope::sweep
