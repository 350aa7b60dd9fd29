#pragma once
// The parameters one variant has on one target at one set of extents, which values each may take, and the
// limits of the target that constrain them. DESIGN 6: strip, block and tile per dimension; an empty space is
// explained by a minimal set of limits that are in conflict.
//
// Parameters (those that have a meaning for the variant are in the space; all others are ignored by the
// emitter):
//   tile_m, tile_n   rows and columns of the matmul micro-kernel's register block
//   strip_m          rows that pass through all fused nests together, and whose operands are packed together
//   block_k          depth of the block of the left operand that is packed at once; >= K: not blocked
//   pack_a, pack_b   1: the operand is copied into panels first; 0: read in place
//   order            1: columns are the outer loop of products that stand alone, and a panel of b is copied
//   where
//                    it is used; 0: strips of rows are, and all panels are copied first. (Depth blocks come
//                    next, then what is left of columns or rows.)
//   prefetch         rows of a panel that are asked for before they are needed; where a row is read by
//   several
//                    loops, 1 asks for the next row in the last of them; 0: only the hardware asks
//   fuse             2: nests over the same rows run strip by strip, intermediates stay in cache; 1:
//   elementwise
//                    operators and row folds share loops, one nest after the other; 0: every operator is its
//                    own nest
//   unroll           vectors per round of vector loops
//   stream           1: results are stored past the caches; the preset where a call leaves the last cache
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/machine/target.h"
#include "core/tensor/graph.h"

namespace nuscope::fusion {
class Concrete;
}

namespace nuscope::tiling {

using Parameters = std::map<std::string, std::int64_t>;

struct Parameter {
  std::string name;                  ///< "tile_m"
  std::string meaning;               ///< for people
  std::vector<std::int64_t> values;  ///< candidates, ascending
  std::int64_t preset = 0;           ///< what the emitter takes where nothing is set
};

/// A limit. `text` names the limit with its numbers: "the register block needs 15 of 16 vector registers".
struct Constraint {
  std::string limit;              ///< "16 vector registers", "L2 of 512 KiB"
  std::string text;               ///< the rule, in words
  std::vector<std::string> over;  ///< parameters it reads
  std::function<bool(const Parameters&)> holds;
};

struct Space {
  std::vector<Parameter> parameters;
  std::vector<Constraint> constraints;
  std::int64_t combinations = 0;  ///< product of the numbers of values
  std::int64_t admitted = 0;      ///< of these, how many satisfy every constraint
  /// Empty unless admitted == 0: the texts of a minimal set of constraints that no combination satisfies
  /// together.
  std::vector<std::string> conflict;
  [[nodiscard]] Parameters presets() const;
};

/// Throws UserError when an extent is missing.
Space spaceOf(const tensor::Program& context, std::span<const tensor::NodeRef> results,
              const tensor::Extents& extents, const machine::Target& target);

/// Whether what a call reads and writes is more than three quarters of the last cache.
bool leavesCaches(const tensor::Program& context, std::span<const tensor::NodeRef> results,
                  const fusion::Concrete& concrete, const machine::Target& target);

/// Counts what is admitted and explains an empty space; spaceOf has called it.
void count(Space& space);

/// Leaves only these values of the named parameters, counts anew and moves the presets where they are gone.
/// Parameters that the space has not are ignored. One that keeps no value makes the space empty.
void narrow(Space& space, const std::map<std::string, std::vector<std::int64_t>>& only);

/// The admitted points, the presets first, then in lexicographic order of the parameters; at most `limit` (0:
/// all), and then spread evenly over the whole order, so that a limit never cuts off one end. Deterministic.
std::vector<Parameters> enumerate(const Space& space, std::size_t limit = 0);

/// "tile_m=6 tile_n=16 strip_m=96".
std::string text(const Parameters& parameters);
/// Of "k=v"; throws UserError that says what was expected.
void set(Parameters& parameters, std::string_view assignment);
/// Of "k=v" or "k=v,w": adds the values to those that `narrow` leaves. UserError as above.
void allow(std::map<std::string, std::vector<std::int64_t>>& only, std::string_view assignment);

}  // namespace nuscope::tiling
