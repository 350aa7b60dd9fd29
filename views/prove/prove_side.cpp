#include "views/prove/prove_side.h"

#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextDocument>
#include <QToolButton>
#include <algorithm>

#include "core/language/printer.h"
#include "core/nugraph/nugraph.h"
#include "views/document.h"
#include "views/editor/code_editor.h"
#include "views/editor/code_highlighter.h"
#include "views/selection.h"
#include "views/state_label.h"
#include "views/text.h"
#include "views/theme.h"

namespace nuscope::views {

namespace {

constexpr qint64 largestFile = 4 << 20;
constexpr std::size_t variantsInMenu = 30;

}  // namespace

ProveSide::ProveSide(const ViewContext& viewContext, const char* id, const QString& side, QWidget* parent)
    : View(viewContext, id, side, parent), side_(side) {
  document_ = new QTextDocument(this);
  document_->setDocumentLayout(new QPlainTextDocumentLayout(document_));
  editor_ = new CodeEditor(context().theme, document_);
  editor_->setAccessibleName(tr("Program of the %1 side").arg(side));
  new CodeHighlighter(document_, CodeLanguage::python, context().theme);
  state_ = new StateLabel(context().theme);
  addHeaderWidget(state_);
  source_ = addHeaderButton(QStringLiteral("open"), tr("Take the text from\u2026"), [this] {
    QMenu menu;
    fillSourceMenu(menu);
    menu.exec(source_->mapToGlobal(QPoint(0, source_->height())));
  });
  setContent(editor_);
  connect(document_, &QTextDocument::contentsChange, this, [this](int, int removed, int added) {
    if (removed == 0 && added == 0) return;
    if (!setting_) {
      origin_ = Origin::hand;
      markStale();
    }
    Q_EMIT textChanged();
  });
  const auto follow = [this] {
    if (origin_ == Origin::program) takeProgram();
  };
  connect(&context().document, &Document::opened, this, [this, follow] {
    if (origin_ == Origin::variant) origin_ = Origin::program;
    follow();
  });
  connect(context().document.source(), &QTextDocument::contentsChanged, this, follow);
}

void ProveSide::setText(const QString& text, Origin origin) {
  origin_ = origin;
  markStale();
  if (document_->toPlainText() == text) return;
  setting_ = true;
  document_->setPlainText(text);
  setting_ = false;
}

void ProveSide::takeProgram() {
  setText(context().document.text(), Origin::program);
}

void ProveSide::takeVariant(int variant) {
  const auto graph = context().document.nuGraph();
  if (!graph || variant < 0 || variant >= static_cast<int>(graph->variants().size())) return;
  variant_ = variant;
  const tensor::Program program = graph->program(variant);
  setText(qs(language::print(program, program.results).text), Origin::variant);
}

bool ProveSide::takeFile(const QString& path) {
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly) || file.size() > largestFile) {
    state_->setState(Mark::refuted, file.isOpen()
                                        ? tr("%1 is larger than 4 MiB").arg(QFileInfo(path).fileName())
                                        : tr("cannot be read: %1").arg(file.errorString()));
    return false;
  }
  takeNamed(QFileInfo(path).fileName(), QString::fromUtf8(file.readAll()));
  return true;
}

void ProveSide::takeNamed(const QString& name, const QString& text) {
  fileName_ = name;
  setText(text, Origin::file);
}

namespace {

/// The block of the first statement of the last function: behind the line that ends its signature.
QTextBlock firstStatement(const QTextDocument& document) {
  QTextBlock start = document.end();
  for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
    if (block.text().startsWith(QLatin1String("def "))) start = block;
  }
  while (start.isValid() &&
         !start.text().section(QLatin1Char('#'), 0, 0).trimmed().endsWith(QLatin1Char(':')))
    start = start.next();
  QTextBlock statement = start.next();
  while (statement.isValid() && statement.text().trimmed().isEmpty()) statement = statement.next();
  return statement;
}

}  // namespace

void ProveSide::insertAtTop(const QStringList& lines) {
  const QTextBlock statement = firstStatement(*document_);
  if (!statement.isValid()) return;
  const QString text = statement.text();
  qsizetype blanks = 0;
  while (blanks < text.size() && text[blanks] == QLatin1Char(' ')) ++blanks;
  const QString whole = document_->toPlainText();
  QString inserted;
  for (const QString& line : lines) {
    // "N = x.shape[0]" need not be read twice.
    if (!line.startsWith(QLatin1String("assert ")) && whole.contains(line)) continue;
    inserted += QString(blanks, QLatin1Char(' ')) + line + QLatin1Char('\n');
  }
  QTextCursor cursor(statement);
  cursor.insertText(inserted);
}

QString ProveSide::text() const {
  return document_->toPlainText();
}

QString ProveSide::originText() const {
  switch (origin_) {
    case Origin::program:
      return context().document.programName().isEmpty() ? tr("the program")
                                                        : context().document.programName();
    case Origin::variant:
      return tr("variant %1").arg(variant_);
    case Origin::file:
      return fileName_;
    case Origin::hand:
      break;
  }
  return tr("by hand");
}

void ProveSide::refresh() {
  setTitle(originText());
  setSubtitle(side_);
}

