// NumPy's files: what numpy writes is read to the bit, what a program does not take is refused with the
// reason, and damaged archives end in a sentence, never in a crash.
#include "core/sweep/npz.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <filesystem>
#include <random>

#include "core/base/diagnostics.h"
#include "core/base/files.h"
#include "core/base/process.h"
#include "core/language/parse.h"

namespace nuscope::sweep {
namespace {

using semantics::TensorValue;
using tensor::DType;

std::string little(std::uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 255U);
  return out;
}

std::string deflated(const std::string& bytes) {
  std::string out(bytes.size() + 1024, '\0');
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// A zip archive of these files.
std::string zipOf(const std::vector<std::pair<std::string, std::string>>& files, bool deflate) {
  std::string body;
  std::string directory;
  for (const auto& [name, bytes] : files) {
    const std::string packed = deflate ? deflated(bytes) : bytes;
    const auto sum = crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
    const std::string common = little(0, 2) + little(deflate ? 8 : 0, 2) + little(0, 4) + little(sum, 4) +
                               little(packed.size(), 4) + little(bytes.size(), 4) + little(name.size(), 2) +
                               little(0, 2);
    directory += little(0x02014b50, 4) + little(20, 2) + little(20, 2) + common + little(0, 2) +
                 little(0, 2) + little(0, 2) + little(0, 4) + little(body.size(), 4) + name;
    body += little(0x04034b50, 4) + little(20, 2) + common + name + packed;
  }
  return body + directory + little(0x06054b50, 4) + little(0, 4) + little(files.size(), 2) +
         little(files.size(), 2) + little(directory.size(), 4) + little(body.size(), 4) + little(0, 2);
}

tensor::Program program() {
  auto parsed = language::parse(
      "from __future__ import annotations\nimport numpy as np\n\n\n"
      "def f(x: f32[M, K], g: f32[K], n: i32[M], s: f32) -> f32[M, K]:\n"
      "    assert np.all(g > 0)\n"
      "    return x * g * s + n[:, None]\n");
  EXPECT_TRUE(parsed.program);
  return *parsed.program;
}

std::vector<std::pair<std::string, std::string>> goodFiles() {
  return {{"x.npy", encodeNpy({DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6}})},
          {"g.npy", encodeNpy({DType::f32, {3}, {0.5, 1, 2}})},
          {"n.npy", encodeNpy({DType::i32, {2}, {-7, 8}})},
          {"s.npy", encodeNpy({DType::f32, {}, {0.25}})}};
}

semantics::Inputs read(const std::string& archive, const tensor::Extents& extents = {{"M", 2}, {"K", 3}}) {
  std::vector<std::string> notes;
  return inputsOf(parseNpz(archive, "f.npz"), program(), extents, "f.npz", notes);
}

std::string refusal(const std::string& archive, const tensor::Extents& extents = {{"M", 2}, {"K", 3}}) {
  try {
    read(archive, extents);
  } catch (const UserError& error) {
    return error.what();
  }
  return "nothing was refused";
}

std::string with(const std::string& name, const std::string& bytes) {
  auto files = goodFiles();
  for (auto& [file, content] : files) {
    if (file == name) content = bytes;
  }
  return zipOf(files, false);
}

TEST(Npz, readsStoredAndDeflatedArrays) {
  for (const bool deflate : {false, true}) {
    const semantics::Inputs inputs = read(zipOf(goodFiles(), deflate));
    EXPECT_EQ(inputs.at("x").values, (std::vector<double>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(inputs.at("n").values, (std::vector<double>{-7, 8}));
    EXPECT_EQ(inputs.at("s").values, (std::vector<double>{0.25}));
  }
  EXPECT_EQ(extentsOf(parseNpz(zipOf(goodFiles(), true), "f.npz"), program(), "f.npz"),
            (tensor::Extents{{"M", 2}, {"K", 3}}));
}

TEST(Npz, everyDtypeAndShapeComesBackAsItWas) {
  std::mt19937_64 random(3);
  for (const DType type : {DType::f64, DType::f32, DType::f16, DType::i32, DType::i8, DType::boolean}) {
    for (const std::vector<std::int64_t>& shape :
         {std::vector<std::int64_t>{}, {1}, {5}, {2, 3}, {2, 3, 4}, {1, 1, 7}}) {
      TensorValue value{type, shape, {}};
      for (std::int64_t i = 0; i < value.count(); ++i)
        value.values.push_back(type == DType::boolean ? static_cast<double>(random() % 2)
                                                      : static_cast<double>(random() % 200) - 100);
      const NpyArray array = parseNpy(encodeNpy(value), "a");
      EXPECT_EQ(array.shape, shape);
      EXPECT_FALSE(array.columnMajor);
      EXPECT_EQ(array.bytes.size(), static_cast<std::size_t>(value.count() * tensor::byteSize(type)));
    }
  }
}

TEST(Npz, columnMajorArraysAreTurned) {
  const std::string row =
      encodeNpy({DType::f32, {2, 3}, {1, 4, 2, 5, 3, 6}});  // the columns of 1 2 3 / 4 5 6
  std::string column = row;
  const auto at = column.find("False, ");
  column.replace(at, 7, "True,  ");
  EXPECT_EQ(read(with("x.npy", column)).at("x").values, (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

TEST(Npz, refusalsSayWhatIsExpected) {
  EXPECT_EQ(refusal(zipOf({goodFiles()[0]}, false)), "f.npz has no array g; it has: x");
  EXPECT_EQ(refusal(with("x.npy", encodeNpy({DType::f64, {2, 3}, {1, 2, 3, 4, 5, 6}}))),
            "f.npz: x holds '<f8', the program says f32; save it with .astype(np.float32)");
  EXPECT_EQ(refusal(with("x.npy", encodeNpy({DType::f32, {3, 2}, {1, 2, 3, 4, 5, 6}}))),
            "f.npz: x has the shape (3, 2), the program says [M, K] = (2, 3) at these extents");
  EXPECT_NE(refusal(with("x.npy", encodeNpy({DType::f32, {2, 3}, {1, 2, std::nan(""), 4, 5, 6}})))
                .find("x holds nan (element 2"),
            std::string::npos);
  EXPECT_NE(refusal(with("g.npy", encodeNpy({DType::f32, {3}, {1, 0, 1}}))).find("np.all(g > 0)"),
            std::string::npos);
  EXPECT_EQ(refusal(""), "f.npz is no .npz file: it is too short");
  EXPECT_EQ(refusal(std::string(100, 'x')), "f.npz is no .npz file: the end of a zip archive is missing");
  EXPECT_EQ(refusal(zipOf({{"notes.txt", "hello"}}, false)), "f.npz holds 'notes.txt', which is no array");
  EXPECT_EQ(refusal(with("x.npy", "hello, I am no array")), "x is no NumPy array: it does not start as one");
  auto twice = goodFiles();
  twice.push_back(twice[0]);
  EXPECT_EQ(refusal(zipOf(twice, false)), "f.npz holds 'x.npy' twice");
  std::string fields = encodeNpy({DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6}});
  fields.replace(fields.find("'<f4'"), 5, "[('a'");
  EXPECT_NE(refusal(with("x.npy", fields)).find("fields"), std::string::npos);
  std::string huge = encodeNpy({DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6}});
  huge.replace(huge.find("(2, 3), }     "), 14, "(99999999,99) ");
  EXPECT_NE(refusal(with("x.npy", huge)).find("x"), std::string::npos);
  std::string wrongSum = zipOf(goodFiles(), false);
  wrongSum[wrongSum.find("x.npy") + 5 + 130] ^= 1;  // an element of x
  EXPECT_EQ(refusal(wrongSum), "f.npz is damaged: the checksum of 'x.npy' is wrong");
  std::vector<std::string> notes;
  auto more = goodFiles();
  more.emplace_back("y.npy", encodeNpy({DType::f32, {}, {1}}));
  inputsOf(parseNpz(zipOf(more, false), "f.npz"), program(), {{"M", 2}, {"K", 3}}, "f.npz", notes);
  EXPECT_EQ(notes, (std::vector<std::string>{"f.npz: y is no input of the program"}));
  auto other = goodFiles();
  other[1].second = encodeNpy({DType::f32, {4}, {1, 1, 1, 1}});
  EXPECT_THROW(extentsOf(parseNpz(zipOf(other, false), "f.npz"), program(), "f.npz"), UserError);
}

TEST(Npz, anEntryCannotUnpackToMoreThanItSays) {
  auto files = goodFiles();
  files[0].second = encodeNpy({DType::f32, {100, 100}, std::vector<double>(10000, 0)});
  std::string archive = zipOf(files, true);
  const auto directory = archive.find(little(0x02014b50, 4));
  archive.replace(directory + 24, 4, little(500, 4));
  EXPECT_EQ(refusal(archive), "f.npz is damaged: 'x.npy' cannot be unpacked");
  archive.replace(directory + 24, 4, little(0x7fffffff, 4));
  EXPECT_EQ(refusal(archive), "f.npz is damaged: 'x.npy' cannot have the size it claims");
}

/// Flipped, cut, doubled and overwritten bytes: a value or a sentence, nothing else.
TEST(Npz, damagedArchivesEndInASentence) {
  std::mt19937_64 random(20);
  const std::string stored = zipOf(goodFiles(), false);
  const std::string packed = zipOf(goodFiles(), true);
  int refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string archive = round % 2 == 0 ? stored : packed;
    for (std::uint64_t edits = 1 + random() % 4; edits > 0; --edits) {
      const std::size_t at = random() % archive.size();
      switch (random() % 4) {
        case 0:
          archive[at] = static_cast<char>(random());
          break;
        case 1:
          archive.resize(std::max<std::size_t>(at, 1));
          break;
        case 2:
          archive.insert(at, archive.substr(random() % archive.size(), random() % 64));
          break;
        default:
          archive.replace(at, std::min<std::size_t>(4, archive.size() - at),
                          little(random() % 2 == 0 ? 0xffffffff : random(), 4));
      }
    }
    try {
      read(archive);
    } catch (const UserError& error) {
      ++refused;
      EXPECT_FALSE(std::string(error.what()).empty());
    }
  }
  EXPECT_GT(refused, 15000);
}

TEST(Npz, readsWhatNumPyWrites) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "nuscope-npz-test";
  std::filesystem::create_directories(folder);
  ProcessOptions options;
  options.arguments = {"/usr/bin/python3", "-c",
                       "import numpy as np\n"
                       "a = dict(x=np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3)), "
                       "g=np.ones(3, np.float32), n=np.array([1, 2], np.int32), s=np.float32(3))\n"
                       "np.savez('a.npz', **a)\nnp.savez_compressed('b.npz', **a)\n"};
  options.directory = folder.string();
  const Finished finished = runProcess(options, "", std::chrono::seconds(60));
  if (!finished.end.success()) GTEST_SKIP() << "no python3 with NumPy: " << finished.errors;
  for (const char* name : {"a.npz", "b.npz"}) {
    const semantics::Inputs inputs = read(readWholeFile(folder / name));
    EXPECT_EQ(inputs.at("x").values, (std::vector<double>{0, 1, 2, 3, 4, 5})) << name;
    EXPECT_EQ(inputs.at("s").values, (std::vector<double>{3})) << name;
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace nuscope::sweep
