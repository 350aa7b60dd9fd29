#pragma once
// What a program's asserts say about its dimensions, and the small, complete-enough reasoning that type
// checking needs: are two extents equal, is one nonnegative. Sound: true is a promise, false means "not
// shown".
#include <string>
#include <vector>

#include "core/tensor/dim.h"

namespace nuscope::tensor {

enum class Relation : std::uint8_t { equal, notEqual, less, lessEqual };

/// left RELATION right between integers.
struct DimRelation {
  Dim left;
  Relation relation = Relation::equal;
  Dim right;
  [[nodiscard]] bool holds(const Extents& extents) const;
  [[nodiscard]] std::string text() const;
};

/// Immutable once built; cheap to copy. Every dimension symbol is >= 1; a counter lies in [0, extent).
class DimFacts {
 public:
  /// Adds a relation between dimensions (K % 4 == 0 arrives as K - 4*(K//4) == 0). Divisibilities and
  /// equalities become substitutions (K := 4*K', with a symbol K' >= 1 that no program can name), lower
  /// bounds shift the symbol; what has no such form is kept in `relations` only.
  void assume(const DimRelation& relation);
  /// Declares a loop counter with its extent; inside the loop the extent is at least 1.
  void declareCounter(const std::string& counter, const Dim& extent);

  [[nodiscard]] const std::vector<DimRelation>& relations() const { return relations_; }
  /// Symbols that are at least this, where more than 1 is known.
  [[nodiscard]] const std::map<std::string, std::int64_t>& lowerBounds() const { return lower_; }
  /// With all substitutions applied; equal values have equal normal forms more often than Dims alone.
  [[nodiscard]] Dim normalise(const Dim& value) const;
  [[nodiscard]] bool equal(const Dim& a, const Dim& b) const;
  [[nodiscard]] bool equal(const Shape& a, const Shape& b) const;
  [[nodiscard]] bool nonNegative(const Dim& value) const;
  [[nodiscard]] bool positive(const Dim& value) const { return nonNegative(value - 1); }
  [[nodiscard]] bool lessEqual(const Dim& a, const Dim& b) const { return nonNegative(b - a); }

 private:
  void learnNonNegative(const Dim& room);
  [[nodiscard]] bool nonNegative(const Dim& value, int depth) const;
  std::vector<DimRelation> relations_;
  std::map<std::string, Dim> substitutions_;   ///< in terms of symbols that are not substituted themselves
  std::map<std::string, std::int64_t> lower_;  ///< symbol >= value; 1 where absent
  std::map<std::string, Dim> counters_;        ///< extents of loop counters
};

}  // namespace nuscope::tensor
