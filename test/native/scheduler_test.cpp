#include "scheduler_fixture.hpp"

namespace quern {
namespace {

TEST_F(SchedulerTest, CountsOnFromThePrompt) {
  open(1);
  submit(1, {3, 4, 5}, 4);
  wait(1);
  EXPECT_EQ(outcomes_[1].tokens, (std::vector<Token>{6, 7, 8, 9}));
  EXPECT_EQ(finish(1), Finish::length);
  EXPECT_EQ(outcomes_[1].last.prompt_tokens, 3);
  EXPECT_EQ(outcomes_[1].last.generated_tokens, 4);
}

TEST_F(SchedulerTest, EndsAtTheEndToken) {
  open(1);
  submit(1, {95}, 20);
  wait(1);
  EXPECT_EQ(outcomes_[1].tokens, (std::vector<Token>{96, 97, 98}));
  EXPECT_EQ(finish(1), Finish::end_of_generation);
  EXPECT_EQ(outcomes_[1].last.token, -1);
}

TEST_F(SchedulerTest, ManyOnFewSlots) {
  open(3);
  for (int i = 0; i < 100; ++i) submit(i, std::vector<Token>(1 + i % 30, i % 50), 1 + i % 7);
  wait(100);
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(outcomes_[i].tokens.size(), 1u + i % 7) << i;
    EXPECT_EQ(outcomes_[i].tokens.front(), i % 50 + 1);
    EXPECT_EQ(finish(i), Finish::length);
  }
  EXPECT_EQ(scheduler_->stats().active, 0);
  EXPECT_EQ(scheduler_->stats().queued, 0);
}

TEST_F(SchedulerTest, AStateGoesOnInAnotherScheduler) {
  open(2);
  submit(1, {10, 11, 12}, 5);
  wait(1);
  const auto state = scheduler_->save_state({10, 11, 12, 13, 14}, 3);
  ASSERT_NE(state, nullptr);
  EXPECT_EQ(state->tokens, (std::vector<Token>{10, 11, 12, 13, 14, 15, 16}));
  EXPECT_EQ(scheduler_->save_state({50, 51}, 2), nullptr) << "nobody holds this";
  EXPECT_EQ(scheduler_->save_state({10, 11, 12, 70}, 4), nullptr) << "too little of it is held";
  EXPECT_EQ(scheduler_->restore_state(*state), StateOutcome::present);
  scheduler_->stop();
  outcomes_.clear();
  finished_ = 0;
  open(2);
  EXPECT_EQ(scheduler_->restore_state(*state), StateOutcome::restored);
  submit(2, {10, 11, 12, 13, 14, 40}, 2);
  wait(1);
  EXPECT_EQ(outcomes_[2].last.reused_tokens, 5);
  EXPECT_EQ(outcomes_[2].tokens, (std::vector<Token>{41, 42}));
}

TEST_F(SchedulerTest, AStateThatHasNoRoomIsLeftOut) {
  open(1);
  EXPECT_EQ(scheduler_->restore_state({}), StateOutcome::unfit);
  SequenceState longer;
  longer.tokens.assign(1000, 1);
  EXPECT_EQ(scheduler_->restore_state(longer), StateOutcome::unfit);
  scheduler_->stop();
  EXPECT_THROW(scheduler_->restore_state({{1, 2}, {}}), Failure);
  EXPECT_THROW(scheduler_->save_state({1, 2}, 1), Failure);
}

TEST_F(SchedulerTest, StatesAreCopiedBesideRunningAnswers) {
  open(3);
  submit(1, {1, 2, 3}, 50);
  for (int i = 0; i < 50; ++i) {
    const auto state = scheduler_->save_state({1, 2, 3}, 1);
    if (state) scheduler_->restore_state(*state);
  }
  wait(1);
  EXPECT_EQ(outcomes_[1].tokens.size(), 50u);
}

TEST_F(SchedulerTest, AnAbortInterruptsADecodeThatNobodyElseNeeds) {
  open(1);
  decoder_->endless = true;
  submit(1, {1, 2, 3}, 10);
  while (decoder_->decodes == 0) std::this_thread::yield();
  scheduler_->abort(1);
  wait(1);
  EXPECT_EQ(finish(1), Finish::aborted);
}

TEST_F(SchedulerTest, AnAbortEndsWhatRunsAndWhatWaits) {
  open(1);
  decoder_->hold = true;
  submit(1, {0}, 50);
  submit(2, {0}, 50);
  scheduler_->abort(2);
  scheduler_->abort(1);
  scheduler_->abort(1);
  scheduler_->abort(7);
  wait(2);
  EXPECT_EQ(finish(1), Finish::aborted);
  EXPECT_EQ(finish(2), Finish::aborted);
  submit(1, {0}, 2);
  finished_ = 0;
  outcomes_.clear();
  wait(1);
  EXPECT_EQ(finish(1), Finish::length) << "the id is free again, and an old abort does not hit it";
}

TEST_F(SchedulerTest, ADeterministicTextIsMadeByTheSameStepsWhateverElseRuns) {
  context_size_ = 400;
  open(3);
  const std::vector<Token> prompt(300, 1);
  submit(1, prompt, 4, true);
  wait(1);
  for (int i = 10; i < 22; ++i) submit(i, std::vector<Token>(200, 1), 50);
  submit(2, prompt, 4, true);
  wait(14);
  submit(3, prompt, 4, true);
  wait(15);
  scheduler_->stop();
  const std::vector<int> once{64, 64, 64, 64, 44, 1, 1, 1};
  std::vector<int> thrice;
  for (int i = 0; i < 3; ++i) thrice.insert(thrice.end(), once.begin(), once.end());
  EXPECT_EQ(lone_steps(), thrice);
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(outcomes_[i].tokens, (std::vector<Token>{2, 3, 4, 5}));
    EXPECT_EQ(outcomes_[i].last.reused_tokens, 0);
  }
}

