// `nuscope check`: the exact schedule checker on one file or on every file of a folder.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/cancel.h"
#include "app/commands.h"
#include "core/base/diagnostics.h"
#include "core/base/files.h"
#include "core/schedule/certificate.h"
#include "core/schedule/check.h"
#include "core/schedule/repair.h"

namespace nuscope::app {
namespace {

namespace fs = std::filesystem;
using schedule::Report;
using schedule::Safety;

struct Options {
  std::string path;
  std::string certificates;
  std::string output;
  int repair = 0;
  bool json = false;
};

struct Checked {
  std::string file;
  schedule::ReadResult read;
  Report report;
  double readSeconds = 0;
  [[nodiscard]] Safety verdict() const {
    return read.schedule && read.faults.empty() ? report.verdict : Safety::malformed;
  }
};

Checked checkFile(const fs::path& path, bool keepClocks, const Progress& progress) {
  Checked result;
  result.file = path.string();
  const auto start = std::chrono::steady_clock::now();
  result.read = schedule::readAmk(readWholeFile(path));
  result.readSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!result.read.schedule || !result.read.faults.empty()) return result;
  schedule::CheckOptions options;
  options.keepClocks = keepClocks;
  result.report = schedule::check(*result.read.schedule, options, progress);
  return result;
}

/// The files to check: the path itself, or every schedule in the folder and its folders, by name.
std::vector<fs::path> filesOf(const fs::path& path) {
  if (!fs::exists(path)) throw UserError(fmt::format("{} does not exist", path.string()));
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> result;
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    const bool isCaseText = entry.path().filename() == "case.json";
    if (entry.is_regular_file() && entry.path().extension() == ".json" && !isCaseText)
      result.push_back(entry.path());
  }
  std::ranges::sort(result);
  if (result.empty()) throw UserError(fmt::format("{} holds no .json file", path.string()));
  return result;
}

nlohmann::json findingJson(const schedule::Schedule& s, const schedule::Finding& f) {
  const auto ids = [&](const std::vector<std::int32_t>& tasks) {
    auto list = nlohmann::json::array();
    for (const std::int32_t t : tasks) list.push_back(s.tasks[static_cast<std::size_t>(t)].id);
    return list;
  };
  nlohmann::json out{{"code", schedule::code(f.rule)}, {"severity", "error"}, {"message", f.message}};
  if (f.task >= 0) out["task"] = s.tasks[static_cast<std::size_t>(f.task)].id;
  if (f.other >= 0) out["other"] = s.tasks[static_cast<std::size_t>(f.other)].id;
  if (f.buffer >= 0) out["buffer"] = s.buffers[static_cast<std::size_t>(f.buffer)].id;
  if (f.otherBuffer >= 0) out["other_buffer"] = s.buffers[static_cast<std::size_t>(f.otherBuffer)].id;
  auto& certificate = out["certificate"] = nlohmann::json::object();
  if (!f.cycle.empty()) certificate["cycle"] = ids(f.cycle);
  if (!f.stuck.empty()) certificate["stuck"] = ids(f.stuck);
  if (!f.firing.empty()) certificate["firing"] = ids(f.firing);
  if (f.element >= 0) certificate["element"] = f.element;
  return out;
}

nlohmann::json reportJson(const Checked& c) {
  nlohmann::json out{{"version", 1},
                     {"file", c.file},
                     {"verdict", text(c.verdict())},
                     {"seconds", {{"read", c.readSeconds}, {"check", c.report.seconds}}}};
  auto& findings = out["findings"] = nlohmann::json::array();
  for (const auto* faults : {&c.read.faults, &c.report.faults}) {
    for (const schedule::Fault& f : *faults) {
      nlohmann::json fault{{"code", f.code}, {"severity", "error"}, {"message", f.message}};
      if (!f.where.empty()) fault["where"] = f.where;
      if (f.place.end > 0) fault["bytes"] = {f.place.begin, f.place.end};
      findings.push_back(std::move(fault));
    }
  }
  for (const schedule::Finding& f : c.report.findings) findings.push_back(findingJson(*c.read.schedule, f));
  std::int64_t unlisted = 0;
  for (const auto& [key, count] : c.report.unlisted) unlisted += count;
  if (unlisted > 0) out["unlisted"] = unlisted;
  if (c.verdict() == Safety::safe) out["assumptions"] = schedule::assumptions();
  if (c.read.schedule) out["tasks"] = c.read.schedule->tasks.size();
  return out;
}

void printReport(const Checked& c) {
  const std::size_t tasks = c.read.schedule ? c.read.schedule->tasks.size() : 0;
  fmt::print("{}: {}  ({} tasks; read {:.3f} s, checked {:.3f} s)\n", c.file, text(c.verdict()), tasks,
             c.readSeconds, c.report.seconds);
  for (const auto* faults : {&c.read.faults, &c.report.faults}) {
    for (const schedule::Fault& f : *faults)
      fmt::print("  {:<20} {}{}\n", f.code, f.where.empty() ? "" : f.where + ": ", f.message);
  }
  for (const schedule::Finding& f : c.report.findings)
    fmt::print("  {:<20} {}\n", schedule::code(f.rule), f.message);
  for (const auto& [key, count] : c.report.unlisted)
    fmt::print("  {:<20} and {} more of the same buffer\n", schedule::code(key.first), count);
  if (c.verdict() == Safety::safe) fmt::print("  {}\n", schedule::assumptions());
}

