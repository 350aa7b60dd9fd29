#pragma once
// Tokens to a syntax tree. Recovers at the end of the logical line, so that each line reports its own errors;
// Python that is outside the subset is named, with what to write instead.
#include <memory>
#include <string_view>
#include <vector>

#include "core/language/syntax.h"

namespace nuscope::language {

std::shared_ptr<const Module> parseModule(std::string_view text, std::vector<Diagnostic>& diagnostics);

}  // namespace nuscope::language
