#pragma once
// A label of several lines that remembers how high it is at the widths that it was asked for. A layout asks a
// dozen times, at two or three widths, and each answer would lay the text out again: the longest stalls of
// the window were made of that.
#include <QLabel>
#include <array>
#include <cstddef>

namespace nuscope::views {

class WrappedLabel : public QLabel {
 public:
  explicit WrappedLabel(const QString& text, QWidget* parent = nullptr) : QLabel(text, parent) {
    setWordWrap(true);
  }
  explicit WrappedLabel(QWidget* parent = nullptr) : WrappedLabel(QString(), parent) {}
  [[nodiscard]] int heightForWidth(int width) const override;

 protected:
  void changeEvent(QEvent* event) override;

 private:
  struct Known {
    int width = -1, height = 0;
  };
  mutable QString knownText_;
  mutable std::array<Known, 4> known_;  ///< the oldest is replaced
  mutable std::size_t oldest_ = 0;
};

}  // namespace nuscope::views