/// All repairs of one schedule, those that make it safe first.
std::vector<schedule::Repair> repairsOf(const Checked& c, const Progress& progress) {
  std::vector<schedule::Repair> all;
  if (c.verdict() != Safety::unsafe) return all;
  const schedule::RepairOptions options;
  for (const auto& group : schedule::groups(*c.read.schedule, c.report)) {
    for (auto& repair : schedule::repairs(*c.read.schedule, c.report, group, options, progress))
      all.push_back(std::move(repair));
  }
  const bool safe = std::ranges::any_of(all, &schedule::Repair::makesSafe);
  if (!safe) {
    if (auto repair = schedule::repairAll(*c.read.schedule, c.report, options, progress))
      all.push_back(std::move(*repair));
  }
  std::ranges::stable_sort(all, {}, [](const auto& r) {
    return std::make_tuple(!r.makesSafe, r.remaining.size(), r.edits.size());
  });
  return all;
}

void printRepairs(const std::vector<schedule::Repair>& repairs) {
  if (repairs.empty()) return;
  fmt::print("Repairs, each re-checked (`--repair N -o OUT` writes one):\n");
  for (std::size_t i = 0; i < repairs.size(); ++i) {
    const auto& r = repairs[i];
    const std::string outcome = r.makesSafe ? "safe" : fmt::format("{} findings remain", r.remaining.size());
    fmt::print("  {:2}  {}: {}\n      in the generator: {}\n", i + 1, outcome, r.text, r.generator);
  }
}

int writeRepaired(const Checked& c, const std::vector<schedule::Repair>& repairs, const Options& options) {
  if (options.repair < 1 || static_cast<std::size_t>(options.repair) > repairs.size()) {
    throw UserError(
        fmt::format("there is no repair {}; {} are offered for {}", options.repair, repairs.size(), c.file));
  }
  if (options.output.empty()) throw UserError("say where the repaired schedule goes: -o OUT.json");
  const auto& repair = repairs[static_cast<std::size_t>(options.repair - 1)];
  writeWholeFile(options.output, schedule::writeAmk(schedule::applyEdits(*c.read.schedule, repair.edits)));
  fmt::print("{}: {}; {}\n", options.output, repair.text,
             repair.makesSafe ? "safe" : fmt::format("{} findings remain", repair.remaining.size()));
  return repair.makesSafe ? static_cast<int>(yes) : static_cast<int>(no);
}

int exitOf(Safety verdict) {
  return verdict == Safety::safe     ? static_cast<int>(yes)
         : verdict == Safety::unsafe ? static_cast<int>(no)
                                     : static_cast<int>(badInput);
}

void writeCertificate(const Checked& c, const fs::path& folder, std::size_t index) {
  if (c.verdict() == Safety::malformed) return;
  fs::create_directories(folder);
  const fs::path file(c.file);
  const std::string name =
      fmt::format("{:04}-{}-{}.json", index, file.parent_path().filename().string(), file.stem().string());
  writeWholeFile(folder / name, schedule::certificate(*c.read.schedule, c.report));
}

int run(const Options& options) {
  const CommandProgress progress;
  const auto files = filesOf(options.path);
  std::map<Safety, std::size_t> counts;
  int worst = yes;
  auto all = nlohmann::json::array();
  for (std::size_t i = 0; i < files.size(); ++i) {
    progress.progress().check();
    progress.progress().report(static_cast<double>(i) / static_cast<double>(files.size()), files[i].string());
    const Checked c = checkFile(files[i], !options.certificates.empty(), progress.progress());
    if (!options.certificates.empty()) writeCertificate(c, options.certificates, i);
    ++counts[c.verdict()];
    worst = std::max(worst, exitOf(c.verdict()));
    if (options.json) {
      all.push_back(reportJson(c));
    } else if (files.size() == 1) {
      const auto repairs = repairsOf(c, progress.progress());
      if (options.repair != 0) return writeRepaired(c, repairs, options);
      printReport(c);
      printRepairs(repairs);
    } else {
      std::string codes;
      for (const auto& f : c.report.findings) {
        if (codes.find(schedule::code(f.rule)) == std::string::npos)
          codes += fmt::format(" {}", schedule::code(f.rule));
      }
      for (const auto& f : c.read.faults) codes += " " + f.code;
      for (const auto& f : c.report.faults) codes += " " + f.code;
      fmt::print("{:<10}{:<9.3f}{}{}\n", text(c.verdict()), 1000 * c.report.seconds, c.file,
                 codes.empty() ? "" : " :" + codes);
    }
  }
  if (options.json) {
    fmt::print("{}\n", (files.size() == 1 ? all[0] : all).dump(1));
  } else if (files.size() > 1) {
    fmt::print("{} files: {} safe, {} unsafe, {} malformed (times in milliseconds)\n", files.size(),
               counts[Safety::safe], counts[Safety::unsafe], counts[Safety::malformed]);
  }
  return worst;
}

}  // namespace

void addCheck(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("check", "Check megakernel schedules exactly: exit 0 safe, 1 unsafe, 3 malformed");
  command->add_option("SCHEDULE", options->path, "An AutoMegaKernel JSON file, or a folder of them")
      ->required();
  command->add_flag("--json", options->json, "Print the verdict and findings as JSON (version 1)");
  command->add_option("--repair", options->repair,
                      "Apply the N-th repair that is offered for one file; exit by its verdict");
  command->add_option("-o,--output", options->output, "Where the repaired schedule goes");
  command->add_option("--certificates", options->certificates,
                      "Write a certificate per file into this folder, for `nuscope replay`");
  command->callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace nuscope::app
