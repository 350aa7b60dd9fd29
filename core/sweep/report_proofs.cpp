// Variants, their steps with proofs, and what was refused.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/language/printer.h"
#include "core/nugraph/changed_pair.h"
#include "core/semantics/formula.h"
#include "core/sweep/mathml.h"
#include "core/sweep/report_parts.h"

namespace nuscope::sweep {

namespace {

/// Above these the rest is counted, not written: the file is to be handed out.
constexpr std::size_t mostSteps = 120;
constexpr std::size_t mostRefused = 60;
constexpr std::size_t mostNames = 6;
constexpr std::int64_t mostCells = 8;

std::string relations(std::string text) {
  for (const auto& [from, to] : {std::pair(">=", "\u2265"), std::pair("<=", "\u2264")}) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + 1))
      text.replace(at, 2, to);
  }
  return text;
}

std::string capitalised(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

std::string verdictLine(const proof::Proof& proof, const tensor::Program& program) {
  const bool integers = std::all_of(program.results.begin(), program.results.end(), [](tensor::NodeRef node) {
    return tensor::sort(node->dtype) == tensor::Sort::integer;
  });
  const std::string numbers = integers ? "over the unbounded integers" : "over the reals";
  switch (proof.verdict) {
    case proof::Verdict::proved:
      return fmt::format("<span class=\"proved wrap\">Proved {} for {}</span>", numbers,
                         escapeHtml(relations(proof.holdsFor.empty() ? "all extents >= 1" : proof.holdsFor)));
    case proof::Verdict::refuted:
      return "<span class=\"refuted\">Refuted</span>";
    case proof::Verdict::unknown:
      break;
  }
  return fmt::format("<span class=\"unknown wrap\">Not decided: {}</span>", escapeHtml(proof.reason));
}

/// Both sides of the first result that differs, at the innermost pair of nodes, and the names they use.
std::string bothSides(const tensor::Program& left, const tensor::Program& right, const proof::Proof& proof) {
  std::size_t result = proof.counterexample ? proof.counterexample->result : 0;
  if (!proof.counterexample) {
    while (result + 1 < left.results.size() && left.results[result] == right.results[result]) ++result;
  }
  if (result >= left.results.size() || result >= right.results.size()) return {};
  const auto [a, b] = nugraph::changedPair(left.results[result], right.results[result]);
  const bool inside = a != left.results[result];
  try {
    const semantics::Formulas x = semantics::formulas(left, a);
    const semantics::Formulas y = semantics::formulas(right, b);
    const char* relation = proof.verdict == proof::Verdict::proved    ? (inside ? "\u2192" : "=")
                           : proof.verdict == proof::Verdict::refuted ? "\u2260"
                                                                      : "\u225F";
    std::string out = "<div class=\"math\">" + mathmlLine(nullptr, "", *x.result.right) +
                      mathmlLine(nullptr, relation, *y.result.right) + "</div>";
    std::set<std::string> known;
    std::string names;
    for (const auto* side : {&x, &y}) {
      for (auto d = side->where.rbegin(); d != side->where.rend(); ++d) {
        if (known.insert(semantics::text(*d)).second && known.size() <= mostNames)
          names += mathmlLine(d->left.get(), "=", *d->right);
      }
    }
    if (known.size() > mostNames)
      names += fmt::format("<p class=\"muted\">and {} more names</p>", known.size() - mostNames);
    return names.empty() ? out : out + "<div class=\"where\">" + names + "</div>";
  } catch (const std::exception& error) {
    return fmt::format("<p class=\"muted\">The two sides cannot be written as formulas: {}</p>",
                       escapeHtml(error.what()));
  }
}

std::string steps(const proof::Proof& proof) {
  if (proof.steps.empty() && proof.definedness.empty()) return {};
  std::string out = fmt::format("<details><summary>{} line{} of proof</summary>", proof.steps.size(),
                                proof.steps.size() == 1 ? "" : "s");
  for (const std::string& condition : proof.definedness)
    out += fmt::format("<p>Defined: <code>{}</code></p>", escapeHtml(relations(condition)));
  for (const proof::ProofStep& step : proof.steps) {
    out +=
        fmt::format("<div style=\"margin-left:{}em\"><p><b>{}</b> <span class=\"muted\">{}</span></p>",
                    1.2 * std::min(step.depth, 20), escapeHtml(step.lemma), escapeHtml(relations(step.text)));
    if (!step.before.empty()) out += fmt::format("<p><code>{}</code></p>", escapeHtml(step.before));
    if (!step.after.empty()) out += fmt::format("<p><code>\u21D2 {}</code></p>", escapeHtml(step.after));
    if (!step.smt.empty())
      out += fmt::format("<details><summary>SMT-LIB, {:.3g} ms</summary><pre>{}</pre></details>",
                         step.milliseconds, escapeHtml(step.smt));
    out += "</div>";
  }
  return out + "</details>";
}

std::string valueText(double value) {
  if (std::isnan(value)) return "undefined";
  if (std::isinf(value)) return value < 0 ? "\u2212\u221E" : "\u221E";
  return fmt::format("{:.6g}", value);
}

std::string tensor(const std::string& name, const semantics::TensorValue& value,
                   const std::vector<std::int64_t>* index, const std::string& text) {
  const std::int64_t columns = value.shape.empty() ? 1 : std::max<std::int64_t>(1, value.shape.back());
  const auto count = static_cast<std::int64_t>(value.values.size());
  std::int64_t marked = -1;
  if (index != nullptr && index->size() == value.shape.size()) {
    marked = 0;
    for (std::size_t i = 0; i < index->size(); ++i) marked = marked * value.shape[i] + (*index)[i];
  }
  std::string out =
      fmt::format("<div class=\"tensor\"><span>{}</span><table class=\"mono\">", escapeHtml(name));
  for (std::int64_t row = 0; row < std::min(count / columns, mostCells); ++row) {
    out += "<tr>";
    for (std::int64_t column = 0; column < std::min(columns, mostCells); ++column) {
      const std::int64_t at = row * columns + column;
      const bool here = at == marked;
      const std::string cell =
          here && !text.empty() ? text : valueText(value.values[static_cast<std::size_t>(at)]);
      out += fmt::format("<td{}>{}</td>", here ? " class=\"differs\"" : "", escapeHtml(cell));
    }
    out += "</tr>";
  }
  out += "</table>";
  if (count / columns > mostCells || columns > mostCells)
    out += fmt::format("<span>first {} rows and columns</span>", mostCells);
  return out + "</div>";
}

std::string counterexample(const proof::Counterexample& c, const tensor::Program& program) {
  std::string out;
  std::string extents;
  for (const auto& [name, extent] : c.extents)
    extents += fmt::format("{}{} = {}", extents.empty() ? "" : ", ", escapeHtml(name), extent);
  if (!extents.empty()) out += fmt::format("<p>At {}:</p>", extents);
  out += "<div class=\"tensors\">";
  for (const tensor::Parameter& parameter : program.parameters) {
    const auto found = c.inputs.find(parameter.name);
    if (found != c.inputs.end()) out += tensor(parameter.name, found->second, nullptr, {});
  }
  out += tensor("left", c.left, &c.index, c.leftText) + tensor("right", c.right, &c.index, c.rightText) +
         "</div>";
  return out;
}

}  // namespace

