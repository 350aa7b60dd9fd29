#include "core/propagate/by_hand.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "core/propagate/skeleton.h"
#include "core/tensor/store_copy.h"

namespace nuscope::propagate {
namespace {

using nugraph::NuGraph;
using proof::Proof;
using proof::Verdict;
using tensor::NodeRef;
using tensor::Program;
using Clock = std::chrono::steady_clock;

constexpr std::string_view prefix = "by hand: ";

std::string parameterText(const tensor::Parameter& parameter) {
  return fmt::format("{}: {}", parameter.name,
                     tensor::typeText(parameter.node->dtype, parameter.node->shape));
}

/// Why the signatures do not agree; empty if they do.
std::string signatureDifference(const Program& program, const Program& other) {
  for (const auto& parameter : program.parameters) {
    const auto at = std::ranges::find(other.parameters, parameter.name, &tensor::Parameter::name);
    if (at == other.parameters.end())
      return fmt::format("the parameter {} is missing", parameterText(parameter));
    if (at->node->dtype != parameter.node->dtype ||
        !program.facts.equal(at->node->shape, parameter.node->shape)) {
      return fmt::format("the parameter {} is {} in the program", parameterText(*at),
                         parameterText(parameter));
    }
  }
  for (const auto& parameter : other.parameters) {
    if (std::ranges::find(program.parameters, parameter.name, &tensor::Parameter::name) ==
        program.parameters.end()) {
      return fmt::format("the program has no parameter {}", parameter.name);
    }
  }
  if (other.results.size() != program.results.size()) {
    return fmt::format("it returns {} results and the program {}", other.results.size(),
                       program.results.size());
  }
  return {};
}

/// The results in the program's store, made under the facts of the program alone.
Result<std::vector<NodeRef>> adopted(const Program& program, const Program& other) {
  if (const std::string why = signatureDifference(program, other); !why.empty()) return Refusal{why, ""};
  tensor::StoreCopy copy(*program.store, program.facts);
  for (const auto& parameter : other.parameters) {
    copy.set(parameter.node,
             std::ranges::find(program.parameters, parameter.name, &tensor::Parameter::name)->node);
  }
  std::vector<NodeRef> results;
  for (std::size_t i = 0; i < other.results.size(); ++i) {
    const auto made = copy.copy(other.results[i]);
    if (!made) {
      return Refusal{
          fmt::format("it is not well-typed under the program's asserts: {}", made.refusal().message),
          "an assert that it makes in addition would narrow the program"};
    }
    const NodeRef expected = program.results[i];
    if ((*made)->dtype != expected->dtype || !program.facts.equal((*made)->shape, expected->shape)) {
      return Refusal{fmt::format("result {} is {}, in the program {}", i + 1,
                                 tensor::typeText((*made)->dtype, (*made)->shape),
                                 tensor::typeText(expected->dtype, expected->shape)),
                     ""};
    }
    results.push_back(*made);
  }
  return results;
}

std::string counterexampleText(const proof::Counterexample& example) {
  std::string extents;
  for (const auto& [name, extent] : example.extents)
    extents += fmt::format("{}{}={}", extents.empty() ? "" : " ", name, extent);
  return fmt::format("{}{}element [{}] of {} is {}, not {}", extents, extents.empty() ? "" : ": ",
                     fmt::join(example.index, ", "), fmt::format("result {}", example.result + 1),
                     example.rightText, example.leftText);
}

class Question {
 public:
  Question(const Procedures& procedures, const NuGraph& graph, const ByHandOptions& options,
           const Progress& progress)
      : procedures_(procedures), graph_(graph), options_(options), progress_(progress) {}

  ByHand answer(const Program& other) {
    auto results = adopted(graph_.root(), other);
    if (!results) {
      answer_.standing = Standing::unfit;
      answer_.why = results.refusal().message;
      return answer_;
    }
    answer_.results = *std::move(results);
    if (const auto variant = graph_.find(answer_.results)) {
      answer_.standing = Standing::same;
      answer_.variant = variant;
      answer_.why = fmt::format("the graph of variant {}", *variant);
    } else if (!likeAVariant()) {
      againstTheProgram();
    }
    return answer_;
  }

