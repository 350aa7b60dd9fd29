#include "core/semantics/formula.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "core/semantics/dependence.h"
#include "core/semantics/formula_build.h"
#include "core/semantics/granular.h"

namespace nuscope::semantics {
namespace {

using tensor::Program;

/// An index: an expression in dimensions and index names, or (a subscript that is data) a formula.
struct IndexTerm {
  Dim dim;
  FormulaRef data;
};

class Writer {
 public:
  using Int = IndexTerm;
  using Value = FormulaRef;

  Writer(const Program& context, NodeRef root, const FormulaOptions& options)
      : context_(context), root_(root), options_(options), facts_(context.facts) {
    for (const auto& parameter : context.parameters) reserved_.insert(parameter.name);
    for (const auto& [node, name] : context.variables) reserved_.insert(name);
    for (const auto& name : context.dimensions) reserved_.insert(name);
    chooseCuts();
  }

  Formulas write() {
    result_.result = define(root_, resultName());
    for (std::size_t i = 0; i < pending_.size(); ++i) {  // definitions ask for further ones
      const auto [node, loop] = pending_[i];
      currentLoop_ = loop;
      if (node->op == Op::loop) {
        defineLoop(*node);
      } else {
        definitions_.emplace(node->id * 4, define(node, nameOf(node)));
      }
    }
    for (auto& [order, definition] : definitions_) result_.where.push_back(std::move(definition));
    return std::move(result_);
  }

  // The domain of granular.h.
  Int dim(const Dim& value) const { return {value, nullptr}; }
  Int plus(const Int& a, const Int& b) const { return combine(a, b, '+'); }
  Int minus(const Int& a, const Int& b) const { return combine(a, b, '-'); }
  Int times(const Int& a, const Int& b) const { return combine(a, b, '*'); }
  Int quotient(const Int& a, const Int& b) const {
    if (a.data || b.data) {
      return {0, piece::make(piece::Kind::floor, {}, {piece::divide(written(a), written(b))})};
    }
    return {withoutSmallQuotients(tensor::floorDiv(a.dim, b.dim)), nullptr};
  }

  FormulaRef element(NodeRef operand, std::span<const Int> index) {
    FormulaRef piece;
    if (operand->op == Op::loopResult) {
      piece = granular(*this, *operand, index, facts_);
    } else if (named(operand)) {
      need(operand);
      piece = piece::subscript(piece::symbol(nameOf(operand)), properIndices(*operand, index));
    } else {
      piece = granular(*this, *operand, index, facts_);
    }
    return labelled(piece, operand);
  }

  FormulaRef constant(const Node& node) const {
    if (node.attributes.infinity != 0) {
      const FormulaRef infinity = piece::number("\u221E");
      return node.attributes.infinity < 0 ? piece::negate(infinity) : infinity;
    }
    if (node.dtype == DType::boolean) return piece::symbol(node.attributes.value != 0 ? "true" : "false");
    return piece::number(decimalText(node.attributes.value));
  }
  FormulaRef number(const Int& value, DType) const { return written(value); }
  Int subscript(const FormulaRef& value, const Dim&) const { return {0, value}; }

  FormulaRef apply(Op op, std::span<const FormulaRef> a, const Node& node) const {
    switch (op) {
      case Op::negate:
        return piece::negate(a[0]);
      case Op::sqrt:
        return piece::make(piece::Kind::root, {}, {a[0]});
      case Op::abs:
        return piece::make(piece::Kind::absolute, {}, {a[0]});
      case Op::floor:
        return piece::make(piece::Kind::floor, {}, {a[0]});
      case Op::logicalNot:
        return piece::make(piece::Kind::negation, {}, {a[0]});
      case Op::power:
        return piece::power(a[0], node.attributes.index);
      case Op::cast:
        return cast(a[0], node);
      case Op::add:
        return piece::add(a[0], a[1]);
      case Op::subtract:
        return piece::add(a[0], piece::negate(a[1]));
      case Op::multiply:
        return piece::multiply(a[0], a[1]);
      case Op::divide:
        return piece::divide(a[0], a[1]);
      case Op::floorDivide:
        return piece::make(piece::Kind::floor, {}, {piece::divide(a[0], a[1])});
      case Op::modulo:
        return piece::function("mod", {a[0], a[1]});
      case Op::maximum:
        return piece::extremum("max", a[0], a[1]);
      case Op::minimum:
        return piece::extremum("min", a[0], a[1]);
      default:
        break;
    }
    if (tensor::isComparison(op) || tensor::isLogical(op)) {
      return piece::relation(std::string(tensor::symbol(op)), a[0], a[1]);
    }
    return piece::function(std::string(tensor::name(op)), {a.begin(), a.end()});
  }

