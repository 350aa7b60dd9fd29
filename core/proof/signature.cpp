#include "core/proof/signature.h"

namespace nuscope::proof {
namespace {

std::size_t mix(std::size_t seed, std::size_t value) {
  std::uint64_t x = seed ^ (value + 0x9e3779b97f4a7c15ULL + (seed << 6U) + (seed >> 2U));
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

std::size_t hashOf(const Rational& value) {
  return std::hash<std::string>{}(value.get_str());
}

}  // namespace

std::size_t Signature::operator()(PolyRef poly) {
  if (!intersects(poly->variables, anonymous_)) return poly->hash;
  std::size_t h = 3;  // sums are taken in any order
  for (const auto& [mono, coefficient] : poly->terms) h += mix(of(mono), hashOf(coefficient));
  return mix(h, poly->terms.size());
}

std::size_t Signature::operator()(IntRef term) {
  if (!intersects(term->variables, anonymous_)) return term->hash;
  std::size_t h = 5;
  for (const auto& [mono, coefficient] : term->terms) {
    std::size_t product = 7;
    for (const IntAtomRef atom : mono->atoms) product += mix(of(atom), 1);
    h += mix(product, hashOf(Rational(coefficient)));
  }
  return mix(h, term->terms.size());
}

std::size_t Signature::of(MonoRef mono) {
  if (!intersects(mono->variables, anonymous_)) return mono->hash;
  std::size_t h = 11;
  for (const auto& [atom, exponent] : mono->factors) h += mix(of(atom), hashOf(exponent));
  return h;
}

std::size_t Signature::of(AtomRef atom) {
  if (!intersects(atom->variables, anonymous_)) return atom->hash;
  const auto known = memo_.find(atom);
  if (known != memo_.end()) return known->second;
  std::size_t h = mix(static_cast<std::size_t>(atom->kind), static_cast<std::size_t>(atom->source + 1));
  for (const IntRef subscript : atom->subscripts) h = mix(h, (*this)(subscript));
  if (atom->integer != nullptr) h = mix(h, of(atom->integer));
  if (atom->intTerm != nullptr) {
    // A condition and its complement, or its mirror image, look the same: the sum of both readings'
    // coefficients.
    std::size_t both = 0;
    for (const auto& [mono, coefficient] : atom->intTerm->terms) {
      if (mono->atoms.empty()) continue;
      std::size_t product = 7;
      for (const IntAtomRef factor : mono->atoms) product += mix(of(factor), 1);
      const Rational size(coefficient);
      both += mix(product, hashOf(size)) ^ mix(product, hashOf(Rational(-size)));
    }
    h = mix(h, both);
  }
  if (atom->mono != nullptr) h = mix(h, of(atom->mono));
  if (atom->poly != nullptr) h = mix(h, (*this)(atom->poly));
  if (atom->guard != nullptr) h = mix(h, (*this)(atom->guard));
  std::size_t operands = 0;
  for (const PolyRef poly : atom->polys) operands += mix((*this)(poly), 2);
  h = mix(h, operands);
  for (const IntAtomRef bound : atom->bound) h = mix(h, (*this)(bound->extent));
  h = mix(h, std::hash<std::string>{}(atom->name) + static_cast<std::size_t>(atom->number));
  memo_.emplace(atom, h);
  return h;
}

std::size_t Signature::of(IntAtomRef atom) {
  if (atom == marked_) return 0x1234567;
  if (atom->kind == IntAtom::Kind::variable) {
    return contains(anonymous_, atom) ? 0x7654321 : atom->hash;
  }
  if (!intersects(atom->variables, anonymous_)) return atom->hash;
  std::size_t h = mix(static_cast<std::size_t>(atom->kind), static_cast<std::size_t>(atom->source + 1));
  if (atom->numerator != nullptr) h = mix(mix(h, (*this)(atom->numerator)), (*this)(atom->denominator));
  for (const IntRef subscript : atom->subscripts) h = mix(h, (*this)(subscript));
  if (atom->value != nullptr) h = mix(h, (*this)(atom->value));
  return h;
}

}  // namespace nuscope::proof
