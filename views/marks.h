#pragma once
// Shapes that go with meanings, and icons: check in a circle, cross in an octagon, question in a diamond, a
// ring that turns. Icons are our own one-colour SVGs (resources/icons), tinted with the theme at load.
#include <QIcon>
#include <QString>

#include "core/proof/verdict.h"

class QPainter;
class QRectF;

namespace nuscope::views {

struct Theme;

enum class Mark { none, proved, refuted, unknown, running, added, removed, moved, warning };

Mark markOf(proof::Verdict verdict);
/// Paints the mark into `box` (a square); `turn` in [0, 1) for the running ring.
void paintMark(QPainter& painter, const QRectF& box, Mark mark, const Theme& theme, double turn = 0);
QIcon markIcon(Mark mark, const Theme& theme);
/// resources/icons/NAME.svg in `text` colour (muted when disabled, selection when checked). Throws
/// InternalError if there is no such icon.
QIcon themedIcon(const QString& name, const Theme& theme);
/// In words: "proved over the reals" is written by whoever knows the extents; this is the bare word.
QString wordOf(Mark mark);

}  // namespace nuscope::views
