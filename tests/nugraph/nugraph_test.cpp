#include "core/nugraph/nugraph.h"

#include "tests/nugraph/sample.h"

namespace nuscope::nugraph {
namespace {

TEST(NuGraph, GrowsWithVersions) {
  const NuGraph graph = test::sampleGraph();
  EXPECT_EQ(graph.variants().size(), 3U);
  EXPECT_EQ(graph.steps().size(), 3U);
  EXPECT_EQ(graph.refused().size(), 1U);
  EXPECT_EQ(graph.version(), 4);
  EXPECT_EQ(graph.variants()[2].parent, 1);
  EXPECT_EQ(graph.derivation(2), (std::vector<int>{0, 1}));
  EXPECT_TRUE(graph.derivation(0).empty());
}

TEST(NuGraph, SecondWayIsASecondStep) {
  const NuGraph graph = test::sampleGraph();
  EXPECT_EQ(graph.steps()[2].from, 0);
  EXPECT_EQ(graph.steps()[2].to, 2);
  EXPECT_EQ(graph.find(graph.variants()[2].results), 2);
  EXPECT_FALSE(graph.find({graph.root().parameters[0].node}).has_value());
}

TEST(NuGraph, DifferencesNameWhatChanged) {
  const NuGraph graph = test::sampleGraph();
  const Step& step = graph.steps()[0];
  ASSERT_EQ(step.removed.size(), 2U);
  EXPECT_EQ(step.removed[0]->op, tensor::Op::divide);
  ASSERT_EQ(step.added.size(), 2U);
  EXPECT_EQ(step.added[0]->op, tensor::Op::matmul);
}

TEST(NuGraph, EarlierVersions) {
  const NuGraph graph = test::sampleGraph();
  const NuGraph root = graph.at(0);
  EXPECT_EQ(root.variants().size(), 1U);
  EXPECT_TRUE(root.steps().empty());
  const NuGraph first = graph.at(1);
  EXPECT_EQ(first.variants().size(), 2U);
  EXPECT_TRUE(first.refused().empty());
  EXPECT_EQ(graph.at(99).version(), 4);
  EXPECT_EQ(graph.at(2).variants().size(), 2U);  // version 2 is the refused move
}

TEST(NuGraph, CountsProofs) {
  const auto counts = test::sampleGraph().proofs();
  EXPECT_EQ(counts.proved, 3);
  EXPECT_EQ(counts.refuted, 1);
  EXPECT_EQ(counts.unknown, 0);
}

TEST(NuGraph, RefusesStepsWithoutProof) {
  NuGraph graph = test::sampleGraph();
  Step step;
  EXPECT_THROW(graph.add(step, graph.root().results, Stage::algebra, ""), InternalError);
  auto unknown = std::make_shared<proof::Proof>();
  step.proof = unknown;
  EXPECT_THROW(graph.add(step, graph.root().results, Stage::algebra, ""), InternalError);
  EXPECT_EQ(graph.version(), 4);
}

}  // namespace
}  // namespace nuscope::nugraph
