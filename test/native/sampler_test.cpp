#include "inference/sampler.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/failure.hpp"

namespace quern {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const float kNaN = std::nanf("");

/// Allows a set of tokens; remembers what it was told.
class Only : public Constraint {
 public:
  explicit Only(std::set<Token> allowed, std::vector<Token>* accepted = nullptr)
      : allowed_(std::move(allowed)), accepted_(accepted) {}
  void mask(std::span<Candidate> candidates) override {
    for (Candidate& candidate : candidates)
      if (!allowed_.contains(candidate.token)) candidate.logit = -kInfinity;
  }
  void accept(Token token) override {
    if (accepted_ != nullptr) accepted_->push_back(token);
  }

 private:
  std::set<Token> allowed_;
  std::vector<Token>* accepted_;
};

Sampler sampler(const GenerateOptions& options, std::unique_ptr<Constraint> constraint = nullptr) {
  return Sampler(options, std::move(constraint), {});
}

std::vector<float> wave(size_t count) {
  std::vector<float> logits(count);
  for (size_t i = 0; i < count; ++i) logits[i] = std::sin(static_cast<float>(i) * 1.7f) * 5;
  return logits;
}

TEST(Argmax, AgreesWithTheSimpleSearchForEveryTail) {
  for (size_t count = 1; count < 2100; count += count < 80 ? 1 : 97) {
    const auto logits = wave(count);
    const auto expected = std::max_element(logits.begin(), logits.end()) - logits.begin();
    EXPECT_EQ(argmax(logits), expected) << count;
  }
}

TEST(Argmax, TakesTheFirstOfEqualsAndSkipsNaN) {
  EXPECT_EQ(argmax(std::vector<float>{1, 3, 3}), 1);
  EXPECT_EQ(argmax(std::vector<float>{kNaN, 1, kNaN, 2}), 3);
  EXPECT_EQ(argmax(std::vector<float>{kNaN, kNaN}), -1);
  EXPECT_EQ(argmax(std::vector<float>{-kInfinity}), -1);
  EXPECT_EQ(argmax(std::vector<float>{}), -1);
}

TEST(TopCandidates, AreTheGreatestInOrder) {
  const auto logits = wave(3000);
  std::vector<Candidate> top;
  std::vector<Candidate> all;
  candidates_above(logits, -kInfinity, all);
  ASSERT_EQ(all.size(), logits.size());
  for (const size_t count : {0, 1, 7, 64, 2999, 3000, 5000}) {
    top_candidates(logits, count, top);
    ASSERT_EQ(top.size(), std::min<size_t>(count, logits.size()));
    for (size_t i = 0; i < top.size(); ++i) EXPECT_EQ(top[i].token, all[i].token) << count << " " << i;
  }
}

TEST(TopCandidates, OfEqualOnesTheFirstTokensComeFirst) {
  const std::vector<float> logits{1, 2, 2, 2};
  std::vector<Candidate> top;
  top_candidates(logits, 2, top);
  ASSERT_EQ(top.size(), 2);
  EXPECT_EQ(top[0].token, 1);
  EXPECT_EQ(top[1].token, 2);
}

TEST(LogSumExp, HoldsForLargeAndInfiniteValues) {
  EXPECT_NEAR(log_sum_exp(std::vector<float>{1000, 1000}), 1000 + std::log(2.0), 1e-9);
  EXPECT_NEAR(log_sum_exp(std::vector<float>{0, -kInfinity}), 0, 1e-9);
  EXPECT_NEAR(log_sum_exp(std::vector<float>{0, -200}), 0, 1e-9);
}

TEST(Sampler, RestoresTheLogits) {
  GenerateOptions options{
      .repeat_penalty = 2, .presence_penalty = 1, .frequency_penalty = 1, .dry_multiplier = 1, .dry_allowed_length = 1};
  options.bias_tokens = {3, 3, 4};
  options.bias_values = {5, 7, -5};
  Sampler chooser = sampler(options);
  chooser.accept(3);
  chooser.accept(3);
  auto logits = wave(100);
  const auto before = logits;
  chooser.choose(logits);
  EXPECT_EQ(logits, before);
}

TEST(Sampler, DrawsByProbability) {
  Sampler chooser = sampler({.temperature = 1, .seed = 5});
  std::vector<float> logits{std::log(0.7f), std::log(0.2f), std::log(0.1f)};
  std::map<Token, int> counts;
  for (int i = 0; i < 20000; ++i) ++counts[chooser.choose(logits)];
  EXPECT_NEAR(counts[0] / 20000.0, 0.7, 0.02);
  EXPECT_NEAR(counts[1] / 20000.0, 0.2, 0.02);
  EXPECT_NEAR(counts[2] / 20000.0, 0.1, 0.02);
}

TEST(Sampler, TopPAndMinPCutTheTail) {
  std::vector<float> logits{std::log(0.5f), std::log(0.3f), std::log(0.15f), std::log(0.05f)};
  const auto drawn = [&logits](const GenerateOptions& options) {
    Sampler chooser = sampler(options);
    std::set<Token> tokens;
    for (int i = 0; i < 2000; ++i) tokens.insert(chooser.choose(logits));
    return tokens;
  };
  EXPECT_EQ(drawn({.temperature = 1, .top_p = 0.79f}), (std::set<Token>{0, 1}));
  EXPECT_EQ(drawn({.temperature = 1, .top_p = 0.81f}), (std::set<Token>{0, 1, 2}));
  EXPECT_EQ(drawn({.temperature = 1, .min_p = 0.2f}), (std::set<Token>{0, 1, 2}));
  EXPECT_EQ(drawn({.temperature = 1, .top_k = 2}), (std::set<Token>{0, 1}));
  EXPECT_EQ(drawn({.temperature = 50}), (std::set<Token>{0, 1, 2, 3}));
}

TEST(Sampler, FrequencyCountsEachTimeAndPresenceOnce) {
  std::vector<float> logits{3.5f, 2, 0};
  Sampler often = sampler({.frequency_penalty = 1});
  Sampler present = sampler({.presence_penalty = 1});
  for (Sampler* chooser : {&often, &present}) {
    chooser->accept(0);
    EXPECT_EQ(chooser->choose(logits), 0);
    chooser->accept(0);
  }
  EXPECT_EQ(often.choose(logits), 1);
  EXPECT_EQ(present.choose(logits), 0);
}

TEST(Sampler, DryTakesMoreFromWhatWouldContinueALongerSequence) {
  // After 5 6 7, which came before 8 (three tokens long) and, its end alone, before 9 (one token).
  const std::vector<Token> text{5, 6, 7, 8, 7, 9, 5, 6, 7};
  const auto bound = [&text](float multiplier, int allowed) {
    Sampler chooser = sampler({.dry_multiplier = multiplier, .dry_base = 2, .dry_allowed_length = allowed});
    for (const Token token : text) chooser.accept(token);
    // The logit of 8 over all others at which it is chosen still, to a quarter.
    for (float more = 0; more < 10; more += 0.25f) {
      std::vector<float> logits(10, 0.1f);
      logits[8] = more;
      if (chooser.choose(logits) == 8) return more;
    }
    return 10.0f;
  };
  EXPECT_EQ(bound(1, 3), 1.25f) << "2^0";
  EXPECT_EQ(bound(1, 1), 4.25f) << "2^2";
  EXPECT_EQ(bound(0.5f, 1), 2.25f);
  EXPECT_EQ(bound(1, 4), 0.25f) << "as long a sequence may come again";
  Sampler chooser = sampler({.dry_multiplier = 1, .dry_base = 2, .dry_allowed_length = 1});
  for (const Token token : text) chooser.accept(token);
  std::vector<float> logits(10, 0);
  logits[9] = 1.5f;
  EXPECT_EQ(chooser.choose(logits), 9) << "what followed the one token loses 1";
  logits[9] = 0.5f;
  EXPECT_NE(chooser.choose(logits), 9);
}

TEST(Sampler, DryLeavesAGrammarAndWhatWasThoughtAlone) {
  GenerateOptions options{.dry_multiplier = 50, .dry_allowed_length = 1};
  Sampler held = sampler(options, std::make_unique<Only>(std::set<Token>{0, 1}));
  std::vector<float> logits{1, 0, 3, 0};
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(held.choose(logits), 0) << i;
    held.accept(0);
  }
  // Free text until 2 3, which it has begun before: the grammar's own tokens are not repetitions of it.
  options.grammar_start = {2, 3};
  Sampler waiting = sampler(options, std::make_unique<Only>(std::set<Token>{0, 1}));
  for (const Token token : {3, 0, 1, 2, 3}) waiting.accept(token);
  EXPECT_EQ(waiting.choose(logits), 0) << "0 followed 3 in the free text";
  options.grammar_start = {};
  options.think_start = {2};
  options.think_end = {3};
  Sampler thinker = sampler(options);
  for (const Token token : {2, 0, 1, 0, 1, 3, 0}) thinker.accept(token);
  logits = {0, 1, 0, 0};
  EXPECT_EQ(thinker.choose(logits), 1) << "the thought said it, the answer has not";
  thinker.accept(1);
  thinker.accept(0);
  EXPECT_NE(thinker.choose(logits), 1);
}

