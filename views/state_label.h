#pragma once
// A mark and a few words: "✓ no errors", "running"; the ring turns while running.
#include <QTimer>
#include <QWidget>

#include "views/marks.h"

namespace nuscope::views {

class ThemeSource;

class StateLabel : public QWidget {
  Q_OBJECT
 public:
  explicit StateLabel(ThemeSource& theme, QWidget* parent = nullptr);
  void setState(Mark mark, const QString& text);
  [[nodiscard]] QString text() const { return text_; }
  [[nodiscard]] Mark mark() const { return mark_; }
  void setMuted(bool muted);
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

 Q_SIGNALS:
  void clicked();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;

 private:
  ThemeSource& theme_;
  Mark mark_ = Mark::none;
  QString text_;
  bool muted_ = true;
  double turn_ = 0;
  QTimer timer_;
};

}  // namespace nuscope::views
