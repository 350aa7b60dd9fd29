#include "views/proof/step_sections.h"

#include <QApplication>
#include <QClipboard>
#include <QFrame>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <utility>

#include "views/proof/math_text.h"
#include "views/proof/panel_parts.h"
#include "views/proof/proof_case.h"
#include "views/text.h"
#include "views/theme.h"

namespace nuscope::views {
namespace {

QString tr(const char* text) {
  return QObject::tr(text);
}

/// Steps that are shown before the rest is counted.
constexpr std::size_t stepLimit = 60;
/// Size of the mathematics of steps against that of the two sides.
constexpr double smallMath = 0.88;

void buildStep(const proof::ProofStep& step, const Theme& theme, QVBoxLayout& body) {
  if (!step.text.empty()) body.addWidget(wrappedLabel(prettyRelations(qs(step.text)), theme.ui, theme.muted));
  const QString before = prettyMath(prettyRelations(qs(step.before)));
  const QString after = prettyMath(prettyRelations(qs(step.after)));
  if (!before.isEmpty() && !after.isEmpty()) {
    const LineDifference d = lineDifference(before, after);
    body.addWidget(mathLabel(mathHtml(before, d.before, theme.refutedFill), theme, smallMath));
    body.addWidget(
        mathLabel(QStringLiteral("\u21D2 ") + mathHtml(after, d.after, theme.provedFill), theme, smallMath));
  } else if (!before.isEmpty()) {
    body.addWidget(mathLabel(mathHtml(before), theme, smallMath));
  } else if (!after.isEmpty()) {
    body.addWidget(mathLabel(mathHtml(after), theme, smallMath));
  }
  if (step.smt.empty()) return;
  auto* copy = new QPushButton(tr("Copy SMT-LIB"));
  copy->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
  copy->setToolTip(tr("Copies this obligation as SMT-LIB, for any solver."));
  QObject::connect(copy, &QPushButton::clicked, copy,
                   [smt = qs(step.smt)] { QApplication::clipboard()->setText(smt); });
  body.addWidget(copy);
}

}  // namespace

void addStepSections(QVBoxLayout& layout, const Steps& steps, Mark closed, Mark open, const Theme& theme) {
  std::vector<std::pair<int, FoldedSection*>> around;  // the sections around the next step
  std::size_t shown = 0;
  for (const proof::ProofStep& step : *steps) {
    if (++shown > stepLimit) break;
    while (!around.empty() && around.back().first >= step.depth) around.pop_back();
    if (around.empty()) layout.addWidget(hairline(theme));
    QStringList notes;
    // A step that a solver was asked stays only if the answer closed it.
    if (!step.smt.empty()) notes << tr("unsat");
    if (step.milliseconds > 0) notes << duration(step.milliseconds / 1000);
    auto* section = new FoldedSection(qs(step.lemma), notes.join(QStringLiteral(" \u00B7 ")),
                                      step.after.empty() ? closed : open, theme);
    const bool any = !step.text.empty() || !step.before.empty() || !step.after.empty() || !step.smt.empty();
    if (any) section->add([steps, &step, &theme](QVBoxLayout& body) { buildStep(step, theme, body); });
    if (around.empty()) {
      layout.addWidget(section);
    } else {
      section->setParent(around.back().second);
      section->hide();
      around.back().second->add([section](QVBoxLayout& body) {
        body.addWidget(section);
        section->show();
      });
    }
    around.emplace_back(step.depth, section);
  }
  if (steps->size() > stepLimit) {
    layout.addWidget(hairline(theme));
    layout.addWidget(wrappedLabel(tr("%1 more steps are not shown.").arg(steps->size() - stepLimit), theme.ui,
                                  theme.muted));
  }
  if (!steps->empty()) layout.addWidget(hairline(theme));
}

}  // namespace nuscope::views