TEST(Sampler, ALongRepetitionLeavesANumber) {
  Sampler chooser = sampler({.dry_multiplier = 100, .dry_base = 100, .dry_allowed_length = 1});
  for (int i = 0; i < 1000; ++i) chooser.accept(0);
  std::vector<float> logits{1};
  EXPECT_EQ(chooser.choose(logits), 0) << "there is no other token";
}

TEST(Sampler, RepeatPenaltyLooksBackOnThePromptToo) {
  const std::vector<Token> prompt{1};
  Sampler chooser({.repeat_penalty = 4}, nullptr, prompt);
  std::vector<float> logits{1, 2, -1};
  EXPECT_EQ(chooser.choose(logits), 0);
  for (int i = 0; i < 64; ++i) chooser.accept(0);
  EXPECT_EQ(chooser.choose(logits), 1) << "token 1 has left the window";
}

TEST(Sampler, AConstraintFindsItsTokenWhereverItIs) {
  auto logits = wave(5000);
  for (const float temperature : {0.0f, 1.0f}) {
    for (const Token wanted : {0, 17, 4999}) {
      Sampler chooser = sampler({.temperature = temperature}, std::make_unique<Only>(std::set<Token>{wanted}));
      EXPECT_EQ(chooser.choose(logits), wanted);
    }
  }
}

