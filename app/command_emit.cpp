// `nuscope emit`: the kernel of one variant at given extents, as C++.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cancel.h"
#include "app/commands.h"
#include "app/program_argument.h"
#include "core/base/files.h"
#include "core/base/process.h"
#include "core/emit/kernel.h"
#include "core/emit/model.h"
#include "core/nugraph/json.h"
#include "core/proof/solver_pool.h"
#include "core/propagate/explore.h"
#include "core/sweep/study.h"

namespace nuscope::app {
namespace {

using nlohmann::json;

struct EmitArguments {
  std::string program;
  std::string target = "host";
  std::string shape;
  std::vector<std::string> settings;
  std::string output;
  int variant = 0;
  bool space = false;
  bool asJson = false;
};

/// Variant 0 of a file is the program itself; others are explored, or read from the study.
tensor::Program programOf(const EmitArguments& arguments) {
  ProgramArgument argument = readProgramArgument(arguments.program);
  if (arguments.variant == 0) return std::move(argument.program);
  std::shared_ptr<const nugraph::NuGraph> graph;
  if (argument.study) {
    const auto study = sweep::Study::open(arguments.program, sweep::Study::Access::read);
    const auto text = study->nuGraph(study->latestRevision()->id);
    if (!text) throw UserError(fmt::format("{}: the latest program was not explored yet", arguments.program));
    auto read = nugraph::fromJson(*text);
    if (!read) throw UserError(fmt::format("{}: {}", arguments.program, read.refusal().message));
    graph = std::make_shared<const nugraph::NuGraph>(std::move(read).value());
  } else {
    proof::SolverPool solvers(executablePath(), 1);
    propagate::ExploreOptions options;
    options.solvers = &solvers;
    const CommandProgress progress;
    graph = propagate::explore(argument.program, options, progress.progress(), {});
  }
  if (arguments.variant < 0 || arguments.variant >= std::ssize(graph->variants())) {
    throw UserError(fmt::format("{}: there is no variant {}; there are 0 to {}", arguments.program,
                                arguments.variant, graph->variants().size() - 1));
  }
  return graph->program(arguments.variant);
}

/// Extents that are not given: something middling that satisfies the asserts.
tensor::Extents extentsOf(const tensor::Program& program, const std::string& shape) {
  const tensor::Extents given = shape.empty() ? tensor::Extents{} : sweep::parseExtents(shape);
  std::string missing;
  for (const std::string& name : program.dimensions) {
    if (!given.contains(name)) missing += fmt::format("{}{}=512", missing.empty() ? "" : ",", name);
  }
  if (!missing.empty())
    throw UserError(fmt::format("a kernel is emitted for given extents; add --shape {}", missing));
  for (const auto& [name, extent] : given) {
    if (extent < 1) throw UserError(fmt::format("the extent {}={} is not at least 1", name, extent));
  }
  for (const tensor::DimRelation& relation : program.facts.relations()) {
    if (!relation.holds(given))
      throw UserError(fmt::format("the extents do not satisfy the assert {}", relation.text()));
  }
  return given;
}

int printSpace(const tiling::Space& space, bool asJson) {
  if (asJson) {
    json parameters = json::array();
    for (const auto& one : space.parameters) {
      parameters.push_back(
          {{"name", one.name}, {"meaning", one.meaning}, {"values", one.values}, {"preset", one.preset}});
    }
    json constraints = json::array();
    for (const auto& one : space.constraints)
      constraints.push_back({{"limit", one.limit}, {"text", one.text}, {"over", one.over}});
    fmt::print("{}\n", json{{"format", "nuscope-space"},
                            {"version", 1},
                            {"parameters", std::move(parameters)},
                            {"constraints", std::move(constraints)},
                            {"combinations", space.combinations},
                            {"admitted", space.admitted},
                            {"conflict", space.conflict}}
                           .dump(2));
    return space.admitted > 0 ? yes : no;
  }
  for (const auto& one : space.parameters) {
    fmt::print("{:<9} {} (preset {}): {}\n", one.name, fmt::join(one.values, " "), one.preset, one.meaning);
  }
  for (const auto& one : space.constraints) fmt::print("limit     {}\n", one.text);
  fmt::print("{} of {} combinations are admitted\n", space.admitted, space.combinations);
  for (const std::string& text : space.conflict) fmt::print("in conflict: {}\n", text);
  return space.admitted > 0 ? yes : no;
}

int emitKernel(const EmitArguments& arguments) {
  const tensor::Program program = programOf(arguments);
  const tensor::Extents extents = extentsOf(program, arguments.shape);
  const machine::Target target = machine::loadTarget(arguments.target);
  const tiling::Space space = tiling::spaceOf(program, program.results, extents, target);
  if (arguments.space) return printSpace(space, arguments.asJson);
  tiling::Parameters parameters = space.presets();
  for (const std::string& setting : arguments.settings) tiling::set(parameters, setting);
  for (const auto& limit : space.constraints) {
    if (!limit.holds(parameters))
      fmt::print(stderr, "note: beyond a limit of {}: {}\n", target.name, limit.text);
  }
  auto kernel = emit::emitHost(program, program.results, extents, target, parameters);
  if (!kernel) {
    const Refusal& refusal = kernel.refusal();
    fmt::print(stderr, "error: {}\n", refusal.message);
    if (!refusal.hint.empty()) fmt::print(stderr, "help: {}\n", refusal.hint);
    return no;
  }
  std::string text = kernel->text;
  if (arguments.asJson) {
    json list = json::array();
    for (const auto& one : kernel->arguments) {
      list.push_back({{"name", one.name},
                      {"dtype", tensor::text(one.dtype)},
                      {"shape", one.shape},
                      {"output", one.output}});
    }
    text = json{{"format", "nuscope-kernel"},
                {"version", 1},
                {"function", kernel->name},
                {"arguments", std::move(list)},
                {"parameters", kernel->parameters},
                {"target", target.name},
                {"compile", kernel->compileCommand},
                {"scratch_bytes", kernel->scratchBytes},
                {"notes", kernel->notes},
                {"modelled_seconds",
                 emit::modelledSeconds(program, program.results, extents, target, parameters)},
                {"text", kernel->text}}
               .dump(2) +
           "\n";
  }
  for (const std::string& note : kernel->notes) fmt::print(stderr, "note: {}\n", note);
  if (arguments.output.empty()) {
    fmt::print("{}", text);
    return yes;
  }
  writeWholeFile(arguments.output, text);
  std::string command;
  for (const std::string& word : kernel->compileCommand) {
    command += fmt::format("{}{}", command.empty() ? "" : " ",
                           word == "{source}"   ? arguments.output
                           : word == "{output}" ? arguments.output + ".so"
                                                : word);
  }
  if (!arguments.asJson) fmt::print(stderr, "compile with: {}\n", command);
  return yes;
}

}  // namespace

void addEmit(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<EmitArguments>();
  CLI::App* command =
      app.add_subcommand("emit", "Print the kernel of one variant at given extents, as readable C++");
  command->add_option("program", arguments->program, "A program, or a study")->required();
  command->add_option("--target", arguments->target,
                      "A target by name or JSON file; host: what fits this processor");
  command->add_option("--shape", arguments->shape, "Extents, e.g. M=512,K=1024,N=1024");
  command->add_option("--variant", arguments->variant, "Which variant of the nu-graph; 0: as written");
  command->add_option("--set", arguments->settings, "A parameter, e.g. tile_m=6; see --space");
  command->add_option("-o,--output", arguments->output, "Write to a file, and say how to compile it");
  command->add_flag("--space", arguments->space,
                    "Print the parameters, their values and the target's limits instead");
  command->add_flag("--json", arguments->asJson, "Print JSON with arguments, compile command and text");
  command->callback([&action, arguments] { action = [arguments] { return emitKernel(*arguments); }; });
}

}  // namespace nuscope::app
