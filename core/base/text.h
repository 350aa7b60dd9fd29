#pragma once
// Small things with UTF-8 texts.
#include <cstddef>
#include <string_view>

namespace nuscope {

/// The beginning of a text, of at most so many bytes; no character is cut in two.
inline std::string_view shortened(std::string_view utf8, std::size_t bytes) {
  if (utf8.size() <= bytes) return utf8;
  while (bytes > 0 && (static_cast<unsigned char>(utf8[bytes]) & 0xC0U) == 0x80U) --bytes;
  return utf8.substr(0, bytes);
}

}  // namespace nuscope
