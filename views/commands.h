#pragma once
// The one table of commands. Menus, the palette, the shortcut sheet, tooltips, the documentation and tests
// come from it: a command exists once. What a command does is connected by the window or a view.
#include <QAction>
#include <QKeySequence>
#include <QObject>
#include <QString>
#include <functional>
#include <span>
#include <unordered_map>

namespace nuscope::views {

class ThemeSource;

struct CommandSpec {
  const char* id;    ///< "file.open"; stable, used by tests and settings
  const char* menu;  ///< "File"; empty: palette only. A leading '-' starts a new group
  const char* text;  ///< "Open…"; sentence case
  const char* help;  ///< one sentence: what happens
  const char* icon;  ///< name of resources/icons/NAME.svg, or empty
  const char* keys;  ///< "Ctrl+O; F3": portable text, several separated by "; "
  bool checkable;
};

/// In menu order. Adding a command: a line in commands.cpp.
std::span<const CommandSpec> commandTable();
const CommandSpec* findCommand(QStringView id);

/// The actions of the table. Lives in the window's thread.
class Commands : public QObject {
  Q_OBJECT
 public:
  Commands(ThemeSource& theme, QObject* parent);
  /// Throws InternalError for an id that the table lacks.
  [[nodiscard]] QAction* action(const char* id) const;
  /// Connects what the command does; enables it. `context` dies: the connection goes.
  template <class F>
  void on(const char* id, QObject* context, F f) {
    QAction* a = action(id);
    a->setEnabled(true);
    QObject::connect(a, &QAction::triggered, context, std::move(f));
  }
  void setEnabled(const char* id, bool enabled);
  /// "Open… (Ctrl+O)" and the help line, for tooltips.
  [[nodiscard]] static QString toolTip(const CommandSpec& spec);

 private:
  void retint();
  ThemeSource& theme_;
  std::unordered_map<std::string, QAction*> actions_;
};

}  // namespace nuscope::views
