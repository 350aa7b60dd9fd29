#include "core/sweep/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <limits>

#include "core/base/diagnostics.h"

namespace nuscope::sweep {
namespace {

constexpr int longestValue = 256 << 20;  // bytes of one text or blob

bool isFault(int primary) {
  switch (primary) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
    case SQLITE_SCHEMA:
    case SQLITE_MISMATCH:
    case SQLITE_CONSTRAINT:
    case SQLITE_ERROR:
    case SQLITE_RANGE:
      return true;
    default:
      return false;
  }
}

void harden(sqlite3* handle) {
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, longestValue);
  sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, 100'000);
  sqlite3_limit(handle, SQLITE_LIMIT_COLUMN, 100);
  sqlite3_limit(handle, SQLITE_LIMIT_EXPR_DEPTH, 50);
  sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 1);  // VACUUM INTO attaches its target
}

}  // namespace

Database::Database(const std::string& path, Open open) : name_(path.empty() ? "the study" : path) {
  setDeadline(std::chrono::seconds(60));
  int flags = SQLITE_OPEN_FULLMUTEX | SQLITE_OPEN_EXRESCODE;
  flags |= open == Open::read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  if (open == Open::create) flags |= SQLITE_OPEN_CREATE;
  // "./": a path never becomes a URI or the special name ":memory:".
  const std::string file = path.empty() ? ":memory:" : path.starts_with('/') ? path : "./" + path;
  const int code = sqlite3_open_v2(file.c_str(), &handle_, flags, nullptr);
  if (code != SQLITE_OK) {
    std::string why = handle_ != nullptr ? sqlite3_errmsg(handle_) : "out of memory";
    sqlite3_close_v2(handle_);
    throw EnvironmentError(fmt::format("{} cannot be opened: {}", name_, why));
  }
  harden(handle_);
  sqlite3_busy_timeout(handle_, 5000);
  sqlite3_progress_handler(handle_, 20'000, &Database::onProgress, this);
}

Database::~Database() {
  sqlite3_close_v2(handle_);
}

int Database::onProgress(void* self) {
  return std::chrono::steady_clock::now() > static_cast<Database*>(self)->deadline_ ? 1 : 0;
}

void Database::setDeadline(std::chrono::milliseconds limit) {
  deadline_ = std::chrono::steady_clock::now() + limit;
}

void Database::fail(int code) const {
  const std::string message = sqlite3_errmsg(handle_);
  const int primary = code & 0xff;
  if (primary == SQLITE_FULL) {
    throw EnvironmentError(fmt::format(
        "{}: the disk is full; everything saved before is kept. Make room and try again.", name_));
  }
  if (primary == SQLITE_INTERRUPT || primary == SQLITE_TOOBIG) {
    throw UserError(
        fmt::format("{} is damaged or not made by Nuscope: {}", name_,
                    primary == SQLITE_TOOBIG ? "a value is too large" : "reading takes too long"));
  }
  if (primary == SQLITE_NOTADB) throw UserError(fmt::format("{} is no Nuscope study", name_));
  if (primary == SQLITE_READONLY)
    throw EnvironmentError(fmt::format("{} may not be written: {}", name_, message));
  if (primary == SQLITE_BUSY || primary == SQLITE_LOCKED) {
    throw EnvironmentError(fmt::format("{} is in use by another process; try again when it is done", name_));
  }
  if (isFault(primary)) {
    throw UserError(
        fmt::format("{} is damaged or not made by Nuscope ({}); 'sqlite3 FILE .recover' may save parts of it",
                    name_, message));
  }
  throw EnvironmentError(fmt::format("{}: {} (SQLite code {})", name_, message, code));
}

void Database::execute(const std::string& sql) {
  const int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

std::int64_t Database::lastId() const {
  return sqlite3_last_insert_rowid(handle_);
}

Statement::Statement(Database& database, std::string_view sql) : database_(database) {
  const int code =
      sqlite3_prepare_v2(database.handle_, sql.data(), static_cast<int>(sql.size()), &statement_, nullptr);
  if (code != SQLITE_OK) database.fail(code);
}

Statement::~Statement() {
  sqlite3_finalize(statement_);
}

Statement& Statement::add(std::int64_t value) {
  const int code = sqlite3_bind_int64(statement_, ++bound_, value);
  if (code != SQLITE_OK) database_.fail(code);
  return *this;
}

Statement& Statement::add(double value) {
  const int code = sqlite3_bind_double(statement_, ++bound_, value);
  if (code != SQLITE_OK) database_.fail(code);
  return *this;
}

Statement& Statement::add(std::string_view value) {
  const char* data = value.data() == nullptr ? "" : value.data();  // null would bind NULL
  const int code =
      sqlite3_bind_text64(statement_, ++bound_, data, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  if (code != SQLITE_OK) database_.fail(code);
  return *this;
}

Statement& Statement::addBlob(std::string_view value) {
  const char* data = value.data() == nullptr ? "" : value.data();
  const int code = sqlite3_bind_blob64(statement_, ++bound_, data, value.size(), SQLITE_TRANSIENT);
  if (code != SQLITE_OK) database_.fail(code);
  return *this;
}

Statement& Statement::addNull() {
  const int code = sqlite3_bind_null(statement_, ++bound_);
  if (code != SQLITE_OK) database_.fail(code);
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  database_.fail(code);
}

void Statement::run() {
  while (step()) {
  }
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

int Statement::small(int column) const {
  const std::int64_t value = integer(column);
  if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max()) {
    throw UserError(fmt::format("{} is damaged: a number is out of range", database_.name_));
  }
  return static_cast<int>(value);
}

double Statement::real(int column) const {
  return sqlite3_column_double(statement_, column);
}

std::string Statement::text(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);  // a text's bytes as they are
  const int size = sqlite3_column_bytes(statement_, column);
  return data == nullptr ? std::string()
                         : std::string(static_cast<const char*>(data), static_cast<std::size_t>(size));
}

bool Statement::isNull(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

Transaction::Transaction(Database& database) : database_(database) {
  database_.execute("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (open_ && sqlite3_get_autocommit(database_.handle()) == 0) {
    sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
}

void Transaction::commit() {
  database_.execute("COMMIT");
  open_ = false;
}

}  // namespace nuscope::sweep
