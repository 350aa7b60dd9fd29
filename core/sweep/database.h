#pragma once
// The little of SQLite that a study needs: statements whose every error becomes UserError (the file) or
// EnvironmentError (the machine), with hardening against hostile files and a deadline for queries.
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace nuscope::sweep {

class Database;

/// One prepared statement. Parameters are bound in order; columns are read by index.
class Statement {
 public:
  Statement(Database& database, std::string_view sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  Statement& add(std::int64_t value);
  Statement& add(int value) { return add(static_cast<std::int64_t>(value)); }
  Statement& add(double value);
  Statement& add(std::string_view value);
  Statement& addBlob(std::string_view value);
  Statement& addNull();

  /// True: a row is there. False: done.
  bool step();
  void run();  ///< step until done

  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] int small(int column) const;  ///< UserError beyond 32 bits: such a file is damaged
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string text(int column) const;  ///< also blobs
  [[nodiscard]] bool isNull(int column) const;

 private:
  Database& database_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

class Database {
 public:
  enum class Open : std::uint8_t { create, write, read };
  /// An empty path is a database in memory. `name` is what messages call the file.
  Database(const std::string& path, Open open);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void execute(const std::string& sql);
  [[nodiscard]] std::int64_t lastId() const;
  /// Statements fail ("takes too long") after this much time from now on.
  void setDeadline(std::chrono::milliseconds limit);
  /// Throws what the code means.
  [[noreturn]] void fail(int code) const;
  [[nodiscard]] sqlite3* handle() const { return handle_; }

 private:
  friend class Statement;
  static int onProgress(void* self);
  sqlite3* handle_ = nullptr;
  std::string name_;
  std::chrono::steady_clock::time_point deadline_;
};

/// BEGIN IMMEDIATE; rolled back unless committed.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace nuscope::sweep
