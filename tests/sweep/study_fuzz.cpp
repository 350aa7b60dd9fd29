// A fuzzer of the study reader with its own driver: a good study is mutated (bytes, pages, cuts, splices;
// values inside the tables), opened and read in full. Allowed ends: it reads, or UserError, or
// EnvironmentError. Anything else (a crash, another exception, more than 10 s) fails. Usage: study_fuzz
// [SECONDS [SEED]]; the default is 3 seconds.
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>

#include "core/base/diagnostics.h"
#include "core/base/files.h"
#include "core/nugraph/json.h"
#include "core/sweep/study.h"
#include "core/sweep/sweep.h"

namespace nuscope::sweep {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

std::string makeGoodStudy(const std::string& path) {
  const auto study = Study::create(path);
  for (int r = 0; r < 3; ++r) {
    const int revision =
        study->addRevision("f", fmt::format("def f{}(x: f32[N]) -> f32[N]:\n    return x\n", r), "f.py");
    study->setNuGraph(revision, R"({"format":"nuscope-nugraph","version":1,"nodes":[],"variants":[]})");
    SweepRecord sweep;
    sweep.revision = revision;
    sweep.extents = {{"N", 64 + r}};
    sweep.device = "host: test";
    sweep.environment = {{"compiler", "g++"}};
    const int id = study->addSweep(sweep);
    std::vector<CandidateRecord> candidates(40);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      candidates[i].sweep = id;
      candidates[i].parameters = {{"tile_m", static_cast<std::int64_t>(i)}};
      candidates[i].kernel = study->addKernel(fmt::format("kernel {} {}", r, i));
    }
    study->addCandidates(candidates);
    for (CandidateRecord& candidate : candidates) {
      Measurement m;
      m.key = {candidate.kernel, "N=64", "host: test", "g++", 1};
      m.samples = {1e-3, 2e-3, 3e-3};
      m.gate.passed = true;
      m.gate.draws.resize(6);
      m.gate.worst = 2;
      candidate.state = CandidateState::measured;
      study->putMeasurement(m, &candidate);
    }
    study->setViewState(fmt::format("view{}", r), "{}");
    study->endSweep(id, SweepState::finished);
  }
  return path;
}

class Mutator {
 public:
  Mutator(std::string good, std::uint64_t seed) : good_(std::move(good)), random_(seed) {}

  std::string bytes() {
    std::string file = good_;
    const int edits = 1 + static_cast<int>(below(8));
    for (int i = 0; i < edits && !file.empty(); ++i) edit(file);
    return file;
  }

  /// A statement that spoils a value but leaves a sound database.
  std::string statement() {
    static const std::vector<std::string> columns{
        "candidate SET parameters", "candidate SET state",       "candidate SET kind",
        "candidate SET kernel",     "measurement SET gate",      "measurement SET samples",
        "sweep SET extents",        "sweep SET environment",     "sweep SET state",
        "revision SET nugraph",     "revision SET program",      "view_state SET text",
        "candidate SET variant",    "candidate SET measurement", "measurement SET median",
        "candidate SET reason"};
    static const std::vector<std::string> values{"''",
                                                 "'{'",
                                                 "'[]'",
                                                 "'{\"a\":1e999}'",
                                                 "'null'",
                                                 "x'00ff00'",
                                                 "x'deadbeef01'",
                                                 "9223372036854775807",
                                                 "-1",
                                                 "NULL",
                                                 "'M=1,M=1'",
                                                 "'M=99999999999999999999'",
                                                 "printf('%.*c', 200000, '[')",
                                                 "printf('%.*c', 100000, '{\"a\":')",
                                                 "'{\"passed\":true,\"worst\":99,\"draws\":[]}'",
                                                 "1e308",
                                                 "zeroblob(8000000)",
                                                 "'measured'",
                                                 "randomblob(100)",
                                                 "cast(randomblob(60) as text)"};
    std::string spoilt = fmt::format("UPDATE {} = {} WHERE rowid % {} = 0", columns[below(columns.size())],
                                     values[below(values.size())], 1 + below(7));
    if (spoilt.find("view_state") != std::string::npos) spoilt = spoilt.substr(0, spoilt.find(" WHERE"));
    return spoilt;
  }

  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }

 private:
  void edit(std::string& file) {
    const std::size_t at = below(file.size());
    switch (below(7)) {
      case 0:
        file[at] = static_cast<char>(random_());
        break;
      case 1:
        file[at] = static_cast<char>(file[at] ^ (1 << below(8)));
        break;
      case 2:
        file.resize(at);
        break;
      case 3:
        file[below(std::min<std::size_t>(100, file.size()))] = static_cast<char>(random_());
        break;   // the header
      case 4: {  // one page over another
        const std::size_t page = 4096;
        if (file.size() < 2 * page) return;
        const std::size_t pages = file.size() / page;
        file.replace(below(pages) * page, page, file.substr(below(pages) * page, page));
        break;
      }
      case 5:
        file.replace(at, std::min<std::size_t>(file.size() - at, 64), 64, static_cast<char>(random_()));
        break;
      default:
        file.insert(at, file.substr(below(file.size()), below(200)));
        break;
    }
  }

  std::string good_;
  std::mt19937_64 random_;
};

