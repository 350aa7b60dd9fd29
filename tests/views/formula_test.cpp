// Formulas as boxes without a window: geometry, brackets by precedence, what is marked as changed.
#include <gtest/gtest.h>

#include <QBuffer>
#include <QImage>
#include <QPainter>
#include <QSvgGenerator>

#include "views/proof/formula_diff.h"
#include "views/proof/math_sheet.h"

namespace nuscope::views {
namespace {

using semantics::Formula;
using semantics::FormulaRef;
using Kind = Formula::Kind;

FormulaRef make(Kind kind, std::vector<FormulaRef> parts = {}, std::string text = {}) {
  auto f = std::make_shared<Formula>();
  f->kind = kind;
  f->parts = std::move(parts);
  f->text = std::move(text);
  return f;
}
FormulaRef sym(std::string name) {
  return make(Kind::symbol, {}, std::move(name));
}
FormulaRef num(std::string name) {
  return make(Kind::number, {}, std::move(name));
}
FormulaRef at(std::string name, std::vector<std::string> indices) {
  std::vector<FormulaRef> parts{sym(std::move(name))};
  for (auto& index : indices) parts.push_back(sym(index));
  return make(Kind::subscript, parts);
}
FormulaRef product(std::vector<FormulaRef> parts) {
  return make(Kind::product, std::move(parts));
}
FormulaRef sum(std::vector<FormulaRef> parts) {
  return make(Kind::sum, std::move(parts));
}
FormulaRef sigma(FormulaRef body, std::string variable = "k", std::string limit = "K") {
  return make(Kind::bigOperator, {std::move(body), sym(std::move(variable)), sym(std::move(limit))},
              "\u03A3");
}
FormulaRef fraction(FormulaRef a, FormulaRef b) {
  return make(Kind::fraction, {std::move(a), std::move(b)});
}

// (sum_k (x g) w) / r and (sum_k x (g w)) / r
FormulaRef gainFirst() {
  return fraction(sigma(product({product({at("x", {"m", "k"}), at("g", {"k"})}), at("w", {"k", "n"})})),
                  at("r", {"m"}));
}
FormulaRef gainLast() {
  return fraction(sigma(product({at("x", {"m", "k"}), product({at("g", {"k"}), at("w", {"k", "n"})})})),
                  at("r", {"m"}));
}
FormulaRef root() {
  return make(
      Kind::root,
      {sum({fraction(sigma(make(Kind::power, {at("x", {"m", "k"}), num("2")})), sym("K")), num("1e-05")})});
}

const MathColors lightColors{.text = QColor("#1F2328"),
                             .muted = QColor("#656D76"),
                             .added = QColor("#1A7F37"),
                             .removed = QColor("#C93C37"),
                             .moved = QColor("#1A7F37"),
                             .addedTint = QColor("#E3F3E7"),
                             .removedTint = QColor("#FBE7E6"),
                             .movedTint = QColor("#E3F3E7")};

void keep(MathSheet& sheet, const char* name, qreal width) {
  const QString folder = qEnvironmentVariable("NUSCOPE_PICTURES");
  if (folder.isEmpty()) return;
  sheet.layout(18, width);
  QImage image((sheet.size() + QSizeF(24, 24)).toSize() * 2, QImage::Format_RGB32);
  image.fill(Qt::white);
  QPainter painter(&image);
  painter.scale(2, 2);
  sheet.paint(painter, {12, 12}, lightColors);
  painter.end();
  image.save(folder + "/" + name + ".png");
}

TEST(FormulaBox, AFractionIsHigherThanItsPartsAndAsWideAsTheWider) {
  const MathFace face(18);
  const auto a = formulaBox(face, *at("x", {"m", "k"}));
  const auto b = formulaBox(face, *sym("r"));
  const auto box = formulaBox(face, *fraction(at("x", {"m", "k"}), sym("r")));
  EXPECT_GT(box.height(), a.height() + b.height());
  EXPECT_GE(box.width, a.width);
  EXPECT_LT(box.width, a.width + b.width + 18);
}

TEST(FormulaBox, SubscriptsHangBelowTheBaseline) {
  const MathFace face(18);
  const auto plain = formulaBox(face, *sym("x"));
  const auto with = formulaBox(face, *at("x", {"m", "k"}));
  EXPECT_GT(with.descent, plain.descent + 1);
  EXPECT_GT(with.width, plain.width);
}

TEST(FormulaBox, ASumInAProductGetsBracketsAndAProductInASumDoesNot) {
  const MathFace face(18);
  const auto a = sym("a");
  const auto b = sym("b");
  const auto bare = formulaBox(face, *sum({a, b})).width + formulaBox(face, *a).width;
  EXPECT_GT(formulaBox(face, *product({sum({a, b}), a})).width, bare + 8);
  const auto ab = formulaBox(face, *product({a, b})).width;
  EXPECT_LT(formulaBox(face, *sum({product({a, b}), a})).width,
            ab + formulaBox(face, *sum({a, a})).width + 1);
}

TEST(FormulaBox, EveryKindHasInk) {
  const MathFace face(18);
  const auto x = sym("x");
  const std::vector<FormulaRef> all{
      num("2"),
      num("1e-05"),
      x,
      at("x", {"m"}),
      make(Kind::negate, {x}),
      sum({x, make(Kind::negate, {x})}),
      product({x, x}),
      fraction(x, x),
      make(Kind::root, {x}),
      make(Kind::power, {x, num("2")}),
      make(Kind::function, {x}, "exp"),
      make(Kind::absolute, {x}),
      make(Kind::floor, {x}),
      sigma(x),
      make(Kind::bigOperator, {x, sym("k"), sym("K")}, "max"),
      make(Kind::cases, {x, make(Kind::relation, {x, num("0")}, "<"), num("0")}),
      make(Kind::relation, {x, x}, "\u2264"),
      make(Kind::negation, {x})};
  for (const auto& f : all) {
    const MathBox box = formulaBox(face, *f);
    EXPECT_FALSE(box.empty()) << static_cast<int>(f->kind);
    EXPECT_GT(box.width, 2) << static_cast<int>(f->kind);
    EXPECT_GT(box.height(), 4) << static_cast<int>(f->kind);
  }
}

TEST(FormulaBox, LongSumsBreakBeforeTheirSigns) {
  std::vector<FormulaRef> terms;
  for (int i = 0; i < 12; ++i) terms.push_back(product({at("alpha", {"m"}), at("beta", {"n"})}));
  const MathFace face(18);
  const auto whole = formulaBox(face, *sum(terms));
  const auto fitted = fittedFormula(face, {}, *sum(terms), {}, 300);
  EXPECT_GT(whole.width, 600);
  EXPECT_LE(fitted.width, 300);
  EXPECT_GT(fitted.height(), 2 * whole.height());
}

TEST(FormulaDifference, TheGainThatMovedIsMarkedOnBothSides) {
  const auto left = gainFirst();
  const auto right = gainLast();
  const auto d = difference(*left, *right);
  ASSERT_EQ(d.left.size(), 1U);
  ASSERT_EQ(d.right.size(), 1U);
  EXPECT_EQ(semantics::text(*d.left.begin()->first), semantics::text(*at("g", {"k"})));
  EXPECT_EQ(semantics::text(*d.right.begin()->first), semantics::text(*at("g", {"k"})));
  EXPECT_EQ(d.left.begin()->second, MathInk::moved);
}

TEST(FormulaDifference, ADivisionThatLeavesTheSumIsMarked) {
  const auto left = sigma(product({fraction(at("x", {"m", "k"}), at("r", {"m"})), at("w", {"k", "n"})}));
  const auto right = fraction(sigma(product({at("x", {"m", "k"}), at("w", {"k", "n"})})), at("r", {"m"}));
  const auto d = difference(*left, *right);
  ASSERT_EQ(d.left.size(), 1U);
  EXPECT_EQ(semantics::text(*d.left.begin()->first), semantics::text(*at("r", {"m"})));
  ASSERT_EQ(d.right.size(), 1U);
}

TEST(FormulaDifference, EqualFormulasHaveNone) {
  EXPECT_TRUE(difference(*gainFirst(), *gainFirst()).empty());
}

MathLine line(const QString& relation, FormulaRef formula, FormulaMarks marks = {}) {
  MathLine result;
  result.relation = relation;
  result.formula = std::move(formula);
  result.marks = std::move(marks);
  return result;
}
MathLine name(FormulaRef left, FormulaRef formula) {
  MathLine result = line({}, std::move(formula));
  result.left = std::move(left);
  result.muted = true;
  return result;
}

TEST(MathSheet, TextSaysWhatIsPainted) {
  MathSheet sheet;
  sheet.setLines({line({}, gainFirst()), line("=", gainLast()), name(at("r", {"m"}), root())});
  const QString text = sheet.text();
  EXPECT_TRUE(text.contains(QString::fromUtf8("\u03A3")));
  EXPECT_EQ(text.count('\n'), 2);
}

TEST(MathSheet, PaintsTheSameIntoASvg) {
  const auto left = gainFirst();
  const auto right = gainLast();
  const auto d = difference(*left, *right);
  const auto x = at("x", {"i"});
  const auto largest = make(Kind::bigOperator, {x, sym("j"), sym("N")}, "max");
  const auto steps =
      product({make(Kind::function, {sum({x, make(Kind::negate, {largest})})}, "exp"),
               make(Kind::absolute, {fraction(x, make(Kind::power, {sum({x, num("1")}), num("2")}))}),
               make(Kind::floor, {fraction(sym("n"), num("2"))})});
  const auto leaky =
      make(Kind::cases, {x, make(Kind::relation, {x, num("0")}, ">"), product({num("0.1"), x})});
  MathSheet sheet;
  sheet.setLines({line({}, left, d.left), line("=", right, d.right), name(at("r", {"m"}), root()),
                  line({}, leaky), line("=", steps)});
  keep(sheet, "math", 1000);
  sheet.layout(18, 1000);
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  QSvgGenerator generator;
  generator.setOutputDevice(&buffer);
  generator.setSize(sheet.size().toSize());
  QPainter painter(&generator);
  sheet.paint(painter, {0, 0}, lightColors);
  painter.end();
  EXPECT_TRUE(bytes.contains("<text"));
  EXPECT_TRUE(bytes.contains("<path"));
  EXPECT_FALSE(bytes.contains("<image"));
}

}  // namespace
}  // namespace nuscope::views
