#include "core/propagate/exploration.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <map>
#include <set>
#include <thread>
#include <unordered_set>
#include <utility>

#include "core/propagate/skeleton.h"
#include "core/propagate/tidy.h"

namespace nuscope::propagate {
namespace {

using nugraph::NuGraph;
using proof::Verdict;
using tensor::NodeRef;
using tensor::OpKind;
using Clock = std::chrono::steady_clock;

constexpr std::size_t batchSize = 32;  ///< attempts whose proofs may run side by side
constexpr std::size_t titleLength = 80;

int countOperators(const std::vector<NodeRef>& results) {
  const auto nodes = tensor::topologicalOutsideLoops(results);
  return static_cast<int>(
      std::ranges::count_if(nodes, [](NodeRef node) { return tensor::kind(node->op) != OpKind::leaf; }));
}

/// A crude measure of what a graph costs, by the axes that its operators run over: what adds to it is tried
/// later.
int weight(const std::vector<NodeRef>& results, const tensor::DimFacts& facts) {
  int sum = 0;
  for (const NodeRef node : tensor::topologicalOutsideLoops(results)) {
    const auto kind = tensor::kind(node->op);
    if (kind == OpKind::leaf) continue;
    ++sum;
    if (kind == OpKind::layout) continue;
    const auto real = [&](const tensor::Dim& extent) { return facts.equal(extent, 1) ? 0 : 1; };
    for (const auto& extent : node->shape) sum += real(extent);
    if (kind == OpKind::reduce) sum += static_cast<int>(node->attributes.axes.size());
    if (kind == OpKind::contract) sum += 1;
  }
  return sum;
}

/// A move with the graph it leads to.
struct Try {
  Move move;
  std::vector<NodeRef> to;
  int growth = 0;                  ///< in weight, against the variant it comes from
  std::optional<Outcome> outcome;  ///< known from an earlier variant, or decided now
  std::unique_ptr<Try> second;     ///< the move's second guess

  [[nodiscard]] bool proved() const { return outcome && outcome->proof->verdict == Verdict::proved; }
  [[nodiscard]] bool settled() const { return outcome && (proved() || !second || second->outcome); }
};

class Exploration {
 public:
  Exploration(const Procedures& procedures, const tensor::Program& program, const ExploreOptions& options,
              const Progress& progress, const OnChange& onChange)
      : procedures_(procedures),
        options_(options),
        progress_(progress),
        onChange_(onChange),
        graph_(program),
        skeletons_(graph_.root().facts),
        started_(Clock::now()),
        limit_(countOperators(program.results) + options.maxGrowth) {
    queue_.emplace(0, 0);
    briefs_.emplace_back();
    orders_.insert(skeletons_.borders(program.results));
  }

  std::shared_ptr<const NuGraph> run() {
    announce(true);
    while (!queue_.empty() && !full() && !late()) {
      const auto [level, variant] = *queue_.begin();
      queue_.erase(queue_.begin());
      expand(variant, level);
    }
    sayCuts();
    announce(true);
    return std::make_shared<const NuGraph>(graph_);
  }

 private:
  using Key = std::pair<std::vector<NodeRef>, std::vector<NodeRef>>;

  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(Clock::now() - started_).count();
  }
  [[nodiscard]] bool late() const { return seconds() > options_.secondsLimit; }
  [[nodiscard]] bool full() const {
    return std::ssize(graph_.variants()) >= options_.maxVariants ||
           std::ssize(graph_.steps()) >= options_.maxSteps || attempts_ >= options_.maxAttempts;
  }

  void announce(bool always) {
    if (!onChange_) return;
    const double now = seconds();
    if (!always && now - announced_ < 0.1) return;
    announced_ = now;
    onChange_(std::make_shared<const NuGraph>(graph_));
  }

  [[nodiscard]] std::optional<std::vector<NodeRef>> replaced(const Move& move,
                                                             const std::vector<NodeRef>& from) const {
    std::unordered_map<NodeRef, NodeRef> replacements;
    for (std::size_t i = 0; i < move.before.size(); ++i) replacements.emplace(move.before[i], move.after[i]);
    std::vector<NodeRef> to;
    for (const NodeRef root : from) {
      auto made = tensor::replaceNodes(*graph_.root().store, root, replacements, graph_.root().facts);
      if (!made) return std::nullopt;
      to.push_back(*made);
    }
    return to;
  }

