#include "views/proof/proof_case.h"

#include <QRegularExpression>
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "core/language/parse.h"
#include "core/language/printer.h"
#include "core/nugraph/changed_pair.h"
#include "core/proof/weakest_assert.h"
#include "core/semantics/formula.h"
#include "core/tensor/dtype.h"
#include "views/proof/formula_diff.h"
#include "views/text.h"

namespace nuscope::views {

namespace {

QString tr(const char* text) {
  return QString::fromUtf8(text);
}

/// The most names that are explained below the two sides.
constexpr std::size_t nameLimit = 6;

QString extentsWords(const tensor::Extents& extents) {
  QStringList parts;
  for (const auto& [name, extent] : extents) parts << qs(name) + QStringLiteral(" = ") + grouped(extent);
  return parts.join(QStringLiteral(", "));
}

std::size_t differingResult(const ProofCase& c) {
  if (c.proof && c.proof->counterexample && c.proof->counterexample->result < c.left.results.size()) {
    return c.proof->counterexample->result;
  }
  for (std::size_t i = 0; i < c.left.results.size() && i < c.right.results.size(); ++i) {
    if (c.left.results[i] != c.right.results[i]) return i;
  }
  return 0;
}

}  // namespace

std::optional<ProofCase> caseOfStep(const nugraph::NuGraph& graph, int id) {
  const auto& steps = graph.steps();
  const auto step = std::find_if(steps.begin(), steps.end(), [id](const auto& s) { return s.id == id; });
  if (step == steps.end()) return std::nullopt;
  ProofCase result;
  result.title = qs(step->what);
  result.place = tr("variant %1 to variant %2").arg(step->from).arg(step->to);
  result.left = graph.program(step->from);
  result.right = graph.program(step->to);
  result.proof = step->proof;
  result.recorded = step->recorded;
  result.refines = step->proof->mode == proof::Mode::refines;
  return result;
}

std::optional<ProofCase> caseOfRefused(const nugraph::NuGraph& graph, int id) {
  const auto& list = graph.refused();
  const auto refused = std::find_if(list.begin(), list.end(), [id](const auto& r) { return r.id == id; });
  if (refused == list.end()) return std::nullopt;
  ProofCase result;
  result.title = qs(refused->what);
  result.place = tr("from variant %1").arg(refused->from);
  result.left = graph.program(refused->from);
  result.right = graph.root();
  result.right.results = refused->results;
  result.proof = refused->proof;
  result.recorded = refused->recorded;
  result.refines = refused->proof->mode == proof::Mode::refines;
  return result;
}

QString prettyRelations(QString text) {
  return text.replace(QStringLiteral(">="), QStringLiteral("\u2265"))
      .replace(QStringLiteral("<="), QStringLiteral("\u2264"))
      .replace(QStringLiteral("!="), QStringLiteral("\u2260"));
}

QString verdictText(const proof::Proof& proof, const tensor::Program& program, bool recorded) {
  const bool integers = !program.results.empty() &&
                        std::all_of(program.results.begin(), program.results.end(), [](tensor::NodeRef node) {
                          return tensor::sort(node->dtype) == tensor::Sort::integer;
                        });
  const QString numbers = integers ? tr("over the unbounded integers") : tr("over the reals");
  switch (proof.verdict) {
    case proof::Verdict::proved: {
      const QString range =
          proof.holdsFor.empty() ? tr("all extents \u2265 1") : prettyRelations(qs(proof.holdsFor));
      const QString what = tr("%1 for %2").arg(numbers, range);
      return recorded ? tr("Recorded as proved %1; not replayed here").arg(what) : tr("Proved %1").arg(what);
    }
    case proof::Verdict::refuted: {
      QString text = recorded ? tr("Recorded as refuted") : tr("Refuted");
      if (proof.counterexample && !proof.counterexample->extents.empty())
        text += tr(" at ") + extentsWords(proof.counterexample->extents);
      return text;
    }
    case proof::Verdict::unknown:
      break;
  }
  const QString why = qs(proof.reason);
  return (proof.cutByTime ? tr("Not decided in time") : tr("Not decided")) +
         (why.isEmpty() ? QString() : QStringLiteral(": ") + why);
}

Mark verdictMark(const proof::Proof& proof) {
  return markOf(proof.verdict);
}

std::vector<MathLine> caseMath(const ProofCase& c) {
  if (c.left.results.empty() || c.right.results.empty()) return {};
  const std::size_t result =
      std::min(differingResult(c), std::min(c.left.results.size(), c.right.results.size()) - 1);
  const auto whole = std::pair(c.left.results[result], c.right.results[result]);
  auto pair = c.left.store == c.right.store ? nugraph::changedPair(whole.first, whole.second) : whole;
  semantics::Formulas left = semantics::formulas(c.left, pair.first);
  semantics::Formulas right = semantics::formulas(c.right, pair.second);
  if (pair != whole && semantics::text(*left.result.right) == semantics::text(*right.result.right)) {
    // Written alike (x times 1, say): the whole says more than the place.
    pair = whole;
    left = semantics::formulas(c.left, pair.first);
    right = semantics::formulas(c.right, pair.second);
  }
  const bool inside = pair.first != whole.first;
  const FormulaDifference marks = difference(*left.result.right, *right.result.right);
  QString relation = QStringLiteral("=");
  if (c.proof && c.proof->verdict == proof::Verdict::refuted) relation = QStringLiteral("\u2260");
  if (!c.proof || c.proof->verdict == proof::Verdict::unknown) relation = QStringLiteral("\u225F");
  if (inside && relation == QLatin1String("=")) relation = QStringLiteral("\u2192");
  std::vector<MathLine> lines;
  MathLine first;
  first.formula = left.result.right;
  first.marks = marks.left;
  lines.push_back(std::move(first));
  MathLine second;
  second.relation = relation;
  second.formula = right.result.right;
  second.marks = marks.right;
  lines.push_back(std::move(second));
  std::unordered_set<std::string> known;
  std::size_t hidden = 0;
  for (const auto* side : {&left, &right}) {
    for (auto d = side->where.rbegin(); d != side->where.rend(); ++d) {
      if (!known.insert(semantics::text(*d)).second) continue;
      if (known.size() > nameLimit) {
        ++hidden;
        continue;
      }
      MathLine line;
      line.left = d->left;
      line.formula = d->right;
      line.muted = true;
      lines.push_back(std::move(line));
    }
  }
  const auto note = [&](const QString& words) {
    MathLine line;
    line.words = words;
    line.muted = true;
    lines.push_back(std::move(line));
  };
  if (hidden > 0) note(tr("and %1 more names").arg(hidden));
  if (inside) {
    const std::string name = result < c.left.resultNames.size() ? c.left.resultNames[result] : "result";
    note(tr("inside %1; everything around it is the same on both sides").arg(qs(name)));
  }
  return lines;
}

semantics::Partings casePartings(const ProofCase& c, const Progress& progress) {
  const proof::Counterexample& at = *c.proof->counterexample;
  constexpr std::size_t mostValues = 200;
  return semantics::partings(c.left, c.right, at.extents, at.inputs, mostValues, progress);
}

namespace {

/// "N = x.shape[1]" for a dimension that an assert names; empty: it names a parameter or nothing.
QString shapeLine(const tensor::Program& program, const std::string& dimension) {
  for (const tensor::Parameter& parameter : program.parameters) {
    for (std::size_t axis = 0; axis < parameter.node->shape.size(); ++axis) {
      if (parameter.node->shape[axis].text() == dimension)
        return QStringLiteral("%1 = %2.shape[%3]").arg(qs(dimension), qs(parameter.name)).arg(axis);
    }
  }
  return {};
}

}  // namespace

std::vector<Condition> caseConditions(const ProofCase& c, proof::SolverPool* solvers,
                                      const Progress& progress) {
  const auto store = std::make_shared<tensor::NodeStore>();
  const auto anew = [&](const tensor::Program& program) {
    return language::parse(language::print(program, program.results).text, store).program;
  };
  const auto left = anew(c.left);
  const auto right = anew(c.right);
  if (!left || !right) return {};
  proof::AssertOptions options;
  options.prove.mode = c.refines ? proof::Mode::refines : proof::Mode::equal;
  options.prove.solvers = solvers;
  std::vector<Condition> result;
  for (const proof::ConditionalProof& found :
       proof::weakestAsserts(*left, *right, *c.proof, options, progress).found) {
    Condition condition;
    condition.words = qs(found.words);
    condition.holds = verdictText(found.proof, c.left, false);
    for (const std::string& dimension : c.left.dimensions) {
      const QRegularExpression word(
          QStringLiteral("\\b%1\\b").arg(QRegularExpression::escape(qs(dimension))));
      const bool named = std::any_of(found.asserts.begin(), found.asserts.end(),
                                     [&](const std::string& text) { return qs(text).contains(word); });
      if (!named) continue;
      if (const QString line = shapeLine(c.left, dimension); !line.isEmpty()) condition.lines << line;
    }
    for (const std::string& text : found.asserts) condition.lines << QStringLiteral("assert ") + qs(text);
    result.push_back(std::move(condition));
  }
  return result;
}

QString commandText(const ProofCase& c) {
  const auto file = [](const QString& name, const tensor::Program& program) {
    return QStringLiteral("cat > %1 <<'END'\n%2END\n")
        .arg(name, qs(language::print(program, program.results).text));
  };
  return file(QStringLiteral("left.py"), c.left) + file(QStringLiteral("right.py"), c.right) +
         QStringLiteral("nuscope prove%1 left.py right.py\n")
             .arg(c.refines ? QStringLiteral(" --refines") : QString());
}

QString smtText(const proof::Proof& proof) {
  QStringList parts;
  int number = 0;
  for (const proof::ProofStep& step : proof.steps) {
    if (step.smt.empty()) continue;
    QString text = qs(step.text);
    text.replace(QLatin1Char('\n'), QLatin1Char(' '));
    parts << QStringLiteral("; obligation %1: %2\n%3").arg(++number).arg(text, qs(step.smt).trimmed());
  }
  if (parts.isEmpty()) return {};
  return parts.join(QStringLiteral("\n(reset)\n")) + QLatin1Char('\n');
}

}  // namespace nuscope::views
