#pragma once

#include <span>
#include <vector>

#include "../threads/work.hpp"
#include "samples.hpp"

namespace quern::classify {

/// One row of weights and one bias per class.
struct Linear {
  std::vector<float> weights;
  std::vector<float> bias;

  /// One logit per class of a row.
  void logits(const float* row, size_t dimensions, std::span<float> into) const;
};

/**
 * Multinomial logistic regression with the penalty |weights|^2 / (2 strength), the bias free: scikit-learn's objective,
 * where `strength` is called C. Begins at `from`, where that has the right size. Deterministic whatever the number of
 * threads.
 */
Linear fit_logistic(const Samples& samples, double strength, const Work& work, const Linear& from = {});

}  // namespace quern::classify
