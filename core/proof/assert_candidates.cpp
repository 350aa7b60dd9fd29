#include "core/proof/assert_candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/language/parse.h"
#include "core/language/printer.h"

namespace nuscope::proof {
namespace {

using tensor::NodeRef;
using tensor::Op;
using tensor::Program;

constexpr std::size_t kConstants = 6;  ///< of a program that are tried as bounds and divisors

class Candidates {
 public:
  Candidates(const Program& left, const Program& right) : left_(left), right_(right) {
    nodes_ = tensor::topological(left.results);
    for (const NodeRef node : tensor::topological(right.results)) {
      if (std::find(nodes_.begin(), nodes_.end(), node) == nodes_.end()) nodes_.push_back(node);
    }
    numbers_.insert(Rational(1));
    collectNumbers();
  }

  std::vector<AssertCandidate> all() {
    for (const auto& parameter : left_.parameters) {
      if (parameter.node->shape.empty()) {
        scalar(parameter);
      } else {
        tensor(parameter);
      }
    }
    pairs();
    dimensions();
    domains();
    std::stable_sort(found_.begin(), found_.end(), [](const AssertCandidate& a, const AssertCandidate& b) {
      return a.strength < b.strength;
    });
    return std::move(found_);
  }

 private:
  /// Whole numbers and others that occur: as bounds, and, where something is divided by them, as divisors.
  void collectNumbers() {
    for (const NodeRef node : nodes_) {
      if (node->op == Op::constant && node->attributes.infinity == 0) addNumber(node->attributes.value);
      for (const auto& extent : node->shape) addDivisors(extent);
      for (const auto* bounds :
           {&node->attributes.starts, &node->attributes.stops, &node->attributes.shape}) {
        for (const auto& bound : *bounds) addDivisors(bound);
      }
    }
  }
  void addNumber(const Rational& value) {
    if (abs(value) > 4096 || value.get_den() > 16 || numbers_.size() >= kConstants) return;
    if (value != 0) numbers_.insert(value);
    if (value.get_den() == 1 && value >= 2 && value <= 64) divisors_.insert(value.get_num().get_si());
  }
  void addDivisors(const tensor::Dim& extent) {
    for (const auto& [mono, coefficient] : extent.terms()) {
      if (coefficient >= 2 && coefficient <= 64) divisors_.insert(coefficient);
      for (const auto& atom : mono) {
        if (!atom.quotient) continue;
        if (const auto d = atom.quotient->denominator.constant(); d && *d >= 2 && *d <= 64)
          divisors_.insert(*d);
        addDivisors(atom.quotient->numerator);
      }
    }
  }

  static std::string numberText(const Rational& value) {
    if (value.get_den() == 1) return value.get_num().get_str();
    return fmt::format("{} / {}", value.get_num().get_str(), value.get_den().get_str());
  }

  void add(std::string text, std::string words, int strength, bool combines = false) {
    AssertCandidate candidate{std::move(text), std::move(words), strength, combines, {}};
    if (const auto read = parsed(candidate.text)) {
      candidate.precondition = *read;
      found_.push_back(std::move(candidate));
    }
  }

  /// The assert as the language reads it, or empty where it means nothing here.
  std::optional<tensor::Precondition> parsed(const std::string& text) {
    std::string module = "from __future__ import annotations\nimport numpy as np\n\n\ndef program(";
    for (std::size_t i = 0; i < left_.parameters.size(); ++i) {
      const auto& p = left_.parameters[i];
      module +=
          fmt::format("{}{}: {}", i == 0 ? "" : ", ", p.name, tensor::typeText(p.node->dtype, p.node->shape));
    }
    module += "):\n";
    for (const auto& dimension : left_.dimensions) {
      const std::string line = shapeLine(left_, dimension);
      if (!line.empty()) module += "    " + line + "\n";
    }
    module += "    assert " + text + "\n    return " + left_.parameters[0].name + "\n";
    const auto result = language::parse(module, left_.store);
    if (!result.program || result.program->preconditions.size() != 1) return std::nullopt;
    return result.program->preconditions[0];
  }

