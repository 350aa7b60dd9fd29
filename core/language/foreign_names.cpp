#include "core/language/foreign_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace nuscope::language {
namespace {

/// `text` uses {0}, {1}, {2} for arguments, {axis} for the axis argument (", axis=-1" where none is given:
/// see fill), {a}, {b}: arguments 0 and 1 in parentheses where needed.
struct Replacement {
  std::string_view name;  ///< the last part of the path, lower case as written
  std::string_view text;
};

// One table for functions and methods; of a method, argument 0 is the tensor before the dot.
constexpr Replacement replacements[] = {
    // activations
    {"silu", "{a} / (1 + np.exp(-{a}))"},
    {"SiLU", "{a} / (1 + np.exp(-{a}))"},
    {"swish", "{a} / (1 + np.exp(-{a}))"},
    {"sigmoid", "1 / (1 + np.exp(-{a}))"},
    {"Sigmoid", "1 / (1 + np.exp(-{a}))"},
    {"logsigmoid", "-np.log(1 + np.exp(-{a}))"},
    {"relu", "np.maximum({0}, 0)"},
    {"ReLU", "np.maximum({0}, 0)"},
    {"relu_", "np.maximum({0}, 0)"},
    {"relu6", "np.clip({0}, 0, 6)"},
    {"leaky_relu", "np.where({0} > 0, {0}, 0.01 * {a})"},
    {"elu", "np.where({0} > 0, {0}, np.exp({0}) - 1)"},
    {"softplus", "np.log(1 + np.exp({0}))"},
    {"gelu", "0.5 * {a} * (1 + np.tanh(0.7978845608 * ({0} + 0.044715 * {a} * {a} * {a})))"},
    {"GELU", "0.5 * {a} * (1 + np.tanh(0.7978845608 * ({0} + 0.044715 * {a} * {a} * {a})))"},
    {"erf", "np.tanh: the language has the tanh form of gelu, for NumPy has no erf"},
    {"hardtanh", "np.clip({0}, -1, 1)"},
    {"softmax",
     "e / np.sum(e, {axis}, keepdims=True), after e = np.exp({0} - np.max({0}, {axis}, keepdims=True))"},
    {"Softmax",
     "e / np.sum(e, {axis}, keepdims=True), after e = np.exp({0} - np.max({0}, {axis}, keepdims=True))"},
    {"log_softmax",
     "s - np.log(np.sum(np.exp(s), {axis}, keepdims=True)), after s = {0} - np.max({0}, {axis}, "
     "keepdims=True)"},
    {"logsumexp",
     "m + np.log(np.sum(np.exp({0} - m), {axis}, keepdims=True)), after m = np.max({0}, {axis}, "
     "keepdims=True)"},
    // norms and layers
    {"layer_norm",
     "({0} - m) / np.sqrt(np.var({0}, axis=-1, keepdims=True) + 1e-5) * g + b, after m = np.mean({0}, "
     "axis=-1, keepdims=True)"},
    {"LayerNorm",
     "({0} - m) / np.sqrt(np.var({0}, axis=-1, keepdims=True) + 1e-5) * g + b, after m = np.mean({0}, "
     "axis=-1, keepdims=True)"},
    {"rms_norm", "{a} / np.sqrt(np.mean({a} * {a}, axis=-1, keepdims=True) + 1e-5) * g"},
    {"RMSNorm", "{a} / np.sqrt(np.mean({a} * {a}, axis=-1, keepdims=True) + 1e-5) * g"},
    {"normalize", "{a} / np.sqrt(np.sum({a} * {a}, axis=-1, keepdims=True))"},
    {"linear", "{a} @ {b}.T"},
    {"Linear", "x @ w.T + b, with w and b as parameters"},
    {"scaled_dot_product_attention",
     "softmax({a} @ {b}.T / np.sqrt(d)) @ {2}, with softmax as a helper function"},
    {"dropout", "{0}: programs describe inference"},
    {"Dropout", "{0}: programs describe inference"},
    {"mse_loss", "np.mean(({0} - {1}) ** 2)"},
    // products
    {"matmul", "{a} @ {b}"},
    {"mm", "{a} @ {b}"},
    {"bmm", "{a} @ {b}"},
    {"mv", "{a} @ {b}"},
    {"dot", "{a} @ {b}"},
    {"vdot", "{a} @ {b}"},
    {"inner", "{a} @ {b}.T"},
    {"addmm", "{a} + {b} @ {2}"},
    {"baddbmm", "{a} + {b} @ {2}"},
    {"ger", "np.outer({0}, {1})"},
    {"tensordot", "np.einsum with the labels spelled out"},
    {"kron", "np.einsum and .reshape"},
    // arithmetic
    {"add", "{a} + {b}"},
    {"sub", "{a} - {b}"},
    {"subtract", "{a} - {b}"},
    {"mul", "{a} * {b}"},
    {"multiply", "{a} * {b}"},
    {"div", "{a} / {b}"},
    {"divide", "{a} / {b}"},
    {"true_divide", "{a} / {b}"},
    {"floor_divide", "{a} // {b}"},
    {"remainder", "{a} % {b}"},
    {"mod", "{a} % {b}"},
    {"fmod", "{a} % {b}, which has the sign of the divisor"},
    {"neg", "-{a}"},
    {"negative", "-{a}"},
    {"pow", "{a} ** {b}"},
    {"power", "{a} ** {b}"},
    {"float_power", "{a} ** {b}"},
    {"rsqrt", "1 / np.sqrt({0})"},
    {"reciprocal", "1 / {a}"},
    {"absolute", "np.abs({0})"},
    {"fabs", "np.abs({0})"},
    {"expm1", "np.exp({0}) - 1"},
    {"log1p", "np.log(1 + {a})"},
    {"log2", "np.log({0}) / 0.6931471805599453"},
    {"log10", "np.log({0}) / 2.302585092994046"},
    {"exp2", "np.exp({0} * 0.6931471805599453)"},
    {"sinh", "(np.exp({0}) - np.exp(-{a})) / 2"},
    {"cosh", "(np.exp({0}) + np.exp(-{a})) / 2"},
    {"tan", "np.sin({0}) / np.cos({0})"},
    {"ceil", "-np.floor(-{a})"},
    {"round", "np.rint({0})"},
    {"trunc", "{a}.astype(np.int32)"},
    {"clamp", "np.clip({all})"},
    {"clamp_min", "np.maximum({0}, {1})"},
    {"clamp_max", "np.minimum({0}, {1})"},
    {"fmax", "np.maximum({0}, {1})"},
    {"fmin", "np.minimum({0}, {1})"},
    {"lerp", "{a} + {2} * ({1} - {0})"},
    {"heaviside", "np.where({0} > 0, 1, 0)"},
    // comparisons and conditions
    {"eq", "{a} == {b}"},
    {"ne", "{a} != {b}"},
    {"lt", "{a} < {b}"},
    {"le", "{a} <= {b}"},
    {"gt", "{a} > {b}"},
    {"ge", "{a} >= {b}"},
    {"equal", "{a} == {b}"},
    {"not_equal", "{a} != {b}"},
    {"less", "{a} < {b}"},
    {"less_equal", "{a} <= {b}"},
    {"greater", "{a} > {b}"},
    {"greater_equal", "{a} >= {b}"},
    {"logical_and", "({0}) & ({1})"},
    {"logical_or", "({0}) | ({1})"},
    {"logical_not", "~({0})"},
    {"masked_fill", "np.where({1}, {2}, {0})"},
    {"any", "np.max(np.where({0}, 1, 0)) > 0"},
    // reductions
    {"amax", "np.max({all})"},
    {"amin", "np.min({all})"},
    {"reduce_sum", "np.sum({all})"},
    {"reduce_mean", "np.mean({all})"},
    {"reduce_max", "np.max({all})"},
    {"average", "np.mean({all})"},
    {"std", "np.sqrt(np.var({all}))"},
    {"norm", "np.sqrt(np.sum({a} * {a}))"},
    {"trace", "np.einsum('ii->', {0})"},
    {"diagonal", "np.einsum('ii->i', {0})"},
    {"diag", "np.einsum('ii->i', {0})"},
    // layout
    {"cat", "np.concatenate({all})"},
    {"concat", "np.concatenate({all})"},
    {"vstack", "np.concatenate({0}, axis=0)"},
    {"hstack", "np.concatenate({0}, axis=1)"},
    {"chunk", "np.split({all})"},
    {"view", "{a}.reshape({rest})"},
    {"view_as", "{a}.reshape({b}.shape)"},
    {"permute", "np.transpose({0}, ({rest}))"},
    {"t", "{a}.T"},
    {"moveaxis", "np.transpose with the order of all axes"},
    {"movedim", "np.transpose with the order of all axes"},
    {"unsqueeze", "np.expand_dims({0}, {1})"},
    {"newaxis", "None"},
    {"expand", "np.broadcast_to({0}, ({rest}))"},
    {"expand_as", "np.broadcast_to({0}, {b}.shape)"},
    {"flatten", "{a}.reshape(-1)"},
    {"ravel", "{a}.reshape(-1)"},
    {"contiguous", "{0}"},
    {"clone", "{0}"},
    {"detach", "{0}"},
    {"copy", "{0}"},
    {"array", "{0}"},
    {"asarray", "{0}"},
    {"tensor", "{0}"},
    {"repeat_interleave", "np.repeat({all})"},
    {"tile", "np.concatenate([{0}, {0}])"},
    {"gather", "np.take({0}, indices, axis=0)"},
    {"index_select", "np.take({0}, {2}, axis={1})"},
    {"embedding", "np.take({1}, {0}, axis=0)"},
    {"triu", "np.where(np.arange(M)[:, None] <= np.arange(N), {0}, 0)"},
    {"zeros_like", "np.zeros({a}.shape)"},
    {"ones_like", "np.ones({a}.shape)"},
    {"full_like", "np.full({a}.shape, {1})"},
    {"eye", "np.where(np.arange(n)[:, None] == np.arange(n), 1, 0)"},
    {"empty", "np.zeros({all})"},
    {"linspace", "np.arange(n) * step"},
    // types
    {"float", "{a}.astype(np.float32)"},
    {"half", "{a}.astype(np.float16)"},
    {"double", "{a}.astype(np.float64)"},
    {"int", "{a}.astype(np.int32)"},
    {"long", "{a}.astype(np.int32)"},
    {"to", "{a}.astype(np.float32)"},
    {"type", "{a}.astype(np.float32)"},
    {"size", "{a}.shape"},
    {"item", "{0}"},
    {"pi", "3.141592653589793"},
    {"e", "2.718281828459045"},
    {"nan", "an assert of what the inputs satisfy: undefined elements are no values"},
};

/// Functions that NumPy and the others share by name; only the spelling of the arguments differs.
constexpr std::string_view shared[] = {
    "exp",    "log",    "sqrt",        "tanh",         "sin",        "cos",     "abs",   "square",
    "sign",   "floor",  "sum",         "mean",         "max",        "min",     "prod",  "var",
    "cumsum", "where",  "maximum",     "minimum",      "clip",       "squeeze", "stack", "split",
    "repeat", "einsum", "outer",       "tril",         "arange",     "zeros",   "ones",  "full",
    "all",    "take",   "expand_dims", "broadcast_to", "concatenate"};

bool simple(std::string_view text) {
  int depth = 0;
  for (const char c : text) {
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (depth < 0) return false;
    if (depth == 0 &&
        !(std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == ')' || c == ']'))
      return false;
  }
  return !text.empty();
}

std::string wrap(const std::string& text) {
  return simple(text) ? text : "(" + text + ")";
}

/// torch's keyword names become NumPy's.
std::string translated(const std::string& argument) {
  if (argument.starts_with("dim=")) return "axis=" + argument.substr(4);
  if (argument.starts_with("keepdim=")) return "keepdims=" + argument.substr(8);
  if (argument.starts_with("input=") || argument.starts_with("other=") || argument.starts_with("tensors=")) {
    return argument.substr(argument.find('=') + 1);
  }
  if (argument.starts_with("min=")) return "a_min=" + argument.substr(4);
  if (argument.starts_with("max=")) return "a_max=" + argument.substr(4);
  return argument;
}

std::string joined(std::span<const std::string> items) {
  std::string result;
  for (const std::string& item : items) result += (result.empty() ? "" : ", ") + translated(item);
  return result;
}

std::string axisText(std::span<const std::string> arguments) {
  for (const std::string& argument : arguments) {
    const std::string named = translated(argument);
    if (named.starts_with("axis=")) return named;
  }
  if (arguments.size() > 1 && arguments[1].find('=') == std::string::npos) return "axis=" + arguments[1];
  return "axis=-1";
}

std::string fill(std::string_view form, std::span<const std::string> given) {
  static constexpr std::array<std::string_view, 3> fallback = {"x", "y", "z"};
  std::vector<std::string> positional;
  for (const std::string& argument : given) positional.push_back(translated(argument));
  const auto argument = [&](std::size_t i) {
    return i < positional.size() && positional[i].find('=') == std::string::npos ? positional[i]
                                                                                 : std::string(fallback[i]);
  };
  std::string result;
  for (std::size_t i = 0; i < form.size(); ++i) {
    if (form[i] != '{') {
      result += form[i];
      continue;
    }
    const auto end = form.find('}', i);
    const std::string_view key = form.substr(i + 1, end - i - 1);
    i = end;
    if (key == "a") {
      result += wrap(argument(0));
    } else if (key == "b") {
      result += wrap(argument(1));
    } else if (key == "axis") {
      result += axisText(given);
    } else if (key == "all") {
      result += given.empty() ? "x" : joined(given);
    } else if (key == "rest") {
      result += given.size() > 1 ? joined(given.subspan(1)) : "...";
    } else {
      result += argument(static_cast<std::size_t>(key[0] - '0'));
    }
  }
  return result;
}

bool mayMention(std::string_view text) {
  return text.size() <= 60 && text.find('\n') == std::string_view::npos;
}

}  // namespace

