#include "views/selection.h"

namespace nuscope::views {

void Selection::selectVariant(int variant) {
  if (variant == place_.variant && place_.step < 0 && place_.refused < 0) return;
  Place next = place_;
  if (variant != place_.variant) next.candidate = -1;
  next.variant = variant;
  next.step = next.refused = -1;
  next.node = nullptr;
  next.range = {};
  set(next, true);
}

void Selection::selectStep(int step, int variantItLeadsTo) {
  Place next = place_;
  if (variantItLeadsTo != place_.variant) {
    next.node = nullptr;
    next.range = {};
    next.candidate = -1;
  }
  next.variant = variantItLeadsTo;
  next.step = step;
  next.refused = -1;
  set(next, true);
}

void Selection::selectRefused(int refused, int variantItStartsFrom) {
  Place next = place_;
  if (variantItStartsFrom != place_.variant) {
    next.node = nullptr;
    next.range = {};
    next.candidate = -1;
    next.step = -1;
  }
  next.variant = variantItStartsFrom;
  next.refused = refused;
  next.step = -1;
  set(next, true);
}

void Selection::selectNode(tensor::NodeRef node, SourceRange range) {
  Place next = place_;
  next.node = node;
  next.range = range;
  set(next, false);
}

void Selection::selectCandidate(std::int64_t candidate, int variant) {
  Place next = place_;
  if (variant != place_.variant) {
    next.step = next.refused = -1;
    next.node = nullptr;
    next.range = {};
  }
  next.variant = variant;
  next.candidate = candidate;
  set(next, true);
}

void Selection::selectRange(SourceRange range, tensor::NodeRef node) {
  Place next = place_;
  next.range = range;
  next.node = node;
  set(next, false);
}

void Selection::go(const Place& place) {
  set(place, true);
}

void Selection::back() {
  if (!canGoBack()) return;
  const Place before = place_;
  place_ = history_[--position_];
  Q_EMIT changed(place_, before);
  Q_EMIT historyChanged();
}

void Selection::forward() {
  if (!canGoForward()) return;
  const Place before = place_;
  place_ = history_[++position_];
  Q_EMIT changed(place_, before);
  Q_EMIT historyChanged();
}

void Selection::reset() {
  const Place before = place_;
  place_ = {};
  history_.assign(1, Place{});
  position_ = 0;
  hovered_ = nullptr;
  brush({});
  Q_EMIT changed(place_, before);
  Q_EMIT historyChanged();
}

void Selection::brush(const std::vector<std::int64_t>& candidates) {
  std::set<std::int64_t> next(candidates.begin(), candidates.end());
  if (next == brushed_) return;
  brushed_ = std::move(next);
  Q_EMIT brushChanged();
}

void Selection::hoverNode(tensor::NodeRef node) {
  if (node == hovered_) return;
  hovered_ = node;
  Q_EMIT hoverChanged(node);
}

void Selection::set(const Place& place, bool remember) {
  if (place == place_) return;
  const Place before = place_;
  place_ = place;
  if (remember) {
    history_.resize(position_ + 1);
    history_.push_back(place);
    constexpr std::size_t longest = 200;
    if (history_.size() > longest) history_.erase(history_.begin());
    position_ = history_.size() - 1;
  } else {
    history_[position_] = place;
  }
  Q_EMIT changed(place_, before);
  if (remember) Q_EMIT historyChanged();
}

}  // namespace nuscope::views

#include "moc_selection.cpp"