std::string reportVariants(const ReportSource& source, const ReportPictures& pictures) {
  std::string out = "<h2 id=\"variants\">Variants</h2>\n";
  if (!source.graph) return out + "<p class=\"muted\">The study holds no variants.</p>\n";
  std::map<int, const ReportSource::Row*> fastest;
  for (const auto& row : source.rows) {
    if (row.candidate.state == CandidateState::measured && row.measurement)
      fastest.emplace(row.candidate.variant, &row);
  }
  out += reportPicture(pictures, "derivation",
                       "How the variants follow from the program; every edge is a proved step.");
  out +=
      "<div class=\"scroll\"><table><thead><tr><th class=\"n\">Variant</th><th>How</th><th "
      "class=\"n\">From</th><th>Stage</th><th class=\"n\">Fastest, measured</th></tr></thead><tbody>\n";
  for (const nugraph::Variant& variant : source.graph->variants()) {
    const auto found = fastest.find(variant.id);
    out += fmt::format(
        "<tr><td class=\"n\">{}</td><td>{}</td><td class=\"n\">{}</td><td>{}</td><td "
        "class=\"n\">{}</td></tr>\n",
        variant.id, escapeHtml(capitalised(variant.title)),
        variant.parent < 0 ? "" : std::to_string(variant.parent), nugraph::text(variant.stage),
        found == fastest.end() ? "" : durationText(found->second->measurement->median));
  }
  out += "</tbody></table></div>\n";
  for (const std::string& cut : source.graph->cuts())
    out += fmt::format("<p class=\"muted\">Limit: {}</p>\n", escapeHtml(cut));
  const ReportSource::Row* best = source.best();
  if (best != nullptr && best->candidate.variant > 0 &&
      best->candidate.variant < static_cast<int>(source.graph->variants().size())) {
    const int id = best->candidate.variant;
    const tensor::Program program = source.graph->program(id);
    out += fmt::format("<h3>The fastest: variant {}</h3>\n<pre>{}</pre>\n", id,
                       escapeHtml(language::print(program, program.results).text));
    out +=
        reportPicture(pictures, fmt::format("variant-{}", id), fmt::format("The graph of variant {}.", id));
  }
  return out;
}

