#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "options.hpp"

namespace quern {

/// What the planner sees of a slot.
struct SlotView {
  bool busy = false;
  uint64_t last_used = 0;             ///< step at which it was last in use
  const std::vector<Token>* history;  ///< tokens in the KV cache, never null
  bool usable = true;                 ///< computed with the adapters that the prompt asks for
};

struct SlotChoice {
  int slot = -1;    ///< -1 = all are busy
  int source = -1;  ///< slot whose KV prefix is used; may be another one, even a busy one
  int reused = 0;   ///< tokens of the prompt that need no decoding, at least one fewer than the prompt
};

/// How the KV memory behaves.
struct MemoryTraits {
  bool unified = false;   ///< one buffer: prefixes can be shared, and the order of sequence ids is free
  bool trimmable = true;  ///< false for recurrent memory: a history is used whole or not at all
  /// What a prefix from another slot costs, in tokens decoded; a split buffer copies all the cells of a sequence.
  int share_cost = 0;
};

/// Length of the common beginning.
size_t common_prefix(std::span<const Token> a, std::span<const Token> b);

/**
 * Where a prompt goes: weighs the tokens it need not decode, the history that it overwrites (recent ones count more),
 * and, on a split buffer, the runs of neighbouring busy slots: llama.cpp makes one micro-batch of each run.
 */
SlotChoice choose_slot(std::span<const SlotView> slots, std::span<const Token> prompt, MemoryTraits traits);

/// What the planner sees of a running sequence, one per busy slot.
struct PendingView {
  int slot = 0;
  int pending = 0;        ///< tokens not yet in the KV cache, at least 1
  uint64_t admitted = 0;  ///< order of admission
};

struct StepLimits {
  int batch = 2048;
  int prompts = 128;  ///< tokens of all prompts together
};

/// Tokens that a slot gets in a step.
struct Share {
  int slot;
  int tokens;
};

/**
 * One step, by increasing slot: a token for every sequence that decodes, and tokens shared by the prompts. The oldest
 * prompt gets half of it, the others theirs by length, shortest first, so that a long prompt delays no short one.
 */
std::vector<Share> plan_step(std::span<const PendingView> sequences, const StepLimits& limits);

}  // namespace quern
