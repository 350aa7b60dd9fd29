#pragma once
// The checker's terms and lemma instances for people: letters in place of numbered variables, folds as
// "sum_{k<K} x[i, k]". Texts of records are those of terms.h, which never change their spelling.
#include <map>
#include <string>

#include "core/replay/kernel.h"

namespace nuscope::replay {

/// Letters for index variables, the same for the same variable.
class Letters {
 public:
  std::string of(AtomRef variable);

 private:
  std::map<AtomRef, std::string> letters_;
};

std::string readable(PolyRef p, Letters& letters, std::size_t limit = 400);
std::string readable(const Fold& fold, Letters& letters, std::size_t limit = 400);
/// What the lemma was instantiated with: "k = 4*p + q with q < 4".
std::string substitutionOf(Kernel& k, const Fold& fold, const Instance& instance, Letters& letters);

}  // namespace nuscope::replay
