// Lemma instances on folds. Each checks its side conditions itself and computes the result itself.
#include "core/replay/fold_laws.h"

#include <algorithm>

namespace nuscope::replay {
namespace {

class Laws {
 public:
  Laws(Kernel& k, const Fold& fold, const Instance& instance, bool dry)
      : k_(k), fold_(fold), i_(instance), dry_(dry), set_(asSet(fold.variables)) {}

  PolyRef run() {
    switch (i_.lemma) {
      case Lemma::tile:
        return tile();
      case Lemma::count:
        return count();
      case Lemma::delta:
        return delta();
      case Lemma::range:
        return range();
      case Lemma::merge:
        return merge();
      case Lemma::powers:
        return powers();
      case Lemma::shift:
        return shift();
      case Lemma::unused:
        return unused();
      case Lemma::addends:
        return addends();
      case Lemma::guardRange:
        return guardRange();
      case Lemma::condition:
        return condition();
      case Lemma::splitRange:
        return splitRange();
      case Lemma::outward:
        return outward();
      case Lemma::oneAtATime:
        return oneAtATime();
      case Lemma::factors:
        return factors();
      case Lemma::vanishes:
        return vanishes();
      case Lemma::mirror:
        return mirror();
      case Lemma::keep:
        return nullptr;
    }
    return nullptr;
  }

 private:
  [[nodiscard]] AtomRef variable(int at) const {
    return at >= 0 && static_cast<std::size_t>(at) < fold_.variables.size()
               ? fold_.variables[static_cast<std::size_t>(at)]
               : nullptr;
  }
  /// Its extent depends on no variable of the fold, and no extent on it.
  [[nodiscard]] bool isFree(AtomRef v) const {
    return !intersects(v->extent()->variables, set_) && !inExtents(fold_.variables, v);
  }
  [[nodiscard]] bool isSum() const { return fold_.kind == Kind::sum; }
  [[nodiscard]] bool isMax() const { return fold_.kind == Kind::maxFold; }
  /// A maximum's laws need indices to run over.
  [[nodiscard]] bool inhabited() const {
    return std::all_of(fold_.variables.begin(), fold_.variables.end(),
                       [&](AtomRef v) { return v->ranged && k_.positive(v->extent()); });
  }
  [[nodiscard]] bool plain() const { return fold_.guard == nullptr || fold_.guard == k_.arena.one; }

  PolyRef again(std::vector<AtomRef> variables, Substitution& s) {
    return again(std::move(variables), s(fold_.body), fold_.guard == nullptr ? nullptr : s(fold_.guard));
  }
  PolyRef again(std::vector<AtomRef> variables, PolyRef body, PolyRef guard) {
    if (isSum()) return k_.sum(std::move(variables), body);
    if (isMax()) return k_.max(std::move(variables), body, guard);
    return k_.product(std::move(variables), body);
  }
  PolyRef yes() { return k_.arena.one; }

  const Factor* factorAt(int at) {
    if (!isSum()) return nullptr;
    const auto& list = fold_.body->terms[0].first->factors;
    return at >= 0 && static_cast<std::size_t>(at) < list.size() ? &list[static_cast<std::size_t>(at)]
                                                                 : nullptr;
  }

