#include "views/study_cache.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QSaveFile>
#include <QStandardPaths>

#include "core/nugraph/json.h"

namespace nuscope::views {

namespace {

// Raised whenever exploring finds other variants for the same text.
constexpr int generation = 1;
constexpr qint64 largestEntry = qint64(256) << 20;

QString entryPath(const QString& programText) {
  QCryptographicHash hash(QCryptographicHash::Sha256);
  hash.addData(QByteArray::number(generation));
  hash.addData(programText.toUtf8());
  return cacheDirectory() + QStringLiteral("/explored/") + QString::fromLatin1(hash.result().toHex()) +
         QStringLiteral(".json");
}

}  // namespace

QString cacheDirectory() {
  return QStandardPaths::writableLocation(QStandardPaths::GenericCacheLocation) + QStringLiteral("/nuscope");
}

CachedGraph readCachedGraph(const QString& programText) {
  QFile file(entryPath(programText));
  if (!file.open(QIODevice::ReadOnly) || file.size() > largestEntry) return {};
  // First line: seconds, then the whole program text's length and the text itself; a hash alone is no
  // equality.
  bool ok = false;
  const double seconds = file.readLine().trimmed().toDouble(&ok);
  const qint64 length = ok ? file.readLine().trimmed().toLongLong(&ok) : 0;
  const QByteArray text = programText.toUtf8();
  if (!ok || length != text.size() || file.read(length) != text) return {};
  const QByteArray json = file.readAll();
  auto graph = nugraph::fromJson(std::string_view(json.constData(), static_cast<std::size_t>(json.size())));
  if (!graph) return {};
  return {std::make_shared<const nugraph::NuGraph>(std::move(graph).value()), seconds};
}

void writeCachedGraph(const QString& programText, const nugraph::NuGraph& graph, double seconds) {
  const QString path = entryPath(programText);
  if (!QDir().mkpath(QFileInfo(path).path())) return;
  QSaveFile file(path);
  if (!file.open(QIODevice::WriteOnly)) return;
  const QByteArray text = programText.toUtf8();
  file.write(QByteArray::number(seconds, 'g', 6) + '\n' + QByteArray::number(text.size()) + '\n' + text);
  const std::string json = nugraph::toJson(graph);
  file.write(json.data(), static_cast<qint64>(json.size()));
  file.commit();
}

}  // namespace nuscope::views
