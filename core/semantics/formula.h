#pragma once
// Granular forms as a tree of mathematics, for views and reports: what one element of a node is, in terms of
// its operands or down to the inputs.
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/tensor/graph.h"

namespace nuscope::semantics {

struct Formula;
using FormulaRef = std::shared_ptr<const Formula>;

/// One piece of mathematics. Immutable. `parts` by kind:
struct Formula {
  enum class Kind : std::uint8_t {
    number,     ///< text: "2", "1e-05", "-\u221E"
    symbol,     ///< text: "x", "K", "k"
    subscript,  ///< parts[0] with the subscripts parts[1..] (commas are written only if one is longer than a
                ///< letter)
    negate,     ///< -parts[0]
    sum,        ///< parts added; a negated part is written as a difference
    product,    ///< parts multiplied; written with thin space or \u00B7
    fraction,   ///< parts[0] / parts[1]
    root,       ///< square root of parts[0]
    power,      ///< parts[0] to the parts[1]
    function,   ///< text: "exp", "tanh", "max"...; arguments parts
    absolute,   ///< |parts[0]|
    floor,      ///< floor brackets about parts[0]
    bigOperator,  ///< text: "\u03A3", "\u03A0", "max", "min", "\u2200"; parts: body, bound variable, upper
                  ///< limit; the variable runs over 0 <= v < limit, or v <= limit if `inclusive`
    cases,        ///< parts: value, condition, value, condition, ..., value otherwise
    relation,     ///< parts[0] text parts[1]; text: "<", "\u2264", "=", "\u2227"...
    negation      ///< not parts[0]
  };
  Kind kind = Kind::number;
  std::string text;
  bool inclusive = false;
  bool marked = false;             ///< comes from a marked node (what changed); the painter tints it
  tensor::NodeRef node = nullptr;  ///< the node whose element this is; may be null
  std::vector<FormulaRef> parts;
};

/// "name_{indices} = body".
struct Definition {
  tensor::NodeRef node = nullptr;
  FormulaRef left;  ///< a subscript or a symbol
  FormulaRef right;
};

/// A result and the sub-expressions that it uses by name, in the order in which they should be read.
struct Formulas {
  std::vector<Definition> where;  ///< innermost first
  Definition result;
};

struct FormulaOptions {
  /// Nodes that are written by name: 0: only inputs (everything expanded, up to `sizeLimit`); 1: also
  /// variables of the program that are used more than once or are folds; 2: every node by name (each node in
  /// terms of its operands).
  int naming = 1;
  /// An expression of more pieces than this is cut at its largest sub-expression, which gets a name (t1, t2,
  /// ...).
  int sizeLimit = 60;
  std::unordered_set<tensor::NodeRef> marked;
};

/// The mathematics of `node` (of context's store), with index names derived from the names of dimensions (M
/// -> m).
Formulas formulas(const tensor::Program& context, tensor::NodeRef node, const FormulaOptions& options = {});

/// One line of Unicode: "y_mn = \u03A3_{k<K} x_mk w_kn". Parentheses by precedence.
std::string text(const Formula& formula);
std::string text(const Definition& definition);
std::string text(const Formulas& formulas);  ///< lines, the result last
/// HTML without style sheets (sub, sup, span class="nu-mark" for marked pieces); fractions as a/b.
std::string html(const Formula& formula);
/// Number of pieces.
int size(const Formula& formula);

}  // namespace nuscope::semantics