  PolyRef tile() {
    const AtomRef v = variable(i_.first);
    if (v == nullptr || !v->ranged || !isFree(v)) return nullptr;
    if (isMax() && !inhabited()) return nullptr;
    auto divisors = k_.divisors(fold_.body, v, set_);
    if (!plain()) {
      for (const PolyRef d : k_.divisors(fold_.guard, v, set_)) divisors.push_back(d);
    }
    if (i_.second < 0 || static_cast<std::size_t>(i_.second) >= divisors.size()) return nullptr;
    const PolyRef d = divisors[static_cast<std::size_t>(i_.second)];
    const PolyRef exact = k_.exactDivide(v->extent(), d);
    if (exact != nullptr) {
      if (!k_.notNegative(exact) || (isMax() && !k_.positive(exact))) return nullptr;
      if (dry_) return yes();
      const AtomRef t = k_.index(exact);
      const AtomRef p = k_.index(d);
      Substitution s(k_);
      s.map(v, k_.add(k_.multiply(k_.of(t), d), k_.of(p)));
      return again(exchanged(fold_.variables, v, {t, p}), s);
    }
    // Up to the largest multiple, and the tail.
    if (!isSum()) return nullptr;
    const auto [q, rest] = k_.divide(v->extent(), d);
    if (d->terms.size() != 1 || rest->isZero() || q->isZero() || !Kernel::isInteger(q)) return nullptr;
    if (!k_.notNegative(q) || !k_.notNegative(rest) || !k_.notNegative(k_.subtract(d, rest))) return nullptr;
    if (dry_) return yes();
    const AtomRef t = k_.index(q);
    const AtomRef p = k_.index(d);
    const AtomRef tail = k_.index(rest);
    Substitution whole(k_);
    whole.map(v, k_.add(k_.multiply(k_.of(t), d), k_.of(p)));
    Substitution last(k_);
    last.map(v, k_.add(k_.multiply(q, d), k_.of(tail)));
    return k_.add(again(exchanged(fold_.variables, v, {t, p}), whole),
                  again(exchanged(fold_.variables, v, {tail}), last));
  }

  /// sum_{v<e} sum_{w<v+b} f(w), v not in f: each w is met e - w - 1 + b times, for b in {0, 1}.
  PolyRef count() {
    const AtomRef v = variable(i_.first);
    const AtomRef w = variable(i_.second);
    if (!isSum() || v == nullptr || w == nullptr || v == w || !v->ranged) return nullptr;
    if (contains(fold_.body->variables, v) || intersects(v->extent()->variables, set_) ||
        inExtents(fold_.variables, w))
      return nullptr;
    const auto users = std::count_if(fold_.variables.begin(), fold_.variables.end(),
                                     [&](AtomRef other) { return contains(other->extent()->variables, v); });
    const auto parts = k_.linear(w->extent(), v);
    if (users != 1 || !parts || parts->coefficient != k_.arena.one || !parts->rest->isConstant())
      return nullptr;
    const Rational b = parts->rest->constant();
    if (b != 0 && b != 1) return nullptr;
    const PolyRef extent = k_.plus(v->extent(), b == 1 ? 0 : -1);
    if (!k_.notNegative(extent)) return nullptr;
    if (dry_) return yes();
    const AtomRef moved = k_.index(extent);
    const PolyRef body = replaced(k_, fold_.body, w, k_.of(moved));
    return k_.sum(exchanged(without(fold_.variables, v), w, {moved}),
                  k_.multiply(body, k_.subtract(extent, k_.of(moved))));
  }

  PolyRef delta() {
    const AtomRef v = variable(i_.first);
    const Factor* factor = factorAt(i_.second);
    if (v == nullptr || factor == nullptr || factor->first->kind != Kind::isZeroInteger) return nullptr;
    if (!v->ranged || inExtents(fold_.variables, v)) return nullptr;
    const auto parts = k_.linear(factor->first->parts[0], v);
    if (!parts || !parts->coefficient->isConstant() || ::abs(parts->coefficient->constant()) != 1)
      return nullptr;
    const PolyRef value = k_.scale(parts->rest, -parts->coefficient->constant());
    if (!Kernel::isInteger(value)) return nullptr;
    if (dry_) return yes();
    PolyRef body = replaced(k_, k_.of(k_.without(fold_.body->terms[0].first, factor->first)), v, value);
    body = k_.multiply(body, k_.whenNotNegative(value));
    body = k_.multiply(body, k_.whenNotNegative(k_.plus(k_.subtract(v->extent(), value), -1)));
    return k_.sum(without(fold_.variables, v), body);
  }

