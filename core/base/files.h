#pragma once
// Whole files in and out, with errors for people.
#include <filesystem>
#include <string>
#include <string_view>

namespace nuscope {

/// All bytes of a file. Throws UserError "PATH: cannot be read" (also for a folder).
std::string readWholeFile(const std::filesystem::path& path);

/// Replaces a file by these bytes. Throws EnvironmentError when it cannot be written whole (a full disk, no
/// permission).
void writeWholeFile(const std::filesystem::path& path, std::string_view bytes);

}  // namespace nuscope
