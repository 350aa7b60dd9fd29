// Lowerings of model shapes are safe, whatever the knobs; every knob has an effect.
#include "core/schedule/lower.h"

#include <gtest/gtest.h>

#include "core/schedule/check.h"
#include "core/schedule/read.h"
#include "core/schedule/transform.h"
#include "tests/schedule/models.h"

namespace nuscope::schedule {
namespace {

using testing::toy;

Report checked(const model::LlamaConfig& config, const LowerOptions& options) {
  const auto schedule = lower(config, options);
  EXPECT_TRUE(schedule.ok());
  // Written, read back and checked: what users of the file get.
  const ReadResult read = readSchedule(writeSchedule(*schedule));
  EXPECT_TRUE(read.schedule && read.faults.empty()) << (read.faults.empty() ? "" : read.faults[0].message);
  Report report = check(*read.schedule, {}, Progress());
  for (const Fault& f : report.faults) ADD_FAILURE() << f.message;
  for (const Finding& f : report.findings) ADD_FAILURE() << f.message;
  return report;
}

TEST(Lower, ToyIsSafeWithEveryKnob) {
  for (const QueuePolicy policy : {QueuePolicy::none, QueuePolicy::roundRobin, QueuePolicy::leastLoaded,
                                   QueuePolicy::locality, QueuePolicy::criticalPath}) {
    for (const std::int64_t partitions : {1, 3, 8}) {
      for (const std::int64_t position : {0, 40, 255}) {
        LowerOptions options;
        options.sms = 16;
        options.policy = policy;
        options.partitions = partitions;
        options.position = position;
        options.tileWidth = 24;
        EXPECT_EQ(checked(toy(), options).verdict, Safety::safe);
      }
    }
  }
}

TEST(Lower, BiasesNormsTiesAndWindows) {
  model::LlamaConfig c = toy();
  c.qkvBias = c.outputBias = c.mlpBias = c.headNorms = c.tiedEmbeddings = true;
  c.slidingWindow = 16;
  LowerOptions options;
  options.position = 100;
  EXPECT_EQ(checked(c, options).verdict, Safety::safe);
}

TEST(Lower, EveryKnobChangesTheSchedule) {
  const LowerOptions base{.sms = 16, .position = 40};
  const std::string plain = writeAmk(*lower(toy(), base));
  const auto differs = [&](auto change) {
    LowerOptions changed = base;
    change(changed);
    return writeAmk(*lower(toy(), changed)) != plain;
  };
  EXPECT_TRUE(differs([](LowerOptions& o) { o.sms = 8; }));
  EXPECT_TRUE(differs([](LowerOptions& o) { o.position = 41; }));
  EXPECT_TRUE(differs([](LowerOptions& o) { o.tileWidth = 16; }));
  EXPECT_TRUE(differs([](LowerOptions& o) { o.mostTiles = 2; }));
  EXPECT_TRUE(differs([](LowerOptions& o) { o.partitions = 2; }));
  EXPECT_TRUE(differs([](LowerOptions& o) { o.policy = QueuePolicy::leastLoaded; }));
  EXPECT_TRUE(differs([](LowerOptions& o) { o.policy = QueuePolicy::locality; }));
  EXPECT_TRUE(differs([](LowerOptions& o) { o.policy = QueuePolicy::criticalPath; }));
  EXPECT_TRUE(differs([](LowerOptions& o) { o.weights = ElementType::f32; }));
  EXPECT_TRUE(differs([](LowerOptions& o) { o.maxPositions = 128; }));
  EXPECT_TRUE(differs([](LowerOptions& o) { o.everyPosition = true; }));
  EXPECT_TRUE(differs([](LowerOptions& o) { o.fusion = Fusion::residual; }));
  EXPECT_TRUE(differs([](LowerOptions& o) { o.fusion = Fusion::gateUp; }));
  EXPECT_TRUE(differs([](LowerOptions& o) { o.pages = PageUse::linear; }));
  const auto pages = [](PageUse use, std::int64_t pipelining) {
    LowerOptions o{.sms = 16, .position = 40};
    o.pages = use;
    o.pipelining = pipelining;
    return lower(toy(), o)->pages->pages.size();
  };
  EXPECT_LT(pages(PageUse::rotate, 1),
            pages(PageUse::rotate, 2));  // two layers at once need twice the pages of a layer
  EXPECT_EQ(pages(PageUse::rotate, 2), pages(PageUse::linear, 1));  // the toy has two layers
}

TEST(Lower, FusedAndPagedAndForEveryPosition) {
  for (const Fusion fusion : {Fusion::none, Fusion::residual, Fusion::gateUp, Fusion::all}) {
    for (const PageUse pages : {PageUse::none, PageUse::linear, PageUse::rotate}) {
      for (const bool every : {false, true}) {
        LowerOptions options;
        options.sms = 8;
        options.position = 40;
        options.fusion = fusion;
        options.pages = pages;
        options.everyPosition = every;
        options.partitions = 3;
        options.tileWidth = 24;
        EXPECT_EQ(checked(toy(), options).verdict, Safety::safe);
      }
    }
  }
  // Fusing takes tasks away: the residual additions, and gate, up and SwiGLU as one.
  LowerOptions options;
  const std::size_t plain = lower(toy(), options)->tasks.size();
  options.fusion = Fusion::residual;
  EXPECT_EQ(lower(toy(), options)->tasks.size(), plain - 4);
  options.fusion = Fusion::all;
  EXPECT_EQ(lower(toy(), options)->tasks.size(), plain - 4 - 2 * 5);
}

TEST(Lower, EveryPositionIsWhatEachPositionIs) {
  model::LlamaConfig c = toy();
  c.maxPositions = 48;
  LowerOptions options;
  options.everyPosition = true;
  options.partitions = 3;
  const Schedule all = *lower(c, options);
  for (std::int64_t pos = 0; pos < 48; ++pos)
    EXPECT_EQ(check(*atPosition(all, pos), {}, Progress()).verdict, Safety::safe) << pos;
  // An append one row late is found, at the first position where it shows: the last, whose row is outside.
  Schedule late = all;
  for (Task& t : late.tasks) {
    if (t.op != Opcode::kvAppend) continue;
    for (auto& [from, to] : (*t.writes)[0].symbolic) {
      if (from.terms[0].slope == 1) {
        ++from.terms[0].offset;
        ++to.terms[0].offset;
      }
    }
  }
  const Report report = check(late, {}, Progress());
  EXPECT_EQ(report.verdict, Safety::unsafe);
  std::int64_t first = -1;
  for (std::int64_t pos = 0; pos < 48 && first < 0; ++pos) {
    if (check(*atPosition(late, pos), {}, Progress()).verdict != Safety::safe) first = pos;
  }
  EXPECT_EQ(report.position, first);
}

struct Shape {
  const char* name;
  std::int64_t hidden, layers, heads, kvHeads, intermediate, vocabulary;
};

TEST(Lower, PublishedShapesAreSafeOn132Sms) {
  for (const Shape& s :
       {Shape{"1.3B", 2048, 24, 16, 16, 5504, 32000}, Shape{"2.7B", 2560, 32, 32, 32, 6912, 32000},
        Shape{"6.7B", 4096, 32, 32, 32, 11008, 32000}, Shape{"13B", 5120, 40, 40, 40, 13824, 32000},
        Shape{"Llama 3.1 8B", 4096, 32, 32, 8, 14336, 128256}}) {
    model::LlamaConfig c = toy();
    c.hidden = s.hidden;
    c.layers = s.layers;
    c.heads = s.heads;
    c.kvHeads = s.kvHeads;
    c.headDim = s.hidden / s.heads;
    c.intermediate = s.intermediate;
    c.vocabulary = s.vocabulary;
    c.maxPositions = 4096;
    LowerOptions options;
    options.position = 1000;
    options.partitions = 4;
    const Report report = checked(c, options);
    EXPECT_EQ(report.verdict, Safety::safe) << s.name;
    printf("%-13s %zu tasks, safe, checked in %.3f s\n", s.name, report.order.size(), report.seconds);
  }
}

TEST(Lower, RangesAreNamed) {
  LowerOptions options;
  options.position = 256;
  EXPECT_EQ(lower(toy(), options).refusal().message, "pos is 256; it must lie in 0 .. 255");
  options = {};
  options.pipelining = 2;
  EXPECT_EQ(lower(toy(), options).refusal().message, "pipelining has an effect with pages=rotate only");
  options.pages = PageUse::rotate;
  options.pipelining = 65;
  EXPECT_FALSE(lower(toy(), options));
  options = {};
  model::LlamaConfig huge = toy();
  huge.layers = 1'000'000;
  EXPECT_NE(lower(huge, options).refusal().message.find("at most 4,000,000"), std::string::npos);
  huge = toy();
  huge.vocabulary = huge.hidden = std::int64_t{1} << 31;
  EXPECT_NE(lower(huge, options).refusal().message.find("10^15"), std::string::npos);
  huge = toy();
  huge.slidingWindow = 16;
  options.everyPosition = true;
  options.partitions = 2;
  EXPECT_FALSE(lower(huge, options));
}

}  // namespace
}  // namespace nuscope::schedule
