#include "core/nugraph/nugraph.h"

#include <algorithm>
#include <unordered_set>

namespace nuscope::nugraph {
namespace {

using tensor::NodeRef;

constexpr std::string_view stageTexts[] = {"algebra", "tiled", "instructions", "fused"};

std::size_t hashRoots(const std::vector<NodeRef>& results) {
  std::size_t h = results.size();
  for (const NodeRef node : results) h = h * 1099511628211ULL + node->hash;
  return h;
}

template <class Item>
void keepUntil(std::vector<Item>& items, int version) {
  std::erase_if(items, [&](const Item& item) { return item.version > version; });
}

}  // namespace

std::string_view text(Stage stage) {
  return stageTexts[static_cast<std::size_t>(stage)];
}

std::optional<Stage> parseStage(std::string_view text) {
  for (std::size_t i = 0; i < std::size(stageTexts); ++i) {
    if (stageTexts[i] == text) return static_cast<Stage>(i);
  }
  return std::nullopt;
}

std::vector<NodeRef> difference(const std::vector<NodeRef>& from, const std::vector<NodeRef>& to) {
  const auto known = tensor::topological(from);
  const std::unordered_set<NodeRef> in(known.begin(), known.end());
  std::vector<NodeRef> result = tensor::topological(to);
  std::erase_if(result, [&](NodeRef node) { return in.contains(node); });
  return result;
}

NuGraph::NuGraph(tensor::Program root) : root_(std::make_shared<tensor::Program>(std::move(root))) {
  if (root_->results.empty()) throw InternalError("a nu-graph needs a program with a result");
  Variant variant;
  variant.title = "as written";
  variant.results = root_->results;
  byRoots_[hashRoots(variant.results)].push_back(0);
  variants_.push_back(std::move(variant));
}

std::optional<int> NuGraph::find(const std::vector<NodeRef>& results) const {
  const auto bucket = byRoots_.find(hashRoots(results));
  if (bucket == byRoots_.end()) return std::nullopt;
  for (const int id : bucket->second) {
    if (variants_[static_cast<std::size_t>(id)].results == results) return id;
  }
  return std::nullopt;
}

tensor::Program NuGraph::program(int variant) const {
  tensor::Program program = *root_;
  program.results = variants_.at(static_cast<std::size_t>(variant)).results;
  return program;
}

std::vector<int> NuGraph::derivation(int variant) const {
  std::vector<int> path;
  while (variant != 0) {
    const Variant& at = variants_.at(static_cast<std::size_t>(variant));
    const auto step = std::ranges::find_if(steps_, [&](const Step& s) {
      return s.to == variant && s.from == at.parent && s.version >= at.version;
    });
    if (step == steps_.end()) throw InternalError("a variant without the step that made it");
    path.push_back(step->id);
    variant = at.parent;
  }
  std::ranges::reverse(path);
  return path;
}

NuGraph NuGraph::at(int version) const {
  NuGraph earlier = *this;
  keepUntil(earlier.variants_, version);
  keepUntil(earlier.steps_, version);
  keepUntil(earlier.refused_, version);
  earlier.version_ = std::min(version_, std::max(version, 0));
  if (earlier.version_ < version_) earlier.cuts_.clear();  // limits speak of the whole run
  for (auto& [hash, ids] : earlier.byRoots_) {
    std::erase_if(ids, [&](int id) { return id >= std::ssize(earlier.variants_); });
  }
  return earlier;
}

NuGraph::Counts NuGraph::proofs() const {
  Counts counts;
  counts.proved = static_cast<int>(steps_.size());
  for (const Refused& refused : refused_) {
    ++(refused.proof->verdict == proof::Verdict::refuted ? counts.refuted : counts.unknown);
  }
  return counts;
}

NuGraph::Added NuGraph::add(Step step, std::vector<NodeRef> results, Stage stage, std::string title) {
  if (!step.proof || step.proof->verdict != proof::Verdict::proved) {
    throw InternalError("a step of the nu-graph without a proof: " + step.what);
  }
  if (step.from < 0 || step.from >= std::ssize(variants_)) throw InternalError("a step from no variant");
  if (results.size() != root_->results.size())
    throw InternalError("a variant with another number of results");
  Added added;
  ++version_;
  if (const auto known = find(results)) {
    added.variant = *known;
  } else {
    Variant variant;
    variant.id = static_cast<int>(variants_.size());
    variant.stage = stage;
    variant.parent = step.from;
    variant.version = version_;
    variant.title = std::move(title);
    variant.results = results;
    added = {variant.id, true};
    byRoots_[hashRoots(results)].push_back(variant.id);
    variants_.push_back(std::move(variant));
  }
  const auto& before = variants_[static_cast<std::size_t>(step.from)].results;
  step.id = static_cast<int>(steps_.size());
  step.to = added.variant;
  step.version = version_;
  step.removed = difference(results, before);
  step.added = difference(before, results);
  steps_.push_back(std::move(step));
  return added;
}

int NuGraph::add(Refused refused) {
  if (!refused.proof || refused.proof->verdict == proof::Verdict::proved) {
    throw InternalError("a refused move without a reason: " + refused.what);
  }
  if (refused.from < 0 || refused.from >= std::ssize(variants_))
    throw InternalError("a refused move from no variant");
  const auto& before = variants_[static_cast<std::size_t>(refused.from)].results;
  refused.id = static_cast<int>(refused_.size());
  refused.version = ++version_;
  refused.removed = difference(refused.results, before);
  refused.added = difference(before, refused.results);
  refused_.push_back(std::move(refused));
  return refused_.back().id;
}

void NuGraph::addCut(std::string words) {
  if (std::ranges::find(cuts_, words) == cuts_.end()) cuts_.push_back(std::move(words));
}

}  // namespace nuscope::nugraph
