#include "views/proof/formula_diff.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace nuscope::views {

namespace {

using semantics::Formula;
using Kind = Formula::Kind;

bool isAtom(const Formula& f) {
  return f.kind == Kind::number || f.kind == Kind::symbol || f.kind == Kind::subscript;
}

/// An occurrence of an atom: what it stands under (in any order), and the group of factors around it.
struct Occurrence {
  const Formula* piece = nullptr;
  std::string context;
};

/// By the atom's text.
using Occurrences = std::map<std::string, std::vector<Occurrence>>;

void collect(const Formula& f, std::vector<std::string>& path, Occurrences& into) {
  if (isAtom(f)) {
    std::vector<std::string> sorted = path;
    std::sort(sorted.begin(), sorted.end());
    std::string context;
    for (const std::string& each : sorted) context += each + "|";
    into[semantics::text(f)].push_back({&f, context});
    return;
  }
  for (std::size_t i = 0; i < f.parts.size(); ++i) {
    std::string label;
    switch (f.kind) {
      case Kind::bigOperator:
        if (i > 0) continue;  // the variable and its limit belong to the sign
        label = f.text + semantics::text(*f.parts[2]);
        break;
      case Kind::fraction:
        label = i == 1 ? "below" : "";
        break;
      case Kind::sum:
        label = "sum";
        break;
      case Kind::root:
        label = "root";
        break;
      case Kind::power:
        label = i == 1 ? "exponent" : "power";
        break;
      case Kind::function:
        label = f.text;
        break;
      case Kind::absolute:
        label = "abs";
        break;
      case Kind::floor:
        label = "floor";
        break;
      case Kind::cases:
        label = "cases";
        break;
      case Kind::relation:
        label = f.text;
        break;
      default:
        break;
    }
    if (!label.empty()) path.push_back(label);
    collect(*f.parts[i], path, into);
    if (!label.empty()) path.pop_back();
  }
}

int count(const Occurrences& all) {
  int n = 0;
  for (const auto& [text, list] : all) n += static_cast<int>(list.size());
  return n;
}

/// Occurrences of `own` without a partner of the same context in `other`.
std::vector<const Formula*> unmatched(const std::vector<Occurrence>& own,
                                      const std::vector<Occurrence>& other) {
  std::multiset<std::string> contexts;
  for (const Occurrence& each : other) contexts.insert(each.context);
  std::vector<const Formula*> rest;
  for (const Occurrence& each : own) {
    const auto found = contexts.find(each.context);
    if (found == contexts.end()) {
      rest.push_back(each.piece);
    } else {
      contexts.erase(found);
    }
  }
  return rest;
}

/// Products inside products: the groups that brackets show. Text of the factors -> the factor pieces.
void groups(const Formula& f, std::map<std::set<std::string>, std::vector<const Formula*>>& into) {
  if (f.kind == Kind::product) {
    for (const auto& part : f.parts) {
      if (part->kind != Kind::product) continue;
      std::set<std::string> names;
      std::vector<const Formula*> pieces;
      for (const auto& factor : part->parts) {
        names.insert(semantics::text(*factor));
        pieces.push_back(factor.get());
      }
      into.emplace(names, pieces);
    }
  }
  for (const auto& part : f.parts) groups(*part, into);
}

/// (x g) w against x (g w): g is what both inner groups hold.
void markRegrouped(const Formula& left, const Formula& right, FormulaDifference& result) {
  std::map<std::set<std::string>, std::vector<const Formula*>> a;
  std::map<std::set<std::string>, std::vector<const Formula*>> b;
  groups(left, a);
  groups(right, b);
  for (const auto& [names, pieces] : a) {
    if (b.contains(names)) continue;
    for (const auto& [others, otherPieces] : b) {
      if (a.contains(others)) continue;
      const auto shared = [](const std::vector<const Formula*>& list, const std::set<std::string>& in,
                             FormulaMarks& marks) {
        for (const Formula* piece : list) {
          if (in.contains(semantics::text(*piece))) marks.emplace(piece, MathInk::moved);
        }
      };
      shared(pieces, others, result.left);
      shared(otherPieces, names, result.right);
    }
  }
}

}  // namespace

FormulaDifference difference(const Formula& left, const Formula& right) {
  Occurrences a;
  Occurrences b;
  std::vector<std::string> path;
  collect(left, path, a);
  collect(right, path, b);
  FormulaDifference result;
  static const std::vector<Occurrence> none;
  const auto mark = [](const Occurrences& own, const Occurrences& other, MathInk alone, FormulaMarks& marks) {
    for (const auto& [text, list] : own) {
      const auto found = other.find(text);
      const bool missing = found == other.end();
      for (const Formula* piece : unmatched(list, missing ? none : found->second)) {
        marks.emplace(piece, missing ? alone : MathInk::moved);
      }
    }
  };
  mark(a, b, MathInk::removed, result.left);
  mark(b, a, MathInk::added, result.right);
  if (result.empty()) markRegrouped(left, right, result);
  const auto most = [](const FormulaMarks& marks, const Occurrences& all) {
    return count(all) > 2 && static_cast<int>(marks.size()) * 3 > count(all) * 2;
  };
  if (most(result.left, a) && most(result.right, b)) return {};
  return result;
}

}  // namespace nuscope::views
