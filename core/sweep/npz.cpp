#include "core/sweep/npz.h"

#include <fmt/format.h>
#include <zlib.h>

#include <cmath>
#include <cstring>
#include <set>

#include "core/base/diagnostics.h"
#include "core/semantics/draw.h"
#include "core/sweep/arrays.h"

namespace nuscope::sweep {
namespace {

using tensor::DType;

constexpr std::uint64_t largestArchive = std::uint64_t{4} << 30U;
constexpr std::uint64_t largestRatio = 1040;  // deflate cannot shrink by more than 1032

/// The dtype that NumPy calls so; empty for those that programs have not.
std::optional<DType> dtypeOf(std::string_view numpy) {
  constexpr std::array names{std::pair{"<f8", DType::f64}, std::pair{"<f4", DType::f32},
                             std::pair{"<f2", DType::f16}, std::pair{"<i4", DType::i32},
                             std::pair{"|i1", DType::i8},  std::pair{"|b1", DType::boolean}};
  for (const auto& [name, type] : names) {
    if (numpy == name) return type;
  }
  return std::nullopt;
}

/// What people call it in NumPy: "float32".
std::string numpyName(DType type) {
  switch (type) {
    case DType::f64:
      return "float64";
    case DType::f32:
      return "float32";
    case DType::f16:
      return "float16";
    case DType::i32:
      return "int32";
    case DType::i8:
      return "int8";
    case DType::boolean:
      return "bool_";
    case DType::bf16:
      break;
  }
  return {};
}

std::string shapeText(const std::vector<std::int64_t>& shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

/// Reads the dictionary of an .npy header: quoted keys; quoted words, True, False and tuples of integers as
/// values.
class HeaderReader {
 public:
  HeaderReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  void read(NpyArray& array) {
    std::set<std::string> seen;
    expect('{');
    while (!take('}')) {
      const std::string key = quoted();
      if (!seen.insert(key).second) fail(fmt::format("the key '{}' twice", key));
      expect(':');
      if (key == "descr") {
        if (peek() == '[') fail("fields: only arrays of plain numbers can be read");
        array.dtype = quoted();
      } else if (key == "fortran_order") {
        array.columnMajor = boolean();
      } else if (key == "shape") {
        array.shape = tuple();
      } else {
        fail(fmt::format("an unknown key '{}'", key.substr(0, 40)));
      }
      if (!take(',') && peek() != '}') fail("no comma after a value");
    }
    if (seen.size() != 3) fail("not all of descr, fortran_order and shape");
    skip();
    if (at_ != text_.size()) fail("something after its end");
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw UserError(fmt::format("{} is no NumPy array: its header has {}", name_, what));
  }
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  char peek() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c || at_ == text_.size()) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(fmt::format("no '{}' where one is expected", c));
  }
  std::string quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail("no quoted word where one is expected");
    const auto end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("an open quote");
    std::string word(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return word;
  }
  bool word(std::string_view wanted) {
    skip();
    if (text_.substr(at_, wanted.size()) != wanted) return false;
    at_ += wanted.size();
    return true;
  }
  bool boolean() {
    if (word("True")) return true;
    if (word("False")) return false;
    fail("neither True nor False for fortran_order");
  }
  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> values;
    expect('(');
    while (!take(')')) {
      std::int64_t value = 0;
      std::size_t digits = 0;
      for (skip(); at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_, ++digits) {
        if (digits > 14) fail("an extent that is too large");
        value = value * 10 + (text_[at_] - '0');
      }
      if (digits == 0) fail("no number in its shape");
      word("L");  // Python 2 wrote long integers so
      values.push_back(value);
      if (values.size() > 64) fail("more than 64 axes");
      if (!take(',') && peek() != ')') fail("no comma in its shape");
    }
    return values;
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
};

/// Bytes of one element: "<f4" has 4.
std::uint64_t itemSize(const NpyArray& array) {
  std::uint64_t size = 0;
  const std::string_view text = array.dtype;
  const auto among = [](char c, std::string_view all) { return all.find(c) != std::string_view::npos; };
  const bool known =
      text.size() >= 3 && text.size() <= 5 && among(text[0], "<>|=") && among(text[1], "biufc");
  for (std::size_t i = 2; known && i < text.size(); ++i) {
    if (text[i] < '0' || text[i] > '9') {
      size = 0;
      break;
    }
    size = size * 10 + static_cast<std::uint64_t>(text[i] - '0');
  }
  if (size == 0 || size > 32)
    throw UserError(
        fmt::format("{} holds '{}', which is no plain number type", array.name, array.dtype.substr(0, 40)));
  return size;
}

template <class T>
T little(std::string_view bytes, std::size_t at) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    value = static_cast<T>(
        value | static_cast<T>(static_cast<T>(static_cast<unsigned char>(bytes[at + i])) << (8 * i)));
  return value;
}