TEST_F(SchedulerTest, DeterministicTextsAreMadeOneAfterTheOtherBesideOthers) {
  open(1);
  decoder_->hold = true;
  submit(1, {0}, 50);
  for (int i = 2; i < 6; ++i) submit(i, std::vector<Token>(10, i), 3, true);
  scheduler_->abort(4);
  wait(4);
  EXPECT_EQ(outcomes_[1].last.finish, 0) << "the other still goes on";
  wait(5);
  for (const int i : {2, 3, 5}) EXPECT_EQ(outcomes_[i].tokens, (std::vector<Token>{i + 1, i + 2, i + 3}));
  EXPECT_EQ(finish(4), Finish::aborted);
  EXPECT_EQ(finish(1), Finish::length);
}

TEST_F(SchedulerTest, ADeterministicTextWithoutRoomFailsAlone) {
  open(1);
  decoder_->has_room = false;
  submit(1, {1}, 3, true);
  submit(2, {1}, 3);
  wait(2);
  EXPECT_EQ(finish(1), Finish::failed);
  EXPECT_EQ(outcomes_[1].error, "no room");
  EXPECT_EQ(finish(2), Finish::length);
  decoder_->has_room = true;
  submit(3, {1}, 3, true);
  wait(3);
  EXPECT_EQ(finish(3), Finish::length);
}

TEST_F(SchedulerTest, ALongPromptKeepsRunningAnswersWithinTheGap) {
  ends_ = false;
  context_size_ = 9000;
  batch_ = 2048;
  open(3);
  submit(1, {0, 0}, 8000);
  submit(2, {50, 0}, 8000);
  while (outcomes_[1].tokens.size() < 20) take();
  submit(3, std::vector<Token>(8000, 1), 1);
  while (outcomes_[3].tokens.empty()) take();
  scheduler_->stop();
  take();
  double reading = 0;
  int steps = 0;
  for (const Step& step : ledger_.steps) {
    if (step.tokens == step.written) continue;
    EXPECT_TRUE(step.written == 0 || step.ms <= kGapMs * 1.05) << step.ms;
    reading += step.ms;
    ++steps;
  }
  EXPECT_LE(reading, 1.1 * 8000 * 0.5);
  EXPECT_LE(steps, 55) << "prompts use the room that there is";
}

