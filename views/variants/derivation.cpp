#include "views/variants/derivation.h"

#include <algorithm>
#include <map>

#include "views/text.h"

namespace nuscope::views {

namespace {

using nugraph::NuGraph;
using nugraph::Stage;
using nugraph::Step;
using nugraph::Variant;

constexpr std::size_t bestShown = 2;

Tint tintOf(Stage stage) {
  switch (stage) {
    case Stage::algebra:
      return Tint::algebra;
    case Stage::tiled:
      return Tint::tiled;
    case Stage::instructions:
      return Tint::instructions;
    case Stage::fused:
      return Tint::fused;
  }
  return Tint::algebra;
}

class Builder {
 public:
  Builder(const NuGraph& graph, const DerivationOptions& options) : graph_(graph), options_(options) {
    const int version = options.version < 0 ? graph.version() : options.version;
    for (const Variant& v : graph.variants()) {
      const bool wanted = options.stages.empty() || options.stages.count(v.stage) > 0 || v.id == 0;
      if (v.version <= version && wanted) present_.insert(v.id);
      if (v.parent >= 0) children_[v.parent].push_back(v.id);
    }
    version_ = version;
  }

  Derivation build() {
    choose();
    Derivation out;
    out.total = static_cast<int>(present_.size());
    out.variants.assign(shown_.begin(), shown_.end());
    out.content.leftToRight = true;
    out.content.quietLabels = true;
    out.content.betweenRanks = 62;
    bool stagesMix = false;
    for (const int id : shown_) stagesMix = stagesMix || variant(id).stage != Stage::algebra;
    for (const int id : shown_) {
      index_[id] = static_cast<int>(out.content.boxes.size());
      out.content.boxes.push_back(card(variant(id), stagesMix));
    }
    edges(out.content);
    return out;
  }

 private:
  [[nodiscard]] const Variant& variant(int id) const {
    return graph_.variants()[static_cast<std::size_t>(id)];
  }

  void show(int id) {
    for (int at = id; at >= 0; at = variant(at).parent) {
      if (present_.count(at) > 0) shown_.insert(at);
    }
  }

  /// Children with the best modelled time first, then in the order found.
  std::vector<int> ranked(std::vector<int> ids) const {
    ids.erase(std::remove_if(ids.begin(), ids.end(), [&](int id) { return present_.count(id) == 0; }),
              ids.end());
    std::stable_sort(ids.begin(), ids.end(), [&](int a, int b) { return seconds(a) < seconds(b); });
    return ids;
  }
  [[nodiscard]] double seconds(int id) const {
    const auto it = options_.modelledSeconds.find(id);
    return it == options_.modelledSeconds.end() ? 1e30 : it->second;
  }

  void choose() {
    if (options_.all) {
      shown_ = present_;
      return;
    }
    show(0);
    const int selected = present_.count(options_.selected) > 0 ? options_.selected : 0;
    show(selected);
    if (options_.selectedStep >= 0 &&
        static_cast<std::size_t>(options_.selectedStep) < graph_.steps().size()) {
      show(graph_.steps()[static_cast<std::size_t>(options_.selectedStep)].from);
    }
    for (const int parent : {0, selected}) {
      const std::vector<int> all = ranked(childrenOf(parent));
      for (std::size_t i = 0; i < all.size() && i < static_cast<std::size_t>(options_.childrenShown); ++i)
        shown_.insert(all[i]);
    }
    for (const int parent : options_.expanded) {
      if (present_.count(parent) == 0) continue;
      show(parent);
      for (const int child : childrenOf(parent)) {
        if (present_.count(child) > 0) shown_.insert(child);
      }
    }
    if (!options_.modelledSeconds.empty()) {
      const std::vector<int> best = ranked({present_.begin(), present_.end()});
      for (std::size_t i = 0; i < best.size() && i < bestShown; ++i) show(best[i]);
    }
  }

  [[nodiscard]] std::vector<int> childrenOf(int id) const {
    const auto it = children_.find(id);
    return it == children_.end() ? std::vector<int>{} : it->second;
  }

