#include "core/export/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/base/diagnostics.h"
#include "core/base/files.h"
#include "core/emit/arrays.h"
#include "core/export/support.h"

namespace nuscope::exporting {
namespace {

void checkName(const std::string& name) {
  const bool valid = !name.empty() && name.size() <= 100 &&
                     std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
                     std::all_of(name.begin(), name.end(),
                                 [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; }) &&
                     name[0] != '_' && name.find("__") == std::string::npos;
  if (!valid || emit::Names().isTaken(name))
    throw UserError(fmt::format("'{}' is no name for a function of C and C++", name));
}

std::optional<sweep::PlainKernel> generalLoops(const Choice& choice, const Request& request,
                                               const std::string& function) {
  if (!request.general && choice.kernels.size() < 2) return std::nullopt;
  sweep::PlainOptions options;
  options.anyExtents = true;
  options.function = function + "_general";
  auto loops = sweep::emitPlain(choice.program, choice.kernels[0].sweep.extents, options);
  if (!loops)
    throw UserError(fmt::format("there are no plain loops for other extents: {}; export one shape",
                                loops.refusal().message));
  return std::move(loops).value();
}

void addSources(const Contents& contents, std::map<std::string, std::string>& files) {
  const Choice& choice = contents.choice;
  files["kernel.h"] = headerText(contents);
  files["check.cpp"] = checkText(contents);
  if (contents.asserts.code) files["asserts.cpp"] = anyProcessor(contents.asserts.code->text);
  if (contents.general) files["general.cpp"] = anyProcessor(contents.general->text);
  for (std::size_t i = 0; i < choice.kernels.size(); ++i) {
    const Chosen& one = choice.kernels[i];
    files[sourceName(i)] = one.kernel.text;
    files[i == 0 ? "variant.py" : fmt::format("variant_{}.py", i + 1)] = one.variantText;
    if (one.plain) files[fmt::format("bench/plain_{}.cpp", i + 1)] = one.plain->text;
  }
  files["nuscope_runtime.h"] =
      readWholeFile(std::filesystem::path(emit::runtimeFolder()) / "nuscope_runtime.h");
  files["bench/bench_cases.h"] = benchCases(contents);
  files["bench/bench.cpp"] = templates().at("bench.cpp");
  for (const char* name : {"kernel.py", "test.py", "torch_op.py"}) files[name] = templates().at(name);
  files["program.py"] = choice.revision.program;
  files["CMakeLists.txt"] = cmakeText(contents);
  files["README.md"] = readmeText(contents);
}

}  // namespace

Folder makeFolder(const sweep::Study& study, const Request& request, const Progress& progress) {
  if (!request.function.empty()) checkName(request.function);
  Folder folder;
  const Choice choice = choose(study, request, progress.part(0, 0.9), folder.notes);
  folder.function = choice.kernels[0].kernel.name;
  const Asserts asserts =
      assertsOf(choice.program, choice.kernels[0].sweep.extents, folder.function + "_asserts");
  for (const AssertLine& one : asserts.lines) {
    if (one.when == AssertLine::When::never)
      folder.notes.push_back(fmt::format("not checked when called: assert {} ({})", one.text, one.why));
  }
  const Contents contents{choice,          asserts,           generalLoops(choice, request, folder.function),
                          folder.function, request.studyName, sweep::utcNow()};
  progress.report(0.9, "writing the folder");
  addSources(contents, folder.files);
  folder.files.merge(dataFiles(contents));
  folder.files["manifest.json"] = manifestText(contents, folder.files);
  return folder;
}

}  // namespace nuscope::exporting
