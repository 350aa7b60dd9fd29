#include "views/lessons/lesson_guide.h"

#include <algorithm>

#include "core/nugraph/nugraph.h"
#include "views/document.h"
#include "views/proof/proof_case.h"
#include "views/proof/proof_panel.h"
#include "views/proof/proof_view.h"
#include "views/prove/prove_screen.h"
#include "views/prove/prove_side.h"
#include "views/prove/standing_bar.h"
#include "views/selection.h"
#include "views/sweep/sweep_runner.h"
#include "views/sweep/sweep_screen.h"
#include "views/text.h"
#include "views/variants/variants_view.h"
#include "views/window/main_window.h"

namespace nuscope::views {

namespace {

using Outcome = LessonGuide::Outcome;

constexpr int pollInterval = 30;

/// The move whose words contain all of `fragments`: from the program as written, else from the selected
/// variant, else the first.
template <class Move>
const Move* findMove(const std::vector<Move>& moves, const QStringList& fragments, int selected,
                     bool refutedOnly) {
  const Move* found = nullptr;
  const auto rank = [&](const Move& move) { return move.from == 0 ? 2 : move.from == selected ? 1 : 0; };
  for (const Move& move : moves) {
    const QString what = qs(move.what);
    const bool fits = std::all_of(fragments.begin(), fragments.end(), [&](QString fragment) {
      return what.contains(fragment.replace(QLatin1Char('+'), QLatin1Char(' ')));
    });
    if (!fits || (refutedOnly && !move.proof->counterexample)) continue;
    if (found == nullptr || rank(move) > rank(*found)) found = &move;
  }
  return found;
}

Outcome verdictOutcome(const ProofCase& c) {
  QString words = verdictText(*c.proof, c.left, c.recorded);
  if (c.proof->counterexample)
    words += QObject::tr(": left is %1, right is %2")
                 .arg(qs(c.proof->counterexample->leftText), qs(c.proof->counterexample->rightText));
  return {verdictMark(*c.proof), words};
}

QString wordsOf(const QStringList& fragments) {
  return fragments.join(QStringLiteral(", ")).replace(QLatin1Char('+'), QLatin1Char(' '));
}

std::function<std::optional<Outcome>()> atOnce(Mark mark, const QString& words) {
  return [mark, words]() -> std::optional<Outcome> { return Outcome{mark, words}; };
}

tensor::Extents parseExtents(const QString& text) {
  tensor::Extents extents;
  for (const QString& part : text.split(QLatin1Char(','), Qt::SkipEmptyParts)) {
    const std::int64_t value = part.section(QLatin1Char('='), 1).toLongLong();
    if (value >= 1) extents[part.section(QLatin1Char('='), 0, 0).toStdString()] = value;
  }
  return extents;
}

}  // namespace

LessonGuide::LessonGuide(MainWindow& window, const ViewContext& context, QObject* parent)
    : QObject(parent), window_(window), context_(context) {
  poll_.setInterval(pollInterval);
  connect(&poll_, &QTimer::timeout, this, [this] {
    const auto outcome = waiting_();
    if (!outcome) return;
    giveUp();
    Q_EMIT ended(*outcome);
  });
}

void LessonGuide::giveUp() {
  poll_.stop();
  waiting_ = nullptr;
}

void LessonGuide::run(const LessonAct& act) {
  giveUp();
  waiting_ = start(act);
  poll_.start();
}

LessonGuide::Waiting LessonGuide::start(const LessonAct& act) {
  const QStringList& a = act.arguments;
  switch (act.kind) {
    case LessonAct::Kind::open:
      return open(a[0]);
    case LessonAct::Kind::explore:
      return explore();
    case LessonAct::Kind::step:
      return step(a);
    case LessonAct::Kind::refused:
      return refused(a);
    case LessonAct::Kind::version:
      return version(a[0]);
    case LessonAct::Kind::screen:
      if (window_.showScreen(a[0])) return atOnce(Mark::none, QString());
      return atOnce(Mark::warning, tr("There is no screen %1.").arg(a[0]));
    case LessonAct::Kind::left:
      return left(a[0]);
    case LessonAct::Kind::right:
      return right(a[0]);
    case LessonAct::Kind::add:
      return add();
    case LessonAct::Kind::sweep:
      break;
  }
  return sweep(a);
}

LessonGuide::Waiting LessonGuide::open(const QString& name) {
  const QString text = lessonProgram(name);
  if (text.isEmpty()) return atOnce(Mark::warning, tr("There is no program %1.").arg(name));
  const QString file = name + QStringLiteral(".py");
  if (!window_.openProgram(file, text)) return atOnce(Mark::none, tr("Kept what was open."));
  window_.showScreen(QStringLiteral("variants"));
  return [this, file, text]() -> std::optional<Outcome> {
    const Document& document = context_.document;
    if (document.programName() != file || document.text() != text || !document.program()) return std::nullopt;
    return Outcome{Mark::none, tr("%1 is open.").arg(file)};
  };
}

LessonGuide::Waiting LessonGuide::explore() {
  Document& document = context_.document;
  if (!document.program()) return atOnce(Mark::warning, tr("Open a program first."));
  window_.showScreen(QStringLiteral("variants"));
  if (!document.upToDate() && !document.exploreState().running) document.explore();
  return [this]() -> std::optional<Outcome> {
    const Document& now = context_.document;
    if (now.exploreState().running || now.parsing()) return std::nullopt;
    if (!now.exploreState().error.isEmpty()) return Outcome{Mark::warning, now.exploreState().error};
    if (!now.nuGraph()) return std::nullopt;
    const auto& graph = *now.nuGraph();
    const auto counts = graph.proofs();
    QString words =
        tr("%1 by %2")
            .arg(counted(static_cast<std::int64_t>(graph.variants().size()), tr("variant"), tr("variants")),
                 counted(static_cast<std::int64_t>(graph.steps().size()), tr("proved step"),
                         tr("proved steps")));
    words += tr("; %1 refuted").arg(counted(counts.refuted, tr("move"), tr("moves")));
    if (counts.unknown > 0) words += tr(", %1 not decided").arg(counts.unknown);
    return Outcome{Mark::proved, words};
  };
}

LessonGuide::Waiting LessonGuide::step(const QStringList& fragments) {
  const auto graph = context_.document.nuGraph();
  if (!graph) return atOnce(Mark::warning, tr("Explore the program first."));
  const nugraph::Step* found = findMove(graph->steps(), fragments, context_.selection.place().variant, false);
  if (!found) return atOnce(Mark::warning, tr("No such step was found: %1.").arg(wordsOf(fragments)));
  window_.showScreen(QStringLiteral("variants"));
  context_.selection.selectStep(found->id, found->to);
  if (auto* proof = qobject_cast<ProofView*>(window_.view(QStringLiteral("proof"))))
    proof->showPage(ProofView::step);
  const auto c = caseOfStep(*graph, found->id);
  const Outcome outcome = verdictOutcome(*c);
  return atOnce(outcome.mark, outcome.words);
}

LessonGuide::Waiting LessonGuide::refused(const QStringList& fragments) {
  const auto graph = context_.document.nuGraph();
  if (!graph) return atOnce(Mark::warning, tr("Explore the program first."));
  const nugraph::Refused* found = findMove(graph->refused(), fragments, context_.selection.place().variant, true);
  if (!found) return atOnce(Mark::warning, tr("No such move was refuted: %1.").arg(wordsOf(fragments)));
  window_.showScreen(QStringLiteral("variants"));
  context_.selection.selectRefused(found->id, found->from);
  const auto c = caseOfRefused(*graph, found->id);
  const Outcome outcome = verdictOutcome(*c);
  return atOnce(outcome.mark, outcome.words);
}

LessonGuide::Waiting LessonGuide::version(const QString& which) {
  window_.showScreen(QStringLiteral("variants"));
  auto* variants = qobject_cast<VariantsView*>(window_.view(QStringLiteral("derivation")));
  const auto graph = context_.document.nuGraph();
  if (!variants || !graph) return atOnce(Mark::warning, tr("Explore the program first."));
  const int last = static_cast<int>(graph->steps().size());
  const int wanted = which == QLatin1String("last")    ? last
                     : which == QLatin1String("first") ? 0
                                                       : std::clamp(which.toInt(), 0, last);
  variants->stepTo(wanted);
  return atOnce(Mark::none, tr("Step %1 of %2.").arg(wanted).arg(last));
}

LessonGuide::Waiting LessonGuide::left(const QString& name) {
  const QString text = lessonProgram(name);
  if (text.isEmpty()) return atOnce(Mark::warning, tr("There is no program %1.").arg(name));
  window_.showScreen(QStringLiteral("prove"));
  auto* screen = static_cast<ProveScreen*>(window_.screen(QStringLiteral("prove")));
  screen->left()->takeNamed(name + QStringLiteral(".py"), text);
  return atOnce(Mark::none, tr("%1.py is on the left.").arg(name));
}

LessonGuide::Waiting LessonGuide::right(const QString& name) {
  const QString text = lessonProgram(name);
  if (text.isEmpty()) return atOnce(Mark::warning, tr("There is no program %1.").arg(name));
  window_.showScreen(QStringLiteral("prove"));
  auto* screen = static_cast<ProveScreen*>(window_.screen(QStringLiteral("prove")));
  screen->right()->takeNamed(name + QStringLiteral(".py"), text);
  return [screen = QPointer(screen)]() -> std::optional<Outcome> {
    if (!screen) return Outcome{Mark::warning, tr("The prove view was closed.")};
    if (screen->deciding()) return std::nullopt;
    const auto& c = screen->verdict()->panel()->current();
    if (!c || !c->proof) return Outcome{Mark::warning, screen->verdict()->panel()->plainText()};
    return verdictOutcome(*c);
  };
}

LessonGuide::Waiting LessonGuide::add() {
  window_.showScreen(QStringLiteral("prove"));
  auto* screen = static_cast<ProveScreen*>(window_.screen(QStringLiteral("prove")));
  if (const QString why = screen->whyNotAdded(); !why.isEmpty()) return atOnce(Mark::warning, why);
  screen->addAsVariant();
  return [screen = QPointer(screen)]() -> std::optional<Outcome> {
    if (!screen) return Outcome{Mark::warning, tr("The prove view was closed.")};
    if (screen->placing()) return std::nullopt;
    return Outcome{screen->verdict()->standing()->mark(), screen->verdict()->standing()->words()};
  };
}

LessonGuide::Waiting LessonGuide::sweep(const QStringList& arguments) {
  window_.showScreen(QStringLiteral("sweep"));
  auto* screen = static_cast<SweepScreen*>(window_.screen(QStringLiteral("sweep")));
  for (const auto& [name, extent] : parseExtents(arguments.value(1)))
    context_.document.setExtent(name, extent);
  screen->setBudget(arguments[0].toInt());
  if (const QString why = screen->runner()->obstacle(); !why.isEmpty()) return atOnce(Mark::warning, why);
  screen->startSweep();
  return [screen = QPointer(screen)]() -> std::optional<Outcome> {
    if (!screen) return Outcome{Mark::warning, tr("The sweep view was closed.")};
    if (screen->runner()->running()) return std::nullopt;
    return Outcome{Mark::none, screen->summary().section(QLatin1Char('\n'), 0, 0)};
  };
}

}  // namespace nuscope::views

#include "moc_lesson_guide.cpp"
