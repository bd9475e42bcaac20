#include <algorithm>

#include "detectors.hpp"
#include "tail_sum.hpp"

namespace quern::anomaly {
namespace {

/// The most surprising tail of a value.
double term(const Tail& tail) {
  return std::max({tail.left, tail.right, tail.skewed});
}

}  // namespace

/**
 * ECOD: per column, how small the share of values is that lie as far out; the sum of the logarithms is the score. Li,
 * Zhao, Hu, Botta, Ionescu and Chen, "ECOD: Unsupervised Outlier Detection Using Empirical Cumulative Distribution
 * Functions", 2022. It pools the rows to be scored with the fitted ones; here each row is pooled alone.
 */
std::unique_ptr<Detector> make_ecod() {
  return std::make_unique<TailSum<term>>();
}

}  // namespace quern::anomaly
