// nuscope-layout: dot in a process of its own. Reads one graph, writes where its boxes and edges are (the
// format is in views/graph/layout_text.h; licence: see graph_layout.h there). Exit codes: 0 laid out, 3 bad
// input, 4 Graphviz failed.
#include <graphviz/gvc.h>

#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "views/graph/layout_text.h"

namespace {

using nuscope::views::GraphLayout;
using nuscope::views::LayoutInput;

constexpr double pointsPerInch = 72;

void set(void* object, const char* name, const std::string& value) {
  // cgraph takes char* but copies the text.
  agsafeset(object, const_cast<char*>(name), const_cast<char*>(value.c_str()), const_cast<char*>(""));
}

std::string inches(double points) {
  return std::to_string(points / pointsPerInch);
}

/// A label as an HTML table of fixed size, so that no font is ever measured here.
std::string spacer(double width, double height) {
  return "<TABLE BORDER=\"0\" FIXEDSIZE=\"TRUE\" WIDTH=\"" + std::to_string(static_cast<int>(width)) +
         "\" HEIGHT=\"" + std::to_string(static_cast<int>(height)) + "\"><TR><TD></TD></TR></TABLE>";
}

struct Built {
  std::vector<Agnode_t*> nodes;
  std::vector<Agedge_t*> edges;
};

Built build(Agraph_t* graph, const LayoutInput& input) {
  set(graph, "rankdir", input.leftToRight ? "LR" : "TB");
  set(graph, "ranksep", inches(input.betweenRanks));
  set(graph, "nodesep", inches(input.betweenBoxes));
  set(graph, "splines", "true");
  Built built;
  for (std::size_t i = 0; i < input.boxes.size(); ++i) {
    std::string name = "n" + std::to_string(i);
    Agnode_t* node = agnode(graph, name.data(), 1);
    set(node, "shape", "box");
    set(node, "fixedsize", "true");
    set(node, "label", "");
    set(node, "width", inches(input.boxes[i].width()));
    set(node, "height", inches(input.boxes[i].height()));
    built.nodes.push_back(node);
  }
  for (std::size_t e = 0; e < input.edges.size(); ++e) {
    const auto& edge = input.edges[e];
    std::string name = "e" + std::to_string(e);
    Agedge_t* made = agedge(graph, built.nodes[static_cast<std::size_t>(edge.from)],
                            built.nodes[static_cast<std::size_t>(edge.to)], name.data(), 1);
    if (edge.labelWidth > 0) {
      char* html = agstrdup_html(graph, spacer(edge.labelWidth, edge.labelHeight).data());
      agsafeset(made, const_cast<char*>("label"), html, const_cast<char*>(""));
    }
    built.edges.push_back(made);
  }
  return built;
}

GraphLayout readBack(Agraph_t* graph, const Built& built, const LayoutInput& input) {
  const double top = GD_bb(graph).UR.y;  // Graphviz counts upwards
  const auto point = [&](const pointf& p) { return QPointF(p.x, top - p.y); };
  GraphLayout out;
  for (std::size_t i = 0; i < built.nodes.size(); ++i) {
    const QPointF centre = point(ND_coord(built.nodes[i]));
    out.boxes.emplace_back(centre - QPointF(input.boxes[i].width() / 2, input.boxes[i].height() / 2),
                           input.boxes[i]);
  }
  for (Agedge_t* edge : built.edges) {
    auto& spline = out.edges.emplace_back();
    if (const splines* all = ED_spl(edge); all && all->size > 0) {
      const bezier& first = all->list[0];
      for (std::size_t i = 0; i < static_cast<std::size_t>(first.size); ++i)
        spline.push_back(point(first.list[i]));
      // dot ends the curve where its arrow head would start; ours are drawn onto the border.
      if (first.eflag && !spline.empty()) spline.back() = point(first.ep);
    }
    QPointF label;
    if (const textlabel_t* text = ED_label(edge); text && text->set) {
      label = point(text->pos);
    } else if (!spline.empty()) {
      label = spline[spline.size() / 2];
    }
    out.labels.push_back(label);
  }
  return out;
}

}  // namespace

int main() {
  const std::string text{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
  const auto input = nuscope::views::parseLayoutRequest(text);
  if (!input) {
    std::fputs("nuscope-layout: the graph on standard input is malformed or too large\n", stderr);
    return 3;
  }
  GVC_t* context = gvContext();
  Agraph_t* graph = agopen(const_cast<char*>("g"), Agdirected, nullptr);
  const Built built = build(graph, *input);
  if (gvLayout(context, graph, "dot") != 0) {
    std::fputs("nuscope-layout: dot could not lay out the graph\n", stderr);
    return 4;
  }
  std::cout << nuscope::views::layoutAnswer(readBack(graph, built, *input)) << std::flush;
  return 0;  // the process ends; freeing would only cost time
}