  PolyRef range() {
    const AtomRef v = variable(i_.first);
    const Factor* factor = factorAt(i_.second);
    if (v == nullptr || factor == nullptr || factor->first->kind != Kind::notNegative) return nullptr;
    if (!v->ranged || inExtents(fold_.variables, v)) return nullptr;
    const auto parts = k_.linear(factor->first->parts[0], v);
    if (!parts || !parts->coefficient->isConstant() || parts->coefficient->isZero()) return nullptr;
    if (intersects(parts->rest->variables, set_) || !Kernel::isInteger(parts->rest)) return nullptr;
    const Rational c = parts->coefficient->constant();
    if (c.get_den() != 1) return nullptr;
    // c*v + r >= 0: for c < 0 where v < floor(r/|c|) + 1, for c > 0 where v >= -floor(r/c).
    const bool upper = c < 0;
    const PolyRef by = k_.quotient(parts->rest, k_.number(::abs(c)));
    const PolyRef n = upper ? k_.plus(by, 1) : k_.negate(by);
    const bool inside = k_.notNegative(n) && k_.notNegative(k_.subtract(v->extent(), n));
    if (!inside && intersects(v->extent()->variables, set_)) return nullptr;
    if (dry_) return yes();
    const PolyRef rest = k_.of(k_.without(fold_.body->terms[0].first, factor->first));
    const auto whole = [&] { return k_.sum(fold_.variables, rest); };
    const auto prefix = [&] {
      const AtomRef moved = k_.index(n);
      return k_.sum(exchanged(fold_.variables, v, {moved}), replaced(k_, rest, v, k_.of(moved)));
    };
    if (inside) return upper ? prefix() : k_.subtract(whole(), prefix());
    const PolyRef some = k_.whenNotNegative(n);
    const PolyRef notAll = k_.whenNotNegative(k_.plus(k_.subtract(v->extent(), n), -1));
    const PolyRef all = whole();
    const PolyRef below = k_.multiply(some, k_.add(all, k_.multiply(notAll, k_.subtract(prefix(), all))));
    return upper ? below : k_.subtract(all, below);
  }

  /// Two indices that occur only as t*P + p are one: the body in one index gives the body back.
  PolyRef merge() {
    const AtomRef t = variable(i_.first);
    const AtomRef p = variable(i_.second);
    if (t == nullptr || p == nullptr || t == p || !t->ranged || !p->ranged || !isFree(t) || !isFree(p))
      return nullptr;
    if (isMax() && !inhabited()) return nullptr;
    const PolyRef extent = k_.multiply(t->extent(), p->extent());
    if (!k_.notNegative(extent)) return nullptr;
    const int before = k_.fresh;
    const AtomRef m = k_.index(extent);
    Substitution forward(k_);
    forward.map(t, k_.arena.zero);
    forward.map(p, k_.of(m));
    Substitution back(k_);
    back.map(m, k_.add(k_.multiply(k_.of(t), p->extent()), k_.of(p)));
    const PolyRef body = forward(fold_.body);
    const PolyRef guard = fold_.guard == nullptr ? nullptr : forward(fold_.guard);
    const bool same = back(body) == fold_.body && (guard == nullptr || back(guard) == fold_.guard);
    if (!same || dry_) {
      k_.fresh = before;
      return same ? yes() : nullptr;
    }
    return again(exchanged(without(fold_.variables, t), p, {m}), body, guard);
  }

  PolyRef powers() {
    const AtomRef v = variable(i_.first);
    if (!isSum() || v == nullptr || inExtents(fold_.variables, v)) return nullptr;
    const MonoRef mono = fold_.body->terms[0].first;
    const Rational e = mono->exponent(v);
    if (e.get_den() != 1 || e < 1 || e > 15) return nullptr;
    const MonoRef rest = k_.without(mono, v);
    if (contains(rest->variables, v)) return nullptr;
    if (dry_) return yes();
    return k_.sum(without(fold_.variables, v),
                  k_.multiply(k_.of(rest), faulhaber(e.get_num().get_ui(), v->extent())));
  }

  /// The polynomial P with P(n+1) - P(n) = n^p and P(0) = 0, by its own recursion:
  /// (n^(p+1) - sum_{j<p} binomial(p+1, j) P_j(n)) / (p+1).
  PolyRef faulhaber(unsigned long p, PolyRef n) {
    std::vector<PolyRef> known;
    for (unsigned long q = 0; q <= p; ++q) {
      PolyRef value = k_.power(n, q + 1);
      for (unsigned long j = 0; j < q; ++j) {
        Integer binomial;
        mpz_bin_uiui(binomial.get_mpz_t(), q + 1, j);
        value = k_.subtract(value, k_.scale(known[j], Rational(binomial)));
      }
      known.push_back(k_.scale(value, Rational(1) / Rational(Integer(q + 1))));
    }
    return known.back();
  }

