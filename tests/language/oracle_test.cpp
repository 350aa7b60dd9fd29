// NumPy is the oracle: programs, and what the printer makes of them, are run by NumPy and by the evaluator.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "core/base/process.h"
#include "core/language/parse.h"
#include "core/language/printer.h"
#include "core/semantics/draw.h"
#include "core/semantics/evaluate.h"
#include "tests/language/programs.h"

namespace nuscope::language {
namespace {

using nlohmann::json;

/// A Python that has NumPy; the first python3 on the path need not be it.
std::string pythonWithNumpy() {
  for (const char* candidate : {"/usr/bin/python3", "python3", "/usr/local/bin/python3", "python"}) {
    try {
      ProcessOptions options;
      options.arguments = {candidate, "-c", "import numpy"};
      if (runProcess(options, "", std::chrono::seconds(60)).end.success()) return candidate;
    } catch (const EnvironmentError&) {
      continue;
    }
  }
  return {};
}

struct Job {
  std::string title;
  std::string text;
  tensor::Program program;
  tensor::Extents extents;
  semantics::Inputs inputs;
  double tolerance = 1e-9;
};

json asJson(const Job& job) {
  json inputs = json::array();
  for (const tensor::Parameter& parameter : job.program.parameters) {
    const semantics::TensorValue& value = job.inputs.at(parameter.name);
    inputs.push_back({{"dtype", text(value.dtype)}, {"shape", value.shape}, {"values", value.values}});
  }
  return {{"title", job.title}, {"text", job.text}, {"name", job.program.name}, {"inputs", inputs}};
}

/// Adds the text itself and its printed form at a few small shapes.
void addJobs(const std::string& title, const std::string& text, int shapes, std::vector<Job>& jobs) {
  const Parsed parsed = parse(text);
  ASSERT_TRUE(parsed.program) << render(parsed.diagnostics, title, text);
  const tensor::Program& program = *parsed.program;
  const std::string printed = print(program, program.results).text;
  std::mt19937_64 random(7);
  for (int i = 0; i < shapes; ++i) {
    const auto extents = semantics::drawExtents(program.dimensions, program.facts, i, random);
    if (!extents) continue;
    const auto inputs = semantics::tryDrawInputs(program, *extents, semantics::Distribution::normal,
                                                 11 + static_cast<std::uint64_t>(i));
    if (!inputs) continue;
    // NumPy computes in float64, but casts to what the text names.
    const auto tolerance = [](const std::string& of) {
      return of.find("np.float32") != std::string::npos ? 1e-5 : 1e-9;
    };
    jobs.push_back({title, text, program, *extents, *inputs, tolerance(text)});
    jobs.push_back({title + " as printed", printed, program, *extents, *inputs, tolerance(printed)});
  }
}

void compare(const Job& job, const json& answer, int& compared) {
  ASSERT_FALSE(answer.contains("error")) << job.title << ": " << answer["error"] << "\n" << job.text;
  const auto ours = semantics::evaluate(job.program, job.program.results, job.extents, job.inputs);
  ASSERT_EQ(ours.size(), answer["results"].size()) << job.title;
  for (std::size_t r = 0; r < ours.size(); ++r) {
    const json& theirs = answer["results"][r];
    ASSERT_EQ(ours[r].value.shape, theirs["shape"].get<std::vector<std::int64_t>>()) << job.title << "\n"
                                                                                     << job.text;
    for (std::size_t i = 0; i < ours[r].value.values.size(); ++i) {
      if (ours[r].state[i] != 0) continue;  // undefined or near a jump: NumPy's infinities are no values
      ASSERT_FALSE(theirs["values"][i].is_null())
          << job.title << ": element " << i << " is not finite in NumPy";
      const double want = theirs["values"][i].get<double>();
      const double have = ours[r].value.values[i];
      ASSERT_NEAR(have, want, job.tolerance * std::max(1.0, std::abs(want)) + 4 * ours[r].bound[i])
          << job.title << ": element " << i << "\n"
          << job.text;
      ++compared;
    }
  }
}

void runJobs(const std::vector<Job>& jobs) {
  const std::string python = pythonWithNumpy();
  if (python.empty()) GTEST_SKIP() << "no python3 with NumPy was found";
  json all = json::array();
  for (const Job& job : jobs) all.push_back(asJson(job));
  ProcessOptions options;
  options.arguments = {python, std::string(NUSCOPE_SOURCE_DIR) + "/tests/language/oracle.py"};
  const Finished finished = runProcess(options, all.dump(), std::chrono::seconds(300));
  ASSERT_TRUE(finished.end.success()) << finished.errors;
  const json answers = json::parse(finished.output);
  ASSERT_EQ(answers.size(), jobs.size());
  int compared = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) compare(jobs[i], answers[i], compared);
  EXPECT_GT(compared, static_cast<int>(jobs.size()));
  std::printf("%zu runs, %d elements compared\n", jobs.size(), compared);
}

TEST(Oracle, ProgramsAgreeWithNumpy) {
  std::vector<Job> jobs;
  for (const auto& path : programFiles()) addJobs(path.filename().string(), readWholeFile(path), 3, jobs);
  EXPECT_GE(jobs.size(), 180U);
  runJobs(jobs);
}

TEST(Oracle, CorpusAgreesWithNumpy) {
  const auto files = corpusFiles();
  if (files.empty()) GTEST_SKIP() << "the corpus is not here";
  std::vector<Job> jobs;
  for (const auto& path : files) {
    addJobs(path.parent_path().filename().string() + "/" + path.filename().string(), readWholeFile(path), 2,
            jobs);
  }
  runJobs(jobs);
}

TEST(Oracle, LanguageFeaturesAgreeWithNumpy) {
  const auto files = filesBelow(std::filesystem::path(NUSCOPE_SOURCE_DIR) / "tests/data/language");
  ASSERT_FALSE(files.empty());
  std::vector<Job> jobs;
  for (const auto& path : files) addJobs(path.filename().string(), readWholeFile(path), 4, jobs);
  runJobs(jobs);
}

}  // namespace
}  // namespace nuscope::language
