#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include "decoder.hpp"
#include "options.hpp"
#include "outbox.hpp"
#include "pace.hpp"
#include "planner.hpp"
#include "sampler.hpp"
#include "state.hpp"

namespace quern {

/// One generation, from submit() to its last row.
struct Sequence {
  Sequence(int32_t generation, const GenerateOptions& options, Sampler chooser)
      : id(generation),
        max_tokens(options.max_tokens),
        deterministic(options.deterministic),
        adapters(options.adapters),
        sampler(std::move(chooser)) {}

  int32_t id;
  int max_tokens;
  bool deterministic;
  AdapterSet adapters;
  Sampler sampler;
  std::vector<Token> tokens;  ///< prompt, then what was generated
  int prompt_tokens = 0;
  int reused = -1;  ///< -1 until first admitted
  int generated = 0;
  int slot = -1;
  uint64_t admitted = 0;
  uint64_t stepped = 0;    ///< step that it took part in last
  int restarts = 0;        ///< times that it was read again because of what others left behind
  double told_ms = 0;      ///< when it was last told how far its prompt is read
  int leader = -1;         ///< slot whose prefill is awaited, to share its prefix
  int32_t leader_id = -1;  ///< generation that must still be in it
  int shared = 0;          ///< tokens that are awaited from it
};

/// A KV sequence of the context.
struct Slot {
  std::vector<Token> history;  ///< exactly what its KV holds
  AdapterSet adapters;         ///< that they were computed with
  uint64_t last_used = 0;
  std::unique_ptr<Sequence> active;
};

struct SchedulerStats {
  int active = 0;
  int queued = 0;
  uint64_t steps = 0;
  uint64_t decoded_tokens = 0;
  uint64_t prefilled_tokens = 0;
  uint64_t reused_tokens = 0;
  uint64_t kv_used = 0;
};

/// Milliseconds of a clock that never goes back.
double steady_ms();

/// What a scheduler works with.
struct SchedulerParts {
  std::unique_ptr<Decoder> decoder;
  MemoryTraits traits;
  Pace pace;  ///< what is known of the decoder's speed
  std::function<bool(Token)> ends_generation;
  std::function<void()> notify;  ///< called on the worker when there are rows; must not block
  std::function<double()> now_ms = steady_ms;
};

/**
 * Continuous batching over one Decoder. Its worker thread is the only one that touches the decoder, the slots and the
 * samplers. The adapters of a context hold for all its sequences, so that a step takes those of one set only, and the
 * sets take turns. Deterministic sequences run beside that, one at a time, in the lone slot: a decoder of its own takes
 * their tokens in steps whose sizes depend on the prompt alone, so that the same kernels add up the same numbers in the
 * same order each time.
 */
class Scheduler {
 public:
  /// `options` hold the sizes that the decoder really has.
  Scheduler(SchedulerParts parts, const SchedulerOptions& options);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// Queues a generation; everything was checked. Throws Failure 'busy' (queue full), 'conflict' (id in use),
  /// 'unavailable' (stopped).
  void submit(int32_t id, std::vector<Token> prompt, const GenerateOptions& options,
              std::unique_ptr<Constraint> constraint);
  /// Ends a generation at the next micro-batch; unknown ids are ignored.
  void abort(int32_t id);
  void take(StepFrame& frame) { outbox_.take(frame); }
  SchedulerStats stats() const;
  /// A copy of the slot that holds most of `tokens`, at least the first `least`; null where none does. The copy may
  /// hold more than was asked for. Waits for the step in progress; not from the worker. Throws Failure 'unavailable',
  /// 'busy'.
  std::shared_ptr<const SequenceState> save_state(const std::vector<Token>& tokens, size_t least,
                                                  const AdapterSet& adapters = {});
  /// Puts a copy into an idle slot, where the next prompt with this beginning and these adapters finds it. Waits and
  /// throws alike.
  StateOutcome restore_state(const SequenceState& state, const AdapterSet& adapters = {});
  /// Loads an adapter and gives the id by which generations name it. Waits and throws alike, and 'invalid' with the
  /// engine's reason.
  int32_t load_adapter(const std::string& path);
  /// Frees an adapter, and with it what idle slots hold of its texts. Generations that name it fail. Waits and throws
  /// alike.
  void drop_adapter(int32_t id);
  /// Ends every generation with `aborted` and joins the worker. Idempotent; not from the worker.
  void stop();

