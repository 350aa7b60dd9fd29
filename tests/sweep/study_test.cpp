#include "core/sweep/study.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "core/base/diagnostics.h"

namespace nuscope::sweep {
namespace {

namespace fs = std::filesystem;

class StudyTest : public testing::Test {
 protected:
  StudyTest() {
    char pattern[] = "/tmp/nuscope-study-XXXXXX";
    folder = mkdtemp(pattern);
    path = (folder / "s.nuscope").string();
  }
  ~StudyTest() override { fs::remove_all(folder); }
  static std::string raw(const std::string& file, const std::string& sql) {
    sqlite3* db = nullptr;
    sqlite3_open(file.c_str(), &db);
    char* error = nullptr;
    sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &error);
    std::string text = error != nullptr ? error : "";
    sqlite3_free(error);
    sqlite3_close(db);
    return text;
  }
  fs::path folder;
  std::string path;
};

Measurement sampleMeasurement(const std::string& kernel) {
  Measurement m;
  m.key = {kernel, "M=4", "host: test", "g++ 12", 1};
  m.samples = {1e-3, 2e-3, 1.5e-3};
  m.median = 1.5e-3;
  m.low = 1e-3;
  m.high = 2e-3;
  m.confidence = 0.75;
  GateDraw draw;
  draw.distribution = "normal, scale 30";
  draw.seed = 18446744073709551615U;
  draw.index = {1, 2};
  draw.ratio = std::numeric_limits<double>::infinity();
  draw.checked = 8;
  m.gate.passed = true;
  m.gate.factor = 4;
  m.gate.accumulation = "f32";
  m.gate.draws = {draw};
  m.gate.worst = 0;
  m.gate.text = "fine";
  m.date = "2026-01-02T03:04:05Z";
  return m;
}

int fill(Study& study) {
  const int revision = study.addRevision("f", "def f(): ...\n", "f.py");
  study.setNuGraph(revision, R"({"variants":[]})");
  SweepRecord sweep;
  sweep.revision = revision;
  sweep.extents = {{"M", 4}, {"K", 8}};
  sweep.target = "host-avx2";
  sweep.device = "host: test";
  sweep.toolchain = "g++ 12";
  sweep.seed = 18446744073709551615U;
  sweep.budget = "60s";
  sweep.environment = {{"processor", "test \"quoted\" \xff"}};
  return study.addSweep(sweep);
}

std::vector<CandidateRecord> twoCandidates(int sweep) {
  CandidateRecord a;
  a.sweep = sweep;
  a.label = "as written";
  a.parameters = {{"block_m", 64}, {"tile_n", 16}};
  a.kernel = textHash("a");
  a.modelledSeconds = 0.25;
  CandidateRecord b = a;
  b.kind = CandidateKind::baseline;
  b.state = CandidateState::skipped;
  b.reason = "libopenblas is not installed";
  return {a, b};
}

TEST_F(StudyTest, keepsEverything) {
  int sweep = 0;
  {
    const auto study = Study::create(path);
    EXPECT_FALSE(study->readOnly());
    sweep = fill(*study);
    auto candidates = twoCandidates(sweep);
    study->addCandidates(candidates);
    EXPECT_EQ(study->addKernel("void f();"), textHash("void f();"));
    study->addKernel("void f();");
    candidates[0].state = CandidateState::measured;
    study->putMeasurement(sampleMeasurement(candidates[0].kernel), candidates.data());
    study->setViewState("window", "{\"a\":1}");
    study->setViewState("window", "{\"a\":2}");
    study->endSweep(sweep, SweepState::finished);
  }
  EXPECT_FALSE(fs::exists(path + "-wal"));
  EXPECT_FALSE(fs::exists(path + "-lock"));
  const auto study = Study::open(path, Study::Access::read);
  const auto revision = study->latestRevision();
  ASSERT_TRUE(revision);
  EXPECT_EQ(revision->program, "def f(): ...\n");
  EXPECT_TRUE(revision->hasNuGraph);
  EXPECT_EQ(study->nuGraph(1), R"({"variants":[]})");
  EXPECT_EQ(study->findRevision("def f(): ...\n")->id, 1);
  EXPECT_FALSE(study->findRevision("other"));
  const auto sweeps = study->sweeps();
  ASSERT_EQ(sweeps.size(), 1U);
  EXPECT_EQ(sweeps[0].extents, (tensor::Extents{{"M", 4}, {"K", 8}}));
  EXPECT_EQ(sweeps[0].seed, 18446744073709551615U);
  EXPECT_EQ(sweeps[0].state, SweepState::finished);
  EXPECT_FALSE(sweeps[0].ended.empty());
  const auto candidates = study->candidates(sweep);
  ASSERT_EQ(candidates.size(), 2U);
  EXPECT_EQ(candidates[0].parameters.at("block_m"), 64);
  EXPECT_EQ(candidates[0].state, CandidateState::measured);
  EXPECT_EQ(candidates[1].reason, "libopenblas is not installed");
  EXPECT_EQ(study->counts(sweep), (CandidateCounts{1, 1, 0, 0, 0}));
  ASSERT_TRUE(candidates[0].measurement);
  const auto measurement = study->measurement(*candidates[0].measurement);
  ASSERT_TRUE(measurement);
  EXPECT_EQ(measurement->samples, (std::vector<double>{1e-3, 2e-3, 1.5e-3}));
  EXPECT_EQ(measurement->gate.draws[0].seed, 18446744073709551615U);
  EXPECT_TRUE(std::isinf(measurement->gate.draws[0].ratio));
  EXPECT_EQ(study->findMeasurement(measurement->key)->id, measurement->id);
  EXPECT_EQ(study->viewState("window"), "{\"a\":2}");
  EXPECT_EQ(study->kernelText(textHash("void f();")), "void f();");
}

TEST_F(StudyTest, aSecondMeasurementOfTheSameKeyReplacesTheFirst) {
  const auto study = Study::temporary();
  Measurement m = sampleMeasurement("k");
  const int first = study->putMeasurement(m);
  m.median = 9;
  EXPECT_EQ(study->putMeasurement(m), first);
  EXPECT_EQ(study->measurement(first)->median, 9);
  m.key.threads = 2;
  EXPECT_NE(study->putMeasurement(m), first);
}

TEST_F(StudyTest, oneWriterOthersRead) {
  const auto writer = Study::create(path);
  fill(*writer);
  const auto second = Study::open(path, Study::Access::write);
  EXPECT_TRUE(second->readOnly());
  EXPECT_NE(second->readOnlyReason().find(std::to_string(getpid())), std::string::npos)
      << second->readOnlyReason();
  EXPECT_EQ(second->revisions().size(), 1U);
  writer->addRevision("g", "text", "");
  EXPECT_EQ(second->revisions().size(), 2U);
  EXPECT_THROW(second->addRevision("h", "text", ""), UserError);
}

TEST_F(StudyTest, nothingCommittedIsLostByAKill) {
  int pipeEnds[2];
  ASSERT_EQ(pipe(pipeEnds), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto study = Study::create(path);
    const int sweep = fill(*study);
    for (int i = 0; i < 1000; ++i) {
      Measurement m = sampleMeasurement(fmt::format("k{}", i));
      study->putMeasurement(m);
      const char byte = 1;
      if (write(pipeEnds[1], &byte, 1) != 1) _exit(1);
      if (i > 500) usleep(1000);
    }
    _exit(sweep);
  }
  close(pipeEnds[1]);
  int confirmed = 0;
  char byte = 0;
  while (confirmed < 500 && read(pipeEnds[0], &byte, 1) == 1) ++confirmed;
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  while (read(pipeEnds[0], &byte, 1) == 1) ++confirmed;
  close(pipeEnds[0]);
  const auto study = Study::open(path, Study::Access::write);
  EXPECT_FALSE(study->readOnly());
  for (int i = 0; i < confirmed; ++i) {
    EXPECT_TRUE(study->findMeasurement({fmt::format("k{}", i), "M=4", "host: test", "g++ 12", 1})) << i;
  }
}

TEST_F(StudyTest, savesACopy) {
  const auto study = Study::temporary();
  fill(*study);
  study->saveCopy(path);
  study->saveCopy(path);  // over itself
  const auto copy = Study::open(path, Study::Access::write);
  EXPECT_EQ(copy->revisions().size(), 1U);
  EXPECT_THROW(study->saveCopy(path), EnvironmentError);  // somebody writes it
  EXPECT_THROW(study->saveCopy((folder / "missing" / "x.nuscope").string()), EnvironmentError);
}

TEST_F(StudyTest, refusesWhatIsNoStudy) {
  EXPECT_THROW(Study::open(path, Study::Access::read), UserError);
  EXPECT_THROW(Study::open(folder.string(), Study::Access::read), UserError);
  std::ofstream(path) << "def f(): pass\n";
  EXPECT_FALSE(Study::looksLikeStudy(path));
  EXPECT_THROW(Study::open(path, Study::Access::read), UserError);
  EXPECT_THROW(Study::create(path), UserError);
  fs::remove(path);
  raw(path, "CREATE TABLE other (a)");
  EXPECT_THROW(Study::open(path, Study::Access::write), UserError);
}

TEST_F(StudyTest, refusesForeignSchemaAndNewerVersions) {
  { fill(*Study::create(path)); }
  raw(path, "PRAGMA user_version = 99");
  try {
    Study::open(path, Study::Access::read);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("newer"), std::string::npos);
  }
  raw(path, "PRAGMA user_version = 1");
  EXPECT_NO_THROW(Study::open(path, Study::Access::read));
  raw(path, "CREATE TRIGGER t AFTER INSERT ON revision BEGIN DELETE FROM revision; END");
  EXPECT_THROW(Study::open(path, Study::Access::read), UserError);
  raw(path, "DROP TRIGGER t; DROP TABLE view_state; CREATE VIEW view_state AS SELECT 1 AS name, 2 AS text");
  EXPECT_THROW(Study::open(path, Study::Access::read), UserError);
}

