#pragma once
// A study: one `.nuscope` file that keeps everything about one program: the text in all its revisions, the
// nu-graph with its proofs, the candidates of every sweep, what was measured, and where the views stood.
//
// FILE. SQLite 3, application_id 0x4E755363 ("NuSc"), user_version = schema version. Older versions are
// migrated on opening for writing, one function per version, inside one transaction; newer ones are refused
// with a message. Every method that writes is one transaction and durable when it returns: after `kill -9`
// all of it is there. ONE WRITER. The writer holds `FILE-lock` (flock). Whoever opens a study that is being
// written gets it read-only, and `readOnlyReason` says so; readers see each finished transaction of the
// writer. TRUST. A study may come from anybody. Opening it never runs anything: the schema must be exactly
// ours (no triggers, no views), sizes are limited, the pages are checked, queries have a deadline, and
// nothing in it is compiled; kernel texts are kept to be shown and compared only. Proofs in it are "recorded"
// until they are replayed. ERRORS. UserError: no study, damaged, newer, read-only. EnvironmentError: disk
// full, no permission, I/O; whatever was committed before stays. THREADS. Every method may be called from any
// thread; they exclude one another.
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor/dim.h"

namespace nuscope::sweep {

/// Values of tile, block, strip and other parameters by name; the same type as tiling::Parameters.
using Parameters = std::map<std::string, std::int64_t>;

/// One state of the program's text. An edit that is explored starts a new revision.
struct Revision {
  int id = 0;           ///< 1, 2, ...
  std::string name;     ///< of the function
  std::string program;  ///< the text
  std::string file;     ///< where the text came from; may be empty
  std::string created;  ///< UTC, "2026-11-29T23:47:01Z"
  std::string version;  ///< of Nuscope
  bool hasNuGraph = false;
};

enum class SweepState : std::uint8_t { running, finished, cancelled };

/// One sweep. `running` in a file that nobody writes: it was killed, and `--resume` continues it.
struct SweepRecord {
  int id = 0;
  int revision = 0;
  tensor::Extents extents;
  std::string target;     ///< "host-avx2"
  std::string device;     ///< "host: AMD EPYC 7763 (2 processors)": part of a measurement's key
  std::string toolchain;  ///< "g++ (Debian 12.2.0) 12.2.0 -O3 ...": part of a measurement's key
  int threads = 1;
  std::uint64_t seed = 1;
  std::string budget;  ///< "60s", "200", "exhaustive"
  SweepState state = SweepState::running;
  std::string started, ended;                      ///< UTC; ended is empty while running
  std::map<std::string, std::string> environment;  ///< processor, kernel, compiler, libraries, load...
};

enum class CandidateState : std::uint8_t {
  enumerated,  ///< not tried (yet)
  compiled,    ///< waits to be measured
  measured,    ///< passed the gate and was timed
  wrong,       ///< failed the gate; never selected
  failed,      ///< could not be emitted or compiled
  crashed,     ///< its worker died
  timedOut,    ///< its worker was killed at the time limit
  skipped,     ///< a baseline that this machine cannot run
};
std::string_view text(CandidateState state);
std::optional<CandidateState> parseCandidateState(std::string_view text);

enum class CandidateKind : std::uint8_t {
  emitted,   ///< from a proved variant; the only kind that is ever chosen
  baseline,  ///< the program as written, by other means
  foreign    ///< a kernel that the user brought: nothing is proved of it
};
std::string_view text(CandidateKind kind);
std::optional<CandidateKind> parseCandidateKind(std::string_view text);

struct CandidateRecord {
  int id = 0;  ///< in the study; what `--candidate N` and the JSON mean
  int sweep = 0;
  CandidateKind kind = CandidateKind::emitted;
  /// baseline: name, version and threads; emitted: the variant's title; foreign: the file, and that it is not
  /// proved
  std::string label;
  int variant = 0;
  Parameters parameters;
  std::string kernel;          ///< hash of the kernel's text (textHash); empty for a baseline without one
  double modelledSeconds = 0;  ///< 0: not modelled
  CandidateState state = CandidateState::enumerated;
  std::string reason;  ///< why it failed, was wrong or skipped; complete, for people
  std::optional<int> measurement;
  std::string savedCase;  ///< folder of a saved wrong case beside the study; empty: none
};

/// One draw of the numeric gate (gate.h).
struct GateDraw {
  std::string distribution;  ///< "normal, scale 30"
  std::uint64_t seed = 0;
  int result = 0;                   ///< of the worst element
  std::vector<std::int64_t> index;  ///< of the worst element
  double expected = 0;              ///< float64
  double actual = 0;
  double error = 0;            ///< |actual - expected|
  double bound = 0;            ///< of the running error analysis, before the factor
  double ratio = 0;            ///< error / bound of the worst element
  std::int64_t checked = 0;    ///< elements compared
  std::int64_t undefined = 0;  ///< elements left out: undefined by the semantics
  std::int64_t undecided = 0;  ///< left out: near a jump, or beyond the range of the dtype
};

struct GateRecord {
  bool passed = false;
  double factor = 0;         ///< an element passes when error <= factor * bound
  std::string accumulation;  ///< dtype whose roundoff the bound assumes
  std::vector<GateDraw> draws;
  int worst = -1;       ///< index into draws; -1: none
  std::string verdict;  ///< of the trace of a wrong result: "rounding", "range", "fault"; empty when passed
  std::string text;     ///< one sentence for people
};

/// What a measurement is of. Equal keys: the measurement may be reused.
struct MeasurementKey {
  std::string kernel;   ///< textHash of the kernel's text, or "baseline: ..." with name and version
  std::string extents;  ///< extentsText
  std::string device;
  std::string toolchain;
  int threads = 1;
  bool operator==(const MeasurementKey&) const = default;
};

struct Measurement {
  int id = 0;
  MeasurementKey key;
  std::vector<double> samples;  ///< seconds, in order of time, all of them (several rounds are appended)
  double median = 0;            ///< seconds
  double low = 0, high = 0;     ///< confidence interval of the median, seconds
  double confidence = 0;        ///< of that interval, e.g. 0.96
  GateRecord gate;
  std::string date;  ///< UTC, of the last sample
};

struct CandidateCounts {
  int enumerated = 0, measured = 0, wrong = 0, failed = 0, timedOut = 0;
  bool operator==(const CandidateCounts&) const = default;
};

class Study {
 public:
  enum class Access : std::uint8_t { read, write };
  /// A new, empty study in a new file. UserError if the file exists.
  static std::unique_ptr<Study> create(const std::string& path);
  /// An existing study. With `write`, falls back to read-only when another process writes it or the file may
  /// not be written: see readOnlyReason.
  static std::unique_ptr<Study> open(const std::string& path, Access access);
  /// open(write) if the file exists, else create.
  static std::unique_ptr<Study> openOrCreate(const std::string& path);
  /// A study without a file; gone with the object, unless saved.
  static std::unique_ptr<Study> temporary();
  /// True if the file starts like a study (so that commands can take PROGRAM or S.nuscope).
  static bool looksLikeStudy(const std::string& path);
  ~Study();
  Study(const Study&) = delete;
  Study& operator=(const Study&) = delete;

