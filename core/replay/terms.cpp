#include "core/replay/terms.h"

#include <algorithm>

namespace nuscope::replay {
namespace {

bool byId(AtomRef a, AtomRef b) {
  return a->id < b->id;
}

void absorb(Info& info, const Info* child) {
  if (child == nullptr) return;
  info.level = std::max(info.level, child->level);
  unite(info.variables, child->variables);
}

bool same(const Atom& a, const Atom& b) {
  return a.kind == b.kind && a.name == b.name && a.number == b.number && a.integer == b.integer &&
         a.ranged == b.ranged && a.boundLevel == b.boundLevel && a.sign == b.sign && a.parts == b.parts &&
         a.bound == b.bound;
}

}  // namespace

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t h = a ^ (b + 0x9e3779b97f4a7c15ULL + (a << 12U) + (a >> 4U));
  h ^= h >> 31U;
  h *= 0xbf58476d1ce4e5b9ULL;
  return h ^ (h >> 29U);
}

std::uint64_t hashText(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325ULL;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return h;
}

std::uint64_t hashNumber(const Rational& value) {
  const auto of = [](const Integer& n) {
    std::uint64_t h = static_cast<std::uint64_t>(sgn(n) + 1);
    for (std::size_t i = 0; i < mpz_size(n.get_mpz_t()); ++i)
      h = mix(h, mpz_getlimbn(n.get_mpz_t(), static_cast<mp_size_t>(i)));
    return h;
  };
  return mix(of(value.get_num()), of(value.get_den()));
}

bool contains(const Variables& variables, AtomRef variable) {
  return std::binary_search(variables.begin(), variables.end(), variable, byId);
}

bool intersects(const Variables& a, const Variables& b) {
  return std::any_of(a.begin(), a.end(), [&](AtomRef v) { return contains(b, v); });
}

void unite(Variables& into, const Variables& from) {
  if (from.empty()) return;
  Variables result;
  std::set_union(into.begin(), into.end(), from.begin(), from.end(), std::back_inserter(result), byId);
  into = std::move(result);
}

Rational Mono::exponent(AtomRef atom) const {
  for (const auto& [other, e] : factors) {
    if (other == atom) return e;
  }
  return 0;
}

AtomRef Poly::asAtom() const {
  const MonoRef mono = asMono();
  return mono != nullptr && mono->factors.size() == 1 && mono->factors[0].second == 1 ? mono->factors[0].first
                                                                                      : nullptr;
}

Arena::Arena(std::size_t limit) : limit_(limit) {
  unit = make(std::vector<Factor>{});
  zero = make(std::vector<Term>{});
  one = make(std::vector<Term>{{unit, Rational(1)}});
}

void Arena::count() {
  if (size() >= limit_) throw Refused{"the terms outgrow the checker's limit"};
}

AtomRef Arena::make(Atom atom) {
  std::uint64_t h = mix(static_cast<std::uint64_t>(atom.kind) + 101, hashText(atom.name));
  h = mix(h, (atom.integer ? 1U : 0U) + (atom.ranged ? 2U : 0U));
  std::uint64_t shape = h;
  h = mix(h, static_cast<std::uint64_t>(atom.number));
  h = mix(h, static_cast<std::uint64_t>(atom.boundLevel) * 16 + static_cast<std::uint64_t>(atom.sign));
  for (const PolyRef part : atom.parts) {
    h = mix(h, part == nullptr ? 0 : part->hash);
    shape = mix(shape, part == nullptr ? 0 : part->shape);
    if (atom.kind != Kind::index) absorb(atom, part);
  }
  for (const AtomRef variable : atom.bound) {
    h = mix(h, variable->hash);
    shape = mix(shape, variable->shape);
    absorb(atom, variable->extent());
  }
  for (const AtomRef variable : atom.bound) {
    std::erase(atom.variables, variable);
    atom.level = std::max(atom.level, variable->boundLevel);
  }
  atom.indicators = atom.isIndicator();
  atom.hash = h;
  atom.shape = shape;
  const auto [first, last] = atomsByHash_.equal_range(h);
  for (auto at = first; at != last; ++at) {
    if (same(*at->second, atom)) return at->second;
  }
  count();
  atom.id = next_++;
  atoms_.push_back(std::move(atom));
  Atom& added = atoms_.back();
  if (added.kind == Kind::index) added.variables = {&added};
  atomsByHash_.emplace(h, &added);
  return &added;
}

MonoRef Arena::make(std::vector<Factor> sortedFactors) {
  Mono mono;
  std::uint64_t h = 211;
  mono.shape = 211;
  for (const auto& [atom, exponent] : sortedFactors) {
    h = mix(mix(h, atom->hash), hashNumber(exponent));
    mono.shape += mix(atom->shape, hashNumber(exponent));  // a sum: the order may change with the names
  }
  const auto [first, last] = monosByHash_.equal_range(h);
  for (auto at = first; at != last; ++at) {
    if (at->second->factors == sortedFactors) return at->second;
  }
  count();
  for (const auto& [atom, exponent] : sortedFactors) {
    absorb(mono, atom);
    mono.indicators = mono.indicators || atom->indicators;
  }
  mono.factors = std::move(sortedFactors);
  mono.hash = h;
  mono.id = next_++;
  monos_.push_back(std::move(mono));
  monosByHash_.emplace(h, &monos_.back());
  return &monos_.back();
}

