// The C++ of the folder: header, checked entry, and the table of the bench.
#include <fmt/format.h>

#include <set>

#include "core/base/diagnostics.h"
#include "core/export/support.h"
#include "core/sweep/plain_domain.h"

namespace nuscope::exporting {
namespace {

using tensor::DType;

std::string headerType(DType type) {
  switch (type) {
    case DType::f64:
      return "double";
    case DType::i32:
      return "int32_t";
    case DType::i8:
      return "int8_t";
    case DType::boolean:
      return "uint8_t";
    default:
      return "float";
  }
}

const std::vector<emit::Argument>& arguments(const Contents& contents) {
  return contents.choice.kernels[0].kernel.arguments;
}

std::string nameOf(const emit::Argument& argument) {
  return argument.name == "restrict" ? "restrict_" : argument.name;  // a word of C, not of C++
}

/// Symbolic shapes of the arguments: inputs, then results.
std::vector<tensor::Shape> shapesOf(const tensor::Program& program) {
  std::vector<tensor::Shape> shapes;
  for (const tensor::Parameter& one : program.parameters) shapes.push_back(one.node->shape);
  for (const tensor::NodeRef result : program.results) shapes.push_back(result->shape);
  return shapes;
}

/// "const float* x, float* out": a parameter list, or its names alone for a call.
std::string list(const Contents& contents, bool types) {
  std::vector<std::string> parts;
  for (const emit::Argument& one : arguments(contents)) {
    const std::string name = nameOf(one);
    parts.push_back(types ? fmt::format("{}{}* {}", one.output ? "" : "const ", headerType(one.dtype), name)
                          : name);
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// A Dim over Wide variables n_M; quotients call `quotient`.
std::string wideText(const tensor::Dim& dim) {
  std::vector<std::string> terms;
  for (const auto& [monomial, coefficient] : dim.terms()) {
    std::string term = coefficient == 1 && !monomial.empty() ? "" : fmt::format("Wide({})", coefficient);
    for (const auto& atom : monomial) {
      const std::string factor = atom.quotient
                                     ? fmt::format("quotient({}, {})", wideText(atom.quotient->numerator),
                                                   wideText(atom.quotient->denominator))
                                     : sweep::dimensionName(atom.symbol);
      term += term.empty() ? factor : " * " + factor;
    }
    terms.push_back(term);
  }
  return terms.empty() ? "Wide(0)" : fmt::format("{}", fmt::join(terms, " + "));
}

std::string relationText(tensor::Relation relation) {
  switch (relation) {
    case tensor::Relation::equal:
      return "==";
    case tensor::Relation::notEqual:
      return "!=";
    case tensor::Relation::less:
      return "<";
    case tensor::Relation::lessEqual:
      return "<=";
  }
  return "==";
}

/// Numbers of elements of all tensors that the general loops may store, each once.
std::vector<std::string> storedCounts(const Contents& contents) {
  std::vector<tensor::NodeRef> roots = contents.choice.program.results;
  for (const tensor::Parameter& one : contents.choice.program.parameters) roots.push_back(one.node);
  for (const tensor::Precondition& one : contents.choice.program.preconditions) {
    if (one.condition != nullptr) roots.push_back(one.condition);
  }
  std::set<std::string> counts;
  for (const tensor::NodeRef node : tensor::topological(roots)) {
    const tensor::Dim count = tensor::product(node->shape);
    if (!count.isConstant()) counts.insert(wideText(count));
  }
  return {counts.begin(), counts.end()};
}

/// A text as lines of a comment.
std::string comment(std::string_view text, const std::string& prefix) {
  std::string out;
  while (!text.empty()) {
    const auto end = text.find('\n');
    out += prefix + commentLine(std::string(text.substr(0, end))) + "\n";
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
  }
  return out;
}

std::string shapeWords(const tensor::Program& program, const Contents& contents) {
  std::string text;
  const auto shapes = shapesOf(program);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const emit::Argument& one = arguments(contents)[i];
    text += fmt::format("//   {} {:<12} {}\n", one.output ? "out" : "in ", one.name,
                        tensor::typeText(one.dtype, shapes[i]));
  }
  return text;
}

std::string promiseText(const Chosen& kernel, const tensor::Program& program) {
  if (kernel.steps.empty()) return "it is the program as written, tile by tile: nothing had to be proved";
  std::string holds = "all extents of at least 1";
  if (!program.preconditions.empty()) holds += " and all inputs that satisfy the asserts";
  if (kernel.proved())
    return fmt::format(
        "variant {} by {} step{}, each proved over the real numbers for {} (proved anew at the export)",
        kernel.candidate.variant, kernel.steps.size(), kernel.steps.size() == 1 ? "" : "s", holds);
  return fmt::format(
      "variant {}, recorded as proved over the real numbers, but NOT every step was proved anew at the "
      "export: see manifest.json",
      kernel.candidate.variant);
}

std::string kernelsText(const Contents& contents) {
  std::string text;
  for (std::size_t i = 0; i < contents.choice.kernels.size(); ++i) {
    const Chosen& one = contents.choice.kernels[i];
    text += fmt::format("//   {:<14} {}: {}\n//   {:<14} {}\n", sourceName(i),
                        extentsWords(contents.choice.program, one.sweep.extents), one.kernel.name, "",
                        promiseText(one, contents.choice.program));
    if (one.measurement) {
      const auto& gate = one.measurement->gate;
      const double worst = gate.worst >= 0 ? gate.draws[static_cast<std::size_t>(gate.worst)].ratio : 0;
      text += fmt::format(
          "//   {:<14} measured: {:.4g} ms (median, 95 %: {:.4g} .. {:.4g}) with {} thread{} on {}\n"
          "//   {:<14} numeric gate: {} draws against float64, worst error {:.3g} bounds of rounding, {:g} "
          "are allowed\n",
          "", one.measurement->median * 1e3, one.measurement->low * 1e3, one.measurement->high * 1e3,
          one.sweep.threads, one.sweep.threads == 1 ? "" : "s", commentLine(one.sweep.device), "",
          gate.draws.size(), worst, gate.factor);
    } else {
      text += fmt::format("//   {:<14} not measured\n", "");
    }
  }
  return text;
}

std::string assertsText(const Asserts& asserts) {
  std::string text;
  for (const AssertLine& one : asserts.lines) {
    const std::string when = one.when == AssertLine::When::extents ? "checked (extents)"
                             : one.when == AssertLine::When::call  ? "checked at each call of _for"
                                                                   : "NOT checked: " + one.why;
    text += fmt::format("//   {}\n", commentLine(fmt::format("assert {}: {}", one.text, when)));
  }
  return text.empty() ? "//   none\n" : text;
}

/// Which kernel is for these extents; -1: none.
std::string whichText(const Contents& contents) {
  const auto& dimensions = contents.choice.program.dimensions;
  std::string text = "int which(const int64_t* extents) {\n  (void)extents;\n";
  for (std::size_t i = 0; i < contents.choice.kernels.size(); ++i) {
    std::vector<std::string> tests;
    for (std::size_t d = 0; d < dimensions.size(); ++d)
      tests.push_back(
          fmt::format("extents[{}] == {}", d, contents.choice.kernels[i].sweep.extents.at(dimensions[d])));
    text += tests.empty() ? fmt::format("  return {};\n", i)
                          : fmt::format("  if ({}) return {};\n", fmt::join(tests, " && "), i);
  }
  return text + (dimensions.empty() ? "}\n" : "  return -1;\n}\n");
}

std::string processorText(const Contents& contents) {
  const auto features = processorFeatures(contents.choice.target);
  std::string text = "bool processorFits() {\n";
  if (features.empty()) return text + "  return true;\n}\n";
  std::vector<std::string> tests;
  for (const std::string& feature : features)
    tests.push_back(fmt::format("__builtin_cpu_supports(\"{}\")", feature));
  return text +
         fmt::format(
             "#if defined(__x86_64__) || defined(__i386__)\n  __builtin_cpu_init();  // asks the processor, "
             "and "
             "the system whether it saves the registers\n  return {};\n#else\n  return false;\n#endif\n}}\n",
             fmt::join(tests, " && "));
}

/// Memory that a kernel takes for itself cannot be refused inside it.
std::string memoryText(const Contents& contents) {
  std::int64_t most = 0;
  for (const Chosen& one : contents.choice.kernels) most = std::max(most, one.kernel.scratchBytes);
  if (most == 0) return {};
  return R"(
/// The kernel keeps its own memory from call to call; it is asked for before the first call with so many threads.
bool memoryFits(long bytes, int threads) {
  static int fitted = 0;
  if (__atomic_load_n(&fitted, __ATOMIC_RELAXED) >= threads) return true;
  void* const memory = malloc(size_t(bytes) * size_t(threads));
  if (memory == nullptr) return false;
  free(memory);
  __atomic_store_n(&fitted, threads, __ATOMIC_RELAXED);
  return true;
}
)";
}

std::string extentChecks(const Contents& contents) {
  const tensor::Program& program = contents.choice.program;
  std::string text;
  if (!contents.general) {
    if (!program.dimensions.empty())
      text += fmt::format("  if (kernel < 0) return {}_other_extents;\n", contents.function);
    return text;
  }
  text += "  if (kernel < 0) {\n";
  for (const std::string& dimension : program.dimensions) {
    const std::string n = sweep::dimensionName(dimension);
    text +=
        fmt::format("    if ({0} < 1 || {0} > 0x7fffffff) return {1}_other_extents;\n", n, contents.function);
  }
  for (const std::string& count : storedCounts(contents))
    text += fmt::format("    if ({} > largest) return {}_other_extents;\n", count, contents.function);
  if (!program.facts.relations().empty()) text += "    undefined = false;\n";
  for (const tensor::DimRelation& relation : program.facts.relations()) {
    text += fmt::format("    if (!({} {} {}) || undefined) return {}_extents_assert;  // {}\n",
                        wideText(relation.left), relationText(relation.relation), wideText(relation.right),
                        contents.function, commentLine(relation.text()));
  }
  return text + "  }\n";
}

std::string overlapChecks(const Contents& contents) {
  const auto shapes = shapesOf(contents.choice.program);
  const auto& all = arguments(contents);
  std::string text = "  const Range ranges[] = {\n";
  for (std::size_t i = 0; i < all.size(); ++i) {
    text += fmt::format("      {{{}, {} * ({}), {}}},\n", nameOf(all[i]), tensor::byteSize(all[i].dtype),
                        wideText(tensor::product(shapes[i])), all[i].output);
  }
  return text +
         fmt::format("  }};\n  if (overlap(ranges, {})) return {}_overlap;\n", all.size(), contents.function);
}

std::string assertChecks(const Contents& contents) {
  if (!contents.asserts.code) return {};
  std::string outs;
  std::string all;
  for (int i = 0; i < contents.asserts.decided; ++i) {
    outs += fmt::format(", &holds[{}]", i);
    all += fmt::format("{}holds[{}]", i == 0 ? "" : " && ", i);
  }
  std::string inputs;
  for (const emit::Argument& one : arguments(contents)) {
    if (!one.output) inputs += ", " + nameOf(one);
  }
  return fmt::format(
      "    unsigned char holds[{}] = {{}};\n    {}_asserts(extents{}{}, 1);\n    if (!({})) return "
      "{}_assert;\n",
      contents.asserts.decided, contents.function, inputs, outs, all, contents.function);
}

std::string callText(const Contents& contents) {
  std::string text;
  const std::string names = list(contents, false);
  for (std::size_t i = 0; i < contents.choice.kernels.size(); ++i) {
    const Chosen& one = contents.choice.kernels[i];
    const std::string memory = one.kernel.scratchBytes > 0
                                   ? fmt::format("      if (!memoryFits({}, threads)) return {}_no_memory;\n",
                                                 one.kernel.scratchBytes, contents.function)
                                   : "";
    text += fmt::format("    {}if (kernel == {}) {{\n{}      {}({}, threads);\n    }}", i == 0 ? "" : "else ",
                        i, memory, one.kernel.name, names);
    text += "\n";
  }
  if (contents.general)
    text += fmt::format("    else {{\n      {}_general(extents, {}, 1);\n    }}\n", contents.function, names);
  return text;
}

char benchType(DType type) {
  switch (type) {
    case DType::f64:
      return 'd';
    case DType::i32:
      return 'i';
    case DType::i8:
      return 'b';
    case DType::boolean:
      return 'u';
    default:
      return 'f';
  }
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

}  // namespace

const std::vector<Code>& codes() {
  static const std::vector<Code> all{
      {"ok", "the results were computed"},
      {"null_pointer", "a pointer is null"},
      {"bad_threads", "the number of threads is not in 1 .. 65536"},
      {"other_extents",
       "these extents were not exported, or are not in 1 .. 2^31 - 1, or too large together"},
      {"extents_assert", "the extents violate an assert of the program"},
      {"processor", "this processor, or its system, lacks an instruction set that the kernel uses"},
      {"overlap", "a result overlaps another array"},
      {"assert", "the inputs violate an assert of the program"},
      {"no_memory", "there is not enough memory"},
  };
  return all;
}

std::string anyProcessor(const std::string& source) {
  return R"(// Runs on any processor, also where it is compiled with flags for another one.
#if defined(__x86_64__) && defined(__clang__)
#pragma clang attribute push(__attribute__((target("arch=x86-64"))), apply_to = function)
#elif defined(__x86_64__)
#pragma GCC target("arch=x86-64")
#endif
)" + source +
         R"(#if defined(__x86_64__) && defined(__clang__)
#pragma clang attribute pop
#endif
)";
}

