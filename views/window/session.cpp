#include "views/window/session.h"

#include <QFileInfo>
#include <QMainWindow>
#include <QSettings>
#include <QSplitter>
#include <algorithm>

#include "views/theme.h"

namespace nuscope::views {

namespace {

// Raised when panels come or go: older layouts are then ignored instead of misread.
constexpr int layoutVersion = 1;
constexpr qsizetype mostRecent = 8;

QSettings settings() {
  return {QSettings::IniFormat, QSettings::UserScope, QStringLiteral("nuscope"), QStringLiteral("explorer")};
}

}  // namespace

Session::Session(bool persistent) : persistent_(persistent) {}

void Session::restoreTheme(ThemeSource& theme) const {
  if (!persistent_) return;
  const QSettings s = settings();
  const QString name = s.value(QStringLiteral("appearance")).toString();
  theme.setAppearance(name == QLatin1String("light")  ? Appearance::light
                      : name == QLatin1String("dark") ? Appearance::dark
                                                      : Appearance::system);
  theme.setScale(scale());
}

double Session::scale() const {
  if (!persistent_) return 1;
  bool ok = false;
  const double scale = settings().value(QStringLiteral("scale"), 1.0).toDouble(&ok);
  return ok && scale >= smallestScale && scale <= largestScale ? scale : 1;
}

void Session::saveTheme(const ThemeSource& theme, double scale) const {
  if (!persistent_) return;
  QSettings s = settings();
  const auto appearance = theme.appearance();
  s.setValue(QStringLiteral("appearance"), appearance == Appearance::light  ? QStringLiteral("light")
                                           : appearance == Appearance::dark ? QStringLiteral("dark")
                                                                            : QStringLiteral("system"));
  s.setValue(QStringLiteral("scale"), scale);
}

void Session::restoreWindow(QMainWindow& window) const {
  if (!persistent_) return;
  const QSettings s = settings();
  if (s.value(QStringLiteral("layoutVersion")).toInt() != layoutVersion) return;
  window.restoreGeometry(s.value(QStringLiteral("geometry")).toByteArray());
}

void Session::saveWindow(const QMainWindow& window) const {
  if (!persistent_) return;
  QSettings s = settings();
  s.setValue(QStringLiteral("layoutVersion"), layoutVersion);
  s.setValue(QStringLiteral("geometry"), window.saveGeometry());
}

void Session::restoreSplitters(QWidget& screen) const {
  if (!persistent_) return;
  const QSettings s = settings();
  if (s.value(QStringLiteral("layoutVersion")).toInt() != layoutVersion) return;
  const auto splitters = screen.findChildren<QSplitter*>();
  for (QSplitter* splitter : splitters) {
    if (splitter->objectName().isEmpty()) continue;
    const QVariantList stored = s.value(QStringLiteral("splitter/") + splitter->objectName()).toList();
    // Sizes only, and only where every part keeps a visible size: a state that hides a panel is never
    // restored.
    if (stored.size() != splitter->count()) continue;
    QList<int> sizes;
    for (const QVariant& size : stored) sizes << size.toInt();
    if (std::all_of(sizes.begin(), sizes.end(), [](int size) { return size >= 40 && size < 20000; }))
      splitter->setSizes(sizes);
  }
}

void Session::saveSplitters(const QWidget& screen) const {
  if (!persistent_) return;
  QSettings s = settings();
  const auto splitters = screen.findChildren<QSplitter*>();
  for (const QSplitter* splitter : splitters) {
    if (splitter->objectName().isEmpty()) continue;
    QVariantList sizes;
    for (const int size : splitter->sizes()) sizes << size;
    s.setValue(QStringLiteral("splitter/") + splitter->objectName(), sizes);
  }
}

void Session::forgetLayout() const {
  if (!persistent_) return;
  QSettings s = settings();
  s.remove(QStringLiteral("splitter"));
  s.remove(QStringLiteral("geometry"));
  s.remove(QStringLiteral("layoutVersion"));
}

QStringList Session::recentFiles() const {
  QStringList files;
  if (!persistent_) return files;
  for (const QString& path : settings().value(QStringLiteral("recent")).toStringList()) {
    if (QFileInfo::exists(path)) files << path;
  }
  return files;
}

void Session::addRecentFile(const QString& path) const {
  if (!persistent_ || path.isEmpty()) return;
  QSettings s = settings();
  QStringList files = s.value(QStringLiteral("recent")).toStringList();
  files.removeAll(path);
  files.prepend(path);
  s.setValue(QStringLiteral("recent"), files.mid(0, mostRecent));
}

}  // namespace nuscope::views