TEST_F(StudyTest, malformedValuesAreErrors) {
  { fill(*Study::create(path)); }
  raw(path,
      "INSERT INTO candidate (sweep,kind,label,variant,parameters,kernel,modelled,state,reason,saved_case) "
      "VALUES (1,'emitted','',0,'{\"a\":[[[','',0,'measured','','')");
  EXPECT_THROW(Study::open(path, Study::Access::read)->candidates(1), UserError);
  raw(path, "UPDATE candidate SET parameters='{}', state='glorious'");
  EXPECT_THROW(Study::open(path, Study::Access::read)->candidates(1), UserError);
  raw(path, "UPDATE candidate SET state='measured', variant=99999999999");
  EXPECT_THROW(Study::open(path, Study::Access::read)->candidates(1), UserError);
  raw(path, "UPDATE sweep SET extents='M=0'");
  EXPECT_THROW(Study::open(path, Study::Access::read)->sweeps(), UserError);
}

TEST_F(StudyTest, aFileThatMayNotBeWrittenIsReadOnly) {
  { fill(*Study::create(path)); }
  fs::permissions(path, fs::perms::owner_read);
  if (access(path.c_str(), W_OK) == 0) GTEST_SKIP() << "runs as root: every file may be written";
  const auto study = Study::open(path, Study::Access::write);
  EXPECT_TRUE(study->readOnly());
  EXPECT_EQ(study->revisions().size(), 1U);
}

