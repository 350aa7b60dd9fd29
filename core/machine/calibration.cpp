#include "core/machine/calibration.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <numeric>
#include <thread>

#include "core/base/diagnostics.h"
#include "core/base/files.h"

namespace nuscope::machine {
namespace {

using nlohmann::json;
constexpr int version = 2;  // of the file, and of how it is measured

double between(double a, double b, double t) {
  return a + (b - a) * t;
}

/// A figure that some machine may have; files in a cache may hold anything.
double figure(const json& object, const char* key) {
  const double value = object.at(key).get<double>();
  if (!(value > 0) || !(value < 1e9))
    throw UserError(fmt::format("{} = {} is no figure of a machine", key, value));
  return value;
}

Ceiling parseCeiling(const json& object) {
  Ceiling ceiling;
  ceiling.threads = object.at("threads").get<int>();
  if (ceiling.threads < 1 || ceiling.threads > 4096) throw UserError("no machine has so many threads");
  ceiling.gigaflops = figure(object, "gigaflops");
  ceiling.dispatchMicroseconds = figure(object, "dispatch_us");
  ceiling.chainNanoseconds = figure(object, "chain_ns");
  for (const auto& [level, value] : object.at("line_ns").items())
    ceiling.lineNanoseconds[level] = figure(object.at("line_ns"), level.c_str());
  for (const auto& [level, value] : object.at("gigabytes").items())
    ceiling.gigabytes[level] = figure(object.at("gigabytes"), level.c_str());
  return ceiling;
}

bool covers(const Calibration& calibration, const Target& target) {
  return std::ranges::all_of(calibration.ceilings, [&](const Ceiling& ceiling) {
    return std::ranges::all_of(
        target.memory, [&](const MemoryLevel& level) { return ceiling.gigabytes.contains(level.name); });
  });
}

}  // namespace

Ceiling Calibration::at(int threads) const {
  const auto above = std::ranges::find_if(ceilings, [&](const Ceiling& c) { return c.threads >= threads; });
  if (above == ceilings.end()) return ceilings.back();
  if (above->threads == threads || above == ceilings.begin()) return *above;
  const Ceiling& low = *std::prev(above);
  const double t = static_cast<double>(threads - low.threads) / (above->threads - low.threads);
  Ceiling mixed = low;
  mixed.threads = threads;
  mixed.gigaflops = between(low.gigaflops, above->gigaflops, t);
  mixed.dispatchMicroseconds = between(low.dispatchMicroseconds, above->dispatchMicroseconds, t);
  mixed.chainNanoseconds = between(low.chainNanoseconds, above->chainNanoseconds, t);
  for (auto& [level, value] : mixed.gigabytes) {
    const auto other = above->gigabytes.find(level);
    if (other != above->gigabytes.end()) value = between(value, other->second, t);
  }
  return mixed;
}

double linesHeld(const MemoryLevel& level, std::int64_t strideBytes) {
  const std::int64_t sets =
      std::max<std::int64_t>(1, level.bytes / (std::int64_t{level.lineBytes} * level.ways));
  const std::int64_t step = std::max<std::int64_t>(1, strideBytes / level.lineBytes);
  return static_cast<double>(sets / std::gcd(sets, step)) * level.ways;
}

std::string machineKey(const Target& target) {
  const unsigned processors = std::max(1U, std::thread::hardware_concurrency());
  return fmt::format("{}, {} processor{}, {}", processorName(), processors, processors == 1 ? "" : "s",
                     target.name);
}

Target calibrated(Target target, const Calibration& calibration, int threads) {
  const Ceiling one = calibration.at(1);
  const Ceiling all = calibration.at(threads);
  const VectorUnit& unit = target.vector;
  const double flopsPerCycle = unit.floats() * unit.fmaPerCycle * (unit.fma ? 2 : 1);
  target.gigahertz = one.gigaflops / flopsPerCycle;
  target.parallelGain = all.gigaflops / one.gigaflops;
  target.vector.chainCycles = std::max<double>(unit.fmaLatency, one.chainNanoseconds * target.gigahertz);
  if (threads > 1) target.dispatchMicroseconds = all.dispatchMicroseconds;
  for (MemoryLevel& level : target.memory) {
    const auto own = one.gigabytes.find(level.name);
    const auto together = all.gigabytes.find(level.name);
    if (own == one.gigabytes.end() || together == all.gigabytes.end()) continue;
    level.bytesPerCycle = own->second / target.gigahertz;
    level.parallelGain = together->second / own->second;
    const auto line = one.lineNanoseconds.find(level.name);
    if (line != one.lineNanoseconds.end()) level.lineCycles = line->second * target.gigahertz;
  }
  return target;
}

Target thisMachine(Target target, int threads) {
  if (target.kind != "host") return target;
  const auto kept = keptCalibration(target);
  return kept ? calibrated(std::move(target), *kept, threads) : target;
}

std::string toJson(const Calibration& calibration) {
  json ceilings = json::array();
  for (const Ceiling& one : calibration.ceilings) {
    ceilings.push_back({{"threads", one.threads},
                        {"gigaflops", one.gigaflops},
                        {"gigabytes", one.gigabytes},
                        {"chain_ns", one.chainNanoseconds},
                        {"line_ns", one.lineNanoseconds},
                        {"dispatch_us", one.dispatchMicroseconds}});
  }
  return json{{"format", "nuscope-calibration"}, {"version", version},       {"machine", calibration.machine},
              {"date", calibration.date},        {"load", calibration.load}, {"seconds", calibration.seconds},
              {"ceilings", std::move(ceilings)}}
      .dump(2, ' ', false, json::error_handler_t::replace);
}

std::optional<Calibration> parseCalibration(std::string_view text) {
  try {
    const json root = json::parse(text);
    if (root.at("format") != "nuscope-calibration" || root.at("version") != version) return std::nullopt;
    Calibration calibration;
    calibration.machine = root.at("machine").get<std::string>();
    calibration.date = root.at("date").get<std::string>();
    calibration.load = root.at("load").get<double>();
    calibration.seconds = root.at("seconds").get<double>();
    for (const json& one : root.at("ceilings")) {
      calibration.ceilings.push_back(parseCeiling(one));
      const auto count = calibration.ceilings.size();
      const int before = count > 1 ? calibration.ceilings[count - 2].threads : 0;
      if (calibration.ceilings.back().threads <= before || count > 64) return std::nullopt;
    }
    if (calibration.ceilings.empty() || calibration.ceilings[0].threads != 1) return std::nullopt;
    return calibration;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::filesystem::path calibrationFile(const Target& target) {
  std::filesystem::path folder;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') {
    folder = cache;
  } else if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    folder = std::filesystem::path(home) / ".cache";
  } else {
    return {};
  }
  std::string name = machineKey(target);
  for (char& c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!plain) c = '-';
  }
  return folder / "nuscope" / "calibration" / (name + ".json");
}

