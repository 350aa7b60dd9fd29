#include "core/proof/math_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "core/proof/walk.h"

namespace nuscope::proof {
namespace {

constexpr std::size_t limitOfText = 4000;

/// A cut node's mark "its element is defined" is a source of this name (symbolic_domain.cpp).
constexpr std::string_view definedPrefix = "defined ";

/// Names of index variables and prefix values in one text. An index is called after its extent (K: k), like
/// those of formulas (core/semantics/formula.h); bound ones may share a name where their folds do not nest.
class Names {
 public:
  template <class T>
  Names(const Calculus& c, const T* root) {
    Walker walker;
    std::set<std::pair<int, AtomRef>> symbols;
    walker.onAtom = [&](AtomRef atom) {
      if (atom->kind == AtomKind::element) taken_.insert(c.arena.source(atom->source).name);
      if (atom->kind == AtomKind::symbol) symbols.emplace(atom->number, atom);
    };
    walker.onIntAtom = [&](IntAtomRef atom) {
      if (atom->kind == IntAtom::Kind::element) taken_.insert(c.arena.source(atom->source).name);
      if (atom->kind == IntAtom::Kind::dimension) taken_.insert(atom->name);
    };
    walker.walk(root);
    std::size_t i = 0;
    for (const auto& [number, atom] : symbols)
      symbols_[atom] = symbols.size() == 1 ? atom->name : fmt::format("{}_{}", atom->name, ++i);
    Variables variables = root->variables;
    std::sort(variables.begin(), variables.end(),
              [](IntAtomRef a, IntAtomRef b) { return a->number < b->number; });
    for (const IntAtomRef v : variables) bind(v);
  }

  void bind(IntAtomRef variable) { inScope_.emplace_back(variable, choose(variable)); }
  void release(std::size_t count) { inScope_.resize(inScope_.size() - count); }
  [[nodiscard]] std::string of(IntAtomRef variable) const {
    for (auto at = inScope_.rbegin(); at != inScope_.rend(); ++at) {
      if (at->first == variable) return at->second;
    }
    return variable->name + std::to_string(variable->number);  // of a fold that was cut open for its text
  }
  [[nodiscard]] const std::string& of(AtomRef symbol) const { return symbols_.at(symbol); }

 private:
  [[nodiscard]] std::string choose(IntAtomRef variable) const {
    std::vector<std::string> wanted;
    if (variable->name != "k" && variable->name != "i") wanted.push_back(variable->name);
    if (const std::string* symbol = dimensionOf(variable->extent))
      wanted.emplace_back(1, static_cast<char>(std::tolower(static_cast<unsigned char>((*symbol)[0]))));
    for (const char letter : std::string_view("ijklpqrstuvabcd")) wanted.emplace_back(1, letter);
    const auto free = [&](const std::string& name) {
      return !taken_.contains(name) &&
             std::none_of(inScope_.begin(), inScope_.end(), [&](const auto& v) { return v.second == name; });
    };
    const auto found = std::find_if(wanted.begin(), wanted.end(), free);
    if (found != wanted.end()) return *found;
    int number = 1;
    while (!free(fmt::format("i{}", number))) ++number;
    return fmt::format("i{}", number);
  }

  /// "K" of K and of K - 1; null where the extent is something else.
  static const std::string* dimensionOf(IntRef extent) {
    const std::string* symbol = nullptr;
    if (extent == nullptr) return nullptr;
    for (const auto& [mono, coefficient] : extent->terms) {
      if (mono->atoms.empty()) continue;
      const bool plain = symbol == nullptr && coefficient == 1 && mono->atoms.size() == 1 &&
                         mono->atoms[0]->kind == IntAtom::Kind::dimension;
      if (!plain) return nullptr;
      symbol = &mono->atoms[0]->name;
    }
    return symbol;
  }

  std::set<std::string> taken_;
  std::vector<std::pair<IntAtomRef, std::string>> inScope_;
  std::map<AtomRef, std::string> symbols_;
};

class Writer {
 public:
  template <class T>
  Writer(const Calculus& c, const T* root) : c_(c), names_(c, root) {}
  std::string out;

  void write(IntRef term) {
    if (term->isZero()) out += "0";
    bool first = true;
    // The constant last.
    std::vector<std::pair<IntMonoRef, Integer>> terms(term->terms.begin(), term->terms.end());
    std::stable_partition(terms.begin(), terms.end(), [](const auto& t) { return !t.first->atoms.empty(); });
    for (const auto& [mono, coefficient] : terms) {
      sign(coefficient < 0, first);
      first = false;
      const Integer size = abs(coefficient);
      const bool number = size != 1 || mono->atoms.empty();
      if (number) out += size.get_str();
      bool star = number;
      for (const IntAtomRef atom : mono->atoms) {
        if (star) out += "*";
        star = true;
        write(atom);
      }
    }
  }

