#include "views/detail_view.h"

#include <QSignalBlocker>
#include <QToolButton>

namespace nuscope::views {

void DetailView::addSwitch(const QStringList& names, int own, const std::function<void(int)>& show) {
  for (int i = 0; i < names.size(); ++i) {
    auto* chip = addChip(names[i], i == own, [](bool) {});
    chip->disconnect(this);
    chip->setObjectName(QStringLiteral("switch.") + names[i].toLower());
    connect(chip, &QToolButton::clicked, this, [chip, i, own, show] {
      const QSignalBlocker quiet(chip);
      chip->setChecked(i == own);
      if (i != own) show(i);
    });
  }
}

}  // namespace nuscope::views

#include "moc_detail_view.cpp"
