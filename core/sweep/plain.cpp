#include "core/sweep/plain.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "core/base/diagnostics.h"
#include "core/sweep/plain_domain.h"

namespace nuscope::sweep {
namespace {

using tensor::DType;
using tensor::Node;
using tensor::NodeRef;
using tensor::Op;
using tensor::OpKind;

constexpr const char* head = R"(// Plain loops, without tiling or intrinsics: the baseline of a Nuscope sweep.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace {
template <class A, class B> auto largest(A a, B b) -> decltype(a + b) { return a > b ? a : b; }
template <class A, class B> auto smallest(A a, B b) -> decltype(a + b) { return a < b ? a : b; }
template <class T> T signOf(T x) { return T((x > 0) - (x < 0)); }
template <int N, class T> T power(T x) { T y = 1; for (int i = 0; i < N; ++i) y *= x; return y; }
inline float floorDivide(float a, float b) { return std::floor(a / b); }
inline double floorDivide(double a, double b) { return std::floor(a / b); }
inline int floorDivide(int a, int b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
inline float modulo(float a, float b) { return a - b * std::floor(a / b); }
inline double modulo(double a, double b) { return a - b * std::floor(a / b); }
inline int modulo(int a, int b) { return a - b * floorDivide(a, b); }
inline long inside(long i, long n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }
)";

constexpr const char* blasHead = R"(
// cblas_sgemm(order, transA, transB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc), from OpenBLAS
extern "C" void* dlopen(const char*, int);
extern "C" void* dlsym(void*, const char*);
using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float, float*, int);
void* openBlas() {
  static void* const library = dlopen("libopenblas.so.0", 2);
  return library;
}
void sgemm(int threads, int ta, int tb, int m, int n, int k, const float* a, int lda, const float* b, int ldb, float* c) {
  static const auto call = reinterpret_cast<Sgemm>(dlsym(openBlas(), "cblas_sgemm"));
  static const auto setThreads = reinterpret_cast<void (*)(int)>(dlsym(openBlas(), "openblas_set_num_threads"));
  static int threadsNow = 0;
  if (threadsNow != threads) setThreads(threadsNow = threads);
  call(101, ta, tb, m, n, k, 1.0f, a, lda, b, ldb, 0.0f, c, n);
}
)";

/// A matrix operand of a matmul as an array with strides.
struct Matrix {
  std::string array;
  bool transposed = false;
};

class PlainPrinter {
 public:
  PlainPrinter(const tensor::Program& program, const tensor::Extents& extents, const PlainOptions& options)
      : program_(program),
        options_(options),
        domain_(program, extents, {options.anyExtents, options.wideConstants}) {}

  PlainKernel print() {
    uses_ = tensor::useCounts(program_.results);
    std::vector<std::string> arguments;
    if (options_.anyExtents) arguments.emplace_back("const int64_t* extents");
    for (const auto& parameter : program_.parameters) {
      arguments.push_back(
          fmt::format("const {}* {}", plainType(parameter.node->dtype), "in_" + parameter.name));
      domain_.store(parameter.node, "in_" + parameter.name);
    }
    for (std::size_t r = 0; r < program_.results.size(); ++r) {
      arguments.push_back(fmt::format("{}* out{}", plainType(program_.results[r]->dtype), r));
    }
    emitAll(tensor::topological(program_.results), nullptr);
    copyResults();
    PlainKernel kernel;
    kernel.function = options_.function.empty() ? "plain_" + program_.name : options_.function;
    kernel.usesBlas = usesBlas_;
    kernel.text = head;
    if (usesBlas_) kernel.text += blasHead;
    kernel.text += "}  // namespace\n\n";
    kernel.text += fmt::format("extern \"C\" void {}({}, int threads) {{\n", kernel.function,
                               fmt::join(arguments, ", "));
    kernel.text += "  (void)threads;\n" + extents() + arrays_ + body_.text() + "}\n";
    kernel.command = {"g++", "-std=c++17", "-O3",  "-march=native", "-ffp-contract=fast", "-fno-math-errno",
                      "-w",  "-shared",    "-fPIC"};
    if (options_.threads > 1) kernel.command.emplace_back("-fopenmp");
    for (const char* rest : {"{source}", "-o", "{output}", "-ldl"}) kernel.command.emplace_back(rest);
    return kernel;
  }

