#include "llama_decoder.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "../base/failure.hpp"
#include "engine_log.hpp"
#include "llama.h"
#include "state_shape.hpp"

namespace quern {
namespace {

constexpr std::array<std::pair<const char*, ggml_type>, 8> kCacheTypes{{
    {"f32", GGML_TYPE_F32},
    {"f16", GGML_TYPE_F16},
    {"bf16", GGML_TYPE_BF16},
    {"q8_0", GGML_TYPE_Q8_0},
    {"q4_0", GGML_TYPE_Q4_0},
    {"q4_1", GGML_TYPE_Q4_1},
    {"q5_0", GGML_TYPE_Q5_0},
    {"q5_1", GGML_TYPE_Q5_1},
}};

/// Cells that are copied in the time that decoding one token of a prompt takes; a low estimate.
constexpr int kCopiedPerDecoded = 128;

/// Tokens of the short prompt that warms up.
constexpr int kShortPrompt = 32;
/// No prompt that is expected to take longer warms up.
constexpr double kWarmUpMs = 250;
/// A first run that took longer is not believed.
constexpr double kFirstMs = 20;

ggml_type cache_type(const char* option, const std::string& name) {
  for (const auto& [known, type] : kCacheTypes)
    if (name == known) return type;
  std::string names;
  for (const auto& [known, type] : kCacheTypes) names += (names.empty() ? "" : ", ") + std::string(known);
  throw Failure("invalid", std::string(option) + " is '" + name + "'; allowed are " + names + ".");
}

int head_size(const Model& model, const char* key) {
  const std::string given = model.metadata(model.facts().architecture + ".attention." + key);
  if (!given.empty()) return std::atoi(given.c_str());
  const int heads = llama_model_n_head(model.raw());
  return heads > 0 ? model.facts().embedding_size / heads : 0;
}

/// A quantised cache stores whole blocks, so a head must be a multiple of the block.
void check_cache(const Model& model, const char* option, const std::string& name, const char* key) {
  const auto block = static_cast<int>(ggml_blck_size(cache_type(option, name)));
  const int head = head_size(model, key);
  if (block == 1 || head == 0 || head % block == 0) return;
  throw Failure("invalid", std::string(option) + " is '" + name + "', which needs a head size that is a multiple of " +
                               std::to_string(block) + "; this model's is " + std::to_string(head) + ". Use f16.");
}

}  // namespace

LlamaDecoder::LlamaDecoder(std::shared_ptr<const Model> model, const SchedulerOptions& options)
    : LlamaDecoder(std::move(model), options, nullptr, std::make_shared<Adapters>()) {}

LlamaDecoder::LlamaDecoder(std::shared_ptr<const Model> model, const SchedulerOptions& options,
                           std::shared_ptr<ggml_threadpool> threads, std::shared_ptr<Adapters> adapters)
    : model_(std::move(model)), options_(options), threads_(std::move(threads)), adapters_(std::move(adapters)) {
  check_cache(*model_, "cacheTypeK", options.cache_type_k, "key_length");
  check_cache(*model_, "cacheTypeV", options.cache_type_v, "value_length");
  if (ggml_is_quantized(cache_type("cacheTypeV", options.cache_type_v)) && !options.flash_attention)
    throw Failure("invalid", "cacheTypeV is '" + options.cache_type_v +
                                 "', which works only with flash attention; switch it on or use f16.");
  make_context();
  try {
    attach_threads();
    warm_up();
    look_at_memory();
  } catch (...) {
    llama_free(context_);
    throw;
  }
}

void LlamaDecoder::make_context() {
  llama_context_params params = llama_context_default_params();
  const int64_t cells = int64_t(options_.context_size) * options_.slots;
  const bool bounded = options_.unified_kv && options_.kv_cells > 0;
  params.n_ctx = static_cast<uint32_t>(bounded ? std::min<int64_t>(options_.kv_cells, cells) : cells);
  params.n_batch = options_.batch;
  params.n_ubatch = std::min(options_.ubatch, options_.batch);
  params.n_seq_max = options_.slots;
  // One token of each sequence is sampled in a step; without this the output buffers are sized for whole prompts.
  params.n_outputs_max = options_.slots;
  params.n_threads = options_.threads;
  params.n_threads_batch = options_.threads;
  params.type_k = cache_type("cacheTypeK", options_.cache_type_k);
  params.type_v = cache_type("cacheTypeV", options_.cache_type_v);
  params.flash_attn_type = !options_.flash_attention          ? LLAMA_FLASH_ATTN_TYPE_DISABLED
                           : ggml_is_quantized(params.type_v) ? LLAMA_FLASH_ATTN_TYPE_ENABLED
                                                              : LLAMA_FLASH_ATTN_TYPE_AUTO;
  params.kv_unified = options_.unified_kv;
  params.no_perf = true;
  params.offload_kqv = params.op_offload = model_->options().gpu_layers != 0;
  params.abort_callback = [](void* flag) {
    return static_cast<const std::atomic<bool>*>(flag)->load(std::memory_order_relaxed);
  };
  params.abort_callback_data = &interrupted_;
  take_engine_errors();
  context_ = llama_init_from_model(model_->raw(), params);
  const std::string reason = take_engine_errors();
  if (context_ == nullptr)
    throw Failure("model_failed", "A context of " + std::to_string(options_.context_size) + " tokens x " +
                                      std::to_string(options_.slots) + " slots cannot be made" +
                                      (reason.empty() ? "" : ": " + reason) +
                                      ". Try a smaller context or fewer slots.");
  if (llama_get_memory(context_) == nullptr) {
    llama_free(context_);
    throw Failure("invalid", "This model keeps no memory of a text (architecture " + model_->facts().architecture +
                                 "), so it cannot complete one.");
  }
  options_.batch = static_cast<int>(llama_n_batch(context_));
  options_.ubatch = static_cast<int>(llama_n_ubatch(context_));
  const int sequence_cells = static_cast<int>(llama_n_ctx_seq(context_));
  // llama.cpp pads upwards.
  options_.context_size = std::min(options_.context_size, sequence_cells);
  const bool recurrent = llama_model_is_recurrent(model_->raw()) || llama_model_is_hybrid(model_->raw());
  traits_ = {.unified = options_.unified_kv,
             .trimmable = !recurrent,
             .share_cost = options_.unified_kv ? 0 : options_.context_size / kCopiedPerDecoded};
}

void LlamaDecoder::attach_threads() {
  // Without a pool of its own a context starts new threads for every graph.
  ggml_backend_dev_t cpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
  if (options_.threads < 2 || cpu == nullptr) return;
  if (threads_) return llama_attach_threadpool(context_, threads_.get(), threads_.get());
  ggml_backend_reg_t reg = ggml_backend_dev_backend_reg(cpu);
  auto* make =
      reinterpret_cast<decltype(ggml_threadpool_new)*>(ggml_backend_reg_get_proc_address(reg, "ggml_threadpool_new"));
  auto* free =
      reinterpret_cast<decltype(ggml_threadpool_free)*>(ggml_backend_reg_get_proc_address(reg, "ggml_threadpool_free"));
  if (make == nullptr || free == nullptr) return;
  ggml_threadpool_params params = ggml_threadpool_params_default(options_.threads);
  ggml_threadpool* threads = make(&params);
  if (threads == nullptr) return;
  threads_ = {threads, free};
  llama_attach_threadpool(context_, threads, threads);
}

void LlamaDecoder::warm_up() {
  // Reads the weights, and makes what a device makes at first use, so that no request pays for it.
  const int sizes[] = {1, kShortPrompt, options_.ubatch};
  double token_ms = 0;
  int before = 0;
  for (const int tokens : sizes) {
    if (tokens <= before || tokens > std::min(options_.batch, options_.context_size)) continue;
    const double expected = tokens * token_ms;
    if (before > 0 && (!options_.warm_up || expected > kWarmUpMs)) return;
    double ms = try_prompt(tokens);
    // The first time may have started a device; the second tells how fast it is.
    if (options_.warm_up && ms > std::max(kFirstMs, expected)) ms = std::min(ms, try_prompt(tokens));
    pace_.observe(1, tokens > 1 ? tokens : 0, ms);
    token_ms = ms / tokens;
    before = tokens;
  }
}

double LlamaDecoder::try_prompt(int tokens) {
  std::vector<BatchToken> prompt(tokens);
  // Different tokens, since those of a mixture of experts choose what is read.
  for (int i = 0; i < tokens; ++i) prompt[i] = {i % model_->facts().vocabulary_size, i, 0, i + 1 == tokens};
  const auto started = std::chrono::steady_clock::now();
  const DecodeResult result = decode(prompt);
  const auto took = std::chrono::steady_clock::now() - started;
  clear(0);
  if (result != DecodeResult::done)
    throw Failure("model_failed",
                  "The model cannot decode a first prompt of " + std::to_string(tokens) + " tokens: " + error_);
  return std::chrono::duration<double, std::milli>(took).count();
}

std::unique_ptr<Decoder> LlamaDecoder::apart() const {
  SchedulerOptions options = options_;
  options.slots = 1;
  options.unified_kv = false;
  options.kv_cells = 0;
  options.batch = std::min(options.batch, kApartTokens);
  options.warm_up = false;
  return std::unique_ptr<Decoder>(new LlamaDecoder(model_, options, threads_, adapters_));
}

void LlamaDecoder::look_at_memory() {
  if (!traits_.trimmable) return;
  std::vector<uint8_t> empty(llama_state_seq_get_size(context_, 0));
  empty.resize(llama_state_seq_get_data(context_, empty.data(), empty.size(), 0));
  plain_streams_ = plain_streams(empty);
  take_engine_errors();
}

LlamaDecoder::~LlamaDecoder() {
  llama_free(context_);
}

void LlamaDecoder::FreeAdapter::operator()(llama_adapter_lora* adapter) const {
  llama_adapter_lora_free(adapter);
}

void LlamaDecoder::load_adapter(int32_t id, const std::string& path) {
  take_engine_errors();
  std::unique_ptr<llama_adapter_lora, FreeAdapter> adapter(llama_adapter_lora_init(model_->raw(), path.c_str()));
  const std::string reason = take_engine_errors();
  if (!adapter)
    throw Failure("invalid",
                  "The adapter file " + path + " cannot be loaded" + (reason.empty() ? "" : ": " + reason) + ".");
  (*adapters_)[id] = std::move(adapter);
}

void LlamaDecoder::drop_adapter(int32_t id) {
  adapters_->erase(id);
}

void LlamaDecoder::adapt(const AdapterSet& adapters) {
  if (adapters == adapted_) return;
  std::vector<llama_adapter_lora*> loaded;
  std::vector<float> scales;
  for (const AdapterUse& use : adapters) {
    const auto found = adapters_->find(use.id);
    if (found == adapters_->end())
      throw Failure("unavailable", "Adapter " + std::to_string(use.id) + " is not loaded any more; try again.");
    loaded.push_back(found->second.get());
    scales.push_back(use.scale);
  }
  if (llama_set_adapters_lora(context_, loaded.data(), loaded.size(), scales.data()) != 0)
    throw Failure("model_failed", "The engine refused the adapters of this request.");
  adapted_ = adapters;
}

DecodeResult LlamaDecoder::decode(std::span<const BatchToken> batch) {
  const size_t count = batch.size();
  tokens_.resize(count);
  positions_.resize(count);
  slots_.resize(count);
  outputs_.resize(count);
  slot_pointers_.resize(count);
  sequence_counts_.assign(count, 1);
  for (size_t i = 0; i < count; ++i) {
    tokens_[i] = batch[i].token;
    positions_[i] = batch[i].position;
    slots_[i] = batch[i].slot;
    slot_pointers_[i] = &slots_[i];
    outputs_[i] = batch[i].output ? 1 : 0;
  }
  const llama_batch all{static_cast<int32_t>(count), tokens_.data(),        nullptr,        positions_.data(),
                        sequence_counts_.data(),     slot_pointers_.data(), outputs_.data()};
  int32_t code = 0;
  try {
    code = llama_decode(context_, all);
    if (code == 0) llama_synchronize(context_);
  } catch (const std::exception& error) {
    error_ = error.what();
    take_engine_errors();
    return DecodeResult::failed;
  }
  if (code == 0) return DecodeResult::done;
  const std::string reason = take_engine_errors();
  if (code == 1) return DecodeResult::no_room;
  if (code == 2) return DecodeResult::aborted;
  error_ = "Decoding failed (code " + std::to_string(code) + (reason.empty() ? ")." : "): " + reason);
  return DecodeResult::failed;
}

std::span<float> LlamaDecoder::logits(size_t index) {
  float* values = llama_get_logits_ith(context_, static_cast<int32_t>(index));
  if (values == nullptr) throw Failure("model_failed", "The model gave no probabilities for a token.");
  return {values, static_cast<size_t>(model_->facts().vocabulary_size)};
}

bool LlamaDecoder::trim(int slot, int length) {
  return llama_memory_seq_rm(llama_get_memory(context_), slot, length, -1);
}

void LlamaDecoder::share(int from, int to, int length) {
  llama_memory_t memory = llama_get_memory(context_);
  if (traits_.unified) return llama_memory_seq_cp(memory, from, to, 0, length);
  // Between split buffers llama.cpp copies whole sequences only, at the start of the next decode().
  llama_memory_seq_cp(memory, from, to, -1, -1);
  llama_memory_seq_rm(memory, to, length, -1);
}

void LlamaDecoder::clear(int slot) {
  llama_memory_seq_rm(llama_get_memory(context_), slot, -1, -1);
}

void LlamaDecoder::wipe() {
  llama_memory_clear(llama_get_memory(context_), true);
}

std::vector<uint8_t> LlamaDecoder::save(int slot) {
  std::vector<uint8_t> state(llama_state_seq_get_size(context_, slot));
  state.resize(llama_state_seq_get_data(context_, state.data(), state.size(), slot));
  if (plain_streams_ > 0 && !fold_streams(state, plain_streams_)) state.clear();
  return state;
}

bool LlamaDecoder::restore(int slot, std::span<const uint8_t> state) {
  if (plain_streams_ > 1) {
    const std::vector<uint8_t> unfolded = unfold_streams(state, plain_streams_);
    return !unfolded.empty() && put_back(slot, unfolded);
  }
  return put_back(slot, state);
}

bool LlamaDecoder::put_back(int slot, std::span<const uint8_t> state) {
  const size_t read = llama_state_seq_set_data(context_, state.data(), state.size(), slot);
  take_engine_errors();
  return read == state.size();
}

int LlamaDecoder::stored(int slot) {
  return llama_memory_seq_pos_max(llama_get_memory(context_), slot) + 1;
}

}  // namespace quern