  struct Offset {
    bool mirrored = false;
    bool mixed = false;  ///< forwards in one place and backwards in another
    PolyRef by = nullptr;
  };

  /// Where v occurs as +-v + r everywhere, r free of bound variables: the least such r.
  std::optional<Offset> offset(AtomRef v) {
    std::optional<Offset> found;
    bool fits = true;
    bool elements = false;
    const auto place = [&](PolyRef position) {
      if (!contains(position->variables, v)) return;
      const auto parts = k_.linear(position, v);
      const bool unit =
          parts && parts->coefficient->isConstant() && ::abs(parts->coefficient->constant()) == 1;
      const bool outputs = unit && std::all_of(parts->rest->variables.begin(), parts->rest->variables.end(),
                                               [](AtomRef other) { return other->name == "i"; });
      if (!outputs) {
        fits = false;
        return;
      }
      const bool backwards = parts->coefficient->constant() < 0;
      const bool mixed = found && (found->mixed || found->mirrored != backwards);
      if (!found || Before()(parts->rest, found->by)) found = Offset{backwards, mixed, parts->rest};
      found->mixed = mixed;
    };
    for (const bool onlyElements : {true, false}) {
      if (!onlyElements && elements) break;
      visit(fold_.body, [&](AtomRef atom) {
        if (!contains(atom->variables, v)) return;
        const bool element = atom->kind == Kind::element;
        elements = elements || element;
        if (onlyElements && !element) return;
        if (element || atom->kind == Kind::notNegative || atom->kind == Kind::isZeroInteger ||
            atom->kind == Kind::quotient) {
          for (const PolyRef part : atom->parts) place(part);
        } else if (atom == v) {
          place(k_.of(v));
        }
        for (const AtomRef b : atom->bound) {
          if (!onlyElements) place(b->extent());
        }
      });
    }
    return fits ? found : std::nullopt;
  }

  /// sum_{k<e} f(k+r) = F(r+e) - F(r), with F the antidifference of f on all integers.
  PolyRef shift() {
    const AtomRef v = variable(i_.first);
    if (!isSum() || v == nullptr || !isFree(v)) return nullptr;
    const auto o = offset(v);
    if (!o || (!o->mirrored && o->by->isZero()) || !Kernel::isInteger(o->by)) return nullptr;
    if (dry_) return yes();
    const PolyRef r = o->by;
    const PolyRef low = o->mirrored ? k_.plus(k_.subtract(r, v->extent()), 1) : r;
    const PolyRef high = o->mirrored ? k_.plus(r, 1) : k_.add(r, v->extent());
    const auto prefix = [&](PolyRef n) {
      if (n->isZero()) return k_.arena.zero;
      const AtomRef moved = k_.index(n);
      const PolyRef value = k_.subtract(k_.of(moved), r);
      return k_.sum(exchanged(fold_.variables, v, {moved}),
                    replaced(k_, fold_.body, v, o->mirrored ? k_.negate(value) : value));
    };
    return k_.subtract(prefix(high), prefix(low));
  }

  /// k and n - 1 - k run over the same range.
  PolyRef mirror() {
    const AtomRef v = variable(i_.first);
    if (isSum() || v == nullptr || !v->ranged || !isFree(v)) return nullptr;
    const auto o = offset(v);
    if (!o || !o->mirrored || o->mixed) return nullptr;
    if (dry_) return yes();
    const AtomRef moved = k_.index(v->extent());
    Substitution s(k_);
    s.map(v, k_.plus(k_.subtract(v->extent(), k_.of(moved)), -1));
    return again(exchanged(fold_.variables, v, {moved}), s);
  }

  // Maxima.

  /// A maximum of equal values, or a product of one 0/1 value, of which there is at least one.
  PolyRef unused() {
    const AtomRef v = variable(i_.first);
    if (isSum() || v == nullptr || !inhabited() || contains(fold_.body->variables, v) ||
        inExtents(fold_.variables, v))
      return nullptr;
    if (!isMax()) {
      const MonoRef mono = fold_.body->asMono();
      if (mono == nullptr || mono->factors.size() != 1 || !mono->factors[0].first->isIndicator())
        return nullptr;
      return dry_ ? yes() : k_.product(without(fold_.variables, v), fold_.body);
    }
    if (contains(fold_.guard->variables, v)) return nullptr;
    return dry_ ? yes() : k_.max(without(fold_.variables, v), fold_.body, fold_.guard);
  }

