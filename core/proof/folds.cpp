#include "core/proof/folds.h"

#include <algorithm>
#include <array>

#include "core/proof/int_facts.h"
#include "core/proof/real_term.h"
#include "core/proof/signature.h"
#include "core/proof/substitute.h"
#include "core/proof/walk.h"

namespace nuscope::proof {

Variables asSet(const std::vector<IntAtomRef>& variables) {
  Variables result;
  for (const IntAtomRef variable : variables) unite(result, Variables{variable});
  return result;
}

std::vector<IntAtomRef> replaced(const std::vector<IntAtomRef>& variables, IntAtomRef v,
                                 std::initializer_list<IntAtomRef> by) {
  std::vector<IntAtomRef> result;
  for (const IntAtomRef w : variables) {
    if (w == v) {
      result.insert(result.end(), by.begin(), by.end());
    } else {
      result.push_back(w);
    }
  }
  return result;
}

bool isFree(const std::vector<IntAtomRef>& variables, const Variables& set, IntAtomRef v) {
  return !intersects(v->extent->variables, set) &&
         std::none_of(variables.begin(), variables.end(),
                      [&](IntAtomRef w) { return contains(w->extent->variables, v); });
}

void dropUnits(Calculus& c, std::vector<IntAtomRef>& variables, PolyRef& body, PolyRef& guard) {
  for (std::size_t i = 0; i < variables.size();) {
    if (variables[i]->extent != c.arena.oneInt) {
      ++i;
      continue;
    }
    Substitution zero(c);
    zero.map(variables[i], c.arena.zeroInt);
    body = zero(body);
    guard = zero(guard);
    variables.erase(variables.begin() + static_cast<std::ptrdiff_t>(i));
    for (std::size_t j = 0; j < variables.size(); ++j) {
      const IntRef extent = zero(variables[j]->extent);
      if (extent == variables[j]->extent) continue;
      const IntAtomRef moved = freshIndex(c, extent, variables[j]->name);
      zero.map(variables[j], intOf(c, moved));
      body = substitute(c, body, variables[j], intOf(c, moved));
      guard = substitute(c, guard, variables[j], intOf(c, moved));
      variables[j] = moved;
    }
    i = 0;
  }
}

std::vector<IntRef> divisorsOf(Calculus& c, PolyRef poly, IntAtomRef variable, const Variables& others) {
  std::vector<IntRef> result;
  Walker walker;
  walker.only = variable;
  walker.onIntAtom = [&](IntAtomRef atom) {
    if (atom->kind != IntAtom::Kind::quotient || intersects(atom->denominator->variables, others)) return;
    const auto bound = [](IntAtomRef v) { return v->boundLevel > 0; };
    if (std::any_of(atom->denominator->variables.begin(), atom->denominator->variables.end(), bound)) return;
    const bool direct =
        std::any_of(atom->numerator->terms.begin(), atom->numerator->terms.end(), [&](const auto& term) {
          return std::find(term.first->atoms.begin(), term.first->atoms.end(), variable) !=
                 term.first->atoms.end();
        });
    if (!direct || !positive(c, atom->denominator)) return;
    if (std::find(result.begin(), result.end(), atom->denominator) == result.end())
      result.push_back(atom->denominator);
  };
  walker.walk(poly);
  std::sort(result.begin(), result.end(), [](IntRef a, IntRef b) { return a->id < b->id; });
  return result;
}

std::vector<IntRef> positionsOf(Calculus& c, PolyRef poly, IntAtomRef variable, bool elementsOnly) {
  std::vector<IntRef> result;
  Walker walker;
  walker.only = variable;
  walker.onAtom = [&](AtomRef atom) {
    if (elementsOnly && atom->kind != AtomKind::element) return;
    for (const IntRef subscript : atom->subscripts) {
      if (contains(subscript->variables, variable)) result.push_back(subscript);
    }
    if (atom->intTerm != nullptr && contains(atom->intTerm->variables, variable))
      result.push_back(atom->intTerm);
    if (atom->integer != nullptr && contains(atom->integer->variables, variable))
      result.push_back(intOf(c, atom->integer));
    for (const IntAtomRef bound : atom->bound) {
      if (contains(bound->extent->variables, variable)) result.push_back(bound->extent);
    }
  };
  walker.walk(poly);
  return result;
}

bool mergeable(Calculus& c, PolyRef poly, IntAtomRef t, IntAtomRef u) {
  std::vector<IntRef> positions = positionsOf(c, poly, t);
  for (const IntRef position : positionsOf(c, poly, u)) positions.push_back(position);
  if (positions.empty()) return false;
  return std::all_of(positions.begin(), positions.end(), [&](IntRef position) {
    const auto outer = linearIn(c, position, t);
    const auto inner = linearIn(c, position, u);
    return outer && inner && outer->coefficient == multiply(c, inner->coefficient, u->extent);
  });
}

std::optional<Prefix> prefixWhere(Calculus& c, AtomRef condition, IntAtomRef v, const Variables& set) {
  const auto linear = linearIn(c, condition->intTerm, v);
  if (!linear || intersects(linear->rest->variables, set) || !linear->coefficient->isConstant()) return {};
  const Integer k = linear->coefficient->constant();
  if (k == -1) return Prefix{plus(c, linear->rest, 1), true};  // rest - v >= 0
  if (k == 1) return Prefix{negate(c, linear->rest), false};   // v + rest >= 0
  return {};
}

bool onlyMirrored(Calculus& c, PolyRef poly, IntAtomRef v) {
  const std::vector<IntRef> positions = positionsOf(c, poly, v);
  return !positions.empty() && std::all_of(positions.begin(), positions.end(), [&](IntRef position) {
    const auto linear = linearIn(c, position, v);
    return linear && linear->coefficient->isConstant() && linear->coefficient->constant() == -1;
  });
}

Split splitVariable(Calculus& c, IntRef quotient, IntRef divisor, const std::string& letter) {
  Split result;
  result.outer = freshIndex(c, quotient, letter);
  result.inner = freshIndex(c, divisor, letter);
  result.value = add(c, multiply(c, intOf(c, result.outer), divisor), intOf(c, result.inner));
  return result;
}

namespace {

/// Orders in which a variable comes after those its extent mentions, sorted by signature; ties permuted (at
/// most 24).
std::vector<std::vector<IntAtomRef>> orders(const std::vector<IntAtomRef>& variables, PolyRef body,
                                            PolyRef guard) {
  if (variables.size() == 1) return {variables};
  const Variables all = asSet(variables);
  // By occurrence first, so that folds over other ranges of the same body are ordered alike.
  using Key = std::array<std::size_t, 3>;
  std::vector<std::pair<Key, IntAtomRef>> keyed;
  for (const IntAtomRef variable : variables) {
    Signature signature(all, variable);
    keyed.emplace_back(Key{signature(body), signature(guard), signature(variable->extent)}, variable);
  }
  std::stable_sort(keyed.begin(), keyed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::vector<IntAtomRef>> result;
  std::vector<std::size_t> positions(variables.size());
  for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = i;
  do {
    bool sorted = true;
    for (std::size_t i = 0; i + 1 < positions.size(); ++i) {
      const bool dependent =
          contains(keyed[positions[i + 1]].second->extent->variables, keyed[positions[i]].second);
      if (keyed[positions[i]].first > keyed[positions[i + 1]].first && !dependent) sorted = false;
    }
    bool bound = true;
    for (std::size_t i = 0; i < positions.size(); ++i) {
      for (std::size_t j = i + 1; j < positions.size(); ++j) {
        if (contains(keyed[positions[i]].second->extent->variables, keyed[positions[j]].second))
          bound = false;
      }
    }
    if (sorted && bound) {
      std::vector<IntAtomRef> order;
      for (const std::size_t p : positions) order.push_back(keyed[p].second);
      result.push_back(std::move(order));
    }
  } while (result.size() < 24 && variables.size() <= 6 &&
           std::next_permutation(positions.begin(), positions.end()));
  if (result.empty()) result.push_back(variables);
  return result;
}

int freeLevel(int wanted, std::initializer_list<const Info*> nodes, const Variables& own) {
  // A canonical variable of an enclosing fold may be free here: never share its level.
  bool again = true;
  while (again) {
    again = false;
    for (const Info* node : nodes) {
      for (const IntAtomRef variable : node->variables) {
        if (variable->boundLevel == wanted && !contains(own, variable)) {
          ++wanted;
          again = true;
        }
      }
    }
  }
  return wanted;
}

}  // namespace

PolyRef closeFold(Calculus& c, const std::vector<IntAtomRef>& variables, PolyRef body, PolyRef guard,
                  const Finish& finish) {
  PolyRef best = nullptr;
  const Variables own = asSet(variables);
  for (const auto& order : orders(variables, body, guard)) {
    int level = std::max(body->level, guard->level) + 1;
    for (const IntAtomRef variable : variables) level = std::max(level, variable->extent->level + 1);
    for (int attempt = 0;; ++attempt) {
      if (attempt == 16) throw GaveUp{"bound variables could not be named", false};
      level = freeLevel(level, {body, guard}, own);
      Substitution rename(c);
      std::vector<IntAtomRef> bound;
      int inside = 0;
      for (std::size_t i = 0; i < order.size(); ++i) {
        IntAtom atom;
        atom.kind = IntAtom::Kind::variable;
        atom.name = "k";
        atom.extent = rename(order[i]->extent);
        atom.ranged = order[i]->ranged;
        atom.boundLevel = level;
        atom.number = static_cast<int>(i);
        inside = std::max(inside, atom.extent->level);
        bound.push_back(c.arena.intern(std::move(atom)));
        rename.map(order[i], intOf(c, bound.back()));
      }
      const PolyRef image = rename(body);
      const PolyRef condition = rename(guard);
      inside = std::max({inside, image->level, condition->level});
      if (inside >= level) {  // simplification made a deeper fold: name above it
        level = inside + 1;
        continue;
      }
      const PolyRef candidate = finish(bound, image, condition);
      const bool better = best == nullptr || candidate->terms.size() < best->terms.size() ||
                          (candidate->terms.size() == best->terms.size() && candidate->id < best->id);
      if (better) best = candidate;
      break;
    }
  }
  return best;
}

}  // namespace nuscope::proof