  template <class Then, class Else>
  FormulaRef choose(const FormulaRef& condition, Then then, Else otherwise) {
    return piece::cases(condition, then(), otherwise());
  }
  template <class Then, class Else>
  FormulaRef chooseLess(const Int& a, const Int& b, Then then, Else otherwise) {
    if (!a.data && !b.data) {
      if (facts_.nonNegative(b.dim - a.dim - 1)) return then();
      if (facts_.nonNegative(a.dim - b.dim)) return otherwise();
    }
    return piece::cases(piece::relation("<", written(a), written(b)), then(), otherwise());
  }
  template <class Body>
  FormulaRef fold(Fold kind, const Dim& extent, Body body) {
    if (facts_.equal(extent, 1)) return body(dim(Dim(0)));
    const std::string variable = freshIndex(extent);
    FormulaRef inner = body(dim(Dim::symbol(variable)));
    inUse_.erase(variable);
    return piece::bigOperator(foldSign(kind), inner, piece::symbol(variable), written(dim(extent)), false);
  }
  template <class Body>
  FormulaRef prefixFold(Fold kind, const Int& last, const Dim& extent, Body body) {
    const std::string variable = freshIndex(extent);
    FormulaRef inner = body(dim(Dim::symbol(variable)));
    inUse_.erase(variable);
    return piece::bigOperator(foldSign(kind), inner, piece::symbol(variable), written(last), true);
  }

  FormulaRef leaf(NodeRef node, std::span<const Int> index) {
    if (node->op == Op::input)
      return piece::subscript(piece::symbol(node->attributes.name), writtenAll(index));
    auto indices = properIndices(*node, index);
    indices.push_back(piece::symbol(counterName(node->attributes.name)));
    return piece::subscript(piece::symbol(stateName(currentLoop_, node->attributes.index)),
                            std::move(indices));
  }
  FormulaRef loopResult(NodeRef node, std::span<const Int> index) {
    const NodeRef loop = node->operands[0];
    need(loop);
    auto indices = properIndices(*node, index);
    indices.push_back(written(dim(loop->attributes.shape[0])));
    return piece::subscript(piece::symbol(stateName(loop, node->attributes.index)), std::move(indices));
  }

 private:
  static std::string foldSign(Fold kind) {
    switch (kind) {
      case Fold::sum:
        return "\u03A3";
      case Fold::product:
        return "\u03A0";
      case Fold::max:
        return "max";
      case Fold::min:
        return "min";
      default:
        return "\u2200";
    }
  }

  static FormulaRef cast(const FormulaRef& a, const Node& node) {
    const DType from = node.operands[0]->dtype;
    if (from == DType::boolean) return piece::cases(a, piece::number("1"), piece::number("0"));
    if (node.dtype == DType::boolean) return piece::relation("\u2260", a, piece::number("0"));
    if (tensor::isReal(from) && !tensor::isReal(node.dtype)) return piece::function("trunc", {a});
    return a;
  }

  Int combine(const Int& a, const Int& b, char sign) const {
    if (!a.data && !b.data) {
      return {sign == '+' ? a.dim + b.dim : sign == '-' ? a.dim - b.dim : a.dim * b.dim, nullptr};
    }
    const FormulaRef x = written(a);
    const FormulaRef y = written(b);
    return {0, sign == '+'   ? piece::add(x, y)
               : sign == '-' ? piece::add(x, piece::negate(y))
                             : piece::multiply(x, y)};
  }

  /// floor(r / d) with 0 <= r < d is 0.
  Dim withoutSmallQuotients(const Dim& value) const {
    Dim result(0);
    for (const auto& [monomial, coefficient] : value.terms()) {
      Dim term(coefficient);
      for (const Dim::Atom& atom : monomial) {
        if (!atom.quotient) {
          term = term * Dim::symbol(atom.symbol);
          continue;
        }
        const Dim& n = atom.quotient->numerator;
        const Dim& d = atom.quotient->denominator;
        const bool small = facts_.nonNegative(n) && facts_.nonNegative(d - n - 1);
        term = small ? Dim(0) : term * tensor::floorDiv(n, d);
      }
      result = result + term;
    }
    return result;
  }

  FormulaRef written(const Int& index) const {
    if (index.data) return index.data;
    return piece::fromDim(index.dim, [this](const std::string& counter) { return counterName(counter); });
  }
  std::vector<FormulaRef> writtenAll(std::span<const Int> index) const {
    std::vector<FormulaRef> result;
    for (const Int& i : index) result.push_back(written(i));
    return result;
  }