  PolyRef addends() {
    if (!isMax() || !inhabited()) return nullptr;
    std::vector<PolyRef> outside;
    for (const auto& [mono, coefficient] : fold_.body->terms) {
      if (!intersects(mono->variables, set_)) outside.push_back(k_.of(mono, coefficient));
    }
    if (outside.empty()) return nullptr;
    if (dry_) return yes();
    const PolyRef sum = k_.total(outside);
    return k_.add(sum, k_.max(fold_.variables, k_.subtract(fold_.body, sum), fold_.guard));
  }

  /// A 0/1 factor of the guard: the atom, or 1 - atom where the guard is nothing else.
  struct GuardFactor {
    AtomRef atom = nullptr;
    bool holds = true;
    PolyRef rest = nullptr;  ///< the other factors
  };
  std::optional<GuardFactor> guardFactor(int at) {
    const PolyRef opposite = k_.negation(fold_.guard);
    const AtomRef alone = opposite->asAtom();
    if (at == 0 && alone != nullptr && alone->isIndicator()) return GuardFactor{alone, false, k_.arena.one};
    const MonoRef mono = fold_.guard->asMono();
    if (mono == nullptr || at < 0 || static_cast<std::size_t>(at) >= mono->factors.size())
      return std::nullopt;
    const AtomRef atom = mono->factors[static_cast<std::size_t>(at)].first;
    if (!atom->isIndicator()) return std::nullopt;
    return GuardFactor{atom, true, k_.of(k_.without(mono, atom))};
  }

  /// A guard's factor that does not depend on the index drops out where the maximum is defined; one that is a
  /// prefix of an index shortens its range.
  PolyRef guardRange() {
    if (!isMax() || plain() || !inhabited()) return nullptr;
    const auto factor = guardFactor(i_.second);
    if (!factor) return nullptr;
    const auto& [atom, holds, rest] = *factor;
    if (!intersects(atom->variables, set_)) return dry_ ? yes() : k_.max(fold_.variables, fold_.body, rest);
    const AtomRef v = variable(i_.first);
    if (v == nullptr || !isFree(v) || atom->kind != Kind::notNegative) return nullptr;
    // v < n, as -v + n - 1 >= 0.
    const PolyRef e = holds ? atom->parts[0] : k_.plus(k_.negate(atom->parts[0]), -1);
    const auto parts = k_.linear(e, v);
    if (!parts || parts->coefficient != k_.number(-1) || intersects(parts->rest->variables, set_))
      return nullptr;
    const PolyRef n = k_.plus(parts->rest, 1);
    if (k_.notNegative(k_.subtract(n, v->extent())))
      return dry_ ? yes() : k_.max(fold_.variables, fold_.body, rest);
    if (!k_.positive(n) || !k_.notNegative(k_.subtract(v->extent(), n))) return nullptr;
    if (dry_) return yes();
    const AtomRef moved = k_.index(n);
    return k_.max(exchanged(fold_.variables, v, {moved}), replaced(k_, fold_.body, v, k_.of(moved)),
                  replaced(k_, rest, v, k_.of(moved)));
  }

  std::vector<AtomRef> conditions() {
    std::vector<AtomRef> result;
    for (const auto& [mono, coefficient] : fold_.body->terms) {
      for (const auto& [atom, e] : mono->factors) {
        if (atom->isIndicator() && std::find(result.begin(), result.end(), atom) == result.end())
          result.push_back(atom);
      }
    }
    std::sort(result.begin(), result.end(), Before());
    return result;
  }

  AtomRef conditionAt(int at) {
    const auto list = conditions();
    return at >= 0 && static_cast<std::size_t>(at) < list.size() ? list[static_cast<std::size_t>(at)]
                                                                 : nullptr;
  }

