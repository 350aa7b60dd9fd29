#include "views/graph/layout_text.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace nuscope::views {

namespace {

constexpr std::size_t mostBoxes = 5000;
constexpr std::size_t mostEdges = 20000;

/// Words separated by blanks and newlines.
class Words {
 public:
  explicit Words(std::string_view text) : rest_(text) {}
  std::string_view next() {
    const auto from = rest_.find_first_not_of(" \n\r\t");
    if (from == std::string_view::npos) return {};
    rest_.remove_prefix(from);
    const auto end = std::min(rest_.find_first_of(" \n\r\t"), rest_.size());
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return word;
  }
  bool number(double& into) {
    const std::string_view word = next();
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), into);
    return error == std::errc() && end == word.data() + word.size() && std::isfinite(into) &&
           std::fabs(into) < 1e9;
  }
  bool integer(int& into) {
    const std::string_view word = next();
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), into);
    return error == std::errc() && end == word.data() + word.size();
  }

 private:
  std::string_view rest_;
};

}  // namespace

std::string layoutRequest(const LayoutInput& input) {
  std::string out = fmt::format("graph {} {} {}\n", input.leftToRight ? "LR" : "TB", input.betweenRanks,
                                input.betweenBoxes);
  for (const QSizeF& box : input.boxes) out += fmt::format("node {} {}\n", box.width(), box.height());
  for (const auto& e : input.edges)
    out += fmt::format("edge {} {} {} {}\n", e.from, e.to, e.labelWidth, e.labelHeight);
  return out + "end\n";
}

std::optional<LayoutInput> parseLayoutRequest(std::string_view text) {
  Words words(text);
  LayoutInput input;
  if (words.next() != "graph") return {};
  const std::string_view direction = words.next();
  if (direction != "LR" && direction != "TB") return {};
  input.leftToRight = direction == "LR";
  if (!words.number(input.betweenRanks) || !words.number(input.betweenBoxes)) return {};
  for (std::string_view word = words.next(); word != "end"; word = words.next()) {
    if (word == "node") {
      double w = 0;
      double h = 0;
      if (!words.number(w) || !words.number(h) || w <= 0 || h <= 0 || input.boxes.size() == mostBoxes)
        return {};
      input.boxes.emplace_back(w, h);
    } else if (word == "edge") {
      LayoutInput::Edge e;
      if (!words.integer(e.from) || !words.integer(e.to) || !words.number(e.labelWidth) ||
          !words.number(e.labelHeight))
        return {};
      const int n = static_cast<int>(input.boxes.size());
      if (e.from < 0 || e.to < 0 || e.from >= n || e.to >= n || input.edges.size() == mostEdges) return {};
      input.edges.push_back(e);
    } else {
      return {};
    }
  }
  return input;
}

std::string layoutAnswer(const GraphLayout& layout) {
  std::string out;
  for (const QRectF& box : layout.boxes)
    out += fmt::format("node {} {}\n", box.center().x(), box.center().y());
  for (std::size_t e = 0; e < layout.edges.size(); ++e) {
    out += fmt::format("edge {}", layout.edges[e].size());
    for (const QPointF& p : layout.edges[e]) out += fmt::format(" {} {}", p.x(), p.y());
    out += fmt::format(" {} {}\n", layout.labels[e].x(), layout.labels[e].y());
  }
  return out + "end\n";
}

std::optional<GraphLayout> parseLayoutAnswer(std::string_view text, const LayoutInput& input) {
  Words words(text);
  GraphLayout out;
  const auto point = [&](QPointF& into) {
    double x = 0;
    double y = 0;
    if (!words.number(x) || !words.number(y)) return false;
    into = QPointF(x, y);
    return true;
  };
  for (const QSizeF& size : input.boxes) {
    QPointF centre;
    if (words.next() != "node" || !point(centre)) return {};
    out.boxes.emplace_back(centre - QPointF(size.width() / 2, size.height() / 2), size);
    out.bounds = out.bounds.united(out.boxes.back());
  }
  for (std::size_t e = 0; e < input.edges.size(); ++e) {
    int count = 0;
    if (words.next() != "edge" || !words.integer(count) || count < 0 || count > 10000) return {};
    auto& spline = out.edges.emplace_back(static_cast<std::size_t>(count));
    for (QPointF& p : spline) {
      if (!point(p)) return {};
      out.bounds = out.bounds.united(QRectF(p - QPointF(1, 1), QSizeF(2, 2)));
    }
    if (!point(out.labels.emplace_back())) return {};
  }
  if (words.next() != "end") return {};
  return out;
}

}  // namespace nuscope::views