std::string commentLine(const std::string& text) {
  std::string line;
  for (const char c : text) line += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  if (line.ends_with('\\')) line += '.';  // would join the next line
  return line;
}

std::string headerText(const Contents& contents) {
  const Choice& choice = contents.choice;
  const std::string& f = contents.function;
  const auto features = processorFeatures(choice.target);
  std::string guard = f;
  for (char& c : guard) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string text = fmt::format(
      "// {}\n//\n{}//\n",
      commentLine(fmt::format("{} for {}, exported by Nuscope {} on {} from {}, revision {} of {}.",
                              choice.program.name, choice.target.name, choice.revision.version, contents.date,
                              contents.studyName.empty() ? "a study" : contents.studyName, choice.revision.id,
                              choice.revision.created)),
      comment(choice.revision.program, "//     "));
  text += "// KERNELS\n" + kernelsText(contents);
  if (contents.general)
    text += "//   general.cpp    every other extents: plain loops of the program, slow, one thread\n";
  text +=
      "// ARRAYS, in this order; row-major, any alignment, no overlap; a scalar is a pointer to one "
      "element\n" +
      shapeWords(choice.program, contents);
  text += fmt::format(
      "// PROCESSOR\n//   {}\n",
      features.empty() ? "any" : fmt::format("{}: {}", choice.target.name, fmt::join(features, ", ")));
  text += "// ASSERTS\n" + assertsText(contents.asserts);
  text += R"(// PROMISE
//   "Proved over the reals": defined wherever the program is and equal there, over the real numbers for floating types
//   and unbounded integers for integer types. Rounding is not part of a proof; range is not either: intermediates of i32
//   wrap. NaN and infinities in inputs are outside the promise. The same bits for the same number of threads. Compile with
//   the flags of manifest.json; never with -ffast-math.
// LICENCE
//   The files of this folder that Nuscope wrote for this program are its author's, like the program. nuscope_runtime.h
//   is part of Nuscope (GPL-3.0-or-later); kernels that include it are licensed as their author likes.
)";
  text += fmt::format(
      "#ifndef {0}_H\n#define {0}_H\n\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" "
      "{{\n#endif\n\n",
      guard);
  text += fmt::format("/// At {} only, on such a processor, threads >= 1; nothing is checked.\n",
                      extentsWords(choice.program, choice.kernels[0].sweep.extents));
  text += fmt::format("void {}({}, int threads);\n\n", f, list(contents, true));
  for (std::size_t i = 1; i < choice.kernels.size(); ++i) {
    text += fmt::format("/// The same at {}.\nvoid {}({}, int threads);\n\n",
                        extentsWords(choice.program, choice.kernels[i].sweep.extents),
                        choice.kernels[i].kernel.name, list(contents, true));
  }
  text += fmt::format("/// What {}_for returns.\nenum {}_code {{\n", f, f);
  for (std::size_t i = 0; i < codes().size(); ++i)
    text += fmt::format("  {}_{} = {}{}  ///< {}\n", f, codes()[i].name, i, i + 1 < codes().size() ? "," : "",
                        codes()[i].sentence);
  text += fmt::format(
      "}};\n\n/// Checks extents ({}), pointers, overlap, processor and the asserts above, then computes. "
      "Runs on any\n"
      "/// processor. Where a code other than 0 is returned, no result was touched.\n"
      "int {}_for(const int64_t* extents, {}, int threads);\n\n",
      choice.program.dimensions.empty() ? "none"
                                        : fmt::format("{}", fmt::join(choice.program.dimensions, ", ")),
      f, list(contents, true));
  text += fmt::format(
      "/// Which kernel serves these extents: 1, 2, ... in the order above; 0: {}.\n"
      "int {}_kernel(const int64_t* extents);\n\n",
      contents.general ? "the general loops" : "none", f);
  text += fmt::format("/// The sentence of a code.\nconst char* {}_error(int code);\n\n", f);
  text += "#ifdef __cplusplus\n}\n#endif\n#endif\n";
  return text;
}