std::optional<std::string> replacementText(std::string_view path, std::span<const std::string> arguments) {
  const std::string_view last = path.substr(path.rfind('.') + 1);
  std::vector<std::string> shown;
  for (const std::string& argument : arguments) {
    if (!mayMention(argument)) {
      shown.clear();  // long arguments would bury the advice
      break;
    }
    shown.push_back(argument);
  }
  for (const Replacement& replacement : replacements) {
    if (replacement.name == last) return fill(replacement.text, shown);
  }
  const bool numpy = path.starts_with("np.") || path.starts_with("numpy.");
  if (!numpy && std::ranges::find(shared, last) != std::end(shared)) {
    return fmt::format("np.{}({})", last, shown.empty() ? "x" : joined(shown));
  }
  return std::nullopt;
}

std::optional<std::string> methodReplacement(std::string_view name, std::string_view base,
                                             std::span<const std::string> arguments) {
  std::vector<std::string> all{std::string(base)};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return replacementText(fmt::format("tensor.{}", name), all);
}

bool isForeignRoot(std::string_view name) {
  static constexpr std::array<std::string_view, 20> roots = {
      "torch", "F",    "nn", "jnp", "jax",    "lax", "tf",     "tensorflow", "cp",      "cupy",
      "scipy", "math", "mx", "mlx", "triton", "tl",  "paddle", "keras",      "special", "flax"};
  return std::ranges::find(roots, name) != roots.end();
}

