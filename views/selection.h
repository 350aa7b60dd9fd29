#pragma once
// What is selected, everywhere. One object is shared by all views: choosing a variant, step, refused move,
// node, candidate or line in any of them highlights it in all. Back and forward walk through the places that
// were selected.
#include <QObject>
#include <QString>
#include <optional>
#include <set>
#include <vector>

#include "core/base/diagnostics.h"
#include "core/tensor/graph.h"

namespace nuscope::views {

/// Ids are those of the current nu-graph (variant, step, refused) and of the current sweep (candidate); -1:
/// none. A step or a refused move that is chosen implies its variant: the variant it leads to, or starts
/// from.
struct Place {
  int variant = 0;  ///< 0: as written; always some variant while there is a nu-graph
  int step = -1;    ///< at most one of step and refused is set
  int refused = -1;
  tensor::NodeRef node = nullptr;  ///< a node of the variant (or of a removed part of its parent)
  std::int64_t candidate = -1;
  SourceRange range;  ///< in the program's text; line 0: none
  bool operator==(const Place&) const = default;
};

class Selection : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;
  [[nodiscard]] const Place& place() const { return place_; }

  // Each keeps what still makes sense: choosing a node keeps the variant, choosing a variant drops step and
  // refused move unless they belong to it (pass them together by `go` where they do).
  void selectVariant(int variant);
  void selectStep(int step, int variantItLeadsTo);
  void selectRefused(int refused, int variantItStartsFrom);
  void selectNode(tensor::NodeRef node, SourceRange range = {});
  void selectCandidate(std::int64_t candidate, int variant);
  void selectRange(SourceRange range, tensor::NodeRef node = nullptr);
  void go(const Place& place);

  // History. A place is remembered when another variant, step, refused move or candidate is chosen; nodes and
  // ranges of one variant replace each other.
  [[nodiscard]] bool canGoBack() const { return position_ > 0; }
  [[nodiscard]] bool canGoForward() const { return position_ + 1 < history_.size(); }
  void back();
  void forward();
  /// A new document: forgets everything without a signal for each.
  void reset();

  // Candidates that were marked together, by dragging over a plot; shared, without history, empty most of the
  // time.
  void brush(const std::vector<std::int64_t>& candidates);
  [[nodiscard]] const std::set<std::int64_t>& brushed() const { return brushed_; }

  // Hovering is shared too, but has no history.
  void hoverNode(tensor::NodeRef node);
  [[nodiscard]] tensor::NodeRef hovered() const { return hovered_; }

 Q_SIGNALS:
  void changed(const nuscope::views::Place& now, const nuscope::views::Place& before);
  void hoverChanged(nuscope::tensor::NodeRef node);
  void historyChanged();
  void brushChanged();

 private:
  void set(const Place& place, bool remember);
  Place place_;
  std::vector<Place> history_{Place{}};
  std::size_t position_ = 0;
  tensor::NodeRef hovered_ = nullptr;
  std::set<std::int64_t> brushed_;
};

}  // namespace nuscope::views
