// Wrong results that are our own fault: everything needed to see them again, in one folder.
#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/diagnostics.h"
#include "core/base/files.h"
#include "core/sweep/arrays.h"
#include "core/sweep/gate.h"
#include "core/sweep/study_json.h"

namespace nuscope::sweep {
std::string saveCase(const std::filesystem::path& directory, const std::string& program,
                     const std::string& kernel, const tensor::Extents& extents, const Reference& failing,
                     const GateRecord& record) {
  const std::filesystem::path folder = directory / fmt::format("wrong-{}", textHash(kernel).substr(0, 12));
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw EnvironmentError(fmt::format("{} cannot be made: {}", folder.string(), error.message()));
  writeWholeFile(folder / "program.py", program);
  writeWholeFile(folder / "kernel.cpp", kernel);
  nlohmann::json inputs = nlohmann::json::array();
  for (const auto& [name, value] : failing.inputs) {
    const std::string file = fmt::format("{}.{}", name, tensor::text(value.dtype));
    writeWholeFile(folder / file, encodeArray(value.values, value.dtype));
    inputs.push_back(
        {{"name", name}, {"dtype", tensor::text(value.dtype)}, {"shape", value.shape}, {"file", file}});
  }
  const nlohmann::json manifest{{"format", "nuscope-wrong-case"},
                                {"version", 1},
                                {"extents", extentsText(extents)},
                                {"distribution", failing.distribution},
                                {"seed", failing.seed},
                                {"inputs", inputs},
                                {"gate", nlohmann::json::parse(gateJson(record))}};
  writeWholeFile(folder / "case.json", manifest.dump(2) + "\n");
  return folder.string();
}

}  // namespace nuscope::sweep
