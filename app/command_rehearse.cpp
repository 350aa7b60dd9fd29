// `nuscope rehearse`: how near to the best of an exhaustive sweep the default search would have come by
// measuring a share of it. Nothing is compiled or run: the times of the sweep answer, by their ratios to its
// yardstick. `--points` keeps what the search knows and those times in a small file, which is rehearsed as
// the study is.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/commands.h"
#include "core/base/diagnostics.h"
#include "core/base/files.h"
#include "core/nugraph/json.h"
#include "core/sweep/best_so_far.h"
#include "core/sweep/search.h"
#include "core/sweep/statistics.h"
#include "core/sweep/sweep.h"
#include "core/sweep/why.h"

namespace nuscope::app {
namespace {

using sweep::CandidateRecord;
using sweep::Study;

struct Options {
  std::vector<std::string> studies;
  double percent = 10;
  int seeds = 5;
  bool asJson = false;
  std::string points;
};

/// What there is to rehearse with: the candidates as the search knows them, and their times.
struct Truth {
  std::string program, extents;
  std::vector<sweep::SearchPoint> points;
  std::vector<double> seconds;  ///< by ratios to the sweep's yardstick; 0: not measured, or wrong
};

struct Row {
  std::string program, extents;
  std::size_t candidates = 0, measured = 0;
  double best = 0;  ///< seconds
  double rankCorrelation = 0;
  std::vector<double> reached;  ///< one a seed, sorted
};

sweep::SweepRecord exhaustiveSweep(const Study& study) {
  std::optional<sweep::SweepRecord> found;
  for (const sweep::SweepRecord& record : study.sweeps()) {
    const bool whole = record.budget == "exhaustive" && record.state == sweep::SweepState::finished;
    if (whole && (!found || record.id > found->id)) found = record;
  }
  if (!found) {
    throw UserError(
        fmt::format("{} holds no finished exhaustive sweep; make one with: nuscope sweep {} --exhaustive",
                    study.path(), study.path()));
  }
  return *found;
}

/// The model as it is now: a search today would start from that, not from what was modelled back then.
class PresentModel {
 public:
  PresentModel(const Study& study, const sweep::SweepRecord& record) {
    const auto text = study.nuGraph(record.revision);
    if (!text) throw UserError(fmt::format("{} holds no variants of the sweep's program", study.path()));
    auto graph = nugraph::fromJson(*text);
    if (!graph) throw UserError(fmt::format("{}: {}", study.path(), graph.refusal().message));
    graph_ = std::make_unique<nugraph::NuGraph>(std::move(graph).value());
    explainer_ = std::make_unique<sweep::Explainer>(*graph_, record);
  }
  [[nodiscard]] double seconds(const CandidateRecord& candidate) const {
    return explainer_->account(candidate, std::nullopt).model.seconds;
  }

