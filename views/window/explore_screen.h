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

/// The same without parts: widgets made with it as their parent are its parts. A widget that moves to another
/// parent is styled anew with all that it holds, so many views together are made where they stay.
QSplitter* hairSplitter(Qt::Orientation orientation, const char* name, QWidget* parent);
/// Sizes and stretch factors of the parts, when all are there.
void shareOut(QSplitter& splitter, const QList<int>& sizes, const std::vector<int>& stretch);

QWidget* makeExploreScreen(const ViewContext& context, QWidget* parent);
QWidget* makeProgramScreen(const ViewContext& context, QWidget* parent);

}  // namespace nuscope::views
