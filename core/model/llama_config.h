#pragma once
// Hugging Face config.json of the Llama family (llama, mistral, qwen2, qwen3). What is not supported is
// refused with every reason at once, never ignored.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace nuscope::model {

struct LlamaConfig {
  std::string modelType;             ///< "llama", "mistral", "qwen2", "qwen3"
  std::int64_t hidden = 0;           ///< hidden_size
  std::int64_t layers = 0;           ///< num_hidden_layers
  std::int64_t heads = 0;            ///< num_attention_heads
  std::int64_t kvHeads = 0;          ///< num_key_value_heads; heads where absent
  std::int64_t headDim = 0;          ///< head_dim; hidden / heads where absent
  std::int64_t intermediate = 0;     ///< intermediate_size
  std::int64_t vocabulary = 0;       ///< vocab_size
  std::int64_t maxPositions = 4096;  ///< max_position_embeddings
  std::int64_t slidingWindow = 0;    ///< 0: none
  double normEpsilon = 1e-6;         ///< rms_norm_eps
  double ropeTheta = 10000;          ///< rope_theta
  std::string ropeType = "default";  ///< default, linear, dynamic, llama3, yarn
  bool tiedEmbeddings = false;       ///< tie_word_embeddings
  bool qkvBias = false;              ///< attention_bias, and always for qwen2
  bool outputBias = false;           ///< attention_bias of the output projection (not qwen2)
  bool mlpBias = false;              ///< mlp_bias
  bool headNorms = false;            ///< RMS norms of Q and K per head (qwen3)
  [[nodiscard]] std::int64_t queryWidth() const { return heads * headDim; }
  [[nodiscard]] std::int64_t keyWidth() const { return kvHeads * headDim; }
};

/// The refusal's message lists every reason, one a line. Files above 1 MiB are refused.
Result<LlamaConfig> parseLlamaConfig(std::string_view json);

}  // namespace nuscope::model