TEST_F(SchedulerTest, ALongPromptTellsHowFarItIs) {
  context_size_ = 9000;
  batch_ = 2048;
  open(2);
  submit(1, std::vector<Token>(8000, 1), 2);
  submit(2, {1, 2, 3}, 2, true);
  wait(2);
  const std::vector<int>& progress = outcomes_[1].progress;
  EXPECT_GE(progress.size(), 5u);
  EXPECT_LE(progress.size(), 9u) << "not more often than twice a second";
  EXPECT_TRUE(std::is_sorted(progress.begin(), progress.end()));
  EXPECT_LT(progress.back(), 8000);
  EXPECT_TRUE(outcomes_[2].progress.empty());
  EXPECT_EQ(outcomes_[1].last.read_tokens, 8001);
}

TEST_F(SchedulerTest, AFailedDecodeEndsItsBatchOnly) {
  open(2);
  decoder_->fail_at = 2;
  submit(1, {1, 2}, 5);
  wait(1);
  EXPECT_EQ(finish(1), Finish::failed);
  EXPECT_EQ(outcomes_[1].error, "scripted");
  decoder_->throw_at = decoder_->decodes + 1;
  submit(2, {1, 2}, 5);
  wait(2);
  EXPECT_EQ(outcomes_[2].error, "thrown");
  submit(3, {1, 2}, 5);
  wait(3);
  EXPECT_EQ(outcomes_[3].tokens, (std::vector<Token>{3, 4, 5, 6, 7}));
  EXPECT_EQ(outcomes_[3].last.reused_tokens, 0) << "nothing of a failed slot is used";
}

TEST_F(SchedulerTest, AFullContextEndsTheText) {
  open(1);
  submit(1, std::vector<Token>(58, 1), 50);
  wait(1);
  EXPECT_EQ(finish(1), Finish::length);
  EXPECT_EQ(outcomes_[1].tokens.size(), 3u);
}

TEST_F(SchedulerTest, TooFewCellsMakeSequencesWaitButLoseNone) {
  open(4, {.unified = true}, 60);
  for (int i = 0; i < 12; ++i) submit(i, std::vector<Token>(20, i), 20);
  wait(12);
  for (int i = 0; i < 12; ++i) {
    std::vector<Token> expected(20);
    for (int k = 0; k < 20; ++k) expected[k] = i + 1 + k;
    EXPECT_EQ(outcomes_[i].tokens, expected) << i;
    EXPECT_EQ(outcomes_[i].last.prompt_tokens, 20);
  }
}

TEST_F(SchedulerTest, APromptThatNeverFitsFails) {
  open(2, {.unified = true}, 30);
  submit(1, std::vector<Token>(50, 1), 5);
  submit(2, {5, 6}, 2);
  wait(2);
  EXPECT_EQ(finish(1), Finish::failed);
  EXPECT_NE(outcomes_[1].error.find("KV cells"), std::string::npos);
  EXPECT_EQ(finish(2), Finish::length);
}

TEST_F(SchedulerTest, TheQueueIsBoundedAndIdsAreUnique) {
  open(1);
  decoder_->hold = true;
  submit(0, {0}, 50);
  EXPECT_THROW(submit(0, {0}, 50), Failure);
  int taken = 1;
  std::string kind;
  for (int i = 1; i < 1100 && kind.empty(); ++i) {
    try {
      submit(i, {0}, 50);
      ++taken;
    } catch (const Failure& failure) {
      kind = failure.kind();
    }
  }
  EXPECT_EQ(kind, "busy");
  EXPECT_GE(taken, 1024);
}

TEST_F(SchedulerTest, StopEndsEverythingAndRefusesMore) {
  open(2);
  decoder_->hold = true;
  for (int i = 0; i < 10; ++i) submit(i, {0}, 50);
  scheduler_->stop();
  scheduler_->stop();
  take();
  EXPECT_EQ(finished_, 10);
  EXPECT_THROW(submit(11, {0}, 50), Failure);
  scheduler_->abort(3);
}

TEST_F(SchedulerTest, RowsPileUpInOneFrame) {
  open(1);
  submit(1, {0}, 40);
  // One look at both: between two, the first step may come.
  for (SchedulerStats stats = scheduler_->stats(); stats.active > 0 || stats.steps == 0; stats = scheduler_->stats())
    std::this_thread::yield();
  scheduler_->stop();
  EXPECT_EQ(notified_, 1) << "nobody took the rows, so one call is enough";
  take();
  EXPECT_EQ(outcomes_[1].tokens.size(), 40u);
}

}  // namespace
}  // namespace quern
