#pragma once
// "Export kernel…": the chosen candidate of the shown sweep, or its fastest, as a folder (core/export).
#include <QString>
#include <functional>

#include "views/marks.h"
#include "views/view.h"

namespace nuscope::views {

/// Why there is nothing to export now; empty: there is.
QString exportObstacle(const Document& document);

/// Exports as a job; `say` gets what became of it, in the window's thread, unless `owner` is gone.
void exportKernel(const ViewContext& context, QObject* owner, const QString& folder,
                  const std::function<void(Mark, const QString&)>& say);

}  // namespace nuscope::views
