#pragma once
// Boxes of mathematics: glyphs, rules and curves placed around a baseline, and the ways to put them together
// (rows, fractions, roots, scripts, folds with limits, cases). A box is a value, knows no widget, and is
// painted by the same code on screen, into a PNG and into an SVG. Lengths are in the painter's units (pixels
// on screen).
#include <QColor>
#include <QFont>
#include <QPainterPath>
#include <QPointF>
#include <QRectF>
#include <QString>
#include <vector>

class QPainter;

namespace nuscope::views {

/// What a stroke of ink means; colours are chosen when painting.
enum class MathInk : std::uint8_t { normal, muted, added, removed, moved };

struct MathColors {
  QColor text, muted;
  QColor added, removed, moved;              ///< ink of what changed
  QColor addedTint, removedTint, movedTint;  ///< the patch behind it
};

/// Fonts of one formula. Level 0 is running text, 1 a script, 2 a script of a script.
class MathFace {
 public:
  /// Family: the best serif face with an italic that is installed (STIX Two, Libertinus, ... DejaVu Serif).
  explicit MathFace(qreal pixelSize, QString family = installedFamily());
  static QString installedFamily();
  /// The same family at another size.
  [[nodiscard]] MathFace scaled(qreal factor) const { return MathFace(pixelSize_ * factor, family_); }
  [[nodiscard]] QFont font(int level, bool italic) const;
  [[nodiscard]] qreal em(int level) const;    ///< the font's size at that level
  [[nodiscard]] qreal axis(int level) const;  ///< height of the minus sign above the baseline
  [[nodiscard]] qreal rule(int level) const;  ///< thickness of fraction bars and roots
 private:
  qreal pixelSize_;
  QString family_;
};

class MathBox {
 public:
  qreal width = 0;
  qreal ascent = 0;   ///< above the baseline, >= 0
  qreal descent = 0;  ///< below, >= 0
  [[nodiscard]] qreal height() const { return ascent + descent; }
  [[nodiscard]] bool empty() const { return glyphs_.empty() && shapes_.empty(); }

  static MathBox space(qreal width);
  static MathBox text(const MathFace& face, int level, const QString& text, bool italic);
  /// Boxes side by side on one baseline.
  static MathBox row(const std::vector<MathBox>& parts);
  /// Boxes below each other, left-aligned, `gap` apart; the baseline is that of the first.
  static MathBox stack(const std::vector<MathBox>& lines, qreal gap);
  static MathBox fraction(const MathFace& face, int level, const MathBox& numerator,
                          const MathBox& denominator);
  static MathBox radical(const MathFace& face, int level, const MathBox& body);
  static MathBox radical(const MathFace& face, int level, const MathBox& body, const MathBox& index);
  static MathBox scripts(const MathFace& face, int level, const MathBox& base, const MathBox& below,
                         const MathBox& above);
  /// A large operator (Σ, Π) or its word (max, min) with its range set under it, and a limit above (may be
  /// empty).
  static MathBox fold(const MathFace& face, int level, const QString& symbol, const MathBox& below,
                      const MathBox& above);
  /// Brackets that grow: "(", ")", "[", "]", "{", "|", "⌊", "⌋", "⌈", "⌉"; an empty string draws none.
  static MathBox delimited(const MathFace& face, int level, const QString& left, const MathBox& body,
                           const QString& right);
  /// Rows of value and condition behind one brace.
  static MathBox cases(const MathFace& face, int level, const std::vector<std::pair<MathBox, MathBox>>& rows);
  /// The box on a patch of the colour of `ink`; its ink takes that meaning too.
  static MathBox changed(const MathFace& face, int level, const MathBox& body, MathInk ink);
  static MathBox muted(MathBox body);

  /// `origin`: the left end of the baseline.
  void paint(QPainter& painter, QPointF origin, const MathColors& colors) const;
  /// Bounds relative to the left end of the baseline (y downwards).
  [[nodiscard]] QRectF bounds() const { return {0, -ascent, width, height()}; }

 private:
  struct Glyphs {
    QPointF at;
    QString text;
    QFont font;
    MathInk ink = MathInk::normal;
  };
  struct Shape {
    QPainterPath path;
    qreal pen = 0;  ///< 0: filled
    MathInk ink = MathInk::normal;
    bool tint = false;
  };
  void take(const MathBox& part, QPointF at);
  void cover();  ///< no negative extents
  std::vector<Glyphs> glyphs_;
  std::vector<Shape> shapes_;
};

}  // namespace nuscope::views