 private:
  void work();
  bool wait_for_work();
  void apply_aborts(const std::vector<int32_t>& ids);
  void admit();
  void place(std::unique_ptr<Sequence> sequence, const SlotChoice& choice);
  void find_leader(Sequence& sequence);
  void follow(Slot& slot);
  void admit_lone();
  void step();
  void lone_step();
  void plan();
  void fill_batch();
  /// Decodes the batch, and sees to what comes of it; true when it was decoded.
  bool run(Decoder& decoder);
  void begin_batch(Decoder& decoder);
  void advance(Decoder& decoder);
  void sample(Decoder& decoder, int index, size_t output);
  void make_room();
  /// Ends a sequence whose numbers are none, and has the memory that they are in overwritten.
  void fail_spoilt(int index, const std::string& text);
  /// Puts a running sequence back to the front of the queue: it goes on later from the text that it has, which it must
  /// decode again.
  void requeue(int index);
  /// Overwrites the memory of the shared decoder, and has all running sequences decode their texts again.
  void wipe();
  bool drop_oldest_history();
  /// Runs `errand` on the worker before its next step, and waits for it.
  void between_steps(std::function<void()> errand);
  StateOutcome put_back(const SequenceState& state, const AdapterSet& adapters);
  void after_abort();
  void fail_batch(const std::string& text);
  void fail_all(const std::string& text);
  void finish(int index, Finish code, Token token = -1, int32_t logprobs_offset = -1);
  void row(const Sequence& sequence, Finish code, Token token, int32_t logprobs_offset);
  void tell_progress(Sequence& sequence);
  void clear(int index);
  void publish();
  /// The slots as a prompt with these adapters finds them.
  std::vector<SlotView> views(const AdapterSet& adapters) const;
  /// The sequence that takes part in the next step for sure: who waited longest for one. Null without any.
  const Sequence* next_in_turn() const;
  /// Sequences in the slots of the shared decoder.
  int active_count() const;
  int lone_active() const { return slots_.back().active ? 1 : 0; }
  int queued_count() const { return static_cast<int>(waiting_.size() + waiting_lone_.size()); }
  bool is_lone(int index) const { return index == options_.slots; }

  std::unique_ptr<Decoder> decoder_;
  const SchedulerOptions options_;
  const MemoryTraits traits_;
  const std::function<bool(Token)> ends_generation_;
  const std::function<double()> now_ms_;
  Outbox outbox_;

  // Of the worker.
  std::vector<Slot> slots_;        ///< the last one is the lone slot
  std::unique_ptr<Decoder> lone_;  ///< of the lone slot, made when it is first needed
  std::deque<std::unique_ptr<Sequence>> waiting_;
  std::deque<std::unique_ptr<Sequence>> waiting_lone_;
  Pace pace_;
  bool admission_held_ = false;  ///< a sequence lost its cells: nobody enters until another ends
  uint64_t admissions_ = 0;
  int32_t adapters_loaded_ = 0;  ///< ever
  bool may_be_spoilt_ = false;   ///< adapters were used since the memory was overwritten
  bool lone_spoilt_ = false;     ///< the same of the lone decoder
  bool wipe_wanted_ = false;
  std::vector<Share> shares_;
  int writing_ = 0;  ///< sequences of the step that only get their next token
  std::vector<BatchToken> batch_;
  std::vector<StepRow> rows_;
  std::vector<double> logprobs_;
  std::string error_;
  std::vector<int32_t> finished_;
  SchedulerStats counters_;

  // Shared, under the mutex.
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::unique_ptr<Sequence>> arriving_;
  std::vector<int32_t> aborting_;
  std::deque<std::packaged_task<void()>> errands_;
  std::unordered_set<int32_t> live_;
  Decoder* current_;                       ///< that decodes, or did last
  std::unordered_set<int32_t> batch_ids_;  ///< generations of the decode in progress that nobody aborted
  SchedulerStats published_;
  bool stopping_ = false;

  std::once_flag joined_;
  std::thread worker_;
};

}  // namespace quern