 private:
  std::unique_ptr<nugraph::NuGraph> graph_;
  std::unique_ptr<sweep::Explainer> explainer_;
};

Truth truthOfStudy(const std::string& path) {
  const auto study = Study::open(path, Study::Access::read);
  const sweep::SweepRecord record = exhaustiveSweep(*study);
  const PresentModel model(*study, record);
  Truth truth;
  truth.program = study->revision(record.revision).name;
  truth.extents = sweep::extentsText(record.extents);
  const sweep::Scores scores = sweep::keptScores(*study, record.id);
  for (const CandidateRecord& candidate : study->candidates(record.id)) {
    if (candidate.kind != sweep::CandidateKind::emitted) continue;
    truth.points.push_back({candidate.variant, candidate.parameters, model.seconds(candidate)});
    truth.seconds.push_back(0);
    if (candidate.state != sweep::CandidateState::measured || !candidate.measurement) continue;
    const auto measurement = study->measurement(*candidate.measurement);
    if (!measurement) continue;
    const auto score = scores.find(candidate.id);
    truth.seconds.back() = score == scores.end() ? measurement->median : score->second;
  }
  return truth;
}

constexpr const char* pointsFormat = "nuscope-rehearsal-points";

nlohmann::json toJson(const Truth& truth) {
  nlohmann::json points = nlohmann::json::array();
  for (std::size_t i = 0; i < truth.points.size(); ++i) {
    const sweep::SearchPoint& point = truth.points[i];
    points.push_back({point.variant, point.parameters, point.modelledSeconds, truth.seconds[i]});
  }
  return {{"format", pointsFormat},
          {"version", 1},
          {"program", truth.program},
          {"extents", truth.extents},
          {"columns", {"variant", "parameters", "modelled_s", "measured_s"}},
          {"points", points}};
}

Truth truthOfFile(const std::string& path) {
  try {
    const nlohmann::json json = nlohmann::json::parse(readWholeFile(path));
    if (json.at("format") != pointsFormat || json.at("version") != 1)
      throw UserError(fmt::format("{} holds no points to rehearse with", path));
    Truth truth;
    truth.program = json.at("program").get<std::string>();
    truth.extents = json.at("extents").get<std::string>();
    for (const nlohmann::json& point : json.at("points")) {
      truth.points.push_back({point.at(0).get<int>(), point.at(1).get<std::map<std::string, std::int64_t>>(),
                              point.at(2).get<double>()});
      truth.seconds.push_back(point.at(3).get<double>());
    }
    return truth;
  } catch (const nlohmann::json::exception& error) {
    throw UserError(fmt::format("{} holds no points to rehearse with: {}", path, error.what()));
  }
}

Row rehearse(const std::string& path, const Options& options) {
  const Truth truth = path.ends_with(".json") ? truthOfFile(path) : truthOfStudy(path);
  if (!options.points.empty()) writeWholeFile(options.points, toJson(truth).dump() + "\n");
  Row row;
  row.program = truth.program;
  row.extents = truth.extents;
  row.candidates = truth.points.size();
  std::vector<double> modelled, measured;
  for (std::size_t i = 0; i < truth.points.size(); ++i) {
    if (truth.seconds[i] <= 0) continue;
    modelled.push_back(truth.points[i].modelledSeconds);
    measured.push_back(truth.seconds[i]);
    if (row.best == 0 || truth.seconds[i] < row.best) row.best = truth.seconds[i];
  }
  if (row.best == 0) throw UserError(fmt::format("{} holds no measured candidate", path));
  row.rankCorrelation = sweep::rankCorrelation(modelled, measured);
  const sweep::SweepOptions preset;
  for (int seed = 1; seed <= options.seeds; ++seed) {
    const sweep::Rehearsal one = sweep::rehearse(truth.points, truth.seconds, options.percent / 100, 8,
                                                 preset.exploration, static_cast<std::uint64_t>(seed));
    row.measured = one.measured;
    row.reached.push_back(one.reached);
  }
  std::sort(row.reached.begin(), row.reached.end());
  return row;
}

double median(const std::vector<double>& sorted) {
  return sorted[sorted.size() / 2];
}

nlohmann::json toJson(const Row& row) {
  nlohmann::json json{{"program", row.program},
                      {"extents", row.extents},
                      {"candidates", row.candidates},
                      {"measured", row.measured},
                      {"best_s", row.best},
                      {"reached", row.reached},
                      {"reached_median", median(row.reached)}};
  json["rank_correlation"] =
      std::isfinite(row.rankCorrelation) ? nlohmann::json(row.rankCorrelation) : nlohmann::json(nullptr);
  return json;
}

int run(const Options& options) {
  if (!(options.percent > 0) || options.percent > 100) throw UserError("--percent lies in (0, 100]");
  if (options.seeds < 1) throw UserError("--seeds is at least 1");
  if (!options.points.empty() && options.studies.size() != 1)
    throw UserError("--points keeps the points of one study");
  nlohmann::json rows = nlohmann::json::array();
  if (!options.asJson) {
    fmt::print("{:<20} {:>10} {:>9} {:>11} {:>9} {:>9} {:>10}  at\n", "program", "candidates", "measured",
               "best", "median", "worst", "model rank");
  }
  for (const std::string& path : options.studies) {
    const Row row = rehearse(path, options);
    rows.push_back(toJson(row));
    if (options.asJson) continue;
    fmt::print("{:<20} {:>10} {:>9} {:>8.4g} ms {:>7.1f} % {:>7.1f} % {:>10.2f}  {}\n", row.program,
               row.candidates, row.measured, 1e3 * row.best, 100 * median(row.reached), 100 * row.reached[0],
               row.rankCorrelation, row.extents);
  }
  if (options.asJson) {
    fmt::print("{}\n",
               nlohmann::json{{"format", "nuscope-rehearsal"}, {"version", 1}, {"rows", rows}}.dump(2));
  }
  return yes;
}

}  // namespace

void addRehearse(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "rehearse", "How near the search comes to the best of exhaustive sweeps, from their times");
  command
      ->add_option("STUDY", options->studies,
                   "Studies, each with a finished --exhaustive sweep, or .json files of --points")
      ->required();
  command->add_option("--percent", options->percent, "Of the candidates that the search may measure (10)");
  command->add_option("--seeds", options->seeds, "Searches, each with another seed (5)");
  command->add_option("--points", options->points, "Keep the candidates and their times in this .json file");
  command->add_flag("--json", options->asJson, "The table as JSON");
  command->callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace nuscope::app
