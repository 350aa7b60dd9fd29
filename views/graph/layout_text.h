#pragma once
// What `nuscope-layout` reads and writes: lines of numbers in the C locale, one graph a process. The process
// holds libgvc, which is not thread-safe, cannot be cancelled and may abort; killing it is the cancel.
//
//   in    graph LR|TB RANKSEP NODESEP   node W H ...   edge FROM TO LABELW LABELH ...   end
//   out   node X Y (centre) ...   edge N X Y ... (spline points)  LABELX LABELY ...   end
// Units are points that stand for pixels; y grows downwards.
#include <optional>
#include <string>
#include <string_view>

#include "views/graph/graph_layout.h"

namespace nuscope::views {

std::string layoutRequest(const LayoutInput& input);
/// Empty when the text is not a complete request. Limits: 5000 boxes, 20000 edges.
std::optional<LayoutInput> parseLayoutRequest(std::string_view text);
std::string layoutAnswer(const GraphLayout& layout);
/// Empty when the answer does not belong to the input.
std::optional<GraphLayout> parseLayoutAnswer(std::string_view text, const LayoutInput& input);

}  // namespace nuscope::views
