#include "scheduler.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "../base/failure.hpp"

namespace quern {
namespace {

/// A common beginning shorter than this is decoded twice rather than awaited.
constexpr int kLeastShared = 64;
/// How often a sequence whose prompt is being read is told how far.
constexpr double kProgressMs = 500;

}  // namespace

double steady_ms() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(now).count();
}

Scheduler::Scheduler(SchedulerParts parts, const SchedulerOptions& options)
    : decoder_(std::move(parts.decoder)),
      options_(options),
      traits_(parts.traits),
      ends_generation_(std::move(parts.ends_generation)),
      now_ms_(std::move(parts.now_ms)),
      outbox_(std::move(parts.notify)),
      slots_(options.slots + 1),
      pace_(parts.pace),
      current_(decoder_.get()) {
  worker_ = std::thread([this] { work(); });
}

Scheduler::~Scheduler() {
  stop();
}

void Scheduler::submit(int32_t id, std::vector<Token> prompt, const GenerateOptions& options,
                       std::unique_ptr<Constraint> constraint) {
  auto sequence = std::make_unique<Sequence>(id, options, Sampler(options, std::move(constraint), prompt));
  sequence->prompt_tokens = static_cast<int>(prompt.size());
  sequence->tokens = std::move(prompt);
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) throw Failure("unavailable", "The model is closed.");
    if (published_.queued + arriving_.size() >= kQueueLimit)
      throw Failure("busy", "The queue of this model is full (" + std::to_string(kQueueLimit) +
                                " requests wait); try again later.");
    if (!live_.insert(id).second)
      throw Failure("conflict", "Generation " + std::to_string(id) + " is still running; ids must be unique.");
    arriving_.push_back(std::move(sequence));
  }
  wake_.notify_one();
}

void Scheduler::abort(int32_t id) {
  {
    const std::lock_guard lock(mutex_);
    if (!live_.contains(id)) return;
    aborting_.push_back(id);
    // Nobody else needs the decode in progress: it ends within the operation that it is at.
    if (batch_ids_.erase(id) > 0 && batch_ids_.empty()) current_->interrupt(true);
  }
  wake_.notify_one();
}

SchedulerStats Scheduler::stats() const {
  const std::lock_guard lock(mutex_);
  SchedulerStats stats = published_;
  stats.queued += static_cast<int>(arriving_.size());
  return stats;
}

void Scheduler::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    current_->interrupt(true);
  }
  wake_.notify_one();
  std::call_once(joined_, [this] { worker_.join(); });
}

void Scheduler::work() {
  while (wait_for_work()) {
    try {
      admit();
      step();
      admit_lone();
      lone_step();
    } catch (const std::exception& error) {
      fail_all(error.what());
    }
    publish();
  }
  for (int i = 0; i < static_cast<int>(slots_.size()); ++i)
    if (slots_[i].active) finish(i, Finish::aborted);
  for (auto* queue : {&waiting_, &waiting_lone_}) {
    for (const auto& sequence : *queue) row(*sequence, Finish::aborted, -1, -1);
    queue->clear();
  }
  publish();
}

bool Scheduler::wait_for_work() {
  std::vector<int32_t> aborting;
  std::packaged_task<void()> errand;
  {
    std::unique_lock lock(mutex_);
    const bool idle = queued_count() == 0 && active_count() == 0 && lone_active() == 0;
    if (idle)
      wake_.wait(lock, [this] { return stopping_ || !arriving_.empty() || !aborting_.empty() || !errands_.empty(); });
    for (auto& sequence : arriving_)
      (sequence->deterministic ? waiting_lone_ : waiting_).push_back(std::move(sequence));
    arriving_.clear();
    published_.queued = queued_count();
    aborting.swap(aborting_);
    if (stopping_) {
      // What waits for these learns that they never run.
      errands_.clear();
      return false;
    }
    if (!errands_.empty()) {
      errand = std::move(errands_.front());
      errands_.pop_front();
    }
  }
  // One a step, so that running answers go on between large copies.
  if (errand.valid()) errand();
  if (!aborting.empty()) {
    apply_aborts(aborting);
    publish();
  }
  return true;
}

void Scheduler::apply_aborts(const std::vector<int32_t>& ids) {
  for (const int32_t id : ids) {
    for (int i = 0; i < static_cast<int>(slots_.size()); ++i)
      if (slots_[i].active && slots_[i].active->id == id) finish(i, Finish::aborted);
    for (auto* queue : {&waiting_, &waiting_lone_}) {
      const auto queued = std::find_if(queue->begin(), queue->end(), [id](const auto& s) { return s->id == id; });
      if (queued == queue->end()) continue;
      row(**queued, Finish::aborted, -1, -1);
      queue->erase(queued);
    }
  }
}

void Scheduler::admit() {
  if (active_count() == 0) admission_held_ = false;
  while (!waiting_.empty() && !admission_held_) {
    const SlotChoice choice = choose_slot(views(waiting_.front()->adapters), waiting_.front()->tokens, traits_);
    if (choice.slot < 0) return;
    auto sequence = std::move(waiting_.front());
    waiting_.pop_front();
    place(std::move(sequence), choice);
  }
}

