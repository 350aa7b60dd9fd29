// Candidates, the kernel of the fastest, and where it all ran.
#include <fmt/format.h>

#include <algorithm>

#include "core/machine/target.h"
#include "core/sweep/report_parts.h"

namespace nuscope::sweep {

namespace {

constexpr std::size_t mostRows = 300;

const char* stateClass(CandidateState state) {
  switch (state) {
    case CandidateState::measured:
      return "proved";
    case CandidateState::wrong:
    case CandidateState::failed:
    case CandidateState::crashed:
      return "refuted";
    case CandidateState::timedOut:
    case CandidateState::skipped:
      return "unknown";
    default:
      return "muted";
  }
}

std::string gateText(const Measurement& measurement) {
  const GateRecord& gate = measurement.gate;
  if (gate.worst < 0 || gate.worst >= static_cast<int>(gate.draws.size())) return {};
  return fmt::format("{:.1e}", gate.draws[static_cast<std::size_t>(gate.worst)].error);
}

std::string rowHtml(const ReportSource::Row& row, std::size_t rank, double slowest, bool baseline) {
  const CandidateRecord& c = row.candidate;
  const bool timed = c.state == CandidateState::measured && row.measurement;
  std::string bar;
  if (timed && slowest > 0)
    bar = fmt::format("<span class=\"bar\" style=\"width:{:.1f}px\"></span>",
                      120 * row.measurement->median / slowest);
  return fmt::format(
      "<tr{}><td class=\"n\">{}</td><td>{}</td><td class=\"mono\">{}</td><td class=\"n\">{}</td><td "
      "class=\"n\">{}</td><td class=\"n\">{}</td>"
      "<td>{}</td><td class=\"n\">{}</td><td><span class=\"{} wrap\">{}</span>{}</td></tr>\n",
      baseline ? " class=\"baseline\"" : "",
      baseline ? ""
      : timed  ? std::to_string(rank)
               : "",
      baseline ? escapeHtml(c.label)
               : fmt::format("{} <span class=\"muted\">{}</span>", escapeHtml(c.label), c.variant),
      escapeHtml(parametersText(c.parameters)),
      c.modelledSeconds > 0 ? fmt::format("{:.4g}", c.modelledSeconds * 1e3) : "",
      timed ? fmt::format("{:.4g}", row.measurement->median * 1e3) : "",
      timed ? fmt::format("\u00B1{:.2g}", (row.measurement->high - row.measurement->low) * 500) : "", bar,
      row.measurement ? gateText(*row.measurement) : "",
      c.kind == CandidateKind::foreign && c.state == CandidateState::measured ? "unknown"
                                                                              : stateClass(c.state),
      c.state == CandidateState::measured ? standingText(c) : std::string(text(c.state)),
      c.reason.empty() ? "" : "<br><span class=\"muted\">" + escapeHtml(c.reason) + "</span>");
}

std::string joinCommand(const std::vector<std::string>& arguments) {
  std::string out;
  for (const std::string& argument : arguments) {
    const bool plain =
        !argument.empty() &&
        argument.find_first_not_of(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=+,:@%") == std::string::npos;
    std::string quoted = argument;
    if (!plain) {
      for (auto at = quoted.find('\''); at != std::string::npos; at = quoted.find('\'', at + 4))
        quoted.replace(at, 1, "'\\''");
      quoted = "'" + quoted + "'";
    }
    out += (out.empty() ? "" : " ") + quoted;
  }
  return out;
}

}  // namespace

std::string reportSweep(const ReportSource& source, const ReportPictures& pictures) {
  std::string out = "<h2 id=\"candidates\">Candidates</h2>\n";
  if (!source.sweep) return out + "<p class=\"muted\">No sweep was run yet.</p>\n";
  int measured = 0;
  int wrong = 0;
  int failed = 0;
  int timedOut = 0;
  for (const auto& row : source.rows) {
    measured += row.candidate.state == CandidateState::measured ? 1 : 0;
    wrong += row.candidate.state == CandidateState::wrong ? 1 : 0;
    failed += row.candidate.state == CandidateState::failed || row.candidate.state == CandidateState::crashed
                  ? 1
                  : 0;
    timedOut += row.candidate.state == CandidateState::timedOut ? 1 : 0;
  }
  std::string extents;
  for (const auto& [name, extent] : source.sweep->extents)
    extents += fmt::format("{}{} = {}", extents.empty() ? "" : ", ", escapeHtml(name), extent);
  out += fmt::format(
      "<p>{} candidates at {} with {} thread{}: {} measured, {} wrong, {} failed, {} timed out. Times are "
      "medians with a 95 % interval; each measured "
      "candidate passed the numeric gate against float64.</p>\n",
      source.rows.size(), extents, source.sweep->threads, source.sweep->threads == 1 ? "" : "s", measured,
      wrong, failed, timedOut);
  out += reportPicture(pictures, "latency", "The fastest candidates with every run; lines are baselines.");
  double slowest = 0;
  for (const auto* list : {&source.rows, &source.baselines}) {
    for (const auto& row : *list) {
      if (row.candidate.state == CandidateState::measured && row.measurement)
        slowest = std::max(slowest, row.measurement->median);
    }
  }
  out +=
      "<div class=\"scroll\"><table><thead><tr><th class=\"n\">#</th><th>Variant</th><th>Parameters</th><th "
      "class=\"n\">Modelled ms</th><th class=\"n\">Median ms</th>"
      "<th class=\"n\">95 %</th><th></th><th class=\"n\">Worst "
      "error</th><th>State</th></tr></thead><tbody>\n";
  for (const auto& row : source.baselines) out += rowHtml(row, 0, slowest, true);
  std::size_t shown = 0;
  for (const auto& row : source.rows) {
    if (++shown > mostRows) break;
    out += rowHtml(row, shown, slowest, false);
  }
  out += "</tbody></table></div>\n";
  if (source.rows.size() > mostRows)
    out += fmt::format("<p class=\"muted\">{} more candidates are in the study.</p>\n",
                       source.rows.size() - mostRows);
  return out;
}

std::string reportKernel(const ReportSource& source, const Study& study) {
  std::string out = "<h2 id=\"kernel\">Kernel</h2>\n";
  const ReportSource::Row* best = source.best();
  if (best == nullptr) return out + "<p class=\"muted\">No candidate passed yet.</p>\n";
  const auto kernel = study.kernelText(best->candidate.kernel);
  out +=
      fmt::format("<p>Candidate {}: {} <span class=\"mono\">{}</span></p>\n", best->candidate.id,
                  escapeHtml(best->candidate.label), escapeHtml(parametersText(best->candidate.parameters)));
  out += kernel ? fmt::format("<pre>{}</pre>\n", escapeHtml(*kernel))
                : std::string("<p class=\"muted\">Its text is not in the study.</p>\n");
  try {
    std::vector<std::string> command = machine::loadTarget(source.sweep->target).compiler;
    for (const char* argument : {"kernel.cpp", "-o", "kernel.so"}) command.emplace_back(argument);
    out += fmt::format("<h3>Compile command</h3>\n<pre>{}</pre>\n", escapeHtml(joinCommand(command)));
  } catch (const std::exception& error) {
    out += fmt::format("<p class=\"muted\">The compile command is not known here: {}</p>\n",
                       escapeHtml(error.what()));
  }
  return out;
}

std::string reportEnvironment(const ReportSource& source) {
  std::string out = "<h2 id=\"environment\">Environment</h2>\n<div class=\"scroll\"><table><tbody>\n";
  const auto line = [&](const std::string& name, const std::string& value) {
    if (!value.empty())
      out += fmt::format("<tr><td class=\"muted\">{}</td><td>{}</td></tr>\n", escapeHtml(name),
                         escapeHtml(value));
  };
  line("Nuscope", source.revision.version);
  line("Program", source.revision.file.empty() ? source.revision.name : source.revision.file);
  line("Revision", fmt::format("{} of {}", source.revision.id, source.revision.created));
  if (source.sweep) {
    const SweepRecord& sweep = *source.sweep;
    line("Device", sweep.device);
    line("Target", sweep.target);
    line("Toolchain", sweep.toolchain);
    line("Threads", std::to_string(sweep.threads));
    line("Budget", sweep.budget);
    line("Seed", std::to_string(sweep.seed));
    line("Started", sweep.started);
    line("Ended", sweep.ended);
    for (const auto& [name, value] : sweep.environment) line(name, value);
  }
  out += "</tbody></table></div>\n";
  if (source.sweep) {
    const std::string file =
        source.revision.file.empty() ? source.revision.name + ".py" : source.revision.file;
    out += fmt::format(
        "<h3>Repeat it</h3>\n<pre>{}</pre>\n",
        escapeHtml(fmt::format(
            "nuscope explore {0}\nnuscope sweep {0} --device host --shape {1} --budget {2} --threads {3}",
            file, extentsText(source.sweep->extents), source.sweep->budget, source.sweep->threads)));
  }
  return out;
}

}  // namespace nuscope::sweep
