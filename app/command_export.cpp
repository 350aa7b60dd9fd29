// `nuscope export`: kernels of a study as a folder that others build and call without Nuscope.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/cancel.h"
#include "app/commands.h"
#include "core/base/diagnostics.h"
#include "core/base/process.h"
#include "core/export/export.h"
#include "core/proof/solver_pool.h"

namespace nuscope::app {
namespace {

struct ExportArguments {
  std::string study;
  std::string output;
  std::vector<std::string> shapes;
  bool asJson = false;
  exporting::Request request;
};

int runExport(ExportArguments arguments) {
  if (!sweep::Study::looksLikeStudy(arguments.study)) {
    throw UserError(fmt::format("{} is no study; sweep the program first: nuscope sweep PROGRAM -o S.nuscope",
                                arguments.study));
  }
  exporting::Request& request = arguments.request;
  for (const std::string& shape : arguments.shapes) request.shapes.push_back(sweep::parseExtents(shape));
  request.studyName = std::filesystem::path(arguments.study).filename().string();
  proof::SolverPool solvers(executablePath(),
                            std::max(1, static_cast<int>(std::thread::hardware_concurrency())));
  request.solvers = &solvers;
  const auto study = sweep::Study::open(arguments.study, sweep::Study::Access::read);
  const CommandProgress progress;
  const exporting::Folder folder = exporting::makeFolder(*study, request, progress.progress());
  exporting::writeFolder(folder, arguments.output);
  for (const std::string& note : folder.notes) fmt::print(stderr, "note: {}\n", note);
  if (arguments.asJson) {
    nlohmann::json manifest = nlohmann::json::parse(folder.files.at("manifest.json"));
    manifest["folder"] = std::filesystem::absolute(arguments.output).lexically_normal().string();
    manifest["notes"] = folder.notes;
    fmt::print("{}\n", manifest.dump(2));
    return yes;
  }
  const auto manifest = nlohmann::json::parse(folder.files.at("manifest.json"));
  fmt::print("{}: {} files, {} kernel{}, called by {}_for\nbuild it there:  {}\n", arguments.output,
             folder.files.size(), manifest.at("kernels").size(),
             manifest.at("kernels").size() == 1 ? "" : "s", folder.function,
             manifest.at("compile").get<std::string>());
  return yes;
}

}  // namespace

void addExport(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<ExportArguments>();
  exporting::Request& request = arguments->request;
  CLI::App* command = app.add_subcommand(
      "export", "Write kernels of a study as a folder that others build and call without Nuscope");
  command->add_option("STUDY", arguments->study, "A study that was swept (S.nuscope)")->required();
  command
      ->add_option("-o,--output", arguments->output,
                   "The folder; an edited or foreign one is never overwritten")
      ->required();
  command
      ->add_option("--candidate", request.candidates,
                   "Which candidates, by number (default: the best of the latest sweep); repeatable")
      ->delimiter(',');
  command->add_option(
      "--shape", arguments->shapes,
      "The best of the latest sweep at these extents; several give one entry that chooses, and plain "
      "loops for all others");
  command->add_flag("--general", request.general, "Plain loops for all other extents, also with one shape");
  command->add_option("--name", request.function,
                      "Name of the function (default: nuscope_ and the program's)");
  command->add_option("--target", request.target,
                      "Description of the sweep's target, where it is not among hw/");
  command->add_flag("--json", arguments->asJson, "Print the manifest as JSON");
  command->callback([&action, arguments] { action = [arguments] { return runExport(*arguments); }; });
}

}  // namespace nuscope::app
