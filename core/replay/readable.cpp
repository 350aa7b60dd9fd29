#include "core/replay/readable.h"

#include <algorithm>

#include "core/replay/fold_laws.h"

namespace nuscope::replay {
namespace {

class Writer {
 public:
  Writer(Letters& letters, std::size_t limit) : letters_(letters), limit_(limit) {}
  std::string out;

  void poly(PolyRef p) {
    if (p->isZero()) out += "0";
    bool first = true;
    for (const auto& [mono, coefficient] : p->terms) {
      if (full()) return;
      if (!first) out += coefficient < 0 ? " - " : " + ";
      if (first && coefficient < 0) out += "-";
      first = false;
      const Rational size = abs(coefficient);
      if (size != 1 || mono->factors.empty()) out += size.get_str();
      bool times = size != 1;
      for (const auto& [atom, e] : mono->factors) {
        if (times) out += "*";
        times = true;
        power(atom, e);
      }
    }
  }

  /// In parentheses, if it is a sum of terms.
  void factor(PolyRef p) {
    if (p->terms.size() == 1) {
      poly(p);
    } else {
      list("(", {p}, ")");
    }
  }

  void fold(Kind kind, const std::vector<AtomRef>& variables, PolyRef body, PolyRef guard) {
    out += std::string(kind == Kind::sum ? "sum" : kind == Kind::product ? "prod" : "max") + "_{";
    for (std::size_t i = 0; i < variables.size(); ++i) {
      if (i > 0) out += ", ";
      out += letters_.of(variables[i]) + "<";
      poly(variables[i]->extent());
    }
    if (guard != nullptr && !guard->isConstant()) {
      out += " | ";
      poly(guard);
    }
    out += "} ";
    factor(body);
  }

 private:
  [[nodiscard]] bool full() {
    if (out.size() <= limit_) return false;
    if (!out.ends_with("\u2026")) out += "\u2026";
    return true;
  }

  void power(AtomRef a, const Rational& e) {
    if (a->kind == Kind::exp) {  // exp(m)^e is exp(e*m)
      out += "exp(";
      const Rational size = abs(e);
      if (e < 0) out += "-";
      if (size != 1) out += size.get_str() + "*";
      poly(a->parts[0]);
      out += ")";
      return;
    }
    const bool group = a->isFold() && e != 1;
    if (group) out += "(";
    atom(a);
    if (group) out += ")";
    if (e != 1) out += "^" + (e.get_den() == 1 ? e.get_str() : "{" + e.get_str() + "}");
  }

  void atom(AtomRef a) {
    if (full()) return;
    switch (a->kind) {
      case Kind::dimension:
        out += a->name;
        return;
      case Kind::index:
        out += letters_.of(a);
        return;
      case Kind::symbol:
        out += a->name;
        return;
      case Kind::element:
        out += a->name;
        if (!a->parts.empty()) list("[", a->parts, "]");
        return;
      case Kind::quotient:
        factor(a->parts[0]);
        out += "//";
        factor(a->parts[1]);
        return;
      case Kind::inverse:
        list("(", a->parts, ")");
        return;
      case Kind::notNegative:
        list("[", a->parts, " >= 0]");
        return;
      case Kind::positive:
        list("[", a->parts, " > 0]");
        return;
      case Kind::isZeroInteger:
      case Kind::isZero:
        list("[", a->parts, " = 0]");
        return;
      case Kind::sum:
      case Kind::maxFold:
      case Kind::product:
        fold(a->kind, a->bound, a->parts[0], a->parts.size() > 1 ? a->parts[1] : nullptr);
        return;
      default:
        out += a->kind == Kind::undefined ? a->name : std::string(text(a->kind));
        list("(", a->parts, ")");
    }
  }

  void list(const char* open, const std::vector<PolyRef>& parts, const char* close) {
    out += open;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (i > 0) out += ", ";
      poly(parts[i]);
    }
    out += close;
  }

  Letters& letters_;
  std::size_t limit_;
};

}  // namespace

std::string Letters::of(AtomRef variable) {
  const auto known = letters_.find(variable);
  if (known != letters_.end()) return known->second;
  // Output indices first from i, bound ones from k.
  const std::string pool = variable->name == "i" ? "ijmrsabcd" : "klpqtuvgh";
  std::string letter;
  for (std::size_t round = 0; letter.empty(); ++round) {
    for (const char c : pool) {
      const std::string candidate = std::string(1, c) + std::string(round, '\'');
      const bool taken = std::any_of(letters_.begin(), letters_.end(),
                                     [&](const auto& used) { return used.second == candidate; });
      if (taken) continue;
      letter = candidate;
      break;
    }
  }
  return letters_[variable] = letter;
}

