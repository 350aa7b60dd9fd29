#include "views/screens.h"

#include <algorithm>

#include "views/code/code_view.h"
#include "views/devices/devices_view.h"
#include "views/prove/prove_screen.h"
#include "views/schedule/schedule_screen.h"
#include "views/sweep/sweep_screen.h"
#include "views/window/explore_screen.h"

namespace nuscope::views {

std::vector<ScreenSpec> screens() {
  return {
      {"program", "Program", "program", false, makeProgramScreen},
      {"variants", "Variants", "variants", false, makeExploreScreen},
      {"prove", "Prove", "prove", false,
       [](const ViewContext& c, QWidget* p) -> QWidget* { return new ProveScreen(c, p); }},
      {"sweep", "Sweep", "sweep", false,
       [](const ViewContext& c, QWidget* p) -> QWidget* { return new SweepScreen(c, p); }},
      {"code", "Code", "code", false,
       [](const ViewContext& c, QWidget* p) -> QWidget* { return new CodeView(c, p); }},
      {"schedule", "Schedule", "schedule", false,
       [](const ViewContext& c, QWidget* p) -> QWidget* { return new ScheduleScreen(c, p); }},
      {"devices", "Devices", "devices", true,
       [](const ViewContext& c, QWidget* p) -> QWidget* { return new DevicesView(c, p); }},
  };
}

std::vector<View*> viewsOf(QWidget* screen) {
  if (auto* schedule = qobject_cast<ScheduleScreen*>(screen)) schedule->finish();
  std::vector<View*> result;
  if (auto* view = qobject_cast<View*>(screen)) result.push_back(view);
  const auto children = screen->findChildren<View*>();
  result.insert(result.end(), children.begin(), children.end());
  return result;
}

}  // namespace nuscope::views