  /// The graph with the move made and tidied; the move becomes what is to be proved for that.
  std::optional<std::vector<NodeRef>> made(Move& move, const std::vector<NodeRef>& from) const {
    Builder build(*graph_.root().store, graph_.root().facts);
    move.after = tidied(build, move.after);
    const auto plain = replaced(move, from);
    if (!plain || *plain == from) return std::nullopt;
    auto tidy = tidied(build, *plain);
    if (tidy == from) return std::nullopt;
    if (tidy != *plain) narrow(move, from, tidy);
    return tidy;
  }

  /// The rewriting that leads from one graph to the other, as low as one operand alone differs.
  void narrow(Move& move, const std::vector<NodeRef>& from, const std::vector<NodeRef>& to) const {
    const std::vector<NodeRef> moved = std::move(move.before);
    move.before.clear();
    move.after.clear();
    for (std::size_t i = 0; i < from.size(); ++i) {
      NodeRef a = from[i];
      NodeRef b = to[i];
      while (a != b && std::ranges::find(moved, a) == moved.end()) {
        const bool alike =
            a->op == b->op && a->attributes == b->attributes && a->operands.size() == b->operands.size();
        if (!alike) break;
        std::vector<std::size_t> differing;
        for (std::size_t slot = 0; slot < a->operands.size(); ++slot) {
          if (a->operands[slot] != b->operands[slot]) differing.push_back(slot);
        }
        if (differing.size() != 1) break;
        const NodeRef innerA = a->operands[differing[0]];
        const NodeRef innerB = b->operands[differing[0]];
        if (innerA->dtype != innerB->dtype || !graph_.root().facts.equal(innerA->shape, innerB->shape)) break;
        a = innerA;
        b = innerB;
      }
      if (a == b || std::ranges::find(move.before, a) != move.before.end()) continue;
      move.before.push_back(a);
      move.after.push_back(b);
    }
  }

  /// The second guess of a move, as a move of its own; nobody learns from its refusal.
  std::unique_ptr<Try> secondOf(const Move& move, const std::vector<NodeRef>& from) const {
    if (move.otherwise.empty()) return nullptr;
    auto second = std::make_unique<Try>();
    second->move = move;
    second->move.after = std::exchange(second->move.otherwise, {});
    second->move.quiet = true;
    auto to = made(second->move, from);
    if (!to || countOperators(*to) > limit_) return nullptr;
    second->to = *std::move(to);
    second->growth = growth(from, second->to);
    return second;
  }

  [[nodiscard]] int growth(const std::vector<NodeRef>& from, const std::vector<NodeRef>& to) const {
    return std::max(0, weight(to, graph_.root().facts) - weight(from, graph_.root().facts));
  }

  std::vector<Try> triesOf(const std::vector<NodeRef>& from) {
    std::vector<Try> tries;
    const int operators = countOperators(from);
    const auto reads = skeletons_.reads(from);
    for (Move& move : movesOf(graph_.root(), from)) {
      progress_.check();
      auto second = secondOf(move, from);
      auto to = made(move, from);
      if (!to) continue;
      if (countOperators(*to) > limit_) {
        ++grown_;
        continue;
      }
      if (onlyReordered(*to)) {
        ++reordered_;
        continue;
      }
      if (countOperators(*to) > operators && skeletons_.reads(*to) == reads) {
        ++enlarged_;
        continue;
      }
      const int growing = growth(from, *to);
      tries.push_back({std::move(move), std::move(*to), growing, std::nullopt, std::move(second)});
    }
    return tries;
  }

  /// Another variant has the same loops and differs only in the order of elementwise operators inside of one.
  bool onlyReordered(const std::vector<NodeRef>& to) {
    return !graph_.find(to) && orders_.contains(skeletons_.borders(to));
  }

