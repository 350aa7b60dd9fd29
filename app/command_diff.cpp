// `nuscope diff`: what differs between two programs, variants, studies or schedules.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "app/commands.h"
#include "app/program_argument.h"
#include "core/base/files.h"
#include "core/language/printer.h"
#include "core/nugraph/json.h"
#include "core/propagate/local_goal.h"
#include "core/sweep/study.h"

namespace nuscope::app {
namespace {

using nlohmann::json;
using tensor::NodeRef;

/// FILE or FILE:VARIANT.
struct Side {
  std::string argument;
  std::string file;
  std::optional<int> variant;
  bool study = false;
  bool schedule = false;
};

Side sideOf(const std::string& argument) {
  Side side{argument, argument, std::nullopt, false, false};
  const auto colon = argument.rfind(':');
  const std::string tail = colon == std::string::npos ? "" : argument.substr(colon + 1);
  if (!tail.empty() && tail.size() < 8 && tail.find_first_not_of("0123456789") == std::string::npos) {
    side.variant = std::stoi(tail);
    side.file = argument.substr(0, colon);
  }
  side.study = sweep::Study::looksLikeStudy(side.file);
  if (!side.study) {
    const std::string text = readWholeFile(side.file);
    const auto first = text.find_first_not_of(" \t\r\n");
    side.schedule = first != std::string::npos && text[first] == '{';
  }
  if (side.variant && !side.study) {
    throw UserError(
        fmt::format("{}: only a study has variants; explore the program with -o S.nuscope first", argument));
  }
  return side;
}

nugraph::NuGraph graphOf(const Side& side) {
  const auto study = sweep::Study::open(side.file, sweep::Study::Access::read);
  const auto revision = study->latestRevision();
  if (!revision) throw UserError(fmt::format("{}: the study holds no program", side.file));
  const auto text = study->nuGraph(revision->id);
  if (!text) throw UserError(fmt::format("{}: the latest program was not explored yet", side.file));
  auto graph = nugraph::fromJson(*text);
  if (!graph) throw UserError(fmt::format("{}: {}", side.file, graph.refusal().message));
  return std::move(graph).value();
}

tensor::Program programOf(const Side& side) {
  if (!side.study) return readProgramArgument(side.file).program;
  const auto graph = graphOf(side);
  const int variant = side.variant.value_or(0);
  if (variant >= std::ssize(graph.variants())) {
    throw UserError(fmt::format("{}: there is no variant {}, the study has 0 to {}", side.file, variant,
                                graph.variants().size() - 1));
  }
  return graph.program(variant);
}

struct GraphDiff {
  tensor::Program left, right;  ///< in one store
  std::vector<NodeRef> removed, added;
  std::size_t shared = 0;
  bool same = false;
};

/// Names of variables, for the texts of nodes.
void keepNames(const tensor::Program& from, tensor::StoreCopy& copy, tensor::Program& to) {
  for (const NodeRef node : tensor::topological(from.results)) {
    const auto name = from.variables.find(node);
    if (name != from.variables.end()) to.variables.emplace(copy(node), name->second);
  }
}

GraphDiff difference(const tensor::Program& a, const tensor::Program& b) {
  auto store = std::make_shared<tensor::NodeStore>();
  tensor::StoreCopy copyA(*store, a.facts);
  tensor::StoreCopy copyB(*store, b.facts);
  GraphDiff diff;
  diff.left = propagate::copied(a, a.results, copyA, store);
  diff.right = propagate::copied(b, b.results, copyB, store);
  keepNames(a, copyA, diff.left);
  keepNames(b, copyB, diff.right);
  diff.removed = nugraph::difference(diff.right.results, diff.left.results);
  diff.added = nugraph::difference(diff.left.results, diff.right.results);
  diff.shared = tensor::topological(diff.left.results).size() - diff.removed.size();
  diff.same = diff.left.results == diff.right.results;
  return diff;
}

std::string nodeText(const tensor::Program& program, NodeRef node) {
  const auto name = program.variables.find(node);
  const std::string expression = language::expressionText(program, node);
  const std::string type = tensor::typeText(node->dtype, node->shape);
  return name == program.variables.end() ? fmt::format("{}: {}", expression, type)
                                         : fmt::format("{} = {}: {}", name->second, expression, type);
}

int diffPrograms(const Side& a, const Side& b, bool asJson) {
  const GraphDiff diff = difference(programOf(a), programOf(b));
  std::vector<std::string> removed;
  std::vector<std::string> added;
  for (const NodeRef node : diff.removed) removed.push_back(nodeText(diff.left, node));
  for (const NodeRef node : diff.added) added.push_back(nodeText(diff.right, node));
  if (asJson) {
    fmt::print("{}\n", json{{"format", "nuscope-diff"},
                            {"version", 1},
                            {"same", diff.same},
                            {"shared", diff.shared},
                            {"removed", removed},
                            {"added", added}}
                           .dump(2));
    return diff.same ? yes : no;
  }
  if (diff.same) {
    fmt::print("the same graph ({} nodes)\n", diff.shared);
    return yes;
  }
  fmt::print("--- {}\n+++ {}\n    {} nodes in both\n", a.argument, b.argument, diff.shared);
  for (const auto& text : removed) fmt::print("  - {}\n", text);
  for (const auto& text : added) fmt::print("  + {}\n", text);
  return no;
}

/// Variants by their text: what one study has and the other has not.
std::vector<std::pair<std::string, std::string>> variantTexts(const nugraph::NuGraph& graph) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const auto& variant : graph.variants()) {
    const auto program = graph.program(variant.id);
    texts.emplace_back(language::print(program, program.results).text,
                       fmt::format("{} ({})", variant.id, variant.title));
  }
  return texts;
}

