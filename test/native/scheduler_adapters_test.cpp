#include "scheduler_fixture.hpp"

namespace quern {
namespace {

TEST_F(SchedulerTest, SetsOfAdaptersNeverShareAStepOrABeginning) {
  for (const bool unified : {false, true}) {
    open(6, {.unified = unified, .share_cost = 1});
    const int32_t one = scheduler_->load_adapter("one");
    const int32_t two = scheduler_->load_adapter("two");
    const std::vector<Token> prompt{10, 11, 12, 13, 14, 15};
    const std::vector<AdapterSet> sets{{}, {{one, 1}}, {{one, 2}}, {{two, 1}}, {{one, 1}, {two, 2}}};
    const std::vector<int> added{0, 1, 2, 1, 3};
    for (int round = 0; round < 3; ++round)
      for (size_t i = 0; i < sets.size(); ++i) submit_adapted(round * 10 + i, prompt, sets[i], round == 2);
    wait(15);
    for (int round = 0; round < 3; ++round) {
      for (size_t i = 0; i < sets.size(); ++i) {
        const int by = added[i] + 1;
        EXPECT_EQ(outcomes_[round * 10 + i].tokens,
                  (std::vector<Token>{15 + by, 15 + 2 * by, 15 + 3 * by, 15 + 4 * by}));
      }
    }
    // Each set finds its own beginning again, whatever another set has read.
    for (size_t i = 0; i < sets.size(); ++i) {
      for (int turn = 0; turn < 2; ++turn) {
        const int id = 100 + 2 * static_cast<int>(i) + turn;
        submit_adapted(id, prompt, sets[i]);
        wait(16 + 2 * static_cast<int>(i) + turn);
        if (turn == 1) EXPECT_EQ(outcomes_[id].last.reused_tokens, 5) << i;
      }
    }
    TearDown();
    outcomes_.clear();
    finished_ = 0;
  }
}

TEST_F(SchedulerTest, NoSetOfAdaptersWaitsForAnother) {
  open(4);
  ends_ = false;
  const int32_t one = scheduler_->load_adapter("one");
  decoder_->hold = true;
  submit(1, {1, 2, 3}, 50);
  submit(2, {4, 5, 6}, 50);
  submit_adapted(3, {1, 2, 3}, {{one, 1}});
  wait(1);
  EXPECT_EQ(outcomes_[3].tokens, (std::vector<Token>{5, 7, 9, 11}));
  EXPECT_LT(outcomes_[1].tokens.size(), 20u) << "the sets take turns";
  wait(3);
  EXPECT_EQ(outcomes_[1].tokens.size(), 50u);
}

TEST_F(SchedulerTest, AStateBelongsToItsAdapters) {
  open(2);
  const int32_t one = scheduler_->load_adapter("one");
  submit_adapted(1, {10, 11, 12}, {{one, 1}});
  wait(1);
  EXPECT_EQ(scheduler_->save_state({10, 11, 12}, 1), nullptr) << "the weights alone never read this";
  EXPECT_EQ(scheduler_->save_state({10, 11, 12}, 1, {{one, 2}}), nullptr);
  const auto state = scheduler_->save_state({10, 11, 12}, 1, {{one, 1}});
  ASSERT_NE(state, nullptr);
  EXPECT_EQ(scheduler_->restore_state(*state, {{one, 1}}), StateOutcome::present);
  scheduler_->drop_adapter(one);
  const int32_t again = scheduler_->load_adapter("one");
  EXPECT_NE(again, one);
  decoder_->saved_set = {{again, 1}};
  EXPECT_EQ(scheduler_->restore_state(*state, {{again, 1}}), StateOutcome::restored);
  submit(2, {10, 11, 12, 14}, 1);
  submit_adapted(3, {10, 11, 12, 14}, {{again, 1}});
  wait(3);
  EXPECT_EQ(outcomes_[2].last.reused_tokens, 0);
  EXPECT_EQ(outcomes_[3].last.reused_tokens, 3);
}

TEST_F(SchedulerTest, ADroppedAdapterFailsOnlyWhoNamesIt) {
  open(2);
  const int32_t one = scheduler_->load_adapter("one");
  EXPECT_THROW(scheduler_->load_adapter("bad"), Failure);
  submit_adapted(1, {10, 11, 12}, {{one, 1}});
  submit_adapted(2, {20, 21, 22}, {{one, 1}}, true);
  wait(2);
  EXPECT_GT(scheduler_->stats().kv_used, 0u);
  scheduler_->drop_adapter(one);
  submit_adapted(3, {10, 11, 12}, {{one, 1}});
  submit_adapted(4, {10, 11, 12}, {{one, 1}}, true);
  submit(5, {30, 31}, 2);
  wait(5);
  EXPECT_EQ(finish(3), Finish::failed);
  EXPECT_EQ(finish(4), Finish::failed);
  EXPECT_EQ(outcomes_[3].last.reused_tokens, 0) << "what it had read went with it";
  EXPECT_EQ(outcomes_[5].tokens, (std::vector<Token>{32, 33}));
}

TEST_F(SchedulerTest, WhatABadAdapterLeavesBehindFailsNobodyElse) {
  open(3);
  ends_ = false;
  const int32_t one = scheduler_->load_adapter("one");
  decoder_->hold = true;
  submit(1, {1, 2, 3}, 40);
  submit(2, {11, 12, 13}, 40);
  while (scheduler_->stats().decoded_tokens < 4) std::this_thread::yield();
  submit_adapted(3, {1, 2, 3}, {{one, kSpoils}});
  submit_adapted(4, {21, 22, 23}, {{one, kSpoils}}, true);
  submit(5, {31, 32}, 2, true);
  wait(5);
  EXPECT_EQ(finish(3), Finish::failed);
  EXPECT_EQ(finish(4), Finish::failed);
  EXPECT_EQ(outcomes_[5].tokens, (std::vector<Token>{33, 34}));
  for (const int id : {1, 2}) {
    ASSERT_EQ(outcomes_[id].tokens.size(), 40u) << id;
    for (int i = 0; i < 40; ++i) EXPECT_EQ(outcomes_[id].tokens[i], (id == 1 ? 4 : 14) + i);
  }
  EXPECT_GE(decoder_->wipes, 1);
  submit(6, {1, 2, 3}, 2);
  wait(6);
  EXPECT_EQ(outcomes_[6].tokens, (std::vector<Token>{4, 5}));
}

}  // namespace
}  // namespace quern
