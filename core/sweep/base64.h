#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace nuscope::sweep {

std::string encodeBase64(std::string_view bytes);
/// Empty for anything but padded standard base64.
std::optional<std::string> decodeBase64(std::string_view text);

}  // namespace nuscope::sweep
