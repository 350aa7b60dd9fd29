#include "core/language/printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <unordered_set>

#include "core/language/dim_text.h"
#include "core/language/expression_printer.h"

namespace nuscope::language {

using tensor::Dim;
using tensor::NodeRef;
using tensor::Op;
using tensor::Program;

namespace {

constexpr std::size_t longExpression = 60;  ///< an operand longer than this gets a name
constexpr std::size_t longestLine = 110;

using Counters = std::set<std::string>;

/// The loop counters that a node's value depends on.
std::unordered_map<NodeRef, Counters> freeCounters(std::span<const NodeRef> order) {
  std::unordered_map<NodeRef, Counters> result;
  for (const NodeRef node : order) {
    Counters own;
    const auto add = [&](const tensor::Shape& shape) {
      for (const Dim& dim : shape) dim.collectSymbols(own);
    };
    add(node->attributes.starts);
    add(node->attributes.stops);
    add(node->attributes.shape);
    std::erase_if(own, [](const std::string& name) { return !tensor::isCounter(name); });
    if (node->op == Op::loopState) own.insert(node->attributes.name);
    for (const NodeRef root : node->attributes.body)
      own.insert(result.at(root).begin(), result.at(root).end());
    if (node->op == Op::loop) own.erase(node->attributes.name);
    for (const NodeRef operand : node->operands)
      own.insert(result.at(operand).begin(), result.at(operand).end());
    result.emplace(node, std::move(own));
  }
  return result;
}

bool isReserved(std::string_view name) {
  static constexpr std::array<std::string_view, 46> words = {
      "np",          "range",    "f64",    "f32",   "f16",  "bf16",   "i32",      "i8",      "bool",  "tuple",
      "annotations", "False",    "None",   "True",  "and",  "as",     "assert",   "async",   "await", "break",
      "class",       "continue", "def",    "del",   "elif", "else",   "except",   "finally", "for",   "from",
      "global",      "if",       "import", "in",    "is",   "lambda", "nonlocal", "not",     "or",    "pass",
      "raise",       "return",   "try",    "while", "with", "yield"};
  return std::ranges::find(words, name) != words.end();
}

class Printer {
 public:
  Printer(const Program& context, std::span<const NodeRef> results)
      : context_(context), results_(results.begin(), results.end()) {
    std::vector<NodeRef> roots;
    for (const tensor::Precondition& assert : context.preconditions) {
      if (assert.condition) roots.push_back(assert.condition);
    }
    roots.insert(roots.end(), results_.begin(), results_.end());
    order_ = tensor::topological(roots);
    free_ = freeCounters(order_);
    for (const tensor::Parameter& parameter : context.parameters) taken_.insert(parameter.name);
    taken_.insert(context.dimensions.begin(), context.dimensions.end());
    taken_.insert(context.name);
    for (std::size_t i = 0; i < results_.size() && results.size() == context.resultNames.size(); ++i) {
      if (!context.resultNames[i].starts_with("result"))
        resultNames_.try_emplace(results_[i], context.resultNames[i]);
    }
    for (const auto& [node, known] : context.variables) {
      if (node->op == Op::loopResult)
        accumulators_.emplace(std::pair(node->operands[0], node->attributes.index), known);
    }
    countUses(roots);
  }

  Printed run() {
    asserts();
    scope(Counters{}, results_);
    std::string returned;
    for (const NodeRef result : results_) returned += (returned.empty() ? "" : ", ") + standalone(result);
    line("return " + returned);
    return finish();
  }

 private:
  struct Line {
    std::string text;
    std::vector<NodeRef> nodes;
  };

  void countUses(std::span<const NodeRef> roots) {
    uses_ = tensor::useCounts(roots);
    for (const NodeRef node : order_) {
      absorbVariance(node);
      for (const NodeRef root : node->attributes.body) loopRoots_.insert(root);
      if (node->op == Op::loop) {
        for (const NodeRef operand : node->operands) starts_.insert(operand);
      }
      const Counters& mine = free_.at(node);
      // A value from outside a loop is computed outside: give it a name.
      const auto crosses = [&](NodeRef input, const Counters& inside) {
        if (free_.at(input).size() < inside.size()) crossing_.insert(input);
      };
      for (const NodeRef operand : node->operands) crosses(operand, mine);
      if (node->op != Op::loop) continue;
      Counters inside = mine;
      inside.insert(node->attributes.name);
      for (const NodeRef root : node->attributes.body) crosses(root, inside);
    }
  }

