#pragma once
// QCustomPlot, whose header needs Qt's keyword macros; the views are built with QT_NO_KEYWORDS, because core
// has a namespace called emit. Include this, never <qcustomplot.h>.
#define signals Q_SIGNALS
#define slots Q_SLOTS
#include <qcustomplot.h>
#undef signals
#undef slots