  PolyRef condition() {
    const AtomRef atom = isMax() ? conditionAt(i_.second) : nullptr;
    if (atom == nullptr || intersects(atom->variables, set_) || !inhabited()) return nullptr;
    if (dry_) return yes();
    return k_.choose(k_.of(atom),
                     k_.max(fold_.variables, k_.setIndicator(fold_.body, atom, true), fold_.guard),
                     k_.max(fold_.variables, k_.setIndicator(fold_.body, atom, false), fold_.guard));
  }

  PolyRef splitRange() {
    const AtomRef v = variable(i_.first);
    const AtomRef atom = !isSum() && plain() && (!isMax() || inhabited()) ? conditionAt(i_.second) : nullptr;
    if (v == nullptr || !v->ranged || atom == nullptr || atom->kind != Kind::notNegative || !isFree(v))
      return nullptr;
    const auto parts = k_.linear(atom->parts[0], v);
    if (!parts || !parts->coefficient->isConstant() || intersects(parts->rest->variables, set_))
      return nullptr;
    const Rational c = parts->coefficient->constant();
    if (c != 1 && c != -1) return nullptr;
    const bool lowHolds = c == -1;
    const PolyRef n = lowHolds ? k_.plus(parts->rest, 1) : k_.negate(parts->rest);
    const PolyRef others = k_.subtract(v->extent(), n);
    // A maximum needs elements on both sides.
    const auto enough = [&](PolyRef extent) {
      return isMax() ? k_.positive(extent) : k_.notNegative(extent);
    };
    if (!Kernel::isInteger(n) || !enough(n) || !enough(others)) return nullptr;
    if (dry_) return yes();
    const auto part = [&](PolyRef extent, bool holds, PolyRef from) {
      const AtomRef moved = k_.index(extent);
      Substitution s(k_);
      s.map(v, k_.add(k_.of(moved), from));
      return again(exchanged(fold_.variables, v, {moved}), s(k_.setIndicator(fold_.body, atom, holds)),
                   isMax() ? k_.arena.one : nullptr);
    };
    const PolyRef low = part(n, lowHolds, k_.arena.zero);
    const PolyRef high = part(others, !lowHolds, n);
    return isMax() ? k_.maximum({low, high}) : k_.multiply(low, high);
  }

  PolyRef outward() {
    if (!isMax() || !inhabited()) return nullptr;
    if (const AtomRef atom = fold_.body->asAtom()) {
      switch (atom->kind) {
        case Kind::maxFold: {
          if (dry_) return yes();
          PolyRef body = nullptr;
          PolyRef guard = nullptr;
          std::vector<AtomRef> both = fold_.variables;
          for (const AtomRef v : k_.opened(atom, body, guard)) both.push_back(v);
          return k_.max(both, body, k_.multiply(fold_.guard, guard));
        }
        case Kind::maximum: {
          if (dry_) return yes();
          std::vector<PolyRef> parts;
          for (const PolyRef part : atom->parts) parts.push_back(k_.max(fold_.variables, part, fold_.guard));
          return k_.maximum(std::move(parts));
        }
        default:
          break;
      }
    }
    if (const PolyRef inside = monotone()) return inside;
    // c * exp(..) with c >= 0 free of the variables.
    if (fold_.body->terms.size() != 1 || fold_.body->terms[0].second <= 0) return nullptr;
    std::vector<Factor> rest;
    std::vector<PolyRef> argument;
    for (const auto& [atom, e] : fold_.body->terms[0].first->factors) {
      if (intersects(atom->variables, set_)) {
        if (atom->kind != Kind::exp) return nullptr;
        argument.push_back(k_.scale(atom->parts[0], e));
      } else {
        if (!isNonNegative(k_.sign(k_.of(atom, e)))) return nullptr;
        rest.emplace_back(atom, e);
      }
    }
    if (argument.empty()) return nullptr;
    if (dry_) return yes();
    const PolyRef inside = k_.exp(k_.max(fold_.variables, k_.total(argument), fold_.guard));
    return k_.multiply(k_.of(k_.monoOf(std::move(rest)), fold_.body->terms[0].second), inside);
  }