class Archive {
 public:
  Archive(std::string_view bytes, const std::string& path) : bytes_(bytes), path_(path) {}

  std::vector<NpyArray> read() {
    if (bytes_.size() >= largestArchive) fail("is larger than 4 GiB");
    const std::size_t end = endRecord();
    const auto count = little<std::uint16_t>(bytes_, end + 10);
    std::size_t at = little<std::uint32_t>(bytes_, end + 16);
    if (count == 0xFFFF || at == 0xFFFFFFFFU) fail("is a zip64 archive of more than 4 GiB");
    std::vector<NpyArray> arrays;
    std::set<std::string> names;
    std::uint64_t total = 0;
    for (int i = 0; i < count; ++i) {
      const Entry entry = directoryEntry(at);
      total += entry.size;
      if (total > largestArchive) fail("unpacks to more than 4 GiB");
      if (!names.insert(entry.name).second) fail(fmt::format("holds '{}' twice", entry.name));
      if (!entry.name.ends_with(".npy"))
        fail(fmt::format("holds '{}', which is no array", entry.name.substr(0, 100)));
      arrays.push_back(parseNpy(unpack(entry), entry.name.substr(0, entry.name.size() - 4)));
    }
    return arrays;
  }

 private:
  struct Entry {
    std::string name;
    std::size_t data = 0;  ///< where the packed bytes begin
    std::uint32_t packed = 0, size = 0, checksum = 0;
    bool deflated = false;
  };

  [[noreturn]] void fail(const std::string& what) const {
    throw UserError(fmt::format("{} {}", path_, what));
  }
  void need(std::size_t at, std::size_t count) const {
    if (at > bytes_.size() || count > bytes_.size() - at) fail("is damaged: it ends too early");
  }
  [[nodiscard]] std::size_t endRecord() const {
    constexpr std::size_t record = 22;
    if (bytes_.size() < record) fail("is no .npz file: it is too short");
    const std::size_t last = bytes_.size() - record;
    for (std::size_t back = 0; back <= std::min<std::size_t>(last, 0xFFFF); ++back) {
      if (little<std::uint32_t>(bytes_, last - back) == 0x06054b50) return last - back;
    }
    fail("is no .npz file: the end of a zip archive is missing");
  }

  Entry directoryEntry(std::size_t& at) const {
    need(at, 46);
    if (little<std::uint32_t>(bytes_, at) != 0x02014b50)
      fail("is damaged: an entry of its directory is none");
    Entry entry;
    const auto flags = little<std::uint16_t>(bytes_, at + 8);
    const auto method = little<std::uint16_t>(bytes_, at + 10);
    entry.checksum = little<std::uint32_t>(bytes_, at + 16);
    entry.packed = little<std::uint32_t>(bytes_, at + 20);
    entry.size = little<std::uint32_t>(bytes_, at + 24);
    const std::size_t nameLength = little<std::uint16_t>(bytes_, at + 28);
    const std::size_t rest =
        std::size_t{little<std::uint16_t>(bytes_, at + 30)} + little<std::uint16_t>(bytes_, at + 32);
    const std::size_t header = little<std::uint32_t>(bytes_, at + 42);
    need(at + 46, nameLength + rest);
    entry.name = bytes_.substr(at + 46, nameLength);
    at += 46 + nameLength + rest;
    if ((flags & 1U) != 0) fail(fmt::format("is encrypted: '{}' cannot be read", entry.name));
    if (method != 0 && method != 8)
      fail(fmt::format("packs '{}' by method {}; save it with numpy.savez or savez_compressed", entry.name,
                       method));
    entry.deflated = method == 8;
    need(header, 30);
    if (little<std::uint32_t>(bytes_, header) != 0x04034b50)
      fail("is damaged: an entry does not start as one");
    entry.data =
        header + 30 + little<std::uint16_t>(bytes_, header + 26) + little<std::uint16_t>(bytes_, header + 28);
    need(entry.data, entry.packed);
    const bool plausible = entry.deflated ? entry.size <= (std::uint64_t{entry.packed} + 1) * largestRatio
                                          : entry.size == entry.packed;
    if (!plausible) fail(fmt::format("is damaged: '{}' cannot have the size it claims", entry.name));
    return entry;
  }

