#include "views/proof/formula_box.h"

#include <algorithm>

namespace nuscope::views {

namespace {

using semantics::Formula;
using semantics::FormulaRef;
using Kind = Formula::Kind;

/// Binding strength: what is weaker than its surroundings gets brackets.
enum Strength {
  relationStrength = 0,
  sumStrength = 1,
  foldStrength = 2,
  productStrength = 3,
  powerStrength = 5,
  atom = 6
};

Strength strength(const Formula& f) {
  switch (f.kind) {
    case Kind::relation:
      return relationStrength;
    case Kind::cases:
      return relationStrength;
    case Kind::sum:
      return sumStrength;
    case Kind::negate:
      return sumStrength;
    case Kind::negation:
      return foldStrength;
    case Kind::bigOperator:
      return foldStrength;
    case Kind::product:
      return productStrength;
    case Kind::fraction:
      return productStrength;
    case Kind::power:
      return powerStrength;
    default:
      return atom;
  }
}

bool isWord(const QString& text) {
  return text.size() > 1 && text.at(1).isLetter();
}

class Builder {
 public:
  Builder(const MathFace& face, const FormulaMarks& marks) : face_(face), marks_(marks) {}

  MathBox build(const Formula& f, int level, bool compact) {
    MathBox box = plain(f, level, compact);
    const auto mark = marks_.find(&f);
    if (mark != marks_.end()) return MathBox::changed(face_, level, box, mark->second);
    return f.marked ? MathBox::changed(face_, level, box, MathInk::moved) : box;
  }

  /// Terms of a sum with their signs, for breaking lines.
  std::vector<MathBox> terms(const Formula& f, int level) {
    std::vector<MathBox> result;
    for (std::size_t i = 0; i < f.parts.size(); ++i)
      result.push_back(term(*f.parts[i], i == 0, level, false));
    return result;
  }
  std::vector<MathBox> factors(const Formula& f, int level) {
    std::vector<MathBox> result;
    for (std::size_t i = 0; i < f.parts.size(); ++i) result.push_back(factor(f, i, level, false));
    return result;
  }

 private:
  MathBox roman(const QString& text, int level) { return MathBox::text(face_, level, text, false); }
  MathBox gap(int level, qreal ems) { return MathBox::space(face_.em(level) * ems); }

  MathBox bracketed(const Formula& f, int level, bool compact, bool brackets) {
    const MathBox box = build(f, level, compact);
    if (!brackets) return box;
    return MathBox::delimited(face_, level, QStringLiteral("("), box, QStringLiteral(")"));
  }
  MathBox at(const FormulaRef& f, int level, bool compact, Strength least) {
    return bracketed(*f, level, compact, strength(*f) < least);
  }

  MathBox number(const Formula& f, int level) {
    const QString text = QString::fromStdString(f.text);
    const auto e = text.indexOf(QLatin1Char('e'));
    if (e <= 0) return roman(QString(text).replace(QLatin1Char('-'), QChar(0x2212)), level);
    bool ok = false;
    const int exponent = text.mid(e + 1).toInt(&ok);
    if (!ok) return roman(text, level);
    const MathBox power = MathBox::scripts(
        face_, level, roman(QStringLiteral("10"), level), {},
        roman(QString::number(exponent).replace(QLatin1Char('-'), QChar(0x2212)), level + 1));
    const QString mantissa = text.left(e);
    if (mantissa == QLatin1String("1")) return power;
    return MathBox::row({roman(mantissa, level), gap(level, 0.12), roman(QStringLiteral("\u00B7"), level),
                         gap(level, 0.12), power});
  }

  MathBox symbol(const Formula& f, int level) {
    const QString text = QString::fromStdString(f.text);
    // A letter with digits, "t1", is a letter with an index.
    qsizetype letters = text.size();
    while (letters > 0 && text.at(letters - 1).isDigit()) --letters;
    if (letters == 1 && text.size() > 1) {
      return MathBox::scripts(face_, level, MathBox::text(face_, level, text.left(1), true),
                              roman(text.mid(1), level + 1), {});
    }
    return MathBox::text(face_, level, text, true);
  }

  MathBox subscript(const Formula& f, int level, const MathBox& above) {
    const MathBox base = at(f.parts[0], level, true, atom);
    bool commas = false;
    for (std::size_t i = 1; i < f.parts.size(); ++i) {
      commas = commas || f.parts[i]->kind != Kind::symbol || f.parts[i]->text.size() > 1;
    }
    commas = commas && f.parts.size() > 2;
    std::vector<MathBox> below;
    for (std::size_t i = 1; i < f.parts.size(); ++i) {
      if (i > 1)
        below.push_back(commas ? MathBox::row({roman(QStringLiteral(","), level + 1), gap(level + 1, 0.15)})
                               : gap(level + 1, 0.06));
      below.push_back(build(*f.parts[i], level + 1, true));
    }
    return MathBox::scripts(face_, level, base, MathBox::row(below), above);
  }

