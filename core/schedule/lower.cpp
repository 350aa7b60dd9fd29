#include "core/schedule/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/schedule/footprint.h"
#include "core/schedule/model.h"

namespace nuscope::schedule {
namespace {

constexpr std::string_view fusionNames[] = {"none", "residual", "gate-up", "all"};
constexpr std::string_view pageNames[] = {"none", "linear", "rotate"};
constexpr std::string_view policyNames[] = {"none", "round-robin", "least-loaded", "locality",
                                            "critical-path"};

/// What a consumer needs of a value: its buffer, the counter that its producers raise, and how many there
/// are.
struct Value {
  std::int64_t buffer = -1;
  std::int64_t counter = -1;  ///< -1: there from the start
  std::int64_t producers = 0;
};

class Lowering {
 public:
  Lowering(const model::LlamaConfig& config, const LowerOptions& options)
      : c_(config),
        o_(options),
        rows_(options.maxPositions > 0 ? options.maxPositions : config.maxPositions) {}

  Schedule run() {
    token_ = buffer("token_id", BufferKind::input, ElementType::i32, {1});
    pos_ = buffer("pos", BufferKind::input, ElementType::i32, {1});
    view_ = buffer("reshape_id0", BufferKind::input, ElementType::i32, {1});
    const auto table = weight("model.embed_tokens.weight", {c_.vocabulary, c_.hidden});
    Value h = task(Opcode::embed, "embed", {{token_}, {table}}, activation("h0", {1, c_.hidden}),
                   {{"hidden", num(c_.hidden)}}, c_.hidden * 2, c_.hidden);
    for (std::int64_t layer = 0; layer < c_.layers; ++layer) h = block(layer, h);
    const Value normed = norm("final_norm", h, "model.norm.weight", "hf");
    const auto head = c_.tiedEmbeddings ? table : weight("lm_head.weight", {c_.vocabulary, c_.hidden});
    projection("lm_head", normed, c_.hidden, head, c_.vocabulary,
               buffer("logits", BufferKind::output, ElementType::f32, {1, c_.vocabulary}), -1);
    s_.numSms = o_.sms;
    if (o_.everyPosition) s_.positions = Positions{0, rows_};
    if (o_.everyPosition || o_.fusion != Fusion::none) s_.format = Format::nuscope;
    pages();
    s_.rest = {
        {"meta",
         fmt::format(R"({{"model": "{}", "regime": "decode", "pos": {}, "kv_len": {}, "n_layers": {}}})",
                     c_.modelType, o_.everyPosition ? "null" : num(o_.position),
                     o_.everyPosition ? "null" : num(o_.position + 1), c_.layers)},
        {"target", fmt::format(R"({{"name": "custom", "num_sms": {}}})", o_.sms)},
        {"config", "null"}};
    return std::move(s_);
  }

