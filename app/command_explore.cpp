// `nuscope explore`: every variant of a program that propagation reaches and proves.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <thread>

#include "app/cancel.h"
#include "app/commands.h"
#include "app/program_argument.h"
#include "core/base/process.h"
#include "core/language/printer.h"
#include "core/nugraph/json.h"
#include "core/proof/solver_pool.h"
#include "core/propagate/by_hand.h"
#include "core/propagate/explore.h"
#include "core/sweep/study.h"

namespace nuscope::app {
namespace {

using nlohmann::json;
using nugraph::NuGraph;

struct ExploreArguments {
  std::string program;
  std::string target;
  std::string shape;
  std::string output;
  std::string time = "30";
  std::vector<std::string> byHand;
  int maxVariants = 64;
  int threads = 0;
  std::uint64_t seed = 1;
  bool asJson = false;
};

std::string variantText(const NuGraph& graph, int id) {
  const auto program = graph.program(id);
  return language::print(program, program.results).text;
}

std::string shapeText(const std::vector<std::int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

json tensorJson(const semantics::TensorValue& tensor) {
  json values = json::array();
  for (const double value : tensor.values) {
    if (std::isfinite(value)) {
      values.push_back(value);
    } else {
      values.push_back(nullptr);  // undefined
    }
  }
  return {{"shape", tensor.shape}, {"dtype", tensor::text(tensor.dtype)}, {"values", std::move(values)}};
}

json counterexampleJson(const std::optional<proof::Counterexample>& example) {
  if (!example) return nullptr;
  json inputs = json::object();
  for (const auto& [name, tensor] : example->inputs) inputs[name] = tensorJson(tensor);
  return {{"extents", example->extents},       {"inputs", std::move(inputs)},
          {"result", example->result},         {"index", example->index},
          {"left", tensorJson(example->left)}, {"right", tensorJson(example->right)},
          {"left_text", example->leftText},    {"right_text", example->rightText}};
}

/// A file given with --with, and where it stands.
struct ByHandFile {
  std::string file;
  propagate::ByHand answer;
  std::optional<int> added;  ///< the variant that it became
};

json byHandJson(const std::vector<ByHandFile>& files) {
  json result = json::array();
  for (const ByHandFile& file : files) {
    const auto& proof = file.answer.proof;
    const auto variant = file.added ? file.added : file.answer.variant;
    result.push_back({{"file", file.file},
                      {"standing", propagate::text(file.answer.standing)},
                      {"added", file.added.has_value()},
                      {"variant", variant ? json(*variant) : json(nullptr)},
                      {"why", file.answer.why},
                      {"verdict", proof ? json(proof::text(proof->verdict)) : json(nullptr)},
                      {"holds_for", proof ? json(proof->holdsFor) : json(nullptr)},
                      {"counterexample", counterexampleJson(proof ? proof->counterexample : std::nullopt)}});
  }
  return result;
}

json reportJson(const NuGraph& graph, const std::vector<ByHandFile>& byHand,
                const ExploreArguments& arguments, double seconds) {
  json variants = json::array();
  for (const auto& variant : graph.variants()) {
    variants.push_back({{"id", variant.id},
                        {"stage", nugraph::text(variant.stage)},
                        {"from", variant.parent < 0 ? json(nullptr) : json(variant.parent)},
                        {"title", variant.title},
                        {"program", variantText(graph, variant.id)}});
  }
  json steps = json::array();
  for (const auto& step : graph.steps()) {
    steps.push_back({{"id", step.id},
                     {"from", step.from},
                     {"to", step.to},
                     {"what", step.what},
                     {"verdict", proof::text(step.proof->verdict)},
                     {"decided_by", step.proof->decidedBy},
                     {"holds_for", step.proof->holdsFor},
                     {"by_hand", step.byHand},
                     {"seconds", step.proof->seconds}});
  }
  json refused = json::array();
  for (const auto& move : graph.refused()) {
    refused.push_back({{"id", move.id},
                       {"from", move.from},
                       {"what", move.what},
                       {"verdict", proof::text(move.proof->verdict)},
                       {"reason", move.proof->reason},
                       {"counterexample", counterexampleJson(move.proof->counterexample)}});
  }
  const auto counts = graph.proofs();
  json report = {
      {"format", "nuscope-explore"},
      {"version", 1},
      {"name", graph.root().name},
      {"variants", std::move(variants)},
      {"steps", std::move(steps)},
      {"refused", std::move(refused)},
      {"proofs", {{"proved", counts.proved}, {"refuted", counts.refuted}, {"unknown", counts.unknown}}},
      {"seconds", seconds},
      {"cuts", graph.cuts()}};
  if (!byHand.empty()) report["with"] = byHandJson(byHand);
  if (!arguments.target.empty()) report["target"] = arguments.target;
  if (!arguments.shape.empty()) report["shape"] = sweep::parseExtents(arguments.shape);
  return report;
}

std::string whyRefused(const proof::Proof& proof) {
  if (!proof.counterexample) return fmt::format("unknown: {}", proof.reason);
  const auto& example = *proof.counterexample;
  std::string extents;
  for (const auto& [name, extent] : example.extents)
    extents += fmt::format("{}{}={}", extents.empty() ? "" : " ", name, extent);
  return fmt::format("{}: element {} is {}, not {}", extents.empty() ? "a scalar" : extents,
                     shapeText(example.index), example.rightText, example.leftText);
}

void printTable(const NuGraph& graph, double seconds) {
  const auto counts = graph.proofs();
  fmt::print(
      "{}: {} variants, {} steps (all proved over the reals), {} moves refuted, {} unknown, {:.2f} s\n\n",
      graph.root().name, graph.variants().size(), counts.proved, counts.refuted, counts.unknown, seconds);
  fmt::print("  id  from  variant\n");
  for (const auto& variant : graph.variants()) {
    fmt::print("{:>4}  {:>4}  {}\n", variant.id, variant.parent < 0 ? "-" : std::to_string(variant.parent),
               variant.title);
  }
  if (!graph.refused().empty()) {
    constexpr std::size_t shown = 20;
    std::size_t width = 0;
    for (std::size_t i = 0; i < std::min(shown, graph.refused().size()); ++i) {
      width = std::max(width, std::min<std::size_t>(graph.refused()[i].what.size(), 56));
    }
    fmt::print("\nfrom  {:<{}}  refused because\n", "move", width);
    for (std::size_t i = 0; i < std::min(shown, graph.refused().size()); ++i) {
      const auto& move = graph.refused()[i];
      fmt::print("{:>4}  {:<{}}  {}\n", move.from, move.what, width, whyRefused(*move.proof));
    }
    if (graph.refused().size() > shown) {
      fmt::print("      and {} more; --json lists all\n", graph.refused().size() - shown);
    }
  }
  for (const std::string& cut : graph.cuts()) fmt::print("\nlimit: {}", cut);
  if (!graph.cuts().empty()) fmt::print("\n");
}

/// The nu-graph that a study has of this program, if any.
std::optional<NuGraph> earlierGraph(const std::string& path, const ProgramArgument& source) {
  if (path.empty() || !std::filesystem::exists(path) || !sweep::Study::looksLikeStudy(path))
    return std::nullopt;
  const auto study = sweep::Study::open(path, sweep::Study::Access::read);
  const auto known = study->findRevision(source.text);
  const auto stored = known ? study->nuGraph(known->id) : std::nullopt;
  if (!stored) return std::nullopt;
  auto earlier = nugraph::fromJson(*stored);
  if (earlier) return std::move(earlier).value();
  fmt::print(stderr, "the nu-graph in {} is not used: {}\n", path, earlier.refusal().message);
  return std::nullopt;
}

/// The variants by hand that the studies have of this program are kept.
std::shared_ptr<const NuGraph> withEarlier(std::shared_ptr<const NuGraph> graph,
                                           const ProgramArgument& source, const ExploreArguments& arguments,
                                           const propagate::ByHandOptions& options,
                                           const Progress& progress) {
  std::set<std::string> paths{arguments.output};
  if (source.study) paths.insert(arguments.program);
  for (const std::string& path : paths) {
    const auto earlier = earlierGraph(path, source);
    if (!earlier) continue;
    std::vector<std::string> lost;
    graph = propagate::withByHandOf(std::move(graph), *earlier, options, progress, lost);
    for (const std::string& sentence : lost) fmt::print(stderr, "{}\n", sentence);
  }
  return graph;
}

/// Looks each file up, and adds those that are new and proved.
std::shared_ptr<const NuGraph> withFiles(std::shared_ptr<const NuGraph> graph,
                                         const ExploreArguments& arguments,
                                         const propagate::ByHandOptions& options, const Progress& progress,
                                         std::vector<ByHandFile>& files) {
  for (const std::string& path : arguments.byHand) {
    const ProgramArgument other = readProgramArgument(path);
    ByHandFile file{path, propagate::standingOf(*graph, other.program, options, progress), std::nullopt};
    if (file.answer.standing == propagate::Standing::equal) {
      graph = propagate::withByHand(*graph, file.answer, std::filesystem::path(path).filename().string());
      file.added = graph->variants().back().id;
    }
    files.push_back(std::move(file));
  }
  return graph;
}

std::string byHandText(const ByHandFile& file) {
  using propagate::Standing;
  const std::string& why = file.answer.why;
  switch (file.answer.standing) {
    case Standing::same:
      return fmt::format("variant {}, by hash: {}", *file.answer.variant, why);
    case Standing::alike:
      return fmt::format("variant {}, by proof: {}", *file.answer.variant, why);
    case Standing::equal:
      return fmt::format("added as variant {}: {}", *file.added, why);
    case Standing::different:
      return fmt::format("refuted, not added: {}", why);
    case Standing::unknown:
      return fmt::format("not added: {}", why);
    case Standing::unfit:
      break;
  }
  return fmt::format("does not fit, not added: {}", why);
}

/// The exit code of the worst answer.
int exitOf(const std::vector<ByHandFile>& files) {
  int code = yes;
  for (const ByHandFile& file : files) {
    using propagate::Standing;
    const Standing standing = file.answer.standing;
    if (standing == Standing::different || standing == Standing::unfit) return no;
    if (standing == Standing::unknown) code = undecided;
  }
  return code;
}

void saveStudy(const NuGraph& graph, const ProgramArgument& source, const ExploreArguments& arguments) {
  const auto study = sweep::Study::openOrCreate(arguments.output);
  if (study->readOnly())
    throw UserError(fmt::format("{} cannot be written: {}", arguments.output, study->readOnlyReason()));
  const auto known = study->findRevision(source.text);
  const int revision = known ? known->id : study->addRevision(graph.root().name, source.text, source.file);
  study->setNuGraph(revision, nugraph::toJson(graph));
  json options = {{"target", arguments.target}, {"shape", arguments.shape}, {"seed", arguments.seed}};
  study->setViewState("explore", options.dump());
  fmt::print(stderr, "saved as revision {} of {}\n", revision, arguments.output);
}

int explore(const ExploreArguments& arguments) {
  if (!arguments.shape.empty()) (void)sweep::parseExtents(arguments.shape);
  const ProgramArgument source = readProgramArgument(arguments.program);
  propagate::ExploreOptions options;
  options.maxVariants = arguments.maxVariants;
  options.seed = arguments.seed;
  options.secondsLimit = parseSeconds(arguments.time);
  options.threads = arguments.threads > 0
                        ? arguments.threads
                        : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const CommandProgress progress;
  proof::SolverPool solvers(executablePath(), options.threads);
  options.solvers = &solvers;
  const auto start = std::chrono::steady_clock::now();
  for (const std::string& path : arguments.byHand)
    (void)readProgramArgument(path);  // say what is bad at once
  auto graph = propagate::explore(source.program, options, progress.progress(), {});
  propagate::ByHandOptions byHand;
  byHand.seed = arguments.seed;
  byHand.solvers = &solvers;
  graph = withEarlier(std::move(graph), source, arguments, byHand, progress.progress());
  std::vector<ByHandFile> files;
  graph = withFiles(std::move(graph), arguments, byHand, progress.progress(), files);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!arguments.output.empty()) saveStudy(*graph, source, arguments);
  if (arguments.asJson) {
    fmt::print(
        "{}\n",
        reportJson(*graph, files, arguments, seconds).dump(2, ' ', false, json::error_handler_t::replace));
  } else {
    printTable(*graph, seconds);
    for (const ByHandFile& file : files) fmt::print("\n{}: {}\n", file.file, byHandText(file));
  }
  return exitOf(files);
}

}  // namespace

void addExplore(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<ExploreArguments>();
  CLI::App* command = app.add_subcommand(
      "explore",
      "Find every variant of a program that operator propagation reaches and proves, and what it refused");
  command->add_option("PROGRAM", arguments->program, "A NumPy program, or a study (its latest program)")
      ->required();
  command->add_option("--with", arguments->byHand,
                      "A variant written by hand: says which variant it is, or adds it when it is proved");
  command->add_option("--target", arguments->target, "Recorded for later stages");
  command->add_option("--shape", arguments->shape, "Recorded for later stages: M=512,K=4096");
  command->add_option("-o,--output", arguments->output, "Write the result into this study (S.nuscope)");
  command->add_option("--max-variants", arguments->maxVariants, "Stop at this many variants")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command->add_option("--time", arguments->time, "Stop after this long: 30, 30s, 2m")->capture_default_str();
  command->add_option("--seed", arguments->seed, "Of the draws that refute")->capture_default_str();
  command
      ->add_option("--threads", arguments->threads,
                   "Proofs side by side; the result is the same (default: all cores)")
      ->check(CLI::Range(0, 1024));
  command->add_flag("--json", arguments->asJson, "Print JSON");
  command->callback([&action, arguments] { action = [arguments] { return explore(*arguments); }; });
}

}  // namespace nuscope::app
