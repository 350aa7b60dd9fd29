#pragma once
// Schedule IR: buffers, counters, tasks, waits and queues of one megakernel launch.
//
// SEMANTICS (reference/megakernel.md H.1, cases/schedules/README.md)
//  * Counters start at 0 and only grow. A task starts when all its waits hold (counter >= threshold) and, if
//  it is in a
//    queue, when the entry before it in that queue has completed. On completion it raises each of its
//    counters by 1. Start and completion are separate events; whatever is enabled may happen next. Each task
//    runs once.
//  * A queue (one SM, one persistent block) runs its entries in order. A task in no queue runs whenever its
//  waits hold.
//  * Regions are rectangles of elements. Buffers with one storage (aliases, cache twins) overlap by row-major
//  position;
//    buffers on one page overlap whatever their regions.
//  * Read-only kinds (weight, constant, input) are initialised; activations, outputs and the cache rows of
//  this pass
//    are not until a task has written them.
// Records keep what a file said beyond what is checked (unknown keys, exact number texts), so that writing
// loses nothing.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nuscope::schedule {

// X(enumerator, text, bits)
#define NUSCOPE_ELEMENT_TYPES(X) \
  X(f32, "F32", 32)              \
  X(f16, "F16", 16)              \
  X(bf16, "BF16", 16)            \
  X(f8e4m3, "F8E4M3", 8)         \
  X(f8e5m2, "F8E5M2", 8) X(i32, "I32", 32) X(i8, "I8", 8) X(i4, "I4", 4) X(u8, "U8", 8) X(boolean, "BOOL", 8)
// X(enumerator, text)
#define NUSCOPE_SPACES(X) X(hbm, "HBM") X(globalScratch, "GLOBAL_SCRATCH") X(smem, "SMEM") X(reg, "REGISTER")
// X(enumerator, text, read-only)
#define NUSCOPE_BUFFER_KINDS(X)      \
  X(weight, "WEIGHT", true)          \
  X(activation, "ACTIVATION", false) \
  X(kvCache, "KV_CACHE", false)      \
  X(input, "IO_INPUT", true) X(output, "IO_OUTPUT", false) X(constant, "CONST", true)
// X(enumerator, text, inputs min, inputs max, outputs, required parameters; outputs -1: at least one)
#define NUSCOPE_OPCODES(X)                                                                         \
  X(nop, "NOP", 0, 0, 0, "")                                                                       \
  X(copy, "COPY", 1, 1, 1, "")                                                                     \
  X(embed, "EMBED", 2, 2, 1, "hidden")                                                             \
  X(rmsnorm, "RMSNORM", 2, 2, 1, "eps hidden")                                                     \
  X(layernorm, "LAYERNORM", 2, 3, 1, "eps hidden")                                                 \
  X(gemvTile, "GEMV_TILE", 2, 3, 1, "K N_tile n_off")                                              \
  X(gemmTile, "GEMM_TILE", 2, 3, 1, "M_tile K N_tile n_off")                                       \
  X(attentionTile, "ATTENTION_TILE", 3, 4, 1, "head_dim kv_start kv_len scale n_heads n_kv_heads") \
  X(rope, "ROPE", 2, 2, 1, "head_dim theta")                                                       \
  X(siluMul, "SILU_MUL", 2, 2, 1, "")                                                              \
  X(gelu, "GELU", 1, 1, 1, "")                                                                     \
  X(add, "ADD", 2, 2, 1, "")                                                                       \
  X(mul, "MUL", 1, 2, 1, "")                                                                       \
  X(dequant, "DEQUANT", 2, 3, 1, "qdtype group")                                                   \
  X(softmax, "SOFTMAX", 1, 1, 1, "")                                                               \
  X(allreduceShard, "ALLREDUCE_SHARD", 1, 8, 1, "")                                                \
  X(kvAppend, "KV_APPEND", 2, 2, 1, "pos")                                                         \
  X(sampleArgmax, "SAMPLE_ARGMAX", 1, 1, 1, "")                                                    \
  X(attentionCombine, "ATTENTION_COMBINE", 2, 8, 1, "")                                            \
  X(fused, "FUSED", 1, 8, 1, "recipe")

