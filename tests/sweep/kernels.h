#pragma once
// What tests of gate and sweep share: parsing a program and running one kernel on a reference's inputs in a
// worker.
#include <string>
#include <vector>

#include "core/language/parse.h"
#include "core/sweep/arrays.h"
#include "core/sweep/gate.h"
#include "core/sweep/worker.h"

namespace nuscope::sweep::test {

inline const std::string executable = std::string(NUSCOPE_BINARY_DIR) + "/bin/nuscope";

inline tensor::Program program(const std::string& text) {
  auto parsed = language::parse(text);
  if (!parsed.program) throw UserError(render(parsed.diagnostics, "test.py", text));
  return *parsed.program;
}

/// Results of one compiled kernel on one draw.
inline std::vector<std::vector<double>> runOn(Worker& worker, const tensor::Program& program,
                                              const std::string& library, const std::string& function,
                                              const Reference& reference, int threads = 1) {
  RunRequest run;
  run.kernel = {library, function, 1};
  run.threads = threads;
  for (const auto& parameter : program.parameters) {
    const auto& value = reference.inputs.at(parameter.name);
    worker.put("in_" + parameter.name, encodeArray(value.values, value.dtype));
    run.inputs.push_back({"in_" + parameter.name, value.dtype, value.count()});
  }
  for (std::size_t r = 0; r < reference.results.size(); ++r) {
    run.outputs.push_back({"out" + std::to_string(r), reference.results[r].dtype,
                           static_cast<std::int64_t>(reference.results[r].expected.size())});
  }
  const RunReply reply = worker.run(run);
  if (reply.outcome != Outcome::ok) throw EnvironmentError(reply.message);
  std::vector<std::vector<double>> results;
  for (const ArrayFile& output : run.outputs) {
    std::string bytes;
    worker.get(
        output.file,
        static_cast<std::size_t>(output.count) * static_cast<std::size_t>(tensor::byteSize(output.dtype)),
        bytes);
    results.push_back(decodeArray(bytes, output.dtype));
  }
  return results;
}

}  // namespace nuscope::sweep::test
