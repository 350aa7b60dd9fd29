// Formulas as one line of Unicode, and as HTML.
#include <array>

#include "core/semantics/formula.h"

namespace nuscope::semantics {
namespace {

using Kind = Formula::Kind;

/// How tightly a piece holds together: 0 cases, 1 logic, 2 relations, 3 sums, 4 products and fractions, 5
/// powers, 6 what needs no parentheses.
int strength(const Formula& formula) {
  switch (formula.kind) {
    case Kind::cases:
      return 6;  // in braces
    case Kind::relation:
      return formula.text == "\u2227" || formula.text == "\u2228" ? 1 : 2;
    case Kind::negation:
      return 2;
    case Kind::sum:
    case Kind::negate:
      return 3;
    case Kind::bigOperator:
    case Kind::product:
    case Kind::fraction:
      return 4;
    case Kind::power:
      return 5;
    case Kind::number:
      return formula.text.find('/') == std::string::npos ? 6 : 4;
    default:
      return 6;
  }
}

class Text {
 public:
  explicit Text(bool html) : html_(html) {}

  std::string write(const Formula& formula) const {
    std::string text = plain(formula);
    if (html_ && formula.marked) return "<span class=\"nu-mark\">" + text + "</span>";
    return text;
  }

 private:
  std::string escaped(const std::string& text) const {
    if (!html_) return text;
    std::string result;
    for (const char c : text) {
      if (c == '<') {
        result += "&lt;";
      } else if (c == '>') {
        result += "&gt;";
      } else if (c == '&') {
        result += "&amp;";
      } else {
        result += c;
      }
    }
    return result;
  }

  std::string guarded(const Formula& formula, int least) const {
    const std::string text = write(formula);
    return strength(formula) < least ? "(" + text + ")" : text;
  }

  std::string list(const Formula& formula, std::size_t from, const char* separator) const {
    std::string result;
    for (std::size_t i = from; i < formula.parts.size(); ++i) {
      if (i > from) result += separator;
      result += write(*formula.parts[i]);
    }
    return result;
  }

  std::string subscript(const Formula& formula) const {
    bool letters = true;
    for (std::size_t i = 1; i < formula.parts.size(); ++i) {
      const Formula& part = *formula.parts[i];
      const std::size_t characters = part.text.size() - (part.text.starts_with("\u03C4") ? 1 : 0);
      letters = letters && (part.kind == Kind::symbol || part.kind == Kind::number) && characters == 1;
    }
    const std::string base = guarded(*formula.parts[0], 6);
    const std::string indices = list(formula, 1, letters ? "" : ",");
    if (html_) return base + "<sub>" + indices + "</sub>";
    const bool plainIndex = letters || (formula.parts.size() == 2 && formula.parts[1]->kind == Kind::symbol);
    return base + "_" + (plainIndex ? indices : "{" + indices + "}");
  }

  std::string sum(const Formula& formula) const {
    std::string result;
    for (std::size_t i = 0; i < formula.parts.size(); ++i) {
      const Formula& part = *formula.parts[i];
      const bool last = i + 1 == formula.parts.size();
      const bool negative = part.kind == Kind::negate && !part.marked;
      const Formula& shown = negative ? *part.parts[0] : part;
      if (negative) {
        result += i == 0 ? "-" : " - ";
      } else if (i > 0) {
        result += " + ";
      }
      const bool open = !last && endsOpen(shown);  // a big operator would swallow what follows
      result += open ? "(" + write(shown) + ")" : guarded(shown, negative || part.kind == Kind::sum ? 4 : 3);
    }
    return result;
  }

  static bool endsOpen(const Formula& formula) {
    if (formula.kind == Kind::bigOperator) return true;
    return formula.kind == Kind::product && endsOpen(*formula.parts.back());
  }