  Box card(const Variant& v, bool stagesMix) const {
    Box box;
    box.key = static_cast<std::uint64_t>(v.id);
    box.title = lastMove(v);
    box.second = QStringLiteral("variant %1").arg(v.id);
    const auto time = options_.modelledSeconds.find(v.id);
    if (time != options_.modelledSeconds.end()) box.third = duration(time->second);
    box.tint = tintOf(v.stage);
    static const QStringList letters{QStringLiteral("A"), QStringLiteral("T"), QStringLiteral("I"),
                                     QStringLiteral("F")};
    box.sign = stagesMix ? letters[static_cast<int>(v.stage)] : QStringLiteral("\u2299");
    for (const int child : childrenOf(v.id)) {
      if (present_.count(child) > 0 && shown_.count(child) == 0) ++box.hidden;
    }
    if (options_.version > 0 && v.version == options_.version) box.badge = Mark::added;
    QStringList lines{titleOf(v), box.second};
    if (v.parent >= 0) lines << QStringLiteral("derived from variant %1").arg(v.parent);
    if (!box.third.isEmpty()) lines << box.third + QStringLiteral(", modelled");
    box.description = lines.join(QStringLiteral("\n"));
    return box;
  }

  /// The title without the moves of the parent: what this card adds.
  static QString lastMove(const Variant& v) {
    const QString title = titleOf(v);
    qsizetype from = 0;
    int depth = 0;
    for (qsizetype i = 0; i + 1 < title.size(); ++i) {
      if (title[i] == QLatin1Char('(') || title[i] == QLatin1Char('[')) ++depth;
      if (title[i] == QLatin1Char(')') || title[i] == QLatin1Char(']')) --depth;
      if (depth == 0 && title[i] == QLatin1Char(',') && title[i + 1] == QLatin1Char(' ')) from = i + 2;
    }
    QString last = title.mid(from);
    if (!last.isEmpty()) last[0] = last[0].toUpper();
    return last;
  }

  /// One edge per pair; of several ways the selected one, else the first.
  void edges(GraphContent& content) const {
    std::map<std::pair<int, int>, std::vector<const Step*>> ways;
    for (const Step& step : graph_.steps()) {
      if (step.version > version_ || index_.count(step.from) == 0 || index_.count(step.to) == 0 ||
          step.from == step.to)
        continue;
      ways[{step.from, step.to}].push_back(&step);
    }
    std::set<int> path;
    if (present_.count(options_.selected) > 0) {
      for (const int id : graph_.derivation(options_.selected)) path.insert(id);
    }
    for (const auto& [pair, steps] : ways) {
      const Step* step = steps.front();
      for (const Step* way : steps) {
        if (way->id == options_.selectedStep ||
            (path.count(way->id) > 0 && step->id != options_.selectedStep))
          step = way;
      }
      // Ways back (both directions of a move are found) would draw every edge twice; the first derivation is
      // enough, unless the other one is what was asked for.
      const bool derives = variant(pair.second).parent == pair.first;
      if (!derives && step->id != options_.selectedStep && ways.count({pair.second, pair.first}) > 0)
        continue;
      if (!derives && step->id != options_.selectedStep && pair.second == 0) continue;
      Edge edge;
      edge.from = index_.at(pair.first);
      edge.to = index_.at(pair.second);
      edge.key = static_cast<std::uint64_t>(step->id) + 1;
      edge.strong = path.count(step->id) > 0;
      edge.label =
          step->moved.empty() ? qs(step->what) : qs(step->moved).replace(QLatin1Char('_'), QLatin1Char(' '));
      edge.mark = markOf(step->proof->verdict);
      edge.description =
          qs(step->what) + QStringLiteral("\n%1 over the reals, %2")
                               .arg(qs(proof::text(step->proof->verdict)), qs(step->proof->holdsFor));
      if (steps.size() > 1) edge.description += QStringLiteral("\n%1 ways").arg(steps.size());
      content.edges.push_back(std::move(edge));
    }
  }

  const NuGraph& graph_;
  const DerivationOptions& options_;
  int version_ = 0;
  std::set<int> present_, shown_;
  std::unordered_map<int, std::vector<int>> children_;
  std::unordered_map<int, int> index_;
};

}  // namespace

Derivation derivation(const NuGraph& graph, const DerivationOptions& options) {
  return Builder(graph, options).build();
}

QString titleOf(const Variant& variant) {
  QString title = qs(variant.title);
  if (!title.isEmpty()) title[0] = title[0].toUpper();
  return title;
}

}  // namespace nuscope::views
