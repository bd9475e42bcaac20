#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "options.hpp"
#include "sampler.hpp"

struct llama_model;
struct llama_vocab;

namespace quern {

/// What the weights say; native/contract.ts explains the members.
struct ModelFacts {
  std::string architecture;
  std::string name;
  std::string description;
  uint64_t size_bytes = 0;
  uint64_t parameters = 0;
  int trained_context_size = 0;
  int vocabulary_size = 0;
  int layers = 0;
  int embedding_size = 0;
  int heads_kv = 0;
  std::string chat_template;
  std::string bos_text;
  std::string eos_text;
  bool add_bos = false;
  std::vector<std::string> devices;
};

/// Opened weights and their vocabulary. Every member function may be called from any thread.
class Model {
 public:
  /// Reads the file; `on_progress` gets 0 to 1 on this thread, `cancel` ends the load early.
  /// Throws Failure 'not_found', 'invalid' (with the engine's reason) or 'unavailable' (cancelled).
  Model(const std::string& path, const ModelOptions& options, const std::function<void(float)>& on_progress,
        const std::atomic<bool>& cancel);

  llama_model* raw() const { return model_.get(); }
  const ModelFacts& facts() const { return facts_; }
  const ModelOptions& options() const { return options_; }
  std::vector<Token> tokenize(std::string_view text, bool add_special, bool parse_special) const;
  std::string token_bytes(Token token, bool special) const;
  bool ends_generation(Token token) const;
  /// A metadata value as text, empty when the file has none.
  std::string metadata(const std::string& key) const;
  /// Throws Failure('invalid') when the text is no GBNF grammar with a rule `root`. The model must outlive it.
  std::unique_ptr<Constraint> grammar(const std::string& text) const;

 private:
  void read_facts();

  struct Free {
    void operator()(llama_model* model) const;
  };
  ModelOptions options_;
  std::unique_ptr<llama_model, Free> model_;
  const llama_vocab* vocab_ = nullptr;
  ModelFacts facts_;
};

}  // namespace quern