  std::string product(const Formula& formula) const {
    std::string result;
    for (std::size_t i = 0; i < formula.parts.size(); ++i) {
      const Formula& part = *formula.parts[i];
      const bool last = i + 1 == formula.parts.size();
      std::string factor = (!last && endsOpen(part)) || (part.kind == Kind::fraction && i > 0)
                               ? "(" + write(part) + ")"
                               : guarded(part, 4);
      const bool digit =
          part.kind == Kind::number || (part.kind == Kind::power && part.parts[0]->kind == Kind::number);
      const bool afterFraction = i == 1 && formula.parts[0]->kind == Kind::fraction;  // a / b . c
      if (i > 0) result += digit || afterFraction ? " \u00B7 " : " ";
      result += factor;
    }
    return result;
  }

  std::string power(const Formula& formula) const {
    const std::string base = guarded(*formula.parts[0], 6);
    if (html_) return base + "<sup>" + write(*formula.parts[1]) + "</sup>";
    static const std::array<const char*, 10> digits{"\u2070", "\u00B9", "\u00B2", "\u00B3", "\u2074",
                                                    "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
    if (formula.parts[1]->kind != Kind::number) return base + "^" + guarded(*formula.parts[1], 6);
    std::string result = base;
    for (const char c : formula.parts[1]->text) result += digits[static_cast<std::size_t>(c - '0')];
    return result;
  }

  std::string bigOperator(const Formula& formula) const {
    const std::string range = write(*formula.parts[1]) +
                              (formula.inclusive ? "\u2264"
                               : html_           ? "&lt;"
                                                 : "<") +
                              guarded(*formula.parts[2], 3);
    const std::string under = html_ ? "<sub>" + range + "</sub>" : "_{" + range + "}";
    return escaped(formula.text) + under + " " + guarded(*formula.parts[0], 4);
  }

  std::string cases(const Formula& formula) const {
    std::string result = "{";
    for (std::size_t i = 0; i + 1 < formula.parts.size(); i += 2) {
      result += write(*formula.parts[i]) + " if " + write(*formula.parts[i + 1]) + "; ";
    }
    return result + write(*formula.parts.back()) + " otherwise}";
  }

  std::string plain(const Formula& formula) const {
    const auto& parts = formula.parts;
    switch (formula.kind) {
      case Kind::number:
        return escaped(formula.text);
      case Kind::symbol:
        return html_ ? "<i>" + escaped(formula.text) + "</i>" : formula.text;
      case Kind::subscript:
        return subscript(formula);
      case Kind::negate:
        return "-" + guarded(*parts[0], 4);
      case Kind::sum:
        return sum(formula);
      case Kind::product:
        return product(formula);
      case Kind::fraction:
        return (endsOpen(*parts[0]) ? "(" + write(*parts[0]) + ")" : guarded(*parts[0], 4)) + " / " +
               guarded(*parts[1], 5);
      case Kind::root:
        return "\u221A" + (parts[0]->kind == Kind::number || parts[0]->kind == Kind::symbol
                               ? write(*parts[0])
                               : "(" + write(*parts[0]) + ")");
      case Kind::power:
        return power(formula);
      case Kind::function:
        return escaped(formula.text) + "(" + list(formula, 0, ", ") + ")";
      case Kind::absolute:
        return "|" + write(*parts[0]) + "|";
      case Kind::floor:
        return "\u230A" + write(*parts[0]) + "\u230B";
      case Kind::bigOperator:
        return bigOperator(formula);
      case Kind::cases:
        return cases(formula);
      case Kind::relation: {
        const int least = strength(formula) + 1;
        return guarded(*parts[0], least) + " " + escaped(formula.text) + " " + guarded(*parts[1], least);
      }
      case Kind::negation:
        return "\u00AC" + guarded(*parts[0], 5);
    }
    return {};
  }

  bool html_;
};

}  // namespace

std::string text(const Formula& formula) {
  return Text(false).write(formula);
}
std::string html(const Formula& formula) {
  return Text(true).write(formula);
}
std::string text(const Definition& definition) {
  return text(*definition.left) + " = " + text(*definition.right);
}

std::string text(const Formulas& formulas) {
  std::string result;
  for (const Definition& definition : formulas.where) result += text(definition) + "\n";
  return result + text(formulas.result);
}

}  // namespace nuscope::semantics
