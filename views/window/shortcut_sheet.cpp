#include "views/window/shortcut_sheet.h"

#include <QDialogButtonBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QKeySequence>
#include <QLabel>
#include <QVBoxLayout>
#include <array>

#include "views/commands.h"
#include "views/theme.h"

namespace nuscope::views {

namespace {

struct Key {
  QString keys, text;
};
struct Group {
  QString title;
  std::vector<Key> keys;
};

QString nativeKeys(const char* keys) {
  QStringList texts;
  for (const QString& part : QString::fromUtf8(keys).split(QStringLiteral("; "), Qt::SkipEmptyParts)) {
    texts << QKeySequence::fromString(part, QKeySequence::PortableText).toString(QKeySequence::NativeText);
  }
  return texts.join(QStringLiteral("  "));
}

std::vector<Group> groups() {
  std::vector<Group> result;
  for (const CommandSpec& spec : commandTable()) {
    if (*spec.keys == '\0') continue;
    QString menu = QString::fromUtf8(spec.menu);
    if (menu.startsWith(QLatin1Char('-'))) menu.remove(0, 1);
    if (result.empty() || result.back().title != menu) result.push_back({menu, {}});
    QString text = QString::fromUtf8(spec.text);
    text.remove(QChar(0x2026));
    result.back().keys.push_back({nativeKeys(spec.keys), text});
  }
  result.push_back({QObject::tr("Graphs and plots"),
                    {{QObject::tr("Arrows"), QObject::tr("Along the edges")},
                     {QObject::tr("Return"), QObject::tr("Open")},
                     {QStringLiteral("+  \u2212"), QObject::tr("Zoom")},
                     {QObject::tr("Ctrl+wheel"), QObject::tr("Zoom at the pointer")},
                     {QObject::tr("Drag, wheel"), QObject::tr("Move the picture")}}});
  return result;
}

}  // namespace

ShortcutSheet::ShortcutSheet(ThemeSource& source, QWidget* parent) : QDialog(parent) {
  const Theme& t = source.theme();
  setWindowTitle(tr("Keyboard shortcuts"));
  setObjectName(QStringLiteral("shortcuts"));
  auto* all = new QVBoxLayout(this);
  all->setContentsMargins(2 * t.gutter, 2 * t.gutter, 2 * t.gutter, t.gutter);
  auto* columns = new QHBoxLayout;
  columns->setSpacing(3 * t.gutter);
  all->addLayout(columns);
  constexpr std::size_t columnCount = 3;
  std::array<QVBoxLayout*, columnCount> column{};
  std::array<std::size_t, columnCount> lengths{};
  for (auto& c : column) {
    c = new QVBoxLayout;
    columns->addLayout(c);
  }
  QPalette muted = palette();
  muted.setColor(QPalette::WindowText, t.muted);
  for (const Group& group : groups()) {
    const auto shortest =
        static_cast<std::size_t>(std::min_element(lengths.begin(), lengths.end()) - lengths.begin());
    lengths[shortest] += group.keys.size() + 2;
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(2 * t.gutter);
    grid->setVerticalSpacing(t.unit);
    auto* title = new QLabel(group.title);
    title->setFont(t.heading);
    grid->addWidget(title, 0, 0, 1, 2);
    for (std::size_t i = 0; i < group.keys.size(); ++i) {
      auto* text = new QLabel(group.keys[i].text);
      auto* keys = new QLabel(group.keys[i].keys);
      keys->setFont(t.code);
      keys->setPalette(muted);
      keys->setAlignment(Qt::AlignRight);
      grid->addWidget(text, static_cast<int>(i) + 1, 0);
      grid->addWidget(keys, static_cast<int>(i) + 1, 1);
    }
    column[shortest]->addLayout(grid);
    column[shortest]->addSpacing(t.gutter);
  }
  for (auto* c : column) c->addStretch(1);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  all->addWidget(buttons);
}

QString shortcutsAsMarkdown() {
  QString out;
  for (const Group& group : groups()) {
    out += QStringLiteral("### %1\n\n| Keys | What |\n|---|---|\n").arg(group.title);
    for (const Key& key : group.keys) out += QStringLiteral("| %1 | %2 |\n").arg(key.keys, key.text);
    out += QLatin1Char('\n');
  }
  return out;
}

}  // namespace nuscope::views
