// `nuscope check`: the exact schedule checker on one file or on every file of a folder, and what else can be
// asked of a schedule: repairs, hang dumps, modelled time, orders, waits that nobody needs.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>

#include "app/cancel.h"
#include "app/checked_schedule.h"
#include "app/commands.h"
#include "core/base/diagnostics.h"
#include "core/base/files.h"
#include "core/schedule/certificate.h"
#include "core/schedule/explain.h"
#include "core/schedule/hang.h"
#include "core/schedule/named_region.h"
#include "core/schedule/order.h"
#include "core/schedule/run.h"
#include "core/schedule/timing.h"

namespace nuscope::app {
namespace {

namespace fs = std::filesystem;
using schedule::Safety;

constexpr auto secondsForRepairs =
    std::chrono::seconds(5);  // groups of findings that are not reached get none

struct Options {
  std::string path;
  std::string certificates;
  std::string output;
  std::string hang;
  std::string time;
  std::vector<std::int64_t> order;
  std::string uses;
  int repair = 0;
  int patch = 0;
  int steps = 0;
  bool waits = false;
  bool json = false;
  CheckRequest request;
};

/// The files to check: the path itself, or every schedule in the folder and its folders, by name.
std::vector<fs::path> filesOf(const fs::path& path) {
  if (!fs::exists(path)) throw UserError(fmt::format("{} does not exist", path.string()));
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> result;
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    const bool isCaseText =
        entry.path().filename() == "case.json" || entry.path().filename() == "schedule.schema.json";
    if (entry.is_regular_file() && entry.path().extension() == ".json" && !isCaseText)
      result.push_back(entry.path());
  }
  std::ranges::sort(result);
  if (result.empty()) throw UserError(fmt::format("{} holds no .json file", path.string()));
  return result;
}

/// Repairs of every group of findings, the best first; one for all where no single one makes it safe.
std::vector<schedule::Repair> repairsOf(const CheckedSchedule& c, const Progress& progress) {
  std::vector<schedule::Repair> all;
  if (c.verdict() != Safety::unsafe || c.report.position) return all;
  const schedule::RepairOptions options;
  const auto start = std::chrono::steady_clock::now();
  for (const auto& group : schedule::groups(*c.read.schedule, c.report)) {
    for (auto& repair : schedule::repairs(*c.read.schedule, c.report, group, options, progress))
      all.push_back(std::move(repair));
    if (std::chrono::steady_clock::now() - start > secondsForRepairs) break;
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
  fmt::print(
      "Repairs, each re-checked (`--repair N -o OUT` writes one, `--patch N` prints it as a JSON patch):\n");
  for (std::size_t i = 0; i < repairs.size(); ++i)
    fmt::print("  {:2}  {}: {}\n      in the generator: {}\n", i + 1, schedule::outcome(repairs[i]),
               repairs[i].text, repairs[i].generator);
}

const schedule::Repair& chosen(const std::vector<schedule::Repair>& repairs, int number,
                               const std::string& file) {
  if (number < 1 || static_cast<std::size_t>(number) > repairs.size())
    throw UserError(
        fmt::format("there is no repair {}; {} are offered for {}", number, repairs.size(), file));
  return repairs[static_cast<std::size_t>(number - 1)];
}

int writeRepaired(const CheckedSchedule& c, const schedule::Repair& repair, const std::string& output) {
  if (output.empty()) throw UserError("say where the repaired schedule goes: -o OUT.json");
  writeWholeFile(output, schedule::writeSchedule(schedule::applyEdits(*c.read.schedule, repair.edits)));
  fmt::print("{}: {}; {}\n", output, repair.text, schedule::outcome(repair));
  return repair.makesSafe ? static_cast<int>(yes) : static_cast<int>(no);
}

int exitOf(Safety verdict) {
  switch (verdict) {
    case Safety::safe:
      return yes;
    case Safety::unsafe:
      return no;
    case Safety::undecided:
      return undecided;
    case Safety::malformed:
      break;
  }
  return badInput;
}
/// Of a folder: malformed, unsafe, undecided, safe.
int worse(int a, int b) {
  const auto rank = [](int code) {
    return code == badInput ? 3 : code == no ? 2 : code == undecided ? 1 : 0;
  };
  return rank(a) >= rank(b) ? a : b;
}

void writeCertificate(const CheckedSchedule& c, const fs::path& folder, std::size_t index) {
  const bool has = c.verdict() == Safety::safe || c.verdict() == Safety::unsafe;
  if (!has) return;
  if (c.read.schedule->positions)
    throw UserError(
        fmt::format("{} holds for a range of positions; certificates are for one: --pos N", c.file));
  fs::create_directories(folder);
  const fs::path file(c.file);
  const std::string name =
      fmt::format("{:04}-{}-{}.json", index, file.parent_path().filename().string(), file.stem().string());
  writeWholeFile(folder / name, schedule::certificate(*c.read.schedule, c.report));
}

template <class T>
T orThrow(Result<T> result, const std::string& what) {
  if (!result) {
    const Refusal& why = result.refusal();
    throw UserError(fmt::format("{}: {}{}", what, why.message, why.hint.empty() ? "" : "\n" + why.hint));
  }
  return std::move(result).value();
}

const schedule::Schedule& wellFormed(const CheckedSchedule& c) {
  if (c.verdict() == Safety::malformed)
    throw UserError(fmt::format("{} is malformed; check it first", c.file));
  return *c.read.schedule;
}

std::shared_ptr<const schedule::Analysis> analysisOf(const CheckedSchedule& c, const Progress& progress) {
  auto made = orThrow(
      schedule::Analysis::of(std::make_shared<const schedule::Schedule>(wellFormed(c)), progress), c.file);
  if (!made->live()) throw UserError(fmt::format("{} deadlocks; see `nuscope check {}`", c.file, c.file));
  return made;
}

int explainDump(const CheckedSchedule& c, const std::string& path) {
  const auto dump = orThrow(schedule::parseHangDump(readWholeFile(path)), path);
  const auto why = orThrow(schedule::explainHang(wellFormed(c), dump), path);
  for (std::size_t i = 0; i < why.causes.size(); ++i) {
    const auto& cause = why.causes[i];
    fmt::print("{}{}: {}\n", i == 0 ? "" : "also: ", text(cause.cause), cause.text);
    if (!cause.blocked.empty()) fmt::print("  {} queues or tasks wait for this\n", cause.blocked.size());
  }
  if (why.chain.size() > 1) fmt::print("How it is reached:\n");
  for (std::size_t i = 0; i + 1 < why.chain.size(); ++i) fmt::print("  {}\n", why.chain[i]);
  return why.causes[0].cause == schedule::HangCause::none ? static_cast<int>(yes) : static_cast<int>(no);
}

int printTime(const CheckedSchedule& c, const std::string& name, const Progress& progress) {
  const auto analysis = analysisOf(c, progress);
  const auto target = orThrow(schedule::timingTarget(name, analysis->schedule()), "--time");
  const auto timing = orThrow(schedule::modelTime(*analysis, target, progress), c.file);
  double busy = 0;
  double waiting = 0;
  for (const auto& q : timing.queues) {
    busy += q.busy;
    waiting += q.waiting;
  }
  const double all = timing.makespan * static_cast<double>(timing.queues.size());
  fmt::print("modelled on {} ({} SMs, {:.0f} GB/s: {}):\n", target.name, target.sms,
             target.bytesPerSecond / 1e9, target.source);
  fmt::print("  makespan {:.1f} us, floor from bandwidth {:.1f} us ({:.1f} MB must be read)\n",
             timing.makespan * 1e6, timing.floor * 1e6, timing.floorBytes / 1e6);
  if (all > 0)
    fmt::print("  SMs: {:.1f} % in tasks, {:.1f} % at waits, {:.1f} % after their last task\n",
               100 * busy / all, 100 * waiting / all, 100 * (all - busy - waiting) / all);
  fmt::print("  critical path: {} tasks\n", timing.criticalPath.size());
  std::map<std::string, std::pair<int, double>> kinds;
  for (const std::int32_t t : timing.criticalPath) {
    auto& [count, seconds] = kinds[schedule::kindName(analysis->schedule(), t)];
    ++count;
    seconds += timing.finish[static_cast<std::size_t>(t)] - timing.start[static_cast<std::size_t>(t)];
  }
  for (const auto& [kind, what] : kinds)
    fmt::print("    {:<32} {:4} x {:9.1f} us\n", kind, what.first, what.second * 1e6);
  return exitOf(c.verdict());
}

int printWaits(const CheckedSchedule& c, const Options& options, const Progress& progress) {
  if (c.verdict() != Safety::safe) throw UserError(fmt::format("{} is not safe; repair it first", c.file));
  const auto analysis = analysisOf(c, progress);
  const auto found = schedule::waitNotes(*analysis, 10, progress);
  std::vector<schedule::WaitNote> redundant;
  std::map<std::pair<bool, std::string>, int> kinds;
  for (const auto& note : found.notes) {
    const bool isRedundant = note.kind == schedule::WaitNote::Kind::redundant;
    if (isRedundant) redundant.push_back(note);
    if (kinds[{isRedundant, schedule::kindName(analysis->schedule(), note.task)}]++ == 0)
      fmt::print("{:<10} {}\n", isRedundant ? "redundant" : "unneeded", note.text);
  }
  for (const auto& [kind, count] : kinds)
    fmt::print("{:6} {:<10} waits of {}\n", count, kind.first ? "redundant" : "unneeded", kind.second);
  fmt::print("{} redundant, {} unneeded; {} not examined\n", redundant.size(),
             found.notes.size() - redundant.size(), found.notExamined);
  const auto target =
      schedule::timingTarget(options.time.empty() ? "h100" : options.time, analysis->schedule());
  if (!target || redundant.empty()) return yes;
  if (const auto gain = schedule::gainOfDropping(*analysis, redundant, *target, progress))
    fmt::print("modelled on {}: {:.1f} us with them, {:.1f} us without the redundant ones ({} polls saved)\n",
               target->name, gain->before * 1e6, gain->after * 1e6, redundant.size());
  return yes;
}

std::int32_t taskOf(const schedule::Analysis& a, std::int64_t id) {
  const std::int32_t t = a.ids().task(id);
  if (t < 0) throw UserError(fmt::format("there is no task {}", id));
  return t;
}

int printOrder(const CheckedSchedule& c, const std::vector<std::int64_t>& ids, const Progress& progress) {
  const auto analysis = analysisOf(c, progress);
  const auto& s = analysis->schedule();
  const std::int32_t u = taskOf(*analysis, ids[0]);
  const std::int32_t v = taskOf(*analysis, ids[1]);
  if (u == v) throw UserError("--order takes two different tasks");
  const auto why = schedule::explainOrder(*analysis, u, v);
  if (why.kind != schedule::OrderExplanation::Kind::unordered) {
    const bool forward = why.kind == schedule::OrderExplanation::Kind::firstBeforeSecond;
    fmt::print("{} happens before {}, in every run:\n", nameOf(s, forward ? u : v),
               nameOf(s, forward ? v : u));
    for (const auto& link : why.chain) fmt::print("  {}\n", link.text);
    return yes;
  }
  fmt::print("{} and {} are not ordered.\n", nameOf(s, u), nameOf(s, v));
  const auto run = [&](const std::vector<std::int32_t>& firing, std::int32_t next) {
    std::string names;
    for (const std::int32_t t : firing) names += nameOf(s, t) + ", ";
    fmt::print("  {}then {} can start\n", names, nameOf(s, next));
  };
  run(why.firstThenSecond, v);
  run(why.secondThenFirst, u);
  return no;
}

int printUses(const CheckedSchedule& c, const std::string& region, const Progress& progress) {
  const auto analysis = analysisOf(c, progress);
  const auto& s = analysis->schedule();
  const auto wanted = orThrow(schedule::parseRegion(s, region), "--uses");
  const auto uses = schedule::usesOf(*analysis, wanted.buffer, wanted.region);
  for (const auto& use : uses)
    fmt::print("{:<6} {}{}{}\n", use.write ? "writes" : "reads", nameOf(s, use.task),
               use.buffer == wanted.buffer
                   ? ""
                   : fmt::format("  as {}", s.buffers[static_cast<std::size_t>(use.buffer)].name),
               use.unordered < 0
                   ? ""
                   : "  not ordered with " + nameOf(s, uses[static_cast<std::size_t>(use.unordered)].task));
  return exitOf(c.verdict());
}

int printSteps(const CheckedSchedule& c, int number) {
  const auto& s = wellFormed(c);
  if (number < 1 || static_cast<std::size_t>(number) > c.report.findings.size())
    throw UserError(fmt::format("there is no finding {}; {} were found", number, c.report.findings.size()));
  const auto& finding = c.report.findings[static_cast<std::size_t>(number - 1)];
  const auto run = orThrow(schedule::Run::of(s, finding), c.file);
  fmt::print("{}\n", finding.message);
  for (std::size_t i = 0; i < run.size(); ++i) fmt::print("{:4}  {}\n", i + 1, run.text(i));
  return exitOf(c.verdict());
}

/// What was asked of one file beyond its verdict; empty if nothing.
std::optional<int> single(const CheckedSchedule& c, const Options& options, const Progress& progress) {
  if (!options.hang.empty()) return explainDump(c, options.hang);
  if (options.waits) return printWaits(c, options, progress);
  if (!options.time.empty()) return printTime(c, options.time, progress);
  if (!options.order.empty()) return printOrder(c, options.order, progress);
  if (!options.uses.empty()) return printUses(c, options.uses, progress);
  if (options.steps != 0) return printSteps(c, options.steps);
  if (options.repair != 0)
    return writeRepaired(c, chosen(repairsOf(c, progress), options.repair, c.file), options.output);
  if (options.patch != 0) {
    fmt::print("{}", schedule::jsonPatch(*c.read.schedule,
                                         chosen(repairsOf(c, progress), options.patch, c.file).edits));
    return exitOf(c.verdict());
  }
  return std::nullopt;
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
    CheckRequest request = options.request;
    request.keepClocks = !options.certificates.empty();
    const CheckedSchedule c = checkFile(files[i], request, progress.progress());
    if (!options.certificates.empty()) writeCertificate(c, options.certificates, i);
    ++counts[c.verdict()];
    worst = worse(worst, exitOf(c.verdict()));
    if (files.size() == 1) {
      if (const auto code = single(c, options, progress.progress())) return *code;
    }
    if (options.json) {
      all.push_back(reportJson(c));
    } else if (files.size() == 1) {
      printReport(c);
      printRepairs(repairsOf(c, progress.progress()));
    } else {
      const std::string codes = codesOf(c);
      fmt::print("{:<10}{:<9.3f}{}{}\n", text(c.verdict()), 1000 * c.report.seconds, c.file,
                 codes.empty() ? "" : ": " + codes);
    }
  }
  if (options.json) {
    fmt::print(
        "{}\n",
        (files.size() == 1 ? all[0] : all).dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
  } else if (files.size() > 1) {
    fmt::print("{} files: {} safe, {} unsafe, {} undecided, {} malformed (times in milliseconds)\n",
               files.size(), counts[Safety::safe], counts[Safety::unsafe], counts[Safety::undecided],
               counts[Safety::malformed]);
  }
  return worst;
}

}  // namespace

void addCheck(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "check", "Check megakernel schedules exactly: exit 0 safe, 1 unsafe, 2 not decided, 3 malformed");
  command
      ->add_option(
          "SCHEDULE", options->path,
          "A schedule (AutoMegaKernel JSON, our own form, Mirage's task_graph.json), or a folder of them")
      ->required();
  command->add_flag("--json", options->json, "Print the verdict and findings as JSON (version 1)");
  command->add_option("--repair", options->repair,
                      "Apply the N-th repair that is offered for one file; exit by its verdict");
  command->add_option("--patch", options->patch, "Print the N-th repair as a JSON patch (RFC 6902)");
  command->add_option("-o,--output", options->output, "Where the repaired schedule goes");
  command->add_option("--certificates", options->certificates,
                      "Write a certificate per file into this folder, for `nuscope replay`");
  command->add_option(
      "--hang,--dump", options->hang,
      "Explain a hang dump of this schedule (resources/hangdump): deadlock, queue never started, lost "
      "signal, stuck task");
  command->add_option(
      "--time", options->time,
      fmt::format("Model the time on a target: file, {}", fmt::join(schedule::timingTargetNames(), ", ")));
  command->add_flag(
      "--waits", options->waits,
      "Waits that others imply or no conflict asks for, and the modelled gain of dropping them");
  command
      ->add_option("--order", options->order,
                   "Two task ids: the shortest chain that orders them, or a run each way")
      ->expected(2);
  command->add_option(
      "--uses", options->uses,
      "A buffer by id or name, or a region of it (63[0:1,16:32]): its writers and readers in order");
  command->add_option("--steps", options->steps, "The run that shows the N-th finding, step by step");
  command
      ->add_option("--passes", options->request.passes,
                   "Check N passes of one launch, with the counters reset or kept as the file says")
      ->check(CLI::Range(1, 64));
  command->add_flag("--as-loaded", options->request.asLoaded,
                    "Order the queues as AutoMegaKernel's loader does, not as the file lists them");
  command->add_option("--pos", options->request.position,
                      "Check our own form at this position only, not at every one");
  command->callback([&action, options] { action = [options] { return run(*options); }; });
}

}  // namespace nuscope::app
