#pragma once
// Everything about the chosen task, counter or buffer; what it names can be clicked.
#include <memory>

#include "views/schedule/schedule_document.h"
#include "views/view.h"

class QTextBrowser;

namespace nuscope::schedule {
class Analysis;
}

namespace nuscope::views {

class ScheduleInspector : public View {
  Q_OBJECT
 public:
  explicit ScheduleInspector(const ViewContext& context, QWidget* parent = nullptr);
  [[nodiscard]] QString plainText() const;
  [[nodiscard]] QWidget* focusTarget() const override;
  [[nodiscard]] QString summary() const override { return plainText(); }

 protected:
  void refresh() override;

 private:
  void row(const QString& name, const QString& html);
  void task(const ScheduleState& state, int task);
  void counter(const ScheduleState& state, int counter);
  void buffer(const ScheduleState& state, int buffer);
  void whole(const ScheduleState& state);
  void showHtml(const QString& html);
  [[nodiscard]] QString links(const ScheduleState& state, const std::vector<std::int32_t>& tasks) const;
  [[nodiscard]] QString link(const QString& kind, int index, const QString& text) const;
  void order(const ScheduleState& state, int task);
  void seekOrder(int first, int second);
  void uses(const ScheduleState& state, const SchedulePlace& place);
  void seekUses(const SchedulePlace& place);
  ScheduleDocument& schedule_;
  std::shared_ptr<const schedule::Analysis> analysis_;  ///< of analysed_; made when orders are asked for
  std::shared_ptr<const ScheduleState> analysed_;
  std::pair<int, int> ordered_{-1, -1};  ///< the tasks that orderWords_ are about
  QStringList orderWords_;
  SchedulePlace used_;  ///< what usesHtml_ is about, of analysed_
  QString usesHtml_;
  QTextBrowser* page_;
  QString html_, shownHtml_;
};

}  // namespace nuscope::views
