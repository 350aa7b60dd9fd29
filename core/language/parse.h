#pragma once
// From the text of a program to its tensor graph (DESIGN 4).
//
// A program is a NumPy module: helper functions first, the program function last. The subset is that of
// DESIGN 4; everything else is an error that names the place, the cause and what to write instead. All errors
// of a text are reported in one go: each statement is checked on its own, and what depends on a faulty value
// says nothing more.
//
// What the language does on the way, so that the graph has few and plain operators:
//  * number literals are exact decimals and take the type of the other operand; i / i and mean(i) become real
//  by casts;
//  * square(x) is x * x, var is the mean of squared differences, clip is minimum(maximum(x, low), high),
//  stack is
//    expand_dims and concatenate, split is slices, outer a product, tril a where, zeros, ones and full a
//    constant that is broadcast (asserts, and NumPy's own rules, keep the shapes visible); indices become
//    slices and squeezes;
//  * helpers are inlined, loops over constant ranges unrolled, loops over symbolic ranges become Op::loop;
//  * every assert becomes a Precondition, one about dimensions also a fact that shapes are checked under.
//  Asserts hold
//    for the whole function, wherever they stand in it.
//
// Thread-safe: no state but the store's.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostics.h"
#include "core/tensor/graph.h"

namespace nuscope::language {

struct Parsed {
  std::optional<tensor::Program> program;  ///< empty if some diagnostic is an error
  std::vector<Diagnostic> diagnostics;     ///< in the order of the text
};

/// Parses and checks any bytes; never throws for bad text. The nodes are made in `store`, or in a new one, so
/// that programs to be compared can share theirs.
Parsed parse(std::string_view text, std::shared_ptr<tensor::NodeStore> store = nullptr);

/// Throws UserError with all errors rendered, or when the file cannot be read.
tensor::Program parseFile(const std::string& path, std::shared_ptr<tensor::NodeStore> store = nullptr);

}  // namespace nuscope::language
