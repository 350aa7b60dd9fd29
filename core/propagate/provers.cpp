#include "core/propagate/attempt.h"

namespace nuscope::propagate {

Procedures provers() {
  Procedures result;
  result.rewrite = [](const auto& context, auto before, auto after, const auto& cut, const auto& options,
                      const Progress& progress) {
    return proof::proveRewrite(context, before, after, cut, options, progress);
  };
  result.whole = [](const auto& left, const auto& right, const auto& options, const Progress& progress) {
    return proof::prove(left, right, options, progress);
  };
  result.refute = [](const auto& left, const auto& right, const proof::RefuteOptions& options,
                     const Progress& progress) { return proof::refute(left, right, options, progress); };
  return result;
}

}  // namespace nuscope::propagate