TEST_F(StudyTest, aFullDiskIsAnErrorAndLosesNothing) {
  { fill(*Study::create(path)); }
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit small{1 << 20, 1 << 20};
    setrlimit(RLIMIT_FSIZE, &small);
    const auto study = Study::open(path, Study::Access::write);
    study->addRevision("g", "small", "");
    try {
      study->addRevision("h", std::string(4 << 20, 'x'), "");
    } catch (const EnvironmentError&) {
      study->addRevision("i", "small again", "");
      _exit(0);
    } catch (...) {
    }
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  const auto study = Study::open(path, Study::Access::read);
  std::vector<std::string> names;
  for (const Revision& revision : study->revisions()) names.push_back(revision.name);
  EXPECT_EQ(names, (std::vector<std::string>{"f", "g", "i"}));
}

TEST(Texts, extents) {
  EXPECT_EQ(extentsText(parseExtents("N=3,M=512")), "M=512,N=3");
  EXPECT_TRUE(parseExtents("").empty());
  for (const char* bad :
       {"M", "M=", "=3", "M=0", "M=-1", "M=3x", "M=1,M=2", "M=1,,N=2", "M=99999999999999999999"}) {
    EXPECT_THROW(parseExtents(bad), UserError) << bad;
  }
}

TEST(Texts, sha256) {
  EXPECT_EQ(textHash(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(textHash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(textHash(std::string(1000, 'a')),
            "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3");
}

}  // namespace
}  // namespace nuscope::sweep
