#pragma once
// The screens of the activity bar, in order. A screen is one widget that arranges views; the window makes it
// when it is first shown. Adding one: a line in screens.cpp, its folder in views/CMakeLists.txt.
#include <functional>
#include <vector>

#include "views/view.h"

namespace nuscope::views {

struct ScreenSpec {
  const char* id;     ///< "variants"; --view NAME, settings; the command "view.ID" shows it
  const char* title;  ///< under the icon
  const char* icon;
  bool atBottom;
  std::function<QWidget*(const ViewContext&, QWidget* parent)> make;
};

std::vector<ScreenSpec> screens();

/// The views inside a screen (or a view itself), for export, focus and search. Those of a screen that is
/// still being made are made now.
std::vector<View*> viewsOf(QWidget* screen);

}  // namespace nuscope::views
