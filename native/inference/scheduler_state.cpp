// What the worker does between two steps: copies of sequence states, taken and put back, and adapters.
#include <algorithm>
#include <future>
#include <utility>

#include "../base/failure.hpp"
#include "scheduler.hpp"

namespace quern {

void Scheduler::between_steps(std::function<void()> errand) {
  std::packaged_task<void()> task(std::move(errand));
  std::future<void> done = task.get_future();
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) throw Failure("unavailable", "The model is closed.");
    if (errands_.size() >= kErrandLimit)
      throw Failure("busy", "Too many states of this model are being saved or restored (" +
                                std::to_string(kErrandLimit) + "); try again later.");
    errands_.push_back(std::move(task));
  }
  wake_.notify_one();
  try {
    done.get();
  } catch (const std::future_error&) {
    throw Failure("unavailable", "The model was closed.");
  }
}

std::shared_ptr<const SequenceState> Scheduler::save_state(const std::vector<Token>& tokens, size_t least,
                                                           const AdapterSet& adapters) {
  std::shared_ptr<SequenceState> state;
  between_steps([&] {
    int best = -1;
    size_t most = 0;
    for (int i = 0; i < options_.slots; ++i) {
      if (slots_[i].adapters != adapters) continue;
      const size_t common = common_prefix(slots_[i].history, tokens);
      if (common < std::max<size_t>(least, 1) || common <= most) continue;
      most = common;
      best = i;
    }
    if (best < 0) return;
    state = std::make_shared<SequenceState>();
    state->tokens = slots_[best].history;
    state->bytes = decoder_->save(best);
    if (state->bytes.empty()) state.reset();
  });
  return state;
}

StateOutcome Scheduler::restore_state(const SequenceState& state, const AdapterSet& adapters) {
  StateOutcome outcome = StateOutcome::unfit;
  between_steps([&] { outcome = put_back(state, adapters); });
  return outcome;
}

int32_t Scheduler::load_adapter(const std::string& path) {
  int32_t id = 0;
  between_steps([&] {
    decoder_->load_adapter(adapters_loaded_ + 1, path);
    id = ++adapters_loaded_;
  });
  return id;
}

void Scheduler::drop_adapter(int32_t id) {
  between_steps([&] {
    decoder_->adapt({});
    if (lone_) lone_->adapt({});
    decoder_->drop_adapter(id);
    for (int i = 0; i < options_.slots; ++i) {
      const auto& used = slots_[i].adapters;
      const bool uses = std::any_of(used.begin(), used.end(), [id](const AdapterUse& use) { return use.id == id; });
      if (uses && !slots_[i].active) clear(i);
    }
  });
}

StateOutcome Scheduler::put_back(const SequenceState& state, const AdapterSet& adapters) {
  if (state.tokens.empty() || state.tokens.size() > static_cast<size_t>(options_.context_size))
    return StateOutcome::unfit;
  int place = -1;
  for (int i = 0; i < options_.slots; ++i) {
    const Slot& slot = slots_[i];
    if (slot.adapters == adapters && common_prefix(slot.history, state.tokens) == state.tokens.size())
      return StateOutcome::present;
    if (slot.active) continue;
    // An empty slot costs nobody a history; else the one that was longest unused.
    const auto cost = [](const Slot& s) { return s.history.empty() ? 0 : s.last_used + 1; };
    if (place < 0 || cost(slot) < cost(slots_[place])) place = i;
  }
  if (place < 0) return StateOutcome::unfit;
  clear(place);
  // On a shared buffer idle histories may stand in the way; they go, the oldest first.
  while (!decoder_->restore(place, state.bytes) || decoder_->stored(place) != static_cast<int>(state.tokens.size())) {
    decoder_->clear(place);
    if (!traits_.unified || !drop_oldest_history()) return StateOutcome::unfit;
  }
  slots_[place].history = state.tokens;
  slots_[place].adapters = adapters;
  slots_[place].last_used = counters_.steps + 1;
  return StateOutcome::restored;
}

}  // namespace quern
