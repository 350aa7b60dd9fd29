#include "tests/proof/mutants.h"

#include <cctype>

namespace nuscope::proof {
namespace {

constexpr std::pair<const char*, const char*> replacements[] = {
    {" + ", " - "},
    {" - ", " + "},
    {" * ", " + "},
    {" * ", " / "},
    {" / ", " * "},
    {" < ", " <= "},
    {" <= ", " < "},
    {" > ", " >= "},
    {" >= ", " > "},
    {" == ", " != "},
    {"np.maximum(", "np.minimum("},
    {"np.minimum(", "np.maximum("},
    {"np.max(", "np.min("},
    {"np.sum(", "np.max("},
    {"np.sum(", "np.mean("},
    {"np.mean(", "np.sum("},
    {"np.exp(", "np.tanh("},
    {"np.exp(", "np.abs("},
    {"np.sqrt(", "np.abs("},
    {"np.log(", "np.sqrt("},
    {"np.floor(", "np.rint("},
    {"np.rint(", "np.floor("},
    {"np.abs(", "np.square("},
    {"np.sin(", "np.cos("},
    {"np.cos(", "np.sin("},
    {"axis=1", "axis=0"},
    {"axis=0", "axis=1"},
    {"axis=-1", "axis=0"},
    {" // ", " % "},
    {" % ", " // "},
    {"arange(", "ones("},
    {".T", ""},
    {"np.cumsum(", "np.square("},
    {"np.tanh(", "np.sin("},
    {"np.prod(", "np.sum("},
    {"[:-1]", "[1:]"},
    {"[1:]", "[:-1]"},
    {" @ ", " * "},
    {" > ", " < "},
    {" < ", " > "},
    {"keepdims=True", "keepdims=False"},
    {"np.max(", "np.sum("},
    {"np.min(", "np.max("},
    {" ** 2", " ** 3"},
    {"np.expand_dims(", "np.squeeze("},
    {"0.5", "0.25"},
    {"1e-5", "1e-4"},
    {"np.sign(", "np.abs("},
    {" - 1", ""},
    {" + 1", ""},
};

bool isFixed(const std::string& text, std::size_t at) {
  const std::size_t line = text.rfind('\n', at) + 1;
  return text.compare(line, 11, "    assert ") == 0 || text.compare(line, 4, "def ") == 0;
}

}  // namespace

std::vector<Change> changesOf(const std::string& text) {
  std::vector<Change> result;
  const std::size_t from = text.find("def ");
  for (const auto& [before, after] : replacements) {
    for (std::size_t at = text.find(before, from); at != std::string::npos; at = text.find(before, at + 1)) {
      result.push_back({at, std::string(before).size(), after});
    }
  }
  for (std::size_t i = from; i < text.size(); ++i) {
    const bool begins = std::isdigit(static_cast<unsigned char>(text[i])) != 0 &&
                        std::isalnum(static_cast<unsigned char>(text[i - 1])) == 0 && text[i - 1] != '.' &&
                        text[i - 1] != '_';
    if (!begins) continue;
    std::size_t end = i;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    if (end - i > 3 || (end < text.size() && (text[end] == 'e' || text[end] == '.'))) continue;
    const int value = std::stoi(text.substr(i, end - i));
    result.push_back({i, end - i, std::to_string(value + 1)});
    if (value > 0) result.push_back({i, end - i, std::to_string(value - 1)});
  }
  std::erase_if(result, [&](const Change& change) { return isFixed(text, change.at); });
  return result;
}

}  // namespace nuscope::proof
