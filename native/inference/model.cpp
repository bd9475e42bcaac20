#include "model.hpp"

#include <time.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "../base/failure.hpp"
#include "backends.hpp"
#include "engine_log.hpp"
#include "llama.h"
#include "q8_weights.hpp"

namespace quern {
namespace {

struct Progress {
  const std::function<void(float)>& report;
  const std::atomic<bool>& cancel;
};

bool on_progress(float fraction, void* user) {
  const auto* progress = static_cast<const Progress*>(user);
  progress->report(fraction);
  return !progress->cancel.load(std::memory_order_relaxed);
}

llama_load_mode load_mode(const ModelOptions& options) {
  if (options.mmap) return options.mlock ? LLAMA_LOAD_MODE_MMAP_MLOCK : LLAMA_LOAD_MODE_MMAP;
  return options.mlock ? LLAMA_LOAD_MODE_MLOCK : LLAMA_LOAD_MODE_NONE;
}

std::string text_of(const llama_vocab* vocab, Token token) {
  const char* text = token < 0 ? nullptr : llama_vocab_get_text(vocab, token);
  return text == nullptr ? std::string() : text;
}

/// Longest time of a processor that a grammar may take to follow one token; microseconds are usual.
constexpr double kLongestAcceptSeconds = 0.01;

/// Time that a processor has worked for this thread.
double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// A GBNF grammar in llama.cpp's own implementation.
class Grammar : public Constraint {
 public:
  explicit Grammar(llama_sampler* sampler) : sampler_(sampler) {}
  ~Grammar() override { llama_sampler_free(sampler_); }
  Grammar(const Grammar&) = delete;
  Grammar& operator=(const Grammar&) = delete;

  void mask(std::span<Candidate> candidates) override {
    scratch_.clear();
    for (const Candidate& candidate : candidates) scratch_.push_back({candidate.token, candidate.logit, 0});
    llama_token_data_array array{scratch_.data(), scratch_.size(), -1, false};
    llama_sampler_apply(sampler_, &array);
    for (size_t i = 0; i < candidates.size(); ++i) candidates[i].logit = scratch_[i].logit;
  }

  /// A grammar that can be read in many ways keeps them all, and their number may double with each token: such a text
  /// is given up while that still costs little, since no other sequence goes on meanwhile.
  void accept(Token token) override {
    const double start = thread_seconds();
    llama_sampler_accept(sampler_, token);
    if (thread_seconds() - start <= kLongestAcceptSeconds) return;
    throw Failure(
        "model_failed",
        "The grammar can be read in too many ways at this place of the text. Let alternatives differ in their "
        "first words, or properties.");
  }

 private:
  llama_sampler* sampler_;
  std::vector<llama_token_data> scratch_;
};

}  // namespace

void Model::Free::operator()(llama_model* model) const {
  llama_model_free(model);
}

Model::Model(const std::string& path, const ModelOptions& options, const std::function<void(float)>& report,
             const std::atomic<bool>& cancel)
    : options_(options) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    throw Failure("not_found", "There is no model file " + path + "; check the path.");
  Progress progress{report, cancel};
  llama_model_params params = llama_model_default_params();
  params.n_gpu_layers = options.gpu_layers;
  params.load_mode = load_mode(options);
  params.progress_callback = on_progress;
  params.progress_callback_user_data = &progress;
  // Without layers on it a GPU must not be touched at all: its context alone costs hundreds of megabytes.
  ggml_backend_dev_t none[] = {nullptr};
  if (options.gpu_layers == 0) params.devices = none;
  take_engine_errors();
  expect_q8_weights(options.mmap, options.mlock);
  model_.reset(llama_model_load_from_file(path.c_str(), params));
  // The first line has the cause, the others say that therefore the load failed.
  std::string reason = take_engine_errors();
  reason.resize(std::min(reason.size(), reason.find("; ")));
  if (!model_ && cancel.load()) throw Failure("unavailable", "Loading " + path + " was cancelled.");
  if (!model_)
    throw Failure("invalid",
                  "The model file " + path + " cannot be loaded" + (reason.empty() ? "" : ": " + reason) + ".");
  vocab_ = llama_model_get_vocab(model_.get());
  if (llama_vocab_type(vocab_) == LLAMA_VOCAB_TYPE_NONE || llama_vocab_n_tokens(vocab_) <= 0)
    throw Failure("invalid", "The model file " + path + " has no vocabulary, so it cannot complete text.");
  if (llama_model_has_encoder(model_.get()) || !llama_model_has_decoder(model_.get()))
    throw Failure("invalid", "The model file " + path + " (architecture " + metadata("general.architecture") +
                                 ") is an encoder; only decoder models complete text.");
  read_facts();
}