  void expand(int variant, int level) {
    const auto from = graph_.variants()[static_cast<std::size_t>(variant)].results;
    auto tries = triesOf(from);
    refusedHere_ = 0;
    for (std::size_t begin = 0; begin < tries.size(); begin += batchSize) {
      if (full() || late()) {
        notTried_ += static_cast<int>(tries.size() - begin);
        return;
      }
      const auto batch = std::span(tries).subspan(begin, std::min(batchSize, tries.size() - begin));
      decide(batch, from);
      for (Try& tried : batch) commit(variant, level, tried);
      progress_.report(static_cast<double>(graph_.variants().size()) / options_.maxVariants,
                       fmt::format("{} variants, {} steps, {} refused", graph_.variants().size(),
                                   graph_.steps().size(), graph_.refused().size()));
      announce(false);
    }
  }

  /// Fills in all outcomes; those not known from before are decided by `threads` threads.
  void decide(std::span<Try> batch, const std::vector<NodeRef>& from) {
    std::vector<Try*> open;
    for (Try& tried : batch) {
      recall(tried);
      if (tried.second) recall(*tried.second);
      if (!tried.settled()) open.push_back(&tried);
    }
    std::atomic<std::size_t> next{0};
    std::atomic<int> attempts{0};
    std::mutex mutex;
    std::exception_ptr failure;
    const auto work = [&] {
      while (true) {
        const std::size_t i = next++;
        if (i >= open.size()) return;
        try {
          attempts += settle(*open[i], from);
        } catch (...) {
          const std::lock_guard lock(mutex);
          if (!failure) failure = std::current_exception();
          next = open.size();
        }
      }
    };
    {
      std::vector<std::jthread> threads;
      const auto count =
          std::min<std::size_t>(static_cast<std::size_t>(std::max(options_.threads, 1)), open.size());
      for (std::size_t i = 1; i < count; ++i) threads.emplace_back(work);
      work();
    }
    if (failure) std::rethrow_exception(failure);
    attempts_ += attempts;
  }

  void recall(Try& tried) const {
    const auto known = known_.find(Key{tried.move.before, tried.move.after});
    if (known != known_.end()) tried.outcome = known->second;
  }

  /// Decides a move, and its second guess where the first is not proved. Returns the number of attempts.
  int settle(Try& tried, const std::vector<NodeRef>& from) const {
    AttemptOptions options;
    options.seed = options_.seed;
    options.secondsWhole = options_.secondsPerProof;
    options.solvers = options_.solvers;
    const Progress quiet(progress_.stopToken());
    int attempts = 0;
    for (Try* one = &tried; one != nullptr && !tried.settled(); one = tried.second.get()) {
      if (one->outcome) continue;
      one->outcome = attempt(graph_.root(), one->move, from, one->to, options, procedures_, quiet);
      ++attempts;
    }
    return attempts;
  }

  void commit(int variant, int level, Try& tried) {
    const bool known = !known_.emplace(Key{tried.move.before, tried.move.after}, *tried.outcome).second;
    if (!tried.proved() && tried.second) {
      const bool better = tried.second->proved();
      if (better) return commit(variant, level, *tried.second);
      known_.emplace(Key{tried.second->move.before, tried.second->move.after}, *tried.second->outcome);
    }
    const Outcome& outcome = *tried.outcome;
    if (!tried.proved()) {
      if (!known && !tried.move.quiet) refuse(variant, tried, outcome);
      return;
    }
    // Only a local proof speaks of every variant.
    if (known && !outcome.local) return;
    if (onlyReordered(tried.to)) {
      ++reordered_;
      return;
    }
    if (!steps_.emplace(variant, tried.to).second) return;
    if (!graph_.find(tried.to) && full()) {
      ++notTried_;
      return;
    }
    nugraph::Step step;
    step.from = variant;
    step.what = tried.move.what;
    step.moved = tried.move.moved;
    step.past = tried.move.past;
    step.proof = outcome.proof;
    const auto added =
        graph_.add(std::move(step), tried.to, nugraph::Stage::algebra, title(variant, tried.move));
    if (!added.isNew) return;
    orders_.insert(skeletons_.borders(tried.to));
    queue_.emplace(level + static_cast<int>(tried.move.cost) + tried.growth, added.variant);
  }