void ProveSide::setDiagnostics(const std::vector<Diagnostic>& diagnostics) {
  editor_->setDiagnostics(diagnostics);
  const auto errors = std::count_if(diagnostics.begin(), diagnostics.end(),
                                    [](const Diagnostic& d) { return d.severity == Severity::error; });
  if (errors > 0) {
    state_->setState(Mark::refuted, counted(errors, tr("error"), tr("errors")));
    state_->setToolTip(qs(diagnostics.front().message));
  } else {
    state_->setState(Mark::none, QString());
    state_->setToolTip(QString());
  }
}

void ProveSide::setMarkedLines(const std::vector<int>& lines) {
  editor_->setMarkedLines(lines);
}

void ProveSide::fillSourceMenu(QMenu& menu) {
  menu.addAction(tr("The program"), this, &ProveSide::takeProgram);
  if (context().document.nuGraph()) {
    menu.addAction(tr("The selected variant"), this,
                   [this] { takeVariant(context().selection.place().variant); });
    fillVariants(*menu.addMenu(tr("Variant")));
  }
  menu.addSeparator();
  menu.addAction(tr("A file\u2026"), this, &ProveSide::openFile);
}

/// All of them; where there are many, in menus of thirty.
void ProveSide::fillVariants(QMenu& menu) {
  const auto graph = context().document.nuGraph();
  const auto& list = graph->variants();
  for (std::size_t from = 0; from < list.size(); from += variantsInMenu) {
    const std::size_t to = std::min(from + variantsInMenu, list.size());
    QMenu* part = list.size() <= variantsInMenu ? &menu : menu.addMenu(tr("%1 to %2").arg(from).arg(to - 1));
    for (std::size_t i = from; i < to; ++i) {
      part->addAction(QStringLiteral("%1  %2").arg(list[i].id).arg(qs(list[i].title)), this,
                      [this, id = list[i].id] { takeVariant(id); });
    }
  }
}

void ProveSide::fillContextMenu(QMenu& menu) {
  QMenu* take = menu.addMenu(tr("Take the text from"));
  fillSourceMenu(*take);
  View::fillContextMenu(menu);
}

void ProveSide::openFile() {
  const QString path =
      QFileDialog::getOpenFileName(this, tr("Open a program"), QString(), tr("NumPy program (*.py)"));
  if (!path.isEmpty()) takeFile(path);
}

QWidget* ProveSide::focusTarget() const {
  return editor_;
}
QString ProveSide::find(const QString& text, bool backwards) {
  return editor_->findText(text, backwards);
}
QString ProveSide::exportText(const QString& suffix) const {
  return suffix == QLatin1String("py") ? text() : QString();
}
QString ProveSide::summary() const {
  return tr("%1 side: %2").arg(side_, originText());
}

std::pair<std::vector<int>, std::vector<int>> differingLines(const QString& left, const QString& right) {
  const QStringList a = left.split(QLatin1Char('\n'));
  const QStringList b = right.split(QLatin1Char('\n'));
  qsizetype head = 0;
  while (head < std::min(a.size(), b.size()) && a[head] == b[head]) ++head;
  qsizetype tail = 0;
  while (tail < std::min(a.size(), b.size()) - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail])
    ++tail;
  const qsizetype n = a.size() - head - tail;
  const qsizetype m = b.size() - head - tail;
  std::vector<bool> keptA(static_cast<std::size_t>(n), false);
  std::vector<bool> keptB(static_cast<std::size_t>(m), false);
  if (n <= 2000 && m <= 2000 && n > 0 && m > 0) {
    const auto width = static_cast<std::size_t>(m) + 1;
    std::vector<std::uint16_t> length((static_cast<std::size_t>(n) + 1) * width, 0);
    for (qsizetype i = n - 1; i >= 0; --i) {
      for (qsizetype j = m - 1; j >= 0; --j) {
        const auto at = static_cast<std::size_t>(i) * width + static_cast<std::size_t>(j);
        length[at] = a[head + i] == b[head + j] ? static_cast<std::uint16_t>(length[at + width + 1] + 1)
                                                : std::max(length[at + width], length[at + 1]);
      }
    }
    for (qsizetype i = 0, j = 0; i < n && j < m;) {
      const auto at = static_cast<std::size_t>(i) * width + static_cast<std::size_t>(j);
      if (a[head + i] == b[head + j]) {
        keptA[static_cast<std::size_t>(i++)] = true;
        keptB[static_cast<std::size_t>(j++)] = true;
      } else if (length[at + width] >= length[at + 1]) {
        ++i;
      } else {
        ++j;
      }
    }
  }
  const auto says = [](const QString& line) {
    const QString text = line.trimmed();
    return !text.isEmpty() && !text.startsWith(QLatin1Char('#'));
  };
  std::pair<std::vector<int>, std::vector<int>> result;
  for (qsizetype i = 0; i < n; ++i) {
    if (!keptA[static_cast<std::size_t>(i)] && says(a[head + i]))
      result.first.push_back(static_cast<int>(head + i) + 1);
  }
  for (qsizetype j = 0; j < m; ++j) {
    if (!keptB[static_cast<std::size_t>(j)] && says(b[head + j]))
      result.second.push_back(static_cast<int>(head + j) + 1);
  }
  return result;
}

}  // namespace nuscope::views

#include "moc_prove_side.cpp"
