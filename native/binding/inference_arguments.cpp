#include "inference_arguments.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

#include "arguments.hpp"

namespace quern::binding {
namespace {

uint32_t seed(const Napi::Value& value) {
  const double given = number(value, "seed");
  if (given != std::floor(given) || given < std::numeric_limits<int32_t>::min() ||
      given > std::numeric_limits<uint32_t>::max())
    throw Failure("invalid", "seed must be an integer of 32 bits.");
  return static_cast<uint32_t>(static_cast<int64_t>(given));
}

}  // namespace

ModelOptions model_options(const Napi::Value& value) {
  const Napi::Object from = object(value, "model");
  ModelOptions options{.gpu_layers = integer(from.Get("gpuLayers"), "gpuLayers"),
                       .mmap = boolean(from.Get("mmap"), "mmap"),
                       .mlock = boolean(from.Get("mlock"), "mlock")};
  check(options);
  return options;
}

SchedulerOptions scheduler_options(const Napi::Value& value) {
  const Napi::Object from = object(value, "scheduler");
  const Napi::Value cells = from.Get("kvCells");
  SchedulerOptions options{.context_size = integer(from.Get("contextSize"), "contextSize"),
                           .slots = integer(from.Get("slots"), "slots"),
                           .batch = integer(from.Get("batch"), "batch"),
                           .ubatch = integer(from.Get("ubatch"), "ubatch"),
                           .threads = integer(from.Get("threads"), "threads"),
                           .flash_attention = boolean(from.Get("flashAttention"), "flashAttention"),
                           .cache_type_k = text(from.Get("cacheTypeK"), "cacheTypeK"),
                           .cache_type_v = text(from.Get("cacheTypeV"), "cacheTypeV"),
                           .unified_kv = boolean(from.Get("unifiedKv"), "unifiedKv"),
                           .kv_cells = cells.IsUndefined() ? 0 : integer(cells, "kvCells"),
                           .warm_up = boolean(from.Get("warmUp"), "warmUp")};
  check(options);
  return options;
}

GenerateOptions generate_options(const Napi::Value& value) {
  const Napi::Object from = object(value, "options");
  const auto real = [&from](const char* name) { return static_cast<float>(number(from.Get(name), name)); };
  return {.max_tokens = integer(from.Get("maxTokens"), "maxTokens"),
          .temperature = real("temperature"),
          .top_k = integer(from.Get("topK"), "topK"),
          .top_p = real("topP"),
          .min_p = real("minP"),
          .repeat_penalty = real("repeatPenalty"),
          .presence_penalty = real("presencePenalty"),
          .frequency_penalty = real("frequencyPenalty"),
          .dry_multiplier = real("dryMultiplier"),
          .dry_base = real("dryBase"),
          .dry_allowed_length = integer(from.Get("dryAllowedLength"), "dryAllowedLength"),
          .seed = seed(from.Get("seed")),
          .deterministic = boolean(from.Get("deterministic"), "deterministic"),
          .top_logprobs = integer(from.Get("topLogprobs"), "topLogprobs"),
          .grammar = text(from.Get("grammar"), "grammar"),
          .grammar_start = int32_array(from.Get("grammarStart"), "grammarStart"),
          .bias_tokens = int32_array(from.Get("biasTokens"), "biasTokens"),
          .bias_values = float32_array(from.Get("biasValues"), "biasValues"),
          .thinking_budget = integer(from.Get("thinkingBudget"), "thinkingBudget"),
          .think_start = int32_array(from.Get("thinkStart"), "thinkStart"),
          .think_end = int32_array(from.Get("thinkEnd"), "thinkEnd"),
          .starts_in_thinking = boolean(from.Get("startsInThinking"), "startsInThinking"),
          .adapters = adapters(from.Get("adapterIds"), from.Get("adapterScales"))};
}

AdapterSet adapters(const Napi::Value& ids, const Napi::Value& scales) {
  return adapter_set(int32_array(ids, "adapterIds"), float32_array(scales, "adapterScales"));
}

}  // namespace quern::binding
