#pragma once
// Compiles emitted kernels in batches, loads them and compares what they compute with the float64 evaluator.
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/emit/kernel.h"
#include "core/language/parse.h"
#include "core/semantics/draw.h"
#include "core/semantics/evaluate.h"

namespace nuscope::emit::testing {

/// One kernel to compile: filled by `emitted`.
struct Case {
  std::string label;
  std::shared_ptr<tensor::Program> program;
  std::vector<tensor::NodeRef> results;
  tensor::Extents extents;
  Kernel kernel;
};

/// A program of resources/programs by name, or of a text with a newline.
std::shared_ptr<tensor::Program> programOf(const std::string& nameOrText);
/// Throws UserError with the refusal.
Case emitted(const std::shared_ptr<tensor::Program>& program, const tensor::Extents& extents,
             const std::string& target, const Parameters& parameters = {});

/// Kernels of one shared library. The destructor unloads it.
class Library {
 public:
  /// `flags` are added to those of the kernels; throws std::runtime_error with the compiler's messages.
  Library(std::vector<Case> cases, const std::vector<std::string>& flags, const std::string& name);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  [[nodiscard]] std::size_t size() const { return cases_.size(); }
  [[nodiscard]] const Case& at(std::size_t i) const { return cases_[i]; }
  /// Runs kernel i on arrays in argument order.
  void run(std::size_t i, const std::vector<void*>& arguments, int threads) const;
  /// Empty, or what is wrong: the worst element against the evaluator's bound, or a write outside the
  /// results.
  std::string check(std::size_t i, semantics::Distribution distribution, std::uint64_t seed,
                    int threads) const;

 private:
  std::vector<Case> cases_;
  std::vector<void*> functions_;
  void* handle_ = nullptr;
  std::string folder_;
};

/// Compiles `cases` in two processes of half each.
std::vector<std::unique_ptr<Library>> compileAll(std::vector<Case> cases,
                                                 const std::vector<std::string>& flags,
                                                 const std::string& name);

}  // namespace nuscope::emit::testing
