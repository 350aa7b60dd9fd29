#include "core/fusion/affine.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/diagnostics.h"

namespace nuscope::fusion {
namespace {

std::int64_t floorQuotient(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b;
  return q * b > a ? q - 1 : q;
}

}  // namespace

Affine& Affine::operator+=(const Affine& other) {
  constant += other.constant;
  for (const auto& [id, coefficient] : other.terms) {
    const auto [at, inserted] = terms.emplace(id, coefficient);
    if (!inserted && (at->second += coefficient) == 0) terms.erase(at);
  }
  return *this;
}

Affine operator*(const Affine& a, std::int64_t factor) {
  Affine result;
  if (factor == 0) return result;
  result.constant = a.constant * factor;
  for (const auto& [id, coefficient] : a.terms) result.terms.emplace(id, coefficient * factor);
  return result;
}

int IndexSpace::add(Atom atom) {
  atoms_.push_back(std::move(atom));
  return static_cast<int>(atoms_.size()) - 1;
}

int IndexSpace::variable(std::string text, Range range, int depth, bool lanes) {
  Atom atom;
  atom.text = std::move(text);
  atom.range = range;
  atom.depth = depth;
  atom.lanes = lanes;
  return add(std::move(atom));
}

int IndexSpace::value(std::string text, Range range, int depth, bool lanes) {
  Atom atom;
  atom.kind = Atom::Kind::value;
  atom.text = std::move(text);
  atom.range = range;
  atom.depth = depth;
  atom.lanes = lanes;
  atom.vectorText = lanes;
  return add(std::move(atom));
}

Affine IndexSpace::quotient(const Affine& numerator, std::int64_t divisor) {
  if (divisor == 1) return numerator;
  Affine whole(floorQuotient(numerator.constant, divisor));
  Affine rest(numerator.constant - whole.constant * divisor);
  for (const auto& [id, coefficient] : numerator.terms) {
    const std::int64_t times = floorQuotient(coefficient, divisor);
    if (times != 0) whole.terms[id] = times;
    if (coefficient != times * divisor) rest.terms[id] = coefficient - times * divisor;
  }
  const Range reach = range(rest);
  if (reach.least >= 0 && reach.most < divisor) return whole;
  if (rest.constant == 0 && rest.terms.size() == 1 && rest.terms.begin()->second == 1) {
    // floor(floor(a / b) / c) = floor(a / (b * c))
    const Atom& inner = atom(rest.terms.begin()->first);
    if (inner.kind == Atom::Kind::quotient)
      return whole + quotient(Affine(inner.left), inner.right.constant * divisor);
  }
  for (std::size_t i = 0; i < atoms_.size(); ++i) {
    if (atoms_[i].kind == Atom::Kind::quotient && atoms_[i].left == rest &&
        atoms_[i].right.constant == divisor) {
      return whole + Affine::atom(static_cast<int>(i));
    }
  }
  Atom made;
  made.kind = Atom::Kind::quotient;
  made.left = rest;
  made.right = divisor;
  made.range = {floorQuotient(reach.least, divisor), floorQuotient(reach.most, divisor)};
  made.depth = depth(rest);
  made.lanes = lanes(rest);
  return whole + Affine::atom(add(std::move(made)));
}

Affine IndexSpace::product(const Affine& a, const Affine& b) {
  if (b.isConstant()) return a * b.constant;
  if (a.isConstant()) return b * a.constant;
  Atom made;
  made.kind = Atom::Kind::product;
  made.left = a;
  made.right = b;
  const Range x = range(a);
  const Range y = range(b);
  const auto corners = {x.least * y.least, x.least * y.most, x.most * y.least, x.most * y.most};
  made.range = {std::ranges::min(corners), std::ranges::max(corners)};
  made.depth = std::max(depth(a), depth(b));
  made.lanes = lanes(a) || lanes(b);
  return Affine::atom(add(std::move(made)));
}

Range IndexSpace::range(const Affine& value) const {
  Range result{value.constant, value.constant};
  for (const auto& [id, coefficient] : value.terms) {
    const Range& reach = atom(id).range;
    result.least += coefficient > 0 ? coefficient * reach.least : coefficient * reach.most;
    result.most += coefficient > 0 ? coefficient * reach.most : coefficient * reach.least;
  }
  return result;
}

int IndexSpace::depth(const Affine& value) const {
  int deepest = 0;
  for (const auto& [id, coefficient] : value.terms) deepest = std::max(deepest, atom(id).depth);
  return deepest;
}

bool IndexSpace::lanes(const Affine& value) const {
  return std::ranges::any_of(value.terms, [&](const auto& term) { return atom(term.first).lanes; });
}

std::string IndexSpace::atomText(int id, bool vector) const {
  const Atom& a = atom(id);
  switch (a.kind) {
    case Atom::Kind::variable:
      return vector && a.lanes ? fmt::format("lanesFrom({})", a.text) : a.text;
    case Atom::Kind::value:
      return a.text;
    case Atom::Kind::product:
      return fmt::format("({}) * ({})", sumText(a.left, vector && lanes(a.left)),
                         sumText(a.right, vector && lanes(a.right)));
    case Atom::Kind::quotient: {
      const std::string inner = sumText(a.left, vector && lanes(a.left));
      const bool single =
          a.left.constant == 0 && a.left.terms.size() == 1 && a.left.terms.begin()->second == 1;
      if (range(a.left).least < 0) return fmt::format("floorDivide({}, {})", inner, a.right.constant);
      return single ? fmt::format("({} / {})", inner, a.right.constant)
                    : fmt::format("(({}) / {})", inner, a.right.constant);
    }
  }
  throw InternalError("an atom without a kind");
}

std::string IndexSpace::sumText(const Affine& value, bool vector) const {
  std::string result;
  // Larger strides first: i * 1024 + j.
  std::vector<std::pair<int, std::int64_t>> terms(value.terms.begin(), value.terms.end());
  std::ranges::stable_sort(
      terms, [](const auto& a, const auto& b) { return std::abs(a.second) > std::abs(b.second); });
  for (const auto& [id, coefficient] : terms) {
    const std::int64_t size = std::abs(coefficient);
    if (result.empty()) {
      if (coefficient < 0) result += "-";
    } else {
      result += coefficient < 0 ? " - " : " + ";
    }
    // int where the whole is a vector of int lanes, long elsewhere.
    const bool scalarInVector = vector && !atom(id).lanes;
    const std::string inner = atomText(id, vector);
    result += scalarInVector ? fmt::format("int({})", inner) : inner;
    if (size != 1) result += fmt::format(" * {}", size);
  }
  if (result.empty()) return std::to_string(value.constant);
  if (value.constant != 0)
    result += fmt::format(" {} {}", value.constant < 0 ? '-' : '+', std::abs(value.constant));
  return result;
}

std::string IndexSpace::text(const Affine& value) const {
  return sumText(value, false);
}
std::string IndexSpace::vectorText(const Affine& value) const {
  return sumText(value, true);
}

std::vector<std::int64_t> stridesOf(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

std::int64_t countOf(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

Affine flatten(const std::vector<Affine>& index, const std::vector<std::int64_t>& shape) {
  const auto strides = stridesOf(shape);
  Affine position;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1) position += index[i] * strides[i];
  }
  return position;
}

std::vector<Affine> unflatten(IndexSpace& space, const Affine& position,
                              const std::vector<std::int64_t>& shape) {
  const auto strides = stridesOf(shape);
  std::vector<Affine> index;
  Affine outer;  // floor(position / (stride * extent)), of the axis before
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const Affine here = space.quotient(position, strides[i]);
    index.push_back(i == 0 ? here : here - outer * shape[i]);
    outer = here;
  }
  return index;
}

}  // namespace nuscope::fusion
