#pragma once

#include <vector>

#include "detector.hpp"

namespace quern::anomaly {

/// Rows in clusters.
struct Clusters {
  std::vector<double> centres;  ///< one row of columns numbers per cluster
  std::vector<size_t> sizes;
};

/// The nearest centre of a row, the first of several, and the squared distance to it.
struct Assignment {
  size_t cluster;
  double square;
};
Assignment nearest_centre(const std::vector<double>& centres, std::span<const double> row);

/**
 * k-means: centres by greedy k-means++ (Arthur and Vassilvitskii 2007; of 2 + ln(count) tries the best each), then
 * Lloyd's steps until no row moves, the centres move less than 1e-4 of the mean variance, or 300 steps are done. A
 * cluster that loses all rows takes the row farthest from its centre. `count` is at most the number of rows.
 */
Clusters cluster(const Matrix& rows, size_t count, uint64_t seed, const Work& work);

}  // namespace quern::anomaly
