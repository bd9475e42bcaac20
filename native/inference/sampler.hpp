#pragma once

#include <memory>
#include <random>
#include <span>
#include <unordered_map>
#include <vector>

#include "../base/failure.hpp"
#include "logits.hpp"
#include "options.hpp"
#include "repeats.hpp"
#include "thinking.hpp"

namespace quern {

/// What limits the text to a language, such as a grammar. Not shared between sequences.
class Constraint {
 public:
  virtual ~Constraint() = default;
  /// Sets the logit of every candidate that may not come next to -infinity.
  virtual void mask(std::span<Candidate> candidates) = 0;
  /// Takes a token that was allowed.
  virtual void accept(Token token) = 0;
};

/// What a text fails with that the model has no probabilities for.
class NoProbabilities : public Failure {
 public:
  explicit NoProbabilities(const std::string& message) : Failure("model_failed", message) {}
};

/// Chooses the tokens of one sequence: bias, penalties and DRY, constraint, top-k, top-p, min-p, temperature, seeded
/// draw.
class Sampler {
 public:
  /// `constraint` may be null. `options` were checked. `prompt` feeds the window of the repeat penalty.
  Sampler(const GenerateOptions& options, std::unique_ptr<Constraint> constraint, std::span<const Token> prompt);

  /// Chooses the next token. `logits` is changed while it runs and restored. Throws Failure('model_failed') when
  /// nothing can be chosen: NaN logits, or a grammar that allows no token.
  Token choose(std::span<float> logits);
  /// Takes the chosen token; not for one that ends the generation.
  void accept(Token token);
  /// Appends logprob, count and (token, logprob) pairs of `token` to `out`; the raw distribution, before any setting.
  void report(std::span<const float> logits, Token token, std::vector<double>& out) const;

  bool wants_logprobs() const { return options_.top_logprobs >= 0; }
  int thinking_tokens() const { return thinking_.count(); }

 private:
  struct Edit {
    Token token;
    float original;
  };

  bool constrained() const { return constraint_ != nullptr && holds_ && !thinking_.inside(); }
  /// Follows whether the text ends with what the constraint waits for.
  void await_start(Token token);
  void edit(std::span<float> logits);
  void set(std::span<float> logits, Token token, float value);
  Token pick(std::span<const float> logits);
  Token pick_constrained(std::span<const float> logits);
  /// Draws from candidates that are sorted, greatest first; temperature 0 takes the first.
  Token draw(std::vector<Candidate>& candidates);
  /// As draw(), among the first top-k.
  Token draw_top(std::vector<Candidate>& candidates);
  void keep_allowed(std::vector<Candidate>& candidates);
  void gather(std::span<const float> logits, std::vector<Candidate>& out) const;
  bool allowed(Token token);

  GenerateOptions options_;
  std::unique_ptr<Constraint> constraint_;
  Thinking thinking_;
  bool holds_;                ///< the constraint, from now on
  size_t start_matched_ = 0;  ///< tokens of `grammar_start` that the text ends with
  std::mt19937 random_;
  std::vector<Token> window_;  ///< ring of the last tokens, for the repeat penalty
  size_t window_next_ = 0;
  std::unordered_map<Token, int> counts_;  ///< generated tokens, for presence and frequency
  Repeats repeats_;                        ///< of the free text, for DRY
  std::vector<Edit> edits_;
  std::vector<Candidate> candidates_;
  std::vector<double> weights_;
};

}  // namespace quern