 private:
  [[nodiscard]] Proof prove(int variant, proof::Mode mode, bool draws) const {
    proof::Options options;
    options.mode = mode;
    options.draws = draws;
    options.seed = options_.seed;
    options.solvers = options_.solvers;
    options.secondsLimit =
        options_.secondsLimit - std::chrono::duration<double>(Clock::now() - started_).count();
    Program right = graph_.root();
    right.results = answer_.results;
    return procedures_.whole(graph_.program(variant), right, options, progress_);
  }

  void settle(Standing standing, std::optional<int> variant, Proof proof, std::string why) {
    answer_.standing = standing;
    answer_.variant = variant;
    answer_.proof = std::make_shared<const Proof>(std::move(proof));
    answer_.why = std::move(why);
  }

  bool likeAVariant() {
    Skeletons skeletons(graph_.root().facts);
    const auto own = skeletons.loops(answer_.results);
    for (const auto& variant : graph_.variants()) {
      progress_.check();
      if (skeletons.loops(variant.results) != own) continue;
      Proof proof = prove(variant.id, proof::Mode::equal, false);
      if (proof.verdict != Verdict::proved) continue;
      settle(Standing::alike, variant.id, std::move(proof),
             fmt::format("proved equal to variant {}: the same loops, only elementwise operators are ordered "
                         "otherwise",
                         variant.id));
      return true;
    }
    return false;
  }

  [[nodiscard]] int nearest() const {
    const auto distance = [&](const nugraph::Variant& variant) {
      return nugraph::difference(variant.results, answer_.results).size() +
             nugraph::difference(answer_.results, variant.results).size();
    };
    return std::ranges::min_element(graph_.variants(), {}, distance)->id;
  }

  void againstTheProgram() {
    Proof proof = prove(0, proof::Mode::refines, true);
    if (proof.verdict == Verdict::proved) {
      const int variant = nearest();
      settle(Standing::equal, variant, std::move(proof),
             fmt::format(
                 "proved equal to the program wherever that is defined; none of the variants, variant {} "
                 "is the nearest",
                 variant));
    } else if (proof.verdict == Verdict::refuted) {
      std::string why = counterexampleText(*proof.counterexample);
      settle(Standing::different, std::nullopt, std::move(proof), std::move(why));
    } else {
      std::string why = fmt::format("neither proved nor refuted: {}", proof.reason);
      settle(Standing::unknown, std::nullopt, std::move(proof), std::move(why));
    }
  }

  const Procedures& procedures_;
  const NuGraph& graph_;
  const ByHandOptions& options_;
  const Progress& progress_;
  Clock::time_point started_ = Clock::now();
  ByHand answer_;
};

}  // namespace

std::string_view text(Standing standing) {
  constexpr std::string_view texts[] = {"unfit", "same", "alike", "equal", "different", "unknown"};
  return texts[static_cast<std::size_t>(standing)];
}

ByHand standingWith(const Procedures& procedures, const NuGraph& graph, const Program& other,
                    const ByHandOptions& options, const Progress& progress) {
  return Question(procedures, graph, options, progress).answer(other);
}

ByHand standingOf(const NuGraph& graph, const Program& other, const ByHandOptions& options,
                  const Progress& progress) {
  return standingWith(provers(), graph, other, options, progress);
}

std::shared_ptr<const NuGraph> withByHand(const NuGraph& graph, const ByHand& byHand,
                                          const std::string& name) {
  if (byHand.standing != Standing::equal) throw InternalError("a step by hand that was not proved: " + name);
  auto more = std::make_shared<NuGraph>(graph);
  nugraph::Step step;
  step.what = std::string(prefix) + name;
  step.proof = byHand.proof;
  step.byHand = true;
  std::string title = step.what;
  more->add(std::move(step), byHand.results, nugraph::Stage::algebra, std::move(title));
  return more;
}

std::shared_ptr<const NuGraph> withByHandOf(std::shared_ptr<const NuGraph> graph, const NuGraph& earlier,
                                            const ByHandOptions& options, const Progress& progress,
                                            std::vector<std::string>& lost) {
  for (const auto& step : earlier.steps()) {
    if (!step.byHand) continue;
    const ByHand answer = standingOf(*graph, earlier.program(step.to), options, progress);
    if (answer.standing == Standing::equal) {
      graph = withByHand(*graph, answer, step.what.substr(std::min(prefix.size(), step.what.size())));
    } else {
      lost.push_back(fmt::format("{} is not added again: {}", step.what, answer.why));
    }
  }
  return graph;
}

}  // namespace nuscope::propagate
