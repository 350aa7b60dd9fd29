#include "views/theme.h"

#include <QApplication>
#include <QEvent>
#include <QFontDatabase>
#include <QStyleFactory>
#include <algorithm>
#include <cmath>

namespace nuscope::views {

namespace {

QColor mix(const QColor& a, const QColor& b, double share) {
  return QColor::fromRgbF(static_cast<float>(a.redF() + (b.redF() - a.redF()) * share),
                          static_cast<float>(a.greenF() + (b.greenF() - a.greenF()) * share),
                          static_cast<float>(a.blueF() + (b.blueF() - a.blueF()) * share));
}

QString firstFamily(const QStringList& wanted, const QString& otherwise) {
  const QStringList present = QFontDatabase::families();
  for (const QString& family : wanted) {
    if (present.contains(family)) return family;
  }
  return otherwise;
}

/// The desktop's own face; where none was chosen (bare fontconfig fallback) a face made for screens.
QString sansFamily() {
  const QString system = QFontDatabase::systemFont(QFontDatabase::GeneralFont).family();
  static const QStringList fallbacks{QString(),
                                     QStringLiteral("DejaVu Sans"),
                                     QStringLiteral("Sans Serif"),
                                     QStringLiteral("Sans"),
                                     QStringLiteral("Bitstream Vera Sans"),
                                     QStringLiteral("Helvetica")};
  if (!fallbacks.contains(system)) return system;
  return firstFamily({QStringLiteral("Inter"), QStringLiteral("Noto Sans"), QStringLiteral("DejaVu Sans")},
                     system);
}

void setFonts(Theme& t) {
  const auto font = [&](const QString& family, double points, QFont::Weight weight = QFont::Normal) {
    QFont f(family);
    f.setPointSizeF(points * t.scale);
    f.setWeight(weight);
    return f;
  };
  const QString sans = sansFamily();
  t.ui = font(sans, 10);
  t.small = font(sans, 9);
  t.heading = font(sans, 10.5, QFont::DemiBold);
  t.headline = font(sans, 14, QFont::DemiBold);
  const QString mono = firstFamily({QStringLiteral("JetBrains Mono NL"), QStringLiteral("DejaVu Sans Mono")},
                                   QFontDatabase::systemFont(QFontDatabase::FixedFont).family());
  t.code = font(mono, 9.5);
  t.code.setStyleHint(QFont::Monospace);
  t.code.setFixedPitch(true);
  // No face with ligatures, which merge "!=" into one sign: code is shown as it is written.
  t.code.setStyleStrategy(QFont::PreferAntialias);
  const QString serif = firstFamily({QStringLiteral("STIX Two Text"), QStringLiteral("Libertinus Serif"),
                                     QStringLiteral("Liberation Serif"), QStringLiteral("DejaVu Serif")},
                                    QStringLiteral("serif"));
  t.math = font(serif, 13);
}

void setLengths(Theme& t) {
  const auto px = [&](int length) { return static_cast<int>(std::lround(length * t.scale)); };
  t.unit = px(4);
  t.control = px(28);
  t.row = px(24);
  t.gutter = px(12);
  t.padding = px(8);
  t.header = px(32);
  t.radius = 6 * t.scale;
}

void setColours(Theme& t) {
  const auto pick = [&](const char* light, const char* dark) {
    return QColor(QLatin1String(t.dark ? dark : light));
  };
  t.window = pick("#F6F6F4", "#1B1D20");
  t.surface = pick("#FFFFFF", "#23262A");
  t.line = pick("#D9D9D6", "#3A3E44");
  t.text = pick("#1F2328", "#E4E6E8");
  t.muted = pick("#656D76", "#9AA2AB");
  t.selection = pick("#2F6FDE", "#6CB6FF");
  t.onSelection = pick("#FFFFFF", "#12202E");
  t.disabled = mix(t.muted, t.surface, 0.45);
  t.proved = pick("#1A7F37", "#4AC26B");
  t.refuted = pick("#C93C37", "#F47067");
  t.unknown = pick("#9A6700", "#D4A72C");
  t.running = pick("#2F6FDE", "#6CB6FF");
  t.added = t.proved;
  t.removed = t.refuted;
  t.moved = pick("#5B6CD9", "#98A4F5");
  t.stage = {pick("#5B6CD9", "#98A4F5"), pick("#1B8A9A", "#57C4D4"), pick("#9A5CC0", "#C79BE6"),
             pick("#C7672A", "#E99C66")};
  const double tint = t.dark ? 0.16 : 0.12;
  const auto fill = [&](const QColor& c) { return mix(t.surface, c, tint); };
  for (std::size_t i = 0; i < t.stage.size(); ++i) t.stageFill[i] = fill(t.stage[i]);
  t.provedFill = fill(t.proved);
  t.refutedFill = fill(t.refuted);
  t.unknownFill = fill(t.unknown);
  t.selectionFill = mix(t.surface, t.selection, t.dark ? 0.13 : 0.09);
  t.hoverFill = mix(t.window, t.text, 0.06);
  t.inputKind = t.muted;
  t.elementwiseKind = t.stage[0];
  t.foldKind = t.stage[1];
  t.contractKind = t.stage[2];
  t.layoutKind = t.stage[3];
  t.inputKindFill = mix(t.surface, t.muted, t.dark ? 0.2 : 0.16);
  t.elementwiseKindFill = fill(t.elementwiseKind);
  t.foldKindFill = fill(t.foldKind);
  t.contractKindFill = fill(t.contractKind);
  t.layoutKindFill = fill(t.layoutKind);
  t.edge = pick("#6E757E", "#838B95");
  t.codeKeyword = pick("#8B3FB0", "#C79BE6");
  t.codeName = pick("#3B57C4", "#98A4F5");
  t.codeType = pick("#0F7382", "#57C4D4");
  t.codeNumber = pick("#B3541E", "#E99C66");
  t.codeString = pick("#1A7F37", "#7BCB90");
  t.codeComment = t.muted;
  t.series = {QColor(0x00, 0x72, 0xB2), QColor(0xD5, 0x5E, 0x00),         QColor(0x00, 0x9E, 0x73),
              QColor(0xCC, 0x79, 0xA7), QColor(0x56, 0xB4, 0xE9),         QColor(0xE6, 0x9F, 0x00),
              QColor(0xF0, 0xE4, 0x42), t.dark ? t.text : QColor(0, 0, 0)};
  if (t.dark) std::swap(t.series[0], t.series[4]);  // the lighter blue carries more on a dark ground
  t.grid = mix(t.surface, t.line, 0.7);
}

}  // namespace

Theme makeTheme(bool dark, double scale) {
  Theme t;
  t.dark = dark;
  t.scale = scale;
  setColours(t);
  setFonts(t);
  setLengths(t);
  return t;
}

QColor Theme::of(proof::Verdict verdict) const {
  switch (verdict) {
    case proof::Verdict::proved:
      return proved;
    case proof::Verdict::refuted:
      return refuted;
    case proof::Verdict::unknown:
      return unknown;
  }
  return unknown;
}

QColor Theme::fillOf(proof::Verdict verdict) const {
  switch (verdict) {
    case proof::Verdict::proved:
      return provedFill;
    case proof::Verdict::refuted:
      return refutedFill;
    case proof::Verdict::unknown:
      return unknownFill;
  }
  return unknownFill;
}

QPalette Theme::palette() const {
  QPalette p;
  p.setColor(QPalette::Window, window);
  p.setColor(QPalette::WindowText, text);
  p.setColor(QPalette::Base, surface);
  p.setColor(QPalette::AlternateBase, mix(surface, window, 0.6));
  p.setColor(QPalette::Text, text);
  p.setColor(QPalette::Button, surface);
  p.setColor(QPalette::ButtonText, text);
  p.setColor(QPalette::BrightText, onSelection);
  p.setColor(QPalette::ToolTipBase, dark ? QColor(0x31, 0x35, 0x3B) : QColor(0x2B, 0x30, 0x36));
  p.setColor(QPalette::ToolTipText, QColor(0xF2, 0xF3, 0xF4));
  p.setColor(QPalette::PlaceholderText, muted);
  p.setColor(QPalette::Highlight, selection);
  p.setColor(QPalette::HighlightedText, onSelection);
  p.setColor(QPalette::Link, selection);
  p.setColor(QPalette::LinkVisited, selection);
  p.setColor(QPalette::Light, mix(window, surface, 0.8));
  p.setColor(QPalette::Midlight, mix(window, surface, 0.4));
  p.setColor(QPalette::Mid, line);
  p.setColor(QPalette::Dark, mix(line, text, 0.2));
  p.setColor(QPalette::Shadow, mix(line, text, 0.4));
  for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
    p.setColor(QPalette::Disabled, role, disabled);
  p.setColor(QPalette::Disabled, QPalette::Highlight, line);
  p.setColor(QPalette::Disabled, QPalette::HighlightedText, muted);
  return p;
}

QString Theme::styleSheet() const {
  // %1 window %2 surface %3 line %4 text %5 muted %6 selection %7 selectionFill %8 hoverFill %9 onSelection
  QString sheet = QStringLiteral(R"(
QToolTip { background: @tip; color: #F2F3F4; border: none; padding: 4px 6px; }
QMenuBar { background: @window; border: none; padding: 0; }
QMenuBar::item { background: transparent; padding: 5px 9px; border-radius: 4px; }
QMenuBar::item:selected { background: @hover; }
QMenu { background: @surface; border: 1px solid @line; padding: 4px 0; }
QMenu::item { padding: 5px 24px 5px 12px; color: @text; background: transparent; }
QMenu::icon { padding-left: 10px; }
QMenu::item:selected { background: @selectionFill; }
QMenu::item:disabled { color: @disabled; }
QMenu::separator { height: 1px; background: @line; margin: 4px 0; }
QSplitter::handle { background: @line; }
QSplitter::handle:hover { background: @selection; }
QAbstractScrollArea { border: none; background: @surface; }
QTableView, QTreeView, QListView { border: none; background: @surface; outline: 0; selection-background-color: @selectionFill; selection-color: @text; }
QTableView::item { border: none; padding: 0 6px; }
QTableView::item:selected { background: @selectionFill; color: @text; }
QHeaderView { background: @surface; border: none; }
QHeaderView::section { background: @surface; color: @muted; border: none; border-bottom: 1px solid @line; padding: 0 6px; font-weight: normal; }
QScrollBar:vertical { background: transparent; width: 11px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 11px; margin: 0; }
QScrollBar::handle { background: @handle; border-radius: 3px; margin: 2px 3px; min-height: 28px; min-width: 28px; }
QScrollBar::handle:hover { background: @muted; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QAbstractScrollArea::corner { background: @surface; border: none; }
QLineEdit, QSpinBox { background: @surface; color: @text; border: 1px solid @line; border-radius: 4px; padding: 2px 7px; selection-background-color: @selection; selection-color: @on; }
QLineEdit:focus, QSpinBox:focus, QComboBox:focus { border: 1px solid @selection; }
QComboBox { background: @surface; color: @text; border: 1px solid @line; border-radius: 4px; padding: 2px 7px; }
QComboBox:hover { background: @hover; }
QComboBox::drop-down { border: none; width: 20px; }
QComboBox::down-arrow { image: url(:/icons/menu-arrow.svg); width: 10px; height: 10px; }
QComboBox QAbstractItemView { background: @surface; color: @text; border: 1px solid @line; selection-background-color: @hover; selection-color: @text; outline: none; }
QTableView QLineEdit { border-radius: 0; padding: 0 4px; }
QPushButton { background: @surface; color: @text; border: 1px solid @line; border-radius: 4px; padding: 0 12px; min-height: @inner; }
QPushButton:hover { background: @hover; }
QPushButton:pressed { background: @line; }
QPushButton:focus { border: 1px solid @selection; }
QPushButton:disabled { color: @disabled; }
QPushButton[primary="true"] { background: @selection; color: @on; border: 1px solid @selection; font-weight: 500; }
QPushButton[primary="true"]:hover { background: @selectionHover; }
QPushButton[primary="true"]:focus { border: 1px solid @text; }
QPushButton[primary="true"]:disabled { background: @primaryOff; border-color: @primaryOff; color: @on; }
QToolButton { background: transparent; border: 1px solid transparent; border-radius: 4px; padding: 3px; }
QToolButton:hover { background: @hover; }
QToolButton:pressed { background: @line; }
QToolButton:checked { background: @selectionFill; }
QToolButton:focus { border: 1px solid @selection; }
QToolButton::menu-indicator { image: none; }
QToolButton[chip="true"] { border: 1px solid @line; border-radius: @chipRadius; padding: 1px 7px; color: @muted; min-height: @chip; }
QToolButton[chip="true"]:checked { border: 1px solid @selection; color: @selection; background: @selectionFill; }
QToolButton[chip="true"]:focus { border: 1px solid @selection; }
QToolButton[section="true"] { border: 1px solid transparent; padding: 2px; color: @text; text-align: left; }
QToolButton[section="true"]:hover, QToolButton[section="true"]:checked { background: transparent; }
QToolButton[section="true"]:hover { color: @selection; }
QToolButton[section="true"]:focus { border: 1px solid @selection; }
QProgressBar { background: @line; border: none; border-radius: 2px; max-height: 4px; min-height: 4px; }
QProgressBar::chunk { background: @selection; border-radius: 2px; }
QSlider::groove:horizontal { background: @line; height: 4px; border-radius: 2px; }
QSlider::sub-page:horizontal { background: @selection; height: 4px; border-radius: 2px; }
QSlider::handle:horizontal { background: @surface; border: 2px solid @selection; width: 8px; height: 8px; margin: -4px 0; border-radius: 6px; }
QSlider::handle:horizontal:focus { background: @selection; }
QSlider::sub-page:horizontal:disabled { background: @line; }
QSlider::handle:horizontal:disabled { border-color: @line; }
QWidget#sheet { background: @surface; }
QStatusBar { background: @window; border: none; }
QStatusBar::item { border: none; }
)");
  const auto put = [&](const char* name, const QString& value) { sheet.replace(QLatin1String(name), value); };
  const auto px = [&](double length) { return QStringLiteral("%1px").arg(std::lround(length * scale)); };
  put("@selectionFill", selectionFill.name());
  put("@selectionHover", mix(selection, dark ? QColor(Qt::white) : QColor(Qt::black), 0.1).name());
  put("@selection", selection.name());
  put("@primaryOff", mix(selection, surface, 0.5).name());
  put("@window", window.name());
  put("@surface", surface.name());
  put("@line", line.name());
  put("@text", text.name());
  put("@tip", dark ? QStringLiteral("#3A3E44") : QStringLiteral("#2B3036"));
  put("@muted", muted.name());
  put("@disabled", disabled.name());
  put("@hover", hoverFill.name());
  put("@handle", mix(line, muted, 0.35).name());
  put("@on", onSelection.name());
  put("@inner", px(24));
  put("@chipRadius", px(11));
  put("@chip", px(18));
  return sheet;
}

QColor Theme::viridis(double t) {
  static constexpr std::array<std::array<double, 3>, 9> stops{{{0.267, 0.005, 0.329},
                                                               {0.283, 0.141, 0.458},
                                                               {0.254, 0.265, 0.530},
                                                               {0.207, 0.372, 0.553},
                                                               {0.164, 0.471, 0.558},
                                                               {0.128, 0.567, 0.551},
                                                               {0.267, 0.749, 0.441},
                                                               {0.478, 0.821, 0.318},
                                                               {0.993, 0.906, 0.144}}};
  const double x = std::clamp(t, 0.0, 1.0) * static_cast<double>(stops.size() - 1);
  const auto i = std::min(static_cast<std::size_t>(x), stops.size() - 2);
  const double f = x - static_cast<double>(i);
  const auto at = [&](std::size_t c) {
    return static_cast<float>(stops[i][c] + (stops[i + 1][c] - stops[i][c]) * f);
  };
  return QColor::fromRgbF(at(0), at(1), at(2));
}

QColor Theme::difference(double t) const {
  const QColor end = t < 0 ? QColor(0x21, 0x66, 0xAC) : QColor(0xB2, 0x18, 0x2B);
  return mix(surface, end, std::min(1.0, std::fabs(t)));
}

ThemeSource::ThemeSource(QObject* parent) : QObject(parent) {
  rebuild();
}

void ThemeSource::setAppearance(Appearance appearance) {
  appearance_ = appearance;
  rebuild();
}

void ThemeSource::setScale(double scale) {
  const double wanted = std::clamp(scale, smallestScale, largestScale);
  if (wanted == scale_) return;
  scale_ = wanted;
  rebuild();
}

void ThemeSource::applyTo(QApplication& application) {
  systemDark_ = application.palette().color(QPalette::Window).lightness() < 128;
  application_ = &application;
  application.setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
  application.installEventFilter(this);
  rebuild();
}

bool ThemeSource::eventFilter(QObject* watched, QEvent* event) {
  // Our own palette arrives here as well; any other is the desktop's, and says whether that is dark.
  if (watched == application_ && event->type() == QEvent::ApplicationPaletteChange && application_) {
    const QColor ground = application_->palette().color(QPalette::Window);
    if (ground != theme_.window) {
      systemDark_ = ground.lightness() < 128;
      rebuild();
    }
  }
  return QObject::eventFilter(watched, event);
}

void ThemeSource::rebuild() {
  const bool dark = appearance_ == Appearance::dark || (appearance_ == Appearance::system && systemDark_);
  theme_ = makeTheme(dark, scale_);
  if (application_) {
    application_->setPalette(theme_.palette());
    application_->setFont(theme_.ui);
    application_->setStyleSheet(theme_.styleSheet());
  }
  Q_EMIT changed();
}

}  // namespace nuscope::views

#include "moc_theme.cpp"
