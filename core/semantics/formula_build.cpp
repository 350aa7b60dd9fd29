#include "core/semantics/formula_build.h"

#include <algorithm>

namespace nuscope::semantics::piece {
namespace {

/// The parts of a sum or product, or the piece itself. Marked pieces and pieces of a node stay whole.
void appendParts(Kind kind, const FormulaRef& piece, std::vector<FormulaRef>& into) {
  if (piece->kind == kind && !piece->marked) {
    into.insert(into.end(), piece->parts.begin(), piece->parts.end());
  } else {
    into.push_back(piece);
  }
}

}  // namespace

FormulaRef make(Kind kind, std::string text, std::vector<FormulaRef> parts) {
  auto piece = std::make_shared<Formula>();
  piece->kind = kind;
  piece->text = std::move(text);
  piece->parts = std::move(parts);
  return piece;
}

bool same(const Formula& a, const Formula& b) {
  if (&a == &b) return true;
  return a.kind == b.kind && a.text == b.text && a.inclusive == b.inclusive && a.marked == b.marked &&
         std::equal(a.parts.begin(), a.parts.end(), b.parts.begin(), b.parts.end(),
                    [](const FormulaRef& x, const FormulaRef& y) { return same(*x, *y); });
}

bool isNumber(const FormulaRef& a, std::string_view text) {
  return a->kind == Kind::number && a->text == text;
}

FormulaRef number(std::string text) {
  if (text.starts_with('-')) return make(Kind::negate, {}, {make(Kind::number, text.substr(1))});
  return make(Kind::number, std::move(text));
}

FormulaRef symbol(std::string name) {
  return make(Kind::symbol, std::move(name));
}

FormulaRef subscript(FormulaRef base, std::vector<FormulaRef> indices) {
  if (indices.empty()) return base;
  indices.insert(indices.begin(), std::move(base));
  return make(Kind::subscript, {}, std::move(indices));
}

FormulaRef negate(const FormulaRef& a) {
  if (a->kind == Kind::negate && !a->marked) return a->parts[0];
  if (isNumber(a, "0")) return a;
  return make(Kind::negate, {}, {a});
}

FormulaRef add(const FormulaRef& a, const FormulaRef& b) {
  if (isNumber(a, "0") && !a->marked) return b;
  if (isNumber(b, "0") && !b->marked) return a;
  std::vector<FormulaRef> parts;
  appendParts(Kind::sum, a, parts);
  appendParts(Kind::sum, b, parts);
  return make(Kind::sum, {}, std::move(parts));
}

FormulaRef multiply(const FormulaRef& a, const FormulaRef& b) {
  if (isNumber(a, "1") && !a->marked) return b;
  if (isNumber(b, "1") && !b->marked) return a;
  if (a->kind == Kind::negate && !a->marked) return negate(multiply(a->parts[0], b));
  if (b->kind == Kind::negate && !b->marked) return negate(multiply(a, b->parts[0]));
  if (same(*a, *b) && a->kind != Kind::number) return power(a, 2);
  std::vector<FormulaRef> parts;
  appendParts(Kind::product, a, parts);
  std::vector<FormulaRef> more;
  appendParts(Kind::product, b, more);
  for (const FormulaRef& factor : more) {
    if (factor->kind != Kind::number && same(*parts.back(), *factor)) {
      parts.back() = power(factor, 2);
    } else {
      parts.push_back(factor);
    }
  }
  return make(Kind::product, {}, std::move(parts));
}

FormulaRef divide(const FormulaRef& a, const FormulaRef& b) {
  if (isNumber(b, "1") && !b->marked) return a;
  if (a->kind == Kind::negate && !a->marked) return negate(divide(a->parts[0], b));
  return make(Kind::fraction, {}, {a, b});
}

FormulaRef power(const FormulaRef& a, int exponent) {
  if (exponent == 1) return a;
  return make(Kind::power, {}, {a, number(std::to_string(exponent))});
}

FormulaRef function(std::string name, std::vector<FormulaRef> arguments) {
  return make(Kind::function, std::move(name), std::move(arguments));
}

FormulaRef extremum(const std::string& name, const FormulaRef& a, const FormulaRef& b) {
  std::vector<FormulaRef> parts;
  for (const FormulaRef& side : {a, b}) {
    if (side->kind == Kind::function && side->text == name && !side->marked) {
      parts.insert(parts.end(), side->parts.begin(), side->parts.end());
    } else {
      parts.push_back(side);
    }
  }
  return function(name, std::move(parts));
}

FormulaRef relation(std::string sign, const FormulaRef& a, const FormulaRef& b) {
  return make(Kind::relation, std::move(sign), {a, b});
}

FormulaRef cases(const FormulaRef& condition, const FormulaRef& then, const FormulaRef& otherwise) {
  if (same(*then, *otherwise)) return then;
  std::vector<FormulaRef> parts{then, condition};
  if (otherwise->kind == Kind::cases && !otherwise->marked) {
    parts.insert(parts.end(), otherwise->parts.begin(), otherwise->parts.end());
  } else {
    parts.push_back(otherwise);
  }
  return make(Kind::cases, {}, std::move(parts));
}

FormulaRef bigOperator(std::string sign, FormulaRef body, FormulaRef variable, FormulaRef limit,
                       bool inclusive) {
  auto piece = std::make_shared<Formula>();
  piece->kind = Kind::bigOperator;
  piece->text = std::move(sign);
  piece->inclusive = inclusive;
  piece->parts = {std::move(body), std::move(variable), std::move(limit)};
  return piece;
}

FormulaRef fromDim(const tensor::Dim& value,
                   const std::function<std::string(const std::string&)>& counterName) {
  FormulaRef total = number("0");
  // Terms without a constant first: K - 1, not -1 + K.
  std::vector<std::pair<tensor::Dim::Monomial, std::int64_t>> terms(value.terms().begin(),
                                                                    value.terms().end());
  std::ranges::stable_sort(terms, [](const auto& a, const auto& b) {
    const auto rank = [](const auto& t) { return t.first.empty() ? 2 : t.second < 0 ? 1 : 0; };
    return rank(a) < rank(b);
  });
  for (const auto& [monomial, coefficient] : terms) {
    const bool negative = coefficient < 0;
    std::string digits = std::to_string(coefficient);
    if (negative) digits.erase(0, 1);
    FormulaRef term = number(digits);
    for (std::size_t i = 0; i < monomial.size(); ++i) {
      const tensor::Dim::Atom& atom = monomial[i];
      FormulaRef factor;
      if (atom.quotient) {
        factor = make(Kind::floor, {},
                      {divide(fromDim(atom.quotient->numerator, counterName),
                              fromDim(atom.quotient->denominator, counterName))});
      } else {
        factor = symbol(tensor::isCounter(atom.symbol) ? counterName(atom.symbol) : atom.symbol);
      }
      int exponent = 1;
      while (i + 1 < monomial.size() && monomial[i + 1] == atom) {
        ++exponent;
        ++i;
      }
      term = multiply(term, power(factor, exponent));
    }
    total = add(total, negative ? negate(term) : term);
  }
  return total;
}

}  // namespace nuscope::semantics::piece
