#include "core/proof/signature.h"

#include "core/base/hash.h"

namespace nuscope::proof {
namespace {

std::size_t hashOf(const Rational& value) {
  return std::hash<std::string>{}(value.get_str());
}

}  // namespace

std::size_t Signature::operator()(PolyRef poly) {
  if (!intersects(poly->variables, anonymous_)) return poly->hash;
  std::size_t h = 3;  // sums are taken in any order
  for (const auto& [mono, coefficient] : poly->terms) h += mixHash(of(mono), hashOf(coefficient));
  return mixHash(h, poly->terms.size());
}

std::size_t Signature::operator()(IntRef term) {
  if (!intersects(term->variables, anonymous_)) return term->hash;
  std::size_t h = 5;
  for (const auto& [mono, coefficient] : term->terms) {
    std::size_t product = 7;
    for (const IntAtomRef atom : mono->atoms) product += mixHash(of(atom), 1);
    h += mixHash(product, hashOf(Rational(coefficient)));
  }
  return mixHash(h, term->terms.size());
}

std::size_t Signature::of(MonoRef mono) {
  if (!intersects(mono->variables, anonymous_)) return mono->hash;
  std::size_t h = 11;
  for (const auto& [atom, exponent] : mono->factors) h += mixHash(of(atom), hashOf(exponent));
  return h;
}

std::size_t Signature::of(AtomRef atom) {
  if (!intersects(atom->variables, anonymous_)) return atom->hash;
  const auto known = memo_.find(atom);
  if (known != memo_.end()) return known->second;
  std::size_t h = mixHash(static_cast<std::size_t>(atom->kind), static_cast<std::size_t>(atom->source + 1));
  for (const IntRef subscript : atom->subscripts) h = mixHash(h, (*this)(subscript));
  if (atom->integer != nullptr) h = mixHash(h, of(atom->integer));
  if (atom->intTerm != nullptr) {
    // A condition and its complement, or its mirror image, look the same: the sum of both readings'
    // coefficients.
    std::size_t both = 0;
    for (const auto& [mono, coefficient] : atom->intTerm->terms) {
      if (mono->atoms.empty()) continue;
      std::size_t product = 7;
      for (const IntAtomRef factor : mono->atoms) product += mixHash(of(factor), 1);
      const Rational size(coefficient);
      both += mixHash(product, hashOf(size)) ^ mixHash(product, hashOf(Rational(-size)));
    }
    h = mixHash(h, both);
  }
  if (atom->mono != nullptr) h = mixHash(h, of(atom->mono));
  if (atom->poly != nullptr) h = mixHash(h, (*this)(atom->poly));
  if (atom->guard != nullptr) h = mixHash(h, (*this)(atom->guard));
  std::size_t operands = 0;
  for (const PolyRef poly : atom->polys) operands += mixHash((*this)(poly), 2);
  h = mixHash(h, operands);
  for (const IntAtomRef bound : atom->bound) h = mixHash(h, (*this)(bound->extent));
  h = mixHash(h, std::hash<std::string>{}(atom->name) + static_cast<std::size_t>(atom->number));
  memo_.emplace(atom, h);
  return h;
}

std::size_t Signature::of(IntAtomRef atom) {
  if (atom == marked_) return 0x1234567;
  if (atom->kind == IntAtom::Kind::variable) {
    return contains(anonymous_, atom) ? 0x7654321 : atom->hash;
  }
  if (!intersects(atom->variables, anonymous_)) return atom->hash;
  std::size_t h = mixHash(static_cast<std::size_t>(atom->kind), static_cast<std::size_t>(atom->source + 1));
  if (atom->numerator != nullptr)
    h = mixHash(mixHash(h, (*this)(atom->numerator)), (*this)(atom->denominator));
  for (const IntRef subscript : atom->subscripts) h = mixHash(h, (*this)(subscript));
  if (atom->value != nullptr) h = mixHash(h, (*this)(atom->value));
  return h;
}

}  // namespace nuscope::proof
