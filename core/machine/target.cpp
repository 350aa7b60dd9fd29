#include "core/machine/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "core/base/diagnostics.h"
#include "core/base/files.h"
#include "core/base/process.h"

namespace nuscope::machine {
namespace {

using Json = nlohmann::json;

/// Reads one object key by key; unknown keys are errors, so that a misspelt limit is never silently ignored.
class Reader {
 public:
  Reader(const Json& object, std::string_view file, std::string where)
      : object_(object), file_(file), where_(std::move(where)) {
    if (!object.is_object()) fail("", fmt::format("an object is expected, not {}", object.type_name()));
  }

  [[noreturn]] void fail(std::string_view key, const std::string& what) const {
    throw UserError(fmt::format("{}: {}{}{}: {}", file_, where_, where_.empty() || key.empty() ? "" : ".",
                                key.empty() && where_.empty() ? "the file" : key, what));
  }
  const Json& at(const char* key) {
    seen_.insert(key);
    const auto found = object_.find(key);
    if (found == object_.end()) fail(key, "the key is missing");
    return *found;
  }
  std::string string(const char* key) {
    const Json& value = at(key);
    if (!value.is_string() || value.get<std::string>().empty()) fail(key, "a non-empty string is expected");
    return value.get<std::string>();
  }
  bool boolean(const char* key) {
    const Json& value = at(key);
    if (!value.is_boolean()) fail(key, "true or false is expected");
    return value.get<bool>();
  }
  double number(const char* key, double least, bool orEqual = false) {
    const Json& value = at(key);
    const bool ok =
        value.is_number() && (orEqual ? value.get<double>() >= least : value.get<double>() > least);
    if (!ok)
      fail(key, fmt::format("a number {} {} is expected, not {}", orEqual ? ">=" : ">", least, value.dump()));
    return value.get<double>();
  }
  std::int64_t integer(const char* key, std::int64_t least, std::int64_t most) {
    const Json& value = at(key);
    if (!value.is_number_integer() || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most) {
      fail(key, fmt::format("an integer from {} to {} is expected, not {}", least, most, value.dump()));
    }
    return value.get<std::int64_t>();
  }
  const Json& array(const char* key, std::size_t least) {
    const Json& value = at(key);
    if (!value.is_array() || value.size() < least) {
      fail(key,
           fmt::format("an array of at least {} {} is expected", least, least == 1 ? "element" : "elements"));
    }
    return value;
  }
  std::vector<std::string> strings(const char* key, std::size_t least) {
    std::vector<std::string> result;
    for (const Json& item : array(key, least)) {
      if (!item.is_string()) fail(key, fmt::format("strings are expected, not {}", item.dump()));
      result.push_back(item.get<std::string>());
    }
    return result;
  }
  [[nodiscard]] Reader element(const Json& item, const char* key, std::size_t index) const {
    return {item, file_, fmt::format("{}{}{}[{}]", where_, where_.empty() ? "" : ".", key, index)};
  }
  Reader object(const char* key) {
    const Json& value = at(key);
    return {value, file_, where_.empty() ? key : where_ + "." + key};
  }
  void done() const {
    for (const auto& [key, value] : object_.items()) {
      if (key != "$schema" && !seen_.contains(key)) fail(key, "unknown key");
    }
  }

