#include "core/replay/assumptions.h"

#include <algorithm>

namespace nuscope::replay {
namespace {

using tensor::NodeRef;
using tensor::Op;
using tensor::Precondition;
using tensor::Relation;

class Learner {
 public:
  Learner(Kernel& k, Forms& forms, const tensor::Program& program) : k_(k), forms_(forms) {
    for (const auto& parameter : program.parameters) {
      auto& shape = shapes_[parameter.name];
      for (const auto& extent : parameter.node->shape) shape.push_back(forms.dim(extent));
    }
  }

  /// An assert at arbitrary indices.
  void collect(const std::string& text, NodeRef node, std::vector<Facts::Statement>& into) {
    if (node->op == Op::logicalAnd && node->shape.empty()) {
      collect(text, node->operands[0], into);
      collect(text, node->operands[1], into);
      return;
    }
    const bool everywhere = node->op == Op::all && node->shape.empty() && !node->attributes.keepDims &&
                            node->attributes.axes.size() == node->operands[0]->shape.size();
    const NodeRef body = everywhere ? node->operands[0] : node;
    Facts::Statement statement;
    statement.text = text;
    std::vector<PolyRef> index;
    for (const auto& extent : body->shape) {
      const PolyRef size = forms_.dim(extent);
      if (size == k_.arena.one) {
        index.push_back(k_.arena.zero);
        continue;
      }
      const AtomRef v = k_.index(size, "f");
      unite(statement.variables, Variables{v});
      index.push_back(k_.of(v));
    }
    statement.condition = forms_.element(body, index).p;
    into.push_back(std::move(statement));
  }

  /// True if something new was learned.
  bool learn(const Facts::Statement& s) {
    AtomRef atom = s.condition->asAtom();
    const bool negative = atom == nullptr;
    if (negative) atom = k_.negation(s.condition)->asAtom();
    if (atom == nullptr || !atom->isIndicator()) return false;
    const std::size_t before = size();
    const PolyRef p = atom->parts[0];
    switch (atom->kind) {
      case Kind::positive:
        setSign(whole(p, s), negative ? Sign::nonPositive : Sign::positive);
        setSign(whole(k_.negate(p), s), negative ? Sign::nonNegative : Sign::negative);
        break;
      case Kind::notNegative: {
        const PolyRef e = negative ? k_.plus(k_.negate(p), -1) : p;
        if (s.variables.empty()) fact(e);
        setSign(whole(e, s), Sign::nonNegative);
        setSign(whole(k_.plus(e, 1), s), Sign::positive);
        break;
      }
      default:
        if (negative) {
          if (const auto* name = whole(p, s)) k_.facts.nonZero.insert(*name);
          break;
        }
        equality(p, s, atom->kind == Kind::isZeroInteger);
    }
    if (size() == before) return false;
    k_.forgetSigns();
    forms_.forget();
    return true;
  }

  bool fact(PolyRef e) {
    auto& list = k_.facts.notNegative;
    if (std::find(list.begin(), list.end(), e) != list.end()) return false;
    list.push_back(e);
    k_.forgetSigns();
    return true;
  }

 private:
  [[nodiscard]] std::size_t size() const {
    const Facts& f = k_.facts;
    std::size_t strict = 0;
    for (const auto& [name, sign] : f.signs) strict += isNonZero(sign) ? 2 : 1;
    return strict + f.nonZero.size() + f.constants.size() + f.symmetric.size() + f.scalars.size() +
           f.notNegative.size();
  }

  void setSign(const std::string* name, Sign sign) {
    if (name == nullptr) return;
    const auto [at, inserted] = k_.facts.signs.emplace(*name, sign);
    const bool stronger = (sign == Sign::positive && at->second == Sign::nonNegative) ||
                          (sign == Sign::negative && at->second == Sign::nonPositive);
    if (!inserted && stronger) at->second = sign;
  }

  /// The input x if p is x[f1, f2, ...] with distinct variables of the statement that run over all of x.
  const std::string* whole(PolyRef p, const Facts::Statement& s) {
    const AtomRef atom = p->asAtom();
    if (atom == nullptr || atom->kind != Kind::element) return nullptr;
    const auto shape = shapes_.find(atom->name);
    if (shape == shapes_.end() || shape->second.size() != atom->parts.size()) return nullptr;
    Variables seen;
    for (std::size_t i = 0; i < atom->parts.size(); ++i) {
      if (atom->parts[i]->isZero() && shape->second[i] == k_.arena.one) continue;
      const AtomRef v = atom->parts[i]->asAtom();
      if (v == nullptr || !contains(s.variables, v) || contains(seen, v) || v->extent() != shape->second[i])
        return nullptr;
      unite(seen, Variables{v});
    }
    return &shape->first;
  }

