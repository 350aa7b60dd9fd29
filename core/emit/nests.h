#pragma once
// One nest of loops -> one function of the emitted file. A printer per kind of nest: row_nest.cpp,
// fold_nest.cpp, scan_nest.cpp, contract_nest.cpp.
#include "core/emit/generator.h"
#include "core/machine/target.h"
#include "core/tiling/space.h"

namespace nuscope::emit {

/// Parameters as the printers use them; see core/tiling/space.h.
struct Settings {
  int lanes = 8;  ///< floats per vector
  int tileM = 6;
  int tileVectors = 2;
  Extent stripM = 96;
  Extent blockK = 256;
  bool packA = true;
  bool packB = true;
  int prefetch = 0;
  bool columnsOutside = false;  ///< of products that stand alone
  int unroll = 4;
  bool stream = true;
  [[nodiscard]] Extent tileN() const { return Extent{tileVectors} * lanes; }
};

/// `static void NAME(const Data& data, char* own, long begin, long end)`: rows (or units of work) begin ..
/// end.
struct Function {
  std::string name;
  std::string comment;
  std::vector<Line> lines;     ///< the body
  std::vector<NodeRef> nodes;  ///< that it computes
  std::int64_t ownBytes = 0;   ///< of the thread's memory, from `ownOffset` on
  Extent units = 1;            ///< what begin and end count
  Extent unit = 1;             ///< they are multiples of this, but for the end
  bool byColumns = false;      ///< begin and end count panels of a product, not rows
  double work = 0;             ///< rough number of scalar operations
  std::string note;            ///< why it has no vectors, if so
};

/// Arrays that an anchor is written to.
using Targets = std::function<std::vector<int>(const fusion::Anchor&)>;

/// What a printer gets besides the nest.
struct NestContext {
  FileContext& file;
  const Settings& settings;
  Targets targets;
  std::int64_t ownOffset = 0;  ///< where the nest's part of the thread's memory begins
  Extent batchRows = 1;        ///< rows per batch of the group: where strips end
  bool columnsOutside = false;
  std::string title;  ///< "3, 4: max, exp"
};

Function rowNest(const NestContext& context, const fusion::Nest& nest);
Function foldNest(const NestContext& context, const fusion::Nest& nest);
Function scanNest(const NestContext& context, const fusion::Nest& nest);

/// Copies of whole operands, which the caller has made with packedShape and leftShape; -1: there is none.
struct ContractArrays {
  int panels = -1, left = -1;
};
struct ContractFunctions {
  std::optional<Function> panels;  ///< copies b into panels; runs before the group
  std::optional<Function> left;    ///< copies a; runs before the group
  Function product;
};
ContractFunctions contractNest(const NestContext& context, const fusion::Nest& nest,
                               const ContractArrays& arrays);
/// Shape [batches of b, panels, depth, columns of a panel] of packed b; empty where b is read in place.
std::optional<ConcreteShape> packedShape(const FileContext& file, const fusion::Nest& nest,
                                         const Settings& settings);
/// Shape [batches x rows, depth and a gap] of a copied as a whole, for columns outside; empty where a is read
/// in place.
std::optional<ConcreteShape> leftShape(const NestContext& context, const fusion::Nest& nest);

// ---- shared by the printers
/// Names in the function for the arrays it uses, as its first lines.
std::vector<Line> arrayLines(const FileContext& file, const Generator& generator);
/// Rounded up to whole cache lines.
inline std::int64_t aligned(std::int64_t bytes) {
  return (bytes + 63) / 64 * 64;
}
/// The first line of a loop over lanes from .. to (C++ texts), in rounds of `unroll` vectors; `arguments` are
/// those of its body. Ends that are numbers become parameters of the template.
std::string lanesHeader(int unroll, const std::string& from, const std::string& to,
                        std::string_view arguments);
/// Likewise of a block of `vectors` vectors from j0 on, of which `count` lanes exist.
std::string blockHeader(int vectors, const std::string& count, std::string_view arguments);
/// How many lanes of the block that begins at j0 exist, as C++ text: a number, or the name of a variable that
/// is defined here.
std::string countOfBlock(Generator& generator, Extent block, Extent length);
/// print(true) prints with vectors; where that is not possible, print(false) without, and the note says why.
/// `seam`: the note where a concatenation's seam is in the way.
template <class Print>
Function withVectorsIfPossible(std::string_view seam, Print print) {
  std::string why;
  try {
    return print(true);
  } catch (const NeedsSplit&) {
    why = seam;
  } catch (const NeedsScalars& scalars) {
    why = scalars.why;
  }
  Function function = print(false);
  function.note = std::move(why);
  return function;
}
/// Thrown by fold hooks once they have taken the fold.
struct FoldTaken {};
/// Rough scalar operations of a node's value at one index, through what is computed in place. `varyingOnly`:
/// without what has fewer elements than the node, and is therefore computed outside the innermost loop.
double coneWeight(const FileContext& file, NodeRef node, bool varyingOnly = false);
/// Nodes of the nest for the tags of lines: anchors.
std::vector<NodeRef> anchorsOf(const fusion::Nest& nest);

}  // namespace nuscope::emit
