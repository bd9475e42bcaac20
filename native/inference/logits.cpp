#include "logits.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace quern {
namespace {

constexpr float kNothing = -std::numeric_limits<float>::infinity();
/// Values looked at together: small enough to stay in the first-level cache for the second look.
constexpr size_t kBlock = 1024;
constexpr size_t kLanes = 16;

/// Greatest of a block. The lanes have no dependence on each other, so that the compiler uses the widest vectors it
/// may.
float block_max(const float* values, size_t count) {
  std::array<float, kLanes> lanes;
  lanes.fill(kNothing);
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane)
      lanes[lane] = values[i + lane] > lanes[lane] ? values[i + lane] : lanes[lane];
  float best = kNothing;
  for (const float lane : lanes) best = lane > best ? lane : best;
  for (; i < count; ++i) best = values[i] > best ? values[i] : best;
  return best;
}

bool before(const Candidate& a, const Candidate& b) {
  return a.logit > b.logit || (a.logit == b.logit && a.token < b.token);
}

}  // namespace

int32_t argmax(std::span<const float> logits) {
  float best = kNothing;
  size_t block = 0;
  for (size_t from = 0; from < logits.size(); from += kBlock) {
    const float here = block_max(logits.data() + from, std::min(kBlock, logits.size() - from));
    if (here > best) {
      best = here;
      block = from;
    }
  }
  if (best == kNothing) return -1;
  for (size_t i = block;; ++i)
    if (logits[i] == best) return static_cast<int32_t>(i);
}

void top_candidates(std::span<const float> logits, size_t count, std::vector<Candidate>& out) {
  out.clear();
  if (count == 0) return;
  float floor = kNothing;
  for (size_t from = 0; from < logits.size(); from += kBlock) {
    const size_t until = std::min(from + kBlock, logits.size());
    // Once the heap is full most blocks hold nothing above its least member.
    if (!(block_max(logits.data() + from, until - from) > floor)) continue;
    for (size_t i = from; i < until; ++i) {
      if (!(logits[i] > floor)) continue;
      if (out.size() == count) {
        std::pop_heap(out.begin(), out.end(), before);
        out.pop_back();
      }
      out.push_back({static_cast<int32_t>(i), logits[i]});
      std::push_heap(out.begin(), out.end(), before);
      if (out.size() == count) floor = out.front().logit;
    }
  }
  std::sort_heap(out.begin(), out.end(), before);
}

void candidates_above(std::span<const float> logits, float floor, std::vector<Candidate>& out) {
  out.clear();
  for (size_t i = 0; i < logits.size(); ++i)
    if (logits[i] >= floor && logits[i] != kNothing) out.push_back({static_cast<int32_t>(i), logits[i]});
  sort_candidates(out);
}

void sort_candidates(std::vector<Candidate>& candidates) {
  std::sort(candidates.begin(), candidates.end(), before);
}

double log_sum_exp(std::span<const float> logits) {
  const int32_t top = argmax(logits);
  if (top < 0) return -std::numeric_limits<double>::infinity();
  const float most = logits[top];
  // Anything further below adds less than 1e-13 of the sum even for a vocabulary of a million.
  constexpr float kReach = 45.0f;
  double sum = 0;
  for (const float value : logits)
    if (value > most - kReach) sum += std::exp(static_cast<double>(value) - most);
  return most + std::log(sum);
}

}  // namespace quern
