#include "core/model/llama_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/text.h"

namespace nuscope::model {
namespace {

using Json = nlohmann::json;
constexpr std::size_t largestFile = 1U << 20U;
constexpr std::int64_t largestNumber = std::int64_t{1} << 31U;

class Parser {
 public:
  explicit Parser(const Json& json) : json_(json) {}

  Result<LlamaConfig> run() {
    architecture();
    sizes();
    options();
    rope();
    unsupported();
    consistent();
    if (reasons_.empty()) return config_;
    std::string all;
    for (const std::string& reason : reasons_) all += (all.empty() ? "" : "\n") + reason;
    return Refusal{all, "supported: llama, mistral, qwen2 and qwen3 with silu MLPs; see the README"};
  }

 private:
  void refuse(std::string reason) { reasons_.push_back(std::move(reason)); }
  [[nodiscard]] bool present(std::string_view key) const {
    return json_.contains(key) && !json_[std::string(key)].is_null();
  }

  void architecture() {
    config_.modelType = json_.value("model_type", std::string());
    static const char* known[] = {"llama", "mistral", "qwen2", "qwen3"};
    if (std::ranges::find(known, config_.modelType) == std::end(known)) {
      refuse(fmt::format("model_type '{}' is not of the Llama family", config_.modelType));
    }
  }
  void size(std::string_view key, std::int64_t& into, bool required = true) {
    if (!present(key)) {
      if (required) refuse(fmt::format("'{}' is missing", key));
      return;
    }
    const Json& value = json_[std::string(key)];
    if (!value.is_number_integer() ||
        (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX)) {
      refuse(fmt::format("'{}' is {}, not an integer", key, shortened(value.dump(), 40)));
      return;
    }
    into = value.get<std::int64_t>();
    if (into < 1 || into > largestNumber)
      refuse(fmt::format("'{}' is {}; it must lie in 1 .. 2^31", key, into));
  }
  void sizes() {
    size("hidden_size", config_.hidden);
    size("num_hidden_layers", config_.layers);
    size("num_attention_heads", config_.heads);
    size("intermediate_size", config_.intermediate);
    size("vocab_size", config_.vocabulary);
    config_.kvHeads = config_.heads;
    size("num_key_value_heads", config_.kvHeads, false);
    size("max_position_embeddings", config_.maxPositions, false);
    size("head_dim", config_.headDim, false);
    if (config_.headDim == 0 && config_.heads > 0) {
      if (config_.hidden % config_.heads != 0) {
        refuse(
            fmt::format("hidden_size {} is no multiple of num_attention_heads {}, and head_dim is not given",
                        config_.hidden, config_.heads));
      }
      config_.headDim = config_.hidden / config_.heads;
    }
    const bool window = config_.modelType == "mistral" || json_.value("use_sliding_window", false);
    if (window && present("sliding_window")) size("sliding_window", config_.slidingWindow);
  }
  bool flag(const char* key, bool otherwise) {
    if (!present(key)) return otherwise;
    if (!json_[key].is_boolean()) {
      refuse(fmt::format("'{}' is {}, not true or false", key, shortened(json_[key].dump(), 40)));
      return otherwise;
    }
    return json_[key].get<bool>();
  }
  void real(const char* key, double& into) {
    if (!present(key)) return;
    if (!json_[key].is_number() || !(json_[key].get<double>() > 0)) {
      refuse(fmt::format("'{}' is {}, not a positive number", key, shortened(json_[key].dump(), 40)));
      return;
    }
    into = json_[key].get<double>();
  }
  void options() {
    real("rms_norm_eps", config_.normEpsilon);
    real("rope_theta", config_.ropeTheta);
    config_.tiedEmbeddings = flag("tie_word_embeddings", false);
    config_.outputBias = flag("attention_bias", false);
    config_.qkvBias = config_.outputBias || config_.modelType == "qwen2";
    config_.mlpBias = flag("mlp_bias", false);
    config_.headNorms = config_.modelType == "qwen3";
    const std::string activation = json_.value("hidden_act", std::string("silu"));
    if (activation != "silu" && activation != "swish")
      refuse(fmt::format("hidden_act '{}' is not supported; only silu is", activation));
  }
  void rope() {
    const char* key = present("rope_parameters") ? "rope_parameters" : "rope_scaling";
    if (!present(key)) return;
    const Json& scaling = json_[key];
    if (!scaling.is_object()) return refuse(fmt::format("'{}' is no object", key));
    if (scaling.contains("rope_theta") && scaling["rope_theta"].is_number())
      config_.ropeTheta = scaling["rope_theta"].get<double>();
    const Json type = scaling.value("rope_type", scaling.value("type", Json("default")));
    config_.ropeType = type.is_string() ? type.get<std::string>() : type.dump();
    static const char* known[] = {"default", "linear", "dynamic", "llama3", "yarn"};
    if (std::ranges::find(known, config_.ropeType) == std::end(known)) {
      refuse(fmt::format("the rotary scaling '{}' is not supported", config_.ropeType));
    }
  }
  void unsupported() {
    static const char* experts[] = {"num_local_experts", "num_experts", "n_routed_experts"};
    for (const char* key : experts) {
      if (present(key)) refuse(fmt::format("'{}': mixtures of experts are not supported", key));
    }
    if (present("kv_lora_rank")) refuse("'kv_lora_rank': latent attention is not supported");
    if (present("quantization_config")) {
      const Json& q = json_["quantization_config"];
      refuse(fmt::format(
          "'quantization_config' ({}): weights that are already quantised are not supported",
          q.is_object() ? q.value("quant_method", std::string("unknown")) : shortened(q.dump(), 40)));
    }
    static const char* caps[] = {"attn_logit_softcapping", "final_logit_softcapping", "attention_multiplier",
                                 "partial_rotary_factor"};
    for (const char* key : caps) {
      if (present(key) && !(json_[key].is_number() && json_[key].get<double>() == 1.0))
        refuse(fmt::format("'{}' is not supported", key));
    }
  }
  void consistent() {
    if (config_.kvHeads > 0 && config_.heads % config_.kvHeads != 0) {
      refuse(fmt::format("num_attention_heads {} is no multiple of num_key_value_heads {}", config_.heads,
                         config_.kvHeads));
    }
    if (config_.headDim % 2 != 0)
      refuse(fmt::format("head_dim {} is odd; rotary embedding needs pairs", config_.headDim));
  }

  const Json& json_;
  LlamaConfig config_;
  std::vector<std::string> reasons_;
};

/// How many brackets are open at once, at most; at least as many as a reader of JSON opens.
std::size_t nesting(std::string_view text) {
  std::size_t depth = 0;
  std::size_t deepest = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      while (++i < text.size() && text[i] != '"') {
        if (text[i] == '\\') ++i;
      }
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return deepest;
}

}  // namespace

Result<LlamaConfig> parseLlamaConfig(std::string_view text) {
  if (text.size() > largestFile)
    return Refusal{fmt::format("a config.json of {} bytes; at most 1 MiB is read", text.size()), ""};
  // Looked at before: nlohmann's parser asks nobody on the way down but by a callback, with which it takes
  // quadratic time for a list of empty objects.
  if (nesting(text) > 64) return Refusal{"config.json is nested deeper than 64 levels", ""};
  try {
    const Json json = Json::parse(text);
    if (!json.is_object()) return Refusal{"config.json is no JSON object", ""};
    return Parser(json).run();
  } catch (const Json::exception& error) {
    return Refusal{fmt::format("config.json cannot be read: {}", error.what()), ""};
  }
}

}  // namespace nuscope::model
