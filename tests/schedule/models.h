#pragma once
// Configurations that the tests lower: one that is small, and one of the size that the paper calls 13B.
#include "core/model/llama_config.h"

namespace nuscope::schedule::testing {

inline model::LlamaConfig toy(int layers = 2) {
  model::LlamaConfig c;
  c.modelType = "llama";
  c.hidden = 64;
  c.layers = layers;
  c.heads = 4;
  c.kvHeads = 2;
  c.headDim = 16;
  c.intermediate = 128;
  c.vocabulary = 256;
  c.maxPositions = 256;
  return c;
}

inline model::LlamaConfig thirteenB() {
  model::LlamaConfig c;
  c.modelType = "llama";
  c.hidden = 5120;
  c.layers = 40;
  c.heads = c.kvHeads = 40;
  c.headDim = 128;
  c.intermediate = 13824;
  c.vocabulary = 32000;
  c.maxPositions = 4096;
  return c;
}

}  // namespace nuscope::schedule::testing
