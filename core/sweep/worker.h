#pragma once
// The coordinator's side of one worker: requests as calls, replies as values, and another worker when one is
// lost.
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/base/process.h"
#include "core/base/progress.h"
#include "core/sweep/protocol.h"

namespace nuscope::sweep {

/// Not thread-safe. Calls block; after a stop request they end within half a second with Outcome::cancelled
/// and the worker is gone. A worker that dies or stops answering is replaced: compiled libraries and files
/// are lost then, the call answers Outcome::lost, and `generation` grows, so that the owner sends its files
/// again.
class Worker {
 public:
  /// Starts the command ("nuscope worker --device host", "ssh HOST nuscope worker"). EnvironmentError when it
  /// does not start or does not greet within 30 s.
  Worker(std::vector<std::string> command, std::stop_token stop);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  [[nodiscard]] const Hello& hello() const { return hello_; }
  [[nodiscard]] int generation() const { return generation_; }  ///< 1 for the first worker
  [[nodiscard]] bool sharesFiles() const { return shared_; }

  /// One result a job, in the jobs' order; `onResult` is called as they end.
  std::vector<CompileResult> compile(const std::vector<CompileJob>& jobs, double limitSeconds, int parallel,
                                     const std::function<void(const CompileResult&)>& onResult);
  RunReply run(const RunRequest& request);
  MeasureReply measure(const MeasureRequest& request);
  void forget(const std::string& library);
  /// Kernels run in a new process from now on.
  void fresh();

  /// Raw bytes into and out of the worker's scratch folder. False when the worker was lost or the file is not
  /// there.
  bool put(const std::string& file, std::string_view bytes);
  bool get(const std::string& file, std::size_t size, std::string& bytes);

 private:
  void start();
  void end();
  /// Sends and reads replies with this id until `onReply` returns true. Empty: fine; else what went wrong.
  std::optional<Outcome> exchange(int id, const std::string& line, double limitSeconds,
                                  const std::function<bool(const Reply&)>& onReply);
  [[nodiscard]] std::string scratchFile(const std::string& name) const;

  std::vector<std::string> command_;
  std::stop_token stop_;
  std::unique_ptr<Process> process_;
  Hello hello_;
  bool shared_ = false;
  int generation_ = 0;
  int nextId_ = 1;
  std::string lostBecause_;
};

}  // namespace nuscope::sweep