std::string checkText(const Contents& contents) {
  const Choice& choice = contents.choice;
  const std::string& f = contents.function;
  std::string text = "// " + f + "_for: everything that is checked before a kernel runs.\n";
  text += "#include \"kernel.h\"\n\n#include <stddef.h>\n#include <stdlib.h>\n\n#include <new>\n\n";
  text += "extern \"C\" {\n";
  std::string inputs;
  for (const emit::Argument& one : arguments(contents)) {
    if (!one.output) inputs += fmt::format("const {}* {}, ", headerType(one.dtype), nameOf(one));
  }
  if (contents.asserts.code) {
    text += fmt::format("void {}_asserts(const int64_t* extents, {}", f, inputs);
    for (int i = 0; i < contents.asserts.decided; ++i) text += fmt::format("unsigned char* holds{}, ", i + 1);
    text += "int threads);\n";
  }
  if (contents.general)
    text +=
        fmt::format("void {}_general(const int64_t* extents, {}, int threads);\n", f, list(contents, true));
  text += "}\n\nnamespace {\n\ntypedef __int128 Wide;  // no product of extents overflows it\n\n";
  if (contents.general) text += "const Wide largest = Wide(1) << 40;  // elements of one tensor\n\n";
  text += whichText(contents) + "\n" + processorText(contents) + memoryText(contents);
  text += R"(
struct Range {
  const void* data;
  Wide bytes;
  bool written;
};
bool overlap(const Range* ranges, int count) {
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < count; ++j) {
      const Wide a = Wide(uintptr_t(ranges[i].data)), b = Wide(uintptr_t(ranges[j].data));
      if (i != j && ranges[i].written && a < b + ranges[j].bytes && b < a + ranges[i].bytes) return true;
    }
  }
  return false;
}
)";
  text += fmt::format("\n}}  // namespace\n\nint {}_for(const int64_t* extents, {}, int threads) {{\n", f,
                      list(contents, true));
  std::string nulls = choice.program.dimensions.empty() ? "" : "extents == nullptr";
  for (const emit::Argument& one : arguments(contents))
    nulls += fmt::format("{}{} == nullptr", nulls.empty() ? "" : " || ", nameOf(one));
  text += fmt::format(
      "  if ({}) return {}_null_pointer;\n  if (threads < 1 || threads > 65536) return {}_bad_threads;\n",
      nulls, f, f);
  for (std::size_t d = 0; d < choice.program.dimensions.size(); ++d)
    text += fmt::format("  const Wide {0} = extents[{1}];\n  (void){0};\n",
                        sweep::dimensionName(choice.program.dimensions[d]), d);
  text += R"(  bool undefined = false;
  const auto quotient = [&](Wide a, Wide b) -> Wide {  // rounds down, as Python's //
    undefined = undefined || b == 0;
    return b == 0 ? Wide(0) : a / b - (a % b != 0 && (a < 0) != (b < 0));
  };
  (void)quotient;
  const int kernel = which(extents);
)";
  text += extentChecks(contents);
  text += fmt::format("  if (kernel >= 0 && !processorFits()) return {}_processor;\n", f);
  text += overlapChecks(contents);
  text += "  try {\n" + assertChecks(contents) + callText(contents);
  text += fmt::format(
      "  }} catch (const std::bad_alloc&) {{\n    return {0}_no_memory;\n  }}\n  return {0}_ok;\n}}\n\n", f);
  text += fmt::format("int {}_kernel(const int64_t* extents) {{\n  return which(extents) + 1;\n}}\n\n", f);
  text += fmt::format("const char* {}_error(int code) {{\n  switch (code) {{\n", f);
  for (const Code& code : codes())
    text += fmt::format("    case {}_{}: return {};\n", f, code.name, quoted(code.sentence));
  text += "  }\n  return \"this is no code of the kernel\";\n}\n";
  return anyProcessor(text);
}

