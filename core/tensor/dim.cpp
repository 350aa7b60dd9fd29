#include "core/tensor/dim.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/diagnostics.h"

namespace nuscope::tensor {
namespace {

std::int64_t checkedAdd(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) throw UserError("an extent expression leaves 64 bits");
  return result;
}

std::int64_t checkedMultiply(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) throw UserError("an extent expression leaves 64 bits");
  return result;
}

std::int64_t floorQuotient(std::int64_t a, std::int64_t b) {
  if (b == 0) throw UserError("an extent expression divides by zero");
  if (b == -1) return checkedMultiply(a, -1);
  const std::int64_t q = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? q - 1 : q;
}

std::string atomText(const Dim::Atom& atom) {
  if (!atom.quotient) return atom.symbol;
  const auto wrap = [](const Dim& d) {
    return d.terms().size() == 1 && (d.isConstant() ? *d.constant() >= 0 : d.asSymbol().has_value())
               ? d.text()
               : "(" + d.text() + ")";
  };
  return "(" + wrap(atom.quotient->numerator) + " // " + wrap(atom.quotient->denominator) + ")";
}

/// monomial / divisor if every atom of the divisor occurs.
std::optional<Dim::Monomial> divide(const Dim::Monomial& monomial, const Dim::Monomial& divisor) {
  Dim::Monomial rest = monomial;
  for (const Dim::Atom& atom : divisor) {
    const auto at = std::find(rest.begin(), rest.end(), atom);
    if (at == rest.end()) return std::nullopt;
    rest.erase(at);
  }
  return rest;
}

}  // namespace

std::strong_ordering Dim::Atom::operator<=>(const Atom& other) const {
  if (const auto order = symbol <=> other.symbol; order != 0) return order;
  if (quotient == other.quotient) return std::strong_ordering::equal;
  if (!quotient || !other.quotient)
    return quotient ? std::strong_ordering::greater : std::strong_ordering::less;
  if (const auto order = quotient->numerator <=> other.quotient->numerator; order != 0) return order;
  return quotient->denominator <=> other.quotient->denominator;
}

Dim::Dim(std::int64_t constant) {
  if (constant != 0) terms_.emplace(Monomial{}, constant);
}

Dim Dim::symbol(std::string name) {
  Dim result;
  result.terms_.emplace(Monomial{Atom{std::move(name), nullptr}}, 1);
  return result;
}

bool Dim::isConstant() const {
  return terms_.empty() || (terms_.size() == 1 && terms_.begin()->first.empty());
}

std::optional<std::int64_t> Dim::constant() const {
  if (!isConstant()) return std::nullopt;
  return terms_.empty() ? 0 : terms_.begin()->second;
}

std::optional<std::string> Dim::asSymbol() const {
  if (terms_.size() != 1) return std::nullopt;
  const auto& [monomial, coefficient] = *terms_.begin();
  if (coefficient != 1 || monomial.size() != 1 || monomial[0].quotient) return std::nullopt;
  return monomial[0].symbol;
}

void Dim::collectSymbols(std::set<std::string>& into) const {
  for (const auto& [monomial, coefficient] : terms_) {
    for (const Atom& atom : monomial) {
      if (atom.quotient) {
        atom.quotient->numerator.collectSymbols(into);
        atom.quotient->denominator.collectSymbols(into);
      } else {
        into.insert(atom.symbol);
      }
    }
  }
}

bool Dim::mentions(std::string_view symbol) const {
  std::set<std::string> symbols;
  collectSymbols(symbols);
  return symbols.contains(std::string(symbol));
}

void Dim::add(const Monomial& monomial, std::int64_t coefficient) {
  if (coefficient == 0) return;
  const auto [at, inserted] = terms_.emplace(monomial, coefficient);
  if (inserted) return;
  at->second = checkedAdd(at->second, coefficient);
  if (at->second == 0) terms_.erase(at);
}

Dim operator+(const Dim& a, const Dim& b) {
  Dim result = a;
  for (const auto& [monomial, coefficient] : b.terms_) result.add(monomial, coefficient);
  return result;
}

Dim operator-(const Dim& a, const Dim& b) {
  Dim result = a;
  for (const auto& [monomial, coefficient] : b.terms_) result.add(monomial, checkedMultiply(coefficient, -1));
  return result;
}

Dim operator*(const Dim& a, const Dim& b) {
  const auto degree = [](const Dim& d) {
    std::size_t most = 0;
    for (const auto& [monomial, coefficient] : d.terms_) most = std::max(most, monomial.size());
    return most;
  };
  if (a.terms_.size() * b.terms_.size() > 4096 || degree(a) + degree(b) > 64) {
    throw UserError("an extent expression grows too large");
  }
  Dim result;
  for (const auto& [left, leftCoefficient] : a.terms_) {
    for (const auto& [right, rightCoefficient] : b.terms_) {
      Dim::Monomial both;
      std::merge(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(both),
                 [](const auto& x, const auto& y) { return x < y; });
      result.add(both, checkedMultiply(leftCoefficient, rightCoefficient));
    }
  }
  return result;
}