  void write(IntAtomRef atom) {
    switch (atom->kind) {
      case IntAtom::Kind::dimension:
        out += atom->name;
        break;
      case IntAtom::Kind::variable:
        out += names_.of(atom);
        break;
      case IntAtom::Kind::quotient:
        out += "floor((";
        write(atom->numerator);
        out += ")/(";
        write(atom->denominator);
        out += "))";
        break;
      case IntAtom::Kind::element:
        element(c_.arena.source(atom->source), atom->subscripts);
        break;
      case IntAtom::Kind::embed:
        parenthesised(atom->value);
        break;
    }
  }

  void write(PolyRef p) {
    if (out.size() > limitOfText) return;
    if (p->isZero()) out += "0";
    bool first = true;
    // A sum that can begin with a positive term does.
    auto terms = p->terms;
    const auto positive =
        std::find_if(terms.begin(), terms.end(), [](const auto& t) { return t.second > 0; });
    if (positive != terms.end()) std::rotate(terms.begin(), positive, positive + 1);
    for (const auto& [mono, coefficient] : terms) {
      sign(coefficient < 0, first);
      first = false;
      term(mono, abs(coefficient));
      if (out.size() > limitOfText) return;
    }
  }

  void write(MonoRef mono) { term(mono, 1); }

  /// What it takes for a 0/1 term to be 1.
  void writeCondition(PolyRef p) {
    if (const AtomRef atom = p->asAtom()) return holds(atom);
    if (const MonoRef mono = p->asMono()) {
      bool first = true;
      for (const auto& [atom, exponent] : mono->factors) {
        if (!first) out += " and ";
        first = false;
        holds(atom);
      }
      return;
    }
    if (const AtomRef atom = negated(p)) return fails(atom);
    write(p);
    out += " = 1";
  }

  void write(AtomRef atom) {
    switch (atom->kind) {
      case AtomKind::element:
        element(c_.arena.source(atom->source), atom->subscripts);
        break;
      case AtomKind::integer:
        write(atom->integer);
        break;
      case AtomKind::exp:
        out += "exp(";
        write(atom->mono);
        out += ")";
        break;
      case AtomKind::log:
        call("log", atom->poly);
        break;
      case AtomKind::sqrt:
        call("sqrt", atom->poly);
        break;
      case AtomKind::abs:
        out += "|";
        write(atom->poly);
        out += "|";
        break;
      case AtomKind::sin:
        call("sin", atom->poly);
        break;
      case AtomKind::cos:
        call("cos", atom->poly);
        break;
      case AtomKind::power:
        parenthesised(atom->poly);
        break;
      case AtomKind::intNonNegative:
        condition(atom->intTerm, " >= 0");
        break;
      case AtomKind::intZero:
        condition(atom->intTerm, " = 0");
        break;
      case AtomKind::positive:
        if (const AtomRef mark = definedMark(atom->poly)) {
          out += "[";
          write(mark);
          out += " is defined]";
          break;
        }
        condition(atom->poly, " > 0");
        break;
      case AtomKind::zero:
        condition(atom->poly, " = 0");
        break;
      case AtomKind::maximum: {
        out += "max(";
        bool first = true;
        for (const PolyRef part : atom->polys) {
          if (!first) out += ", ";
          first = false;
          write(part);
        }
        out += ")";
        break;
      }
      case AtomKind::sum:
        fold("sum", atom);
        break;
      case AtomKind::maxFold:
        fold("max", atom);
        break;
      case AtomKind::productFold:
        fold("prod", atom);
        break;
      case AtomKind::function:
        call(atom->name, atom->poly);
        break;
      case AtomKind::symbol:
        out += names_.of(atom);
        break;
    }
  }

 private:
  /// The atom a of 1 - a; null if it is something else.
  AtomRef negated(PolyRef p) const {
    if (p->terms.size() != 2) return nullptr;
    AtomRef atom = nullptr;
    bool one = false;
    for (const auto& [mono, coefficient] : p->terms) {
      if (mono->factors.empty()) {
        one = coefficient == 1;
      } else if (coefficient == -1 && mono->factors.size() == 1 && mono->factors[0].second == 1) {
        atom = mono->factors[0].first;
      }
    }
    return one ? atom : nullptr;
  }

  void relation(AtomRef atom, const char* real, const char* integer) {
    if (atom->poly != nullptr) {
      write(atom->poly);
      out += real;
    } else {
      write(atom->intTerm);
      out += integer;
    }
  }

  void holds(AtomRef atom) {
    switch (atom->kind) {
      case AtomKind::positive:
        if (const AtomRef mark = definedMark(atom->poly)) {
          write(mark);
          out += " is defined";
          break;
        }
        relation(atom, " > 0", "");
        break;
      case AtomKind::zero:
      case AtomKind::intZero:
        relation(atom, " = 0", " = 0");
        break;
      case AtomKind::intNonNegative:
        relation(atom, "", " >= 0");
        break;
      case AtomKind::productFold:
        everywhere(atom);
        break;
      default:
        write(atom);
        out += " = 1";
    }
  }