std::optional<Calibration> keptCalibration(const Target& target) {
  constexpr std::uintmax_t largest = 1 << 16;
  const auto file = calibrationFile(target);
  std::error_code error;
  const auto size = file.empty() ? 0 : std::filesystem::file_size(file, error);
  if (error || size == 0 || size > largest) return std::nullopt;
  std::string text;
  try {
    text = readWholeFile(file);
  } catch (const UserError&) {
    return std::nullopt;
  }
  auto calibration = parseCalibration(text);
  if (!calibration || calibration->machine != machineKey(target) || !covers(*calibration, target))
    return std::nullopt;
  return calibration;
}

void keepCalibration(const Calibration& calibration, const Target& target) {
  const auto file = calibrationFile(target);
  if (file.empty()) throw EnvironmentError("there is no home folder to keep the calibration in");
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  // Written aside and renamed, so that a reader sees a whole file.
  const std::filesystem::path aside = fmt::format("{}.{}", file.string(), getpid());
  writeWholeFile(aside, toJson(calibration));
  std::filesystem::rename(aside, file, error);
  if (error) {
    std::error_code ignored;
    std::filesystem::remove(aside, ignored);
    throw EnvironmentError(fmt::format("{} cannot be written: {}", file.string(), error.message()));
  }
}

std::string text(const Ceiling& ceiling) {
  std::string levels;
  for (const auto& [level, value] : ceiling.gigabytes)
    levels += fmt::format("{}{} {:.3g}", levels.empty() ? "" : ", ", level, value);
  return fmt::format("peak {:.3g} GFLOP/s; reads {} GB/s ({} thread{})", ceiling.gigaflops, levels,
                     ceiling.threads, ceiling.threads == 1 ? "" : "s");
}

}  // namespace nuscope::machine
