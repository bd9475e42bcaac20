#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace quern {

using Token = int32_t;

/// Most generations that may wait for a slot.
inline constexpr size_t kQueueLimit = 1024;
/// Most slots: llama.cpp's own bound on sequences.
inline constexpr int kSlotLimit = 256;
/// Most tokens in a thinking tag, most logit biases, and longest grammar in bytes.
inline constexpr size_t kTagLimit = 64;
inline constexpr size_t kBiasLimit = 4096;
inline constexpr size_t kGrammarLimit = 1 << 20;
inline constexpr int kLogprobLimit = 20;
/// Most adapters of one generation, and how strong one may be either way.
inline constexpr size_t kAdapterLimit = 8;
inline constexpr float kAdapterScaleLimit = 100;
/// Most copies of states that may wait for the worker.
inline constexpr size_t kErrandLimit = 64;

/// An adapter that a text is computed with.
struct AdapterUse {
  int32_t id;   ///< as the decoder's load_adapter() was given it
  float scale;  ///< not 0
  bool operator==(const AdapterUse&) const = default;
};

/// What a text is computed with beside the weights, by increasing id; empty = the weights alone. Keys and values fit
/// only texts of an equal set.
using AdapterSet = std::vector<AdapterUse>;

struct ModelOptions {
  int gpu_layers = 0;  ///< -1 = all
  bool mmap = true;
  bool mlock = false;
};

struct SchedulerOptions {
  int context_size = 4096;
  int slots = 1;
  int batch = 2048;
  int ubatch = 512;
  int threads = 1;
  bool flash_attention = true;
  std::string cache_type_k = "f16";
  std::string cache_type_v = "f16";
  bool unified_kv = false;
  int kv_cells = 0;     ///< cells of a unified buffer; 0 = context_size x slots
  bool warm_up = true;  ///< runs prompts when the context is made; false = one token
};

struct GenerateOptions {
  int max_tokens = 0;
  float temperature = 0;
  int top_k = 0;
  float top_p = 1;
  float min_p = 0;
  float repeat_penalty = 1;
  float presence_penalty = 0;
  float frequency_penalty = 0;
  float dry_multiplier = 0;  ///< 0 = off
  float dry_base = 1.75f;
  int dry_allowed_length = 2;
  uint32_t seed = 0;
  bool deterministic = false;
  int top_logprobs = -1;
  std::string grammar;
  std::vector<Token> grammar_start;  ///< what the text ends with when the grammar begins to hold; empty = at once
  std::vector<Token> bias_tokens;
  std::vector<float> bias_values;
  int thinking_budget = -1;
  std::vector<Token> think_start;
  std::vector<Token> think_end;
  bool starts_in_thinking = false;
  AdapterSet adapters;
};

/// Throws Failure('invalid') that names the option, its value and what is allowed.
void check(const ModelOptions& options);
void check(const SchedulerOptions& options);
void check(const GenerateOptions& options, int vocabulary_size);
/// Sorts a set and leaves out what has a scale of 0. Throws Failure('invalid') for lists of different lengths, too many
/// adapters, one that comes twice, and scales that are not finite or too large.
AdapterSet adapter_set(const std::vector<int32_t>& ids, const std::vector<float>& scales);
/// Throws Failure('invalid') unless there are 1 to `limit` tokens, each inside the vocabulary.
void check_tokens(const char* name, const std::vector<Token>& tokens, int vocabulary_size, size_t limit);

/// Codes of native/contract.ts.
enum class Finish : int32_t { none = 0, end_of_generation = 1, length = 2, aborted = 3, failed = 4 };

/// One sequence that advanced; the fields and their order are STEP_FIELDS of native/contract.ts.
struct StepRow {
  int32_t id = 0;
  Token token = -1;
  int32_t finish = 0;
  int32_t prompt_tokens = 0;
  int32_t reused_tokens = 0;
  int32_t generated_tokens = 0;
  int32_t thinking_tokens = 0;
  int32_t logprobs_offset = -1;
  int32_t read_tokens = 0;
};
static_assert(sizeof(StepRow) == 9 * sizeof(int32_t));

/// What JavaScript has not seen yet.
struct StepFrame {
  std::vector<StepRow> rows;
  std::vector<double> logprobs;
  std::string error;
};

}  // namespace quern
