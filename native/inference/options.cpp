#include "options.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "../base/failure.hpp"

namespace quern {
namespace {

template <typename T>
void in_range(const char* name, T value, T least, T most) {
  // Written so that NaN fails too.
  if (value >= least && value <= most) return;
  std::ostringstream text;
  text << name << " is " << value << "; allowed is " << least << " to " << most << ".";
  throw Failure("invalid", text.str());
}

void tag(const char* name, const std::vector<Token>& tokens, int vocabulary_size) {
  if (!tokens.empty()) check_tokens(name, tokens, vocabulary_size, kTagLimit);
}

}  // namespace

void check(const ModelOptions& options) {
  in_range("gpuLayers", options.gpu_layers, -1, 65536);
}

void check(const SchedulerOptions& o) {
  in_range("contextSize", o.context_size, 8, 1 << 24);
  in_range("slots", o.slots, 1, kSlotLimit);
  in_range("batch", o.batch, 1, 1 << 16);
  in_range("ubatch", o.ubatch, 1, 1 << 16);
  in_range("threads", o.threads, 1, 512);
  in_range("kvCells", o.kv_cells, 0, 1 << 30);
  const int64_t cells = int64_t(o.context_size) * o.slots;
  if (o.kv_cells == 0 && cells > (int64_t(1) << 30))
    throw Failure("invalid", "contextSize x slots is " + std::to_string(cells) + " cells; allowed is at most 2^30. " +
                                 "Choose a smaller context or fewer slots.");
  if (o.batch < o.slots)
    throw Failure("invalid", "batch is " + std::to_string(o.batch) + ", less than the " + std::to_string(o.slots) +
                                 " slots; a step needs room for one token of each.");
}

void check(const GenerateOptions& o, int vocabulary_size) {
  in_range("maxTokens", o.max_tokens, 0, INT32_MAX);
  in_range("temperature", o.temperature, 0.0f, 100.0f);
  in_range("topK", o.top_k, 0, INT32_MAX);
  in_range("topP", o.top_p, 0.0f, 1.0f);
  in_range("minP", o.min_p, 0.0f, 1.0f);
  in_range("repeatPenalty", o.repeat_penalty, 0.01f, 100.0f);
  in_range("presencePenalty", o.presence_penalty, -100.0f, 100.0f);
  in_range("frequencyPenalty", o.frequency_penalty, -100.0f, 100.0f);
  in_range("dryMultiplier", o.dry_multiplier, 0.0f, 100.0f);
  in_range("dryBase", o.dry_base, 1.0f, 100.0f);
  in_range("dryAllowedLength", o.dry_allowed_length, 1, INT32_MAX);
  in_range("topLogprobs", o.top_logprobs, -1, kLogprobLimit);
  in_range("thinkingBudget", o.thinking_budget, -1, INT32_MAX);
  if (o.grammar.size() > kGrammarLimit)
    throw Failure("invalid", "grammar has " + std::to_string(o.grammar.size()) + " bytes; allowed is at most " +
                                 std::to_string(kGrammarLimit) + ".");
  if (o.grammar.find('\0') != std::string::npos) throw Failure("invalid", "grammar holds a NUL byte; remove it.");
  if (o.bias_tokens.size() != o.bias_values.size())
    throw Failure("invalid", "biasTokens has " + std::to_string(o.bias_tokens.size()) + " items and biasValues " +
                                 std::to_string(o.bias_values.size()) + "; they must be as long as each other.");
  if (!o.bias_tokens.empty()) check_tokens("biasTokens", o.bias_tokens, vocabulary_size, kBiasLimit);
  for (const float value : o.bias_values) in_range("biasValues[]", value, -1000.0f, 1000.0f);
  tag("grammarStart", o.grammar_start, vocabulary_size);
  tag("thinkStart", o.think_start, vocabulary_size);
  tag("thinkEnd", o.think_end, vocabulary_size);
}

AdapterSet adapter_set(const std::vector<int32_t>& ids, const std::vector<float>& scales) {
  if (ids.size() != scales.size())
    throw Failure("invalid", "adapterIds has " + std::to_string(ids.size()) + " items and adapterScales " +
                                 std::to_string(scales.size()) + "; they must be as long as each other.");
  if (ids.size() > kAdapterLimit)
    throw Failure("invalid", "adapterIds has " + std::to_string(ids.size()) + " items; allowed are at most " +
                                 std::to_string(kAdapterLimit) + ".");
  AdapterSet set;
  for (size_t i = 0; i < ids.size(); ++i) {
    in_range("adapterScales[]", scales[i], -kAdapterScaleLimit, kAdapterScaleLimit);
    if (std::count(ids.begin(), ids.end(), ids[i]) > 1)
      throw Failure("invalid", "adapterIds names " + std::to_string(ids[i]) + " twice; add up its scales.");
    if (scales[i] != 0) set.push_back({ids[i], scales[i]});
  }
  std::sort(set.begin(), set.end(), [](const AdapterUse& a, const AdapterUse& b) { return a.id < b.id; });
  return set;
}

void check_tokens(const char* name, const std::vector<Token>& tokens, int vocabulary_size, size_t limit) {
  if (tokens.empty()) throw Failure("invalid", std::string(name) + " is empty (or its buffer was transferred).");
  if (tokens.size() > limit)
    throw Failure("invalid", std::string(name) + " has " + std::to_string(tokens.size()) +
                                 " tokens; allowed is at most " + std::to_string(limit) + ".");
  for (const Token token : tokens) {
    if (token >= 0 && token < vocabulary_size) continue;
    throw Failure("invalid", std::string(name) + " holds " + std::to_string(token) + "; token ids go from 0 to " +
                                 std::to_string(vocabulary_size - 1) + ".");
  }
}

}  // namespace quern
