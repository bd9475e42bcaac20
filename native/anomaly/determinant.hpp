#pragma once

#include <vector>

#include "detector.hpp"
#include "linear.hpp"

namespace quern::anomaly {

/// Where the inner rows of a set lie.
struct Concentration {
  std::vector<double> location;
  Square covariance;
  Whitening whitening;
};

/// Rows that the estimate of the least determinant is made of: half of them and a little more.
size_t inner_rows(size_t rows, size_t columns);

/**
 * Location and covariance of the inner_rows() whose covariance has the least determinant, as FastMCD finds them
 * (Rousseeuw and Van Driessen, "A fast algorithm for the minimum covariance determinant estimator", 1999): random sets
 * of rows, of which each is replaced by the rows nearest to its own centre, in a few groups first, then in all of them
 * together. One column is solved exactly, by its shortest half.
 */
Concentration least_determinant(const Matrix& rows, uint64_t seed, const Work& work);

}  // namespace quern::anomaly
