#pragma once
// One self-contained HTML file that can be handed out: what was asked, every proved way, what was refused and
// why, what was measured, on what, and how to build it again. No external resources; light and dark by CSS.
#include <map>
#include <string>

#include "core/base/progress.h"

namespace nuscope::sweep {

class Study;

/// A painted picture, as SVG text in both themes. Painted by nuscope-explorer, offscreen; core paints
/// nothing.
struct ReportPicture {
  std::string light, dark;
};

/// Pictures by name: "derivation", "variant-ID", "latency". `whyMissing` says in one sentence why there are
/// none.
struct ReportPictures {
  std::map<std::string, ReportPicture> byName;
  std::string whyMissing;
};

/// The whole report. Reads only the study; runs nothing. Texts from the study are escaped, whatever they
/// hold.
std::string renderReport(const Study& study, const ReportPictures& pictures, const Progress& progress);

}  // namespace nuscope::sweep
