#pragma once
// One proof as the views show it: which two graphs, what was asked, the verdict in words, the mathematics of
// both sides. Built from a step or a refused move of a nu-graph, or from two programs typed by hand. Words
// and choices only; the proving is done elsewhere.
#include <QString>
#include <QStringList>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/progress.h"
#include "core/nugraph/nugraph.h"
#include "core/proof/verdict.h"
#include "core/semantics/parting.h"
#include "views/marks.h"
#include "views/proof/math_sheet.h"

namespace nuscope::proof {
class SolverPool;
}

namespace nuscope::views {

struct ProofCase {
  QString title;                              ///< "divide moved past matmul"
  QString place;                              ///< "variant 5 to variant 9"; may be empty
  tensor::Program left, right;                ///< same store, or at least the same parameters
  std::shared_ptr<const proof::Proof> proof;  ///< null: not decided yet
  bool recorded = false;                      ///< read from a file, neither proved nor replayed here
  bool refines = false;                       ///< mode: the right side may be defined at more inputs
};

std::optional<ProofCase> caseOfStep(const nugraph::NuGraph& graph, int step);
std::optional<ProofCase> caseOfRefused(const nugraph::NuGraph& graph, int refused);

/// "Proved over the reals for all M, K, N \u2265 1". Never without what the numbers are and what it holds
/// for.
QString verdictText(const proof::Proof& proof, const tensor::Program& program, bool recorded);
Mark verdictMark(const proof::Proof& proof);
/// ">=", "<=" and "!=" as people write them.
QString prettyRelations(QString text);

/// Both sides in mathematical notation, what moved marked, names explained below. Builds formulas of the
/// changed pair of the first result that differs; may take milliseconds for large graphs, so call it in a
/// job.
std::vector<MathLine> caseMath(const ProofCase& proofCase);

/// The values of both sides at the counterexample, which must be there. One evaluation of each side: call it
/// in a job. Throws as semantics::evaluate.
semantics::Partings casePartings(const ProofCase& proofCase, const Progress& progress);

/// An assert, or several that hold together, under which the two sides are proved.
struct Condition {
  QString words;      ///< "z is nowhere 0"
  QStringList lines;  ///< "assert np.all(z != 0)"; where they name a dimension, the line that reads it first
  QString holds;      ///< "Proved over the reals for ..."
};
/// For a case that is not proved, weakest first; takes seconds, so call it in a job. Reads the programs anew,
/// so that nothing is added to their store. Throws Cancelled.
std::vector<Condition> caseConditions(const ProofCase& proofCase, proof::SolverPool* solvers,
                                      const Progress& progress);

/// A shell script that repeats it: both programs and the `nuscope prove` that decides them.
QString commandText(const ProofCase& proofCase);

/// All obligations of the proof that a solver was asked, as one SMT-LIB text with comments; empty if there
/// are none.
QString smtText(const proof::Proof& proof);

}  // namespace nuscope::views
