#pragma once
// Errors for people. A user error has a place, a cause and what to do; it is a value until it leaves a stage.
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace nuscope {

/// A place in a text: 1-based lines and columns (in characters of UTF-8 code points), end exclusive. Line 0:
/// unknown.
struct SourceRange {
  int line = 0;
  int column = 0;
  int endLine = 0;
  int endColumn = 0;
  bool operator==(const SourceRange&) const = default;
};

enum class Severity { error, warning, note };

struct Diagnostic {
  Severity severity = Severity::error;
  SourceRange range;
  std::string message;  ///< what is wrong, one sentence
  std::string hint;     ///< what to write or do instead; may be empty
};

/// "file:3:14: error: message", the line of text, the range underlined with ^~~~, "help: hint".
std::string render(const Diagnostic& diagnostic, std::string_view file, std::string_view text);
std::string render(const std::vector<Diagnostic>& diagnostics, std::string_view file, std::string_view text);

/// Bad input. `what()` is complete and fit for a person; exit code 3 on the command line.
class UserError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The environment lacks something (no compiler, no device, a full disk); exit code 4 on the command line.
class EnvironmentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A fault of Nuscope itself.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace nuscope