std::string benchCases(const Contents& contents) {
  const auto& all = arguments(contents);
  std::string text =
      "// What bench.cpp repeats: the kernels, the plain loops they are compared with, and what the study "
      "measured.\n"
      "#pragma once\n#include <stdint.h>\n\n#include \"../kernel.h\"\n\n"
      "using Call = void (*)(void** data, int threads);\n"
      "struct Array {\n  const char* name;\n  char type;  // d f i b u: double, float, int, signed and "
      "unsigned char\n"
      "  int64_t elements;\n  int64_t bytes;  // of one element\n  bool output;\n};\n"
      "struct Case {\n  int number;\n  const char* extents;\n  const Array* arrays;\n  int count;\n  Call "
      "kernel;\n"
      "  Call plain;  // null: plain C++ has not its types\n  int threads;\n"
      "  double studied, studiedLow, studiedHigh;  // seconds; 0: not measured\n  double studiedPlain;\n"
      "  const char* device;\n};\n\n";
  std::string cases;
  for (std::size_t i = 0; i < contents.choice.kernels.size(); ++i) {
    const Chosen& one = contents.choice.kernels[i];
    const std::size_t number = i + 1;
    std::vector<std::string> passed;
    std::string arrays;
    for (std::size_t a = 0; a < all.size(); ++a) {
      const emit::Argument& argument = one.kernel.arguments[a];
      std::int64_t elements = 1;
      for (const std::int64_t extent : argument.shape) elements *= extent;
      passed.push_back(
          fmt::format("({}{}*)data[{}]", argument.output ? "" : "const ", headerType(argument.dtype), a));
      arrays += fmt::format("    {{\"{}\", '{}', {}, {}, {}}},\n", argument.name, benchType(argument.dtype),
                            elements, tensor::byteSize(argument.dtype), argument.output);
    }
    const std::string call = fmt::format("{}", fmt::join(passed, ", "));
    text += fmt::format("static const Array arrays_{}[] = {{\n{}}};\n", number, arrays);
    text += fmt::format("static void kernel_{}(void** data, int threads) {{ {}({}, threads); }}\n", number,
                        one.kernel.name, call);
    if (one.plain) {
      text +=
          fmt::format("extern \"C\" void {}({}, int threads);\n", one.plain->function, list(contents, true));
      text += fmt::format("static void call_plain_{}(void** data, int threads) {{ {}({}, threads); }}\n",
                          number, one.plain->function, call);
    }
    double plain = 0;
    for (const auto& [label, measurement] : one.baselines) {
      if (label.starts_with("plain C++ loops")) plain = measurement.median;
    }
    cases +=
        fmt::format("    {{{}, {}, arrays_{}, {}, kernel_{}, {}, {}, {}, {}, {}, {}, {}}},\n", number,
                    quoted(extentsWords(contents.choice.program, one.sweep.extents)), number, all.size(),
                    number, one.plain ? fmt::format("call_plain_{}", number) : "nullptr", one.sweep.threads,
                    one.measurement ? one.measurement->median : 0, one.measurement ? one.measurement->low : 0,
                    one.measurement ? one.measurement->high : 0, plain, quoted(one.sweep.device));
  }
  return text + "static const Case cases[] = {\n" + cases + "};\n";
}

}  // namespace nuscope::exporting