  [[nodiscard]] const std::string& path() const;  ///< empty: temporary
  [[nodiscard]] bool readOnly() const;
  [[nodiscard]] const std::string& readOnlyReason() const;
  /// The whole study into another file, atomically (written beside it, then renamed); replaces an existing
  /// one.
  void saveCopy(const std::string& path) const;
  /// The study's folder for saved cases and sources, "S.nuscope.files" beside the file; created by whoever
  /// needs it.
  [[nodiscard]] std::string filesDirectory() const;

  // Program and nu-graph
  int addRevision(const std::string& name, const std::string& program, const std::string& file);
  [[nodiscard]] std::vector<Revision> revisions() const;
  [[nodiscard]] Revision revision(int id) const;  ///< UserError if there is none
  [[nodiscard]] std::optional<Revision> latestRevision() const;
  /// The latest revision with exactly this text.
  [[nodiscard]] std::optional<Revision> findRevision(const std::string& program) const;
  void setNuGraph(int revision, const std::string& json);
  [[nodiscard]] std::optional<std::string> nuGraph(int revision) const;

  // Sweeps
  int addSweep(const SweepRecord& sweep);  ///< id and started are set here
  void endSweep(int sweep, SweepState state);
  void resumeSweep(int sweep);  ///< running again, end forgotten
  /// Adds or replaces one entry of the sweep's environment, e.g. what was chosen at its end.
  void noteSweep(int sweep, const std::string& key, const std::string& value);
  [[nodiscard]] std::vector<SweepRecord> sweeps() const;

  // Candidates: a whole batch is one transaction. Ids are set in the argument.
  void addCandidates(std::vector<CandidateRecord>& candidates);
  void updateCandidate(const CandidateRecord& candidate);
  void updateCandidates(const std::vector<CandidateRecord>& candidates);
  [[nodiscard]] std::vector<CandidateRecord> candidates(int sweep) const;
  [[nodiscard]] std::optional<CandidateRecord> candidate(int id) const;
  [[nodiscard]] CandidateCounts counts(int sweep) const;  ///< emitted ones only

  // Kernel texts, to show and compare
  /// Returns the text's hash.
  std::string addKernel(const std::string& text);
  [[nodiscard]] std::optional<std::string> kernelText(const std::string& hash) const;

  // Measurements
  /// Inserts, or replaces the one with the same key; the candidate, if any, is updated in the same
  /// transaction. Returns the id (also stored in candidate->measurement).
  int putMeasurement(const Measurement& measurement, CandidateRecord* candidate = nullptr);
  [[nodiscard]] std::optional<Measurement> measurement(int id) const;
  [[nodiscard]] std::optional<Measurement> findMeasurement(const MeasurementKey& key) const;

  // Where the views stood, and other small texts (the explorer's own JSON). 16 MiB each at most.
  void setViewState(const std::string& name, const std::string& text);
  [[nodiscard]] std::optional<std::string> viewState(const std::string& name) const;

 private:
  struct Impl;
  explicit Study(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// SHA-256 of the text, hexadecimal.
std::string textHash(std::string_view text);
/// "K=1024,M=512,N=1024": sorted by name; what keys hold and commands print.
std::string extentsText(const tensor::Extents& extents);
/// Parses "M=512,K=1024" (any order); UserError on anything else, on values < 1 and on a name given twice.
tensor::Extents parseExtents(std::string_view text);
/// "block_m=64 tile_n=16": for labels and tables.
std::string parametersText(const Parameters& parameters);
/// "passed the gate", of a foreign kernel "not proved, passed the gate"; else the state's text.
std::string standingText(const CandidateRecord& candidate);
/// Now, UTC, "2026-11-29T23:47:01Z".
std::string utcNow();

}  // namespace nuscope::sweep