 private:
  const Json& object_;
  std::string_view file_;
  std::string where_;
  std::set<std::string> seen_;
};

constexpr double linesInFlight = 4;  // far apart, and used as soon as they are there

VectorUnit readVector(Reader in) {
  VectorUnit unit;
  unit.bits = static_cast<int>(in.integer("bits", 128, 512));
  if (unit.bits != 128 && unit.bits != 256 && unit.bits != 512)
    in.fail("bits", "128, 256 or 512 is expected");
  unit.registers = static_cast<int>(in.integer("registers", 8, 64));
  unit.fma = in.boolean("fma");
  unit.fmaPerCycle = in.number("fmaPerCycle", 0);
  unit.fmaLatency = static_cast<int>(in.integer("fmaLatency", 1, 100));
  unit.chainCycles = unit.fmaLatency;
  unit.loadsPerCycle = in.number("loadsPerCycle", 0);
  unit.storesPerCycle = in.number("storesPerCycle", 0);
  unit.dividesPerCycle = in.number("dividesPerCycle", 0);
  unit.operationsPerCycle = in.number("operationsPerCycle", 0);
  in.done();
  return unit;
}

MemoryLevel readLevel(Reader in) {
  MemoryLevel level;
  level.name = in.string("name");
  level.bytes = in.integer("bytes", 0, std::int64_t{1} << 50);
  level.lineBytes = static_cast<int>(in.integer("lineBytes", 16, 4096));
  level.shared = in.boolean("shared");
  level.bytesPerCycle = in.number("bytesPerCycle", 0);
  level.ways = static_cast<int>(in.integer("ways", 1, 1024));
  level.latencyCycles = in.number("latencyCycles", 0, true);
  level.lineCycles = level.latencyCycles / linesInFlight;
  in.done();
  return level;
}

void readMemory(Reader& in, Target& target) {
  std::int64_t previous = 0;
  std::set<std::string> names;
  const Json& levels = in.array("memory", 2);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const Reader at = in.element(levels[i], "memory", i);
    const MemoryLevel level = readLevel(at);
    const bool last = i + 1 == levels.size();
    if (!names.insert(level.name).second) at.fail("name", fmt::format("'{}' is given twice", level.name));
    if (last != (level.bytes == 0))
      at.fail("bytes", "0 stands for main memory, and is expected for the last level only");
    if (!last && level.bytes <= previous) at.fail("bytes", "levels are expected in ascending order of size");
    previous = level.bytes;
    target.memory.push_back(level);
  }
}

}  // namespace

const MemoryLevel& Target::level(std::string_view levelName) const {
  for (const MemoryLevel& one : memory) {
    if (one.name == levelName) return one;
  }
  throw InternalError(fmt::format("target {} has no memory level {}", name, levelName));
}

bool Target::emits(tensor::DType type) const {
  return std::ranges::find(dtypes, type) != dtypes.end();
}

Target parseTarget(std::string_view text, std::string_view file) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& error) {
    throw UserError(fmt::format("{}: not JSON: {}", file, error.what()));
  }
  Reader in(json, file, "");
  Target target;
  target.file = file;
  target.name = in.string("name");
  target.kind = in.string("kind");
  if (target.kind != "host") in.fail("kind", fmt::format("\"host\" is expected, not \"{}\"", target.kind));
  target.description = in.string("description");
  target.processorFeatures = in.strings("processorFeatures", 0);
  for (const std::string& one : in.strings("dtypes", 1)) {
    const auto type = tensor::parseDType(one);
    if (!type) in.fail("dtypes", fmt::format("'{}' is no element type", one));
    target.dtypes.push_back(*type);
  }
  target.compiler = in.strings("compiler", 1);
  target.vector = readVector(in.object("vector"));
  target.gigahertz = in.number("gigahertz", 0);
  const Json& tiles = in.array("microTiles", 1);
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    Reader at = in.element(tiles[i], "microTiles", i);
    const auto rows = static_cast<int>(at.integer("rows", 1, 32));
    const auto vectors = static_cast<int>(at.integer("vectors", 1, 8));
    at.done();
    target.microTiles.push_back({rows, vectors});
  }
  readMemory(in, target);
  target.dispatchMicroseconds = in.number("dispatchMicroseconds", 0, true);
  in.done();
  return target;
}

std::string targetFolder() {
  if (const char* set = std::getenv("NUSCOPE_HW"); set != nullptr && *set != '\0') return set;
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path installed =
      fs::path(executablePath()).parent_path().parent_path() / "share" / "nuscope" / "hw";
  if (fs::is_directory(installed, error)) return installed.string();
  return NUSCOPE_HW_SOURCE;
}

std::vector<std::string> targetNames() {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(targetFolder(), error)) {
    const std::string file = entry.path().filename().string();
    if (file.ends_with(".json") && !file.ends_with(".schema.json"))
      names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

Target loadTarget(std::string_view nameOrPath) {
  std::string name(nameOrPath);
  if (name == "host") name = hostTarget().name;
  if (name.find('/') != std::string::npos || name.ends_with(".json"))
    return parseTarget(readWholeFile(name), name);
  const auto names = targetNames();
  if (std::ranges::find(names, name) == names.end()) {
    std::string known;
    for (const std::string& one : names) known += (known.empty() ? "" : ", ") + one;
    throw UserError(fmt::format("there is no target '{}'; known: host, {}", name, known));
  }
  const std::string path = (std::filesystem::path(targetFolder()) / (name + ".json")).string();
  return parseTarget(readWholeFile(path), path);
}

}  // namespace nuscope::machine