std::string reportProofs(const ReportSource& source, const Progress& progress) {
  std::string out = "<h2 id=\"proofs\">Proofs</h2>\n";
  if (!source.graph)
    return out +
           "<p class=\"muted\">None.</p>\n<h2 id=\"refused\">Refused moves</h2>\n<p "
           "class=\"muted\">None.</p>\n";
  const nugraph::NuGraph& graph = *source.graph;
  out +=
      "<p class=\"muted\">Each step leads to a variant that is defined wherever the one before it is, and "
      "equal there. The proofs are as recorded in the study; "
      "<code>nuscope explore</code> makes them anew. They hold over the reals and say nothing of rounding: "
      "that is the gate's work.</p>\n";
  // The way to the winner first, then the others.
  std::vector<int> order;
  if (const ReportSource::Row* best = source.best();
      best != nullptr && best->candidate.variant < static_cast<int>(graph.variants().size())) {
    order = graph.derivation(best->candidate.variant);
  }
  const std::size_t toWinner = order.size();
  for (const nugraph::Step& step : graph.steps()) {
    if (std::find(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(toWinner), step.id) ==
        order.begin() + static_cast<std::ptrdiff_t>(toWinner)) {
      order.push_back(step.id);
    }
  }
  for (std::size_t i = 0; i < order.size() && i < mostSteps; ++i) {
    progress.check();
    progress.report(static_cast<double>(i) / static_cast<double>(order.size()), "writing proofs");
    const auto step = std::find_if(graph.steps().begin(), graph.steps().end(),
                                   [&](const auto& s) { return s.id == order[i]; });
    if (step == graph.steps().end()) continue;
    const tensor::Program left = graph.program(step->from);
    const tensor::Program right = graph.program(step->to);
    out += fmt::format(
        "<div class=\"proof\" id=\"step-{}\"><h3>{} <span class=\"muted\">variant {} to "
        "{}{}</span></h3>\n{}\n{}\n{}</div>\n",
        step->id, escapeHtml(capitalised(step->what)), step->from, step->to,
        i < toWinner ? ", on the way to the fastest" : "", verdictLine(*step->proof, left),
        bothSides(left, right, *step->proof), steps(*step->proof));
  }
  if (order.size() > mostSteps)
    out += fmt::format("<p class=\"muted\">{} more proved steps are in the study.</p>\n",
                       order.size() - mostSteps);
  out += "<h2 id=\"refused\">Refused moves</h2>\n";
  if (graph.refused().empty()) out += "<p class=\"muted\">None.</p>\n";
  for (std::size_t i = 0; i < graph.refused().size() && i < mostRefused; ++i) {
    progress.check();
    const nugraph::Refused& refused = graph.refused()[i];
    const tensor::Program left = graph.program(refused.from);
    tensor::Program right = left;
    right.results = refused.results;
    out +=
        fmt::format("<div class=\"proof\"><h3>{} <span class=\"muted\">from variant {}</span></h3>\n{}\n{}\n",
                    escapeHtml(capitalised(refused.what)), refused.from, verdictLine(*refused.proof, left),
                    bothSides(left, right, *refused.proof));
    if (refused.proof->counterexample) out += counterexample(*refused.proof->counterexample, left);
    if (!refused.proof->remaining.empty())
      out += fmt::format("<p>Left minus right: <code>{}</code></p>", escapeHtml(refused.proof->remaining));
    out += "</div>\n";
  }
  if (graph.refused().size() > mostRefused)
    out += fmt::format("<p class=\"muted\">{} more refused moves are in the study.</p>\n",
                       graph.refused().size() - mostRefused);
  return out;
}

}  // namespace nuscope::sweep
