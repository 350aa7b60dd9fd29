// The parser takes any bytes: it never crashes, hangs or throws, and what it accepts is printed to a text
// that reads back as the same nodes. LLVMFuzzerTestOneInput works with libFuzzer; the driver below needs no
// clang:
//   parser_fuzz SECONDS [SEED [FILE]]     the text at hand is written to FILE before it is tried
#include <cctype>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "core/language/parse.h"
#include "core/language/printer.h"
#include "tests/language/programs.h"

using namespace nuscope;

namespace {

constexpr double slowest = 20;  ///< seconds for one text, sanitizers and a busy machine included

[[noreturn]] void fault(const char* what, std::string_view text, const std::string& printed = {}) {
  std::fprintf(stderr, "%s\n--- text (%zu bytes)\n%.*s\n--- printed\n%s\n", what, text.size(),
               static_cast<int>(text.size()), text.data(), printed.c_str());
  std::abort();
}

void check(std::string_view text) {
  const auto began = std::chrono::steady_clock::now();
  const auto store = std::make_shared<tensor::NodeStore>();
  const language::Parsed parsed = language::parse(text, store);
  if (!parsed.program && parsed.diagnostics.empty()) fault("refused without a reason", text);
  render(parsed.diagnostics, "fuzz.py", text);
  if (parsed.program) {
    const language::Printed printed = language::print(*parsed.program, parsed.program->results);
    const language::Parsed again = language::parse(printed.text, store);
    if (!again.program) {
      fault(("the printed text is refused: " + render(again.diagnostics, "printed", printed.text)).c_str(),
            text, printed.text);
    }
    if (again.program->results != parsed.program->results)
      fault("the printed text means something else", text, printed.text);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  if (took.count() > slowest) fault("too slow", text);
}

const char* const fragments[] = {"x",
                                 "M",
                                 "np.",
                                 "np.sum(",
                                 "axis=0",
                                 "axis=-1",
                                 ", keepdims=True",
                                 ")",
                                 "(",
                                 "[",
                                 "]",
                                 " @ ",
                                 " + ",
                                 " - ",
                                 " * ",
                                 " / ",
                                 " // ",
                                 " % ",
                                 " ** 2",
                                 "1e300",
                                 "-1",
                                 "0",
                                 "1 / 3",
                                 ":",
                                 "None",
                                 "...",
                                 "\n",
                                 "\n    ",
                                 "\n\t",
                                 "\\\n",
                                 "for k in range(N):\n        ",
                                 "return ",
                                 "assert ",
                                 "def f(x):\n    return x\n",
                                 " == ",
                                 " >= ",
                                 " and ",
                                 "not ",
                                 "~",
                                 "&",
                                 "|",
                                 "np.where(",
                                 "np.exp(",
                                 "np.split(x, 2)",
                                 ".T",
                                 ".reshape(",
                                 ".astype(np.float32)",
                                 "np.inf",
                                 "np.zeros((M, 1))",
                                 "lambda",
                                 "torch.relu(",
                                 "'",
                                 "\"\"\"",
                                 "#",
                                 ";",
                                 "\r\n",
                                 "\xEF\xBB\xBF",
                                 "\xFF",
                                 "\xC3",
                                 "f32[M, N]",
                                 "i32[N]",
                                 "k:k + 1",
                                 "99999999999999999999",
                                 "0x1F",
                                 "np.einsum('ij,jk->ik', ",
                                 "np.stack([x, x])",
                                 "x.shape",
                                 " % 4 == 0",
                                 "2*"};

bool isWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// One word for another word of the same text, one operator or function for another: often still a program.
std::string mutateGently(std::string text, std::mt19937_64& random) {
  static const std::vector<std::vector<std::string>> families = {
      {" + ", " - ", " * ", " / ", " // ", " % ", " @ ", " < ", " >= ", " == "},
      {"np.exp(", "np.sqrt(", "np.abs(", "np.tanh(", "np.square(", "np.floor(", "np.sum(", "np.max(",
       "np.mean(", "np.var(", "np.cumsum(", "np.transpose(", "np.squeeze(", "-(", "np.int32(", "np.float32(",
       "np.float64("},
      {"f32", "f64", "f16", "bf16", "i32", "i8", "bool"},
      {"axis=0", "axis=1", "axis=-1", "axis=(0, 1)", "axis=None"},
      {"np.maximum(", "np.minimum(", "np.outer("},
      {", keepdims=True", ""},
      {"0", "1", "2", "3", "0.5", "1e-5", "-1", "N", "K", "M", "None", "True"}};
  const auto below = [&](std::size_t n) {
    return static_cast<std::size_t>(random() % std::max<std::size_t>(n, 1));
  };
  const auto body = text.find("def ");
  for (std::size_t edits = 1 + below(3); edits > 0 && body != std::string::npos; --edits) {
    const auto& family = families[below(families.size())];
    const std::string& from = family[below(family.size())];
    const std::size_t start = body + below(text.size() - body);
    const auto at = from.empty() ? text.find(')', start) : text.find(from, start);
    if (below(2) == 0 && at != std::string::npos) {
      text.replace(at, from.size(), family[below(family.size())]);
      continue;
    }
    std::vector<std::pair<std::size_t, std::size_t>> words;
    for (std::size_t i = body; i < text.size(); ++i) {
      if (!isWord(text[i]) || (i > 0 && isWord(text[i - 1]))) continue;
      std::size_t length = 0;
      while (i + length < text.size() && isWord(text[i + length])) ++length;
      words.emplace_back(i, length);
    }
    if (words.size() < 2) break;
    const auto into = words[below(words.size())];
    const auto out = words[below(words.size())];
    text.replace(into.first, into.second, text.substr(out.first, out.second));
  }
  return text;
}

std::string mutate(const std::vector<std::string>& corpus, std::mt19937_64& random) {
  const auto below = [&](std::size_t n) {
    return static_cast<std::size_t>(random() % std::max<std::size_t>(n, 1));
  };
  std::string text = corpus[below(corpus.size())];
  if (below(2) == 0) return mutateGently(std::move(text), random);
  for (std::size_t edits = 1 + below(6); edits > 0; --edits) {
    const std::size_t at = below(text.size() + 1);
    switch (below(7)) {
      case 0:
        if (!text.empty()) text[below(text.size())] = static_cast<char>(random());
        break;
      case 1:
        text.insert(at, fragments[below(std::size(fragments))]);
        break;
      case 2:
        text.erase(at, 1 + below(12));
        break;
      case 3: {  // a piece of another program
        const std::string& other = corpus[below(corpus.size())];
        const std::size_t from = below(other.size());
        text.insert(at, other.substr(from, below(80)));
        break;
      }
      case 4:
        text.insert(at, text.substr(below(text.size()), below(60)));
        break;
      case 5: {  // a fragment many times
        std::string many;
        const char* fragment = fragments[below(std::size(fragments))];
        for (std::size_t i = below(300); i > 0; --i) many += fragment;
        text.insert(at, many);
        break;
      }
      default: {  // one name or number for another
        const std::size_t from = below(text.size());
        const std::string token = fragments[below(std::size(fragments))];
        text.replace(from, std::min<std::size_t>(below(4), text.size() - from), token);
        break;
      }
    }
  }
  if (text.size() > 20000) text.resize(20000);
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}

#ifndef NUSCOPE_LIBFUZZER
int main(int count, char** arguments) {
  const double seconds = count > 1 ? std::atof(arguments[1]) : 5;
  std::mt19937_64 random(count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 1);
  std::vector<std::string> corpus;
  for (const auto& files :
       {language::programFiles(), language::corpusFiles(),
        language::filesBelow(std::filesystem::path(NUSCOPE_SOURCE_DIR) / "tests/data/language")}) {
    for (const auto& path : files) corpus.push_back(readWholeFile(path));
  }
  const auto began = std::chrono::steady_clock::now();
  std::size_t runs = 0;
  std::size_t accepted = 0;
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count() < seconds) {
    const std::string text = mutate(corpus, random);
    if (count > 3)
      std::ofstream(arguments[3], std::ios::binary) << text;  // what is being tried, should it crash
    check(text);
    ++runs;
    accepted += language::parse(text).program ? 1 : 0;
  }
  std::printf("%zu texts, %zu of them programs\n", runs, accepted);
}
#endif
