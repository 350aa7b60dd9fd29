#include "core/proof/walk.h"

namespace nuscope::proof {

bool Walker::enter(const Info* node) {
  if (only != nullptr && !contains(node->variables, only)) return false;
  return seen_.insert(node).second;
}

void Walker::walk(PolyRef poly) {
  if (poly == nullptr || !enter(poly)) return;
  for (const auto& [mono, coefficient] : poly->terms) walk(mono);
}

void Walker::walk(MonoRef mono) {
  if (mono == nullptr || !enter(mono)) return;
  if (onMono) onMono(mono);
  for (const auto& [atom, exponent] : mono->factors) walk(atom);
}

void Walker::walk(AtomRef atom) {
  if (!enter(atom)) return;
  if (onAtom) onAtom(atom);
  if (atom->isFold() && !intoFolds) return;
  for (const IntRef subscript : atom->subscripts) walk(subscript);
  if (atom->integer != nullptr) walk(atom->integer);
  if (atom->intTerm != nullptr) walk(atom->intTerm);
  walk(atom->mono);
  walk(atom->poly);
  walk(atom->guard);
  for (const PolyRef poly : atom->polys) walk(poly);
  for (const IntAtomRef bound : atom->bound) walk(bound->extent);
}

void Walker::walk(IntRef term) {
  if (term == nullptr || !enter(term)) return;
  for (const auto& [mono, coefficient] : term->terms) {
    for (const IntAtomRef atom : mono->atoms) walk(atom);
  }
}

void Walker::walk(IntAtomRef atom) {
  if (!enter(atom)) return;
  if (onIntAtom) onIntAtom(atom);
  walk(atom->numerator);
  walk(atom->denominator);
  for (const IntRef subscript : atom->subscripts) walk(subscript);
  walk(atom->value);
}

bool occurs(PolyRef poly, AtomRef atom) {
  bool found = false;
  Walker walker;
  walker.onAtom = [&](AtomRef other) { found = found || other == atom; };
  walker.walk(poly);
  return found;
}

}  // namespace nuscope::proof
