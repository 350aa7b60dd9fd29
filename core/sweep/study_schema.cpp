#include "core/sweep/study_schema.h"

#include <fmt/format.h>

#include <array>
#include <map>

#include "core/base/diagnostics.h"

namespace nuscope::sweep {
namespace {

struct Table {
  const char* name;
  const char* sql;
};

// clang-format off
constexpr std::array tables1{
    Table{"revision", R"(CREATE TABLE revision (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  program TEXT NOT NULL,
  file TEXT NOT NULL,
  created TEXT NOT NULL,
  version TEXT NOT NULL,
  nugraph TEXT
) STRICT)"},
    Table{"sweep", R"(CREATE TABLE sweep (
  id INTEGER PRIMARY KEY,
  revision INTEGER NOT NULL REFERENCES revision(id),
  extents TEXT NOT NULL,
  target TEXT NOT NULL,
  device TEXT NOT NULL,
  toolchain TEXT NOT NULL,
  threads INTEGER NOT NULL,
  seed INTEGER NOT NULL,
  budget TEXT NOT NULL,
  state TEXT NOT NULL,
  started TEXT NOT NULL,
  ended TEXT NOT NULL,
  environment TEXT NOT NULL
) STRICT)"},
    Table{"kernel", R"(CREATE TABLE kernel (
  hash TEXT PRIMARY KEY,
  text TEXT NOT NULL
) STRICT, WITHOUT ROWID)"},
    Table{"measurement", R"(CREATE TABLE measurement (
  id INTEGER PRIMARY KEY,
  kernel TEXT NOT NULL,
  extents TEXT NOT NULL,
  device TEXT NOT NULL,
  toolchain TEXT NOT NULL,
  threads INTEGER NOT NULL,
  samples BLOB NOT NULL,
  median REAL NOT NULL,
  low REAL NOT NULL,
  high REAL NOT NULL,
  confidence REAL NOT NULL,
  gate TEXT NOT NULL,
  date TEXT NOT NULL,
  UNIQUE (kernel, extents, device, toolchain, threads)
) STRICT)"},
    Table{"candidate", R"(CREATE TABLE candidate (
  id INTEGER PRIMARY KEY,
  sweep INTEGER NOT NULL REFERENCES sweep(id),
  kind TEXT NOT NULL,
  label TEXT NOT NULL,
  variant INTEGER NOT NULL,
  parameters TEXT NOT NULL,
  kernel TEXT NOT NULL,
  modelled REAL NOT NULL,
  state TEXT NOT NULL,
  reason TEXT NOT NULL,
  measurement INTEGER REFERENCES measurement(id),
  saved_case TEXT NOT NULL
) STRICT)"},
    Table{"candidate_sweep", "CREATE INDEX candidate_sweep ON candidate(sweep)"},
    Table{"view_state", R"(CREATE TABLE view_state (
  name TEXT PRIMARY KEY,
  text TEXT NOT NULL
) STRICT, WITHOUT ROWID)"},
};
// clang-format on

void migrateTo1(Database& database) {
  for (const Table& table : tables1) database.execute(table.sql);
  database.execute(fmt::format("PRAGMA application_id = {}", applicationId));
}

using Migration = void (*)(Database&);
constexpr std::array<Migration, schemaVersion> migrations{migrateTo1};

std::int64_t pragma(Database& database, const char* name) {
  Statement statement(database, fmt::format("PRAGMA {}", name));
  return statement.step() ? statement.integer(0) : 0;
}

void verifySchema(Database& database, const std::string& file) {
  std::map<std::string, std::string> expected;
  for (const Table& table : tables1) expected[table.name] = table.sql;
  Statement objects(database, "SELECT name, sql FROM sqlite_schema");
  while (objects.step()) {
    const std::string name = objects.text(0);
    if (name.starts_with("sqlite_autoindex_") && objects.isNull(1)) continue;
    const auto found = expected.find(name);
    if (found == expected.end() || found->second != objects.text(1)) {
      throw UserError(
          fmt::format("{} is damaged or not made by Nuscope: its table '{}' is not as it should be", file,
                      name.substr(0, 60)));
    }
    expected.erase(found);
  }
  if (!expected.empty()) {
    throw UserError(fmt::format("{} is damaged: its table '{}' is missing", file, expected.begin()->first));
  }
}

}  // namespace

int versionOf(Database& database) {
  return static_cast<int>(pragma(database, "user_version"));
}

void migrate(Database& database) {
  Transaction transaction(database);
  for (int version = versionOf(database); version < schemaVersion; ++version) {
    migrations.at(static_cast<std::size_t>(version))(database);
  }
  database.execute(fmt::format("PRAGMA user_version = {}", schemaVersion));
  transaction.commit();
}

void verify(Database& database, const std::string& file) {
  database.execute("PRAGMA cell_size_check = ON");
  if (pragma(database, "application_id") != applicationId)
    throw UserError(fmt::format("{} is no Nuscope study", file));
  const int version = versionOf(database);
  if (version > schemaVersion) {
    throw UserError(fmt::format(
        "{} was written by a newer Nuscope (format {}, this one reads up to {}); update Nuscope to open it",
        file, version, schemaVersion));
  }
  if (version < 1) throw UserError(fmt::format("{} is damaged: it has no format version", file));
  if (version == schemaVersion) verifySchema(database, file);
  Statement check(database, "PRAGMA quick_check(1)");
  if (!check.step() || check.text(0) != "ok") {
    throw UserError(fmt::format("{} is damaged ({}); 'sqlite3 FILE .recover' may save parts of it", file,
                                check.text(0).substr(0, 200)));
  }
}

}  // namespace nuscope::sweep
