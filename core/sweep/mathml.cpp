#include "core/sweep/mathml.h"

#include "core/sweep/report_parts.h"

namespace nuscope::sweep {

namespace {

using semantics::Formula;
using Kind = Formula::Kind;

/// Binding strength, as in every printer of formulas: what is weaker than its place gets brackets.
int strength(const Formula& f) {
  switch (f.kind) {
    case Kind::relation:
    case Kind::cases:
      return 0;
    case Kind::sum:
    case Kind::negate:
      return 1;
    case Kind::bigOperator:
    case Kind::negation:
      return 2;
    case Kind::product:
    case Kind::fraction:
      return 3;
    case Kind::power:
      return 5;
    default:
      return 6;
  }
}

std::string mo(const std::string& text) {
  return "<mo>" + escapeHtml(text) + "</mo>";
}
std::string row(const std::string& text) {
  return "<mrow>" + text + "</mrow>";
}

std::string bracketed(const Formula& f, bool brackets) {
  return brackets ? row(mo("(") + mathml(f) + mo(")")) : mathml(f);
}
std::string least(const Formula& f, int wanted) {
  return bracketed(f, strength(f) < wanted);
}

std::string number(const std::string& text) {
  const auto e = text.find('e');
  const auto plain = [](std::string digits) {
    if (!digits.empty() && digits[0] == '-') return row(mo("\u2212") + "<mn>" + digits.substr(1) + "</mn>");
    return "<mn>" + escapeHtml(digits) + "</mn>";
  };
  if (e == std::string::npos || e == 0) return plain(text);
  std::string exponent = text.substr(e + 1);
  const bool negative = !exponent.empty() && exponent[0] == '-';
  exponent.erase(0, exponent.find_first_not_of("+-0"));
  const std::string power = "<msup><mn>10</mn>" + plain((negative ? "-" : "") + exponent) + "</msup>";
  const std::string mantissa = text.substr(0, e);
  return mantissa == "1" ? power : row(plain(mantissa) + mo("\u00B7") + power);
}

std::string indices(const Formula& f) {
  bool commas = false;
  for (std::size_t i = 1; i < f.parts.size(); ++i) {
    commas = commas || f.parts[i]->kind != Kind::symbol || f.parts[i]->text.size() > 1;
  }
  std::string text;
  for (std::size_t i = 1; i < f.parts.size(); ++i) {
    if (i > 1 && commas) text += mo(",");
    text += mathml(*f.parts[i]);
  }
  return row(text);
}

std::string sum(const Formula& f) {
  std::string text;
  for (std::size_t i = 0; i < f.parts.size(); ++i) {
    const Formula& part = *f.parts[i];
    const bool negative = part.kind == Kind::negate;
    const Formula& body = negative ? *part.parts[0] : part;
    if (negative) text += mo("\u2212");
    if (!negative && i > 0) text += mo("+");
    text += bracketed(body, strength(body) < 2);
  }
  return row(text);
}

std::string product(const Formula& f) {
  std::string text;
  for (std::size_t i = 0; i < f.parts.size(); ++i) {
    const Formula& part = *f.parts[i];
    const bool last = i + 1 == f.parts.size();
    const bool fold = strength(part) == 2 && !last;
    const bool grouped = part.kind == Kind::product;
    const bool words = i > 0 && part.kind == Kind::symbol && f.parts[i - 1]->kind == Kind::symbol;
    if (i > 0) text += part.kind == Kind::number || words ? mo("\u00B7") : "<mspace width=\"0.15em\"/>";
    text += bracketed(part, strength(part) < 2 || fold || grouped);
  }
  return row(text);
}

std::string bigOperator(const Formula& f) {
  const std::string range = row(mathml(*f.parts[1]) + mo(f.inclusive ? "\u2264" : "<") + mathml(*f.parts[2]));
  const bool word = f.text == "max" || f.text == "min";
  const std::string sign = word ? "<mi mathvariant=\"normal\">" + f.text + "</mi>"
                                : "<mo largeop=\"true\">" + escapeHtml(f.text) + "</mo>";
  return row("<munder>" + sign + range + "</munder><mspace width=\"0.15em\"/>" + least(*f.parts[0], 2));
}

std::string cases(const Formula& f) {
  std::string rows;
  std::size_t i = 0;
  for (; i + 1 < f.parts.size(); i += 2) {
    rows += "<mtr><mtd>" + mathml(*f.parts[i]) + "</mtd><mtd><mtext>if </mtext>" + mathml(*f.parts[i + 1]) +
            "</mtd></mtr>";
  }
  if (i < f.parts.size())
    rows += "<mtr><mtd>" + mathml(*f.parts[i]) + "</mtd><mtd><mtext>otherwise</mtext></mtd></mtr>";
  return row(mo("{") + "<mtable columnalign=\"left left\">" + rows + "</mtable>");
}

std::string plain(const Formula& f) {
  switch (f.kind) {
    case Kind::number:
      return number(f.text);
    case Kind::symbol:
      return "<mi>" + escapeHtml(f.text) + "</mi>";
    case Kind::subscript:
      return "<msub>" + least(*f.parts[0], 6) + indices(f) + "</msub>";
    case Kind::negate:
      return row(mo("\u2212") + least(*f.parts[0], 2));
    case Kind::sum:
      return sum(f);
    case Kind::product:
      return product(f);
    case Kind::fraction:
      return "<mfrac>" + row(mathml(*f.parts[0])) + row(mathml(*f.parts[1])) + "</mfrac>";
    case Kind::root:
      return "<msqrt>" + mathml(*f.parts[0]) + "</msqrt>";
    case Kind::power:
      if (f.parts[0]->kind == Kind::subscript) {
        return "<msubsup>" + least(*f.parts[0]->parts[0], 6) + indices(*f.parts[0]) + mathml(*f.parts[1]) +
               "</msubsup>";
      }
      return "<msup>" + least(*f.parts[0], 6) + mathml(*f.parts[1]) + "</msup>";
    case Kind::function: {
      std::string arguments;
      for (std::size_t i = 0; i < f.parts.size(); ++i)
        arguments += (i > 0 ? mo(",") : "") + mathml(*f.parts[i]);
      return row("<mi mathvariant=\"normal\">" + escapeHtml(f.text) + "</mi>" + mo("(") + arguments +
                 mo(")"));
    }
    case Kind::absolute:
      return row(mo("|") + mathml(*f.parts[0]) + mo("|"));
    case Kind::floor:
      return row(mo("\u230A") + mathml(*f.parts[0]) + mo("\u230B"));
    case Kind::bigOperator:
      return bigOperator(f);
    case Kind::cases:
      return cases(f);
    case Kind::relation:
      return row(least(*f.parts[0], 1) + mo(f.text) + least(*f.parts[1], 1));
    case Kind::negation:
      return row(mo("\u00AC") + least(*f.parts[0], 6));
  }
  return {};
}

}  // namespace

std::string mathml(const Formula& formula) {
  const std::string text = plain(formula);
  return formula.marked ? "<mrow class=\"moved\">" + text + "</mrow>" : text;
}

std::string mathmlLine(const Formula* left, const std::string& relation, const Formula& right) {
  return "<math display=\"block\">" + (left != nullptr ? mathml(*left) : "") +
         (relation.empty() ? "" : mo(relation)) + mathml(right) + "</math>\n";
}

}  // namespace nuscope::sweep
