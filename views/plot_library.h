#pragma once
// QCustomPlot, whose header needs Qt's keyword macros; the views are built with QT_NO_KEYWORDS, because core
// has a namespace called emit. Include this, never <qcustomplot.h>.
#include <utility>

#define signals Q_SIGNALS
#define slots Q_SLOTS
#define foreach(variable, container) for (variable : std::as_const(container))
#include <qcustomplot.h>
#undef signals
#undef slots
#undef foreach
