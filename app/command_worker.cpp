// `nuscope worker`: serves devices on standard streams (core/sweep/protocol.h). Started by sweeps, here or by
// ssh.
#include <CLI/CLI.hpp>
#include <memory>

#include "app/commands.h"
#include "backends/worker/executor.h"
#include "backends/worker/worker_server.h"
#include "core/base/process.h"

namespace nuscope::app {

void addWorker(CLI::App& app, Action& action) {
  struct Options {
    backends::WorkerOptions worker;
    bool execute = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("worker", "Serve devices on standard streams, as JSON lines");
  command->add_option("--device", options->worker.device,
                      "host, or simulated:FAULT@N,... with crash, hang, wrong, memory or die");
  command->add_option("--memory", options->worker.memoryLimit,
                      "Bytes that kernels may take (default: 3/4 of all)");
  command
      ->add_flag("--execute", options->execute, "The child that runs kernels; started by the worker itself")
      ->group("");
  command->callback([&action, options] {
    action = [options] {
      if (options->execute) return backends::runExecutor(options->worker.device);
      options->worker.executable = executablePath();
      return backends::runWorker(options->worker);
    };
  });
}

}  // namespace nuscope::app
