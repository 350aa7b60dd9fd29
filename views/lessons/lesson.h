#pragma once
// A lesson: pages of Markdown with acts that run in the window. Text only; the panel shows it, the guide does
// what the acts say.
//
//   # Title of the lesson
//   One sentence for the list.
//
//   ## Title of a page
//   Text, with acts as links: [Open the program](do:open/rmsnorm_matmul)
//
// Acts (several arguments are separated by "/"):
//   do:open/NAME               a program of resources/programs or resources/lessons, in the window
//   do:explore                 search for variants, unless that was done
//   do:step/WORDS/WORDS        the proved step whose words contain all of these ("+" is a blank)
//   do:refused/WORDS/WORDS     the refuted move of that kind
//   do:version/N               the derivation as of step N; "first", "last"
//   do:screen/ID               another screen
//   do:left/NAME do:right/NAME a program into a side of the prove view; waits for the verdict
//   do:add                     the proved right side becomes a variant
//   do:sweep/SECONDS/M=64,...  a sweep at these extents
#include <QString>
#include <QStringList>
#include <vector>

#include "core/base/result.h"

namespace nuscope::views {

struct LessonAct {
  enum class Kind { open, explore, step, refused, version, screen, left, right, add, sweep };
  Kind kind = Kind::open;
  QStringList arguments;
  QString text;  ///< the link's words
  QString link;  ///< as written: "do:open/softmax"
};

struct LessonPage {
  QString title;
  QString markdown;  ///< without the title; links as they were
  std::vector<LessonAct> acts;
};

struct Lesson {
  QString id;  ///< the file's name
  QString title;
  QString summary;
  std::vector<LessonPage> pages;
};

/// Refused with the line where a title, a summary or a page is missing, or an act is not understood.
Result<Lesson> parseLesson(const QString& id, const QString& text);

/// Those that travel inside the executable, by name. Throws InternalError if one cannot be read.
std::vector<Lesson> lessons();

/// The text of a program that a lesson names: resources/lessons/NAME.py or resources/programs/NAME.py; empty:
/// there is none.
QString lessonProgram(const QString& name);

}  // namespace nuscope::views