 private:
  [[nodiscard]] bool isResult(NodeRef node) const {
    return std::find(program_.results.begin(), program_.results.end(), node) != program_.results.end();
  }

  [[nodiscard]] std::string extents() const {
    std::string text;
    for (std::size_t i = 0; options_.anyExtents && i < program_.dimensions.size(); ++i)
      text += fmt::format("  const long {} = extents[{}];\n", dimensionName(program_.dimensions[i]), i);
    return text;
  }

  /// What gets an array of its own.
  [[nodiscard]] bool storesTensor(NodeRef node) const {
    switch (tensor::kind(node->op)) {
      case OpKind::leaf:
        return false;
      case OpKind::reduce:
      case OpKind::scan:
      case OpKind::contract:
        return true;
      case OpKind::loop:
        return node->op == Op::loopResult;
      case OpKind::layout:
        return isResult(node) || neededAsMatrix_.contains(node);
      case OpKind::elementwise:
        break;
    }
    return isResult(node) || uses_.at(node) > 1 || neededAsMatrix_.contains(node) ||
           smallerThanUsers_.contains(node);
  }

  [[nodiscard]] std::int64_t count(NodeRef node) const {
    return domain_.extent(tensor::product(node->shape));
  }
  [[nodiscard]] std::string countText(NodeRef node) const {
    return domain_.size(tensor::product(node->shape));
  }

  void findUsers(const std::vector<NodeRef>& nodes) {
    for (const NodeRef node : nodes) {
      for (const NodeRef operand : node->operands) {
        if (tensor::kind(operand->op) == OpKind::leaf) continue;
        if (tensor::kind(node->op) == OpKind::contract) neededAsMatrix_.insert(matrixBase(operand));
        if (tensor::kind(operand->op) == OpKind::elementwise && count(operand) < count(node))
          smallerThanUsers_.insert(operand);
      }
    }
  }

  /// A transpose of the last two axes is read with strides; the array belongs to what it transposes.
  static NodeRef matrixBase(NodeRef node) { return isMatrixTranspose(node) ? node->operands[0] : node; }
  static bool isMatrixTranspose(NodeRef node) {
    if (node->op != Op::transpose) return false;
    const auto& axes = node->attributes.axes;
    const auto rank = static_cast<int>(axes.size());
    for (int i = 0; i + 2 < rank; ++i) {
      if (axes[static_cast<std::size_t>(i)] != i) return false;
    }
    return rank >= 2 && axes[static_cast<std::size_t>(rank - 2)] == rank - 1;
  }

  /// Nodes in order; inside a loop's body only those that depend on it (`loop`).
  void emitAll(const std::vector<NodeRef>& nodes, const std::set<NodeRef>* inBody) {
    findUsers(nodes);
    for (const NodeRef node : nodes) {
      if (inBody != nullptr && !inBody->contains(node)) continue;
      if (domain_.isStored(node) || dependsOnOpenLoop(node, inBody)) continue;
      if (node->op == Op::loop) {
        emitLoop(node);
      } else if (storesTensor(node)) {
        emitNode(node);
      }
    }
  }

  /// tensor::topological lists bodies of loops too; they are printed by emitLoop only.
  [[nodiscard]] bool dependsOnOpenLoop(NodeRef node, const std::set<NodeRef>* inBody) const {
    const auto found = bodyOf_.find(node);
    return found != bodyOf_.end() && (inBody == nullptr || !inBody->contains(node));
  }

  std::string declare(NodeRef node) {
    const std::string name = domain_.fresh("t");
    const std::string type = plainType(node->dtype);
    if (type.empty()) throw UserError(fmt::format("plain C++ has no type {}", tensor::text(node->dtype)));
    arrays_ += declaration(node, name);
    return name;
  }
  /// Of an array of its own; kept from call to call where its size is known, so that its pages stay.
  [[nodiscard]] std::string declaration(NodeRef node, const std::string& name) const {
    return fmt::format("  {3}std::vector<{0}> {1}_({2});\n  {0}* const {1} = {1}_.data();\n",
                       plainType(node->dtype), name, countText(node), options_.anyExtents ? "" : "static ");
  }

