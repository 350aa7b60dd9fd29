#pragma once
// The one theme: every colour, font and length of the explorer (shared/LOOK.md). Palettes, graphs, plots,
// formulas and highlighters read it; nothing else names a colour. A colour is never the only carrier of a
// meaning: marks.h has the shape that goes with each.
#include <QColor>
#include <QFont>
#include <QObject>
#include <QPalette>
#include <array>

#include "core/proof/verdict.h"

class QApplication;

namespace nuscope::views {

/// Values for one appearance and one scale. Lengths are device-independent pixels and already scaled.
struct Theme {
  bool dark = false;
  double scale = 1.0;  ///< 1.0: 100 %; "scale all" of the View menu

  // Chrome
  QColor window, surface, line, text, muted;
  QColor hoverFill;      ///< under the pointer in lists, tabs, buttons
  QColor selectionFill;  ///< selected rows and the current line: a tint of `selection`
  QColor selection;      ///< 2 px outline, links, the one filled button
  QColor onSelection;    ///< text on a filled button
  QColor disabled;

  // Meanings
  QColor proved, refuted, unknown, running;
  QColor provedFill, refutedFill, unknownFill;  ///< tints for cells and highlighted terms
  QColor added, removed, moved;                 ///< changed against the parent
  std::array<QColor, 4> stage;                  ///< algebra, tiled, instructions, fused
  std::array<QColor, 4> stageFill;              ///< the same as the tab of a card
  // Kinds of operators on cards: input, elementwise, fold, matmul, layout
  QColor inputKind, elementwiseKind, foldKind, contractKind, layoutKind;
  QColor inputKindFill, elementwiseKindFill, foldKindFill, contractKindFill, layoutKindFill;
  QColor edge;  ///< thin edges of graphs

  // Code
  QColor codeKeyword, codeName, codeType, codeNumber, codeString, codeComment;

  // Plots: Okabe and Ito, in an order that keeps neighbours apart; black becomes `text` in the dark
  std::array<QColor, 8> series;
  QColor grid;

  // Type
  QFont ui;        ///< 10 pt
  QFont small;     ///< 9 pt, the smallest there is
  QFont heading;   ///< 11 pt semi-bold: titles of panels
  QFont headline;  ///< 14 pt semi-bold: the sentence that opens a view
  QFont code;      ///< monospaced 10 pt: code, shapes, numbers
  QFont math;      ///< serif italic for formulas, 13 pt

  // Lengths
  int unit = 4;
  int control = 28;  ///< height of buttons and fields
  int row = 24;      ///< height of a table row
  int gutter = 12;
  int padding = 8;
  int header = 32;    ///< height of a panel's title row
  double radius = 6;  ///< round corners of cards

  [[nodiscard]] QColor of(proof::Verdict verdict) const;
  [[nodiscard]] QColor fillOf(proof::Verdict verdict) const;
  [[nodiscard]] QPalette palette() const;
  [[nodiscard]] QString styleSheet()
      const;  ///< what Fusion and the palette cannot say: hairlines, flat headers
  /// viridis at t in [0, 1], for heat maps.
  [[nodiscard]] static QColor viridis(double t);
  /// blue, white (dark: surface), red for t in [-1, 1], for differences.
  [[nodiscard]] QColor difference(double t) const;
};

constexpr double smallestScale = 0.75, largestScale = 3;

Theme makeTheme(bool dark, double scale = 1.0);

enum class Appearance { light, dark, system };

/// Holds the current theme and tells who paints that it changed. Lives in the window's thread.
class ThemeSource : public QObject {
  Q_OBJECT
 public:
  explicit ThemeSource(QObject* parent = nullptr);
  [[nodiscard]] const Theme& theme() const { return theme_; }
  [[nodiscard]] Appearance appearance() const { return appearance_; }
  void setAppearance(Appearance appearance);
  /// Clamped to [smallestScale, largestScale].
  void setScale(double scale);
  /// Sets style, palette, font and style sheet of the application, now and on every change.
  void applyTo(QApplication& application);

 Q_SIGNALS:
  void changed();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;  ///< follows the system's palette

 private:
  void rebuild();
  Theme theme_;
  Appearance appearance_ = Appearance::system;
  double scale_ = 1.0;
  bool systemDark_ = false;
  QApplication* application_ = nullptr;
};

}  // namespace nuscope::views
