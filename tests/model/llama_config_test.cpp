#include "core/model/llama_config.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/base/files.h"

namespace nuscope::model {
namespace {

namespace fs = std::filesystem;

TEST(LlamaConfig, ModelsBesideTheProject) {
  const fs::path folder = fs::path(NUSCOPE_SHARED_DIR) / "models";
  if (!fs::exists(folder)) GTEST_SKIP() << "no " << folder;
  for (const char* name : {"llama-bias", "llama-gqa-tied", "llama-mqa-f16", "llama-rope-llama3",
                           "llama-rope-yarn", "mistral-window", "qwen2", "qwen3", "llama-rope-new-style"}) {
    const auto config = parseLlamaConfig(readWholeFile(folder / name / "config.json"));
    ASSERT_TRUE(config.ok()) << name << ": " << config.refusal().message;
    EXPECT_GE(config->hidden, 64) << name;
  }
  EXPECT_TRUE(parseLlamaConfig(readWholeFile(folder / "llama-bias/config.json"))->mlpBias);
  EXPECT_TRUE(parseLlamaConfig(readWholeFile(folder / "qwen3/config.json"))->headNorms);
  EXPECT_EQ(parseLlamaConfig(readWholeFile(folder / "mistral-window/config.json"))->slidingWindow, 16);
  const auto message = [&](const char* name) {
    const auto config = parseLlamaConfig(readWholeFile(folder / "refused" / name / "config.json"));
    EXPECT_FALSE(config.ok()) << name;
    return config.ok() ? std::string() : config.refusal().message;
  };
  const auto says = [](const std::string& text, const char* word) {
    return text.find(word) != std::string::npos;
  };
  EXPECT_TRUE(says(message("mixture-of-experts"), "mixtral") &&
              says(message("mixture-of-experts"), "num_local_experts"));
  EXPECT_TRUE(says(message("gpt2"), "gpt2"));
  EXPECT_TRUE(says(message("latent-attention"), "kv_lora_rank") &&
              says(message("latent-attention"), "deepseek_v3"));
  EXPECT_TRUE(says(message("unknown-rope"), "longrope"));
  EXPECT_TRUE(says(message("gelu-mlp"), "hidden_act") && says(message("gelu-mlp"), "gelu"));
  EXPECT_TRUE(says(message("already-quantised"), "gptq"));
  EXPECT_TRUE(says(message("several-reasons"), "longrope") && says(message("several-reasons"), "hidden_act"));
}

TEST(LlamaConfig, BadText) {
  EXPECT_FALSE(parseLlamaConfig("").ok());
  EXPECT_FALSE(parseLlamaConfig("[]").ok());
  EXPECT_FALSE(parseLlamaConfig("{\"hidden_size\": 1e400}").ok());
  EXPECT_FALSE(parseLlamaConfig("{\"a\": " + std::string(50000, '[') + std::string(50000, ']') + "}").ok());
  EXPECT_FALSE(parseLlamaConfig(R"({"model_type": 3})").ok());
}

}  // namespace
}  // namespace nuscope::model
