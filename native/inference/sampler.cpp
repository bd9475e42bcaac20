#include "sampler.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "../base/failure.hpp"

namespace quern {
namespace {

constexpr float kForbidden = -std::numeric_limits<float>::infinity();
/// Tokens that the repeat penalty looks back on; llama.cpp's default.
constexpr size_t kRepeatWindow = 64;
/// Candidates further below the best than this (in units of the temperature) are never drawn: e^-25 each.
constexpr float kReach = 25.0f;
/// Candidates shown to the constraint at first; it is slow on a whole vocabulary.
constexpr size_t kFirstLook = 64;
constexpr size_t kSecondLook = 1024;
/// Most that a repeated sequence takes from a logit: never drawn beside another, and still a number.
constexpr float kMostDry = 1000.0f;

/// Uniform in [0, 1), the same on every platform (std::uniform_real_distribution is not).
double uniform(std::mt19937& random) {
  return random() * (1.0 / 4294967296.0);
}

}  // namespace

Sampler::Sampler(const GenerateOptions& options, std::unique_ptr<Constraint> constraint, std::span<const Token> prompt)
    : options_(options),
      constraint_(std::move(constraint)),
      thinking_(options.thinking_budget, options.think_start, options.think_end, options.starts_in_thinking),
      holds_(options.grammar_start.empty()),
      random_(options.seed) {
  if (options_.repeat_penalty != 1.0f) {
    const size_t count = std::min(prompt.size(), kRepeatWindow);
    window_.assign(prompt.end() - count, prompt.end());
  }
}

Token Sampler::choose(std::span<float> logits) {
  const Token forced = thinking_.forced();
  if (forced >= 0) return forced;
  edit(logits);
  Token token = -1;
  try {
    token = constrained() ? pick_constrained(logits) : pick(logits);
  } catch (...) {
    for (auto it = edits_.rbegin(); it != edits_.rend(); ++it) logits[it->token] = it->original;
    throw;
  }
  // Backwards: a token edited twice gets its first value back.
  for (auto it = edits_.rbegin(); it != edits_.rend(); ++it) logits[it->token] = it->original;
  if (token < 0)
    throw NoProbabilities(
        "The model gave no usable probabilities (NaN or -infinity for every token). Its weights or adapters are "
        "damaged, an adapter is too strong, or a KV cache type or GPU driver computes wrongly.");
  return token;
}

void Sampler::accept(Token token) {
  const bool in_language = constrained();
  if (!holds_ && !thinking_.inside()) await_start(token);
  const bool was_inside = thinking_.inside();
  // In a call that was waited for, the tag of a thinking block is a text like any other.
  if (!in_language || options_.grammar_start.empty()) thinking_.accept(token);
  if (in_language) {
    constraint_->accept(token);
  } else if (options_.dry_multiplier > 0) {
    repeats_.accept(token);
    // What follows may say what was thought, and what was said before it.
    if (was_inside && !thinking_.inside()) repeats_.clear();
  }
  if (options_.presence_penalty != 0 || options_.frequency_penalty != 0) ++counts_[token];
  if (options_.repeat_penalty != 1.0f) {
    if (window_.size() < kRepeatWindow) {
      window_.push_back(token);
    } else {
      window_[window_next_] = token;
      window_next_ = (window_next_ + 1) % kRepeatWindow;
    }
  }
}

void Sampler::await_start(Token token) {
  start_matched_ = tokens_of_tag(options_.grammar_start, start_matched_, token);
  holds_ = start_matched_ == options_.grammar_start.size();
}

void Sampler::report(std::span<const float> logits, Token token, std::vector<double>& out) const {
  const double total = log_sum_exp(logits);
  std::vector<Candidate> top;
  top_candidates(logits, static_cast<size_t>(options_.top_logprobs), top);
  out.push_back(logits[token] - total);
  out.push_back(static_cast<double>(top.size()));
  for (const Candidate& candidate : top) {
    out.push_back(candidate.token);
    out.push_back(candidate.logit - total);
  }
}

void Sampler::set(std::span<float> logits, Token token, float value) {
  edits_.push_back({token, logits[token]});
  logits[token] = value;
}

void Sampler::edit(std::span<float> logits) {
  edits_.clear();
  for (size_t i = 0; i < options_.bias_tokens.size(); ++i)
    set(logits, options_.bias_tokens[i], logits[options_.bias_tokens[i]] + options_.bias_values[i]);
  for (const auto& [token, count] : counts_)
    set(logits, token, logits[token] - options_.presence_penalty - count * options_.frequency_penalty);
  for (size_t i = 0; i < window_.size(); ++i) {
    const Token token = window_[i];
    if (std::find(window_.begin(), window_.begin() + i, token) != window_.begin() + i) continue;
    const float logit = logits[token];
    set(logits, token, logit > 0 ? logit / options_.repeat_penalty : logit * options_.repeat_penalty);
  }
  if (options_.dry_multiplier > 0 && !constrained()) {
    for (const auto& [token, length] : repeats_.continuations(options_.dry_allowed_length)) {
      const float growth = std::pow(options_.dry_base, static_cast<float>(length - options_.dry_allowed_length));
      set(logits, token, logits[token] - std::min(options_.dry_multiplier * growth, kMostDry));
    }
  }
}

Token Sampler::pick(std::span<const float> logits) {
  if (options_.temperature <= 0) return argmax(logits);
  gather(logits, candidates_);
  return candidates_.empty() ? -1 : draw_top(candidates_);
}

void Sampler::gather(std::span<const float> logits, std::vector<Candidate>& out) const {
  if (options_.top_k > 0 && static_cast<size_t>(options_.top_k) < logits.size() / 4) {
    top_candidates(logits, static_cast<size_t>(options_.top_k), out);
    return;
  }
  const int32_t best = argmax(logits);
  out.clear();
  if (best < 0) return;
  candidates_above(logits, logits[best] - kReach * std::max(1.0f, options_.temperature), out);
}

bool Sampler::allowed(Token token) {
  Candidate candidate{token, 0};
  constraint_->mask({&candidate, 1});
  return candidate.logit != kForbidden;
}

Token Sampler::pick_constrained(std::span<const float> logits) {
  // Most tokens of a model that follows the grammar by itself are right, and checking one is cheap.
  const Token free = pick(logits);
  if (free < 0 || allowed(free)) return free;
  for (const size_t look : {kFirstLook, kSecondLook}) {
    top_candidates(logits, look, candidates_);
    if (candidates_.size() < look) break;
    const float bound = candidates_.back().logit;
    keep_allowed(candidates_);
    if (candidates_.empty()) continue;
    // What was not shown is as likely as `bound` at most: it matters only when that is within reach of the best.
    const bool enough = options_.temperature <= 0 ||
                        (options_.top_k > 0 && candidates_.size() >= static_cast<size_t>(options_.top_k)) ||
                        bound < candidates_.front().logit - kReach * std::max(1.0f, options_.temperature);
    if (enough) return draw_top(candidates_);
  }
  candidates_.clear();
  for (size_t i = 0; i < logits.size(); ++i)
    if (logits[i] > kForbidden) candidates_.push_back({static_cast<Token>(i), logits[i]});
  keep_allowed(candidates_);
  if (candidates_.empty())
    throw Failure("model_failed", "The grammar allows no token of this model's vocabulary here.");
  sort_candidates(candidates_);
  return draw_top(candidates_);
}

void Sampler::keep_allowed(std::vector<Candidate>& candidates) {
  constraint_->mask(candidates);
  std::erase_if(candidates, [](const Candidate& candidate) { return candidate.logit == kForbidden; });
}

Token Sampler::draw_top(std::vector<Candidate>& candidates) {
  if (options_.top_k > 0 && candidates.size() > static_cast<size_t>(options_.top_k)) candidates.resize(options_.top_k);
  return draw(candidates);
}

Token Sampler::draw(std::vector<Candidate>& candidates) {
  if (options_.temperature <= 0) return candidates.front().token;
  const double best = candidates.front().logit;
  size_t count = candidates.size();
  if (options_.top_p < 1.0f) {
    weights_.clear();
    double total = 0;
    for (const Candidate& c : candidates) total += weights_.emplace_back(std::exp(c.logit - best));
    double reached = 0;
    size_t kept = 0;
    while (kept < count && (kept == 0 || reached < options_.top_p * total)) reached += weights_[kept++];
    count = kept;
  }
  if (options_.min_p > 0) {
    const double floor = best + std::log(static_cast<double>(options_.min_p));
    while (count > 1 && candidates[count - 1].logit < floor) --count;
  }
  weights_.clear();
  double total = 0;
  for (size_t i = 0; i < count; ++i)
    total += weights_.emplace_back(std::exp((candidates[i].logit - best) / options_.temperature));
  double left = uniform(random_) * total;
  for (size_t i = 0; i < count; ++i) {
    left -= weights_[i];
    if (left < 0) return candidates[i].token;
  }
  return candidates[count - 1].token;
}

}  // namespace quern
