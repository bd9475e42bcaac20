#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <set>

#include "base/failure.hpp"
#include "inference/scheduler.hpp"

namespace quern {

inline constexpr int kVocabulary = 100;
inline constexpr Token kEnd = 99;
/// An adapter of this scale spoils the memory of its engine.
inline constexpr int kSpoils = 50;

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
      : texts_(slots), sets_(slots), cells_(cells), ledger_(ledger), lone_(lone) {}

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
    if (added() == kSpoils) spoilt_ = true;
    outputs_.assign(batch.size(), -1);
    int before = 0;
    for (size_t i = 0; i < batch.size(); ++i) {
      auto& text = texts_[batch[i].slot];
      if (batch[i].slot < before || batch[i].position != static_cast<int>(text.size())) ++violations;
      before = batch[i].slot;
      if (!text.empty() && sets_[batch[i].slot] != adapted_) ++violations;
      sets_[batch[i].slot] = adapted_;
      text.push_back(batch[i].token);
      if (batch[i].output) outputs_[i] = (batch[i].token + 1 + added()) % kVocabulary;
    }
    return DecodeResult::done;
  }
  std::span<float> logits(size_t index) override {
    if (outputs_[index] < 0) ++violations;
    logits_.assign(kVocabulary, spoilt_ ? std::numeric_limits<float>::quiet_NaN() : 0);
    if (spoilt_) return logits_;
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
    sets_[to] = sets_[from];
  }
  void clear(int slot) override { texts_[slot].clear(); }
  void wipe() override {
    for (auto& text : texts_) text.clear();
    spoilt_ = false;
    ++wipes;
  }
  int stored(int slot) override { return static_cast<int>(texts_[slot].size()); }
  std::vector<uint8_t> save(int slot) override {
    saved_set = sets_[slot];
    std::vector<uint8_t> state(texts_[slot].size() * sizeof(Token));
    if (!state.empty()) std::memcpy(state.data(), texts_[slot].data(), state.size());
    return state;
  }
  bool restore(int slot, std::span<const uint8_t> state) override {
    if (!texts_[slot].empty()) ++violations;
    size_t used = state.size() / sizeof(Token);
    for (const auto& text : texts_) used += text.size();
    if (used > static_cast<size_t>(cells_)) return false;
    sets_[slot] = saved_set;
    texts_[slot].resize(state.size() / sizeof(Token));
    if (!state.empty()) std::memcpy(texts_[slot].data(), state.data(), state.size());
    return true;
  }
  void interrupt(bool on) override { interrupted_ = on; }
  std::unique_ptr<Decoder> apart() const override {
    if (!has_room) throw Failure("model_failed", "no room");
    auto lone = std::make_unique<CountingDecoder>(1, cells_, ledger_, true);
    lone->adapters_ = adapters_;
    return lone;
  }
  /// An adapter adds its scale to the next token.
  void load_adapter(int32_t id, const std::string& path) override {
    if (path == "bad") throw Failure("invalid", "scripted");
    (*adapters_).insert(id);
  }
  void drop_adapter(int32_t id) override {
    for (const AdapterUse& use : adapted_) violations += use.id == id ? 1 : 0;
    (*adapters_).erase(id);
  }
  void adapt(const AdapterSet& adapters) override {
    for (const AdapterUse& use : adapters)
      if (!(*adapters_).contains(use.id)) throw Failure("unavailable", "no adapter");
    adapted_ = adapters;
  }
  std::string error() override { return "scripted"; }

  std::atomic<int> decodes{0};
  std::atomic<int> violations{0};
  std::atomic<bool> hold{false};
  /// A decode ends only when it is interrupted.
  std::atomic<bool> endless{false};
  std::atomic<bool> has_room{true};
  std::atomic<int> wipes{0};
  AdapterSet saved_set;
  int fail_at = -1;
  int throw_at = -1;

 private:
  int added() const {
    float sum = 0;
    for (const AdapterUse& use : adapted_) sum += use.scale;
    return static_cast<int>(sum);
  }

  std::vector<std::vector<Token>> texts_;
  std::vector<AdapterSet> sets_;  ///< that the texts were read with
  std::shared_ptr<std::set<int32_t>> adapters_ = std::make_shared<std::set<int32_t>>();
  AdapterSet adapted_;
  bool spoilt_ = false;  ///< no text has probabilities
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

  void submit_adapted(int id, std::vector<Token> prompt, AdapterSet adapters, bool deterministic = false) {
    scheduler_->submit(id, std::move(prompt),
                       {.max_tokens = 4, .deterministic = deterministic, .adapters = std::move(adapters)}, nullptr);
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

}  // namespace quern
