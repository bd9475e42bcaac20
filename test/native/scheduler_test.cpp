#include "inference/scheduler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <set>

#include "inference/failure.hpp"

namespace quern {
namespace {

constexpr int kVocabulary = 100;
constexpr Token kEnd = 99;

/// A step of an engine.
struct Step {
  int tokens;
  int written;  ///< sequences that got one token
  bool lone;
  double ms;
};

/// What engines did, and the clock of the machine that they run on. Read when the scheduler is stopped.
struct Ledger {
  std::vector<Step> steps;
  double now_ms = 0;
};

/// An engine without a model: the next token is the last one plus one. It checks that what it is given fits together.
class CountingDecoder : public Decoder {
 public:
  CountingDecoder(int slots, int cells, Ledger& ledger, bool lone = false)
      : texts_(slots), cells_(cells), ledger_(ledger), lone_(lone) {}

  DecodeResult decode(std::span<const BatchToken> batch) override {
    ++decodes;
    if (hold) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    while (endless && !interrupted_) std::this_thread::yield();
    if (fail_at == decodes) return DecodeResult::failed;
    if (throw_at == decodes) throw std::runtime_error("thrown");
    if (interrupted_) return DecodeResult::aborted;
    size_t used = batch.size();
    for (const auto& text : texts_) used += text.size();
    if (used > static_cast<size_t>(cells_)) return DecodeResult::no_room;
    const auto tokens = static_cast<int>(batch.size());
    std::map<int, int> of_slot;
    for (const BatchToken& token : batch) ++of_slot[token.slot];
    const auto written =
        static_cast<int>(std::count_if(of_slot.begin(), of_slot.end(), [](const auto& s) { return s.second == 1; }));
    const double ms = 2 + 0.5 * tokens;
    ledger_.now_ms += ms;
    ledger_.steps.push_back({tokens, written, lone_, ms});
    outputs_.assign(batch.size(), -1);
    int before = 0;
    for (size_t i = 0; i < batch.size(); ++i) {
      auto& text = texts_[batch[i].slot];
      if (batch[i].slot < before || batch[i].position != static_cast<int>(text.size())) ++violations;
      before = batch[i].slot;
      text.push_back(batch[i].token);
      if (batch[i].output) outputs_[i] = (batch[i].token + 1) % kVocabulary;
    }
    return DecodeResult::done;
  }
  std::span<float> logits(size_t index) override {
    if (outputs_[index] < 0) ++violations;
    logits_.assign(kVocabulary, 0);
    logits_[outputs_[index]] = 10;
    return logits_;
  }
  bool trim(int slot, int length) override {
    texts_[slot].resize(length);
    return true;
  }
  void share(int from, int to, int length) override {
    if (!texts_[to].empty() || static_cast<int>(texts_[from].size()) < length) ++violations;
    texts_[to].assign(texts_[from].begin(), texts_[from].begin() + length);
  }
  void clear(int slot) override { texts_[slot].clear(); }
  int stored(int slot) override { return static_cast<int>(texts_[slot].size()); }
  std::vector<uint8_t> save(int slot) override {
    std::vector<uint8_t> state(texts_[slot].size() * sizeof(Token));
    if (!state.empty()) std::memcpy(state.data(), texts_[slot].data(), state.size());
    return state;
  }
  bool restore(int slot, std::span<const uint8_t> state) override {
    if (!texts_[slot].empty()) ++violations;
    size_t used = state.size() / sizeof(Token);
    for (const auto& text : texts_) used += text.size();
    if (used > static_cast<size_t>(cells_)) return false;
    texts_[slot].resize(state.size() / sizeof(Token));
    if (!state.empty()) std::memcpy(texts_[slot].data(), state.data(), state.size());
    return true;
  }
  void interrupt(bool on) override { interrupted_ = on; }
  std::unique_ptr<Decoder> apart() const override {
    if (!has_room) throw Failure("model_failed", "no room");
    return std::make_unique<CountingDecoder>(1, cells_, ledger_, true);
  }
  std::string error() override { return "scripted"; }

  std::atomic<int> decodes{0};
  std::atomic<int> violations{0};
  std::atomic<bool> hold{false};
  /// A decode ends only when it is interrupted.
  std::atomic<bool> endless{false};
  std::atomic<bool> has_room{true};
  int fail_at = -1;
  int throw_at = -1;

 private:
  std::vector<std::vector<Token>> texts_;
  int cells_;
  Ledger& ledger_;
  bool lone_;
  std::atomic<bool> interrupted_{false};
  std::vector<Token> outputs_;
  std::vector<float> logits_;
};

struct Outcome {
  std::vector<Token> tokens;
  std::vector<int> progress;
  StepRow last;
  std::string error;
};

/// A scheduler over the counting engine, and everything that it reported.
class SchedulerTest : public testing::Test {
 protected:
  void open(int slots, MemoryTraits traits = {.share_cost = 1}, int cells = 1 << 20) {
    auto decoder = std::make_unique<CountingDecoder>(slots, cells, ledger_);
    decoder_ = decoder.get();
    const SchedulerOptions options{.context_size = context_size_, .slots = slots, .batch = batch_, .ubatch = 16};
    SchedulerParts parts{.decoder = std::move(decoder), .traits = traits};
    parts.ends_generation = [this](Token token) { return ends_ && token == kEnd; };
    parts.notify = [this] { ++notified_; };
    parts.now_ms = [this] { return ledger_.now_ms; };
    scheduler_ = std::make_unique<Scheduler>(std::move(parts), options);
  }

  void submit(int id, std::vector<Token> prompt, int max_tokens, bool deterministic = false) {
    scheduler_->submit(id, std::move(prompt), {.max_tokens = max_tokens, .deterministic = deterministic}, nullptr);
  }

  /// Sizes of the steps of the lone slot.
  std::vector<int> lone_steps() const {
    std::vector<int> sizes;
    for (const Step& step : ledger_.steps)
      if (step.lone) sizes.push_back(step.tokens);
    return sizes;
  }

  void take() {
    StepFrame frame;
    scheduler_->take(frame);
    for (const StepRow& row : frame.rows) {
      Outcome& outcome = outcomes_[row.id];
      EXPECT_EQ(outcome.last.finish, 0) << "a row after the last one";
      if (row.token >= 0) outcome.tokens.push_back(row.token);
      if (row.token < 0 && row.finish == 0) outcome.progress.push_back(row.read_tokens);
      outcome.last = row;
      if (row.finish != 0) outcome.error = frame.error;
      finished_ += row.finish != 0;
    }
  }

  /// Waits until so many generations have ended; the test runner's own limit ends a hang.
  void wait(int finished) {
    while (finished_ < finished) {
      take();
      std::this_thread::yield();
    }
  }

  Finish finish(int id) { return static_cast<Finish>(outcomes_[id].last.finish); }

  void TearDown() override {
    if (!scheduler_) return;
    scheduler_->stop();
    EXPECT_EQ(decoder_->violations, 0);
  }

  Ledger ledger_;
  int context_size_ = 60;
  int batch_ = 64;
  bool ends_ = true;
  CountingDecoder* decoder_ = nullptr;
  std::unique_ptr<Scheduler> scheduler_;
  std::map<int, Outcome> outcomes_;
  int finished_ = 0;
  std::atomic<int> notified_{0};
};

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