  [[nodiscard]] std::string unpack(const Entry& entry) const {
    std::string out;
    const std::string_view packed = bytes_.substr(entry.data, entry.packed);
    if (entry.deflated) {
      out.resize(entry.size);
      z_stream stream{};
      if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
      stream.avail_in = entry.packed;
      char none = 0;  // zlib refuses a null output even of size 0
      stream.next_out = reinterpret_cast<Bytef*>(out.empty() ? &none : out.data());
      stream.avail_out = entry.size;
      const int result = inflate(&stream, Z_FINISH);
      const bool whole = result == Z_STREAM_END && stream.avail_out == 0;
      inflateEnd(&stream);
      if (!whole) fail(fmt::format("is damaged: '{}' cannot be unpacked", entry.name));
    } else {
      out = packed;
    }
    const auto sum = crc32(0, reinterpret_cast<const Bytef*>(out.data()), static_cast<uInt>(out.size()));
    if (sum != entry.checksum) fail(fmt::format("is damaged: the checksum of '{}' is wrong", entry.name));
    return out;
  }

  std::string_view bytes_;
  const std::string& path_;
};

/// Elements of a column-major array in row-major order.
std::string toRowMajor(const NpyArray& array, std::size_t item) {
  std::string out(array.bytes.size(), '\0');
  const std::size_t rank = array.shape.size();
  std::vector<std::size_t> stride(rank, 1);
  for (std::size_t axis = 1; axis < rank; ++axis)
    stride[axis] = stride[axis - 1] * static_cast<std::size_t>(array.shape[axis - 1]);
  std::vector<std::int64_t> index(rank, 0);
  std::size_t from = 0;
  for (std::size_t to = 0; to < out.size(); to += item) {
    std::memcpy(out.data() + to, array.bytes.data() + from * item, item);
    for (std::size_t axis = rank; axis-- > 0;) {
      from += stride[axis];
      if (++index[axis] < array.shape[axis]) break;
      from -= stride[axis] * static_cast<std::size_t>(array.shape[axis]);
      index[axis] = 0;
    }
  }
  return out;
}

const NpyArray* find(const std::vector<NpyArray>& arrays, const std::string& name) {
  for (const NpyArray& array : arrays) {
    if (array.name == name) return &array;
  }
  return nullptr;
}

semantics::TensorValue valueOf(const NpyArray& array, const tensor::Parameter& parameter,
                               const tensor::Extents& extents, const std::string& path) {
  const DType wanted = parameter.node->dtype;
  const auto given = dtypeOf(array.dtype);
  if (given != wanted) {
    const std::string name = numpyName(wanted);
    throw UserError(fmt::format(
        "{}: {} holds '{}', the program says {}{}", path, array.name, array.dtype, tensor::text(wanted),
        name.empty() ? ", which NumPy has not" : fmt::format("; save it with .astype(np.{})", name)));
  }
  const auto shape = tensor::evaluate(parameter.node->shape, extents);
  if (array.shape != shape) {
    throw UserError(fmt::format("{}: {} has the shape {}, the program says {} = {} at these extents", path,
                                array.name, shapeText(array.shape), tensor::text(parameter.node->shape),
                                shapeText(shape)));
  }
  const auto item = static_cast<std::size_t>(tensor::byteSize(wanted));
  const bool reorder = array.columnMajor && array.shape.size() > 1 && !array.bytes.empty();
  semantics::TensorValue value{wanted, shape,
                               decodeArray(reorder ? toRowMajor(array, item) : array.bytes, wanted)};
  for (std::size_t i = 0; i < value.values.size(); ++i) {
    if (wanted == DType::boolean) value.values[i] = value.values[i] != 0 ? 1 : 0;
    if (!std::isfinite(value.values[i]))
      throw UserError(
          fmt::format("{}: {} holds {} (element {} in row-major order); NaN and infinities are outside "
                      "what kernels promise",
                      path, array.name, value.values[i], i));
  }
  return value;
}

}  // namespace