  void compared(const std::string& x, const std::string& name, bool whole, const std::string& close) {
    const auto each = [&](const std::string& relation) { return x + relation + close; };
    const bool many = !close.empty();
    add(each(" != 0"), many ? name + " is nowhere 0" : name + " is not 0", 1, true);
    add(each(" >= 0"), many ? name + " is nowhere negative" : name + " is not negative", 2, true);
    add(each(" <= 0"), many ? name + " is nowhere positive" : name + " is not positive", 2, true);
    add(each(" > 0"), name + " is positive", 3, true);
    add(each(" < 0"), name + " is negative", 3, true);
    for (auto n = numbers_.rbegin(); n != numbers_.rend(); ++n) {  // wide bounds first
      if (whole && n->get_den() != 1) continue;
      const std::string text = numberText(*n);
      add(each(" <= " + text), fmt::format("{} is at most {}", name, text), 3, true);
      if (whole) add(each(" < " + text), fmt::format("{} is less than {}", name, text), 3, true);
    }
    for (const Rational& n : numbers_) {
      if (whole && n.get_den() != 1) continue;
      add(each(" >= " + numberText(n)), fmt::format("{} is at least {}", name, numberText(n)), 3, true);
    }
    if (whole) {
      for (const long d : divisors_)
        add(each(fmt::format(" % {} == 0", d)), fmt::format("{} is a multiple of {}", name, d), 4, true);
    }
    add(each(" == 0"), name + (many ? " is 0 everywhere" : " is 0"), 9);
    add(each(" == 1"), name + (many ? " is 1 everywhere" : " is 1"), 9);
  }

  static bool isWhole(NodeRef node) { return tensor::sort(node->dtype) == tensor::Sort::integer; }

  void scalar(const tensor::Parameter& p) { compared(p.name, p.name, isWhole(p.node), ""); }

  void tensor(const tensor::Parameter& p) {
    const std::string& x = p.name;
    compared("np.all(" + x, x, isWhole(p.node), ")");
    add(fmt::format("np.all({0} * (1 - {0}) == 0)", x), x + " is 0 or 1 everywhere", 6, true);
    const auto rank = p.node->shape.size();
    for (std::size_t axis = 0; axis < rank && axis < 3; ++axis) {
      const std::string along = rank == 1 ? "" : fmt::format(", axis={}", axis);
      const std::string lines = rank == 1   ? x
                                : rank == 2 ? fmt::format("every {} of {}", axis == 0 ? "column" : "row", x)
                                            : fmt::format("{} along axis {}", x, axis);
      const auto every = [&](const std::string& f, const std::string& relation) {
        const std::string value = fmt::format("np.{}({}{})", f, x, along);
        return rank == 1 ? value + relation : "np.all(" + value + relation + ")";
      };
      add(every("max", " > 0"), lines + " has a positive element", 2, true);
      add(every("sum", " != 0"), lines + " does not sum to 0", 2);
      add(every("sum", " == 1"), lines + " sums to 1", 5);
      add(every("sum", " == 0"), lines + " sums to 0", 5);
      std::string first;
      for (std::size_t i = 0; i < rank; ++i)
        first += (i == 0 ? "" : ", ") + std::string(i == axis ? "0:1" : ":");
      add(fmt::format("np.all({0} == {0}[{1}])", x, first),
          rank == 1 ? "all elements of " + x + " are equal"
                    : fmt::format("{} does not change along axis {}", x, axis),
          6);
    }
    if (rank == 2 && left_.facts.equal(p.node->shape[0], p.node->shape[1]))
      add(fmt::format("np.all({0} == {0}.T)", x), x + " is symmetric", 5);
  }

