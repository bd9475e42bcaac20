#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "model.hpp"

struct llama_context;

namespace quern {

/// How an embedder is set up; native/contract/inference.ts explains the members.
struct EmbedderOptions {
  int context_size = 512;
  int threads = 1;
  bool flash_attention = true;
  bool ranks = false;
};

/// Throws Failure('invalid') that names the option, its value and what is allowed.
void check(const EmbedderOptions& options);

/// Turns texts into vectors with a llama.cpp model: several texts go through it together, as parts of one batch.
class Embedder {
 public:
  /// Makes a context and runs one token through it. Throws Failure 'invalid' for a model that has another purpose, or
  /// 'model_failed' (mostly: not enough memory).
  Embedder(std::shared_ptr<const Model> model, const EmbedderOptions& options);
  ~Embedder();
  Embedder(const Embedder&) = delete;
  Embedder& operator=(const Embedder&) = delete;

  /// Numbers that come back of a text.
  int dimensions() const { return dimensions_; }
  /// Most tokens of one text.
  int context_size() const { return options_.context_size; }
  /// "mean", "cls", "last" or "rank".
  const std::string& pooling() const { return pooling_; }
  /// False where the file names no pooling and one was chosen by the kind of its attention.
  bool pooling_known() const { return pooling_known_; }

  /// Vectors of length 1, or the scores of a ranking head, for texts whose tokens lie one after the other. Blocks; any
  /// thread, one at a time. Throws Failure 'invalid' for a text without tokens or with too many, 'unavailable' once
  /// interrupted.
  std::vector<float> embed(std::span<const Token> tokens, std::span<const int32_t> lengths);
  /// Makes the embed() in progress, and later ones, end early. Any thread.
  void interrupt() { interrupted_.store(true, std::memory_order_relaxed); }

 private:
  /// Makes a context for batches of at least so many tokens.
  void make_context(int tokens);
  void choose_pooling();
  void check_purpose() const;
  void decode(std::span<const Token> tokens, std::span<const int32_t> lengths);
  /// The vectors of the texts that were decoded last.
  void read(size_t count, std::span<float> out);

  std::shared_ptr<const Model> model_;
  EmbedderOptions options_;
  std::unique_ptr<llama_context, void (*)(llama_context*)> context_;
  std::mutex mutex_;
  std::atomic<bool> interrupted_{false};
  int capacity_ = 0;  ///< tokens of one batch
  int dimensions_ = 0;
  int forced_pooling_ = -1;  ///< llama.cpp's number, -1 = the file's own
  std::string pooling_;
  bool pooling_known_ = true;
};

}  // namespace quern
