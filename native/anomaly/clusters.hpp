#pragma once

#include <vector>

#include "../kernels/dense.hpp"
#include "detector.hpp"

namespace quern::anomaly {

/// Clusters at most: a panel of centres.
inline constexpr size_t kMostClusters = kPanel<double>;

/// Points, kMostClusters or fewer, that many rows are compared with.
class Centres {
 public:
  /// `values` has a row of `columns` numbers per point.
  Centres(std::span<const double> values, size_t columns);
  size_t count() const { return count_; }
  /// Rows that squares() takes at most.
  static constexpr size_t kRows = 8;
  /// Squared distances of `count` rows to each point: kMostClusters places a row, those beyond count() without meaning.
  /// A row's bits do not depend on those beside it.
  void squares(const double* rows, size_t count, double* out) const;

 private:
  const DenseKernels<double>& kernels_ = dense_kernels<double>();
  size_t count_;
  size_t columns_;
  std::vector<double> panel_;
};

/// Rows in clusters.
struct Clusters {
  std::vector<double> centres;  ///< one row of columns numbers per cluster
  std::vector<size_t> sizes;
};

/**
 * k-means: centres by greedy k-means++ (Arthur and Vassilvitskii 2007; of 2 + ln(count) tries the best each), then
 * Lloyd's steps until no row moves, the centres move less than 1e-4 of the mean variance, or 300 steps are done. A
 * cluster that loses all rows takes the row farthest from its centre. Rows that bounds on their distances keep where
 * they are (Hamerly, "Making k-means even faster", 2010) are not compared. `count` is at most the number of rows and
 * kMostClusters.
 */
Clusters cluster(const Matrix& rows, size_t count, uint64_t seed, const Work& work);

}  // namespace quern::anomaly