 private:
  static std::string num(std::int64_t value) { return std::to_string(value); }
  std::int64_t buffer(std::string name, BufferKind kind, ElementType type, std::vector<std::int64_t> shape) {
    const auto id = static_cast<std::int64_t>(s_.buffers.size());
    s_.buffers.push_back({id, std::move(name), kind, type, Space::hbm, std::move(shape), {}, {}, {}});
    return id;
  }
  std::int64_t weight(const std::string& key, std::vector<std::int64_t> shape) {
    const auto id = buffer(key, BufferKind::weight, o_.weights, std::move(shape));
    s_.buffers.back().source = key;
    return id;
  }
  std::int64_t activation(std::string name, std::vector<std::int64_t> shape) {
    return buffer(std::move(name), BufferKind::activation, ElementType::f32, std::move(shape));
  }
  std::int64_t counter(std::string note) {
    const auto id = static_cast<std::int64_t>(s_.counters.size());
    s_.counters.push_back({id, 0, std::move(note), {}, {}});
    return id;
  }
  using Params = std::vector<std::pair<std::string, std::string>>;
  Value task(Opcode op, std::string label, const std::vector<Value>& inputs, std::int64_t output,
             Params params, std::int64_t bytes, std::int64_t flops, std::int64_t raises = -1,
             const std::vector<Value>& alsoAfter = {}) {
    Task t;
    t.id = static_cast<std::int64_t>(s_.tasks.size());
    t.op = op;
    t.label = std::move(label);
    for (const Value& v : inputs) t.inputs.push_back(v.buffer);
    t.outputs = {output};
    t.params = std::move(params);
    t.estBytes = num(bytes);
    t.estFlops = num(flops);
    for (const auto* list : {&inputs, &alsoAfter}) {
      for (const Value& v : *list) {
        const bool known =
            std::ranges::any_of(t.waits, [&](const Wait& w) { return w.counter == v.counter; });
        if (v.counter >= 0 && !known) t.waits.push_back({v.counter, v.producers});
      }
    }
    if (raises < 0) raises = counter(t.label);
    t.signals = {raises};
    s_.tasks.push_back(std::move(t));
    return {output, raises, 1};
  }
  [[nodiscard]] bool fuses(Fusion what) const { return o_.fusion == what || o_.fusion == Fusion::all; }
  static Access whole(const Value& v) { return {v.buffer, {}, {}}; }
  static Access rectangle(std::int64_t buffer, std::vector<std::pair<std::int64_t, std::int64_t>> ranges) {
    return {buffer, {std::move(ranges)}, {}};
  }
  /// The last task touches exactly this.
  void declare(std::vector<Access> reads, std::vector<Access> writes) {
    s_.tasks.back().reads = std::move(reads);
    s_.tasks.back().writes = std::move(writes);
  }
  /// Rows of a cache between two bounds that depend on the position.
  Access rows(std::int64_t cache, Bound from, Bound to) const {
    const std::vector<std::int64_t>& shape = s_.buffers[static_cast<std::size_t>(cache)].shape;
    Access access{cache, {}, {}};
    access.symbolic.emplace_back(std::move(from), std::move(to));
    for (std::size_t i = 1; i < shape.size(); ++i)
      access.symbolic.emplace_back(Bound{Bound::Kind::least, {{0, 0}}},
                                   Bound{Bound::Kind::least, {{0, shape[i]}}});
    for (const auto& [low, high] : access.symbolic) access.region.ranges.emplace_back(low.at(0), high.at(0));
    return access;
  }
  static Bound at(std::int64_t slope, std::int64_t offset) { return {Bound::Kind::least, {{slope, offset}}}; }
  void fusedOp(const char* name) {
    s_.tasks.back().op = Opcode::custom;
    s_.tasks.back().customOp = name;
  }
  /// Activations on pages: each on its own, or a layer on those of an earlier one.
  void pages() {
    if (o_.pages == PageUse::none) return;
    Pages made;
    std::map<std::string, std::int64_t> known;
    for (const Buffer& b : s_.buffers) {
      if (b.kind != BufferKind::activation) continue;
      std::string key = b.name;
      if (o_.pages == PageUse::rotate && key[0] == 'L' && key.find('.') != std::string::npos) {
        const std::int64_t layer = std::stoll(key.substr(1));
        key = fmt::format("{}{}", layer % o_.pipelining, key.substr(key.find('.')));
      }
      const auto [at, isNew] = known.emplace(key, static_cast<std::int64_t>(made.pages.size()));
      if (isNew) made.pages.push_back({at->second, b.space, b.bytes(), {}});
      made.ofBuffer.emplace_back(b.id, at->second);
    }
    s_.pages = std::move(made);
  }
  Value norm(const std::string& label, const Value& x, const std::string& key, const std::string& out) {
    return task(Opcode::rmsnorm, label, {x, {weight(key, {c_.hidden})}}, activation(out, {1, c_.hidden}),
                {{"eps", fmt::format("{}", c_.normEpsilon)}, {"hidden", num(c_.hidden)}}, 3 * c_.hidden * 4,
                4 * c_.hidden);
  }
  std::int64_t tileWidth(std::int64_t columns) const {
    if (o_.tileWidth > 0) return std::min(o_.tileWidth, columns);
    return std::min(columns, std::max<std::int64_t>(32, (columns + o_.mostTiles - 1) / o_.mostTiles));
  }
  /// Tiles of x @ W^T, all raising one counter; a bias is a row added afterwards.
  Value projection(const std::string& label, const Value& x, std::int64_t depth, std::int64_t weights,
                   std::int64_t columns, std::int64_t out, std::int64_t bias) {
    const std::int64_t width = tileWidth(columns);
    const std::int64_t raises = counter(label);
    std::int64_t tiles = 0;
    for (std::int64_t from = 0; from < columns; from += width, ++tiles) {
      const std::int64_t w = std::min(width, columns - from);
      task(Opcode::gemvTile, fmt::format("{}[t{}]", label, tiles), {x, {weights}}, out,
           {{"K", num(depth)}, {"N_tile", num(w)}, {"n_off", num(from)}}, depth * w * bits(o_.weights) / 8,
           2 * depth * w, raises);
    }
    const Value product{out, raises, tiles};
    if (bias < 0) return product;
    return task(Opcode::add, label + ".bias", {product, {bias}}, activation(label + ".b", {1, columns}), {},
                3 * columns * 4, columns);
  }
  /// A projection whose tiles add the residual: columns of h + x @ W^T.
  Value residual(const std::string& prefix, std::int64_t layer, const std::string& name, const Value& x,
                 std::int64_t depth, const Value& h, const std::string& out, bool hasBias,
                 const std::string& label) {
    if (!fuses(Fusion::residual) || hasBias) {
      const Value o = linear(prefix, layer, name, x, depth, c_.hidden, hasBias);
      return task(Opcode::add, label, {h, o}, activation(out, {1, c_.hidden}), {}, 12 * c_.hidden, c_.hidden);
    }
    const std::string tileLabel = fmt::format("L{}.{}_residual", layer, name);
    const auto weights =
        weight(fmt::format("model.layers.{}.{}.{}.weight", layer, prefix, name), {c_.hidden, depth});
    const std::int64_t to = activation(out, {1, c_.hidden});
    const std::int64_t raises = counter(tileLabel);
    return tiles(
        c_.hidden,
        [&](std::int64_t a, std::int64_t b, std::int64_t t) {
          task(Opcode::fused, fmt::format("{}[t{}]", tileLabel, t), {x, h, {weights}}, to,
               {{"K", num(depth)}}, depth * (b - a) * bits(o_.weights) / 8, 2 * depth * (b - a), raises);
          fusedOp("GEMV_RESIDUAL_TILE");
          declare({whole(x), rectangle(h.buffer, {{0, 1}, {a, b}}), rectangle(weights, {{a, b}, {0, depth}})},
                  {rectangle(to, {{0, 1}, {a, b}})});
        },
        to, raises);
  }
  template <class Tile>
  Value tiles(std::int64_t columns, const Tile& tile, std::int64_t out, std::int64_t raises) {
    const std::int64_t width = tileWidth(columns);
    std::int64_t count = 0;
    for (std::int64_t from = 0; from < columns; from += width)
      tile(from, std::min(from + width, columns), count++);
    return {out, raises, count};
  }
  Value gatedMlp(std::int64_t layer, const Value& y) {
    const auto name = [&](const char* what) { return fmt::format("L{}.{}", layer, what); };
    if (!fuses(Fusion::gateUp) || c_.mlpBias) {
      const Value gate = linear("mlp", layer, "gate_proj", y, c_.hidden, c_.intermediate, c_.mlpBias);
      const Value up = linear("mlp", layer, "up_proj", y, c_.hidden, c_.intermediate, c_.mlpBias);
      return task(Opcode::siluMul, name("swiglu"), {gate, up}, activation(name("act"), {1, c_.intermediate}),
                  {}, 12 * c_.intermediate, 5 * c_.intermediate);
    }
    const auto weights = [&](const char* which) {
      return weight(fmt::format("model.layers.{}.mlp.{}.weight", layer, which), {c_.intermediate, c_.hidden});
    };
    const std::int64_t gate = weights("gate_proj");
    const std::int64_t up = weights("up_proj");
    const std::int64_t to = activation(name("act"), {1, c_.intermediate});
    const std::int64_t raises = counter(name("gate_up"));
    return tiles(
        c_.intermediate,
        [&](std::int64_t a, std::int64_t b, std::int64_t t) {
          task(Opcode::fused, fmt::format("L{}.gate_up[t{}]", layer, t), {y, {gate}, {up}}, to,
               {{"K", num(c_.hidden)}}, 2 * c_.hidden * (b - a) * bits(o_.weights) / 8,
               4 * c_.hidden * (b - a), raises);
          fusedOp("GATE_UP_SILU_TILE");
          declare(
              {whole(y), rectangle(gate, {{a, b}, {0, c_.hidden}}), rectangle(up, {{a, b}, {0, c_.hidden}})},
              {rectangle(to, {{0, 1}, {a, b}})});
        },
        to, raises);
  }
  Value linear(const std::string& prefix, std::int64_t layer, const std::string& name, const Value& x,
               std::int64_t depth, std::int64_t columns, bool hasBias) {
    const std::string key = fmt::format("model.layers.{}.{}.{}", layer, prefix, name);
    const auto weights = weight(key + ".weight", {columns, depth});
    const auto bias = hasBias ? weight(key + ".bias", {1, columns}) : -1;
    return projection(fmt::format("L{}.{}", layer, name), x, depth, weights, columns,
                      activation(fmt::format("L{}.{}", layer, name), {1, columns}), bias);
  }
  /// View by heads, norm per head where the model has one, rotary embedding.
  Value rotated(std::int64_t layer, const char* which, const Value& x, std::int64_t heads,
                std::vector<std::int64_t> shape) {
    const std::string label = fmt::format("L{}.{}", layer, which);
    const std::int64_t size = heads * c_.headDim;
    Value v = task(Opcode::embed, label + ".reshape", {{view_}, x}, activation(label + ".view", shape),
                   {{"hidden", num(c_.headDim)}}, 8 * size, 0);
    if (c_.headNorms) {
      const auto gain =
          weight(fmt::format("model.layers.{}.self_attn.{}_norm.weight", layer, which), {c_.headDim});
      v = task(Opcode::rmsnorm, label + ".norm", {v, {gain}}, activation(label + ".normed", shape),
               {{"eps", fmt::format("{}", c_.normEpsilon)}, {"hidden", num(c_.headDim)}}, 8 * size, 4 * size);
    }
    return task(Opcode::rope, label + ".rope", {v, {pos_}}, activation(label + ".rope", shape),
                {{"head_dim", num(c_.headDim)}, {"theta", fmt::format("{:.1f}", c_.ropeTheta)}}, 8 * size,
                6 * size);
  }
  Value attention(std::int64_t layer, const Value& q, const Value& k, const Value& v) {
    if (o_.everyPosition) return attentionAnywhere(layer, q, k, v);
    const std::string label = fmt::format("L{}.attention", layer);
    const std::int64_t end = o_.position + 1;
    const std::int64_t begin = c_.slidingWindow > 0 ? std::max<std::int64_t>(0, end - c_.slidingWindow) : 0;
    const std::int64_t parts =
        std::clamp<std::int64_t>(std::min(o_.partitions, (end - begin + 15) / 16), 1, maxInputs);
    const auto out = activation(fmt::format("L{}.attn", layer), {1, c_.queryWidth()});
    const auto params = [&](std::int64_t from, std::int64_t length, bool shard) {
      Params p{{"head_dim", num(c_.headDim)},
               {"kv_start", num(from)},
               {"kv_len", num(length)},
               {"scale", fmt::format("{}", 1.0 / std::sqrt(static_cast<double>(c_.headDim)))},
               {"n_heads", num(c_.heads)},
               {"n_kv_heads", num(c_.kvHeads)}};
      if (shard) p.emplace_back("flags", "2");
      return p;
    };
    const auto cost = [&](std::int64_t length) {
      return std::make_pair(2 * length * c_.keyWidth() * bits(o_.weights) / 8, 4 * length * c_.queryWidth());
    };
    if (parts == 1) {
      const auto [bytes, flops] = cost(end - begin);
      return task(Opcode::attentionTile, label, {q, k, v}, out, params(begin, end - begin, false), bytes,
                  flops);
    }
    std::vector<Value> shards;
    const std::int64_t each = (end - begin + parts - 1) / parts;
    for (std::int64_t from = begin; from < end; from += each) {
      const std::int64_t length = std::min(each, end - from);
      const auto [bytes, flops] = cost(length);
      const auto index = shards.size();
      shards.push_back(
          task(Opcode::attentionTile, fmt::format("{}.s{}", label, index), {q, k, v},
               activation(fmt::format("L{}.attn.part{}", layer, index), {c_.heads, c_.headDim + 2}),
               params(from, length, true), bytes, flops));
    }
    return task(Opcode::attentionCombine, label + ".combine", shards, out,
                {{"head_dim", num(c_.headDim)}, {"n_heads", num(c_.heads)}, {"n_kv_heads", num(c_.kvHeads)}},
                static_cast<std::int64_t>(shards.size()) * c_.heads * (c_.headDim + 2) * 4,
                c_.queryWidth() * 4);
  }
  /// Attention for every position: fixed parts of the cache, each up to the position.
  Value attentionAnywhere(std::int64_t layer, const Value& q, const Value& k, const Value& v) {
    const std::string label = fmt::format("L{}.attention", layer);
    const auto out = activation(fmt::format("L{}.attn", layer), {1, c_.queryWidth()});
    const std::int64_t each = (rows_ + o_.partitions - 1) / o_.partitions;
    const std::int64_t bytes = each * c_.keyWidth() * bits(o_.weights) / 8;  // half full, K and V
    const Params params{{"head_dim", num(c_.headDim)},
                        {"scale", fmt::format("{}", 1.0 / std::sqrt(static_cast<double>(c_.headDim)))},
                        {"n_heads", num(c_.heads)},
                        {"n_kv_heads", num(c_.kvHeads)}};
    std::vector<Value> shards;
    for (std::int64_t from = 0; from < rows_; from += each) {
      const std::int64_t to = std::min(from + each, rows_);
      const bool one = o_.partitions == 1;
      const std::string name = one ? label : fmt::format("{}.s{}", label, shards.size());
      const auto target =
          one ? out
              : activation(fmt::format("L{}.attn.part{}", layer, shards.size()), {c_.heads, c_.headDim + 2});
      shards.push_back(
          task(Opcode::attentionTile, name, {q, k, v}, target, params, bytes, 2 * each * c_.queryWidth()));
      Bound low = at(0, 0);
      if (from > 0) low = {Bound::Kind::least, {{0, from}, {1, 1}}};
      if (c_.slidingWindow > 0) low = {Bound::Kind::greatest, {{0, 0}, {1, 1 - c_.slidingWindow}}};
      const Bound high = to == rows_ ? at(1, 1) : Bound{Bound::Kind::least, {{0, to}, {1, 1}}};
      declare({whole(q), rows(k.buffer, low, high), rows(v.buffer, low, high)}, {whole({target})});
    }
    if (shards.size() == 1) return shards[0];
    return task(Opcode::attentionCombine, label + ".combine", shards, out,
                {{"head_dim", num(c_.headDim)}, {"n_heads", num(c_.heads)}, {"n_kv_heads", num(c_.kvHeads)}},
                static_cast<std::int64_t>(shards.size()) * c_.heads * (c_.headDim + 2) * 4,
                c_.queryWidth() * 4);
  }
  Value append(const std::string& label, const Value& row, std::int64_t cache) {
    const Params at_ = o_.everyPosition ? Params{} : Params{{"pos", num(o_.position)}};
    const Value result = task(Opcode::kvAppend, label, {row, {cache}}, cache, at_, 8 * c_.keyWidth(), 0);
    if (o_.everyPosition) declare({whole(row)}, {rows(cache, at(1, 0), at(1, 1))});
    return result;
  }
  Value block(std::int64_t layer, const Value& h) {
    const auto name = [&](const char* what) { return fmt::format("L{}.{}", layer, what); };
    const auto key = [&](const char* what) { return fmt::format("model.layers.{}.{}.weight", layer, what); };
    const Value x = norm(name("input_norm"), h, key("input_layernorm"), name("an"));
    const Value q = linear("self_attn", layer, "q_proj", x, c_.hidden, c_.queryWidth(), c_.qkvBias);
    const Value k = linear("self_attn", layer, "k_proj", x, c_.hidden, c_.keyWidth(), c_.qkvBias);
    const Value v = linear("self_attn", layer, "v_proj", x, c_.hidden, c_.keyWidth(), c_.qkvBias);
    const Value qr = rotated(layer, "q", q, c_.heads, {c_.heads, c_.headDim});
    const Value kr = rotated(layer, "k", k, c_.kvHeads, {1, c_.kvHeads, c_.headDim});
    const std::vector<std::int64_t> cache{rows_, c_.kvHeads, c_.headDim};
    const auto kCache = buffer(name("kcache"), BufferKind::kvCache, o_.weights, cache);
    const auto vCache = buffer(name("vcache"), BufferKind::kvCache, o_.weights, cache);
    const Value kIn = append(name("k_append"), kr, kCache);
    const Value vIn = append(name("v_append"), v, vCache);
    const Value a = attention(layer, qr, kIn, vIn);
    const Value h1 = residual("self_attn", layer, "o_proj", a, c_.queryWidth(), h, name("h_attn"),
                              c_.outputBias, name("attn_residual"));
    const Value y = norm(name("post_norm"), h1, key("post_attention_layernorm"), name("mn"));
    const Value act = gatedMlp(layer, y);
    return residual("mlp", layer, "down_proj", act, c_.intermediate, h1, name("h_mlp"), c_.mlpBias,
                    name("mlp_residual"));
  }

