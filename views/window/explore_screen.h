#pragma once
// The first screen: program and explore panel at the left, derivation over the chosen variant in the middle,
// proofs over the inspector at the right. And the plain program screen: text, its graph, inspector.
#include <QWidget>

#include "views/view.h"

class QSplitter;

namespace nuscope::views {

/// A splitter of one-pixel lines whose state is saved under its objectName.
QSplitter* hairSplitter(Qt::Orientation orientation, const char* name, const std::vector<QWidget*>& parts,
                        const QList<int>& sizes, const std::vector<int>& stretch);

QWidget* makeExploreScreen(const ViewContext& context, QWidget* parent);
QWidget* makeProgramScreen(const ViewContext& context, QWidget* parent);

}  // namespace nuscope::views
