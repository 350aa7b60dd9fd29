#pragma once
// All keys on one sheet, from the command table ("?").
#include <QDialog>

namespace nuscope::views {

class ThemeSource;

class ShortcutSheet : public QDialog {
  Q_OBJECT
 public:
  ShortcutSheet(ThemeSource& theme, QWidget* parent);
};

/// The same as a table in Markdown, for the documentation.
QString shortcutsAsMarkdown();

}  // namespace nuscope::views
