#pragma once
// Finds commands, variants, operators, refused moves and example programs by a few letters (Ctrl+K).
#include <QFrame>
#include <QIcon>
#include <QPointer>
#include <functional>
#include <vector>

#include "views/view.h"

class QLineEdit;
class QListView;
class QStandardItemModel;

namespace nuscope::views {

struct PaletteEntry {
  QString text;
  QString group;  ///< "Command", "Variant", "Operator", "Refused move", "Example"
  QString keys;   ///< shown at the right
  QIcon icon;
  std::function<void()> act;
  bool enabled = true;
};

class CommandPalette : public QFrame {
  Q_OBJECT
 public:
  CommandPalette(const ViewContext& context, QWidget* window);
  /// Shows itself below the top of the window, with all entries; `more` are the window's own (screens,
  /// examples).
  void open(std::vector<PaletteEntry> more);
  [[nodiscard]] QLineEdit& field() const { return *field_; }
  /// Texts of what is listed now, best first; for tests.
  [[nodiscard]] QStringList listed() const;

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void gather(std::vector<PaletteEntry> more);
  void filter();
  void accept();

  ViewContext context_;
  std::vector<PaletteEntry> entries_;
  QLineEdit* field_;
  QListView* list_;
  QStandardItemModel* model_;
  QPointer<QWidget> focusBefore_;
};

}  // namespace nuscope::views