#define X(name, ...) name,
enum class ElementType : std::uint8_t { NUSCOPE_ELEMENT_TYPES(X) };
enum class Space : std::uint8_t { NUSCOPE_SPACES(X) };
enum class BufferKind : std::uint8_t { NUSCOPE_BUFFER_KINDS(X) };
enum class Opcode : std::uint8_t {
  NUSCOPE_OPCODES(X) custom
};  ///< custom: any name, with declared reads and writes
#undef X

std::string_view text(ElementType type);
std::string_view text(Space space);
std::string_view text(BufferKind kind);
std::string_view text(Opcode op);
std::optional<ElementType> parseElementType(std::string_view text);
std::optional<Space> parseSpace(std::string_view text);
std::optional<BufferKind> parseBufferKind(std::string_view text);
std::optional<Opcode> parseOpcode(std::string_view text);
int bits(ElementType type);
bool isReadOnly(BufferKind kind);

struct Arity {
  int inputsMin, inputsMax, outputs;
  std::string_view required;  ///< parameter names, separated by blanks
};
Arity arity(Opcode op);

/// Capacities of the format (AutoMegaKernel 0.2).
inline constexpr int maxInputs = 8;
inline constexpr int maxOutputs = 4;
inline constexpr int maxWaits = 8;
inline constexpr int maxRank = 4;

