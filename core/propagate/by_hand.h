#pragma once
// Variants that a person wrote: where such a program stands among the variants of a nu-graph, and the step
// that puts it there. Nothing is believed: it is proved that the program refines the one the graph started
// from, under the asserts of that one alone.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/progress.h"
#include "core/nugraph/nugraph.h"
#include "core/propagate/attempt.h"

namespace nuscope::propagate {

struct ByHandOptions {
  double secondsLimit = 10;  ///< wall clock, all proofs of one question together
  std::uint64_t seed = 1;
  proof::SolverPool* solvers = nullptr;  ///< null: what needs a solver stays unknown
};

enum class Standing : std::uint8_t {
  unfit,      ///< other parameters or results; or its shapes need an assert that the program does not make
  same,       ///< the graph of a variant
  alike,      ///< equal to a variant of the same loops: only elementwise operators are ordered otherwise
  equal,      ///< refines the program, and is none of the variants
  different,  ///< refuted, with a counterexample
  unknown     ///< neither proved nor refuted
};
/// "unfit", "same", ...
std::string_view text(Standing standing);

struct ByHand {
  Standing standing = Standing::unknown;
  std::optional<int> variant;  ///< same, alike: which; equal: the nearest, by operators that are not shared
  nugraph::ProofRef
      proof;        ///< null for unfit and same; of `alike` against that variant, else against variant 0
  std::string why;  ///< a sentence for people
  std::vector<tensor::NodeRef> results;  ///< in the graph's store; empty when unfit
};

/// Is it among the variants? By hash, else by proof; changes nothing. `other` may live in any store and need
/// not make the program's asserts; those it makes in addition are not assumed. Thread-safe; deterministic but
/// for what a clock cuts. Throws Cancelled.
ByHand standingOf(const nugraph::NuGraph& graph, const tensor::Program& other, const ByHandOptions& options,
                  const Progress& progress);
/// The same with tests' provers.
ByHand standingWith(const Procedures& procedures, const nugraph::NuGraph& graph, const tensor::Program& other,
                    const ByHandOptions& options, const Progress& progress);

/// A copy of the graph with a step from variant 0 to what was proved; the new variant is the last one.
/// `name`: of the file or the function, for titles. Throws InternalError unless the standing is `equal`.
std::shared_ptr<const nugraph::NuGraph> withByHand(const nugraph::NuGraph& graph, const ByHand& byHand,
                                                   const std::string& name);

/// The steps by hand of an earlier graph of the same program, looked up and proved again in a newer one.
/// `lost` gets a sentence for each that is not kept, with the reason.
std::shared_ptr<const nugraph::NuGraph> withByHandOf(std::shared_ptr<const nugraph::NuGraph> graph,
                                                     const nugraph::NuGraph& earlier,
                                                     const ByHandOptions& options, const Progress& progress,
                                                     std::vector<std::string>& lost);

}  // namespace nuscope::propagate