TEST(Sampler, AConstrainedDrawKeepsTheProportions) {
  std::vector<float> logits(1500, 0);
  logits[0] = 20;
  logits[10] = std::log(3.0f);
  Sampler chooser = sampler({.temperature = 1}, std::make_unique<Only>(std::set<Token>{10, 1499}));
  int first = 0;
  for (int i = 0; i < 800; ++i) first += chooser.choose(logits) == 10;
  EXPECT_NEAR(first / 800.0, 0.75, 0.06);
}

TEST(Sampler, SaysWhenNothingCanBeChosen) {
  auto logits = wave(50);
  Sampler nowhere = sampler({}, std::make_unique<Only>(std::set<Token>{}));
  EXPECT_THROW(nowhere.choose(logits), Failure);
  std::vector<float> broken(50, kNaN);
  for (const float temperature : {0.0f, 1.0f}) {
    Sampler chooser = sampler({.temperature = temperature});
    EXPECT_THROW(chooser.choose(broken), Failure);
  }
}

TEST(Sampler, TheConstraintSleepsWhileThinking) {
  std::vector<Token> accepted;
  GenerateOptions options{.thinking_budget = 2, .think_end = {8, 9}, .starts_in_thinking = true};
  Sampler chooser = sampler(options, std::make_unique<Only>(std::set<Token>{5}, &accepted));
  std::vector<float> logits(10, 0);
  logits[1] = 3;
  std::vector<Token> text;
  for (int i = 0; i < 6; ++i) {
    text.push_back(chooser.choose(logits));
    chooser.accept(text.back());
  }
  EXPECT_EQ(text, (std::vector<Token>{1, 1, 8, 9, 5, 5}));
  EXPECT_EQ(accepted, (std::vector<Token>{5, 5}));
  EXPECT_EQ(chooser.thinking_tokens(), 2);
}

TEST(Sampler, TheConstraintWaitsForItsStartOutsideThinking) {
  std::vector<Token> accepted;
  GenerateOptions options{.think_start = {6}, .think_end = {9}};
  options.grammar_start = {4, 4, 5};
  Sampler chooser = sampler(options, std::make_unique<Only>(std::set<Token>{2}, &accepted));
  auto logits = wave(10);
  logits[7] = 100;
  // In a block of thinking its start does not count; outside 4 4 4 5 ends with it.
  for (const Token token : {6, 4, 4, 5, 9, 4, 5, 4, 4, 4}) {
    chooser.accept(token);
    EXPECT_EQ(chooser.choose(logits), 7) << token;
  }
  chooser.accept(5);
  EXPECT_EQ(chooser.choose(logits), 2);
  chooser.accept(2);
  EXPECT_EQ(chooser.choose(logits), 2);
  EXPECT_EQ(accepted, std::vector<Token>({2})) << "what begins it is not part of it";
  chooser.accept(6);
  EXPECT_EQ(chooser.choose(logits), 2) << "no thinking begins in it";
}

TEST(Sampler, ReportsTheRawDistribution) {
  GenerateOptions options{.top_logprobs = 2};
  options.bias_tokens = {2};
  options.bias_values = {100};
  Sampler chooser = sampler(options);
  std::vector<float> logits{std::log(0.6f), std::log(0.3f), std::log(0.1f)};
  const Token token = chooser.choose(logits);
  EXPECT_EQ(token, 2);
  std::vector<double> out;
  chooser.report(logits, token, out);
  ASSERT_EQ(out.size(), 6u);
  EXPECT_NEAR(std::exp(out[0]), 0.1, 1e-6);
  EXPECT_EQ(out[1], 2);
  EXPECT_EQ(out[2], 0);
  EXPECT_NEAR(std::exp(out[3]), 0.6, 1e-6);
  EXPECT_EQ(out[4], 1);
}

}  // namespace
}  // namespace quern