  /// Written as np.var, the difference from the mean and its square need no names of their own.
  void absorbVariance(NodeRef node) {
    const NodeRef difference = varianceDifference(node);
    if (!difference) return;
    const NodeRef square = node->operands[0];
    if (uses_[square] != 1 || !knownName(difference).empty() || !knownName(square).empty()) return;
    absorbed_.insert(square);
    uses_[difference] -= 2;
    if (uses_[difference] > 0) return;
    absorbed_.insert(difference);
    const NodeRef mean = difference->operands[1];
    if (--uses_[mean] == 0) absorbed_.insert(mean);
  }

  // Names.
  std::string fresh(std::string wanted) {
    if (!wanted.empty() && !isReserved(wanted) && taken_.insert(wanted).second) return wanted;
    if (!wanted.empty()) {
      for (int i = 2;; ++i) {
        const std::string candidate = wanted + std::to_string(i);
        if (taken_.insert(candidate).second) return candidate;
      }
    }
    while (true) {
      std::string candidate = "t" + std::to_string(++temporaries_);
      if (taken_.insert(candidate).second) return candidate;
    }
  }
  [[nodiscard]] std::string knownName(NodeRef node) const {
    if (const auto named = context_.variables.find(node); named != context_.variables.end())
      return named->second;
    if (const auto named = resultNames_.find(node); named != resultNames_.end()) return named->second;
    return {};
  }

  // Expressions.
  std::string name(NodeRef node) {
    const auto named = names_.find(node);
    if (named == names_.end()) return {};
    return named->second;
  }
  ExpressionPrinter expressions() {
    return ExpressionPrinter([this](NodeRef node) { return name(node); },
                             [this](const Dim& dim) { return dimText(dim); }, pending_);
  }
  std::string standalone(NodeRef node) { return expressions().standalone(node); }

  DimText dimText(const Dim& dim) {
    std::map<std::string, Dim> named;
    std::set<std::string> symbols;
    dim.collectSymbols(symbols);
    for (const std::string& symbol : symbols) {
      if (tensor::isCounter(symbol)) {
        named.emplace(symbol, Dim::symbol(counters_.at(symbol)));
      } else {
        dims_.insert(symbol);
      }
    }
    return textOfDim(dim.substitute(named));
  }

  // Lines.
  void line(const std::string& text) {
    lines_.push_back({std::string(static_cast<std::size_t>(4 * indent_), ' ') + text, std::move(pending_)});
    pending_.clear();
  }

  void asserts() {
    std::vector<NodeRef> conditions;
    for (const tensor::Precondition& assert : context_.preconditions) {
      if (assert.condition) conditions.push_back(assert.condition);
    }
    for (const tensor::Precondition& assert : context_.preconditions) {
      if (!assert.dims) continue;
      std::set<std::string> symbols;
      assert.dims->left.collectSymbols(symbols);
      assert.dims->right.collectSymbols(symbols);
      dims_.insert(symbols.begin(), symbols.end());
      line("assert " + relationText(*assert.dims));
    }
    scope(Counters{}, conditions);
    for (const NodeRef condition : conditions) line("assert " + standalone(condition));
  }

  /// Whether the node is written where it is used, whatever the number of uses.
  bool isTrivial(NodeRef node) const {
    switch (node->op) {
      case Op::arange:
        return knownName(node).empty();
      case Op::input:
      case Op::constant:
      case Op::dimValue:
      case Op::loopState:
        return true;
      case Op::cast:
        return node->operands[0]->op == Op::dimValue;
      case Op::broadcastTo:
        return node->operands[0]->op == Op::constant;
      default:
        return false;
    }
  }

  /// Names the nodes of one block that need names, in order. `inside`: the counters of the loops around it.
  void scope(const Counters& inside, std::span<const NodeRef> roots) {
    for (const NodeRef node : tensor::topological(roots)) {
      if (isTrivial(node) || names_.contains(node) || free_.at(node) != inside) {
        if (node->op == Op::input) names_.try_emplace(node, node->attributes.name);
        continue;
      }
      if (node->op == Op::loop) {
        loop(node, inside);
        continue;
      }
      if (node->op == Op::loopResult) continue;  // named by its loop
      const std::string known = knownName(node);
      const bool stateName = loopRoots_.contains(node) && stateNames_.contains(known) && uses_[node] == 1;
      const bool startOnly = starts_.contains(node) && uses_[node] == 1;
      bool named =
          (!known.empty() && !stateName && !startOnly) || uses_[node] > 1 || crossing_.contains(node);
      if (!named) {
        const std::vector<NodeRef> before = pending_;
        const std::string text = standalone(node);
        pending_ = before;
        const bool root = std::ranges::find(roots, node) != roots.end();
        named = !root && text.size() > longExpression;
      }
      if (!named || absorbed_.contains(node)) continue;
      const std::string text = standalone(node);
      const std::string variable = fresh(known);
      line(variable + " = " + text);
      names_.emplace(node, variable);
    }
  }

