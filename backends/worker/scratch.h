#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace nuscope::backends {

/// A private folder below $TMPDIR, gone with the object.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] const std::string& token() const { return token_; }  ///< content of the file "token" in it
  /// The path of a file in it. UserError for names other than [A-Za-z0-9._-]+ and for "." and "..".
  [[nodiscard]] std::filesystem::path file(std::string_view name) const;

 private:
  std::filesystem::path folder_;
  std::string token_;
};

}  // namespace nuscope::backends
