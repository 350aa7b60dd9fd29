#include "views/wrapped_label.h"

#include <QEvent>

namespace nuscope::views {

int WrappedLabel::heightForWidth(int width) const {
  if (knownText_ != text()) {
    known_.fill({});
    knownText_ = text();
  }
  for (const Known& known : known_) {
    if (known.width == width) return known.height;
  }
  const int height = QLabel::heightForWidth(width);
  known_[oldest_] = {width, height};
  oldest_ = (oldest_ + 1) % known_.size();
  return height;
}

void WrappedLabel::changeEvent(QEvent* event) {
  if (event->type() != QEvent::PaletteChange && event->type() != QEvent::ToolTipChange) known_.fill({});
  QLabel::changeEvent(event);
}

}  // namespace nuscope::views
