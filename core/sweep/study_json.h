#pragma once
// Small structured values of a study as JSON text. Readers throw UserError on anything malformed: a study is
// untrusted.
#include <map>
#include <string>
#include <string_view>

#include "core/sweep/study.h"

namespace nuscope::sweep {

std::string gateJson(const GateRecord& gate);
GateRecord parseGate(std::string_view json);
std::string parametersJson(const Parameters& parameters);
Parameters parseParameters(std::string_view json);
std::string textMapJson(const std::map<std::string, std::string>& map);
std::map<std::string, std::string> parseTextMap(std::string_view json);

}  // namespace nuscope::sweep