  void emitNode(NodeRef node) {
    if (node->op == Op::loopResult) return;  // stored by its loop
    const std::string name = declare(node);
    body_.line(fmt::format("// {}", tensor::describe(node)));
    if (node->op == Op::matmul && matmul(node, name)) {
      domain_.store(node, name);
      return;
    }
    if (node->op == Op::cumsum) {
      scan(node, name);
    } else {
      nest(node, name);
    }
    domain_.store(node, name);
  }

  void openLoop(const std::string& index, const std::string& extent, bool outermost) {
    if (outermost && options_.threads > 1 && extent != "1")
      body_.line("#pragma omp parallel for num_threads(threads)");
    body_.open(fmt::format("for (long {0} = 0; {0} < {1}; ++{0})", index, extent));
  }

  void nest(NodeRef node, const std::string& name) {
    std::vector<std::string> index;
    for (std::size_t axis = 0; axis < node->shape.size(); ++axis) {
      index.push_back(domain_.fresh("i"));
      openLoop(index.back(), domain_.size(node->shape[axis]), axis == 0);
    }
    domain_.into(body_);
    const std::string value = domain_.expand(*node, index);
    body_.line(fmt::format("{}[{}] = {};", name, domain_.flat(node->shape, index), value));
    for (std::size_t axis = 0; axis < node->shape.size(); ++axis) body_.close();
  }

  void scan(NodeRef node, const std::string& name) {
    const auto axis = static_cast<std::size_t>(node->attributes.axes[0]);
    std::vector<std::string> index(node->shape.size());
    bool outermost = true;
    for (std::size_t i = 0; i < index.size(); ++i) {
      index[i] = domain_.fresh("i");
      if (i == axis) continue;
      openLoop(index[i], domain_.size(node->shape[i]), std::exchange(outermost, false));
    }
    const std::string sum = domain_.fresh("s");
    body_.line(fmt::format("{} {} = 0;", plainType(node->dtype), sum));
    openLoop(index[axis], domain_.size(node->shape[axis]), false);
    domain_.into(body_);
    const std::string value = domain_.element(node->operands[0], index);
    body_.line(fmt::format("{} += {};", sum, value));
    body_.line(fmt::format("{}[{}] = {};", name, domain_.flat(node->shape, index), sum));
    for (std::size_t i = 0; i < index.size(); ++i) body_.close();
  }

  std::optional<Matrix> matrix(NodeRef operand) {
    const NodeRef base = matrixBase(operand);
    if (!domain_.isStored(base)) return std::nullopt;
    return Matrix{domain_.nameOf(base), base != operand};
  }

  /// Matrices of equal batches; everything else is left to the general nest.
  bool matmul(NodeRef node, const std::string& name) {
    const NodeRef left = node->operands[0];
    const NodeRef right = node->operands[1];
    if (left->shape.size() < 2 || right->shape.size() < 2) return false;
    if (options_.anyExtents && (left->shape.size() > 2 || right->shape.size() > 2)) return false;
    const std::int64_t m = domain_.extent(left->shape[left->shape.size() - 2]);
    const std::int64_t k = domain_.extent(left->shape.back());
    const std::int64_t n = domain_.extent(right->shape.back());
    const std::int64_t batch = count(node) / (m * n);
    const std::int64_t leftBatch = count(left) / (m * k);
    const std::int64_t rightBatch = count(right) / (k * n);
    if ((leftBatch != batch && leftBatch != 1) || (rightBatch != batch && rightBatch != 1)) return false;
    const auto a = matrix(left);
    const auto b = matrix(right);
    if (!a || !b) return false;
    std::string batchIndex = "0";
    if (batch > 1) {
      batchIndex = domain_.fresh("b");
      openLoop(batchIndex, std::to_string(batch), !options_.blas);
    }
    const std::string pa =
        leftBatch > 1 ? fmt::format("{} + {} * {}", a->array, batchIndex, m * k) : a->array;
    const std::string pb =
        rightBatch > 1 ? fmt::format("{} + {} * {}", b->array, batchIndex, k * n) : b->array;
    const std::string pc = batch > 1 ? fmt::format("{} + {} * {}", name, batchIndex, m * n) : name;
    if (options_.blas && node->dtype == DType::f32 && left->dtype == DType::f32 &&
        right->dtype == DType::f32) {
      usesBlas_ = true;
      body_.line(fmt::format("sgemm(threads, {}, {}, {}, {}, {}, {}, {}, {}, {}, {});",
                             a->transposed ? 112 : 111, b->transposed ? 112 : 111, m, n, k, pa,
                             a->transposed ? m : k, pb, b->transposed ? k : n, pc));
    } else {
      const Sizes sizes{domain_.size(left->shape[left->shape.size() - 2]), domain_.size(left->shape.back()),
                        domain_.size(right->shape.back())};
      matmulLoops(node, {pa, a->transposed}, {pb, b->transposed}, pc, sizes, batch == 1);
    }
    if (batch > 1) body_.close();
    return true;
  }

