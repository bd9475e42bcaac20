#include "planner.hpp"

#include <algorithm>

namespace quern {
namespace {

/// Prompt tokens that cost as much as one more micro-batch in every step of an answer of ordinary length.
constexpr double kRunCost = 256;

/// Runs of neighbouring busy slots when `extra` is busy too.
int runs_with(std::span<const SlotView> slots, int extra) {
  int runs = 0;
  bool before = false;
  for (int i = 0; i < static_cast<int>(slots.size()); ++i) {
    const bool busy = slots[i].busy || i == extra;
    if (busy && !before) ++runs;
    before = busy;
  }
  return runs;
}

size_t usable_prefix(const SlotView& slot, std::span<const Token> prompt, MemoryTraits traits) {
  if (!slot.usable) return 0;
  const size_t common = common_prefix(*slot.history, prompt);
  if (!traits.trimmable && common < slot.history->size()) return 0;
  // The last token is decoded again when everything matches: the sampler needs its logits.
  if (common < prompt.size()) return common;
  return traits.trimmable ? prompt.size() - 1 : 0;
}

}  // namespace

size_t common_prefix(std::span<const Token> a, std::span<const Token> b) {
  const size_t most = std::min(a.size(), b.size());
  return std::mismatch(a.begin(), a.begin() + most, b.begin()).first - a.begin();
}

SlotChoice choose_slot(std::span<const SlotView> slots, std::span<const Token> prompt, MemoryTraits traits) {
  SlotChoice shared;
  for (int i = 0; traits.trimmable && i < static_cast<int>(slots.size()); ++i) {
    const int usable = static_cast<int>(usable_prefix(slots[i], prompt, traits));
    if (usable > std::max(shared.reused, traits.share_cost)) shared = {i, i, usable};
  }
  SlotChoice best;
  double best_score = 0;
  for (int i = 0; i < static_cast<int>(slots.size()); ++i) {
    const SlotView& slot = slots[i];
    if (slot.busy) continue;
    const int own = static_cast<int>(usable_prefix(slot, prompt, traits));
    const bool from_other = shared.reused - traits.share_cost > own;
    const int saved = from_other ? shared.reused - traits.share_cost : own;
    int newer = 0;
    for (const SlotView& other : slots)
      newer += !other.busy && !other.history->empty() && other.last_used > slot.last_used;
    const double lost = static_cast<double>(slot.history->size() - own) / (1 + newer);
    const double score = lost - saved + (traits.unified ? 0 : kRunCost * runs_with(slots, i));
    if (best.slot >= 0 && score >= best_score) continue;
    best_score = score;
    best = from_other ? SlotChoice{i, shared.source, shared.reused} : SlotChoice{i, i, own};
  }
  if (best.reused == 0) best.source = -1;
  return best;
}

std::vector<Share> plan_step(std::span<const PendingView> sequences, const StepLimits& limits) {
  std::vector<Share> shares;
  shares.reserve(sequences.size());
  std::vector<PendingView> prompts;
  for (const PendingView& sequence : sequences) {
    if (sequence.pending == 1)
      shares.push_back({sequence.slot, 1});
    else
      prompts.push_back(sequence);
  }
  int chunk = std::min(limits.prompts, limits.batch - static_cast<int>(shares.size()));
  if (!prompts.empty() && chunk > 0) {
    const auto oldest = std::min_element(prompts.begin(), prompts.end(),
                                         [](const auto& a, const auto& b) { return a.admitted < b.admitted; });
    std::iter_swap(prompts.begin(), oldest);
    std::sort(prompts.begin() + 1, prompts.end(), [](const auto& a, const auto& b) {
      return a.pending < b.pending || (a.pending == b.pending && a.admitted < b.admitted);
    });
    int first = std::min(prompts.front().pending, prompts.size() == 1 ? chunk : (chunk + 1) / 2);
    chunk -= first;
    for (size_t i = 1; i < prompts.size() && chunk > 0; ++i) {
      const int tokens = std::min(prompts[i].pending, chunk);
      shares.push_back({prompts[i].slot, tokens});
      chunk -= tokens;
    }
    first += std::min(chunk, prompts.front().pending - first);
    shares.push_back({prompts.front().slot, first});
  }
  std::sort(shares.begin(), shares.end(), [](const Share& a, const Share& b) { return a.slot < b.slot; });
  return shares;
}

}  // namespace quern