PolyRef Arena::make(std::vector<Term> sortedTerms) {
  Poly poly;
  std::uint64_t h = 307;
  poly.shape = 307;
  for (const auto& [mono, coefficient] : sortedTerms) {
    h = mix(mix(h, mono->hash), hashNumber(coefficient));
    poly.shape += mix(mono->shape, hashNumber(coefficient));
  }
  const auto [first, last] = polysByHash_.equal_range(h);
  for (auto at = first; at != last; ++at) {
    if (at->second->terms == sortedTerms) return at->second;
  }
  count();
  for (const auto& [mono, coefficient] : sortedTerms) {
    absorb(poly, mono);
    poly.indicators = poly.indicators || mono->indicators;
  }
  poly.terms = std::move(sortedTerms);
  poly.hash = h;
  poly.id = next_++;
  polys_.push_back(std::move(poly));
  polysByHash_.emplace(h, &polys_.back());
  return &polys_.back();
}

std::string_view text(Kind kind) {
  static constexpr std::string_view names[] = {
      "dimension", "index", "element", "quotient", "exp",  "log",       "sqrt",         "abs",
      "sin",       "cos",   "inverse", "floor",    "rint", "undefined", "not negative", "zero",
      "positive",  "zero",  "max",     "sum",      "max",  "prod",      "symbol"};
  return names[static_cast<std::size_t>(kind)];
}

namespace {

/// Writes terms until the text is longer than anyone compares.
class Writer {
 public:
  explicit Writer(std::size_t limit) : limit_(limit) {}
  std::string out;

  void poly(PolyRef p) {
    if (p == nullptr) {
      out += "?";
      return;
    }
    if (p->isZero()) out += "0";
    bool first = true;
    for (const auto& [mono, coefficient] : p->terms) {
      if (out.size() > limit_) return;
      if (!first) out += coefficient < 0 ? " - " : " + ";
      if (first && coefficient < 0) out += "-";
      first = false;
      const Rational size = abs(coefficient);
      if (size != 1 || mono->factors.empty()) out += size.get_str() + (mono->factors.empty() ? "" : "*");
      for (std::size_t i = 0; i < mono->factors.size(); ++i) {
        if (i > 0) out += "*";
        atom(mono->factors[i].first);
        if (mono->factors[i].second != 1) out += "^" + mono->factors[i].second.get_str();
      }
    }
  }

  void atom(AtomRef a) {
    if (out.size() > limit_) return;
    switch (a->kind) {
      case Kind::dimension:
        out += a->name;
        return;
      case Kind::index:
        out += a->boundLevel > 0 ? "b" + std::to_string(a->boundLevel) + "_" + std::to_string(a->number)
                                 : a->name + std::to_string(a->number);
        return;
      case Kind::symbol:
        out += a->name + std::to_string(a->number);
        return;
      case Kind::element:
        out += a->name;
        if (!a->parts.empty()) list("[", a->parts, "]");
        return;
      case Kind::quotient:
        out += "(";
        poly(a->parts[0]);
        out += ")//(";
        poly(a->parts[1]);
        out += ")";
        return;
      case Kind::inverse:
        list("(", a->parts, ")");
        return;
      case Kind::notNegative:
      case Kind::isZeroInteger:
      case Kind::positive:
      case Kind::isZero:
        out += "[";
        poly(a->parts[0]);
        out += a->kind == Kind::notNegative ? " >= 0]" : a->kind == Kind::positive ? " > 0]" : " == 0]";
        return;
      case Kind::sum:
      case Kind::maxFold:
      case Kind::product:
        out += std::string(text(a->kind)) + "{";
        for (std::size_t i = 0; i < a->bound.size(); ++i) {
          if (i > 0) out += ", ";
          atom(a->bound[i]);
          out += a->bound[i]->ranged ? " < " : " to ";
          poly(a->bound[i]->extent());
        }
        out += ": ";
        poly(a->parts[0]);
        if (a->kind == Kind::maxFold && a->parts[1] != nullptr) {
          out += " where ";
          poly(a->parts[1]);
        }
        out += "}";
        return;
      default:
        out += a->kind == Kind::undefined ? a->name : std::string(text(a->kind));
        list("(", a->parts, ")");
    }
  }

 private:
  void list(const char* open, const std::vector<PolyRef>& parts, const char* close) {
    out += open;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (i > 0) out += ", ";
      poly(parts[i]);
    }
    out += close;
  }
  std::size_t limit_;
};

std::string cut(std::string text, std::uint64_t hash, std::size_t limit) {
  if (text.size() <= limit) return text;
  text.resize(limit);
  return text + "... #" + std::to_string(hash);
}

}  // namespace

std::string text(PolyRef poly, std::size_t limit) {
  Writer writer(limit);
  writer.poly(poly);
  return cut(std::move(writer.out), poly == nullptr ? 0 : poly->hash, limit);
}

std::string text(AtomRef atom, std::size_t limit) {
  Writer writer(limit);
  writer.atom(atom);
  return cut(std::move(writer.out), atom->hash, limit);
}

}  // namespace nuscope::replay
