#include "inference/planner.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace quern {
namespace {

constexpr MemoryTraits kSplit{.unified = false, .trimmable = true, .share_cost = 4};
constexpr MemoryTraits kUnified{.unified = true, .trimmable = true, .share_cost = 0};
constexpr MemoryTraits kRecurrent{.unified = false, .trimmable = false, .share_cost = 4};

std::vector<Token> range(int from, int count) {
  std::vector<Token> tokens(count);
  std::iota(tokens.begin(), tokens.end(), from);
  return tokens;
}

std::vector<Token> join(std::vector<Token> a, const std::vector<Token>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Slots whose histories this owns.
struct Slots {
  std::vector<std::vector<Token>> histories;
  std::vector<SlotView> views;

  void add(std::vector<Token> history, bool busy = false, uint64_t last_used = 0) {
    histories.push_back(std::move(history));
    views.push_back({busy, last_used, nullptr});
  }
  SlotChoice choose(const std::vector<Token>& prompt, MemoryTraits traits) {
    for (size_t i = 0; i < views.size(); ++i) views[i].history = &histories[i];
    return choose_slot(views, prompt, traits);
  }
};

std::vector<std::pair<int, int>> plan(std::vector<PendingView> sequences, StepLimits limits = {64, 16}) {
  std::vector<std::pair<int, int>> shares;
  for (const Share& share : plan_step(sequences, limits)) shares.emplace_back(share.slot, share.tokens);
  return shares;
}

using Shares = std::vector<std::pair<int, int>>;

TEST(CommonPrefix, EndsAtTheFirstDifference) {
  EXPECT_EQ(common_prefix(std::vector<Token>{}, range(0, 3)), 0u);
  EXPECT_EQ(common_prefix(range(0, 5), range(0, 3)), 3u);
  EXPECT_EQ(common_prefix(join(range(0, 2), {9}), range(0, 3)), 2u);
}

TEST(ChooseSlot, AllBusy) {
  Slots slots;
  slots.add(range(0, 5), true);
  EXPECT_EQ(slots.choose(range(0, 5), kSplit).slot, -1);
}

TEST(ChooseSlot, NothingOfAHistoryWithOtherAdapters) {
  for (const MemoryTraits& traits : {kSplit, kUnified, kRecurrent}) {
    Slots slots;
    slots.add(range(0, 50));
    slots.add({});
    slots.views[0].usable = false;
    const SlotChoice choice = slots.choose(range(0, 60), traits);
    EXPECT_EQ(choice.reused, 0);
    EXPECT_EQ(choice.slot, 1) << "an empty slot costs nobody a history";
  }
}

TEST(ChooseSlot, EmptySlotsFromTheFirst) {
  Slots slots;
  for (int i = 0; i < 3; ++i) slots.add({});
  const SlotChoice choice = slots.choose(range(0, 5), kSplit);
  EXPECT_EQ(choice.slot, 0);
  EXPECT_EQ(choice.source, -1);
  EXPECT_EQ(choice.reused, 0);
}

TEST(ChooseSlot, TheNextTurnGoesWhereTheConversationIs) {
  Slots slots;
  slots.add(range(500, 80), false, 9);
  slots.add(range(0, 80), false, 5);
  slots.add({});
  const SlotChoice choice = slots.choose(range(0, 100), kSplit);
  EXPECT_EQ(choice.slot, 1);
  EXPECT_EQ(choice.source, 1);
  EXPECT_EQ(choice.reused, 80);
}

TEST(ChooseSlot, TheLastTokenIsAlwaysDecoded) {
  Slots slots;
  slots.add(range(0, 50));
  EXPECT_EQ(slots.choose(range(0, 50), kSplit).reused, 49);
  EXPECT_EQ(slots.choose(range(0, 20), kSplit).reused, 19);
  EXPECT_EQ(slots.choose({0}, kSplit).reused, 0);
}

TEST(ChooseSlot, TheOldestHistoryIsOverwritten) {
  Slots slots;
  slots.add(range(100, 50), false, 7);
  slots.add(range(200, 50), false, 3);
  slots.add(range(300, 50), false, 5);
  EXPECT_EQ(slots.choose(range(0, 50), kSplit).slot, 1);
}

TEST(ChooseSlot, ASharedSystemPromptIsCopiedRatherThanDecoded) {
  Slots slots;
  slots.add(join(range(0, 200), range(1000, 300)), false, 2);
  slots.add({});
  for (const MemoryTraits traits : {kSplit, kUnified}) {
    const SlotChoice choice = slots.choose(join(range(0, 200), range(2000, 10)), traits);
    EXPECT_EQ(choice.slot, 1) << "the other conversation keeps its history";
    EXPECT_EQ(choice.source, 0);
    EXPECT_EQ(choice.reused, 200);
  }
}

TEST(ChooseSlot, ABusySlotSharesItsBeginning) {
  Slots slots;
  slots.add(range(0, 90), true);
  slots.add({});
  const SlotChoice choice = slots.choose(range(0, 60), kUnified);
  EXPECT_EQ(choice.slot, 1);
  EXPECT_EQ(choice.source, 0);
  EXPECT_EQ(choice.reused, 59);
}

TEST(ChooseSlot, ACopyThatCostsMoreThanItSavesIsNotMade) {
  Slots slots;
  slots.add(range(0, 4), true);
  slots.add({});
  EXPECT_EQ(slots.choose(range(0, 60), kSplit).reused, 0);
  EXPECT_EQ(slots.choose(range(0, 60), kUnified).reused, 4);
}

TEST(ChooseSlot, BusySlotsStayNeighboursOnASplitBuffer) {
  Slots slots;
  slots.add({}, true);
  slots.add(range(100, 40), false, 9);
  slots.add({}, true);
  slots.add({});
  slots.add({});
  EXPECT_EQ(slots.choose(range(0, 50), kSplit).slot, 1) << "closing the gap is worth a short history";
  slots.histories[1] = range(100, 4000);
  EXPECT_EQ(slots.choose(range(0, 50), kSplit).slot, 3) << "a long one is not";
}

TEST(ChooseSlot, RecurrentMemoryIsUsedWholeOrNotAtAll) {
  Slots slots;
  slots.add(range(0, 50));
  EXPECT_EQ(slots.choose(range(0, 60), kRecurrent).reused, 50);
  EXPECT_EQ(slots.choose(range(0, 50), kRecurrent).reused, 0);
  EXPECT_EQ(slots.choose(join(range(0, 40), {999, 1000}), kRecurrent).reused, 0);
}

TEST(PlanStep, NothingToDo) {
  EXPECT_TRUE(plan({}).empty());
}

TEST(PlanStep, EveryDecodingSequenceGetsOneTokenInOrder) {
  EXPECT_EQ(plan({{5, 1, 1}, {2, 1, 2}, {9, 1, 3}}), (Shares{{2, 1}, {5, 1}, {9, 1}}));
}

TEST(PlanStep, AShortPromptIsDecodedAtOnce) {
  EXPECT_EQ(plan({{4, 2, 1}}), (Shares{{4, 2}}));
}

TEST(PlanStep, APromptAloneGetsWhatPromptsMayTake) {
  EXPECT_EQ(plan({{3, 100, 1}}), (Shares{{3, 16}}));
  EXPECT_EQ(plan({{3, 100, 1}}, {64, 1000}), (Shares{{3, 64}}));
  EXPECT_EQ(plan({{3, 10, 1}}), (Shares{{3, 10}}));
}

TEST(PlanStep, BesideDecodingAPromptGetsAChunk) {
  EXPECT_EQ(plan({{0, 1, 1}, {1, 100, 2}, {2, 1, 3}}), (Shares{{0, 1}, {1, 16}, {2, 1}}));
}

TEST(PlanStep, ALongPromptDelaysNoShortOne) {
  EXPECT_EQ(plan({{0, 1, 1}, {1, 1000, 2}, {2, 5, 3}}), (Shares{{0, 1}, {1, 11}, {2, 5}}));
  EXPECT_EQ(plan({{0, 1, 1}, {1, 1000, 2}, {2, 900, 3}, {3, 6, 4}}), (Shares{{0, 1}, {1, 8}, {2, 2}, {3, 6}}));
}

TEST(PlanStep, TheOldestPromptAlwaysMoves) {
  std::vector<PendingView> sequences{{0, 1000, 1}};
  for (int i = 1; i < 20; ++i) sequences.push_back({i, 2, static_cast<uint64_t>(i + 1)});
  const auto shares = plan(sequences);
  EXPECT_EQ(shares.front(), (std::pair<int, int>{0, 8}));
}

TEST(PlanStep, ABatchIsNeverExceeded) {
  std::vector<PendingView> sequences;
  for (int i = 0; i < 60; ++i) sequences.push_back({i, 1, static_cast<uint64_t>(i)});
  for (int i = 60; i < 64; ++i) sequences.push_back({i, 50, static_cast<uint64_t>(i)});
  int total = 0;
  for (const auto& [slot, tokens] : plan(sequences)) total += tokens;
  EXPECT_EQ(total, 64);
}

}  // namespace
}  // namespace quern
