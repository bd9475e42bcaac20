#pragma once

#include <cstddef>

#include "../../base/cpu.hpp"

namespace quern {

/// A number of a list, and its rank; of equal ones that with the greatest rank.
struct Extreme {
  double value;
  double rank;
};

/// What a pair of weights gains from the view of one of them.
struct Partner {
  Extreme gain;     ///< and the other's rank; minus infinity where nobody gains
  double greatest;  ///< of gradient + leave
};

/// The weights among which a step chooses; arrays of `count` numbers, which is at least 1.
struct Choice {
  const double* gradient;
  const double* leave;  ///< 0 where a weight may move, minus infinity elsewhere
  const double* ranks;  ///< different numbers from 0 on
  size_t count;
};

/**
 * The loops of a solver that moves two weights at a time. All instruction sets give the same bits: products and sums
 * are rounded one by one.
 */
struct PairSteps {
  /// The greatest leave - gradient.
  Extreme (*greatest)(const Choice& choice);
  /// gradient += by_a * a + by_b * b.
  void (*add)(double* gradient, const float* a, const float* b, double by_a, double by_b, size_t count);
  /// Of the places where broken = grow + gradient + leave is above 0, that with the greatest broken^2 / curvature; the
  /// curvature is 2 - 2 * entry, but at least `least_curvature` where that is not above 0.
  Partner (*partner)(const Choice& choice, const float* entries, double grow, double least_curvature);
};

const PairSteps& pair_steps(Isa isa = best_isa());

}  // namespace quern
