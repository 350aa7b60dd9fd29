#include "core/proof/shrink.h"

#include <algorithm>
#include <cmath>

namespace nuscope::proof {
namespace {

using semantics::Inputs;
using semantics::TensorValue;
using tensor::Extents;
using tensor::Program;

constexpr int kTrials = 400;
constexpr std::int64_t kElements = 96;  ///< elements that are simplified one by one

/// How plain a value is; less is plainer.
double weight(double value) {
  if (value == 0) return 0;
  const double size = std::fabs(value);
  const bool whole = size == std::nearbyint(size);
  const bool half = 2 * size == std::nearbyint(2 * size);
  return (whole ? 0 : half ? 1000 : 1e6) + std::min(size, 900.0) + (value < 0 ? 0.5 : 0);
}

/// The leading (or trailing) block of the new shape.
std::optional<TensorValue> block(const TensorValue& tensor, const std::vector<std::int64_t>& shape,
                                 bool trailing) {
  std::vector<std::int64_t> start(shape.size(), 0);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] > tensor.shape[i]) return std::nullopt;
    if (trailing) start[i] = tensor.shape[i] - shape[i];
  }
  TensorValue result{tensor.dtype, shape, {}};
  const std::int64_t count = result.count();
  for (std::int64_t at = 0; at < count; ++at) {
    std::int64_t rest = at;
    std::int64_t source = 0;
    std::int64_t scale = 1;
    for (std::size_t i = shape.size(); i-- > 0;) {
      source += (rest % shape[i] + start[i]) * scale;
      scale *= tensor.shape[i];
      rest /= shape[i];
    }
    result.values.push_back(tensor.values[static_cast<std::size_t>(source)]);
  }
  return result;
}

class Shrinker {
 public:
  Shrinker(const Program& left, const Program& right, const tensor::DimFacts& facts, Mode mode, Case found,
           const Progress& progress)
      : left_(left), right_(right), facts_(facts), mode_(mode), best_(std::move(found)), progress_(progress) {
    screen_ = std::make_unique<Screen>(left_, right_, best_.extents, kTrials);
  }

  Case run() {
    for (bool again = true; again && trials_ < kTrials;) again = shrinkExtents();
    for (int pass = 0; pass < 3 && trials_ < kTrials; ++pass) {
      bool changed = simplifyWholes();
      changed = simplifyElements() || changed;
      if (!changed) break;
      if (shrinkExtents()) continue;
    }
    return std::move(best_);
  }

 private:
  bool accept(Screen& screen, const Inputs& inputs) {
    progress_.check();
    ++trials_;
    if (!screen.drawer().satisfied(inputs)) return false;
    const auto difference = screen.find(inputs, mode_, progress_, best_.difference.kind);
    if (!difference) return false;
    best_ = {screen.extents(), inputs, *difference};
    return true;
  }

  bool shrinkExtents() {
    bool changed = false;
    for (const std::string& dimension : left_.dimensions) {
      const std::int64_t now = best_.extents.at(dimension);
      for (const std::int64_t value :
           {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{4}, now / 2, now - 1}) {
        if (value < 1 || value >= now || trials_ >= kTrials) continue;
        if (tryExtent(dimension, value)) {
          changed = true;
          break;
        }
      }
    }
    return changed;
  }

  bool tryExtent(const std::string& dimension, std::int64_t value) {
    Extents extents = best_.extents;
    extents[dimension] = value;
    if (!std::ranges::all_of(facts_.relations(),
                             [&](const auto& relation) { return relation.holds(extents); }))
      return false;
    auto screen = std::make_unique<Screen>(left_, right_, extents, kTrials);
    for (const bool trailing : {false, true}) {
      Inputs inputs;
      for (const auto& parameter : left_.parameters) {
        auto part = block(best_.inputs.at(parameter.name), tensor::evaluate(parameter.node->shape, extents),
                          trailing);
        if (!part) return false;
        inputs.emplace(parameter.name, *std::move(part));
      }
      if (!accept(*screen, inputs)) continue;
      screen_ = std::move(screen);
      return true;
    }
    return false;
  }

  bool simplifyWholes() {
    bool changed = false;
    for (const auto& parameter : left_.parameters) {
      const TensorValue& now = best_.inputs.at(parameter.name);
      double before = 0;
      for (const double v : now.values) before += weight(v);
      for (const int choice : {0, 1, 2}) {
        Inputs inputs = best_.inputs;
        TensorValue& tensor = inputs[parameter.name];
        double after = 0;
        for (double& v : tensor.values) {
          v = choice == 2 ? std::nearbyint(v) : choice;
          after += weight(v);
        }
        if (after < before && trials_ < kTrials && accept(*screen_, inputs)) {
          changed = true;
          break;
        }
      }
    }
    return changed;
  }

  bool simplifyElements() {
    bool changed = false;
    std::int64_t seen = 0;
    for (const auto& parameter : left_.parameters) {
      const bool real = tensor::isReal(parameter.node->dtype);
      for (std::size_t i = 0; i < best_.inputs.at(parameter.name).values.size() && seen < kElements;
           ++i, ++seen) {
        const double now = best_.inputs.at(parameter.name).values[i];
        const double half = real ? std::nearbyint(now * 2) / 2 : std::trunc(now / 2);
        for (const double value :
             {0.0, 1.0, -1.0, 2.0, 3.0, std::nearbyint(now), half, std::trunc(now / 10), now - 1}) {
          if (trials_ >= kTrials) return changed;
          if (weight(value) >= weight(now) || (value != std::nearbyint(value) && !real)) continue;
          Inputs inputs = best_.inputs;
          inputs[parameter.name].values[i] = value;
          if (!accept(*screen_, inputs)) continue;
          changed = true;
          break;
        }
      }
    }
    return changed;
  }

  const Program& left_;
  const Program& right_;
  const tensor::DimFacts& facts_;
  Mode mode_;
  Case best_;
  const Progress& progress_;
  std::unique_ptr<Screen> screen_;
  int trials_ = 0;
};

}  // namespace

Case shrink(const Program& left, const Program& right, const tensor::DimFacts& facts, Mode mode, Case found,
            const Progress& progress) {
  return Shrinker(left, right, facts, mode, std::move(found), progress).run();
}

}  // namespace nuscope::proof