  void equality(PolyRef p, const Facts::Statement& s, bool integer) {
    // x == constant.
    PolyRef variable = p;
    Rational constant = 0;
    for (const auto& [mono, coefficient] : p->terms) {
      if (!mono->factors.empty()) continue;
      constant = coefficient;
      variable = k_.subtract(p, k_.number(coefficient));
    }
    if (variable->terms.size() == 1) {
      const Rational c = variable->terms[0].second;
      if (const auto* name = whole(k_.scale(variable, 1 / c), s)) {
        k_.facts.constants.emplace(*name, -constant / c);
        return;
      }
    }
    // x == x.T.
    if (p->terms.size() == 2 && p->terms[0].second == -p->terms[1].second && s.variables.size() == 2) {
      const AtomRef a = k_.of(p->terms[0].first)->asAtom();
      const AtomRef b = k_.of(p->terms[1].first)->asAtom();
      if (a != nullptr && b != nullptr && a->kind == Kind::element && b->kind == Kind::element &&
          a->name == b->name && a->parts.size() == 2 && b->parts.size() == 2 && a->parts[0] == b->parts[1] &&
          a->parts[1] == b->parts[0]) {
        if (const auto* name = whole(k_.of(a), s)) k_.facts.symmetric.insert(*name);
        return;
      }
    }
    if (integer && s.variables.empty()) scalar(p);
  }

  /// x == d * (x // d) with d >= 1: x = d*q. x == t with x not in t: x = t.
  void scalar(PolyRef p) {
    for (const auto& [mono, coefficient] : p->terms) {
      const AtomRef x = k_.of(mono)->asAtom();
      if (::abs(coefficient) != 1 || x == nullptr || x->kind != Kind::element || !x->parts.empty()) continue;
      const PolyRef value = k_.subtract(k_.of(x), k_.scale(p, coefficient));  // x == value
      AtomRef quotient = nullptr;
      visit(value, [&](AtomRef a) {
        if (a->kind == Kind::quotient && a->parts[0] == k_.of(x)) quotient = a;
      });
      if (quotient != nullptr) {
        if (value != k_.multiply(quotient->parts[1], k_.of(quotient)) || !k_.positive(quotient->parts[1]) ||
            occurs(quotient->parts[1], x))
          continue;
        const PolyRef q = k_.element(x->name + " divided", {}, true);
        if (k_.positive(k_.of(x))) fact(k_.plus(q, -1));
        if (k_.notNegative(k_.of(x))) fact(q);
        k_.facts.scalars.emplace(x->name, k_.multiply(quotient->parts[1], q));
        return;
      }
      if (occurs(value, x) || !Kernel::isInteger(value)) continue;
      bool plain = true;
      visit(value,
            [&](AtomRef a) { plain = plain && (a->kind == Kind::dimension || a->kind == Kind::element); });
      if (!plain) continue;
      k_.facts.scalars.emplace(x->name, value);
      return;
    }
  }

  Kernel& k_;
  Forms& forms_;
  std::map<std::string, std::vector<PolyRef>> shapes_;
};

}  // namespace

std::vector<const Precondition*> distinctAsserts(const tensor::Program& left, const tensor::Program& right) {
  std::vector<const Precondition*> result;
  for (const auto* program : {&left, &right}) {
    for (const Precondition& p : program->preconditions) {
      const bool known = std::any_of(result.begin(), result.end(),
                                     [&](const Precondition* other) { return other->text == p.text; });
      if (!known) result.push_back(&p);
    }
  }
  return result;
}

tensor::DimFacts dimensionFacts(const std::vector<const Precondition*>& asserts) {
  tensor::DimFacts facts;
  const auto isDivisibility = [](const tensor::DimRelation& r) {
    return r.relation == Relation::equal && (r.left - r.right).text().find("//") != std::string::npos;
  };
  for (const bool divisibility : {true, false}) {
    for (const Precondition* p : asserts) {
      if (p->dims && isDivisibility(*p->dims) == divisibility) facts.assume(*p->dims);
    }
  }
  return facts;
}

void assume(Kernel& k, Forms& forms, const tensor::DimFacts& dims,
            const std::vector<const Precondition*>& asserts, const tensor::Program& program) {
  for (const auto& [symbol, bound] : dims.lowerBounds()) {
    if (bound <= 1 || dims.normalise(tensor::Dim::symbol(symbol)).asSymbol() != symbol) continue;
    // No program can name a dimension so.
    forms.bind(symbol, k.plus(k.dimension(symbol + "'"), static_cast<long>(bound - 1)));
  }
  Learner learner(k, forms, program);
  for (const tensor::DimRelation& relation : dims.relations()) {
    const PolyRef gap = k.subtract(forms.dim(relation.right), forms.dim(relation.left));
    if (relation.relation == Relation::equal && !gap->isZero()) {
      learner.fact(gap);
      learner.fact(k.negate(gap));
    }
    if (relation.relation == Relation::lessEqual && !k.notNegative(gap)) learner.fact(gap);
    if (relation.relation == Relation::less && !k.positive(gap)) learner.fact(k.plus(gap, -1));
  }
  // What one assert teaches may simplify another.
  std::vector<Facts::Statement> statements;
  for (int round = 0; round < 4; ++round) {
    statements.clear();
    for (const Precondition* p : asserts) {
      if (p->dims || p->condition == nullptr) continue;
      try {
        learner.collect(p->text, p->condition, statements);
      } catch (const Refused&) {
        // What the checker cannot read of an assert it does not use.
      }
    }
    bool news = false;
    for (const auto& s : statements) {
      if (!s.condition->isConstant()) news = learner.learn(s) || news;
    }
    if (!news) break;
  }
  for (auto& s : statements) {
    if (!s.condition->isConstant()) k.facts.statements.push_back(std::move(s));
  }
  k.forgetSigns();
  forms.forget();
}

}  // namespace nuscope::replay
