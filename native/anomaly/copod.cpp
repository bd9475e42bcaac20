#include <algorithm>

#include "detectors.hpp"
#include "tail_sum.hpp"

namespace quern::anomaly {
namespace {

/// The tail on the longer side of the column, at least the mean of both.
double term(const Tail& tail) {
  return std::max(tail.skewed, (tail.left + tail.right) / 2);
}

}  // namespace

/**
 * COPOD: the tail probability of a row under the empirical copula of the columns, as a sum of logarithms. Li, Zhao,
 * Botta, Ionescu and Hu, "COPOD: Copula-Based Outlier Detection", 2020. It pools the rows to be scored with the fitted
 * ones; here each row is pooled alone.
 */
std::unique_ptr<Detector> make_copod() {
  return std::make_unique<TailSum<term>>();
}

}  // namespace quern::anomaly
