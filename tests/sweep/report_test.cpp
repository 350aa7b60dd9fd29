// The report of a small real study: everything is in it, nothing is fetched, nothing from the study is taken
// for HTML.
#include "core/sweep/report.h"

#include <gtest/gtest.h>

#include "core/language/parse.h"
#include "core/nugraph/json.h"
#include "core/nugraph/nugraph.h"
#include "core/proof/prove.h"
#include "core/sweep/study.h"

namespace nuscope::sweep {
namespace {

constexpr const char* scaled =
    "from __future__ import annotations\nimport numpy as np\n\n"
    "def f(x: f32[M, K], g: f32[K], w: f32[K, N]) -> f32[M, N]:\n    return (x * g) @ w\n";
constexpr const char* moved =
    "from __future__ import annotations\nimport numpy as np\n\n"
    "def f(x: f32[M, K], g: f32[K], w: f32[K, N]) -> f32[M, N]:\n    return x @ (np.expand_dims(g, 1) * w)\n";
constexpr const char* wrong =
    "from __future__ import annotations\nimport numpy as np\n\n"
    "def f(x: f32[M, K], g: f32[K], w: f32[K, N]) -> f32[M, N]:\n    return (x + g) @ w\n";

tensor::Program parse(const char* text, const std::shared_ptr<tensor::NodeStore>& store) {
  auto parsed = language::parse(text, store);
  EXPECT_TRUE(parsed.program.has_value());
  return *parsed.program;
}

nugraph::NuGraph graph() {
  const auto store = std::make_shared<tensor::NodeStore>();
  const tensor::Program root = parse(scaled, store);
  const tensor::Program right = parse(moved, store);
  const tensor::Program bad = parse(wrong, store);
  nugraph::NuGraph g(root);
  proof::Options options;
  options.mode = proof::Mode::refines;
  nugraph::Step step;
  step.what = "multiply moved from x to w";
  step.proof = std::make_shared<proof::Proof>(proof::prove(root, right, options, {}));
  EXPECT_EQ(step.proof->verdict, proof::Verdict::proved);
  g.add(step, right.results, nugraph::Stage::algebra, "gain into w");
  nugraph::Refused refused;
  refused.what = "add instead of <multiply>";
  refused.results = bad.results;
  refused.proof = std::make_shared<proof::Proof>(proof::prove(root, bad, options, {}));
  EXPECT_EQ(refused.proof->verdict, proof::Verdict::refuted);
  g.add(refused);
  return g;
}

std::unique_ptr<Study> study(bool swept) {
  auto s = Study::temporary();
  const int revision = s->addRevision("f", scaled, "f.py");
  s->setNuGraph(revision, nugraph::toJson(graph()));
  if (!swept) return s;
  SweepRecord sweep;
  sweep.revision = revision;
  sweep.extents = {{"M", 4}, {"K", 8}, {"N", 4}};
  sweep.target = "host-avx2";
  sweep.device = "host: test";
  sweep.toolchain = "g++ 12";
  sweep.budget = "60s";
  sweep.environment = {{"processor", "<script>alert(1)</script>"}};
  sweep.id = s->addSweep(sweep);
  std::vector<CandidateRecord> list(3);
  for (CandidateRecord& candidate : list) candidate.sweep = sweep.id;
  list[0].label = "gain into w";
  list[0].variant = 1;
  list[0].parameters = {{"tile_m", 6}};
  list[0].modelledSeconds = 2e-3;
  list[1].label = "as written";
  list[1].state = CandidateState::wrong;
  list[1].reason = "error 3.1e-2 at [0, 1] & more";
  list[2].kind = CandidateKind::baseline;
  list[2].label = "plain loops, g++ 12";
  list[0].kernel = s->addKernel("void f(const float* x) { if (x < x) return; }");
  s->addCandidates(list);
  Measurement m;
  m.key = {list[0].kernel, extentsText(sweep.extents), sweep.device, sweep.toolchain, 1};
  m.samples = {1.9e-3, 2e-3, 2.1e-3};
  m.median = 2e-3;
  m.low = 1.9e-3;
  m.high = 2.1e-3;
  m.gate.passed = true;
  list[0].state = CandidateState::measured;
  s->putMeasurement(m, &list[0]);
  m.key.kernel = "baseline: loops";
  m.median = 8e-3;
  m.low = 7.9e-3;
  m.high = 8.1e-3;
  list[2].state = CandidateState::measured;
  s->putMeasurement(m, &list[2]);
  return s;
}

bool has(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

TEST(Report, HoldsTheWholeStory) {
  const auto s = study(true);
  ReportPictures pictures;
  pictures.byName["latency"] = {"<svg id=\"light\"></svg>", "<svg id=\"dark\"></svg>"};
  const std::string html = renderReport(*s, pictures, {});
  EXPECT_TRUE(has(html, "f: 2 ms, 4.00 times as fast as plain loops"));
  EXPECT_TRUE(has(html, "Proved over the reals for"));
  EXPECT_TRUE(has(html, "<math display=\"block\">"));
  EXPECT_TRUE(has(html, "Refuted"));
  EXPECT_TRUE(has(html, "class=\"differs\""));
  EXPECT_TRUE(has(html, "<svg id=\"light\">"));
  EXPECT_TRUE(has(html, "<svg id=\"dark\">"));
  EXPECT_TRUE(has(html, "return (x * g) @ w"));
  EXPECT_TRUE(has(html, "Compile command"));
  EXPECT_TRUE(has(html, "K=8,M=4,N=4"));
  EXPECT_TRUE(has(html, "error 3.1e-2 at [0, 1] &amp; more"));
}

TEST(Report, FetchesNothingAndRunsNothing) {
  const std::string html = renderReport(*study(true), {}, {});
  EXPECT_FALSE(has(html, "<script"));
  EXPECT_FALSE(has(html, "http://"));
  EXPECT_FALSE(has(html, "https://"));
  EXPECT_FALSE(has(html, "src="));
  EXPECT_FALSE(has(html, "<link"));
  EXPECT_TRUE(has(html, "if (x &lt; x)"));
  EXPECT_TRUE(has(html, "&lt;script&gt;alert(1)"));
  EXPECT_TRUE(has(html, "Add instead of &lt;multiply&gt;"));
}

TEST(Report, SaysWhatIsMissing) {
  ReportPictures none;
  none.whyMissing = "pictures are painted by nuscope-explorer, which is not installed beside nuscope.";
  const std::string html = renderReport(*study(false), none, {});
  EXPECT_TRUE(has(html, "No sweep was run yet."));
  EXPECT_TRUE(has(html, "No picture: pictures are painted"));
  EXPECT_THROW(renderReport(*Study::temporary(), none, {}), UserError);
}

TEST(Report, StopsWhenCancelled) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(renderReport(*study(true), {}, Progress(stop.get_token())), Cancelled);
}

}  // namespace
}  // namespace nuscope::sweep
