#include "core/emit/arrays.h"

#include <cctype>

namespace nuscope::emit {

Names::Names() {
  // Words of C++, and what nuscope_runtime.h and the emitted functions use.
  for (const char* word : {"alignas",     "alignof",
                           "and",         "asm",
                           "auto",        "bool",
                           "break",       "case",
                           "catch",       "char",
                           "class",       "const",
                           "continue",    "default",
                           "delete",      "do",
                           "double",      "else",
                           "enum",        "explicit",
                           "export",      "extern",
                           "false",       "float",
                           "for",         "friend",
                           "goto",        "if",
                           "inline",      "int",
                           "long",        "mutable",
                           "namespace",   "new",
                           "not",         "nullptr",
                           "operator",    "or",
                           "private",     "protected",
                           "public",      "register",
                           "return",      "short",
                           "signed",      "sizeof",
                           "static",      "struct",
                           "switch",      "template",
                           "this",        "throw",
                           "true",        "try",
                           "typedef",     "typename",
                           "union",       "unsigned",
                           "using",       "virtual",
                           "void",        "volatile",
                           "while",       "xor",
                           "linux",       "unix",
                           "main",        "W",
                           "F",           "I",
                           "U",           "All",
                           "First",       "Number",
                           "Scratch",     "Pool",
                           "Data",        "Bytes",
                           "data",        "own",
                           "begin",       "end",
                           "lanes",       "threads",
                           "part",        "parts",
                           "load",        "store",
                           "gather",      "keep",
                           "select",      "splat",
                           "splatMask",   "max",
                           "min",         "abs",
                           "exp",         "log",
                           "tanh",        "sin",
                           "cos",         "sqrt",
                           "floor",       "rint",
                           "sign",        "power",
                           "infinity",    "prefixSum",
                           "lastLane",    "parallel",
                           "forLanes",    "forBlock",
                           "pause",       "i",
                           "j",           "k",
                           "r",           "u",
                           "v",           "nuscope",
                           "int8_t",      "free",
                           "abort",       "malloc",
                           "rows",        "tile",
                           "a",           "b",
                           "c",           "m",
                           "n",           "m0",
                           "m1",          "mt",
                           "k0",          "k1",
                           "j0",          "t",
                           "batch",       "panel",
                           "partial",     "sums",
                           "width",       "count",
                           "R",           "before",
                           "within",      "sum",
                           "block",       "row",
                           "depth",       "column",
                           "multiply",    "fetchBlock",
                           "addBlock",    "storeBlock",
                           "zero",        "packTransposed",
                           "forStrips",   "forNumbers",
                           "shareBegin",  "toF",
                           "toI",         "lanesFrom",
                           "laneNumbers", "clampIndex",
                           "floorDivide", "floorModulo",
                           "foldSum",     "foldProduct",
                           "foldMax",     "foldMin",
                           "foldAll",     "powerOfTwo",
                           "sineFrom",    "anyLane",
                           "scratch",     "maskOf",
                           "swap",        "storePast",
                           "fence"}) {
    taken_.insert(word);
  }
}

std::string identifier(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    result += byte < 128 && (std::isalnum(byte) != 0 || c == '_') ? c : '_';
  }
  // Names with two underscores, or a leading one, belong to the compiler.
  for (std::size_t at = result.find("__"); at != std::string::npos; at = result.find("__"))
    result.erase(at, 1);
  while (!result.empty() && result[0] == '_') result.erase(0, 1);
  if (result.empty()) result = "t";
  if (std::isdigit(static_cast<unsigned char>(result[0])) != 0) result = "t" + result;
  return result;
}

std::string Names::fresh(const std::string& wanted) {
  const std::string base = identifier(wanted);
  if (taken_.insert(base).second) return base;
  const bool digit = std::isdigit(static_cast<unsigned char>(base.back())) != 0;
  for (int i = 1;; ++i) {
    std::string name = base + (digit ? "_" : "") + std::to_string(i);
    if (taken_.insert(name).second) return name;
  }
}

std::string_view arrayType(DType type) {
  switch (type) {
    case DType::f64:
      return "double";
    case DType::i32:
      return "int";
    case DType::i8:
      return "signed char";
    case DType::boolean:
      return "unsigned char";
    default:
      return "float";
  }
}

std::string_view scalarType(DType type) {
  return type == DType::boolean ? std::string_view("bool") : arrayType(type);
}

std::string_view vectorType(DType type) {
  if (type == DType::f32) return "F";
  if (type == DType::i32 || type == DType::boolean) return "I";
  throw NeedsScalars{std::string(tensor::text(type)) + " has no vectors"};
}

}  // namespace nuscope::emit