std::strong_ordering Dim::operator<=>(const Dim& other) const {
  return std::lexicographical_compare_three_way(
      terms_.begin(), terms_.end(), other.terms_.begin(), other.terms_.end(),
      [](const auto& x, const auto& y) -> std::strong_ordering {
        const auto order = std::lexicographical_compare_three_way(x.first.begin(), x.first.end(),
                                                                  y.first.begin(), y.first.end());
        return order != 0 ? order : x.second <=> y.second;
      });
}

Dim floorDiv(const Dim& a, const Dim& b) {
  if (const auto divisor = b.constant()) {
    if (*divisor == 0) throw UserError("an extent expression divides by zero");
    if (const auto value = a.constant()) return floorQuotient(*value, *divisor);
    if (*divisor == 1) return a;
  }
  // Split off multiples of b, where b is a positive constant or a positive multiple of a product of
  // dimensions.
  Dim quotient;
  Dim rest;
  const bool oneTerm = b.terms_.size() == 1 && b.terms_.begin()->second > 0;
  const bool positive =
      oneTerm && std::all_of(b.terms_.begin()->first.begin(), b.terms_.begin()->first.end(),
                             [](const auto& atom) { return !atom.quotient && !isCounter(atom.symbol); });
  if (positive) {
    const auto& [divisor, factor] = *b.terms_.begin();
    for (const auto& [monomial, coefficient] : a.terms_) {
      const auto divided = divide(monomial, divisor);
      const std::int64_t whole = divided ? floorQuotient(coefficient, factor) : 0;
      if (divided) quotient.add(*divided, whole);
      rest.add(monomial, checkedAdd(coefficient, -checkedMultiply(whole, factor)));
    }
  } else {
    rest = a;
  }
  if (rest.terms_.empty()) return quotient;
  if (positive && rest.isConstant() && b.isConstant()) return quotient;  // 0 <= rest < b by construction
  Dim result;
  result.terms_.emplace(Dim::Monomial{Dim::Atom{"", std::make_shared<const Quotient>(Quotient{rest, b})}}, 1);
  return quotient + result;
}

Dim Dim::substitute(const std::map<std::string, Dim>& values) const {
  Dim result;
  for (const auto& [monomial, coefficient] : terms_) {
    Dim term(coefficient);
    for (const Atom& atom : monomial) {
      if (atom.quotient) {
        term = term * floorDiv(atom.quotient->numerator.substitute(values),
                               atom.quotient->denominator.substitute(values));
      } else {
        const auto at = values.find(atom.symbol);
        term = term * (at != values.end() ? at->second : Dim::symbol(atom.symbol));
      }
    }
    result = result + term;
  }
  return result;
}

std::int64_t Dim::evaluate(const Extents& extents) const {
  std::int64_t result = 0;
  for (const auto& [monomial, coefficient] : terms_) {
    std::int64_t term = coefficient;
    for (const Atom& atom : monomial) {
      std::int64_t value = 0;
      if (atom.quotient) {
        value = floorQuotient(atom.quotient->numerator.evaluate(extents),
                              atom.quotient->denominator.evaluate(extents));
      } else {
        const auto at = extents.find(atom.symbol);
        if (at == extents.end()) throw UserError(fmt::format("the dimension {} has no extent", atom.symbol));
        value = at->second;
      }
      term = checkedMultiply(term, value);
    }
    result = checkedAdd(result, term);
  }
  return result;
}

std::string Dim::text() const {
  if (terms_.empty()) return "0";
  // Positive terms first, and the constant last, reads best: "K - 1" and not "-1 + K".
  std::vector<std::pair<Monomial, std::int64_t>> ordered(terms_.begin(), terms_.end());
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& x, const auto& y) {
    const auto rank = [](const auto& term) { return term.first.empty() ? 2 : term.second < 0 ? 1 : 0; };
    return rank(x) < rank(y);
  });
  if (ordered.size() > 1 && ordered.back().first.empty() && ordered.back().second > 0 &&
      ordered.front().second < 0) {
    std::rotate(ordered.begin(), ordered.end() - 1, ordered.end());  // "3 - K"
  }
  std::string result;
  for (const auto& [monomial, coefficient] : ordered) {
    const bool negative = coefficient < 0;
    if (result.empty()) {
      if (negative) result += "-";
    } else {
      result += negative ? " - " : " + ";
    }
    const auto magnitude =
        negative ? 0 - static_cast<std::uint64_t>(coefficient) : static_cast<std::uint64_t>(coefficient);
    const std::string size = std::to_string(magnitude);
    std::string term;
    if (monomial.empty() || size != "1") term = size;
    for (const Atom& atom : monomial) term += (term.empty() ? "" : "*") + atomText(atom);
    result += term;
  }
  return result;
}

std::string text(const Shape& shape) {
  std::string result = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) result += (i == 0 ? "" : ", ") + shape[i].text();
  return result + "]";
}

Dim product(const Shape& shape) {
  Dim result(1);
  for (const Dim& extent : shape) result = result * extent;
  return result;
}

std::vector<std::int64_t> evaluate(const Shape& shape, const Extents& extents) {
  std::vector<std::int64_t> result;
  result.reserve(shape.size());
  for (const Dim& extent : shape) result.push_back(extent.evaluate(extents));
  return result;
}

}  // namespace nuscope::tensor
