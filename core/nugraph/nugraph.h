#pragma once
// The nu-graph: every whole-program variant that was derived from one program, the steps that derived them,
// and the moves that were refused. It only grows; each addition gets the next version number, so that any
// earlier state can be shown. Variants share structure (operators are hash-consed in the program's store): a
// variant is its roots.
//
// "Proved" of a step means: the variant it leads to is defined wherever the one it comes from is, and equal
// there, over the reals and for all extents named in the proof (proof::Mode::refines).
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"
#include "core/proof/verdict.h"
#include "core/tensor/graph.h"

namespace nuscope::nugraph {

/// Which part of the pipeline made a variant.
enum class Stage : std::uint8_t { algebra, tiled, instructions, fused };
std::string_view text(Stage stage);
std::optional<Stage> parseStage(std::string_view text);

using ProofRef = std::shared_ptr<const proof::Proof>;  ///< never null in a graph

/// One whole computation graph for the program.
struct Variant {
  int id = 0;  ///< 0: as written
  Stage stage = Stage::algebra;
  int parent = -1;    ///< the variant it was first derived from; -1 for the root
  int version = 0;    ///< the graph's version when it was added
  std::string title;  ///< short, in words, e.g. "divide moved past matmul"; "as written" for the root
  std::vector<tensor::NodeRef> results;  ///< in the order of the program's results
};

/// How a variant follows from another. The first step to a variant comes from its parent; later ones are
/// further ways.
struct Step {
  int id = 0;
  int from = 0;
  int to = 0;
  int version = 0;
  std::string what;  ///< "divide by sqrt(..) moved past matmul"
  std::string
      moved;  ///< name of the operator that moved; empty where none did (a merge, a clean-up, a step by hand)
  std::string past;                      ///< name of the operator it moved past
  std::vector<tensor::NodeRef> removed;  ///< nodes of `from` that `to` has not, operands before users
  std::vector<tensor::NodeRef> added;    ///< nodes of `to` that `from` has not
  ProofRef proof;                        ///< proved
  bool recorded = false;  ///< read from a file and not proved or replayed in this process: show "recorded"
  bool byHand = false;    ///< a person wrote the variant; no move led to it
};

/// A move that types but was not proved: refuted with a counterexample, or unknown with the reason. People
/// learn from these.
struct Refused {
  int id = 0;
  int from = 0;
  int version = 0;
  std::string what;  ///< "row bias moved past matmul onto w"
  std::string moved;
  std::string past;
  std::vector<tensor::NodeRef> removed, added;  ///< as in Step
  std::vector<tensor::NodeRef> results;         ///< the whole graph that was refused
  ProofRef proof;                               ///< refuted or unknown
  bool recorded = false;
};

/// Copyable; a copy shares the nodes and proofs. Not thread-safe: one owner adds, everybody else reads
/// snapshots (std::shared_ptr<const NuGraph>). References into it live until the next addition.
class NuGraph {
 public:
  /// Starts with the root variant. The program must have at least one result.
  explicit NuGraph(tensor::Program root);

  [[nodiscard]] const tensor::Program& root() const { return *root_; }
  [[nodiscard]] const std::vector<Variant>& variants() const { return variants_; }
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
  [[nodiscard]] const std::vector<Refused>& refused() const { return refused_; }
  /// What limits cut off, in words: "64 variants reached: 12 moves of variant 40 were not tried".
  [[nodiscard]] const std::vector<std::string>& cuts() const { return cuts_; }
  /// Number of additions so far; the root alone has version 0.
  [[nodiscard]] int version() const { return version_; }

  /// The variant with exactly these roots.
  [[nodiscard]] std::optional<int> find(const std::vector<tensor::NodeRef>& results) const;
  /// The root program with the results of a variant (same store, parameters, asserts).
  [[nodiscard]] tensor::Program program(int variant) const;
  /// The steps from the root to a variant along its parents, first step first; empty for the root.
  [[nodiscard]] std::vector<int> derivation(int variant) const;
  /// The graph as it was at an earlier version: what was added later is absent.
  [[nodiscard]] NuGraph at(int version) const;

  struct Counts {
    int proved = 0, refuted = 0, unknown = 0;
  };
  [[nodiscard]] Counts proofs() const;

  struct Added {
    int variant = 0;
    bool isNew = false;
  };
  /// Adds a variant with its first step, or, when the roots are there already, only the step (a second way).
  /// `step` brings from, what, moved, past, proof, recorded, byHand; ids, version and differences are filled in.
  /// `title` is used for a new variant. Throws InternalError if the proof is missing or not proved, or `from`
  /// does not exist.
  Added add(Step step, std::vector<tensor::NodeRef> results, Stage stage, std::string title);
  /// Returns its id. `refused` brings from, what, moved, past, results, proof, recorded.
  int add(Refused refused);
  void addCut(std::string words);

 private:
  std::shared_ptr<const tensor::Program> root_;
  std::vector<Variant> variants_;
  std::vector<Step> steps_;
  std::vector<Refused> refused_;
  std::vector<std::string> cuts_;
  std::unordered_map<std::size_t, std::vector<int>> byRoots_;
  int version_ = 0;
};

/// Nodes reachable from `to` and not from `from`, operands before users.
std::vector<tensor::NodeRef> difference(const std::vector<tensor::NodeRef>& from,
                                        const std::vector<tensor::NodeRef>& to);

}  // namespace nuscope::nugraph
