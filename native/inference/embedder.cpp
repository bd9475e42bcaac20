#include "embedder.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "../base/failure.hpp"
#include "engine_log.hpp"
#include "llama.h"

namespace quern {
namespace {

/// Texts that share a batch.
constexpr int kSequences = 64;
/// Tokens of a batch as long as no text is longer: attention is computed for the whole batch, so more gains nothing.
constexpr int kBatch = 512;
constexpr int kContextLimit = 1 << 20;
constexpr int kThreadLimit = 1024;

int in_range(const char* name, int value, int most) {
  if (value >= 1 && value <= most) return value;
  throw Failure("invalid", std::string(name) + " is " + std::to_string(value) + "; allowed are 1 to " +
                               std::to_string(most) + ".");
}

/// Brings a vector to length 1.
void normalise(std::span<float> vector) {
  const double squares = std::inner_product(vector.begin(), vector.end(), vector.begin(), 0.0);
  if (!std::isfinite(squares) || squares <= 0)
    throw Failure("model_failed", "The model gave a vector that is zero or not finite.");
  const auto scale = static_cast<float>(1 / std::sqrt(squares));
  for (float& value : vector) value *= scale;
}

}  // namespace

void check(const EmbedderOptions& options) {
  in_range("contextSize", options.context_size, kContextLimit);
  in_range("threads", options.threads, kThreadLimit);
}

Embedder::Embedder(std::shared_ptr<const Model> model, const EmbedderOptions& options)
    : model_(std::move(model)), options_(options), context_(nullptr, llama_free) {
  check(options_);
  // Positions beyond the trained ones would be read from behind the end of a table.
  const int trained = model_->facts().trained_context_size;
  if (trained > 0) options_.context_size = std::min(options_.context_size, trained);
  make_context(std::min(kBatch, options_.context_size));
  choose_pooling();
  check_purpose();
  dimensions_ =
      options_.ranks ? static_cast<int>(llama_model_n_cls_out(model_->raw())) : llama_model_n_embd_out(model_->raw());
  // Reserves the compute buffers and reads the weights, so that the first request does not pay for it.
  const Token token = 0;
  const int32_t length = 1;
  decode({&token, 1}, {&length, 1});
}

Embedder::~Embedder() = default;

void Embedder::make_context(int tokens) {
  // The engine reserves its buffers for equal shares of all sequences, and ends the process where they do not come out.
  const int capacity = (tokens + kSequences - 1) / kSequences * kSequences;
  context_.reset();
  llama_context_params params = llama_context_default_params();
  params.embeddings = true;
  params.pooling_type = static_cast<enum llama_pooling_type>(forced_pooling_);
  // Whole texts at once: pooling and attention that looks both ways need all tokens of a text in one micro-batch.
  params.n_ctx = params.n_batch = params.n_ubatch = static_cast<uint32_t>(capacity);
  params.n_seq_max = kSequences;
  params.kv_unified = true;
  params.n_threads = params.n_threads_batch = options_.threads;
  params.flash_attn_type = options_.flash_attention ? LLAMA_FLASH_ATTN_TYPE_AUTO : LLAMA_FLASH_ATTN_TYPE_DISABLED;
  params.no_perf = true;
  params.offload_kqv = params.op_offload = model_->options().gpu_layers != 0;
  params.abort_callback = [](void* flag) {
    return static_cast<const std::atomic<bool>*>(flag)->load(std::memory_order_relaxed);
  };
  params.abort_callback_data = &interrupted_;
  take_engine_errors();
  context_.reset(llama_init_from_model(model_->raw(), params));
  const std::string reason = take_engine_errors();
  if (!context_)
    throw Failure("model_failed", "A context of " + std::to_string(capacity) + " tokens cannot be made" +
                                      (reason.empty() ? "" : ": " + reason) + ".");
  capacity_ = static_cast<int>(llama_n_ubatch(context_.get()));
}

void Embedder::choose_pooling() {
  auto type = llama_pooling_type(context_.get());
  if (type == LLAMA_POOLING_TYPE_NONE) {
    // Only the last token of a model that looks back has seen the whole text.
    pooling_known_ = false;
    const bool causal = llama_get_memory(context_.get()) != nullptr;
    type = causal ? LLAMA_POOLING_TYPE_LAST : LLAMA_POOLING_TYPE_MEAN;
    forced_pooling_ = type;
    make_context(capacity_);
  }
  switch (type) {
    case LLAMA_POOLING_TYPE_MEAN:
      pooling_ = "mean";
      return;
    case LLAMA_POOLING_TYPE_CLS:
      pooling_ = "cls";
      return;
    case LLAMA_POOLING_TYPE_LAST:
      pooling_ = "last";
      return;
    default:
      pooling_ = "rank";
  }
}

void Embedder::check_purpose() const {
  const bool can_rank = pooling_ == "rank";
  if (can_rank == options_.ranks) return;
  throw Failure("invalid", can_rank
                               ? "This model ranks pairs of texts and makes no embeddings; name an embedding model."
                               : "This model makes embeddings and ranks nothing (its pooling is " + pooling_ +
                                     ", a reranker's is rank); name a reranking model.");
}

std::vector<float> Embedder::embed(std::span<const Token> tokens, std::span<const int32_t> lengths) {
  const std::lock_guard lock(mutex_);
  size_t total = 0;
  int longest = 0;
  for (const int32_t length : lengths) {
    in_range("The length of a text in tokens", length, options_.context_size);
    longest = std::max(longest, length);
    total += static_cast<size_t>(length);
  }
  if (total != tokens.size())
    throw Failure("invalid", "There are " + std::to_string(tokens.size()) + " tokens, and the lengths add up to " +
                                 std::to_string(total) + ".");
  // Buffers grow with the longest text there was: those for the whole context would take memory that few models use.
  if (longest > capacity_) make_context(std::min(options_.context_size, std::max(longest, 2 * capacity_)));
  std::vector<float> out(lengths.size() * static_cast<size_t>(dimensions_));
  size_t text = 0;
  size_t at = 0;
  while (text < lengths.size()) {
    size_t count = 0;
    size_t size = 0;
    while (text + count < lengths.size() && count < kSequences &&
           size + static_cast<size_t>(lengths[text + count]) <= static_cast<size_t>(capacity_))
      size += static_cast<size_t>(lengths[text + count++]);
    decode(tokens.subspan(at, size), lengths.subspan(text, count));
    const auto width = static_cast<size_t>(dimensions_);
    read(count, std::span(out).subspan(text * width, count * width));
    text += count;
    at += size;
  }
  return out;
}

void Embedder::decode(std::span<const Token> tokens, std::span<const int32_t> lengths) {
  if (interrupted_.load(std::memory_order_relaxed)) throw Failure("unavailable", "The model is closed.");
  std::vector<Token> ids(tokens.begin(), tokens.end());
  std::vector<int32_t> positions;
  std::vector<int32_t> sequences;
  for (size_t i = 0; i < lengths.size(); ++i)
    for (int32_t position = 0; position < lengths[i]; ++position) {
      positions.push_back(position);
      sequences.push_back(static_cast<int32_t>(i));
    }
  std::vector<int32_t> counts(ids.size(), 1);
  std::vector<int8_t> outputs(ids.size(), 1);
  std::vector<int32_t*> pointers(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) pointers[i] = &sequences[i];
  const llama_batch batch{static_cast<int32_t>(ids.size()),
                          ids.data(),
                          nullptr,
                          positions.data(),
                          counts.data(),
                          pointers.data(),
                          outputs.data()};
  llama_context* context = context_.get();
  if (llama_memory_t memory = llama_get_memory(context)) llama_memory_clear(memory, false);
  int32_t code = 0;
  std::string thrown;
  try {
    code = llama_decode(context, batch);
    if (code == 0) llama_synchronize(context);
  } catch (const std::exception& error) {
    code = -1;
    thrown = error.what();
  }
  const std::string reason = take_engine_errors();
  if (interrupted_.load(std::memory_order_relaxed)) throw Failure("unavailable", "The model is closed.");
  if (code != 0)
    throw Failure("model_failed", "The model could not read the text (code " + std::to_string(code) +
                                      (thrown.empty() ? reason.empty() ? ")" : "): " + reason : "): " + thrown) + ".");
}

void Embedder::read(size_t count, std::span<float> out) {
  const auto width = static_cast<size_t>(dimensions_);
  for (size_t i = 0; i < count; ++i) {
    const float* vector = llama_get_embeddings_seq(context_.get(), static_cast<int32_t>(i));
    if (vector == nullptr) throw Failure("model_failed", "The model gave no vector for a text.");
    const auto row = out.subspan(i * width, width);
    std::copy_n(vector, width, row.begin());
    if (!options_.ranks)
      normalise(row);
    else if (!std::all_of(row.begin(), row.end(), [](float score) { return std::isfinite(score); }))
      throw Failure("model_failed", "The model gave a score that is not finite.");
  }
}

}  // namespace quern
