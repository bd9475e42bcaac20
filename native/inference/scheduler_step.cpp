// One step of the scheduler: plan, decode, sample, and what to do when decoding does not work out.
#include <algorithm>
#include <cmath>
#include <exception>
#include <tuple>

#include "../base/failure.hpp"
#include "scheduler.hpp"

namespace quern {
namespace {

constexpr const char* kNoCells =
    "The prompt needs more KV cells than the context has; shorten it or load the model with a larger context.";

constexpr const char* kNoNumbers =
    "The model computes no numbers with these adapters (NaN or infinity): one is damaged, or its scale is too large.";

bool has_numbers(std::span<const float> logits) {
  return std::any_of(logits.begin(), logits.end(), [](float value) { return std::isfinite(value); });
}

/// Most times that a text is read again because of what others left behind.
constexpr int kMostRestarts = 3;

}  // namespace

void Scheduler::step() {
  plan();
  const double started = now_ms_();
  if (run(*decoder_)) pace_.observe(writing_, static_cast<int>(batch_.size()) - writing_, now_ms_() - started);
}

void Scheduler::admit_lone() {
  Slot& slot = slots_.back();
  if (slot.active || waiting_lone_.empty()) return;
  slot.active = std::move(waiting_lone_.front());
  waiting_lone_.pop_front();
  slot.active->slot = options_.slots;
  slot.active->reused = 0;
  slot.active->told_ms = now_ms_();
  try {
    if (!lone_) lone_ = decoder_->apart();
    if (lone_spoilt_) lone_->wipe();
    lone_spoilt_ = !slot.active->adapters.empty();
    clear(options_.slots);
  } catch (const std::exception& error) {
    error_ = error.what();
    finish(options_.slots, Finish::failed);
  }
}

void Scheduler::lone_step() {
  const Slot& slot = slots_.back();
  if (!slot.active) return;
  const auto left = static_cast<int>(slot.active->tokens.size() - slot.history.size());
  // Sizes that follow from the prompt and the options alone: others would be added up in another order.
  shares_ = {{options_.slots, std::min({left, kApartTokens, options_.batch})}};
  fill_batch();
  run(*lone_);
}

bool Scheduler::run(Decoder& decoder) {
  if (batch_.empty()) return false;
  try {
    decoder.adapt(slots_[shares_.front().slot].active->adapters);
  } catch (const std::exception& error) {
    fail_batch(error.what());
    return false;
  }
  if (!is_lone(shares_.front().slot) && !slots_[shares_.front().slot].adapters.empty()) may_be_spoilt_ = true;
  begin_batch(decoder);
  ++counters_.steps;
  for (const Share& share : shares_) slots_[share.slot].active->stepped = counters_.steps;
  const DecodeResult result = decoder.decode(batch_);
  {
    const std::lock_guard lock(mutex_);
    batch_ids_.clear();
  }
  switch (result) {
    case DecodeResult::done:
      advance(decoder);
      if (wipe_wanted_) wipe();
      break;
    case DecodeResult::no_room:
      is_lone(shares_.front().slot) ? fail_batch(kNoCells) : make_room();
      break;
    case DecodeResult::aborted:
      after_abort();
      break;
    case DecodeResult::failed:
      fail_batch(decoder.error());
      break;
  }
  return result == DecodeResult::done;
}

const Sequence* Scheduler::next_in_turn() const {
  const Sequence* next = nullptr;
  for (int i = 0; i < options_.slots; ++i) {
    const Sequence* one = slots_[i].active.get();
    if (one == nullptr || one->leader >= 0) continue;
    if (next == nullptr || std::tie(one->stepped, one->admitted) < std::tie(next->stepped, next->admitted)) next = one;
  }
  return next;
}

void Scheduler::plan() {
  for (int i = 0; i < options_.slots; ++i)
    if (slots_[i].active && slots_[i].active->leader >= 0) follow(slots_[i]);
  const Sequence* next = next_in_turn();
  std::vector<PendingView> pending;
  for (int i = 0; i < options_.slots; ++i) {
    const Slot& slot = slots_[i];
    if (!slot.active || slot.active->leader >= 0 || slot.adapters != next->adapters) continue;
    const auto left = static_cast<int>(slot.active->tokens.size() - slot.history.size());
    pending.push_back({i, left, slot.active->admitted});
  }
  writing_ =
      static_cast<int>(std::count_if(pending.begin(), pending.end(), [](const auto& p) { return p.pending == 1; }));
  const Sequence* lone = slots_.back().active.get();
  const int readers = writing_ + (lone != nullptr && lone->generated > 0 ? 1 : 0);
  shares_ = plan_step(pending, {options_.batch, pace_.prompt_tokens(readers)});
  fill_batch();
}

void Scheduler::fill_batch() {
  batch_.clear();
  for (const Share& share : shares_) {
    const Slot& slot = slots_[share.slot];
    const size_t from = slot.history.size();
    const int place = is_lone(share.slot) ? 0 : share.slot;
    const size_t end = from + share.tokens;
    const bool whole = end == slot.active->tokens.size();
    // The last token of a piece sees all before it, so that it tells whether adapters compute numbers.
    const bool asked = whole || !slot.active->adapters.empty();
    for (size_t i = from; i < end; ++i)
      batch_.push_back({slot.active->tokens[i], static_cast<int32_t>(i), place, asked && i + 1 == end});
  }
}

void Scheduler::begin_batch(Decoder& decoder) {
  const std::lock_guard lock(mutex_);
  current_ = &decoder;
  batch_ids_.clear();
  for (const Share& share : shares_) batch_ids_.insert(slots_[share.slot].active->id);
  for (const int32_t id : aborting_) batch_ids_.erase(id);
  decoder.interrupt(stopping_ || batch_ids_.empty());
}

void Scheduler::advance(Decoder& decoder) {
  size_t at = 0;
  for (const Share& share : shares_) {
    Slot& slot = slots_[share.slot];
    const auto from = slot.active->tokens.begin() + slot.history.size();
    slot.history.insert(slot.history.end(), from, from + share.tokens);
    at += share.tokens;
    (slot.active->generated > 0 && share.tokens == 1 ? counters_.decoded_tokens : counters_.prefilled_tokens) +=
        share.tokens;
    if (slot.history.size() == slot.active->tokens.size())
      sample(decoder, share.slot, at - 1);
    else if (batch_[at - 1].output && !has_numbers(decoder.logits(at - 1)))
      fail_spoilt(share.slot, kNoNumbers);
    else
      tell_progress(*slot.active);
  }
}

void Scheduler::sample(Decoder& decoder, int index, size_t output) {
  Sequence& sequence = *slots_[index].active;
  if (sequence.generated >= sequence.max_tokens) return finish(index, Finish::length);
  try {
    const std::span<float> logits = decoder.logits(output);
    const Token token = sequence.sampler.choose(logits);
    if (ends_generation_(token)) return finish(index, Finish::end_of_generation);
    int32_t offset = -1;
    if (sequence.sampler.wants_logprobs()) {
      offset = static_cast<int32_t>(logprobs_.size());
      sequence.sampler.report(logits, token, logprobs_);
    }
    sequence.sampler.accept(token);
    sequence.tokens.push_back(token);
    ++sequence.generated;
    const bool full = static_cast<int>(sequence.tokens.size()) > options_.context_size;
    if (full || sequence.generated >= sequence.max_tokens) return finish(index, Finish::length, token, offset);
    row(sequence, Finish::none, token, offset);
  } catch (const NoProbabilities& error) {
    // Attention multiplies cells of other texts by 0, and those of a bad adapter may hold what times 0 is no number: a
    // text of the weights alone is read again on clean memory.
    const bool again = may_be_spoilt_ && !is_lone(index) && sequence.adapters.empty();
    if (again && sequence.restarts++ < kMostRestarts)
      wipe_wanted_ = true;
    else
      fail_spoilt(index, error.what());
  } catch (const std::exception& error) {
    error_ = error.what();
    finish(index, Finish::failed);
  }
}

void Scheduler::fail_spoilt(int index, const std::string& text) {
  wipe_wanted_ |= may_be_spoilt_ && !is_lone(index);
  error_ = text;
  finish(index, Finish::failed);
  clear(index);
}

bool Scheduler::drop_oldest_history() {
  int oldest = -1;
  for (int i = 0; i < options_.slots; ++i) {
    if (slots_[i].active || slots_[i].history.empty()) continue;
    if (oldest < 0 || slots_[i].last_used < slots_[oldest].last_used) oldest = i;
  }
  if (oldest >= 0) clear(oldest);
  return oldest >= 0;
}

void Scheduler::make_room() {
  // Histories that nobody uses go first; the step is then tried again.
  if (drop_oldest_history()) return;
  int youngest = -1;
  for (int i = 0; i < options_.slots; ++i) {
    if (!slots_[i].active) continue;
    if (youngest < 0 || slots_[i].active->admitted > slots_[youngest].active->admitted) youngest = i;
  }
  if (active_count() > 1) {
    requeue(youngest);
    admission_held_ = true;
    return;
  }
  const bool started = slots_[youngest].active->generated > 0;
  if (!started) error_ = kNoCells;
  finish(youngest, started ? Finish::length : Finish::failed);
  clear(youngest);
}

void Scheduler::requeue(int index) {
  Slot& slot = slots_[index];
  slot.active->leader = -1;
  slot.active->slot = -1;
  waiting_.push_front(std::move(slot.active));
  clear(index);
}

void Scheduler::wipe() {
  std::vector<int> running;
  for (int i = 0; i < options_.slots; ++i)
    if (slots_[i].active) running.push_back(i);
  // The oldest comes to the front last.
  std::sort(running.begin(), running.end(),
            [this](int a, int b) { return slots_[a].active->admitted > slots_[b].active->admitted; });
  for (const int index : running) requeue(index);
  for (int i = 0; i < options_.slots; ++i) slots_[i].history.clear();
  decoder_->wipe();
  may_be_spoilt_ = wipe_wanted_ = false;
}

void Scheduler::after_abort() {
  for (const Share& share : shares_) {
    Slot& slot = slots_[share.slot];
    // Recurrent state cannot be cut back to a known place, and a deterministic text takes no other steps than before.
    if (!traits_.trimmable || is_lone(share.slot)) {
      clear(share.slot);
      continue;
    }
    const auto stored = std::min<size_t>(decoder_->stored(share.slot), slot.active->tokens.size());
    slot.history.assign(slot.active->tokens.begin(), slot.active->tokens.begin() + stored);
  }
}

void Scheduler::fail_batch(const std::string& text) {
  error_ = text;
  for (const Share& share : shares_) {
    finish(share.slot, Finish::failed);
    clear(share.slot);
  }
}

void Scheduler::fail_all(const std::string& text) {
  error_ = text;
  for (int i = 0; i < static_cast<int>(slots_.size()); ++i) {
    if (slots_[i].active) finish(i, Finish::failed);
    clear(i);
  }
}

}  // namespace quern
