#pragma once
// Programs with one token changed: an operator, constant, comparison, function, axis or bound.
#include <random>
#include <string>
#include <vector>

namespace nuscope::proof {

struct Change {
  std::size_t at = 0;
  std::size_t length = 0;
  std::string text;
};

/// Every one-token change of a module's text, asserts and signatures left alone: what is changed is the
/// program.
std::vector<Change> changesOf(const std::string& text);

}  // namespace nuscope::proof
