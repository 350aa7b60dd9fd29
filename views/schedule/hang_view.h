#pragma once
// A hang dump beside its schedule: what went wrong, how it blocks the rest, and where every queue stood.
#include "views/detail_view.h"

class QTextBrowser;

namespace nuscope::views {

class ScheduleDocument;
struct Hang;

class HangView : public DetailView {
  Q_OBJECT
 public:
  explicit HangView(const ViewContext& context, QWidget* parent = nullptr);
  [[nodiscard]] QString plainText() const;
  [[nodiscard]] QWidget* focusTarget() const override;
  [[nodiscard]] QString summary() const override { return plainText(); }
  /// Asks for a dump and explains it.
  void askAndExplain();

 protected:
  void refresh() override;
  void fillContextMenu(QMenu& menu) override;

 private:
  void causes(const Hang& hang);
  void queues(const Hang& hang);
  void paragraph(const QString& html);
  [[nodiscard]] QString taskLink(const Hang& hang, int task) const;
  ScheduleDocument& schedule_;
  QTextBrowser* page_;
  QString html_;
};

}  // namespace nuscope::views
