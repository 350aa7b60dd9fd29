// The folder on disk: what is replaced, what is never overwritten.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/base/diagnostics.h"
#include "core/base/files.h"
#include "core/export/export.h"

namespace nuscope::exporting {
namespace {

namespace fs = std::filesystem;

class ExportFolder : public testing::Test {
 protected:
  ExportFolder() {
    char pattern[] = "/tmp/nuscope-folder-XXXXXX";
    top = mkdtemp(pattern);
  }
  ~ExportFolder() override { fs::remove_all(top); }

  static Folder folder(const std::string& text) {
    Folder one;
    one.files = {{"kernel.cpp", text}, {"data/1/x.npy", "numbers"}};
    nlohmann::json hashes;
    for (const auto& [name, bytes] : one.files) hashes[name] = sweep::textHash(bytes);
    one.files["manifest.json"] = nlohmann::json{{"format", "nuscope-export"}, {"files", hashes}}.dump();
    return one;
  }
  std::string refusal(const fs::path& place) {
    try {
      writeFolder(folder("new"), place);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(top), fs::directory_iterator()));
  }
  fs::path top;
};

TEST_F(ExportFolder, isWrittenAndReplaced) {
  writeFolder(folder("old"), top / "a" / "out");
  EXPECT_EQ(readWholeFile(top / "a" / "out" / "kernel.cpp"), "old");
  EXPECT_EQ(readWholeFile(top / "a" / "out" / "data" / "1" / "x.npy"), "numbers");
  fs::create_directories(top / "a" / "out" / "build");
  writeWholeFile(top / "a" / "out" / "build" / "anything", "built");
  writeWholeFile(top / "a" / "out" / "libx.so", "built");
  writeFolder(folder("new"), top / "a" / "out/");
  EXPECT_EQ(readWholeFile(top / "a" / "out" / "kernel.cpp"), "new");
  EXPECT_EQ(entries(), 1U) << "nothing is left beside it";
  EXPECT_EQ(std::distance(fs::directory_iterator(top / "a"), fs::directory_iterator()), 1);
}

TEST_F(ExportFolder, anEmptyFolderIsTaken) {
  fs::create_directories(top / "out");
  EXPECT_EQ(refusal(top / "out"), "");
  EXPECT_TRUE(fs::exists(top / "out" / "manifest.json"));
}

TEST_F(ExportFolder, foreignFoldersAreLeftAlone) {
  fs::create_directories(top / "mine");
  writeWholeFile(top / "mine" / "thesis.tex", "years of work");
  EXPECT_NE(refusal(top / "mine").find("was not made by nuscope export"), std::string::npos);
  writeWholeFile(top / "mine" / "manifest.json", "{\"format\": \"something else\"}");
  EXPECT_NE(refusal(top / "mine").find("was not made by nuscope export"), std::string::npos);
  writeWholeFile(top / "mine" / "manifest.json", "no json");
  EXPECT_NE(refusal(top / "mine").find("was not made by nuscope export"), std::string::npos);
  EXPECT_EQ(readWholeFile(top / "mine" / "thesis.tex"), "years of work");
  writeWholeFile(top / "file", "text");
  EXPECT_NE(refusal(top / "file").find("is no folder"), std::string::npos);
  fs::create_directory_symlink(top / "mine", top / "link");
  EXPECT_NE(refusal(top / "link"), "");
  EXPECT_EQ(entries(), 3U);
}

TEST_F(ExportFolder, editedAndAddedFilesAreLeftAlone) {
  writeFolder(folder("old"), top / "out");
  writeWholeFile(top / "out" / "kernel.cpp", "edited");
  EXPECT_NE(refusal(top / "out").find("kernel.cpp was edited since it was exported"), std::string::npos);
  EXPECT_EQ(readWholeFile(top / "out" / "kernel.cpp"), "edited");
  writeWholeFile(top / "out" / "kernel.cpp", "old");
  writeWholeFile(top / "out" / "data" / "notes.txt", "mine");
  EXPECT_NE(refusal(top / "out").find("notes.txt, which no export wrote"), std::string::npos);
  EXPECT_EQ(readWholeFile(top / "out" / "data" / "notes.txt"), "mine");
}

}  // namespace
}  // namespace nuscope::exporting
