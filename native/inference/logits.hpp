#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace quern {

/// A token and its logit.
struct Candidate {
  int32_t token;
  float logit;
};

/// Index of the greatest value, the first of equals; -1 when there is none above -infinity (all NaN or -infinity).
int32_t argmax(std::span<const float> logits);

/// The `count` greatest, greatest first, equals by token id; NaN and -infinity never qualify. One pass with a small
/// heap.
void top_candidates(std::span<const float> logits, size_t count, std::vector<Candidate>& out);

/// Every value at or above `floor`, greatest first, equals by token id.
void candidates_above(std::span<const float> logits, float floor, std::vector<Candidate>& out);

/// Greatest first, equals by token id.
void sort_candidates(std::vector<Candidate>& candidates);

/// log(sum(exp(x))) over all finite values, in double.
double log_sum_exp(std::span<const float> logits);

}  // namespace quern
