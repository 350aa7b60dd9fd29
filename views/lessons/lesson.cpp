#include "views/lessons/lesson.h"

#include <QDir>
#include <QFile>
#include <QObject>
#include <QRegularExpression>
#include <optional>

#include "core/base/diagnostics.h"

namespace nuscope::views {

namespace {

using Kind = LessonAct::Kind;

struct KindSpec {
  const char* name;
  Kind kind;
  int least, most;  // arguments
};

constexpr KindSpec kinds[] = {
    {"open", Kind::open, 1, 1},       {"explore", Kind::explore, 0, 0}, {"step", Kind::step, 1, 4},
    {"refused", Kind::refused, 1, 4}, {"version", Kind::version, 1, 1}, {"screen", Kind::screen, 1, 1},
    {"left", Kind::left, 1, 1},       {"right", Kind::right, 1, 1},     {"add", Kind::add, 0, 0},
    {"sweep", Kind::sweep, 1, 2},
};

std::optional<LessonAct> parseAct(const QString& words, const QString& link) {
  QStringList parts = link.mid(3).split(QLatin1Char('/'));
  const QString name = parts.takeFirst();
  for (const KindSpec& spec : kinds) {
    if (name != QLatin1String(spec.name) || parts.size() < spec.least || parts.size() > spec.most) continue;
    return LessonAct{spec.kind, parts, words, link};
  }
  return std::nullopt;
}

Refusal at(qsizetype line, const QString& what) {
  return Refusal{QStringLiteral("line %1: %2").arg(line + 1).arg(what).toStdString(), {}};
}

}  // namespace

Result<Lesson> parseLesson(const QString& id, const QString& text) {
  static const QRegularExpression link(QStringLiteral("\\[([^\\]]+)\\]\\((do:[^)\\s]*)\\)"));
  Lesson lesson;
  lesson.id = id;
  const QStringList lines = text.split(QLatin1Char('\n'));
  for (qsizetype i = 0; i < lines.size(); ++i) {
    const QString& line = lines[i];
    if (line.startsWith(QLatin1String("## "))) {
      lesson.pages.push_back({line.mid(3).trimmed(), {}, {}});
      continue;
    }
    if (line.startsWith(QLatin1String("# "))) {
      if (!lesson.title.isEmpty()) return at(i, QObject::tr("a lesson has one title"));
      lesson.title = line.mid(2).trimmed();
      continue;
    }
    if (lesson.pages.empty()) {
      if (line.trimmed().isEmpty()) continue;
      if (lesson.title.isEmpty()) return at(i, QObject::tr("a lesson begins with \"# \" and its title"));
      lesson.summary += (lesson.summary.isEmpty() ? QString() : QStringLiteral(" ")) + line.trimmed();
      continue;
    }
    LessonPage& page = lesson.pages.back();
    for (auto match = link.globalMatch(line); match.hasNext();) {
      const QRegularExpressionMatch m = match.next();
      const auto act = parseAct(m.captured(1), m.captured(2));
      if (!act) return at(i, QObject::tr("there is no act %1").arg(m.captured(2)));
      page.acts.push_back(*act);
    }
    page.markdown += line + QLatin1Char('\n');
  }
  if (lesson.title.isEmpty()) return at(0, QObject::tr("a lesson begins with \"# \" and its title"));
  if (lesson.summary.isEmpty()) return at(0, QObject::tr("the title is followed by a sentence for the list"));
  if (lesson.pages.empty())
    return at(0, QObject::tr("a lesson has at least one page, \"## \" and its title"));
  return lesson;
}

std::vector<Lesson> lessons() {
  std::vector<Lesson> result;
  const QDir folder(QStringLiteral(":/lessons"));
  for (const QString& name : folder.entryList({QStringLiteral("*.md")}, QDir::Files, QDir::Name)) {
    QFile file(folder.filePath(name));
    if (!file.open(QIODevice::ReadOnly))
      throw InternalError("a lesson cannot be read: " + name.toStdString());
    auto lesson = parseLesson(name.section(QLatin1Char('.'), 0, 0), QString::fromUtf8(file.readAll()));
    if (!lesson) throw InternalError(name.toStdString() + ": " + lesson.refusal().message);
    result.push_back(std::move(*lesson));
  }
  return result;
}

QString lessonProgram(const QString& name) {
  for (const char* folder : {"lessons", "programs"}) {
    QFile file(QStringLiteral(":/%1/%2.py").arg(QLatin1String(folder), name));
    if (file.open(QIODevice::ReadOnly)) return QString::fromUtf8(file.readAll());
  }
  return {};
}

}  // namespace nuscope::views