  void pairs() {
    const auto& list = left_.parameters;
    for (std::size_t i = 0; i < list.size(); ++i) {
      for (std::size_t j = 0; j < list.size(); ++j) {
        if (i == j || !left_.facts.equal(list[i].node->shape, list[j].node->shape)) continue;
        const bool scalars = list[i].node->shape.empty();
        const std::string& a = list[i].name;
        const std::string& b = list[j].name;
        const auto each = [&](const std::string& text) { return scalars ? text : "np.all(" + text + ")"; };
        add(each(fmt::format("{} <= {}", a, b)), fmt::format("{} is at most {}", a, b), 3);
        if (scalars && isWhole(list[i].node) && isWhole(list[j].node))
          add(fmt::format("{} % {} == 0", a, b), fmt::format("{} is a multiple of {}", a, b), 4, true);
        if (i > j) continue;
        add(each(fmt::format("{} != {}", a, b)), fmt::format("{} and {} differ everywhere", a, b), 1);
        add(each(fmt::format("{} * {} >= 0", a, b)), fmt::format("{} and {} have the same sign", a, b), 2);
        add(each(fmt::format("{} == {}", a, b)), fmt::format("{} and {} are equal", a, b), 8);
      }
    }
  }

  void dimensions() {
    std::vector<std::string> names;
    for (const auto& name : left_.dimensions) {
      if (!shapeLine(left_, name).empty()) names.push_back(name);
    }
    std::set<long> extents{1, 2, 3, 4};
    for (const Rational& n : numbers_) {
      if (n.get_den() != 1 || n < 1 || n > 64) continue;
      extents.insert(n.get_num().get_si());
      extents.insert(n.get_num().get_si() * n.get_num().get_si());
    }
    std::set<long> divisors = divisors_;
    divisors.insert({2, 3, 4});
    for (const auto& n : names) {
      for (const long d : divisors)
        add(fmt::format("{} % {} == 0", n, d), fmt::format("{} is a multiple of {}", n, d), 4, true);
      for (const long e : extents)
        add(fmt::format("{} == {}", n, e), fmt::format("{} is {}", n, e), e == 1 ? 7 : 9, e == 1);
      for (const long e : {2L, 3L, 4L})
        add(fmt::format("{} >= {}", n, e), fmt::format("{} is at least {}", n, e), 1, true);
      for (const auto& m : names) {
        if (n < m) add(fmt::format("{} == {}", n, m), fmt::format("{} and {} are equal", n, m), 6, true);
        if (n != m)
          add(fmt::format("{} % {} == 0", n, m), fmt::format("{} is a multiple of {}", n, m), 5, true);
      }
    }
  }

  /// What divisions, roots and logarithms need.
  void domains() {
    std::set<NodeRef> seen;
    for (const NodeRef node : nodes_) {
      NodeRef argument = nullptr;
      std::vector<std::string> relations;
      switch (node->op) {
        case Op::divide:
        case Op::floorDivide:
        case Op::modulo:
          argument = node->operands[1];
          relations = {" != 0", " > 0"};
          break;
        case Op::log:
          argument = node->operands[0];
          relations = {" > 0"};
          break;
        case Op::sqrt:
          argument = node->operands[0];
          relations = {" >= 0", " > 0"};
          break;
        default:
          continue;
      }
      if (argument->op == Op::input || !seen.insert(argument).second) continue;
      const std::string text = language::expressionText(left_, argument, 12);
      if (text.find("...") != std::string::npos || text.size() > 120) continue;
      for (const auto& relation : relations) {
        const std::string whole =
            argument->shape.empty() ? text + relation : "np.all(" + text + relation + ")";
        add(whole,
            text + (relation == " != 0"  ? " is nowhere 0"
                    : relation == " > 0" ? " is positive"
                                         : " is nowhere negative"),
            relation == " != 0" ? 1 : 2);
      }
    }
  }

  const Program& left_;
  const Program& right_;
  std::vector<NodeRef> nodes_;
  std::set<Rational> numbers_;
  std::set<long> divisors_;
  std::vector<AssertCandidate> found_;
};

}  // namespace

std::string shapeLine(const Program& program, const std::string& dimension) {
  for (const auto& p : program.parameters) {
    for (std::size_t i = 0; i < p.node->shape.size(); ++i) {
      if (p.node->shape[i].asSymbol() == dimension)
        return fmt::format("{} = {}.shape[{}]", dimension, p.name, i);
    }
  }
  return {};
}

std::vector<AssertCandidate> assertCandidates(const Program& left, const Program& right) {
  if (left.parameters.empty()) return {};
  return Candidates(left, right).all();
}

}  // namespace nuscope::proof
