// Sums, maxima and products over indices: what holds for every fold, and how a fold is closed.
#include <algorithm>

#include "core/replay/fold_laws.h"

namespace nuscope::replay {

Variables asSet(const std::vector<AtomRef>& variables) {
  Variables result;
  for (const AtomRef v : variables) unite(result, Variables{v});
  return result;
}

std::vector<AtomRef> without(std::vector<AtomRef> variables, AtomRef variable) {
  std::erase(variables, variable);
  return variables;
}

std::vector<AtomRef> exchanged(const std::vector<AtomRef>& variables, AtomRef variable,
                               std::initializer_list<AtomRef> by) {
  std::vector<AtomRef> result;
  for (const AtomRef v : variables) {
    if (v == variable) {
      result.insert(result.end(), by.begin(), by.end());
    } else {
      result.push_back(v);
    }
  }
  return result;
}

bool inExtents(const std::vector<AtomRef>& variables, AtomRef variable) {
  return std::any_of(variables.begin(), variables.end(),
                     [&](AtomRef v) { return contains(v->extent()->variables, variable); });
}

std::string text(const Fold& fold) {
  std::string result = std::string(text(fold.kind)) + "{";
  for (std::size_t i = 0; i < fold.variables.size(); ++i) {
    result += (i > 0 ? ", " : "") + text(fold.variables[i], 40) +
              (fold.variables[i]->ranged ? " < " : " to ") + text(fold.variables[i]->extent(), 60);
  }
  result += ": " + text(fold.body, 120);
  if (fold.guard != nullptr && !fold.guard->isConstant()) result += " where " + text(fold.guard, 60);
  return result + "}";
}

namespace {

constexpr std::string_view lemmaNames[] = {
    "keep",       "S5 tile",       "S3 count",        "S6 delta",   "S7 range",    "S5 merge",
    "S10 powers", "S8 shift",      "unused index",    "M1 addends", "guard range", "condition",
    "S4 split",   "M3 M6 outward", "M1 M2 one index", "M2 factors", "P1 vanishes", "S8 mirror"};

/// Indices of extent 1 are 0 (everywhere), and a range of extent 0 is empty.
bool dropUnits(Kernel& k, std::vector<AtomRef>& variables, PolyRef& body, PolyRef* guard) {
  for (std::size_t i = 0; i < variables.size();) {
    if (variables[i]->extent()->isZero()) return true;
    if (variables[i]->extent() != k.arena.one) {
      ++i;
      continue;
    }
    Substitution s(k);
    s.map(variables[i], k.arena.zero);
    std::vector<AtomRef> moved;
    for (std::size_t j = 0; j < variables.size(); ++j) {
      if (j == i) continue;
      const PolyRef extent = s(variables[j]->extent());
      moved.push_back(extent == variables[j]->extent() ? variables[j] : k.index(extent));
      if (moved.back() != variables[j]) s.map(variables[j], k.of(moved.back()));
    }
    body = s(body);
    if (guard != nullptr) *guard = s(*guard);
    variables = std::move(moved);
    i = 0;
  }
  return false;
}

struct Deeper {
  explicit Deeper(int& depth) : depth_(depth) {
    if (++depth_ > 150) {
      --depth_;
      throw Refused{"folds are nested too deeply"};
    }
  }
  ~Deeper() { --depth_; }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;
  int& depth_;
};

/// How one variable occurs in a term, whatever the names of the variables of the same fold.
class Signature {
 public:
  Signature(const std::vector<AtomRef>& own, const std::vector<AtomRef>& placed, AtomRef marked)
      : marked_(marked), set_(asSet(own)) {
    for (std::size_t i = 0; i < placed.size(); ++i) memo_[placed[i]] = mix(7001, i);
  }
  std::uint64_t operator()(PolyRef p) {
    if (p == nullptr) return 0;
    if (!intersects(p->variables, set_)) return p->hash;
    std::uint64_t h = 401;
    for (const auto& [mono, coefficient] : p->terms) {
      std::uint64_t m = 403;
      for (const auto& [atom, e] : mono->factors) m += mix(of(atom), hashNumber(e));
      h += mix(m, hashNumber(coefficient));
    }
    return h;
  }