/// Place of a record in the file it was read from: byte offsets, end exclusive; 0, 0 for a record made here.
struct Place {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Keys that the IR does not know, with their values as JSON text; written back as they were.
using Extras = std::vector<std::pair<std::string, std::string>>;

struct Buffer {
  std::int64_t id = 0;
  std::string name;
  BufferKind kind = BufferKind::activation;
  ElementType type = ElementType::f32;
  Space space = Space::hbm;
  std::vector<std::int64_t> shape;    ///< extents >= 1
  std::optional<std::string> source;  ///< key of the weight in a checkpoint; equal sources are one storage
  Extras extras;
  Place place;
  static constexpr std::uint8_t noSpace = 1, noSource = 2;
  std::uint8_t absent = 0;  ///< optional keys that the file did not have
  [[nodiscard]] std::int64_t elements() const;
  [[nodiscard]] std::int64_t bytes() const;  ///< 2^63 - 1 where it does not fit
};

struct Counter {
  std::int64_t id = 0;
  std::int64_t init = 0;
  std::string note;
  Extras extras;
  Place place;
  static constexpr std::uint8_t noInit = 1, noNote = 2;
  std::uint8_t absent = 0;
};

struct Wait {
  std::int64_t counter = 0;    ///< id
  std::int64_t threshold = 1;  ///< 1 .. 2^32-1 where well-formed
  std::int64_t perPass = 0;    ///< added to the threshold in each further pass of one launch (our own form)
  std::string extras = {};     ///< unknown keys as JSON text: ", \"key\": value"
  bool operator==(const Wait&) const = default;
};

/// A half-open rectangle of elements, one range per axis of the buffer.
struct Region {
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
};

/// slope * pos + offset.
struct Affine {
  std::int64_t slope = 0, offset = 0;
  [[nodiscard]] std::int64_t at(std::int64_t position) const { return slope * position + offset; }
  auto operator<=>(const Affine&) const = default;
};
/// A bound of a region that may depend on the run-time position: the least or the greatest of affine terms.
struct Bound {
  enum class Kind : std::uint8_t { least, greatest };
  Kind kind = Kind::least;
  std::vector<Affine> terms;  ///< at least one
  [[nodiscard]] std::int64_t at(std::int64_t position) const;
  [[nodiscard]] bool constant() const { return terms.size() == 1 && terms[0].slope == 0; }
  bool operator==(const Bound&) const = default;
};
/// "pos + 1", "min(4*pos, 1024)", "7". Empty if it is none of these or a number is outside +-2^40.
std::optional<Bound> parseBound(std::string_view text);
std::string text(const Bound& bound);

/// `count` intervals of `length` elements, the first at `start`, `stride` apart, in row-major order of the
/// buffer. A whole buffer, a band of columns, a row of a cache, a block of a matrix: all have this form.
struct Strided {
  std::int64_t start = 0;
  std::int64_t length = 0;
  std::int64_t stride = 0;
  std::int64_t count = 1;
  bool operator==(const Strided&) const = default;
  [[nodiscard]] std::int64_t end() const { return start + (count - 1) * stride + length; }
};

/// What a task of our own form declares to touch. Empty region: the whole buffer.
struct Access {
  std::int64_t buffer = 0;  ///< id
  Region region;            ///< at the position that the schedule stands at
  /// Where a bound depends on the position: both bounds of every axis; else empty.
  std::vector<std::pair<Bound, Bound>> symbolic = {};
  /// Instead of a region: intervals of memory of a buffer with one axis.
  std::optional<Strided> strided = {};
};

/// The run-time positions for which a schedule must hold: from <= pos < to.
struct Positions {
  std::int64_t from = 0, to = 1;
};

struct Task {
  std::int64_t id = 0;
  Opcode op = Opcode::nop;
  std::string customOp;              ///< name, where op == custom
  std::vector<std::int64_t> inputs;  ///< buffer ids
  std::vector<std::int64_t> outputs;
  std::vector<std::int64_t>
      signals;  ///< counter ids raised on completion; exactly one in AutoMegaKernel files
  std::vector<Wait> waits;
  std::vector<std::pair<std::string, std::string>> params;  ///< values as JSON text, in file order
  std::optional<std::int64_t> sm;
  std::string estBytes = "0";  ///< JSON numbers, kept as written
  std::string estFlops = "0";
  std::string label;
  std::optional<std::vector<Access>> reads, writes;  ///< declared (our own form); else by the opcode table
  Extras extras;
  Place place;
  static constexpr std::uint8_t noParams = 1, noSm = 2, noBytes = 4, noFlops = 8, noLabel = 16;
  std::uint8_t absent = 0;
  [[nodiscard]] bool declared() const { return reads.has_value() || writes.has_value(); }
  /// An integer parameter; empty if absent or no int32.
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view name) const;
  [[nodiscard]] const std::string* param(std::string_view name) const;
};

struct Page {
  std::int64_t id = 0;
  Space space = Space::smem;
  std::int64_t bytes = 0;
  Extras extras;
  static constexpr std::uint8_t noSpace = 1;
  std::uint8_t absent = 0;
};

struct Pages {
  std::vector<std::pair<std::int64_t, std::int64_t>> ofBuffer;  ///< (buffer id, page id)
  std::vector<Page> pages;
  Extras extras;
};

enum class Format : std::uint8_t { amk, nuscope, mirage };

/// One schedule. Task-list order is queue order: the queue of an SM is its tasks in this order.
struct Schedule {
  Format format = Format::amk;
  std::string irVersion = "0.2.0";
  std::string abiVersion = "0.2";
  std::vector<Buffer> buffers;
  std::vector<Counter> counters;
  std::vector<Task> tasks;
  std::optional<Pages> pages;
  std::optional<std::int64_t> numSms;   ///< of the target, where one is given
  Extras rest;                          ///< meta, target, config and unknown keys of the root, as JSON text
  bool dynamicDispatch = false;         ///< no fixed queues: what holds must hold under every dispatch
  std::optional<Positions> positions;   ///< present where regions depend on the position
  std::vector<std::string> notDecided;  ///< what the file leaves open, one sentence each (Mirage)
  static constexpr std::uint8_t noAbiVersion = 1, noPages = 2;
  std::uint8_t absent = 0;
};

}  // namespace nuscope::schedule