  const model::LlamaConfig& c_;
  const LowerOptions& o_;
  std::int64_t rows_;
  std::int64_t token_ = 0, pos_ = 0, view_ = 0;
  Schedule s_;
};

/// Gives every task a queue. The task list is a topological order, so that any assignment in list order is
/// live.
void assignQueues(Schedule& s, const LowerOptions& options) {
  if (options.policy == QueuePolicy::none) return;
  std::vector<double> load(static_cast<std::size_t>(options.sms), 0);
  std::vector<double> cost;
  for (const Task& t : s.tasks) cost.push_back(std::stod(t.estBytes) + 1000);
  const Ids ids(s);
  const Model model = modelOf(s, ids);
  if (options.policy == QueuePolicy::criticalPath) {
    // Longest path to the end; list order by (depth from the start, longest path first) stays topological.
    std::vector<double> tail(s.tasks.size(), 0);
    std::vector<std::int32_t> depth(s.tasks.size(), 0);
    for (std::size_t t = 0; t < s.tasks.size(); ++t) {
      for (const Model::Need& need : model.needs[t]) {
        for (const std::int32_t p : model.producers[static_cast<std::size_t>(need.counter)]) {
          depth[t] = std::max(depth[t], depth[static_cast<std::size_t>(p)] + 1);
        }
      }
    }
    for (std::size_t t = s.tasks.size(); t-- > 0;) {
      tail[t] += cost[t];
      for (const Model::Need& need : model.needs[t]) {
        for (const std::int32_t p : model.producers[static_cast<std::size_t>(need.counter)]) {
          tail[static_cast<std::size_t>(p)] = std::max(tail[static_cast<std::size_t>(p)], tail[t]);
        }
      }
    }
    std::vector<std::size_t> order(s.tasks.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](std::size_t t) { return std::make_pair(depth[t], -tail[t]); });
    std::vector<Task> tasks;
    std::vector<double> costs;
    for (const std::size_t t : order) {
      tasks.push_back(std::move(s.tasks[t]));
      costs.push_back(cost[t]);
    }
    s.tasks = std::move(tasks);
    cost = std::move(costs);
  }
  double total = 0;
  for (std::size_t t = 0; t < s.tasks.size(); ++t) {
    auto queue = static_cast<std::size_t>(std::ranges::min_element(load) - load.begin());
    if (options.policy == QueuePolicy::roundRobin) queue = t % load.size();
    if (options.policy == QueuePolicy::locality) {
      std::int32_t largest = -1;
      for (const Model::Need& need : model.needs[t]) {
        for (const std::int32_t p : model.producers[static_cast<std::size_t>(need.counter)]) {
          if (largest < 0 || cost[static_cast<std::size_t>(p)] > cost[static_cast<std::size_t>(largest)])
            largest = p;
        }
      }
      if (largest >= 0) {
        const auto near = static_cast<std::size_t>(*s.tasks[static_cast<std::size_t>(largest)].sm);
        if (load[near] <= total / static_cast<double>(load.size()) + cost[t]) queue = near;
      }
    }
    s.tasks[t].sm = static_cast<std::int64_t>(queue);
    load[queue] += cost[t];
    total += cost[t];
  }
}

}  // namespace

