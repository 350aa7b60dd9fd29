#include "core/base/files.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "core/base/diagnostics.h"

namespace nuscope {

std::string readWholeFile(const std::filesystem::path& path) {
  std::error_code ignored;
  std::ifstream in(path, std::ios::binary);
  if (!in || std::filesystem::is_directory(path, ignored)) {
    throw UserError(fmt::format("{}: cannot be read", path.string()));
  }
  std::ostringstream text;
  if (in.peek() != std::ifstream::traits_type::eof()) text << in.rdbuf();
  if (in.bad() || text.fail()) throw UserError(fmt::format("{}: cannot be read", path.string()));
  return std::move(text).str();
}

void writeWholeFile(const std::filesystem::path& path, std::string_view bytes) {
  errno = 0;
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) {
    throw EnvironmentError(fmt::format("{} cannot be written: {}", path.string(),
                                       errno != 0 ? std::strerror(errno) : "the disk took only a part"));
  }
}

}  // namespace nuscope
