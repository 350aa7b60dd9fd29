#include "core/schedule/positions.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "core/schedule/footprint.h"
#include "core/schedule/storage.h"

namespace nuscope::schedule {
namespace {

constexpr std::int64_t largest = std::int64_t{1} << 40U;

/// bound := affine | ("min" | "max") "(" affine {"," affine} ")";   affine := term {("+" | "-") term};
/// term := integer ["*" "pos"] | "pos"
class BoundParser {
 public:
  explicit BoundParser(std::string_view text) : text_(text) {}
  std::optional<Bound> run() {
    Bound bound;
    const bool least = word("min");
    if (least || word("max")) {
      bound.kind = least ? Bound::Kind::least : Bound::Kind::greatest;
      if (!symbol('(')) return std::nullopt;
      do {
        if (!affine(bound)) return std::nullopt;
      } while (symbol(',') && bound.terms.size() < 16);
      if (!symbol(')')) return std::nullopt;
    } else if (!affine(bound)) {
      return std::nullopt;
    }
    blanks();
    return at_ == text_.size() ? std::optional(bound) : std::nullopt;
  }

 private:
  void blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool symbol(char c) {
    blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool word(std::string_view w) {
    blanks();
    if (!text_.substr(at_).starts_with(w)) return false;
    at_ += w.size();
    return true;
  }
  bool number(std::int64_t& value) {
    blanks();
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc() || value > largest || value < -largest) return false;
    at_ = static_cast<std::size_t>(end - text_.data());
    return true;
  }
  bool affine(Bound& into) {
    Affine sum;
    std::int64_t sign = symbol('-') ? -1 : 1;
    while (true) {
      std::int64_t factor = 1;
      if (word("pos")) {
        sum.slope += sign;
      } else if (!number(factor)) {
        return false;
      } else if (symbol('*')) {
        if (!word("pos") || factor > (1 << 20) || factor < -(1 << 20)) return false;
        sum.slope += sign * factor;
      } else {
        sum.offset += sign * factor;
      }
      if (std::abs(sum.slope) > (1 << 20) || std::abs(sum.offset) > largest) return false;
      if (symbol('+')) {
        sign = 1;
      } else if (symbol('-')) {
        sign = -1;
      } else {
        break;
      }
    }
    into.terms.push_back(sum);
    return true;
  }
  std::string_view text_;
  std::size_t at_ = 0;
};

std::string text(const Affine& a) {
  if (a.slope == 0) return std::to_string(a.offset);
  std::string out = a.slope == 1 ? "pos" : fmt::format("{}*pos", a.slope);
  if (a.offset > 0) out += fmt::format(" + {}", a.offset);
  if (a.offset < 0) out += fmt::format(" - {}", -a.offset);
  return out;
}

template <class Visit>
void forEachAccess(Schedule& schedule, Visit visit) {
  for (Task& task : schedule.tasks) {
    for (auto* list : {&task.reads, &task.writes}) {
      if (!*list) continue;
      for (Access& access : **list) visit(access);
    }
  }
}

}  // namespace

std::int64_t Bound::at(std::int64_t position) const {
  std::int64_t value = terms[0].at(position);
  for (const Affine& a : terms)
    value = kind == Kind::least ? std::min(value, a.at(position)) : std::max(value, a.at(position));
  return value;
}

std::optional<Bound> parseBound(std::string_view text) {
  return BoundParser(text).run();
}

std::string text(const Bound& bound) {
  if (bound.terms.size() == 1) return text(bound.terms[0]);
  std::string out = bound.kind == Bound::Kind::least ? "min(" : "max(";
  for (std::size_t i = 0; i < bound.terms.size(); ++i) out += (i == 0 ? "" : ", ") + text(bound.terms[i]);
  return out + ")";
}

void setPosition(Schedule& schedule, std::int64_t position) {
  forEachAccess(schedule, [&](Access& access) {
    if (access.symbolic.empty()) return;
    access.region.ranges.clear();
    for (const auto& [from, to] : access.symbolic)
      access.region.ranges.emplace_back(from.at(position), to.at(position));
  });
}

std::optional<std::vector<std::int64_t>> stretches(const Schedule& schedule, std::size_t most) {
  const Ids ids(schedule);
  const auto storage = storageOf(schedule);
  std::map<std::pair<std::int32_t, std::size_t>, std::set<Affine>> bounds;  // per (storage, axis)
  for (const Task& task : schedule.tasks) {
    for (const auto* list : {&task.reads, &task.writes}) {
      if (!*list) continue;
      for (const Access& access : **list) {
        const std::int32_t buffer = ids.buffer(access.buffer);
        if (buffer < 0) continue;
        const auto& shape = schedule.buffers[static_cast<std::size_t>(buffer)].shape;
        for (std::size_t i = 0; i < shape.size(); ++i) {
          auto& set = bounds[{storage[static_cast<std::size_t>(buffer)], i}];
          set.insert({{0, 0}, {0, shape[i]}});
          if (i < access.symbolic.size()) {
            for (const Bound* bound : {&access.symbolic[i].first, &access.symbolic[i].second})
              set.insert(bound->terms.begin(), bound->terms.end());
          } else if (i < access.region.ranges.size()) {
            set.insert({{0, access.region.ranges[i].first}, {0, access.region.ranges[i].second}});
          }
        }
      }
    }
  }
  const auto [first, end] = *schedule.positions;
  std::set<std::int64_t> starts{first};
  for (const auto& [where, set] : bounds) {
    for (const Affine& a : set) {
      if (a.slope == 0) continue;
      for (const Affine& b : set) {
        if (a.slope == b.slope) continue;
        // a - b changes its sign at (b.offset - a.offset) / (a.slope - b.slope): the stretches begin there
        // and behind.
        std::int64_t over = b.offset - a.offset;
        std::int64_t under = a.slope - b.slope;
        if (under < 0) {
          over = -over;
          under = -under;
        }
        const std::int64_t floor = over / under - (over % under < 0 ? 1 : 0);
        for (const std::int64_t start : {floor, floor + 1}) {
          if (start > first && start < end) starts.insert(start);
        }
        if (starts.size() > most) return std::nullopt;
      }
    }
  }
  return std::vector<std::int64_t>(starts.begin(), starts.end());
}

}  // namespace nuscope::schedule
