#include "core/language/dim_text.h"

#include <fmt/format.h>

namespace nuscope::language {

using tensor::Dim;
using tensor::Relation;

DimText textOfDim(const Dim& dim) {
  std::string text = dim.text();
  if (const auto constant = dim.constant()) return {std::move(text), *constant < 0 ? sign : atom};
  if (dim.terms().size() > 1) return {std::move(text), sum};
  const auto& [monomial, coefficient] = *dim.terms().begin();
  if (monomial.size() > 1 || coefficient != 1) return {std::move(text), coefficient < 0 ? sum : term};
  if (!monomial[0].quotient) return {std::move(text), atom};
  return {text.substr(1, text.size() - 2), term};  // "(N // 4)"
}

namespace {

std::string wrapped(const Dim& dim, int precedence) {
  DimText text = textOfDim(dim);
  return text.precedence < precedence ? "(" + text.text + ")" : std::move(text.text);
}

/// "n % d" if the value is n - d * (n // d).
std::string moduloText(const Dim& value) {
  for (const auto& [monomial, coefficient] : value.terms()) {
    for (const Dim::Atom& part : monomial) {
      if (!part.quotient) continue;
      // The atom's numerator lacks the multiples of the divisor; so does the remainder.
      const Dim& numerator = part.quotient->numerator;
      const Dim& divisor = part.quotient->denominator;
      if (value == modulo(numerator, divisor))
        return wrapped(numerator, term) + " % " + wrapped(divisor, sign);
    }
  }
  return {};
}

}  // namespace

std::string relationText(const tensor::DimRelation& relation) {
  const std::string left = moduloText(relation.left);
  const std::string right = moduloText(relation.right);
  const std::string a = left.empty() ? relation.left.text() : left;
  const std::string b = right.empty() ? relation.right.text() : right;
  const bool turned = relation.left.isConstant();
  switch (relation.relation) {
    case Relation::equal:
      return a + " == " + b;
    case Relation::notEqual:
      return a + " != " + b;
    case Relation::less:
      return turned ? b + " > " + a : a + " < " + b;
    case Relation::lessEqual:
      return turned ? b + " >= " + a : a + " <= " + b;
  }
  return {};
}

std::string readDimension(const tensor::Program& program, const std::string& symbol) {
  std::string derived;
  for (const tensor::Parameter& parameter : program.parameters) {
    for (std::size_t axis = 0; axis < parameter.node->shape.size(); ++axis) {
      const Dim& extent = parameter.node->shape[axis];
      const std::string read = fmt::format("{}.shape[{}]", parameter.name, axis);
      if (extent.asSymbol() == symbol) return read;
      if (!derived.empty() || extent.terms().size() > 2) continue;
      std::int64_t factor = 0;
      std::int64_t rest = 0;
      bool other = false;
      for (const auto& [monomial, coefficient] : extent.terms()) {
        if (monomial.empty()) {
          rest = coefficient;
        } else if (monomial.size() == 1 && !monomial[0].quotient && monomial[0].symbol == symbol &&
                   coefficient > 0) {
          factor = coefficient;
        } else {
          other = true;
        }
      }
      if (other || factor == 0) continue;
      derived =
          rest == 0 ? read : fmt::format("{} {} {}", read, rest > 0 ? "-" : "+", rest > 0 ? rest : -rest);
      if (factor != 1) derived = fmt::format("{} // {}", rest == 0 ? derived : "(" + derived + ")", factor);
    }
  }
  return derived;
}

}  // namespace nuscope::language