void Scheduler::place(std::unique_ptr<Sequence> sequence, const SlotChoice& choice) {
  Slot& slot = slots_[choice.slot];
  int reused = choice.reused;
  if (reused > 0 && choice.source == choice.slot) {
    if (static_cast<int>(slot.history.size()) > reused && !decoder_->trim(choice.slot, reused)) reused = 0;
  } else if (reused > 0) {
    clear(choice.slot);
    decoder_->share(choice.source, choice.slot, reused);
  }
  if (reused == 0) clear(choice.slot);
  slot.history.assign(sequence->tokens.begin(), sequence->tokens.begin() + reused);
  slot.adapters = sequence->adapters;
  if (sequence->reused < 0) {
    sequence->reused = reused;
    counters_.reused_tokens += reused;
  }
  sequence->slot = choice.slot;
  sequence->admitted = ++admissions_;
  sequence->told_ms = now_ms_();
  if (traits_.trimmable) find_leader(*sequence);
  slot.active = std::move(sequence);
}

void Scheduler::find_leader(Sequence& sequence) {
  int most = static_cast<int>(slots_[sequence.slot].history.size()) + kLeastShared + traits_.share_cost - 1;
  for (int i = 0; i < options_.slots; ++i) {
    if (!slots_[i].active || slots_[i].adapters != sequence.adapters) continue;
    const auto common = static_cast<int>(common_prefix(slots_[i].active->tokens, sequence.tokens));
    const int usable = std::min(common, static_cast<int>(sequence.tokens.size()) - 1);
    if (usable <= most) continue;
    most = usable;
    sequence.leader = i;
    sequence.leader_id = slots_[i].active->id;
    sequence.shared = usable;
  }
}

void Scheduler::follow(Slot& slot) {
  Sequence& sequence = *slot.active;
  const Slot& leader = slots_[sequence.leader];
  const bool gone = !leader.active || leader.active->id != sequence.leader_id;
  if (!gone && static_cast<int>(leader.history.size()) < sequence.shared) return;
  // A leader that ended early leaves what it had; another prompt may have taken its place.
  const bool alike = leader.adapters == sequence.adapters;
  const auto common = alike ? static_cast<int>(common_prefix(leader.history, sequence.tokens)) : 0;
  const int usable = std::min(common, static_cast<int>(sequence.tokens.size()) - 1);
  const int own = static_cast<int>(slot.history.size());
  if (usable > own + traits_.share_cost) {
    clear(sequence.slot);
    decoder_->share(sequence.leader, sequence.slot, usable);
    slot.history.assign(sequence.tokens.begin(), sequence.tokens.begin() + usable);
    sequence.reused += usable - own;
    counters_.reused_tokens += usable - own;
  }
  sequence.leader = -1;
}

void Scheduler::finish(int index, Finish code, Token token, int32_t logprobs_offset) {
  Slot& slot = slots_[index];
  row(*slot.active, code, token, logprobs_offset);
  slot.active.reset();
  slot.last_used = counters_.steps;
  if (!is_lone(index)) admission_held_ = false;
}

void Scheduler::row(const Sequence& sequence, Finish code, Token token, int32_t logprobs_offset) {
  rows_.push_back({.id = sequence.id,
                   .token = token,
                   .finish = static_cast<int32_t>(code),
                   .prompt_tokens = sequence.prompt_tokens,
                   .reused_tokens = std::max(sequence.reused, 0),
                   .generated_tokens = sequence.generated,
                   .thinking_tokens = sequence.sampler.thinking_tokens(),
                   .logprobs_offset = logprobs_offset,
                   .read_tokens = sequence.slot < 0 ? 0 : static_cast<int32_t>(slots_[sequence.slot].history.size())});
  if (code != Finish::none) finished_.push_back(sequence.id);
}

void Scheduler::tell_progress(Sequence& sequence) {
  const double now = now_ms_();
  if (now - sequence.told_ms < kProgressMs) return;
  sequence.told_ms = now;
  row(sequence, Finish::none, -1, -1);
}

void Scheduler::clear(int index) {
  slots_[index].history.clear();
  if (!is_lone(index))
    decoder_->clear(index);
  else if (lone_)
    lone_->clear(0);
}

void Scheduler::publish() {
  counters_.active = active_count() + lone_active();
  counters_.kv_used = 0;
  for (const Slot& slot : slots_) counters_.kv_used += slot.history.size();
  {
    const std::lock_guard lock(mutex_);
    for (const int32_t id : finished_) live_.erase(id);
    published_ = counters_;
    published_.queued = queued_count();
  }
  finished_.clear();
  outbox_.put(rows_, logprobs_, error_);
  rows_.clear();
  logprobs_.clear();
  error_.clear();
}

std::vector<SlotView> Scheduler::views(const AdapterSet& adapters) const {
  std::vector<SlotView> views;
  views.reserve(slots_.size());
  for (int i = 0; i < options_.slots; ++i)
    views.push_back(
        {slots_[i].active != nullptr, slots_[i].last_used, &slots_[i].history, slots_[i].adapters == adapters});
  return views;
}

int Scheduler::active_count() const {
  return static_cast<int>(
      std::count_if(slots_.begin(), slots_.end() - 1, [](const Slot& s) { return s.active != nullptr; }));
}

}  // namespace quern
