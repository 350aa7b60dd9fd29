#pragma once
// Texts of the exported folder. Each function returns one file.
#include <map>
#include <string>
#include <vector>

#include "core/export/asserts.h"
#include "core/export/choice.h"

namespace nuscope::exporting {

/// Everything that the texts speak of.
struct Contents {
  const Choice& choice;
  const Asserts& asserts;
  std::optional<sweep::PlainKernel> general;  ///< NAME_general; empty: other extents are refused
  std::string function;
  std::string studyName;
  std::string date;
};

/// What NAME_for returns; the order is that of the codes.
struct Code {
  const char* name;      ///< "null_pointer"
  const char* sentence;  ///< for people
};
const std::vector<Code>& codes();

// interface.cpp: C++
std::string headerText(const Contents& contents);
std::string checkText(const Contents& contents);
std::string benchCases(const Contents& contents);
/// A source so that it runs on any processor, whatever flags it is compiled with.
std::string anyProcessor(const std::string& source);
/// On one line, fit for a comment of C++: texts of a study may hold anything.
std::string commentLine(const std::string& text);

// support.cpp: what surrounds it
std::string sourceName(std::size_t kernel);                         ///< "kernel.cpp", "kernel_2.cpp"
std::vector<std::string> checkedSources(const Contents& contents);  ///< check.cpp and what it calls
std::string libraryName(const Contents& contents);
/// One command, run in the folder, that builds the shared library.
std::string compileCommand(const Contents& contents);
std::string cmakeText(const Contents& contents);
std::string readmeText(const Contents& contents);
/// `files` without the manifest itself.
std::string manifestText(const Contents& contents, const std::map<std::string, std::string>& files);
/// data/K/NAME.npy: inputs, expected results and their bounds.
std::map<std::string, std::string> dataFiles(const Contents& contents);
/// Files that are the same for every kernel, by name: bench.cpp, kernel.py, test.py, torch_op.py.
const std::map<std::string, std::string>& templates();

/// "M = 512, K = 1024" in the order of the program's dimensions.
std::string extentsWords(const tensor::Program& program, const tensor::Extents& extents);
/// What the processor must have: of the target, and of its -march.
std::vector<std::string> processorFeatures(const machine::Target& target);

}  // namespace nuscope::exporting