  struct Sizes {
    std::string m, k, n;
  };
  void matmulLoops(NodeRef node, const Matrix& a, const Matrix& b, const std::string& c, const Sizes& size,
                   bool outermost) {
    const auto& [m, k, n] = size;
    const std::string type = plainType(node->dtype);
    openLoop("i", m, outermost);
    const std::string ai = a.transposed ? fmt::format("({})[k * {} + i]", a.array, m)
                                        : fmt::format("({})[i * {} + k]", a.array, k);
    body_.line(fmt::format("{}* const c = {} + i * {};", type, c, n));
    if (b.transposed) {  // dot products along both rows
      openLoop("j", n, false);
      body_.line(fmt::format("{} s = 0;", type));
      body_.line(fmt::format("for (long k = 0; k < {}; ++k) s += {} * ({})[j * {} + k];", k, ai, b.array, k));
      body_.line("c[j] = s;");
    } else {  // rows of b, scaled and added
      body_.line(fmt::format("for (long j = 0; j < {}; ++j) c[j] = 0;", n));
      openLoop("k", k, false);
      body_.line(fmt::format("const {} s = {};", type, ai));
      body_.line(fmt::format("for (long j = 0; j < {0}; ++j) c[j] += s * ({1})[k * {0} + j];", n, b.array));
    }
    body_.close();
    body_.close();
  }

  void emitLoop(NodeRef loop) {
    const std::string counter = domain_.fresh("h");
    domain_.nameCounter(loop->attributes.name, counter);
    const auto nodes = tensor::topological(loop->attributes.body);
    const auto inside = bodyNodes(nodes, loop->attributes.name);
    std::vector<std::string> states;
    for (std::size_t s = 0; s < loop->operands.size(); ++s) {
      const NodeRef initial = loop->operands[s];
      states.push_back(declare(loop->attributes.body[s]));
      copy(initial, states.back());
      for (const NodeRef node : nodes) {
        if (node->op == Op::loopState && node->attributes.name == loop->attributes.name &&
            node->attributes.index == static_cast<int>(s)) {
          domain_.store(node, states.back());
        }
      }
    }
    for (const NodeRef node : nodes) {
      if (inside.contains(node)) bodyOf_[node] = loop;
    }
    for (const NodeRef node : nodes) {  // what does not change from round to round comes first
      if (!inside.contains(node) && !domain_.isStored(node) && tensor::kind(node->op) != OpKind::leaf &&
          storesTensor(node))
        emitNode(node);
    }
    const auto outerUses = std::exchange(uses_, tensor::useCounts(loop->attributes.body));
    body_.open(
        fmt::format("for (long {0} = 0; {0} < {1}; ++{0})", counter, domain_.dim(loop->attributes.shape[0])));
    emitAll(nodes, &inside);
    std::vector<std::string> replaced;
    for (const NodeRef value : loop->attributes.body) {
      replaced.push_back(declare(value));
      copy(value, replaced.back());
    }
    for (std::size_t s = 0; s < states.size(); ++s) {
      body_.line(fmt::format("std::copy({0}, {0} + {1}, {2});", replaced[s],
                             countText(loop->attributes.body[s]), states[s]));
    }
    body_.close();
    uses_ = outerUses;
    for (const NodeRef node : tensor::topological(program_.results)) {
      if (node->op == Op::loopResult && node->operands[0] == loop) {
        domain_.store(node, states[static_cast<std::size_t>(node->attributes.index)]);
      }
    }
  }

