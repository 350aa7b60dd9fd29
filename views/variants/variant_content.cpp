#include "views/variants/variant_content.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "core/base/exact.h"
#include "views/text.h"

namespace nuscope::views {

namespace {

using tensor::NodeRef;
using tensor::Op;
using tensor::OpKind;

const QString hole = QStringLiteral("\u00B7");

bool isConstant(NodeRef node) {
  if (node->op == Op::constant) return true;
  const bool layout = tensor::kind(node->op) == OpKind::layout || node->op == Op::cast;
  return layout && !node->operands.empty() &&
         std::all_of(node->operands.begin(), node->operands.end(), isConstant);
}

QString constantText(NodeRef node) {
  while (node->op != Op::constant) node = node->operands[0];
  if (node->attributes.infinity != 0)
    return node->attributes.infinity < 0 ? QStringLiteral("\u2212\u221E") : QStringLiteral("\u221E");
  return qs(decimalText(node->attributes.value));
}

/// Operands that are cards of their own: distinct, without constants.
std::vector<NodeRef> externals(NodeRef node) {
  std::vector<NodeRef> result;
  for (const NodeRef operand : node->operands) {
    if (!isConstant(operand) && std::find(result.begin(), result.end(), operand) == result.end())
      result.push_back(operand);
  }
  return result;
}

QString word(Op op) {
  switch (op) {
    case Op::logicalNot:
      return QStringLiteral("not");
    case Op::floorDivide:
      return QStringLiteral("floor divide");
    case Op::broadcastTo:
      return QStringLiteral("broadcast");
    case Op::expandDims:
      return QStringLiteral("new axis");
    case Op::dimValue:
      return QStringLiteral("size");
    case Op::product:
      return QStringLiteral("product");
    case Op::loopResult:
      return QStringLiteral("loop result");
    case Op::loopState:
      return QStringLiteral("loop state");
    default: {
      QString text = qs(tensor::name(op));
      return text.replace(QLatin1Char('_'), QLatin1Char(' '));
    }
  }
}

/// 0: needs brackets nowhere; larger binds looser.
struct Written {
  QString text;
  int looseness = 0;
};

/// The card's expression: `absorbed` nodes are written in place, everything else is a hole.
class CardText {
 public:
  explicit CardText(const std::unordered_set<NodeRef>& absorbed) : absorbed_(absorbed) {}

  [[nodiscard]] QString of(NodeRef node) const {
    if (absorbed_.empty() && externals(node).size() != 1) return bare(node);
    if (absorbed_.empty() && !hasConstant(node)) return square(node) ? QStringLiteral("square") : bare(node);
    return write(node).text;
  }

 private:
  static bool hasConstant(NodeRef node) {
    return std::any_of(node->operands.begin(), node->operands.end(), isConstant);
  }
  static bool square(NodeRef node) {
    return node->op == Op::multiply && node->operands[0] == node->operands[1];
  }
  static QString bare(NodeRef node) {
    if (node->op == Op::einsum) return QStringLiteral("einsum ") + qs(node->attributes.name);
    if (node->op == Op::power) return QStringLiteral("power %1").arg(node->attributes.index);
    if (node->op == Op::cast) return QStringLiteral("cast to ") + qs(tensor::text(node->dtype));
    return word(node->op);
  }
  [[nodiscard]] Written operand(NodeRef node) const {
    if (isConstant(node)) return {constantText(node), 0};
    if (absorbed_.count(node) > 0) return write(node);
    return {hole, 0};
  }
  static QString bracketed(const Written& w, int atMost) {
    return w.looseness > atMost ? QStringLiteral("(%1)").arg(w.text) : w.text;
  }