  void fails(AtomRef atom) {
    switch (atom->kind) {
      case AtomKind::positive:
        relation(atom, " <= 0", "");
        break;
      case AtomKind::zero:
      case AtomKind::intZero:
        relation(atom, " != 0", " != 0");
        break;
      case AtomKind::intNonNegative:
        relation(atom, "", " < 0");
        break;
      default:
        out += "not ";
        holds(atom);
    }
  }

  /// A product of conditions: "... for all k < K".
  void everywhere(AtomRef atom) {
    for (const IntAtomRef variable : atom->bound) names_.bind(variable);
    writeCondition(atom->poly);
    out += " for all ";
    bool first = true;
    for (const IntAtomRef variable : atom->bound) {
      if (!first) out += ", ";
      first = false;
      write(variable);
      out += " < ";
      write(variable->extent);
    }
    names_.release(atom->bound.size());
  }

  void sign(bool negative, bool first) {
    if (first) {
      if (negative) out += "-";
    } else {
      out += negative ? " - " : " + ";
    }
  }

  void term(MonoRef mono, const Rational& size) {
    bool star = false;
    if (size != 1 || mono->factors.empty()) {
      out += decimalText(size);
      star = true;
    }
    for (const auto& [atom, exponent] : mono->factors) {
      const bool divides = exponent < 0 && atom->kind != AtomKind::exp;
      if (divides && !star) out += "1";
      if (divides) {
        out += "/";
      } else if (star) {
        out += "*";
      }
      star = true;
      if (atom->kind == AtomKind::exp && exponent != 1) {
        out += "exp(";
        term(atom->mono, abs(exponent));
        if (exponent < 0) out.insert(out.rfind("exp(") + 4, "-");
        out += ")";
        continue;
      }
      const bool wrap = atom->isFold() && (mono->factors.size() > 1 || exponent != 1);
      if (wrap) out += "(";
      write(atom);
      if (wrap) out += ")";
      const Rational shown = divides ? Rational(-exponent) : exponent;
      if (shown != 1) out += "^" + (shown.get_den() == 1 ? shown.get_str() : "(" + shown.get_str() + ")");
    }
  }

  /// The mark "this element of a cut node is defined", if the term is one.
  AtomRef definedMark(PolyRef p) const {
    const AtomRef atom = p->asAtom();
    const bool marks = atom != nullptr && atom->kind == AtomKind::element &&
                       c_.arena.source(atom->source).name.starts_with(definedPrefix);
    return marks ? atom : nullptr;
  }

  void element(const Source& source, const std::vector<IntRef>& indices) {
    std::string_view name = source.name;
    if (name.starts_with(definedPrefix)) name.remove_prefix(definedPrefix.size());
    out += name;
    bool first = true;
    for (std::size_t i = 0; i < indices.size(); ++i) {
      // The axes of extent 1 of what the program computes itself say nothing.
      if (source.key != nullptr && i < source.shape.size() && source.shape[i] == c_.arena.oneInt) continue;
      out += first ? "[" : ", ";
      first = false;
      write(indices[i]);
    }
    if (!first) out += "]";
  }

  void parenthesised(PolyRef p) {
    const bool plain = p->asAtom() != nullptr;
    if (!plain) out += "(";
    write(p);
    if (!plain) out += ")";
  }

  void call(const std::string& name, PolyRef p) {
    out += name + "(";
    write(p);
    out += ")";
  }

  template <class T>
  void condition(T term, const char* relation) {
    out += "[";
    write(term);
    out += relation;
    out += "]";
  }

  void fold(const std::string& name, AtomRef atom) {
    out += name + "_{";
    bool first = true;
    for (const IntAtomRef variable : atom->bound) {
      if (!first) out += ", ";
      first = false;
      names_.bind(variable);
      write(variable);
      out += "<";
      write(variable->extent);
    }
    if (atom->guard != nullptr) {
      out += " | ";
      write(atom->guard);
    }
    out += "} ";
    if (atom->mono != nullptr) {
      write(atom->mono);
    } else {
      parenthesised(atom->poly);
    }
    names_.release(atom->bound.size());
  }

  const Calculus& c_;
  Names names_;
};

std::string cutTo(std::string text, std::size_t limit) {
  if (text.size() <= limit) return text;
  text.resize(limit);
  return text + " ...";
}

}  // namespace

std::string text(const Calculus& c, PolyRef p) {
  Writer writer(c, p);
  writer.write(p);
  return writer.out;
}

std::string text(const Calculus& c, AtomRef atom) {
  Writer writer(c, atom);
  writer.write(atom);
  return writer.out;
}

std::string text(const Calculus& c, IntRef term) {
  Writer writer(c, term);
  writer.write(term);
  return writer.out;
}

std::string conditionText(const Calculus& c, PolyRef p) {
  Writer writer(c, p);
  writer.writeCondition(p);
  return cutTo(std::move(writer.out), 200);
}

std::string shortText(const Calculus& c, PolyRef p, std::size_t limit) {
  return cutTo(text(c, p), limit);
}

}  // namespace nuscope::proof
