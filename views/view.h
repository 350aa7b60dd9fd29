#pragma once
// The base of every view: a panel with a header row (title, quiet subtitle, chips, at most four icon
// buttons), a content widget, a context menu with everything, search, and export of what is seen.
//
// A view shows core objects and computes nothing. It refreshes only while visible: call `markStale()` from
// any signal; `refresh()` runs once, soon, when the view is shown.
#include <QString>
#include <QWidget>
#include <functional>

class QHBoxLayout;
class QLabel;
class QMenu;
class QToolButton;
class QVBoxLayout;
class QPainter;
class QLineEdit;

namespace nuscope::views {

class ThemeSource;
class Selection;
class Document;
class Jobs;
class Commands;
struct Theme;

/// What every view gets. All of it outlives the views.
struct ViewContext {
  ThemeSource& theme;
  Selection& selection;
  Document& document;
  Jobs& jobs;
  Commands& commands;
};

class View : public QWidget {
  Q_OBJECT
 public:
  /// `id` is stable ("variants"); it names the view in settings, tests and --view. It becomes the objectName.
  View(const ViewContext& context, const char* id, const QString& title, QWidget* parent = nullptr);

  [[nodiscard]] QString id() const { return objectName(); }
  [[nodiscard]] QString title() const;
  void setTitle(const QString& title);
  void setSubtitle(const QString& subtitle);  ///< muted, beside the title

  // Export. One paint path: screen, PNG and SVG are the same picture.
  /// Size of the whole picture in device-independent pixels; empty: nothing to paint now.
  [[nodiscard]] virtual QSizeF exportSize() const;
  /// Paints the whole picture with its top left corner at (0, 0). The default renders the content widget.
  virtual void paintExport(QPainter& painter) const;
  /// Rows as comma-separated values with a header line; empty: this view has no table.
  [[nodiscard]] virtual QString csv() const { return {}; }
  /// Further formats: ".dot", ".smt2", ".json"... as file filters ("Graphviz (*.dot)"), and their writer.
  [[nodiscard]] virtual QStringList moreExports() const { return {}; }
  [[nodiscard]] virtual QString exportText(const QString& suffix) const;
  /// Writes by suffix (.png at two pixels a unit, .svg, .csv, or one of moreExports), atomically. False:
  /// `why` says so.
  bool exportTo(const QString& path, QString* why) const;
  /// Asks for a file and exports.
  void exportAs();

  // Search in the view (Ctrl+F). Views that cannot be searched leave it.
  [[nodiscard]] virtual bool canFind() const { return false; }
  /// Marks all hits, moves to the next one (backwards: the one before); returns "3 of 12", or "no match".
  virtual QString find(const QString& text, bool backwards);
  void openFind();
  /// F3 and Shift+F3.
  void findAgain(bool backwards);
  void closeFind();

  /// F. Default: nothing.
  virtual void fit() {}
  /// Of a view that has several pages: shows that one; false when there is none of that name.
  virtual bool showPage(const QString& /*name*/) { return false; }
  /// What Tab leads to and F6 focuses.
  [[nodiscard]] virtual QWidget* focusTarget() const { return content_; }
  /// The reader's sentence about the view: headline, for screen readers and tests.
  [[nodiscard]] virtual QString summary() const { return {}; }

  /// A change has not been shown yet.
  [[nodiscard]] bool refreshPending() const { return scheduled_; }

 protected:
  [[nodiscard]] const Theme& theme() const;
  [[nodiscard]] const ViewContext& context() const { return context_; }
  void setContent(QWidget* content);
  /// At most four; the last one is always "···", which opens the context menu. Throws InternalError beyond.
  QToolButton* addHeaderButton(const QString& icon, const QString& toolTip, const std::function<void()>& act);
  QToolButton* addHeaderToggle(const QString& icon, const QString& toolTip, bool on,
                               const std::function<void(bool)>& act);
  /// A rounded filter; chips stand before the buttons.
  QToolButton* addChip(const QString& text, bool on, const std::function<void(bool)>& act);
  /// A widget in the header, between title and chips.
  void addHeaderWidget(QWidget* widget);
  /// Entries of the context menu; the base adds find and export below them.
  virtual void fillContextMenu(QMenu& menu);
  /// Refreshes once, when visible.
  void markStale();
  virtual void refresh() {}
  /// Milliseconds from the first `markStale()` to `refresh()`. Views that cost more come a frame later, so
  /// that the one that was clicked answers at once and no single turn of the event loop pays for all of them.
  [[nodiscard]] virtual int refreshDelay() const { return 0; }
  virtual void themeChanged() { markStale(); }

  void showEvent(QShowEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void refreshIn(int milliseconds);
  void refreshIfVisible();
  void retint();
  ViewContext context_;
  QVBoxLayout* layout_;
  QWidget* header_;
  QHBoxLayout* headerLayout_;
  QLabel* title_;
  QLabel* subtitle_;
  QWidget* chips_;
  QWidget* buttons_;
  QWidget* content_ = nullptr;
  QWidget* findBar_ = nullptr;
  QLineEdit* findField_ = nullptr;
  QLabel* findResult_ = nullptr;
  bool stale_ = true;
  bool scheduled_ = false;  ///< a refresh is under way
};

}  // namespace nuscope::views