  MathBox power(const Formula& f, int level, bool compact) {
    const Formula& base = *f.parts[0];
    const MathBox above = build(*f.parts[1], level + 1, true);
    // x_mk squared: index and exponent stand over each other.
    if (base.kind == Kind::subscript && !base.marked && !marks_.contains(&base))
      return subscript(base, level, above);
    return MathBox::scripts(face_, level, at(f.parts[0], level, compact, atom), {}, above);
  }

  MathBox term(const Formula& f, bool first, int level, bool compact) {
    const bool negative = f.kind == Kind::negate;
    const Formula& body = negative ? *f.parts[0] : f;
    const qreal space = compact || level > 0 ? 0.14 : 0.24;
    MathBox box = bracketed(body, level, compact,
                            strength(body) <= sumStrength && (negative || body.kind != Kind::sum));
    const QString sign = negative ? QStringLiteral("\u2212") : first ? QString() : QStringLiteral("+");
    if (first) return sign.isEmpty() ? box : MathBox::row({roman(sign, level), gap(level, 0.06), box});
    box = MathBox::row({gap(level, space), roman(sign, level), gap(level, space), box});
    const auto mark = marks_.find(&f);
    return negative && mark != marks_.end() ? MathBox::changed(face_, level, box, mark->second) : box;
  }

  MathBox sum(const Formula& f, int level, bool compact) {
    std::vector<MathBox> parts;
    for (std::size_t i = 0; i < f.parts.size(); ++i)
      parts.push_back(term(*f.parts[i], i == 0, level, compact));
    return MathBox::row(parts);
  }

  /// Factor i with the space or dot before it. A fold reaches to the right as far as it can: only as the last
  /// factor does it stand without brackets.
  MathBox factor(const Formula& f, std::size_t i, int level, bool compact) {
    const Formula& part = *f.parts[i];
    const bool last = i + 1 == f.parts.size();
    const bool grouping = part.kind == Kind::product && i > 0;  // a*(b*c) is shown as written
    const bool brackets = strength(part) < foldStrength || (strength(part) == foldStrength && !last) ||
                          grouping || (part.kind == Kind::product && isMarkedInside(part));
    const MathBox box = bracketed(part, level, compact, brackets);
    if (i == 0) return box;
    const Formula& before = *f.parts[i - 1];
    const bool numbers = part.kind == Kind::number && !brackets;
    const bool words = before.kind == Kind::symbol && before.text.size() > 1;
    if (numbers || (words && part.kind == Kind::symbol)) {
      return MathBox::row({gap(level, 0.14), roman(QStringLiteral("\u00B7"), level), gap(level, 0.14), box});
    }
    return MathBox::row({gap(level, compact || level > 0 ? 0.1 : 0.18), box});
  }

  bool isMarkedInside(const Formula& product) {
    return std::any_of(product.parts.begin(), product.parts.end(),
                       [&](const FormulaRef& part) { return marks_.contains(part.get()); });
  }

  MathBox product(const Formula& f, int level, bool compact) {
    std::vector<MathBox> parts;
    for (std::size_t i = 0; i < f.parts.size(); ++i) parts.push_back(factor(f, i, level, compact));
    return MathBox::row(parts);
  }

  MathBox fraction(const Formula& f, int level, bool compact) {
    if (level > 0) {  // in scripts a slash is easier to read
      return MathBox::row({at(f.parts[0], level, true, productStrength), roman(QStringLiteral("/"), level),
                           at(f.parts[1], level, true, atom)});
    }
    (void)compact;
    return MathBox::fraction(face_, level, build(*f.parts[0], level, true), build(*f.parts[1], level, true));
  }

  MathBox function(const Formula& f, int level, bool compact) {
    const QString name = QString::fromStdString(f.text);
    std::vector<MathBox> arguments;
    for (std::size_t i = 0; i < f.parts.size(); ++i) {
      if (i > 0) arguments.push_back(MathBox::row({roman(QStringLiteral(","), level), gap(level, 0.25)}));
      arguments.push_back(build(*f.parts[i], level, compact));
    }
    const MathBox inner = MathBox::row(arguments);
    return MathBox::row({roman(name, level), gap(level, 0.05),
                         MathBox::delimited(face_, level, QStringLiteral("("), inner, QStringLiteral(")"))});
  }