  void loop(NodeRef node, const Counters& around) {
    const tensor::Attributes& at = node->attributes;
    std::vector<std::string> states;
    std::vector<NodeRef> results(node->operands.size(), nullptr);
    for (const NodeRef other : order_) {
      if (other->op == Op::loopResult && other->operands[0] == node)
        results[static_cast<std::size_t>(other->attributes.index)] = other;
    }
    for (std::size_t i = 0; i < node->operands.size(); ++i) {
      const auto state = accumulators_.find({node, static_cast<int>(i)});
      std::string wanted = state != accumulators_.end() ? state->second : std::string();
      if (wanted.empty() && results[i]) wanted = knownName(results[i]);
      if (wanted.empty()) wanted = knownName(at.body[i]);
      states.push_back(fresh(wanted));
      stateNames_.insert(states[i]);
      line(states[i] + " = " + expressions().start(node->operands[i], at.body[i]));
    }
    const std::string rounds = dimText(at.shape[0]).text;
    std::string counter;
    for (const char* candidate : {"k", "j", "i", "t"}) {
      if (counter.empty() && taken_.insert(candidate).second) counter = candidate;
    }
    if (counter.empty()) counter = fresh("k");
    line("for " + counter + " in range(" + rounds + "):");
    ++indent_;
    const auto outerNames = names_;
    counters_[at.name] = counter;
    Counters inside = around;
    inside.insert(at.name);
    for (const NodeRef inner : tensor::topological(at.body)) {
      if (inner->op == Op::loopState && inner->attributes.name == at.name) {
        names_[inner] = states[static_cast<std::size_t>(inner->attributes.index)];
      }
    }
    innerScopes(around, inside, at.body);
    assignStates(node, states);
    counters_.erase(at.name);
    --indent_;
    names_ = outerNames;
    for (std::size_t i = 0; i < states.size(); ++i) {
      if (results[i]) names_.emplace(results[i], states[i]);
    }
    pending_.push_back(node);
    for (const NodeRef result : results) {
      if (result) pending_.push_back(result);
    }
    lines_.back().nodes.insert(lines_.back().nodes.end(), pending_.begin(), pending_.end());
    pending_.clear();
  }

  /// A body's nodes may depend on any of the counters around it, on its own in any case.
  void innerScopes(const Counters& around, const Counters& inside, std::span<const NodeRef> roots) {
    std::set<Counters> kinds;
    for (const NodeRef node : tensor::topological(roots)) {
      const Counters& mine = free_.at(node);
      if (std::ranges::includes(inside, mine) && !std::ranges::includes(around, mine)) kinds.insert(mine);
    }
    std::vector<Counters> sorted(kinds.begin(), kinds.end());
    std::ranges::stable_sort(sorted,
                             [](const Counters& a, const Counters& b) { return a.size() < b.size(); });
    for (const Counters& kind : sorted) scope(kind, roots);
  }

  /// The text of a state's new value mentions a state before number `i` of the loop. Named nodes have their
  /// own lines before.
  bool readsEarlierState(NodeRef root, const std::string& counter, std::size_t i) const {
    std::unordered_set<NodeRef> seen;
    std::vector<NodeRef> stack{root};
    while (!stack.empty()) {
      const NodeRef node = stack.back();
      stack.pop_back();
      if (!seen.insert(node).second) continue;
      if (node->op == Op::loopState) {
        if (node->attributes.name == counter && static_cast<std::size_t>(node->attributes.index) < i)
          return true;
      } else if (!names_.contains(node)) {
        stack.insert(stack.end(), node->operands.begin(), node->operands.end());
      }
    }
    return false;
  }

  /// All states are replaced at once: what still needs an old state is computed before that state is
  /// overwritten.
  void assignStates(NodeRef node, const std::vector<std::string>& states) {
    const std::vector<NodeRef>& body = node->attributes.body;
    std::vector<std::pair<std::string, std::vector<NodeRef>>> values;
    for (std::size_t i = 0; i < states.size(); ++i) {
      const bool late = readsEarlierState(body[i], node->attributes.name, i);
      std::string text = standalone(body[i]);
      if (late) {
        const std::string variable = fresh("");
        line(variable + " = " + text);
        text = variable;
      }
      values.emplace_back(std::move(text), std::exchange(pending_, {}));
    }
    for (std::size_t i = 0; i < states.size(); ++i) {
      pending_ = values[i].second;
      line(states[i] + " = " + values[i].first);
    }
  }

