#pragma once
// Views that share one place of the screen: each has the same switch in its header.
#include "views/view.h"

namespace nuscope::views {

class DetailView : public View {
  Q_OBJECT
 public:
  using View::View;
  /// Chips that lead to the views in one stack; the one of this view is checked and stays so.
  void addSwitch(const QStringList& names, int own, const std::function<void(int)>& show);
};

}  // namespace nuscope::views
