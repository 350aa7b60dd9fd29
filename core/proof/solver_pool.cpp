#include "core/proof/solver_pool.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/base/diagnostics.h"
#include "core/base/process.h"

namespace nuscope::proof {

using namespace std::chrono_literals;

std::string_view text(SolverSetup setup) {
  switch (setup) {
    case SolverSetup::linear:
      return "linear";
    case SolverSetup::smt:
      return "smt";
    case SolverSetup::nlsat:
      return "nlsat";
  }
  return "smt";
}

std::string_view text(SolverAnswer::Status status) {
  switch (status) {
    case SolverAnswer::Status::unsat:
      return "unsat";
    case SolverAnswer::Status::sat:
      return "sat";
    case SolverAnswer::Status::unknown:
      return "unknown";
    case SolverAnswer::Status::killed:
      return "killed";
    case SolverAnswer::Status::cancelled:
      return "cancelled";
    case SolverAnswer::Status::failed:
      return "failed";
  }
  return "failed";
}

struct SolverPool::Child {
  explicit Child(const ProcessOptions& options) : process(options) {}
  Process process;
  bool used = false;
};

std::unique_ptr<SolverPool::Child> SolverPool::start() const {
  ProcessOptions options;
  options.arguments = {executable_, "solve"};
  options.memoryLimit = std::size_t{1} << 30U;
  return std::make_unique<Child>(options);
}

SolverPool::SolverPool(std::string executable, int processes)
    : executable_(std::move(executable)), processes_(std::max(1, processes)) {
  for (int i = 0; i < processes_; ++i) idle_.push_back(start());
}

SolverPool::~SolverPool() = default;

int SolverPool::processes() const {
  return processes_;
}

int SolverPool::replaced() const {
  const std::lock_guard lock(mutex_);
  return replaced_;
}

SolverAnswer SolverPool::ask(const SolverQuery& query, const std::stop_token& stop) {
  SolverAnswer answer;
  std::unique_ptr<Child> child;
  {
    std::unique_lock lock(mutex_);
    if (!idleChanged_.wait(lock, stop, [&] { return !idle_.empty(); })) {
      answer.status = SolverAnswer::Status::cancelled;
      return answer;
    }
    child = std::move(idle_.back());
    idle_.pop_back();
  }
  const auto begin = std::chrono::steady_clock::now();
  bool broken = false;
  const nlohmann::json request{{"smt", query.smt},
                               {"setup", std::string(text(query.setup))},
                               {"limit_ms", query.limit.count()},
                               {"model", query.wantModel}};
  std::string line;
  // A child that was never used may still be loading.
  if (child == nullptr || !child->process.write(request.dump() + "\n", 2000ms)) {
    answer.status = SolverAnswer::Status::failed;
    answer.detail = "the solver process does not take queries";
    broken = true;
  } else {
    const auto grace = child->used ? 150ms : 3000ms;
    child->used = true;
    switch (child->process.readLine(line, query.limit + grace, stop)) {
      case Process::Read::line:
        break;
      case Process::Read::timeout:
        answer.status = SolverAnswer::Status::killed;
        answer.detail = fmt::format("no answer within {} ms", query.limit.count());
        broken = true;
        break;
      case Process::Read::closed:
        answer.status = SolverAnswer::Status::failed;
        answer.detail = "the solver process ended: " + child->process.errors();
        broken = true;
        break;
      case Process::Read::cancelled:
        answer.status = SolverAnswer::Status::cancelled;
        broken = true;
        break;
    }
  }
  answer.milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  if (!broken) {
    const auto reply = nlohmann::json::parse(line, nullptr, false);
    const std::string status = reply.is_object() ? reply.value("status", "failed") : "failed";
    answer.status = status == "unsat"     ? SolverAnswer::Status::unsat
                    : status == "sat"     ? SolverAnswer::Status::sat
                    : status == "unknown" ? SolverAnswer::Status::unknown
                                          : SolverAnswer::Status::failed;
    answer.detail = reply.is_object() ? reply.value("detail", "") : "not JSON: " + line.substr(0, 80);
  } else {
    if (child != nullptr) child->process.kill();
    child.reset();
    try {
      child = start();
    } catch (const EnvironmentError&) {
      child = nullptr;  // the next query says so
    }
  }
  {
    const std::lock_guard lock(mutex_);
    if (broken) ++replaced_;
    idle_.push_back(std::move(child));
  }
  idleChanged_.notify_one();
  return answer;
}

}  // namespace nuscope::proof
