#include "inference/options.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/failure.hpp"

namespace quern {
namespace {

constexpr int kVocabulary = 100;

SchedulerOptions scheduling(const std::function<void(SchedulerOptions&)>& change) {
  SchedulerOptions options{.context_size = 64, .slots = 4, .batch = 64, .ubatch = 16};
  change(options);
  return options;
}

TEST(Options, LimitsAreAllowedAndWhatIsBeyondIsNot) {
  EXPECT_NO_THROW(check(scheduling([](auto& o) { o.context_size = 8; })));
  EXPECT_THROW(check(scheduling([](auto& o) { o.context_size = 7; })), Failure);
  EXPECT_NO_THROW(check(scheduling([](auto& o) { o.slots = o.batch = kSlotLimit; })));
  EXPECT_THROW(check(scheduling([](auto& o) { o.slots = kSlotLimit + 1; })), Failure);
  EXPECT_NO_THROW(check({.temperature = 0, .top_p = 1, .min_p = 0}, kVocabulary));
  EXPECT_THROW(check({.temperature = std::nanf("")}, kVocabulary), Failure);
  EXPECT_THROW(check({.top_p = 1.01f}, kVocabulary), Failure);
}

TEST(Options, AStepHasRoomForOneTokenOfEachSlot) {
  EXPECT_NO_THROW(check(scheduling([](auto& o) { o.batch = 4; })));
  EXPECT_THROW(check(scheduling([](auto& o) { o.batch = 3; })), Failure);
}

TEST(Options, TokensAreOfTheVocabulary) {
  EXPECT_NO_THROW(check_tokens("prompt", {0, kVocabulary - 1}, kVocabulary, 2));
  for (const std::vector<Token>& tokens : {std::vector<Token>{}, {-1}, {kVocabulary}, {1, 2, 3}})
    EXPECT_THROW(check_tokens("prompt", tokens, kVocabulary, 2), Failure);
}

}  // namespace
}  // namespace quern