  [[nodiscard]] Written write(NodeRef node) const {
    const auto at = [&](std::size_t i) { return operand(node->operands[i]); };
    switch (node->op) {
      case Op::add:
        return {at(0).text + QStringLiteral(" + ") + bracketed(at(1), 2), 3};
      case Op::subtract:
        return {at(0).text + QStringLiteral(" \u2212 ") + bracketed(at(1), 2), 3};
      case Op::multiply:
        if (square(node)) return {bracketed(at(0), 0) + QStringLiteral("\u00B2"), 1};
        return {bracketed(at(0), 2) + QStringLiteral(" \u00D7 ") + bracketed(at(1), 2), 2};
      case Op::divide:
        return {bracketed(at(0), 2) + QStringLiteral(" / ") + bracketed(at(1), 1), 2};
      case Op::negate:
        return {QStringLiteral("\u2212") + bracketed(at(0), 1), 2};
      case Op::power:
        return {bracketed(at(0), 0) + QStringLiteral("^%1").arg(node->attributes.index), 1};
      case Op::abs:
        return {QStringLiteral("|%1|").arg(at(0).text), 0};
      case Op::sum:
      case Op::mean:
      case Op::max:
      case Op::min:
      case Op::product:
      case Op::all:
      case Op::cumsum:
        return {word(node->op) + QStringLiteral(" of ") + at(0).text, 4};
      default:
        break;
    }
    if (tensor::isComparison(node->op)) {
      return {bracketed(at(0), 3) + QLatin1Char(' ') + qs(tensor::symbol(node->op)) + QLatin1Char(' ') +
                  bracketed(at(1), 3),
              4};
    }
    QStringList parts;
    for (std::size_t i = 0; i < node->operands.size(); ++i) parts << at(i).text;
    return {bare(node) + QStringLiteral("(%1)").arg(parts.join(QStringLiteral(", "))), 0};
  }

  const std::unordered_set<NodeRef>& absorbed_;
};

QString dimText(const tensor::Dim& dim) {
  return qs(dim.text());
}

constexpr std::size_t longestChain = 4;

bool absorbable(NodeRef node) {
  return tensor::kind(node->op) == OpKind::elementwise && node->op != Op::where && node->op != Op::cast;
}
bool absorbs(NodeRef node) {
  const OpKind kind = tensor::kind(node->op);
  return (kind == OpKind::elementwise && node->op != Op::where && node->op != Op::cast) ||
         kind == OpKind::reduce;
}

class Builder {
 public:
  Builder(const tensor::Program& context, const std::vector<NodeRef>& results,
          const std::vector<NodeRef>& parent, const Changes& changes, const VariantOptions& options)
      : context_(context), results_(results), parent_(parent), changes_(changes), options_(options) {}

  VariantGraph build() {
    nodes_ = tensor::topological(results_);
    const std::size_t own = nodes_.size();
    present_.insert(nodes_.begin(), nodes_.end());
    if (options_.ghosts) {
      for (const NodeRef node : tensor::topological(parent_)) {
        if (changeOf(node) == Change::removed && present_.insert(node).second) nodes_.push_back(node);
      }
    }
    std::vector<NodeRef> roots = results_;
    roots.insert(roots.end(), nodes_.begin() + static_cast<std::ptrdiff_t>(own), nodes_.end());
    uses_ = tensor::useCounts(roots);
    if (!options_.everyOperator) absorb();
    cards();
    edges();
    return std::move(out_);
  }

 private:
  [[nodiscard]] Change changeOf(NodeRef node) const {
    const auto it = changes_.of.find(node);
    return it == changes_.of.end() ? Change::kept : it->second;
  }
  [[nodiscard]] bool isResult(NodeRef node) const {
    return std::find(results_.begin(), results_.end(), node) != results_.end();
  }

  /// Users before operands, so that a chain grows from its last operator.
  void absorb() {
    for (auto it = nodes_.rbegin(); it != nodes_.rend(); ++it) {
      const NodeRef head = *it;
      if (into_.count(head) > 0 || !absorbs(head)) continue;
      NodeRef last = head;
      while (inside_[head].size() < longestChain) {
        const auto outer = externals(last);
        if (outer.size() != 1) break;
        const NodeRef next = outer[0];
        const auto use = uses_.find(next);
        const auto times = std::count(last->operands.begin(), last->operands.end(), next);
        const bool onlyHere = use != uses_.end() && use->second == times && !isResult(next);
        if (!onlyHere || !absorbable(next) || externals(next).size() != 1 ||
            changeOf(next) != changeOf(head) || present_.count(next) == 0)
          break;
        if (tensor::kind(next->op) != OpKind::elementwise || next->shape != last->operands[0]->shape) break;
        into_[next] = head;
        inside_[head].insert(next);
        last = next;
      }
    }
  }

  [[nodiscard]] NodeRef cardNode(NodeRef node) const {
    const auto it = into_.find(node);
    return it == into_.end() ? node : it->second;
  }