  MathBox bigOperator(const Formula& f, int level, bool compact) {
    const Formula& variable = *f.parts[1];
    const bool side = compact || level > 0;
    const int small = level + 1;
    const MathBox relation = roman(f.inclusive ? QStringLiteral("\u2264") : QStringLiteral("<"), small);
    const MathBox range = MathBox::row({build(variable, small, true), gap(small, 0.1), relation,
                                        gap(small, 0.1), build(*f.parts[2], small, true)});
    const QString text = QString::fromStdString(f.text);
    MathBox sign;
    if (side) {
      const bool word = isWord(text);
      const MathFace larger = face_.scaled((word ? 1.0 : 1.2) * face_.em(level) / face_.em(0));
      sign = MathBox::scripts(face_, level, MathBox::text(larger, 0, text, false), range, {});
    } else {
      sign = MathBox::fold(face_, level, text, range, {});
    }
    const Formula& body = *f.parts[0];
    const MathBox box = bracketed(body, level, compact, strength(body) < foldStrength);
    return MathBox::row({sign, gap(level, 0.16), box});
  }

  MathBox cases(const Formula& f, int level) {
    std::vector<std::pair<MathBox, MathBox>> rows;
    std::size_t i = 0;
    for (; i + 1 < f.parts.size(); i += 2) {
      rows.emplace_back(build(*f.parts[i], level, true),
                        MathBox::row({roman(QStringLiteral("if "), level), gap(level, 0.2),
                                      build(*f.parts[i + 1], level, true)}));
    }
    if (i < f.parts.size())
      rows.emplace_back(build(*f.parts[i], level, true), roman(QStringLiteral("otherwise"), level));
    return MathBox::cases(face_, level, rows);
  }

  MathBox plain(const Formula& f, int level, bool compact) {
    switch (f.kind) {
      case Kind::number:
        return number(f, level);
      case Kind::symbol:
        return symbol(f, level);
      case Kind::subscript:
        return subscript(f, level, MathBox());
      case Kind::negate:
        return term(f, true, level, compact);
      case Kind::sum:
        return sum(f, level, compact);
      case Kind::product:
        return product(f, level, compact);
      case Kind::fraction:
        return fraction(f, level, compact);
      case Kind::root:
        return MathBox::radical(face_, level, build(*f.parts[0], level, true));
      case Kind::power:
        return power(f, level, compact);
      case Kind::function:
        return function(f, level, compact);
      case Kind::absolute:
        return MathBox::delimited(face_, level, QStringLiteral("|"), build(*f.parts[0], level, compact),
                                  QStringLiteral("|"));
      case Kind::floor:
        return MathBox::delimited(face_, level, QStringLiteral("\u230A"), build(*f.parts[0], level, compact),
                                  QStringLiteral("\u230B"));
      case Kind::bigOperator:
        return bigOperator(f, level, compact);
      case Kind::cases:
        return cases(f, level);
      case Kind::relation: {
        const qreal space = level > 0 ? 0.1 : 0.26;
        return MathBox::row({at(f.parts[0], level, compact, sumStrength), gap(level, space),
                             roman(QString::fromStdString(f.text), level), gap(level, space),
                             at(f.parts[1], level, compact, sumStrength)});
      }
      case Kind::negation:
        return MathBox::row({roman(QStringLiteral("\u00AC"), level), at(f.parts[0], level, compact, atom)});
    }
    return {};
  }

  const MathFace& face_;
  const FormulaMarks& marks_;
};

/// Pieces filled into lines of at most `width`; lines after the first start at `indent`.
MathBox filled(const MathFace& face, const MathBox& prefix, const std::vector<MathBox>& pieces, qreal width) {
  const qreal indent = prefix.width + face.em(0) * 0.6;
  std::vector<MathBox> lines;
  std::vector<MathBox> line{prefix};
  qreal used = prefix.width;
  for (const MathBox& piece : pieces) {
    if (line.size() > 1 && used + piece.width > width) {
      lines.push_back(MathBox::row(line));
      line = {MathBox::space(indent)};
      used = indent;
    }
    line.push_back(piece);
    used += piece.width;
  }
  lines.push_back(MathBox::row(line));
  return MathBox::stack(lines, face.em(0) * 0.45);
}

}  // namespace

MathBox formulaBox(const MathFace& face, const Formula& formula, const FormulaMarks& marks) {
  return Builder(face, marks).build(formula, 0, false);
}

MathBox fittedFormula(const MathFace& face, const MathBox& prefix, const Formula& formula,
                      const FormulaMarks& marks, qreal width, qreal smallest) {
  MathBox best = MathBox::row({prefix, formulaBox(face, formula, marks)});
  if (best.width <= width) return best;
  if (formula.kind == Kind::sum || formula.kind == Kind::product) {
    Builder builder(face, marks);
    const auto pieces = formula.kind == Kind::sum ? builder.terms(formula, 0) : builder.factors(formula, 0);
    MathBox broken = filled(face, prefix, pieces, width);
    if (broken.width <= width) return broken;
    if (broken.width < best.width) best = std::move(broken);
  }
  for (qreal scale = 0.9; scale >= smallest - 1e-9; scale -= 0.075) {
    const MathFace smaller = face.scaled(scale);
    MathBox box = MathBox::row({prefix, formulaBox(smaller, formula, marks)});
    if (box.width <= width) return box;
  }
  return best;
}

}  // namespace nuscope::views
