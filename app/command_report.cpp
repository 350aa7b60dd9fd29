// `nuscope report`: one self-contained HTML file about a study. Its pictures are painted by nuscope-explorer,
// offscreen, in processes of their own: what is printed is what the window shows.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>

#include "app/cancel.h"
#include "app/commands.h"
#include "core/base/diagnostics.h"
#include "core/base/files.h"
#include "core/base/process.h"
#include "core/sweep/report.h"
#include "core/sweep/study.h"
#include "core/sweep/sweep.h"

namespace nuscope::app {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string study, output;
  bool noPictures = false;
};

/// A folder that is removed with its contents.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (fs::temp_directory_path() / "nuscope-report-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr)
      throw EnvironmentError("No temporary folder can be made in " + fs::temp_directory_path().string() +
                             ".");
    path_ = pattern;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// The <svg> element alone: declarations have no place inside HTML.
std::string svgElement(const std::string& text) {
  const auto from = text.find("<svg");
  return from == std::string::npos ? std::string() : text.substr(from);
}

/// Empty, or why it failed.
std::string paint(const fs::path& explorer, const std::vector<std::string>& arguments,
                  const Progress& progress) {
  ProcessOptions options;
  options.arguments = {explorer.string()};
  options.arguments.insert(options.arguments.end(), arguments.begin(), arguments.end());
  options.environment = {"QT_QPA_PLATFORM=offscreen"};
  options.mergeErrors = true;
  options.cpuLimit = std::chrono::seconds(120);
  Process process(options);
  process.closeInput();
  std::string line;
  std::string said;
  while (true) {
    const Process::Read read = process.readLine(line, std::chrono::seconds(90), progress.stopToken());
    if (read == Process::Read::cancelled) throw Cancelled{};
    if (read == Process::Read::timeout) return "nuscope-explorer did not answer within 90 s";
    if (read == Process::Read::closed) break;
    said = line;
  }
  const auto end = process.wait(std::chrono::seconds(5));
  if (end && end->success()) return {};
  return "nuscope-explorer ended with " + (end ? end->text() : std::string("no answer")) +
         (said.empty() ? "" : " (" + said + ")");
}

sweep::ReportPictures paintPictures(const std::string& study, const std::optional<int>& winner,
                                    const Progress& progress) {
  sweep::ReportPictures pictures;
  const fs::path explorer = fs::path(executablePath()).parent_path() / "nuscope-explorer";
  if (!fs::exists(explorer)) {
    pictures.whyMissing = "pictures are painted by nuscope-explorer, which is not installed beside nuscope.";
    return pictures;
  }
  struct Wanted {
    std::string name, view, select;
  };
  std::vector<Wanted> wanted{{"derivation", "derivation", ""}, {"latency", "plots", ""}};
  if (winner)
    wanted.push_back({fmt::format("variant-{}", *winner), "variant", fmt::format("variant {}", *winner)});
  const ScratchFolder scratch;
  int done = 0;
  for (const Wanted& picture : wanted) {
    sweep::ReportPicture both;
    for (const std::string theme : {"light", "dark"}) {
      progress.check();
      progress.report(0.05 + 0.7 * done++ / (2.0 * static_cast<double>(wanted.size())),
                      "painting " + picture.name);
      const fs::path file = scratch.path() / (picture.name + "-" + theme + ".svg");
      std::vector<std::string> arguments{study,        "--export", file.string(), "--view",
                                         picture.view, "--theme",  theme};
      if (!picture.select.empty()) arguments.insert(arguments.end(), {"--select", picture.select});
      const std::string why = paint(explorer, arguments, progress);
      if (!why.empty()) {
        pictures.whyMissing = why + ".";
        continue;
      }
      (theme == "light" ? both.light : both.dark) = svgElement(readWholeFile(file));
    }
    if (!both.light.empty() && !both.dark.empty()) pictures.byName.emplace(picture.name, std::move(both));
  }
  return pictures;
}

fs::path outputFile(const Options& options) {
  if (options.output.empty()) return fs::path(options.study).replace_extension(".html");
  const fs::path path(options.output);
  if (path.extension() == ".html" || path.extension() == ".htm") return path;
  std::error_code error;
  fs::create_directories(path, error);
  if (error)
    throw EnvironmentError(fmt::format("The folder {} cannot be made: {}.", path.string(), error.message()));
  return path / "report.html";
}

void writeAtomically(const fs::path& path, const std::string& text) {
  const fs::path beside = path.string() + fmt::format(".{}.part", getpid());
  std::error_code error;
  try {
    writeWholeFile(beside, text);
  } catch (const EnvironmentError&) {
    fs::remove(beside, error);
    throw;
  }
  fs::rename(beside, path, error);
  if (error) {
    fs::remove(beside);
    throw EnvironmentError(fmt::format("{} cannot be written: {}.", path.string(), error.message()));
  }
}

int run(const Options& options) {
  const CommandProgress progress;
  if (!sweep::Study::looksLikeStudy(options.study)) {
    throw UserError(options.study + " is no study. Make one with: nuscope explore PROGRAM.py -o S.nuscope");
  }
  const auto study = sweep::Study::open(options.study, sweep::Study::Access::read);
  std::optional<int> winner;
  std::optional<sweep::SweepRecord> latest;
  for (const sweep::SweepRecord& record : study->sweeps()) {
    if (!latest || record.id > latest->id) latest = record;
  }
  if (latest) {
    if (const auto best = sweep::selectBest(*study, latest->id)) winner = best->variant;
  }
  sweep::ReportPictures pictures;
  if (options.noPictures) {
    pictures.whyMissing = "the report was asked for without pictures.";
  } else {
    pictures = paintPictures(options.study, winner, progress.progress());
    if (!pictures.whyMissing.empty()) fmt::print(stderr, "No pictures: {}\n", pictures.whyMissing);
  }
  const std::string html = sweep::renderReport(*study, pictures, progress.progress().part(0.75, 1));
  const fs::path file = outputFile(options);
  writeAtomically(file, html);
  fmt::print("{}\n", fs::absolute(file).lexically_normal().string());
  return yes;
}

}  // namespace

void addReport(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("report", "Write one self-contained HTML file about a study");
  command->add_option("STUDY", options->study, "A study: S.nuscope")->required();
  command->add_option("-o,--output", options->output,
                      "A folder (gets report.html) or an .html file; without it S.html beside the study");
  command->add_flag("--no-pictures", options->noPictures, "Do not ask nuscope-explorer for pictures");
  command->callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace nuscope::app
