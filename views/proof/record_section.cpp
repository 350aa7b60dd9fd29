#include "views/proof/record_section.h"

#include <QFileDialog>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QMessageBox>
#include <QPushButton>
#include <QSaveFile>
#include <QVBoxLayout>

#include "views/jobs.h"
#include "views/proof/panel_parts.h"
#include "views/proof/step_sections.h"
#include "views/text.h"
#include "views/theme.h"

namespace nuscope::views {
namespace {

constexpr double secondsLimit = 5;
/// For one obligation: a job that is cancelled must end within a second.
constexpr std::chrono::milliseconds solverLimit{800};
constexpr std::size_t mostUses = 60;

QString laneOf(const void* section) {
  return QStringLiteral("record:%1").arg(reinterpret_cast<quintptr>(section));
}

Steps stepsOf(const std::vector<replay::LemmaUse>& uses) {
  auto steps = std::make_shared<std::vector<proof::ProofStep>>();
  for (const replay::LemmaUse& use : uses) {
    proof::ProofStep step;
    step.depth = use.depth;
    step.lemma = use.lemma;
    step.text = use.substitution;
    step.before = use.before;
    step.after = use.after;
    steps->push_back(std::move(step));
  }
  return steps;
}

}  // namespace

RecordSection::RecordSection(ThemeSource& theme, Jobs& jobs, QWidget* parent)
    : QWidget(parent), theme_(theme), jobs_(jobs) {
  setAccessibleName(tr("Record of the proof"));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  connect(&theme_, &ThemeSource::changed, this, [this] { rebuild(); });
}

RecordSection::~RecordSection() {
  jobs_.cancel(laneOf(this));
}

bool RecordSection::isAbout(const ProofCase& proofCase) const {
  return case_ && case_->refines == proofCase.refines && case_->left.results == proofCase.left.results &&
         case_->right.results == proofCase.right.results;
}

bool RecordSection::knows(const ProofCase& proofCase) const {
  return isAbout(proofCase) && found_ && found_->replayable;
}

void RecordSection::show(const ProofCase& proofCase) {
  const bool same = isAbout(proofCase) && (found_ || !failure_.isEmpty());
  case_ = proofCase;
  if (same) return;
  found_.reset();
  failure_.clear();
  rebuild();
  Job* job = jobs_.run(
      this, {.title = tr("Replay the proof"), .lane = laneOf(this), .quiet = true},
      [c = proofCase](JobHandle& handle) {
        replay::Z3Program z3(solverLimit);
        return record::confirmedRecord(record::goalOf(c.left, c.right, c.refines), &z3, secondsLimit,
                                       handle.progress(), mostUses);
      },
      [this](record::Recording found) {
        found_ = std::move(found);
        rebuild();
        Q_EMIT replayed(found_->replayable);
      });
  connect(job, &Job::failed, this, [this](const QString& message) {
    failure_ = message;
    rebuild();
  });
}

QString RecordSection::headline() const {
  if (!failure_.isEmpty()) return tr("No record: %1").arg(failure_);
  if (!found_) return tr("Replaying the proof by the independent checker.");
  if (!found_->replayable) {
    QString why = qs(found_->why);
    constexpr qsizetype longest = 200;
    if (why.size() > longest) why = why.left(longest) + QChar(0x2026);
    return tr("No record for the independent checker: %1").arg(why);
  }
  const auto obligations = static_cast<std::int64_t>(found_->obligations.size());
  QStringList parts{tr("Replayed by the independent checker in %1").arg(duration(found_->seconds)),
                    counted(found_->lemmas, tr("fold"), tr("folds"))};
  if (obligations > 0)
    parts << tr("%1, each unsat for z3").arg(counted(obligations, tr("obligation"), tr("obligations")));
  parts << tr("%1 bytes").arg(grouped(static_cast<std::int64_t>(found_->record.size())));
  return parts.join(QStringLiteral(" \u00B7 "));
}

void RecordSection::rebuild() {
  QLayout& old = *layout();
  while (QLayoutItem* item = old.takeAt(0)) {
    delete item->widget();
    delete item;
  }
  if (!case_) return;
  const Theme& theme = theme_.theme();
  auto* page = new QWidget;
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(theme.padding);
  auto* row = new QHBoxLayout;
  row->setSpacing(theme.unit);
  const Mark mark = !found_ && failure_.isEmpty()  ? Mark::running
                    : found_ && found_->replayable ? Mark::proved
                                                   : Mark::unknown;
  row->addWidget(markLabel(mark, theme), 0, Qt::AlignTop);
  row->addWidget(wrappedLabel(headline(), theme.ui, theme.text), 1);
  column->addLayout(row);
  if (found_ && !found_->uses.empty()) {
    const auto count = static_cast<std::int64_t>(found_->uses.size());
    auto* section =
        new FoldedSection(tr("Lemma by lemma"),
                          found_->uses.size() < mostUses ? counted(count, tr("instance"), tr("instances"))
                                                         : tr("the first %1").arg(grouped(count)),
                          Mark::none, theme);
    section->setObjectName(QStringLiteral("lemmas"));
    section->add([steps = stepsOf(found_->uses), &theme](QVBoxLayout& body) {
      addStepSections(body, steps, Mark::none, Mark::none, theme);
    });
    column->addWidget(section);
  }
  addActs(*column);
  old.addWidget(page);
}

void RecordSection::addActs(QVBoxLayout& layout) {
  auto* row = new QHBoxLayout;
  row->setSpacing(theme_.theme().padding);
  auto* record = new QPushButton(tr("Export record\u2026"));
  record->setObjectName(QStringLiteral("exportRecord"));
  record->setToolTip(tr("Writes the record, which `nuscope replay` confirms independently of the prover."));
  record->setEnabled(!recordText().isEmpty());
  connect(record, &QPushButton::clicked, this, [this] { exportRecord(); });
  row->addWidget(record);
  auto* smt = new QPushButton(tr("Export SMT-LIB\u2026"));
  smt->setObjectName(QStringLiteral("exportSmt"));
  smt->setEnabled(!obligationsText().isEmpty());
  smt->setToolTip(smt->isEnabled() ? tr("Writes every obligation; any solver must answer unsat to each.")
                                   : tr("No solver was needed: there are no obligations."));
  connect(smt, &QPushButton::clicked, this, [this] { exportSmt(); });
  row->addWidget(smt);
  row->addStretch(1);
  layout.addLayout(row);
}

QString RecordSection::recordText() const {
  return found_ && found_->replayable ? qs(found_->record) + QLatin1Char('\n') : QString();
}

QString RecordSection::obligationsText() const {
  if (!found_ || !found_->replayable || found_->obligations.empty())
    return case_ && case_->proof ? smtText(*case_->proof) : QString();
  QStringList parts;
  for (const std::string& obligation : found_->obligations) {
    parts << QStringLiteral("; obligation %1 of %2\n%3")
                 .arg(parts.size() + 1)
                 .arg(found_->obligations.size())
                 .arg(qs(obligation).trimmed());
  }
  return parts.join(QStringLiteral("\n(reset)\n")) + QLatin1Char('\n');
}

void RecordSection::exportRecord() {
  write(tr("Export record"), QStringLiteral("proof.json"), tr("Proof record (*.json)"), recordText());
}

void RecordSection::exportSmt() {
  write(tr("Export SMT-LIB"), QStringLiteral("proof.smt2"), tr("SMT-LIB (*.smt2)"), obligationsText());
}

void RecordSection::write(const QString& title, const QString& name, const QString& filter,
                          const QString& text) {
  if (text.isEmpty()) return;
  QFileDialog dialog(this, title, QString(), filter);
  dialog.setAcceptMode(QFileDialog::AcceptSave);
  dialog.setDefaultSuffix(name.section(QLatin1Char('.'), -1));
  dialog.selectFile(name);
  if (dialog.exec() != QDialog::Accepted || dialog.selectedFiles().isEmpty()) return;
  const QString path = dialog.selectedFiles().first();
  QSaveFile file(path);
  const QByteArray bytes = text.toUtf8();
  if (file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size() && file.commit()) return;
  QMessageBox::warning(this, title, tr("%1 could not be written: %2.").arg(path, file.errorString()));
}

QString RecordSection::plainText() const {
  QStringList lines{headline()};
  if (found_) {
    for (const replay::LemmaUse& use : found_->uses) {
      lines << QString(use.depth * 2, QLatin1Char(' ')) + qs(use.lemma) + QStringLiteral(": ") +
                   qs(use.substitution);
    }
  }
  return lines.join(QLatin1Char('\n'));
}

}  // namespace nuscope::views

#include "moc_record_section.cpp"