  void refuse(int variant, Try& tried, const Outcome& outcome) {
    if (outcome.proof->cutByTime) ++cutByTime_;
    // The same sentence of another variant teaches nothing new.
    if (!refusedWords_.emplace(tried.move.what, outcome.proof->verdict).second) return;
    if (refusedHere_ >= options_.maxRefusedPerVariant) {
      ++refusedNotKept_;
      return;
    }
    ++refusedHere_;
    nugraph::Refused refused;
    refused.from = variant;
    refused.what = tried.move.what;
    refused.moved = tried.move.moved;
    refused.past = tried.move.past;
    refused.results = tried.to;
    refused.proof = outcome.proof;
    graph_.add(std::move(refused));
  }

  /// What the derivation of a variant did, last things last; remembers it for the variant to come.
  std::string title(int parent, const Move& move) {
    auto briefs = briefs_[static_cast<std::size_t>(parent)];
    if (!move.brief.empty()) briefs.push_back(move.brief);
    std::string title = briefs.empty() ? move.what : briefs.back();
    for (std::size_t i = briefs.size() - std::min<std::size_t>(briefs.size(), 1); i-- > 0;) {
      if (title.size() + briefs[i].size() > titleLength) {
        title = "..., " + title;
        break;
      }
      title = briefs[i] + ", " + title;
    }
    briefs_.resize(std::max(briefs_.size(), graph_.variants().size() + 1));
    briefs_[graph_.variants().size()] = std::move(briefs);
    return title;
  }

  void sayCuts() {
    const auto variants = std::ssize(graph_.variants());
    if (variants >= options_.maxVariants) graph_.addCut(fmt::format("stopped at {} variants", variants));
    if (std::ssize(graph_.steps()) >= options_.maxSteps)
      graph_.addCut(fmt::format("stopped at {} steps", graph_.steps().size()));
    if (attempts_ >= options_.maxAttempts) graph_.addCut(fmt::format("stopped after {} attempts", attempts_));
    if (late())
      graph_.addCut(
          fmt::format("cut by time after {:g} s; another run may find more", options_.secondsLimit));
    if (!queue_.empty()) graph_.addCut(fmt::format("{} variants were not explored further", queue_.size()));
    if (notTried_ > 0) graph_.addCut(fmt::format("{} moves of the last variant were not tried", notTried_));
    if (grown_ > 0) {
      graph_.addCut(
          fmt::format("{} moves would have made a graph of more than {} operators", grown_, limit_));
    }
    if (reordered_ > 0) {
      graph_.addCut(
          fmt::format("{} moves would only have changed the order of elementwise operators inside of a loop",
                      reordered_));
    }
    if (enlarged_ > 0) {
      graph_.addCut(fmt::format("{} moves would only have added elementwise operators to a loop", enlarged_));
    }
    if (refusedNotKept_ > 0) {
      graph_.addCut(fmt::format("{} more refused moves were not kept ({} are kept per variant)",
                                refusedNotKept_, options_.maxRefusedPerVariant));
    }
    if (cutByTime_ > 0) graph_.addCut(fmt::format("{} proofs were cut by time", cutByTime_));
  }

  const Procedures& procedures_;
  const ExploreOptions& options_;
  const Progress& progress_;
  const OnChange& onChange_;
  NuGraph graph_;
  Skeletons skeletons_;
  std::set<std::vector<int>> orders_;  ///< skeletons of the variants
  Clock::time_point started_;
  int limit_;
  double announced_ = 0;
  std::set<std::pair<int, int>> queue_;           ///< (level, variant)
  std::vector<std::vector<std::string>> briefs_;  ///< by variant: what its derivation did, in short
  std::set<std::pair<std::string, Verdict>> refusedWords_;
  std::map<Key, Outcome> known_;
  std::set<std::pair<int, std::vector<NodeRef>>> steps_;
  int attempts_ = 0;
  int notTried_ = 0;
  int grown_ = 0;
  int reordered_ = 0;
  int enlarged_ = 0;
  int refusedHere_ = 0;
  int refusedNotKept_ = 0;
  int cutByTime_ = 0;
};

}  // namespace

std::shared_ptr<const NuGraph> exploreWith(const Procedures& procedures, const tensor::Program& program,
                                           const ExploreOptions& options, const Progress& progress,
                                           const OnChange& onChange) {
  return Exploration(procedures, program, options, progress, onChange).run();
}

}  // namespace nuscope::propagate
