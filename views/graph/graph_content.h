#pragma once
// What a graph widget shows, as values: boxes and edges without positions (those are in graph_layout.h).
#include <QString>
#include <cstdint>
#include <string>
#include <vector>

#include "views/marks.h"

namespace nuscope::views {

/// Which colours the tab of a card has (Theme: ...Kind, stage).
enum class Tint : std::uint8_t {
  input,
  elementwise,
  fold,
  contract,
  layout,
  algebra,
  tiled,
  instructions,
  fused
};

struct Box {
  std::uint64_t key = 0;  ///< stable between contents: keeps selection and eases motion
  QString title;          ///< semi-bold
  QString second;         ///< muted: name or type, in the monospaced face
  QString third;          ///< one metric; may be empty
  QString sign;           ///< on the tab: "⊙", "Σ", "@", "⇄", "→", or a letter
  Tint tint = Tint::elementwise;
  Mark badge = Mark::none;  ///< added, removed, moved, a verdict: at the top right corner
  bool ghost = false;       ///< removed here: dashed outline, muted text
  bool fault = false;       ///< red outline
  double width = 0;         ///< of the card; 0: as its texts need (give it where texts change often)
  int hidden = 0;           ///< that many neighbours are not shown: a "+n" stub, which can be clicked
  QString description;      ///< for tooltips and screen readers; one or more lines
};

struct Edge {
  int from = 0, to = 0;    ///< indices of boxes
  std::uint64_t key = 0;   ///< identifies the edge to its view: a step; 0: nothing to click
  QString label;           ///< on a chip; may be empty
  Mark mark = Mark::none;  ///< on the chip
  bool ghost = false;      ///< removed: dashed
  bool dashed = false;     ///< another kind of edge than the others
  bool fault = false;      ///< red
  bool strong = false;     ///< part of the selected path, or changed: thick, in the selection's colour
  QString description;
};

struct GraphContent {
  std::vector<Box> boxes;
  std::vector<Edge> edges;
  bool ring = false;  ///< edge i leads from box i to the next, the last to the first: see ring_layout.h
  bool leftToRight = false;  ///< ranks run to the right; otherwise downwards
  bool quietLabels =
      false;  ///< chips only on strong, selected and hovered edges; they take no room in the layout
  double betweenRanks = 0;  ///< 0: the usual distance
  QString notice;           ///< what was cut, in words; shown at the lower right
};

}  // namespace nuscope::views