  // The module.
  [[nodiscard]] std::vector<std::string> dimLines() const {
    std::vector<std::string> result;
    std::set<std::string> open = dims_;
    for (const tensor::Parameter& parameter : context_.parameters) {
      const tensor::Shape& shape = parameter.node->shape;
      std::set<std::string> symbols;
      std::size_t wanted = 0;
      std::string all;
      for (const Dim& extent : shape) {
        const auto symbol = extent.asSymbol();
        if (!symbol || !symbols.insert(*symbol).second) break;
        wanted += open.contains(*symbol) ? 1 : 0;
        all += (all.empty() ? "" : ", ") + *symbol;
      }
      if (symbols.size() != shape.size() || wanted < 2) continue;
      result.push_back(all + " = " + parameter.name + ".shape");
      for (const std::string& symbol : symbols) open.erase(symbol);
    }
    for (const std::string& symbol : context_.dimensions) {
      if (open.contains(symbol)) result.push_back(symbol + " = " + readDimension(context_, symbol));
    }
    return result;
  }

  Printed finish() {
    Printed printed;
    printed.text = "from __future__ import annotations\nimport numpy as np\n\n\n";
    std::string current = "def " + context_.name + "(";
    int at = 5;
    for (std::size_t i = 0; i < context_.parameters.size(); ++i) {
      const NodeRef node = context_.parameters[i].node;
      std::string text = context_.parameters[i].name + ": " + tensor::typeText(node->dtype, node->shape);
      text += i + 1 < context_.parameters.size() ? "," : "";
      if (current.size() + text.size() > longestLine - 20) {
        printed.text += current + "\n";
        current = "       ";
        ++at;
      }
      current += (current.ends_with("(") ? "" : " ") + text;
      printed.lines.emplace(node, at);
    }
    std::string result = ") -> ";
    if (results_.size() != 1) result += "tuple[";
    for (std::size_t i = 0; i < results_.size(); ++i) {
      result += (i == 0 ? "" : ", ") + tensor::typeText(results_[i]->dtype, results_[i]->shape);
    }
    printed.text += current + result + (results_.size() != 1 ? "]" : "") + ":\n";
    ++at;
    for (const std::string& text : dimLines()) {
      printed.text += "    " + text + "\n";
      ++at;
    }
    for (const Line& one : lines_) {
      printed.text += one.text + "\n";
      for (const NodeRef node : one.nodes) printed.lines.try_emplace(node, at);
      ++at;
    }
    return printed;
  }

  const Program& context_;
  std::vector<NodeRef> results_;
  std::vector<NodeRef> order_;
  std::unordered_map<NodeRef, Counters> free_;
  std::unordered_map<NodeRef, int> uses_;
  std::unordered_set<NodeRef> loopRoots_, starts_, crossing_, absorbed_;
  std::unordered_map<NodeRef, std::string> resultNames_;
  std::unordered_map<NodeRef, std::string> names_;
  std::map<std::pair<NodeRef, int>, std::string>
      accumulators_;                             ///< the names of loop states, used later or not
  std::map<std::string, std::string> counters_;  ///< "@1" -> the loop variable
  std::set<std::string> taken_, stateNames_, dims_;
  std::vector<Line> lines_;
  std::vector<NodeRef> pending_;  ///< nodes written since the last line
  int indent_ = 1;
  int temporaries_ = 0;
};

}  // namespace

Printed print(const Program& context, std::span<const NodeRef> results) {
  return Printer(context, results).run();
}

std::string expressionText(const Program& context, NodeRef node, int depth) {
  std::vector<NodeRef> ignored;
  const auto name = [&](NodeRef other) -> std::string {
    if (other == node) return {};
    if (other->op == Op::input || other->op == Op::loopState)
      return other->op == Op::input ? other->attributes.name
                                    : "state" + std::to_string(other->attributes.index);
    const auto known = context.variables.find(other);
    return known == context.variables.end() ? std::string() : known->second;
  };
  ExpressionPrinter printer(
      name, [](const Dim& dim) { return textOfDim(dim); }, ignored);
  printer.limitDepth(depth);
  return printer.standalone(node);
}

}  // namespace nuscope::language