 private:
  std::uint64_t of(AtomRef atom) {
    if (!intersects(atom->variables, set_)) return atom->hash;
    if (atom == marked_) return 7000;
    const auto known = memo_.find(atom);
    if (known != memo_.end()) return known->second;
    std::uint64_t h = mix(static_cast<std::uint64_t>(atom->kind) + 405,
                          hashText(atom->kind == Kind::index ? "" : atom->name));
    if (atom->kind != Kind::index) {
      std::uint64_t unordered = 0;
      for (std::size_t i = 0; i < atom->bound.size(); ++i) {
        // The name of a bound variable holds its extent.
        const AtomRef b = atom->bound[i];
        if (!intersects(b->extent()->variables, set_)) continue;
        memo_.emplace(b, mix(mix(7003, i), (*this)(b->extent())));
        unite(set_, Variables{b});
      }
      for (const PolyRef part : atom->parts) {
        if (atom->kind == Kind::maximum) {
          unordered += (*this)(part);
        } else {
          h = mix(h, (*this)(part));
        }
      }
      h = mix(h, unordered);
      for (const AtomRef b : atom->bound) h = mix(h, (*this)(b->extent()));
    }
    memo_.emplace(atom, h);
    return h;
  }
  AtomRef marked_;
  Variables set_;
  std::unordered_map<AtomRef, std::uint64_t> memo_;
};

/// An order of the variables that does not depend on their names; extents depend on earlier variables only.
std::vector<AtomRef> ordered(const Fold& fold) {
  std::vector<AtomRef> open = fold.variables;
  std::vector<AtomRef> placed;
  while (!open.empty()) {
    AtomRef best = nullptr;
    std::uint64_t bestKey = 0;
    for (const AtomRef v : open) {
      const bool ready = std::none_of(open.begin(), open.end(),
                                      [&](AtomRef w) { return contains(v->extent()->variables, w); });
      if (!ready) continue;
      std::uint64_t key = 0;
      if (open.size() > 1) {
        Signature signature(fold.variables, placed, v);
        key = mix(signature(v->extent()), mix(signature(fold.body), signature(fold.guard)));
        for (const AtomRef w : open) {
          if (w != v) key += mix(signature(w->extent()), 409);
        }
      }
      if (best == nullptr || key < bestKey) {
        best = v;
        bestKey = key;
      }
    }
    if (best == nullptr) throw Refused{"the extents of a fold depend on each other in a circle"};
    placed.push_back(best);
    std::erase(open, best);
  }
  return placed;
}

}  // namespace

std::uint64_t signature(AtomRef fold, std::size_t marked) {
  Signature s(fold->bound, {}, fold->bound[marked]);
  return s(fold->body());
}

/// lead(p) * inverse(p) = (1 - (p - lead(p)) * inverse(p)) / coefficient, so that p * inverse(p) leaves a
/// whole.
PolyRef reduceInverses(Kernel& k, PolyRef body) {
  const auto degree = [](MonoRef mono) {
    Rational sum = 0;
    for (const auto& [atom, e] : mono->factors) sum += e;
    return sum;
  };
  for (int round = 0; round < 40; ++round) {
    std::vector<PolyRef> parts;
    bool changed = false;
    for (const auto& [mono, coefficient] : body->terms) {
      PolyRef better = nullptr;
      for (const auto& [atom, e] : mono->factors) {
        if (atom->kind != Kind::inverse || e >= 0) continue;
        const Term* lead = &atom->parts[0]->terms[0];
        for (const Term& term : atom->parts[0]->terms) {
          if (degree(term.first) > degree(lead->first)) lead = &term;
        }
        const bool inside = !lead->first->factors.empty() &&
                            std::all_of(lead->first->factors.begin(), lead->first->factors.end(),
                                        [&, m = mono](const Factor& f) {
                                          return f.second > 0 && m->exponent(f.first) >= f.second;
                                        });
        if (!inside) continue;
        std::vector<Factor> factors = mono->factors;
        for (const auto& [a, f] : lead->first->factors) {
          if (!a->isIndicator()) factors.emplace_back(a, -f);
        }
        const PolyRef base = k.of(k.monoOf(std::move(factors)), coefficient / lead->second);
        const PolyRef others = k.subtract(atom->parts[0], k.of(lead->first, lead->second));
        const MonoRef bare = k.without(base->terms[0].first, atom);
        const PolyRef whole = k.scale(k.multiply(k.of(bare), k.of(atom, e + 1)), base->terms[0].second);
        better = k.subtract(whole, k.multiply(base, others));
        break;
      }
      changed = changed || better != nullptr;
      parts.push_back(better != nullptr ? better : k.of(mono, coefficient));
    }
    if (!changed) break;
    body = k.total(parts);
  }
  return body;
}

std::string_view text(Lemma lemma) {
  return lemmaNames[static_cast<std::size_t>(lemma)];
}

std::optional<Lemma> parseLemma(std::string_view name) {
  for (std::size_t i = 0; i < std::size(lemmaNames); ++i) {
    if (lemmaNames[i] == name) return static_cast<Lemma>(i);
  }
  return std::nullopt;
}

PolyRef Kernel::bodyAt(AtomRef fold, const std::vector<PolyRef>& values, PolyRef* guard) {
  Substitution s(*this);
  for (std::size_t i = 0; i < fold->bound.size(); ++i) s.map(fold->bound[i], values[i]);
  if (guard != nullptr)
    *guard = fold->parts.size() < 2 || fold->parts[1] == nullptr ? arena.one : s(fold->parts[1]);
  return s(fold->parts[0]);
}

std::vector<AtomRef> Kernel::opened(AtomRef fold, PolyRef& body, PolyRef& guard) {
  Substitution s(*this);
  std::vector<AtomRef> variables;
  for (const AtomRef b : fold->bound) {
    variables.push_back(index(s(b->extent())));
    s.map(b, of(variables.back()));
  }
  body = s(fold->parts[0]);
  guard = fold->parts.size() < 2 || fold->parts[1] == nullptr ? arena.one : s(fold->parts[1]);
  return variables;
}

std::vector<PolyRef> Kernel::divisors(PolyRef p, AtomRef variable, const Variables& others) {
  std::vector<PolyRef> result;
  visit(p, [&](AtomRef atom) {
    if (atom->kind != Kind::quotient) return;
    const PolyRef d = atom->parts[1];
    const bool direct = std::any_of(atom->parts[0]->terms.begin(), atom->parts[0]->terms.end(),
                                    [&](const Term& t) { return t.first->exponent(variable) != 0; });
    if (!direct || intersects(d->variables, others) || contains(d->variables, variable) || !positive(d))
      return;
    if (std::find(result.begin(), result.end(), d) == result.end()) result.push_back(d);
  });
  // Not by the order of the visit, which depends on names.
  std::stable_sort(result.begin(), result.end(), Before());
  return result;
}

PolyRef Kernel::sum(std::vector<AtomRef> variables, PolyRef body) {
  const Deeper deeper(nesting_);
  work();
  if (dropUnits(*this, variables, body, nullptr)) return arena.zero;
  if (variables.empty() || body->isZero()) return body;
  body = reduceInverses(*this, body);
  std::vector<PolyRef> parts;
  for (const auto& [mono, coefficient] : body->terms)
    parts.push_back(scale(sumTerm(variables, mono), coefficient));
  return total(parts);
}

/// The fold as the guide says: by a lemma, or closed as it is.
PolyRef Kernel::byLemma(const Fold& fold) {
  const Instance instance = guide_.next(*this, fold);
  if (instance.lemma == Lemma::keep) return close(fold);
  if (witness != nullptr) witness->begin(*this, fold, instance);
  const PolyRef result = apply(fold, instance, false);
  if (result == nullptr)
    throw Refused{std::string(text(instance.lemma)) + " does not apply to " + text(fold)};
  if (witness != nullptr) witness->end(result);
  return result;
}

PolyRef Kernel::sumTerm(const std::vector<AtomRef>& variables, MonoRef mono) {
  const Variables set = asSet(variables);
  // S3, S9: a sum inside that depends on the variables joins this one.
  for (const auto& [atom, e] : mono->factors) {
    if (atom->kind != Kind::sum || e < 1 || e.get_den() != 1 || !intersects(atom->variables, set)) continue;
    PolyRef body = nullptr;
    PolyRef guard = nullptr;
    std::vector<AtomRef> both = variables;
    for (const AtomRef v : opened(atom, body, guard)) both.push_back(v);
    return sum(both, multiply(multiply(of(without(mono, atom)), body), of(atom, e - 1)));
  }
  std::vector<Factor> dependent;
  std::vector<Factor> invariant;
  for (const auto& factor : mono->factors)
    (intersects(factor.first->variables, set) ? dependent : invariant).push_back(factor);
  const PolyRef outside = of(monoOf(std::move(invariant)));
  Fold fold{Kind::sum, variables, of(monoOf(std::move(dependent))), nullptr};
  for (const AtomRef v : variables) {
    if (contains(fold.body->variables, v) || inExtents(variables, v)) continue;
    return multiply(outside, sum(replay::without(variables, v), multiply(fold.body, v->extent())));
  }
  return multiply(outside, byLemma(fold));
}

PolyRef Kernel::max(std::vector<AtomRef> variables, PolyRef body, PolyRef guard) {
  const Deeper deeper(nesting_);
  work();
  if (dropUnits(*this, variables, body, &guard)) throw Refused{"a maximum over nothing"};
  if (variables.empty() || body->isConstant()) return body;
  return byLemma({Kind::maxFold, variables, body, guard});
}

PolyRef Kernel::product(std::vector<AtomRef> variables, PolyRef body) {
  const Deeper deeper(nesting_);
  work();
  if (dropUnits(*this, variables, body, nullptr)) return arena.one;
  if (variables.empty() || body == arena.one) return body;
  const MonoRef mono = body->asMono();
  // P1: factors separate, and exponentials become the exponential of a sum.
  if (mono != nullptr &&
      !(mono->factors.size() == 1 && mono->factors[0].second == 1 &&
        mono->factors[0].first->kind != Kind::exp && mono->factors[0].first->kind != Kind::product)) {
    PolyRef result = arena.one;
    for (const auto& [atom, e] : mono->factors) {
      if (atom->kind == Kind::exp) {
        result = multiply(result, exp(sum(variables, scale(atom->parts[0], e))));
        continue;
      }
      if (e.get_den() != 1) throw Refused{"a root inside a product"};
      PolyRef factor = nullptr;
      if (atom->kind == Kind::product) {
        PolyRef inner = nullptr;
        PolyRef guard = nullptr;
        std::vector<AtomRef> both = variables;
        for (const AtomRef v : opened(atom, inner, guard)) both.push_back(v);
        factor = product(both, inner);
      } else {
        factor = product(variables, atom->kind == Kind::inverse ? atom->parts[0] : of(atom));
      }
      result = multiply(result, raise(factor, e.get_num()));
    }
    return result;
  }
  return byLemma({Kind::product, variables, body, nullptr});
}

namespace {

/// S9: parts of a sum that share no variable are separate factors.
std::vector<std::vector<AtomRef>> components(const Fold& fold) {
  std::vector<std::vector<AtomRef>> groups;
  for (const AtomRef v : fold.variables) groups.push_back({v});
  const auto join = [&](const Variables& together) {
    std::vector<AtomRef> joined;
    for (auto at = groups.begin(); at != groups.end();) {
      const bool touched =
          std::any_of(at->begin(), at->end(), [&](AtomRef v) { return contains(together, v); });
      if (!touched) {
        ++at;
        continue;
      }
      joined.insert(joined.end(), at->begin(), at->end());
      at = groups.erase(at);
    }
    if (!joined.empty()) groups.push_back(std::move(joined));
  };
  for (const auto& [atom, e] : fold.body->terms[0].first->factors) join(atom->variables);
  for (const AtomRef v : fold.variables) {
    Variables together = v->extent()->variables;
    unite(together, Variables{v});
    join(together);
  }
  return groups;
}

}  // namespace

PolyRef Kernel::close(const Fold& fold) {
  if (fold.kind == Kind::sum) {
    const auto groups = components(fold);
    if (groups.size() > 1) {
      PolyRef result = arena.one;
      for (const auto& group : groups) {
        std::vector<AtomRef> variables;  // in the order of the fold
        for (const AtomRef v : fold.variables) {
          if (std::find(group.begin(), group.end(), v) != group.end()) variables.push_back(v);
        }
        const Variables own = asSet(variables);
        std::vector<Factor> factors;
        for (const auto& factor : fold.body->terms[0].first->factors) {
          if (intersects(factor.first->variables, own)) factors.push_back(factor);
        }
        result = multiply(result, close({Kind::sum, variables, of(monoOf(std::move(factors))), nullptr}));
      }
      return result;
    }
  }
  const std::vector<AtomRef> order = ordered(fold);
  int level = std::max(fold.body->level, fold.guard == nullptr ? 0 : fold.guard->level);
  for (const AtomRef v : order) level = std::max(level, v->extent()->level);
  ++level;
  Substitution s(*this);
  std::vector<AtomRef> bound;
  for (std::size_t i = 0; i < order.size(); ++i) {
    Atom b;
    b.kind = Kind::index;
    b.name = "k";
    b.boundLevel = level;
    b.number = static_cast<int>(i);
    b.ranged = order[i]->ranged;
    b.parts = {s(order[i]->extent())};
    bound.push_back(arena.make(std::move(b)));
    s.map(order[i], of(bound.back()));
  }
  const PolyRef body = s(fold.body);
  const PolyRef guard = fold.guard == nullptr ? nullptr : s(fold.guard);
  for (const PolyRef part : {body, guard}) {
    if (part != nullptr && part->level >= level) throw Refused{"a fold changed its depth when it was closed"};
  }
  Atom atom;
  atom.kind = fold.kind;
  atom.bound = bound;
  if (fold.kind == Kind::product) {
    if (body == arena.one) return body;
    atom.parts = {body};
    return of(arena.make(std::move(atom)));
  }
  if (fold.kind == Kind::maxFold) {
    if (body->isConstant()) return body;
    const Rational size = ::abs(body->terms[0].second);
    atom.parts = {scale(body, 1 / size), guard == arena.one ? nullptr : guard};
    return scale(of(arena.make(std::move(atom))), size);
  }
  // Renaming may have turned a condition round: then there are several terms.
  std::vector<PolyRef> parts;
  for (const auto& [mono, coefficient] : body->terms) {
    Atom term;
    term.kind = Kind::sum;
    term.bound = bound;
    term.parts = {of(mono)};
    parts.push_back(scale(of(arena.make(std::move(term))), coefficient));
  }
  return total(parts);
}

}  // namespace nuscope::replay