std::string annotationHint(std::string_view written) {
  struct Known {
    std::string_view written, text;
  };
  static constexpr Known known[] = {
      {"float32", "f32"}, {"float", "f32"},   {"fp32", "f32"},     {"double", "f64"}, {"float64", "f64"},
      {"fp64", "f64"},    {"float16", "f16"}, {"half", "f16"},     {"fp16", "f16"},   {"bfloat16", "bf16"},
      {"int32", "i32"},   {"int", "i32"},     {"int64", "i32"},    {"i64", "i32"},    {"int8", "i8"},
      {"i16", "i32"},     {"bool_", "bool"},  {"boolean", "bool"}, {"u8", "i32"},     {"uint8", "i32"}};
  const std::string_view last = written.substr(written.rfind('.') + 1);
  for (const Known& entry : known) {
    if (entry.written == last)
      return fmt::format("write {}[M, N], or {} for a scalar", entry.text, entry.text);
  }
  return "write f32[M, N], or f32 for a scalar; types are f64, f32, f16, bf16, i32, i8 and bool";
}

std::optional<std::string> nearest(std::string_view name, std::span<const std::string_view> candidates) {
  if (name.size() > 40) return std::nullopt;
  std::size_t best = std::max<std::size_t>(1, name.size() / 3) + 1;
  std::optional<std::string> result;
  for (const std::string_view candidate : candidates) {
    if (candidate.size() > 60 || candidate == name) continue;
    std::vector<std::size_t> row(candidate.size() + 1);
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= name.size(); ++i) {
      std::size_t diagonal = std::exchange(row[0], i);
      for (std::size_t j = 1; j < row.size(); ++j) {
        const std::size_t change = diagonal + (name[i - 1] == candidate[j - 1] ? 0 : 1);
        diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, change}));
      }
    }
    if (row.back() < best) {
      best = row.back();
      result = std::string(candidate);
    }
  }
  return result;
}

}  // namespace nuscope::language
