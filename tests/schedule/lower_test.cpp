// Lowerings of model shapes are safe, whatever the knobs; every knob has an effect.
#include "core/schedule/lower.h"

#include <gtest/gtest.h>

#include "core/schedule/check.h"
#include "core/schedule/read.h"

namespace nuscope::schedule {
namespace {

model::LlamaConfig toy() {
  model::LlamaConfig c;
  c.modelType = "llama";
  c.hidden = 64;
  c.layers = 2;
  c.heads = 4;
  c.kvHeads = 2;
  c.headDim = 16;
  c.intermediate = 128;
  c.vocabulary = 256;
  c.maxPositions = 256;
  return c;
}

Report checked(const model::LlamaConfig& config, const LowerOptions& options) {
  const auto schedule = lower(config, options);
  EXPECT_TRUE(schedule.ok());
  // Written, read back and checked: what users of the file get.
  const ReadResult read = readAmk(writeAmk(*schedule));
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
}

}  // namespace
}  // namespace nuscope::schedule
