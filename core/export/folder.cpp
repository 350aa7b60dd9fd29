// The folder on disk: written beside its place, then moved there.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <system_error>

#include "core/base/diagnostics.h"
#include "core/base/files.h"
#include "core/export/export.h"
#include "core/sweep/study.h"

namespace nuscope::exporting {
namespace {

namespace fs = std::filesystem;

/// What building and running leave behind.
bool isBuilt(const fs::path& relative) {
  const std::string top = relative.begin()->string();
  const std::string name = relative.filename().string();
  return top == "build" || top == "__pycache__" || name.ends_with(".o") ||
         (name.starts_with("lib") && name.ends_with(".so"));
}

/// Hashes of the files that an earlier export wrote.
std::map<std::string, std::string> earlierFiles(const fs::path& directory) {
  const std::string foreign =
      fmt::format("{} exists and was not made by nuscope export; choose another folder", directory.string());
  std::error_code ignored;
  if (!fs::is_regular_file(directory / "manifest.json", ignored)) throw UserError(foreign);
  try {
    const auto manifest = nlohmann::json::parse(readWholeFile(directory / "manifest.json"));
    if (manifest.at("format") != "nuscope-export") throw UserError(foreign);
    return manifest.at("files").get<std::map<std::string, std::string>>();
  } catch (const nlohmann::json::exception&) {
    throw UserError(foreign);
  }
}

void checkReplaceable(const fs::path& directory) {
  const auto known = earlierFiles(directory);
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory)) {
    const fs::path relative = entry.path().lexically_relative(directory);
    if (isBuilt(relative) || entry.is_directory() || relative == "manifest.json") continue;
    const auto found = known.find(relative.generic_string());
    if (found == known.end())
      throw UserError(fmt::format("{} holds {}, which no export wrote; move it, or choose another folder",
                                  directory.string(), relative.string()));
    if (!entry.is_regular_file() || entry.is_symlink() ||
        sweep::textHash(readWholeFile(entry.path())) != found->second)
      throw UserError(fmt::format("{} was edited since it was exported; move {}, or choose another folder",
                                  entry.path().string(), directory.string()));
  }
}

/// A private folder beside the place; gone unless it was moved there.
class Beside {
 public:
  explicit Beside(const fs::path& place) {
    std::string pattern = (place.parent_path() / ("." + place.filename().string() + "-XXXXXX")).string();
    if (mkdtemp(pattern.data()) == nullptr)
      throw EnvironmentError(
          fmt::format("no folder can be made beside {}: {}", place.string(), std::strerror(errno)));
    path = pattern;
  }
  ~Beside() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;
  fs::path path;
};

}  // namespace

void writeFolder(const Folder& folder, const std::filesystem::path& directory) {
  fs::path place = fs::absolute(directory).lexically_normal();
  if (place.filename().empty()) place = place.parent_path();  // "out/"
  std::error_code error;
  const bool exists = fs::exists(fs::symlink_status(place, error));
  if (exists && !fs::is_directory(fs::symlink_status(place)))
    throw UserError(fmt::format("{} exists and is no folder", place.string()));
  const bool replaces = exists && !fs::is_empty(place);
  if (replaces) checkReplaceable(place);
  fs::create_directories(place.parent_path(), error);
  if (error)
    throw EnvironmentError(
        fmt::format("{} cannot be made: {}", place.parent_path().string(), error.message()));

  const Beside beside(place);
  for (const auto& [name, bytes] : folder.files) {
    fs::create_directories((beside.path / name).parent_path(), error);
    writeWholeFile(beside.path / name, bytes);
  }
  fs::permissions(beside.path,
                  fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec |
                      fs::perms::others_read | fs::perms::others_exec,
                  error);
  // Both names at once: nobody sees neither folder. What was there ends up in `beside` and goes with it.
  const int moved = replaces
                        ? renameat2(AT_FDCWD, beside.path.c_str(), AT_FDCWD, place.c_str(), RENAME_EXCHANGE)
                        : std::rename(beside.path.c_str(), place.c_str());
  if (moved != 0)
    throw EnvironmentError(
        fmt::format("{} cannot be put in place: {}", place.string(), std::strerror(errno)));
}

}  // namespace nuscope::exporting