NpyArray parseNpy(std::string_view bytes, const std::string& name) {
  if (bytes.size() < 10 || bytes.substr(0, 6) != "\x93NUMPY")
    throw UserError(fmt::format("{} is no NumPy array: it does not start as one", name));
  const int version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3)
    throw UserError(fmt::format("{} is a NumPy array of format {}; 1 to 3 can be read", name, version));
  const std::size_t start = version == 1 ? 10 : 12;
  if (bytes.size() < start) throw UserError(fmt::format("{} is damaged: it ends too early", name));
  const std::size_t length = version == 1 ? little<std::uint16_t>(bytes, 8) : little<std::uint32_t>(bytes, 8);
  if (length > 65536 || length > bytes.size() - start)
    throw UserError(fmt::format("{} is damaged: its header has no {} bytes", name, length));
  NpyArray array;
  array.name = name;
  HeaderReader(bytes.substr(start, length), name).read(array);
  std::uint64_t size = itemSize(array);
  for (const std::int64_t extent : array.shape) {
    if (__builtin_mul_overflow(size, static_cast<std::uint64_t>(extent), &size) || size > largestArchive)
      throw UserError(fmt::format("{} has the shape {}, which is too large", name, shapeText(array.shape)));
  }
  const std::string_view data = bytes.substr(start + length);
  if (data.size() != size) {
    throw UserError(fmt::format("{} is damaged: {} of '{}' take {} bytes, and it has {}", name,
                                shapeText(array.shape), array.dtype, size, data.size()));
  }
  array.bytes = data;
  return array;
}

std::string encodeNpy(const semantics::TensorValue& value) {
  const DType type = value.dtype == DType::bf16 ? DType::f32 : value.dtype;
  std::string_view descr = "<f4";
  for (const char* name : {"<f8", "<f4", "<f2", "<i4", "|i1", "|b1"}) {
    if (dtypeOf(name) == type) descr = name;
  }
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", descr, shapeText(value.shape));
  header.append(63 - (10 + header.size()) % 64, ' ');  // data starts at a multiple of 64
  header += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(header.size() & 255U);
  out += static_cast<char>(header.size() >> 8U);
  return out + header + encodeArray(value.values, type);
}

std::vector<NpyArray> parseNpz(std::string_view archive, const std::string& path) {
  return Archive(archive, path).read();
}

tensor::Extents extentsOf(const std::vector<NpyArray>& arrays, const tensor::Program& program,
                          const std::string& path) {
  tensor::Extents extents;
  for (const tensor::Parameter& parameter : program.parameters) {
    const NpyArray* array = find(arrays, parameter.name);
    if (array == nullptr || array->shape.size() != parameter.node->shape.size()) continue;
    for (std::size_t axis = 0; axis < array->shape.size(); ++axis) {
      const auto symbol = parameter.node->shape[axis].asSymbol();
      if (!symbol) continue;
      const auto [known, isNew] = extents.emplace(*symbol, array->shape[axis]);
      if (!isNew && known->second != array->shape[axis])
        throw UserError(fmt::format("{}: axis {} of {} has the extent {}, but {} is {} elsewhere", path, axis,
                                    parameter.name, array->shape[axis], *symbol, known->second));
    }
  }
  return extents;
}

semantics::Inputs inputsOf(const std::vector<NpyArray>& arrays, const tensor::Program& program,
                           const tensor::Extents& extents, const std::string& path,
                           std::vector<std::string>& notes) {
  semantics::Inputs inputs;
  for (const tensor::Parameter& parameter : program.parameters) {
    const NpyArray* array = find(arrays, parameter.name);
    if (array == nullptr) {
      std::vector<std::string> names;
      for (const NpyArray& one : arrays) names.push_back(one.name);
      throw UserError(fmt::format("{} has no array {}; it has: {}", path, parameter.name,
                                  names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
    }
    inputs.emplace(parameter.name, valueOf(*array, parameter, extents, path));
  }
  for (const NpyArray& array : arrays) {
    if (!inputs.contains(array.name))
      notes.push_back(fmt::format("{}: {} is no input of the program", path, array.name));
  }
  semantics::InputDrawer drawer({&program}, extents);
  if (!drawer.satisfied(inputs))
    throw UserError(fmt::format("{} does not satisfy an assert of the program, or not beyond rounding: {}",
                                path, drawer.obstacle()));
  return inputs;
}

}  // namespace nuscope::sweep