  /// Nodes of a body that depend on the loop's states or counter.
  static std::set<NodeRef> bodyNodes(const std::vector<NodeRef>& nodes, const std::string& counter) {
    std::set<NodeRef> inside;
    const auto mentions = [&](const tensor::Shape& shape) {
      return std::any_of(shape.begin(), shape.end(),
                         [&](const tensor::Dim& d) { return d.mentions(counter); });
    };
    for (const NodeRef node : nodes) {
      const auto& at = node->attributes;
      const bool own = (node->op == Op::loopState && at.name == counter) || mentions(at.shape) ||
                       mentions(at.starts) || mentions(at.stops);
      const auto isInside = [&](NodeRef operand) { return inside.contains(operand); };
      const bool nested = node->op == Op::loop && std::any_of(at.body.begin(), at.body.end(), isInside);
      if (own || nested || std::any_of(node->operands.begin(), node->operands.end(), isInside))
        inside.insert(node);
    }
    return inside;
  }

  /// All elements of a node, stored or not, into an array.
  void copy(NodeRef node, const std::string& name) {
    if (domain_.isStored(node)) {
      body_.line(fmt::format("std::copy({0}, {0} + {1}, {2});", domain_.nameOf(node), countText(node), name));
    } else {
      nest(node, name);
    }
  }

  void copyResults() {
    for (std::size_t r = 0; r < program_.results.size(); ++r) {
      const std::string name = fmt::format("out{}", r);
      const NodeRef node = program_.results[r];
      const bool own = domain_.isStored(node) && domain_.nameOf(node).starts_with("t");
      if (!own) {
        copy(node, name);
        continue;
      }
      // An array of ours that is a result: let it be the caller's in the first place.
      const std::string array = domain_.nameOf(node);
      const std::string declared = declaration(node, array);
      const auto at = arrays_.find(declared);
      if (at == std::string::npos) {  // two results of one node
        copy(node, name);
      } else {
        arrays_.replace(at, declared.size(),
                        fmt::format("  {}* const {} = {};\n", plainType(node->dtype), array, name));
      }
    }
  }

  const tensor::Program& program_;
  const PlainOptions& options_;
  PlainDomain domain_;
  CodeBlock body_;
  std::string arrays_;
  std::unordered_map<NodeRef, int> uses_;
  std::set<NodeRef> neededAsMatrix_;
  std::set<NodeRef> smallerThanUsers_;
  std::unordered_map<NodeRef, NodeRef> bodyOf_;
  bool usesBlas_ = false;
};

std::optional<Refusal> refuse(const tensor::Program& program) {
  for (const NodeRef node : tensor::topological(program.results)) {
    if (plainType(node->dtype).empty()) {
      return Refusal{fmt::format("plain C++ has no type {}", tensor::text(node->dtype)), ""};
    }
    for (const tensor::Dim& dim : node->shape) {
      std::set<std::string> symbols;
      dim.collectSymbols(symbols);
      if (std::any_of(symbols.begin(), symbols.end(), [](const auto& s) { return tensor::isCounter(s); })) {
        return Refusal{"a tensor's shape depends on a loop's counter", ""};
      }
    }
  }
  return std::nullopt;
}

}  // namespace

Result<PlainKernel> emitPlain(const tensor::Program& program, const tensor::Extents& extents,
                              const PlainOptions& options) {
  if (auto refusal = refuse(program)) return *refusal;
  if (options.anyExtents && (options.blas || options.threads > 1))
    throw InternalError("plain loops for any extents have one thread and no BLAS");
  return PlainPrinter(program, extents, options).print();
}

}  // namespace nuscope::sweep