  /// M6: f or -f of a term, for an f that does not fall: max f(g) = f(max g), max -f(g) = -f(-max -g).
  PolyRef monotone() {
    const Term& term = fold_.body->terms[0];
    const AtomRef atom = k_.of(term.first)->asAtom();
    if (fold_.body->terms.size() != 1 || ::abs(term.second) != 1 || atom == nullptr) return nullptr;
    const bool grows = atom->kind == Kind::sqrt || atom->kind == Kind::log || atom->kind == Kind::floor ||
                       atom->kind == Kind::rint;
    if (!grows) return nullptr;
    if (dry_) return yes();
    const bool minus = term.second < 0;
    const auto turned = [&](PolyRef p) { return minus ? k_.negate(p) : p; };
    const PolyRef g = turned(k_.max(fold_.variables, turned(atom->parts[0]), fold_.guard));
    return turned(atom->kind == Kind::sqrt    ? k_.sqrt(g)
                  : atom->kind == Kind::log   ? k_.log(g)
                  : atom->kind == Kind::floor ? k_.floor(g)
                                              : k_.rint(g));
  }

  /// What does not depend on one of several indices comes out of its maximum.
  PolyRef oneAtATime() {
    const AtomRef v = variable(i_.first);
    if (!isMax() || v == nullptr || fold_.variables.size() < 2 || !plain() || !isFree(v) || !inhabited())
      return nullptr;
    const std::vector<AtomRef> others = without(fold_.variables, v);
    std::vector<PolyRef> outside;
    for (const auto& [mono, coefficient] : fold_.body->terms) {
      if (!contains(mono->variables, v)) outside.push_back(k_.of(mono, coefficient));
    }
    if (!outside.empty()) {
      if (dry_) return yes();
      const PolyRef sum = k_.total(outside);
      const PolyRef alone = k_.max({v}, k_.subtract(fold_.body, sum), k_.arena.one);
      return k_.max(others, k_.add(sum, alone), k_.arena.one);
    }
    std::vector<Factor> factors;
    for (const auto& [atom, e] : k_.content(fold_.body).mono->factors) {
      if (!contains(atom->variables, v) && intersects(atom->variables, set_) && !atom->isIndicator() &&
          isNonNegative(k_.sign(k_.of(atom, e))))
        factors.emplace_back(atom, e);
    }
    if (factors.empty()) return nullptr;
    if (dry_) return yes();
    const MonoRef factor = k_.monoOf(std::move(factors));
    const PolyRef alone = k_.max({v}, k_.multiply(fold_.body, k_.power(factor, -1)), k_.arena.one);
    return k_.max(others, k_.multiply(k_.of(factor), alone), k_.arena.one);
  }

  /// Factors that are not negative and free of the indices, and the size of the first coefficient, come out.
  PolyRef factors() {
    if (!isMax() || !inhabited()) return nullptr;
    std::vector<Factor> outside;
    for (const auto& [atom, e] : k_.content(fold_.body).mono->factors) {
      if (!intersects(atom->variables, set_) && !atom->isIndicator() &&
          isNonNegative(k_.sign(k_.of(atom, e))))
        outside.emplace_back(atom, e);
    }
    const Rational size = ::abs(fold_.body->terms[0].second);
    if (outside.empty() && size == 1) return nullptr;
    if (dry_) return yes();
    const MonoRef factor = k_.monoOf(std::move(outside));
    const PolyRef rest = k_.multiply(fold_.body, k_.scale(k_.power(factor, -1), 1 / size));
    return k_.multiply(k_.of(factor, size), k_.max(fold_.variables, rest, fold_.guard));
  }

  /// A product with a factor 0.
  PolyRef vanishes() {
    const AtomRef v = variable(i_.first);
    if (fold_.kind != Kind::product || v == nullptr || !isFree(v) || !inhabited()) return nullptr;
    const PolyRef at = i_.second == 0 ? k_.arena.zero : k_.plus(v->extent(), -1);
    return replaced(k_, fold_.body, v, at)->isZero() ? (dry_ ? yes() : k_.arena.zero) : nullptr;
  }

  Kernel& k_;
  const Fold& fold_;
  const Instance& i_;
  bool dry_;
  Variables set_;
};

}  // namespace

PolyRef Kernel::apply(const Fold& fold, const Instance& instance, bool dry) {
  return Laws(*this, fold, instance, dry).run();
}

}  // namespace nuscope::replay
