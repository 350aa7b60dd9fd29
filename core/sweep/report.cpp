#include "core/sweep/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/nugraph/json.h"
#include "core/sweep/best_so_far.h"
#include "core/sweep/report_parts.h"

namespace nuscope::sweep {

std::string escapeHtml(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 8);
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        // Other control characters have no place in HTML.
        if (static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t') out += c;
    }
  }
  return out;
}

std::string durationText(double seconds) {
  if (!std::isfinite(seconds)) return "?";
  if (seconds < 1e-3) return fmt::format("{:.3g} \u00B5s", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} s", seconds);
}

const ReportSource::Row* ReportSource::best() const {
  return rows.empty() || rows[0].candidate.state != CandidateState::measured || !rows[0].measurement
             ? nullptr
             : &rows[0];
}

namespace {

ReportSource readSource(const Study& study, const Progress& progress) {
  ReportSource source;
  const auto latest = study.latestRevision();
  if (!latest) throw UserError("The study holds no program yet. Explore or sweep one into it first.");
  source.revision = *latest;
  if (const auto json = study.nuGraph(latest->id)) {
    Result<nugraph::NuGraph> graph = nugraph::fromJson(*json);
    if (graph) {
      source.graph = std::move(graph).value();
    } else {
      source.graphError = graph.refusal().message;
    }
  }
  progress.check();
  for (const SweepRecord& record : study.sweeps()) {
    if (record.revision == latest->id && (!source.sweep || record.id > source.sweep->id))
      source.sweep = record;
  }
  if (!source.sweep) return source;
  for (CandidateRecord& candidate : study.candidates(source.sweep->id)) {
    progress.check();
    ReportSource::Row row;
    if (candidate.measurement) row.measurement = study.measurement(*candidate.measurement);
    row.candidate = std::move(candidate);
    (row.candidate.kind == CandidateKind::emitted ? source.rows : source.baselines).push_back(std::move(row));
  }
  const int chosen = chosenBest(*source.sweep);
  const auto key = [chosen](const ReportSource::Row& row) {
    const bool timed = row.candidate.state == CandidateState::measured && row.measurement;
    const double modelled = row.candidate.modelledSeconds > 0 ? row.candidate.modelledSeconds : 1e300;
    return std::tuple(timed && row.candidate.id == chosen                 ? -1
                      : timed                                             ? 0
                      : row.candidate.state == CandidateState::enumerated ? 2
                                                                          : 1,
                      timed ? row.measurement->median : modelled, row.candidate.id);
  };
  for (auto* list : {&source.rows, &source.baselines}) {
    std::sort(list->begin(), list->end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  }
  return source;
}

}  // namespace

std::string reportStyle() {
  return R"(:root{--window:#f6f6f4;--surface:#fff;--line:#d9d9d6;--text:#1f2328;--muted:#656d76;--proved:#1a7f37;
--refuted:#c93c37;--unknown:#9a6700;--accent:#2f6fde;--provedfill:#e4f0e7;--refutedfill:#f9e8e7;--bar:#0072b2}
@media(prefers-color-scheme:dark){:root{--window:#1b1d20;--surface:#23262a;--line:#3a3e44;--text:#e4e6e8;--muted:#9aa2ab;
--proved:#4ac26b;--refuted:#f47067;--unknown:#d4a72c;--accent:#6cb6ff;--provedfill:#293f34;--refutedfill:#443234;--bar:#56b4e9}
.light{display:none}}@media(prefers-color-scheme:light),(prefers-color-scheme:no-preference){.dark{display:none}}
*{box-sizing:border-box}html{color-scheme:light dark}body{margin:0;background:var(--window);color:var(--text);
font:15px/1.5 Inter,system-ui,-apple-system,"Segoe UI",sans-serif}main{max-width:1080px;margin:0 auto;padding:28px 24px 80px}
h1{font-size:26px;line-height:1.25;margin:0 0 4px;font-weight:600}h2{font-size:19px;margin:44px 0 10px;font-weight:600}
h3{font-size:15.5px;margin:22px 0 4px;font-weight:600}p{margin:6px 0}.muted,.muted a{color:var(--muted)}
a{color:var(--accent)}nav{margin:14px 0 0;display:flex;gap:16px;flex-wrap:wrap}
section.card,pre,figure,.scroll{background:var(--surface);border:1px solid var(--line);border-radius:6px}
pre{padding:12px 14px;overflow:auto;margin:8px 0;max-height:520px}code,pre,td.n,.mono{font-family:"JetBrains Mono","DejaVu Sans Mono",
ui-monospace,monospace;font-size:12.5px;font-variant-numeric:tabular-nums}pre{line-height:1.45}figure{margin:8px 0;padding:10px;overflow:auto}
figcaption{color:var(--muted);font-size:13px}svg{max-width:100%;height:auto}.scroll{overflow:auto;max-height:560px;margin:8px 0}
table{border-collapse:collapse;width:100%;font-size:13.5px}th{position:sticky;top:0;background:var(--surface);text-align:left;
color:var(--muted);font-weight:400;border-bottom:1px solid var(--line);padding:5px 10px;white-space:nowrap}td{padding:4px 10px;border-bottom:1px solid
var(--line);vertical-align:top}tr:last-child td{border-bottom:0}td.n,th.n{text-align:right;white-space:nowrap}
.proved,.refuted,.unknown{font-weight:600;white-space:nowrap}.proved{color:var(--proved)}.refuted{color:var(--refuted)}.unknown{color:var(--unknown)}
.proved::before{content:"\2713\00a0"}.refuted::before{content:"\2717\00a0"}.unknown::before{content:"?\00a0"}.wrap{white-space:normal}
.proof{border-top:1px solid var(--line);padding:12px 0}.math{overflow-x:auto;padding:6px 0;font-size:17px}
math{font-family:"STIX Two Math","Latin Modern Math","DejaVu Math TeX Gyre",math,serif}math[display=block]{text-align:left;margin:4px 0}
.where math{font-size:14px;color:var(--muted)}.moved{background:var(--provedfill)}details{margin:4px 0}summary{cursor:pointer;color:var(--muted)}
.tensors{display:flex;flex-wrap:wrap;gap:18px;margin:8px 0}.tensor table{width:auto;border:1px solid var(--line)}.tensor td{border:1px solid
var(--line);text-align:center;padding:3px 9px}.tensor span{color:var(--muted);font-size:13px}td.differs{background:var(--refutedfill);
color:var(--refuted);outline:2px solid var(--refuted);outline-offset:-2px}.bar{background:var(--bar);height:9px;border-radius:2px;display:inline-block;
vertical-align:middle}tr.baseline td{color:var(--muted)}
@media print{body{background:#fff}pre,.scroll{max-height:none}details{display:block}})";
}

std::string reportPicture(const ReportPictures& pictures, const std::string& name,
                          const std::string& caption) {
  const auto found = pictures.byName.find(name);
  if (found == pictures.byName.end()) {
    if (pictures.whyMissing.empty()) return {};
    return fmt::format("<p class=\"muted\">No picture: {}</p>\n", escapeHtml(pictures.whyMissing));
  }
  return fmt::format(
      "<figure><div class=\"light\">{}</div><div "
      "class=\"dark\">{}</div><figcaption>{}</figcaption></figure>\n",
      found->second.light, found->second.dark, escapeHtml(caption));
}

std::string reportHead(const ReportSource& source) {
  std::string headline = escapeHtml(source.revision.name);
  std::string sentence;
  if (const auto* best = source.best()) {
    headline += ": " + durationText(best->measurement->median);
    int compared = 0;
    for (const auto& baseline : source.baselines) {
      if (!baseline.measurement || baseline.candidate.state != CandidateState::measured || compared == 2)
        continue;
      const bool noise = best->measurement->low <= baseline.measurement->high &&
                         baseline.measurement->low <= best->measurement->high;
      const std::string name = escapeHtml(baseline.candidate.label);
      const double ratio = baseline.measurement->median / best->measurement->median;
      headline +=
          (compared == 0 ? ", " : " and ") + (noise ? "as fast as " + name + " within noise"
                                                    : fmt::format("{:.2f} times as fast as {}", ratio, name));
      ++compared;
    }
  }
  if (source.graph) {
    const auto counts = source.graph->proofs();
    sentence = fmt::format("{} variants by {} proved steps; {} moves refuted, {} not decided.",
                           source.graph->variants().size(), source.graph->steps().size(), counts.refuted,
                           counts.unknown);
  }
  std::string out = fmt::format("<header><h1>{}</h1>\n<p class=\"muted\">{}</p>\n", headline, sentence);
  out +=
      "<nav><a href=\"#program\">Program</a><a href=\"#variants\">Variants</a><a "
      "href=\"#proofs\">Proofs</a><a href=\"#refused\">Refused moves</a>"
      "<a href=\"#candidates\">Candidates</a><a href=\"#kernel\">Kernel</a><a "
      "href=\"#environment\">Environment</a></nav></header>\n";
  return out;
}

std::string renderReport(const Study& study, const ReportPictures& pictures, const Progress& progress) {
  progress.report(0, "reading the study");
  const ReportSource source = readSource(study, progress);
  progress.report(0.3, "writing the report");
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width,initial-scale=1\">\n"
      "<meta name=\"generator\" content=\"Nuscope {}\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "img-src data:\">\n"
      "<title>{}</title>\n<style>{}</style></head><body><main>\n",
      escapeHtml(source.revision.version), escapeHtml(source.revision.name), reportStyle());
  out += reportHead(source);
  out += fmt::format("<h2 id=\"program\">Program</h2>\n<pre>{}</pre>\n", escapeHtml(source.revision.program));
  if (!source.graphError.empty())
    out += fmt::format("<p class=\"unknown wrap\">The recorded variants cannot be read: {}</p>\n",
                       escapeHtml(source.graphError));
  out += reportVariants(source, pictures);
  out += reportProofs(source, progress.part(0.3, 0.9));
  out += reportSweep(source, pictures);
  out += reportKernel(source, study);
  out += reportEnvironment(source);
  out += "</main></body></html>\n";
  progress.report(1, "done");
  return out;
}

}  // namespace nuscope::sweep