  /// Without the axes of extent 1, which say nothing of a tensor with a name of ours; with the rounds it
  /// depends on.
  std::vector<FormulaRef> properIndices(const Node& node, std::span<const Int> index) {
    std::vector<FormulaRef> result;
    for (std::size_t i = 0; i < index.size(); ++i) {
      if (!facts_.equal(node.shape[i], 1)) result.push_back(written(index[i]));
    }
    if (tensor::kind(node.op) != tensor::OpKind::leaf && node.op != Op::loopResult) {  // one value a round
      for (const std::string& counter : dependence_.of(&node))
        result.push_back(piece::symbol(counterName(counter)));
    }
    return result;
  }

  FormulaRef labelled(const FormulaRef& piece, NodeRef node) const {
    const bool mark = options_.marked.contains(node);
    if (piece->node && !mark) return piece;
    auto copy = std::make_shared<Formula>(*piece);
    if (!copy->node) copy->node = node;
    copy->marked = copy->marked || mark;
    return copy;
  }

  // Names.
  std::string freshName(const std::string& wanted, const std::set<std::string>& taken) const {
    std::string name = wanted;
    while (taken.contains(name)) name += "\u2032";
    return name;
  }

  /// An index name for an axis of this extent: M -> m, if nothing else is called so.
  std::string freshIndex(const Dim& extent) {
    std::vector<std::string> candidates;
    if (const auto symbol = extent.asSymbol(); symbol && !tensor::isCounter(*symbol)) {
      candidates.emplace_back(1, static_cast<char>(std::tolower(static_cast<unsigned char>((*symbol)[0]))));
    }
    for (const char* letter : {"i", "j", "k", "l", "p", "q", "r", "s", "t", "u", "v", "a", "b", "c", "d"}) {
      candidates.emplace_back(letter);
    }
    for (int round = 0;; ++round) {
      for (const std::string& base : candidates) {
        const std::string name = round == 0 ? base : base + std::to_string(round);
        if (reserved_.contains(name) || inUse_.contains(name)) continue;
        inUse_.insert(name);
        facts_.declareCounter(name, extent);
        return name;
      }
    }
  }

  std::string counterName(const std::string& counter) const {
    const std::string digits = counter.substr(1);
    const std::string name = digits == "1" || digits == "0" ? "\u03C4" : "\u03C4" + digits;
    return name;
  }

  std::string nameOf(NodeRef node) {
    if (node->op == Op::input) return node->attributes.name;
    const auto known = names_.find(node);
    if (known != names_.end()) return known->second;
    const auto variable = context_.variables.find(node);
    std::string name;
    if (variable != context_.variables.end()) {
      name = freshName(variable->second, namesTaken_);
    } else {
      do name = "t" + std::to_string(++numbered_);
      while (namesTaken_.contains(name) || reserved_.contains(name));
    }
    namesTaken_.insert(name);
    names_.emplace(node, name);
    return name;
  }

  std::string resultName() {
    for (std::size_t i = 0; i < context_.results.size() && root_->op != Op::loopResult; ++i) {
      if (context_.results[i] == root_ && i < context_.resultNames.size() &&
          context_.resultNames[i] != "result") {
        namesTaken_.insert(context_.resultNames[i]);
        return context_.resultNames[i];
      }
    }
    for (const char* name : {"y", "z", "o", "out", "result"}) {
      if (reserved_.contains(name)) continue;
      namesTaken_.insert(name);
      return name;
    }
    return freshName("y", reserved_);
  }

  std::string stateName(NodeRef loop, int state) {
    auto& names = stateNames_[loop];
    while (static_cast<int>(names.size()) <= state) {
      std::string wanted = "s" + std::to_string(names.size() + 1);
      for (const auto& [node, variable] : context_.variables) {
        if (node->op == Op::loopResult && node->operands[0] == loop &&
            node->attributes.index == static_cast<int>(names.size())) {
          wanted = variable;
        }
      }
      names.push_back(freshName(wanted, namesTaken_));
      namesTaken_.insert(names.back());
    }
    return names[static_cast<std::size_t>(state)];
  }

  // What is written by name.
  bool named(NodeRef node) const {
    if (tensor::kind(node->op) == tensor::OpKind::leaf || node->op == Op::loopResult) return false;
    if (options_.naming == 2) return true;
    return cuts_.contains(node);
  }