std::optional<Fusion> parseFusion(std::string_view name) {
  const auto at = std::ranges::find(fusionNames, name);
  if (at == std::end(fusionNames)) return std::nullopt;
  return static_cast<Fusion>(at - std::begin(fusionNames));
}

std::optional<PageUse> parsePageUse(std::string_view name) {
  const auto at = std::ranges::find(pageNames, name);
  if (at == std::end(pageNames)) return std::nullopt;
  return static_cast<PageUse>(at - std::begin(pageNames));
}

std::string_view text(QueuePolicy policy) {
  return policyNames[static_cast<std::size_t>(policy)];
}

std::optional<QueuePolicy> parsePolicy(std::string_view name) {
  const auto at = std::ranges::find(policyNames, name);
  if (at == std::end(policyNames)) return std::nullopt;
  return static_cast<QueuePolicy>(at - std::begin(policyNames));
}

Result<Schedule> lower(const model::LlamaConfig& config, const LowerOptions& options) {
  const std::int64_t rows = options.maxPositions > 0 ? options.maxPositions : config.maxPositions;
  const auto outside = [](std::string_view name, std::int64_t value, std::int64_t low, std::int64_t high) {
    return Refusal{fmt::format("{} is {}; it must lie in {} .. {}", name, value, low, high), ""};
  };
  if (options.position < 0 || options.position >= rows) return outside("pos", options.position, 0, rows - 1);
  if (options.sms < 1 || options.sms > 4096) return outside("sms", options.sms, 1, 4096);
  if (options.tileWidth < 0 || options.tileWidth > 65536)
    return outside("n_tile", options.tileWidth, 0, 65536);
  if (options.mostTiles < 1 || options.mostTiles > 4096)
    return outside("max_tiles", options.mostTiles, 1, 4096);
  if (options.partitions < 1 || options.partitions > maxInputs)
    return outside("partitions", options.partitions, 1, maxInputs);
  if (options.pipelining < 1 || options.pipelining > 64)
    return outside("pipelining", options.pipelining, 1, 64);
  if (options.pipelining != 1 && options.pages != PageUse::rotate)
    return Refusal{"pipelining has an effect with pages=rotate only", ""};
  if (rows > (std::int64_t{1} << 31U)) return outside("max_positions", rows, 1, std::int64_t{1} << 31U);
  if (options.everyPosition && config.slidingWindow > 0 && options.partitions > 1)
    return Refusal{"partitions of a sliding window depend on the position; use pos=N or partitions=1", ""};
  // What does not fit 63 bits or this machine is refused before it is made.
  const double widest =
      static_cast<double>(std::max({config.vocabulary, config.intermediate, config.queryWidth()}));
  if (widest * static_cast<double>(std::max(config.hidden, config.queryWidth())) > 1e15 ||
      static_cast<double>(rows) * static_cast<double>(config.keyWidth()) > 1e15)
    return Refusal{"a weight or cache of more than 10^15 elements", ""};
  const auto tilesOf = [&](std::int64_t columns) {
    return options.tileWidth > 0
               ? static_cast<double>(columns) / static_cast<double>(options.tileWidth) + 1
               : std::min(static_cast<double>(options.mostTiles), static_cast<double>(columns) / 32 + 1);
  };
  const double tasks =
      static_cast<double>(config.layers) * (20 + 3 * tilesOf(config.queryWidth()) +
                                            2 * tilesOf(config.hidden) + 2 * tilesOf(config.intermediate)) +
      tilesOf(config.vocabulary);
  if (tasks > 4e6) return Refusal{fmt::format("about {:.0f} tasks; at most 4,000,000 are made", tasks), ""};
  Schedule schedule = Lowering(config, options).run();
  assignQueues(schedule, options);
  return schedule;
}

}  // namespace nuscope::schedule