  void cards() {
    std::vector<NodeRef> shown;
    for (const NodeRef node : nodes_) {
      if (!isConstant(node) || isResult(node)) {
        if (into_.count(node) == 0) shown.push_back(node);
      }
    }
    if (shown.size() > options_.mostCards) {
      out_.content.notice = QStringLiteral("%1 of %2 operators shown, the last ones")
                                .arg(grouped(static_cast<std::int64_t>(options_.mostCards)),
                                     grouped(static_cast<std::int64_t>(shown.size())));
      shown.erase(shown.begin(), shown.end() - static_cast<std::ptrdiff_t>(options_.mostCards));
    }
    for (const NodeRef node : shown) {
      index_[node] = static_cast<int>(out_.content.boxes.size());
      Box box;
      box.key = keyOf(node);
      if (node->op == Op::input) {
        box.title = qs(node->attributes.name);
      } else if (node->op == Op::constant) {
        box.title = constantText(node);
      } else {
        box.title = CardText(inside_[node]).of(node);
      }
      box.second = qs(tensor::typeText(node->dtype, node->shape));
      box.third = detailOf(context_, node, results_);
      box.sign = signOf(node->op);
      box.tint = tintOf(node->op);
      const Change change = changeOf(node);
      box.badge = markOf(change);
      box.ghost = change == Change::removed;
      box.description = qs(tensor::describe(node));
      if (change != Change::kept)
        box.description += QLatin1Char('\n') + wordOf(box.badge) + QStringLiteral(" against the parent");
      out_.content.boxes.push_back(std::move(box));
      out_.nodeOf[keyOf(node)] = node;
    }
    for (const NodeRef node : nodes_) out_.cardOf[node] = keyOf(cardNode(node));
  }

  void edges() {
    std::set<std::pair<int, int>> seen;
    for (const NodeRef node : nodes_) {
      const auto to = index_.find(cardNode(node));
      if (to == index_.end()) continue;
      const auto connect = [&](NodeRef operand) {
        if (isConstant(operand) || cardNode(operand) == cardNode(node)) return;
        const auto from = index_.find(cardNode(operand));
        if (from == index_.end() || !seen.emplace(from->second, to->second).second) return;
        Edge edge;
        edge.from = from->second;
        edge.to = to->second;
        const Change a = changeOf(operand);
        const Change b = changeOf(node);
        edge.ghost = a == Change::removed || b == Change::removed;
        edge.strong = !edge.ghost &&
                      (a == Change::added || a == Change::moved || b == Change::added || b == Change::moved);
        out_.content.edges.push_back(edge);
      };
      for (const NodeRef operand : node->operands) connect(operand);
      for (const NodeRef body : node->attributes.body) connect(body);
    }
  }