  void chooseCuts() {
    const std::array<NodeRef, 1> roots{root_};
    const auto uses = tensor::useCounts(roots);
    std::unordered_map<NodeRef, int> sizes;
    for (const NodeRef node : tensor::topological(roots)) {
      int size = tensor::kind(node->op) == tensor::OpKind::layout ? 0 : 1;
      for (const NodeRef operand : node->operands) size += cuts_.contains(operand) ? 1 : sizes[operand];
      while (size > options_.sizeLimit) {  // cut the largest operand
        NodeRef largest = nullptr;
        for (const NodeRef operand : node->operands) {
          if (!cuts_.contains(operand) && (!largest || sizes[operand] > sizes[largest])) largest = operand;
        }
        if (!largest || sizes[largest] < 3) break;
        cuts_.insert(largest);
        size = 1;
        for (const NodeRef operand : node->operands) size += cuts_.contains(operand) ? 1 : sizes[operand];
      }
      const bool folds = tensor::kind(node->op) == tensor::OpKind::reduce ||
                         tensor::kind(node->op) == tensor::OpKind::scan ||
                         tensor::kind(node->op) == tensor::OpKind::contract;
      const bool variable = context_.variables.contains(node);
      if (options_.naming >= 1 && node != root_ && variable && size > 2 && (folds || uses.at(node) > 1))
        cuts_.insert(node);
      sizes[node] = size;
    }
    cuts_.erase(root_);
  }

  void need(NodeRef node) {
    if (std::ranges::find(pending_, node, &Pending::node) == pending_.end())
      pending_.push_back({node, currentLoop_});
  }

  /// "name_{indices} = granular form".
  Definition define(NodeRef node, const std::string& name) {
    inUse_.clear();
    std::vector<IndexTerm> index;
    for (const Dim& extent : node->shape) {
      index.push_back(facts_.equal(extent, 1) ? dim(Dim(0)) : dim(Dim::symbol(freshIndex(extent))));
    }
    Definition definition;
    definition.node = node;
    definition.left = piece::subscript(piece::symbol(name), properIndices(*node, index));
    const std::span<const IndexTerm> all(index);
    definition.right = labelled(granular(*this, *node, all, facts_), node);
    return definition;
  }

  /// Two lines for each state: where it starts, and round tau + 1 from round tau.
  void defineLoop(const Node& loop) {
    const NodeRef outer = currentLoop_;
    for (std::size_t i = 0; i < loop.operands.size(); ++i) {
      const std::string name = stateName(&loop, static_cast<int>(i));
      for (const bool start : {true, false}) {
        inUse_.clear();
        std::vector<IndexTerm> index;
        for (const Dim& extent : loop.operands[i]->shape) {
          index.push_back(facts_.equal(extent, 1) ? dim(Dim(0)) : dim(Dim::symbol(freshIndex(extent))));
        }
        Definition definition;
        definition.node = &loop;
        auto indices = properIndices(*loop.operands[i], index);
        const FormulaRef round = piece::symbol(counterName(loop.attributes.name));
        indices.push_back(start ? piece::number("0") : piece::add(round, piece::number("1")));
        definition.left = piece::subscript(piece::symbol(name), std::move(indices));
        currentLoop_ = start ? outer : &loop;
        definition.right = element(start ? loop.operands[i] : loop.attributes.body[i], index);
        definitions_.emplace(loop.id * 4 + (start ? 0 : 1), std::move(definition));
      }
    }
    currentLoop_ = outer;
  }

  const Program& context_;
  NodeRef root_;
  const FormulaOptions& options_;
  DimFacts facts_;
  std::set<std::string> reserved_;  ///< names that no index may have
  std::set<std::string> inUse_;     ///< index names of the definition being written
  std::set<std::string> namesTaken_;
  std::unordered_map<NodeRef, std::string> names_;
  std::map<NodeRef, std::vector<std::string>> stateNames_;
  std::unordered_set<NodeRef> cuts_;
  struct Pending {
    NodeRef node;
    NodeRef loop;  ///< whose body asked for it; null outside
  };
  std::vector<Pending> pending_;
  std::multimap<std::uint32_t, Definition> definitions_;  ///< by age of the node: innermost first
  NodeRef currentLoop_ = nullptr;
  Dependence dependence_;
  int numbered_ = 0;
  Formulas result_;
};

}  // namespace

Formulas formulas(const Program& context, NodeRef node, const FormulaOptions& options) {
  return Writer(context, node, options).write();
}

int size(const Formula& formula) {
  int total = 1;
  for (const FormulaRef& part : formula.parts) total += size(*part);
  return total;
}

}  // namespace nuscope::semantics