void Model::read_facts() {
  const llama_model* model = model_.get();
  char description[256] = "";
  llama_model_desc(model, description, sizeof description);
  facts_.architecture = metadata("general.architecture");
  facts_.name = metadata("general.name");
  facts_.description = description;
  facts_.size_bytes = llama_model_size(model);
  facts_.parameters = llama_model_n_params(model);
  facts_.trained_context_size = llama_model_n_ctx_train(model);
  facts_.vocabulary_size = llama_vocab_n_tokens(vocab_);
  facts_.layers = llama_model_n_layer(model);
  facts_.embedding_size = llama_model_n_embd(model);
  facts_.heads_kv = llama_model_n_head_kv(model);
  const char* chat_template = llama_model_chat_template(model, nullptr);
  facts_.chat_template = chat_template == nullptr ? "" : chat_template;
  facts_.bos_text = text_of(vocab_, llama_vocab_bos(vocab_));
  facts_.eos_text = text_of(vocab_, llama_vocab_eos(vocab_));
  facts_.add_bos = llama_vocab_get_add_bos(vocab_);
  for (const Device& device : devices()) {
    const bool gpu = std::string_view(device.kind) == "gpu";
    if (options_.gpu_layers != 0 ? gpu : std::string_view(device.kind) == "cpu") facts_.devices.push_back(device.name);
  }
  if (facts_.devices.empty()) facts_.devices.push_back("CPU");
}

std::vector<Token> Model::tokenize(std::string_view text, bool add_special, bool parse_special) const {
  if (text.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max()) / 2)
    throw Failure("too_large", "The text has " + std::to_string(text.size()) + " bytes, more than a prompt can hold.");
  const auto length = static_cast<int32_t>(text.size());
  // A token is at least a byte of text; the special ones at both ends come on top.
  std::vector<Token> tokens(text.size() + 8);
  const auto room = static_cast<int32_t>(tokens.size());
  int32_t count = llama_tokenize(vocab_, text.data(), length, tokens.data(), room, add_special, parse_special);
  if (count < 0 && count != std::numeric_limits<int32_t>::min()) {
    tokens.resize(static_cast<size_t>(-count));
    count = llama_tokenize(vocab_, text.data(), length, tokens.data(), -count, add_special, parse_special);
  }
  if (count < 0) throw Failure("too_large", "The text gives more tokens than can be counted.");
  tokens.resize(static_cast<size_t>(count));
  return tokens;
}

std::string Model::token_bytes(Token token, bool special) const {
  if (token < 0 || token >= facts_.vocabulary_size) {
    throw Failure("invalid", "token is " + std::to_string(token) + "; token ids go from 0 to " +
                                 std::to_string(facts_.vocabulary_size - 1) + ".");
  }
  std::string bytes(32, '\0');
  int32_t count = llama_token_to_piece(vocab_, token, bytes.data(), static_cast<int32_t>(bytes.size()), 0, special);
  if (count < 0) {
    bytes.resize(static_cast<size_t>(-count));
    count = llama_token_to_piece(vocab_, token, bytes.data(), -count, 0, special);
  }
  bytes.resize(count < 0 ? 0 : static_cast<size_t>(count));
  return bytes;
}

bool Model::ends_generation(Token token) const {
  return token >= 0 && token < facts_.vocabulary_size && llama_vocab_is_eog(vocab_, token);
}

std::string Model::metadata(const std::string& key) const {
  const int32_t length = llama_model_meta_val_str(model_.get(), key.c_str(), nullptr, 0);
  if (length <= 0) return "";
  std::string value(static_cast<size_t>(length) + 1, '\0');
  llama_model_meta_val_str(model_.get(), key.c_str(), value.data(), value.size());
  value.resize(static_cast<size_t>(length));
  return value;
}

std::unique_ptr<Constraint> Model::grammar(const std::string& text) const {
  take_engine_errors();
  llama_sampler* sampler = nullptr;
  std::string reason;
  try {
    sampler = llama_sampler_init_grammar(vocab_, text.c_str(), "root");
  } catch (const std::exception& error) {
    reason = error.what();
  }
  if (sampler == nullptr) {
    const std::string logged = take_engine_errors();
    // llama.cpp prints the place of a syntax error, which cannot be had here.
    if (reason.empty()) reason = logged.empty() ? "it is no valid GBNF, or has no rule named root" : logged;
    throw Failure("invalid", "The grammar cannot be used: " + reason + ".");
  }
  return std::make_unique<Grammar>(sampler);
}

}  // namespace quern
