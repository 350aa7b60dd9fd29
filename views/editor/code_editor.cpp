#include "views/editor/code_editor.h"

#include <QHelpEvent>
#include <QPainter>
#include <QScrollBar>
#include <QTextBlock>
#include <QTextLayout>
#include <QToolTip>
#include <algorithm>

#include "views/marks.h"
#include "views/text.h"
#include "views/theme.h"

namespace nuscope::views {

namespace {

constexpr int indentWidth = 4;

/// UTF-16 offset of a 0-based code-point offset.
int utf16Offset(const QString& line, int codePoints) {
  int at = 0;
  for (; codePoints > 0 && at < line.size(); --codePoints)
    at += line[at].isHighSurrogate() && at + 1 < line.size() ? 2 : 1;
  return at;
}

class Margin : public QWidget {
 public:
  explicit Margin(CodeEditor* editor) : QWidget(editor), editor_(editor) {}
  [[nodiscard]] QSize sizeHint() const override { return {editor_->marginWidth(), 0}; }

 protected:
  void paintEvent(QPaintEvent* event) override { editor_->paintMargin(event); }

 private:
  CodeEditor* editor_;
};

}  // namespace

TextSpan spanOf(const QTextDocument& document, const SourceRange& range) {
  const auto position = [&](int line, int column) {
    const QTextBlock block = document.findBlockByNumber(std::clamp(line, 1, document.blockCount()) - 1);
    return block.position() + utf16Offset(block.text(), column - 1);
  };
  return {position(range.line, range.column), position(range.endLine, range.endColumn)};
}

SourceRange placeOf(const QTextDocument& document, int position) {
  const QTextBlock block = document.findBlock(position);
  const QString before = block.text().left(position - block.position());
  const int column = static_cast<int>(before.toUcs4().size()) + 1;
  const int line = block.blockNumber() + 1;
  return {line, column, line, column};
}

CodeEditor::CodeEditor(ThemeSource& theme, QTextDocument* document, QWidget* parent)
    : QPlainTextEdit(parent), theme_(theme), margin_(new Margin(this)) {
  if (document) setDocument(document);
  setLineWrapMode(NoWrap);
  setFrameShape(NoFrame);
  setCursorWidth(2);
  connect(this, &QPlainTextEdit::blockCountChanged, this, &CodeEditor::placeMargin);
  connect(this, &QPlainTextEdit::updateRequest, this, [this](const QRect& where, int dy) {
    if (dy != 0) {
      margin_->scroll(0, dy);
    } else {
      margin_->update(0, where.y(), margin_->width(), where.height());
    }
  });
  connect(this, &QPlainTextEdit::cursorPositionChanged, this, &CodeEditor::updateSelections);
  connect(&theme_, &ThemeSource::changed, this, &CodeEditor::retheme);
  retheme();
}

void CodeEditor::retheme() {
  const Theme& t = theme_.theme();
  setFont(t.code);
  setTabStopDistance(QFontMetricsF(t.code).horizontalAdvance(QLatin1Char(' ')) * indentWidth);
  // The document has no margin of its own: it would make the last line taller than the others.
  document()->setDocumentMargin(0);
  margin_->setFont(t.code);
  placeMargin();
  updateSelections();
}

int CodeEditor::marginWidth() const {
  const int digits = static_cast<int>(QString::number(std::max(99, blockCount())).size());
  return theme_.theme().gutter + fontMetrics().horizontalAdvance(QLatin1Char('9')) * digits +
         theme_.theme().gutter + theme_.theme().padding;
}

void CodeEditor::placeMargin() {
  const int padding = theme_.theme().padding;
  setViewportMargins(marginWidth(), padding, 0, 0);
  const QRect inside = contentsRect();
  margin_->setGeometry(inside.left(), inside.top() + padding, marginWidth(), inside.height() - padding);
}

void CodeEditor::resizeEvent(QResizeEvent* event) {
  QPlainTextEdit::resizeEvent(event);
  placeMargin();
}

void CodeEditor::paintMargin(QPaintEvent* event) {
  const Theme& t = theme_.theme();
  QPainter painter(margin_);
  painter.fillRect(event->rect(), t.surface);
  painter.setFont(t.code);
  for (QTextBlock block = firstVisibleBlock(); block.isValid(); block = block.next()) {
    const QRectF where = blockBoundingGeometry(block).translated(contentOffset());
    if (where.top() > event->rect().bottom()) break;
    if (!block.isVisible() || where.bottom() < event->rect().top()) continue;
    const int line = block.blockNumber() + 1;
    // A line that is wrapped has its number and its mark beside its first row.
    const double row = where.height() / std::max(1, block.layout()->lineCount());
    if (line == textCursor().blockNumber() + 1 && !isReadOnly() && hasFocus()) {
      painter.fillRect(QRectF(0, where.top(), margin_->width(), where.height()), t.selectionFill);
    }
    const auto found = byLine_.find(line);
    if (found != byLine_.end()) {
      const bool error = std::any_of(found->second.begin(), found->second.end(), [&](std::size_t i) {
        return diagnostics_[i].severity == Severity::error;
      });
      const double side = std::min(12 * t.scale, row - 2);
      paintMark(painter, QRectF(1, where.top() + (row - side) / 2, side, side),
                error ? Mark::refuted : Mark::warning, t);
    }
    painter.setPen(t.muted);
    painter.drawText(QRectF(0, where.top(), margin_->width() - t.gutter - t.padding, row),
                     Qt::AlignRight | Qt::AlignVCenter, QString::number(line));
  }
}

void CodeEditor::setDiagnostics(const std::vector<Diagnostic>& diagnostics) {
  diagnostics_ = diagnostics;
  byLine_.clear();
  for (std::size_t i = 0; i < diagnostics_.size(); ++i) byLine_[diagnostics_[i].range.line].push_back(i);
  updateSelections();
  margin_->update();
}

void CodeEditor::setMarkedLines(const std::vector<int>& lines) {
  if (lines == markedLines_) return;
  markedLines_ = lines;
  updateSelections();
}

void CodeEditor::setMarkedRange(const SourceRange& range) {
  if (range == markedRange_) return;
  markedRange_ = range;
  updateSelections();
}

void CodeEditor::updateSelections() {
  const Theme& t = theme_.theme();
  QList<QTextEdit::ExtraSelection> all;
  const auto line = [&](int number, const QColor& ground) {
    QTextEdit::ExtraSelection selection;
    selection.format.setBackground(ground);
    selection.format.setProperty(QTextFormat::FullWidthSelection, true);
    selection.cursor = QTextCursor(document()->findBlockByNumber(number - 1));
    all << selection;
  };
  for (const int number : markedLines_) line(number, t.selectionFill);
  if (!isReadOnly() && hasFocus()) line(textCursor().blockNumber() + 1, t.selectionFill);
  const auto span = [&](const SourceRange& range, const QTextCharFormat& format) {
    const TextSpan at = spanOf(*document(), range);
    QTextEdit::ExtraSelection selection;
    selection.cursor = QTextCursor(document());
    selection.cursor.setPosition(at.from);
    selection.cursor.setPosition(at.to, QTextCursor::KeepAnchor);
    selection.format = format;
    all << selection;
  };
  if (markedRange_.line > 0) {
    QTextCharFormat format;
    QColor ground = t.selection;
    ground.setAlpha(t.dark ? 70 : 45);
    format.setBackground(ground);
    span(markedRange_, format);
  }
  if (!sought_.isEmpty()) {
    for (QTextCursor hit = document()->find(sought_); !hit.isNull() && all.size() < 2000;
         hit = document()->find(sought_, hit)) {
      QTextEdit::ExtraSelection selection;
      selection.cursor = hit;
      selection.format.setBackground(t.unknownFill);
      all << selection;
    }
  }
  for (const Diagnostic& diagnostic : diagnostics_) {
    if (diagnostic.range.line <= 0) continue;
    QTextCharFormat format;
    format.setUnderlineStyle(QTextCharFormat::WaveUnderline);
    format.setUnderlineColor(diagnostic.severity == Severity::error ? t.refuted : t.unknown);
    SourceRange range = diagnostic.range;
    if (range.endLine == range.line && range.endColumn <= range.column) range.endColumn = range.column + 1;
    span(range, format);
  }
  setExtraSelections(all);
}

void CodeEditor::goTo(const SourceRange& range) {
  if (range.line <= 0) return;
  QTextCursor cursor(document());
  cursor.setPosition(spanOf(*document(), range).from);
  setTextCursor(cursor);
  ensureCursorVisible();
}

QString CodeEditor::findText(const QString& text, bool backwards) {
  const bool same = text == sought_;
  sought_ = text;
  if (text.isEmpty()) {
    updateSelections();
    return {};
  }
  QTextCursor from = textCursor();
  if (!same) from.setPosition(from.selectionStart());
  QTextDocument::FindFlags flags;
  if (backwards) flags |= QTextDocument::FindBackward;
  QTextCursor hit = document()->find(text, from, flags);
  if (hit.isNull()) {  // around
    QTextCursor edge(document());
    if (backwards) edge.movePosition(QTextCursor::End);
    hit = document()->find(text, edge, flags);
  }
  if (!hit.isNull()) setTextCursor(hit);
  updateSelections();
  if (hit.isNull()) return tr("no match");
  int count = 0;
  int at = 0;
  for (QTextCursor c = document()->find(text); !c.isNull() && count < 10000; c = document()->find(text, c)) {
    ++count;
    if (c.selectionStart() == hit.selectionStart()) at = count;
  }
  return tr("%1 of %2").arg(at).arg(count);
}

void CodeEditor::indent(bool more) {
  QTextCursor cursor = textCursor();
  const int first = document()->findBlock(cursor.selectionStart()).blockNumber();
  const int last = document()->findBlock(cursor.selectionEnd()).blockNumber();
  cursor.beginEditBlock();
  for (int number = first; number <= last; ++number) {
    QTextCursor line(document()->findBlockByNumber(number));
    if (more) {
      line.insertText(QString(indentWidth, QLatin1Char(' ')));
    } else {
      const QString text = line.block().text();
      int spaces = 0;
      while (spaces < indentWidth && spaces < text.size() && text[spaces] == QLatin1Char(' ')) ++spaces;
      line.movePosition(QTextCursor::Right, QTextCursor::KeepAnchor, spaces);
      line.removeSelectedText();
    }
  }
  cursor.endEditBlock();
}

void CodeEditor::keyPressEvent(QKeyEvent* event) {
  const int before = textCursor().position();
  const bool plain = !(event->modifiers() & (Qt::ControlModifier | Qt::AltModifier));
  if (!isReadOnly() && plain && event->key() == Qt::Key_Tab) {
    if (textCursor().hasSelection()) {
      indent(true);
    } else {
      const int column = textCursor().positionInBlock();
      textCursor().insertText(QString(indentWidth - column % indentWidth, QLatin1Char(' ')));
    }
    return;
  }
  if (!isReadOnly() && plain && event->key() == Qt::Key_Backtab) {
    indent(false);
    return;
  }
  if (!isReadOnly() && plain && (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter)) {
    QTextCursor cursor = textCursor();
    const QString line = cursor.block().text().left(cursor.positionInBlock());
    qsizetype spaces = 0;
    while (spaces < line.size() && line[spaces] == QLatin1Char(' ')) ++spaces;
    if (line.trimmed().endsWith(QLatin1Char(':'))) spaces += indentWidth;
    cursor.insertText(QLatin1Char('\n') + QString(spaces, QLatin1Char(' ')));
    setTextCursor(cursor);
    ensureCursorVisible();
    return;
  }
  const bool wasText = !event->text().isEmpty();
  QPlainTextEdit::keyPressEvent(event);
  if (!wasText && textCursor().position() != before)
    Q_EMIT placeChosen(placeOf(*document(), textCursor().position()));
}

void CodeEditor::mouseReleaseEvent(QMouseEvent* event) {
  QPlainTextEdit::mouseReleaseEvent(event);
  if (event->button() == Qt::LeftButton && !textCursor().hasSelection())
    Q_EMIT placeChosen(placeOf(*document(), textCursor().position()));
}

bool CodeEditor::event(QEvent* event) {
  if (event->type() == QEvent::FocusIn || event->type() == QEvent::FocusOut) {
    const bool taken = QPlainTextEdit::event(event);
    updateSelections();
    margin_->update();
    return taken;
  }
  if (event->type() != QEvent::ToolTip) return QPlainTextEdit::event(event);
  auto* help = static_cast<QHelpEvent*>(event);
  const QPoint inViewport = viewport()->mapFrom(this, help->pos());
  const SourceRange place = placeOf(*document(), cursorForPosition(inViewport).position());
  QStringList lines;
  const bool inMargin = inViewport.x() < 0;
  for (const Diagnostic& d : diagnostics_) {
    const bool starts = std::pair(d.range.line, d.range.column) <= std::pair(place.line, place.column);
    const bool ends = std::pair(place.line, place.column) <= std::pair(d.range.endLine, d.range.endColumn);
    if (!(starts && ends) && !(inMargin && d.range.line == place.line)) continue;
    lines << qs(d.message);
    if (!d.hint.empty()) lines << qs(d.hint);
  }
  if (lines.isEmpty() && hoverText_ && !inMargin) lines << hoverText_(place);
  QToolTip::showText(help->globalPos(), lines.join(QLatin1Char('\n')), this);
  return true;
}

}  // namespace nuscope::views

#include "moc_code_editor.cpp"