std::vector<std::string> missingIn(const std::vector<std::pair<std::string, std::string>>& texts,
                                   const std::vector<std::pair<std::string, std::string>>& other) {
  std::unordered_set<std::string> known;
  for (const auto& [text, label] : other) known.insert(text);
  std::vector<std::string> missing;
  for (const auto& [text, label] : texts) {
    if (!known.contains(text)) missing.push_back(label);
  }
  return missing;
}

int diffStudies(const Side& a, const Side& b, bool asJson) {
  const auto left = graphOf(a);
  const auto right = graphOf(b);
  const auto leftTexts = variantTexts(left);
  const auto rightTexts = variantTexts(right);
  const bool sameProgram = leftTexts[0].first == rightTexts[0].first;
  const auto removed = missingIn(leftTexts, rightTexts);
  const auto added = missingIn(rightTexts, leftTexts);
  const bool same = sameProgram && removed.empty() && added.empty();
  if (asJson) {
    fmt::print("{}\n", json{{"format", "nuscope-diff"},
                            {"version", 1},
                            {"same", same},
                            {"same_program", sameProgram},
                            {"removed", removed},
                            {"added", added}}
                           .dump(2));
    return same ? yes : no;
  }
  fmt::print("--- {}: {} variants, {} steps\n+++ {}: {} variants, {} steps\n", a.argument,
             left.variants().size(), left.steps().size(), b.argument, right.variants().size(),
             right.steps().size());
  if (!sameProgram) fmt::print("    the programs as written differ\n");
  for (const auto& label : removed) fmt::print("  - variant {}\n", label);
  for (const auto& label : added) fmt::print("  + variant {}\n", label);
  if (same) fmt::print("    the same variants\n");
  return same ? yes : no;
}

int diffSchedules(const Side& a, const Side& b, bool asJson) {
  json changes;
  try {
    changes = json::diff(json::parse(readWholeFile(a.file)), json::parse(readWholeFile(b.file)));
  } catch (const json::exception& error) {
    throw UserError(fmt::format("{} and {} are not both valid JSON: {}", a.file, b.file, error.what()));
  }
  const bool same = changes.empty();
  if (asJson) {
    fmt::print(
        "{}\n",
        json{{"format", "nuscope-diff"}, {"version", 1}, {"same", same}, {"changes", changes}}.dump(2));
    return same ? yes : no;
  }
  constexpr std::size_t shown = 100;
  if (same) fmt::print("the same schedule\n");
  for (std::size_t i = 0; i < std::min(shown, changes.size()); ++i) {
    const json& change = changes[i];
    const std::string value = change.contains("value") ? change["value"].dump() : "";
    fmt::print("  {:<8} {}{}{}\n", change["op"].get<std::string>(), change["path"].get<std::string>(),
               value.empty() ? "" : " ", value.size() > 120 ? value.substr(0, 117) + "..." : value);
  }
  if (changes.size() > shown) fmt::print("  and {} more changes; --json lists all\n", changes.size() - shown);
  return same ? yes : no;
}

int diff(const std::string& first, const std::string& second, bool asJson) {
  const Side a = sideOf(first);
  const Side b = sideOf(second);
  if (a.schedule != b.schedule) throw UserError("a schedule can only be compared with a schedule");
  if (a.schedule) return diffSchedules(a, b, asJson);
  if (a.study && b.study && !a.variant && !b.variant) return diffStudies(a, b, asJson);
  return diffPrograms(a, b, asJson);
}

}  // namespace

void addDiff(CLI::App& app, Action& action) {
  struct Arguments {
    std::string first, second;
    bool asJson = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand(
      "diff", "Compare two programs, variants (S.nuscope:3), studies or schedules; exit 1 if they differ");
  command->add_option("A", arguments->first, "A program, S.nuscope, S.nuscope:VARIANT or a schedule")
      ->required();
  command->add_option("B", arguments->second, "What to compare it with")->required();
  command->add_flag("--json", arguments->asJson, "Print JSON");
  command->callback([&action, arguments] {
    action = [arguments] { return diff(arguments->first, arguments->second, arguments->asJson); };
  });
}

}  // namespace nuscope::app