void readAll(const Study& study) {
  for (const Revision& revision : study.revisions()) {
    if (const auto graph = study.nuGraph(revision.id)) static_cast<void>(nugraph::fromJson(*graph));
    static_cast<void>(study.findRevision(revision.program));
  }
  for (const SweepRecord& sweep : study.sweeps()) {
    for (const CandidateRecord& candidate : study.candidates(sweep.id)) {
      if (candidate.measurement) static_cast<void>(study.measurement(*candidate.measurement));
      static_cast<void>(study.kernelText(candidate.kernel));
    }
    static_cast<void>(study.counts(sweep.id));
    static_cast<void>(selectBest(study, sweep.id));
  }
  for (int r = 0; r < 3; ++r) static_cast<void>(study.viewState(fmt::format("view{}", r)));
}

/// True if it opened and all was read.
bool tryFile(const std::string& path, bool write) {
  try {
    const auto study = Study::open(path, write ? Study::Access::write : Study::Access::read);
    readAll(*study);
    if (write && !study->readOnly()) study->addRevision("g", "text", "");
    return true;
  } catch (const UserError&) {
  } catch (const EnvironmentError&) {
  }
  return false;
}

int fuzz(double seconds, std::uint64_t seed) {
  char pattern[] = "/tmp/nuscope-fuzz-XXXXXX";
  const fs::path folder = mkdtemp(pattern);
  const std::string good = makeGoodStudy((folder / "good.nuscope").string());
  const std::string bytes = readWholeFile(good);
  Mutator mutator(bytes, seed);
  const std::string path = (folder / "bad.nuscope").string();
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  std::int64_t runs = 0;
  std::int64_t readable = 0;
  int result = 0;
  while (Clock::now() < end) {
    for (const char* rest : {"", "-wal", "-shm", "-journal", "-lock"}) fs::remove(path + rest);
    const bool inside = mutator.below(3) == 0;
    std::string what = "bytes";
    if (inside) {
      fs::copy_file(good, path);
      what = mutator.statement();
      sqlite3* db = nullptr;
      sqlite3_open(path.c_str(), &db);
      sqlite3_exec(db, what.c_str(), nullptr, nullptr, nullptr);
      sqlite3_close(db);
    } else {
      std::ofstream(path, std::ios::binary) << mutator.bytes();
      if (mutator.below(8) == 0)
        std::ofstream(path + "-wal", std::ios::binary) << mutator.bytes().substr(0, 20000);
    }
    const auto start = Clock::now();
    try {
      readable += tryFile(path, mutator.below(2) == 0) ? 1 : 0;
    } catch (const std::exception& error) {
      std::cerr << fmt::format("run {} ({}): {}\n", runs, what, error.what());
      result = 1;
    }
    const double taken = std::chrono::duration<double>(Clock::now() - start).count();
    if (taken > 10) {
      std::cerr << fmt::format("run {} ({}) took {:.1f} s\n", runs, what, taken);
      result = 1;
    }
    if (result != 0) {
      fs::copy_file(path, fmt::format("study_fuzz_{}_{}.nuscope", seed, runs),
                    fs::copy_options::overwrite_existing);
      break;
    }
    ++runs;
  }
  std::cout << fmt::format("{} mutated studies, {} of them readable, seed {}\n", runs, readable, seed);
  fs::remove_all(folder);
  return result;
}

}  // namespace
}  // namespace nuscope::sweep

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 3;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  return nuscope::sweep::fuzz(seconds, seed);
}