  const tensor::Program& context_;
  const std::vector<NodeRef>& results_;
  const std::vector<NodeRef>& parent_;
  const Changes& changes_;
  const VariantOptions& options_;
  std::vector<NodeRef> nodes_;
  std::unordered_set<NodeRef> present_;
  std::unordered_map<NodeRef, int> uses_;
  std::unordered_map<NodeRef, NodeRef> into_;
  std::unordered_map<NodeRef, std::unordered_set<NodeRef>> inside_;
  std::unordered_map<NodeRef, int> index_;
  VariantGraph out_;
};

bool sameOperator(NodeRef a, NodeRef b) {
  return a->op == b->op && a->attributes == b->attributes;
}

}  // namespace

QString Changes::text() const {
  QStringList parts;
  if (moved > 0) parts << QStringLiteral("%1 moved").arg(moved);
  if (added > 0) parts << QStringLiteral("%1 added").arg(added);
  if (removed > 0) parts << QStringLiteral("%1 removed").arg(removed);
  return parts.join(QStringLiteral(", "));
}

Changes compareVariants(const std::vector<NodeRef>& parent, const std::vector<NodeRef>& variant,
                        const std::string& movedOperator) {
  const auto plain = [](std::vector<NodeRef> nodes) {
    nodes.erase(std::remove_if(nodes.begin(), nodes.end(), isConstant), nodes.end());
    return nodes;
  };
  std::vector<NodeRef> removed = plain(nugraph::difference(variant, parent));
  std::vector<NodeRef> added = plain(nugraph::difference(parent, variant));
  Changes changes;
  const auto pair = [&](const auto& matches, const auto& found) {
    for (auto it = added.begin(); it != added.end();) {
      const auto other =
          std::find_if(removed.begin(), removed.end(), [&](NodeRef r) { return matches(*it, r); });
      if (other == removed.end()) {
        ++it;
        continue;
      }
      found(*it);
      removed.erase(other);
      it = added.erase(it);
    }
  };
  const auto isMoved = [&](NodeRef node) {
    return !movedOperator.empty() && tensor::name(node->op) == movedOperator;
  };
  const auto move = [&](NodeRef node) {
    changes.of[node] = Change::moved;
    ++changes.moved;
  };
  pair([&](NodeRef a, NodeRef r) { return isMoved(a) && sameOperator(a, r); }, move);
  pair([&](NodeRef a,
           NodeRef r) { return sameOperator(a, r) && a->shape == r->shape && a->dtype == r->dtype; },
       [](NodeRef) {});
  pair([&](NodeRef a, NodeRef r) { return a->op == r->op; }, move);
  for (const NodeRef node : added) changes.of[node] = Change::added;
  for (const NodeRef node : removed) changes.of[node] = Change::removed;
  changes.added = static_cast<int>(added.size());
  changes.removed = static_cast<int>(removed.size());
  return changes;
}

VariantGraph variantGraph(const tensor::Program& context, const std::vector<NodeRef>& results,
                          const std::vector<NodeRef>& parent, const Changes& changes,
                          const VariantOptions& options) {
  return Builder(context, results, parent, changes, options).build();
}

Tint tintOf(Op op) {
  switch (tensor::kind(op)) {
    case OpKind::leaf:
      return Tint::input;
    case OpKind::elementwise:
      return Tint::elementwise;
    case OpKind::reduce:
    case OpKind::scan:
    case OpKind::loop:
      return Tint::fold;
    case OpKind::contract:
      return Tint::contract;
    case OpKind::layout:
      return Tint::layout;
  }
  return Tint::elementwise;
}

QString signOf(Op op) {
  switch (tensor::kind(op)) {
    case OpKind::leaf:
      return op == Op::input ? QStringLiteral("\u2192") : QStringLiteral("n");
    case OpKind::elementwise:
      return QStringLiteral("\u2299");
    case OpKind::reduce:
    case OpKind::scan:
      return op == Op::max || op == Op::min ? QStringLiteral("\u2228") : QStringLiteral("\u03A3");
    case OpKind::loop:
      return QStringLiteral("\u21BB");
    case OpKind::contract:
      return QStringLiteral("@");
    case OpKind::layout:
      return QStringLiteral("\u21C4");
  }
  return {};
}

QString detailOf(const tensor::Program& context, NodeRef node, const std::vector<NodeRef>& results) {
  const auto result = std::find(results.begin(), results.end(), node);
  if (result != results.end())
    return results.size() == 1 ? QStringLiteral("result")
                               : QStringLiteral("result %1").arg(result - results.begin() + 1);
  switch (tensor::kind(node->op)) {
    case OpKind::reduce:
    case OpKind::scan: {
      QStringList over;
      for (const int axis : node->attributes.axes)
        over << dimText(node->operands[0]->shape[static_cast<std::size_t>(axis)]);
      return QStringLiteral("over ") + over.join(QStringLiteral(", "));
    }
    case OpKind::contract:
      if (node->op == Op::matmul) return QStringLiteral("over ") + dimText(node->operands[0]->shape.back());
      break;
    case OpKind::loop:
      if (node->op == Op::loop) return QStringLiteral("over ") + dimText(node->attributes.shape.at(0));
      break;
    case OpKind::layout:
      if (node->op == Op::slice) {
        QStringList parts;
        for (std::size_t i = 0; i < node->attributes.starts.size(); ++i) {
          const bool whole = node->attributes.starts[i] == tensor::Dim(0) &&
                             node->attributes.stops[i] == node->operands[0]->shape[i];
          parts << (whole ? QStringLiteral(":")
                          : dimText(node->attributes.starts[i]) + QLatin1Char(':') +
                                dimText(node->attributes.stops[i]));
        }
        return QStringLiteral("[%1]").arg(parts.join(QStringLiteral(", ")));
      }
      break;
    default:
      break;
  }
  const auto variable = context.variables.find(node);
  if (variable != context.variables.end() && node->op != Op::input) return qs(variable->second);
  return {};
}

Mark markOf(Change change) {
  switch (change) {
    case Change::kept:
      return Mark::none;
    case Change::added:
      return Mark::added;
    case Change::removed:
      return Mark::removed;
    case Change::moved:
      return Mark::moved;
  }
  return Mark::none;
}

}  // namespace nuscope::views
