#pragma once
// Programs for tests: one function, or one of the library.
#include <gtest/gtest.h>

#include "core/base/files.h"
#include "core/language/parse.h"

namespace nuscope::test {

inline constexpr const char* moduleHeader = "from __future__ import annotations\nimport numpy as np\n\n";

/// The program of this function's text.
inline tensor::Program parsed(const std::string& function,
                              std::shared_ptr<tensor::NodeStore> store = nullptr) {
  const std::string text = moduleHeader + function;
  auto result = language::parse(text, std::move(store));
  EXPECT_TRUE(result.program.has_value()) << render(result.diagnostics, "test.py", text);
  return *result.program;
}

/// The text of resources/programs/NAME.py.
inline std::string libraryText(const std::string& name) {
  return readWholeFile(NUSCOPE_SOURCE_DIR "/resources/programs/" + name + ".py");
}

}  // namespace nuscope::test