std::string readable(PolyRef p, Letters& letters, std::size_t limit) {
  Writer writer(letters, limit);
  writer.poly(p);
  return writer.out;
}

std::string readable(const Fold& fold, Letters& letters, std::size_t limit) {
  Writer writer(letters, limit);
  writer.fold(fold.kind, fold.variables, fold.body, fold.guard);
  return writer.out;
}

namespace {

class Substitutions {
 public:
  Substitutions(Kernel& k, const Fold& fold, const Instance& instance, Letters& letters)
      : k_(k), fold_(fold), i_(instance), letters_(letters) {}

  std::string text() {
    switch (i_.lemma) {
      case Lemma::tile:
        return tile();
      case Lemma::count:
        return first() + " counts how often " + name(i_.second) + " is met";
      case Lemma::delta:
        return first() + " where " + factor();
      case Lemma::range:
        return first() + " where " + factor();
      case Lemma::merge:
        return first() + "*" + extent(i_.second) + " + " + name(i_.second) + " is one index";
      case Lemma::powers:
        return "powers of " + first() + " up to " + extent(i_.first);
      case Lemma::shift:
        return first() + " starts at its offset";
      case Lemma::unused:
        return first() + " does not occur";
      case Lemma::addends:
        return "terms without " + all() + " leave the maximum";
      case Lemma::guardRange:
        return first() + " up to where its guard holds";
      case Lemma::condition:
        return "the condition does not depend on " + all();
      case Lemma::splitRange:
        return first() + " below and above where its condition changes";
      case Lemma::outward:
        return "the function grows, so the maximum goes inside";
      case Lemma::oneAtATime:
        return first() + " alone";
      case Lemma::factors:
        return "factors without " + all() + " that are not negative leave the maximum";
      case Lemma::vanishes:
        return first() + " = " + (i_.second == 0 ? std::string("0") : extent(i_.first) + " - 1") +
               " gives a factor 0";
      case Lemma::mirror:
        return first() + " backwards: " + extent(i_.first) + " - 1 - " + first();
      case Lemma::keep:
        break;
    }
    return {};
  }

 private:
  std::string name(int at) {
    const bool there = at >= 0 && static_cast<std::size_t>(at) < fold_.variables.size();
    return there ? letters_.of(fold_.variables[static_cast<std::size_t>(at)]) : "?";
  }
  std::string first() { return name(i_.first); }
  std::string extent(int at) {
    const bool there = at >= 0 && static_cast<std::size_t>(at) < fold_.variables.size();
    const PolyRef e = there ? fold_.variables[static_cast<std::size_t>(at)]->extent() : nullptr;
    if (e == nullptr) return "?";
    return e->terms.size() > 1 ? "(" + readable(e, letters_) + ")" : readable(e, letters_);
  }
  std::string all() {
    std::string result;
    for (const AtomRef v : fold_.variables) result += (result.empty() ? "" : ", ") + letters_.of(v);
    return result;
  }
  /// The condition that decides.
  std::string factor() {
    const auto& factors = fold_.body->terms[0].first->factors;
    if (i_.second < 0 || static_cast<std::size_t>(i_.second) >= factors.size()) return "?";
    return readable(k_.of(factors[static_cast<std::size_t>(i_.second)].first), letters_);
  }
  std::string tile() {
    if (i_.first < 0 || static_cast<std::size_t>(i_.first) >= fold_.variables.size()) return "?";
    const AtomRef v = fold_.variables[static_cast<std::size_t>(i_.first)];
    auto divisors = k_.divisors(fold_.body, v, asSet(fold_.variables));
    if (fold_.guard != nullptr) {
      for (const PolyRef d : k_.divisors(fold_.guard, v, asSet(fold_.variables))) divisors.push_back(d);
    }
    if (i_.second < 0 || static_cast<std::size_t>(i_.second) >= divisors.size()) return "?";
    const PolyRef d = divisors[static_cast<std::size_t>(i_.second)];
    const std::string by = readable(d, letters_);
    return first() + " = " + (d->terms.size() > 1 ? "(" + by + ")" : by) + "*t + r with r < " + by;
  }

  Kernel& k_;
  const Fold& fold_;
  const Instance& i_;
  Letters& letters_;
};

}  // namespace

std::string substitutionOf(Kernel& k, const Fold& fold, const Instance& instance, Letters& letters) {
  return Substitutions(k, fold, instance, letters).text();
}

}  // namespace nuscope::replay
