// The small texts of study.h: hashes, extents, parameters, states, times.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <bit>
#include <charconv>
#include <ctime>

#include "core/base/diagnostics.h"
#include "core/sweep/study.h"

namespace nuscope::sweep {
namespace {

constexpr std::array<std::uint32_t, 64> roundConstants{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

/// FIPS 180-4, one block of 64 bytes.
void compress(std::array<std::uint32_t, 8>& state, const unsigned char* block) {
  std::array<std::uint32_t, 64> w{};
  for (std::size_t i = 0; i < 16; ++i) {
    const unsigned char* p = block + 4 * i;
    w[i] = std::uint32_t{p[0]} << 24U | std::uint32_t{p[1]} << 16U | std::uint32_t{p[2]} << 8U |
           std::uint32_t{p[3]};
  }
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t a = w[i - 15];
    const std::uint32_t b = w[i - 2];
    w[i] = w[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3U)) + w[i - 7] +
           (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10U));
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t t1 = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                             ((e & f) ^ (~e & g)) + roundConstants[i] + w[i];
    const std::uint32_t t2 =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const std::array<std::uint32_t, 8> added{a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < 8; ++i) state[i] += added[i];
}

constexpr std::array stateNames{"enumerated", "compiled", "measured",  "wrong",
                                "failed",     "crashed",  "timed out", "skipped"};

constexpr std::array kindNames{"emitted", "baseline", "foreign"};

}  // namespace

std::string textHash(std::string_view text) {
  std::array<std::uint32_t, 8> state{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::string padded(text);
  const std::uint64_t bits = std::uint64_t{text.size()} * 8;
  padded.push_back(static_cast<char>(0x80));
  padded.resize((padded.size() + 8 + 63) / 64 * 64, '\0');
  for (unsigned i = 0; i < 8; ++i)
    padded[padded.size() - 1 - i] = static_cast<char>((bits >> (8 * i)) & 0xffU);
  for (std::size_t at = 0; at < padded.size(); at += 64) {
    compress(state, reinterpret_cast<const unsigned char*>(padded.data()) + at);
  }
  std::string hex;
  for (const std::uint32_t word : state) hex += fmt::format("{:08x}", word);
  return hex;
}

std::string extentsText(const tensor::Extents& extents) {
  std::string text;
  for (const auto& [name, extent] : extents)
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, extent);
  return text;
}

tensor::Extents parseExtents(std::string_view text) {
  tensor::Extents extents;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    const auto equals = part.find('=');
    std::int64_t value = 0;
    const std::string_view number =
        equals == std::string_view::npos ? std::string_view() : part.substr(equals + 1);
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (equals == 0 || number.empty() || error != std::errc() || end != number.data() + number.size() ||
        value < 1) {
      throw UserError(fmt::format(
          "'{}' is no extent; write NAME=NUMBER with a number of at least 1, as in M=512,K=1024", part));
    }
    if (!extents.emplace(std::string(part.substr(0, equals)), value).second) {
      throw UserError(fmt::format("the extent of {} is given twice", part.substr(0, equals)));
    }
  }
  return extents;
}

std::string parametersText(const Parameters& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

std::string utcNow() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", utc);
}

std::string_view text(CandidateKind kind) {
  return kindNames.at(static_cast<std::size_t>(kind));
}

std::optional<CandidateKind> parseCandidateKind(std::string_view name) {
  for (std::size_t i = 0; i < kindNames.size(); ++i) {
    if (name == kindNames[i]) return static_cast<CandidateKind>(i);
  }
  return std::nullopt;
}

std::string standingText(const CandidateRecord& candidate) {
  if (candidate.state != CandidateState::measured) return std::string(text(candidate.state));
  return candidate.kind == CandidateKind::foreign ? "not proved, passed the gate" : "passed the gate";
}

std::string_view text(CandidateState state) {
  return stateNames.at(static_cast<std::size_t>(state));
}

std::optional<CandidateState> parseCandidateState(std::string_view name) {
  for (std::size_t i = 0; i < stateNames.size(); ++i) {
    if (name == stateNames[i]) return static_cast<CandidateState>(i);
  }
  return std::nullopt;
}

}  // namespace nuscope::sweep
