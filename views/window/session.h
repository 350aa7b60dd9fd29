#pragma once
// What is kept between two runs: appearance, scale, window and splitters, recent files. Restoring is
// fail-safe: what does not fit is left out, and `--reset-layout` forgets it.
#include <QStringList>

class QMainWindow;
class QSettings;

namespace nuscope::views {

class ThemeSource;

class Session {
 public:
  /// `persistent` off: nothing is read or written (screenshots, tests).
  explicit Session(bool persistent);
  void restoreTheme(ThemeSource& theme) const;
  void saveTheme(const ThemeSource& theme, double scale) const;
  [[nodiscard]] double scale() const;
  void restoreWindow(QMainWindow& window) const;
  void saveWindow(const QMainWindow& window) const;
  /// Call after a screen was made.
  void restoreSplitters(QWidget& screen) const;
  void saveSplitters(const QWidget& screen) const;
  void forgetLayout() const;
  [[nodiscard]] QStringList recentFiles() const;
  void addRecentFile(const QString& path) const;

 private:
  bool persistent_;
};

}  // namespace nuscope::views
