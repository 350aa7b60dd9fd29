#include "core/proof/math_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace nuscope::proof {
namespace {

constexpr std::size_t limitOfText = 4000;

class Writer {
 public:
  explicit Writer(const Calculus& c) : c_(c) {}
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
        out += atom->name + (atom->boundLevel > 0 ? fmt::format("{}{}", atom->boundLevel,
                                                                static_cast<char>('a' + atom->number % 26))
                                                  : std::to_string(atom->number));
        break;
      case IntAtom::Kind::quotient:
        out += "floor((";
        write(atom->numerator);
        out += ")/(";
        write(atom->denominator);
        out += "))";
        break;
      case IntAtom::Kind::element:
        out += c_.arena.source(atom->source).name;
        subscripts(atom->subscripts);
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
    for (const auto& [mono, coefficient] : p->terms) {
      sign(coefficient < 0, first);
      first = false;
      term(mono, abs(coefficient));
      if (out.size() > limitOfText) return;
    }
  }

  void write(MonoRef mono) { term(mono, 1); }

  void write(AtomRef atom) {
    switch (atom->kind) {
      case AtomKind::element:
        out += c_.arena.source(atom->source).name;
        subscripts(atom->subscripts);
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
        out += fmt::format("{}{}", atom->name, atom->number);
        break;
    }
  }

 private:
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

  void subscripts(const std::vector<IntRef>& indices) {
    if (indices.empty()) return;
    out += "[";
    for (std::size_t i = 0; i < indices.size(); ++i) {
      if (i > 0) out += ", ";
      write(indices[i]);
    }
    out += "]";
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
  }

  const Calculus& c_;
};

}  // namespace

std::string text(const Calculus& c, PolyRef p) {
  Writer writer(c);
  writer.write(p);
  return writer.out;
}

std::string text(const Calculus& c, AtomRef atom) {
  Writer writer(c);
  writer.write(atom);
  return writer.out;
}

std::string text(const Calculus& c, IntRef term) {
  Writer writer(c);
  writer.write(term);
  return writer.out;
}

std::string shortText(const Calculus& c, PolyRef p, std::size_t limit) {
  std::string result = text(c, p);
  if (result.size() <= limit) return result;
  result.resize(limit);
  return result + " ...";
}

}  // namespace nuscope::proof
