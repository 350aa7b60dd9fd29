#pragma once
// A Llama-family model -> the schedule of one decode step: tiled projections, grouped-query attention over
// the cache (split over positions where asked), biases, norms of Q and K, tied embeddings. No weights are
// needed.
#include "core/model/llama_config.h"
#include "core/schedule/ir.h"

namespace nuscope::schedule {

/// How tasks get their queue.
enum class QueuePolicy : std::uint8_t {
  none,         ///< all tasks without an SM
  roundRobin,   ///< in task order
  leastLoaded,  ///< the queue with the fewest estimated bytes so far
  locality,     ///< the queue of the task's largest producer where it is not over the mean load, else least
                ///< loaded
  criticalPath  ///< least loaded, longest remaining path first within each wave
};
std::optional<QueuePolicy> parsePolicy(std::string_view name);
std::string_view text(QueuePolicy policy);

/// Operators that become one task. Fused tasks declare what they touch, so that the schedule is in our own
/// form.
enum class Fusion : std::uint8_t {
  none,
  residual,  ///< a tile of the output or down projection adds its tile of the residual
  gateUp,    ///< a tile of gate and up and their SiLU product
  all
};
std::optional<Fusion> parseFusion(std::string_view name);

/// Pages of the activations.
enum class PageUse : std::uint8_t {
  none,
  linear,  ///< every activation has its own
  rotate   ///< layers share the pages of the layer `pipelining` before them
};
std::optional<PageUse> parsePageUse(std::string_view name);

struct LowerOptions {
  std::int64_t sms = 132;      ///< queues; the target's number of SMs
  std::int64_t position = 0;   ///< 0 <= position < max_positions: the token's place
  bool everyPosition = false;  ///< the position is a run-time parameter; `position` is not used
  Fusion fusion = Fusion::none;
  PageUse pages = PageUse::none;
  std::int64_t pipelining = 1;  ///< with rotating pages: layers whose activations are kept apart, 1 .. 64
  std::int64_t tileWidth =
      0;  ///< columns of a projection tile; 0: 32, widened so that at most `mostTiles` tiles result
  std::int64_t mostTiles = 64;  ///< per projection, where tileWidth is 0
  std::int64_t partitions = 1;  ///< shards of the cache in attention (split-KV); 1: none
  QueuePolicy policy = QueuePolicy::roundRobin;
  ElementType weights = ElementType::bf16;
  std::int64_t maxPositions = 0;  ///< rows of the cache; 0: the model's
};

/// Refused when an option lies outside its range, with that range.
Result<Schedule> lower(const model::LlamaConfig& config, const LowerOptions& options);

}  // namespace nuscope::schedule
