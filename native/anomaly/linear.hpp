#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace quern::anomaly {

/// A square table of numbers, row after row.
struct Square {
  size_t size = 0;
  std::vector<double> values;

  double& at(size_t row, size_t column) { return values[row * size + column]; }
  double at(size_t row, size_t column) const { return values[row * size + column]; }
};

/// Means and covariance (divided by the count) of rows.
struct Scatter {
  std::vector<double> mean;
  Square covariance;
};

/// Of `count` rows of `columns` numbers, each followed by zeros up to padded<double>(columns), which it centres in
/// place.
Scatter scatter_of(std::span<double> padded_rows, size_t count, size_t columns);

/// What a covariance says of distances: distance^2 = |whitening * (x - mean)|^2.
struct Whitening {
  /// `rank` rows of size numbers.
  std::vector<double> rows;
  size_t rank = 0;
  /// ln of the determinant; -infinity where the covariance is singular.
  double log_determinant = 0;
};

/**
 * By Cholesky where the covariance has full rank. Else by eigenvectors, without the directions whose variance is below
 * 2^-52 * size times the largest, which makes it the pseudo-inverse.
 */
Whitening whitening_of(const Square& covariance);

/// Eigenvalues, ascending, and eigenvectors, one per row, of a symmetric table: Householder's tridiagonal form, then QL
/// with implicit shifts (Golub and Van Loan, Matrix Computations, 8.3).
struct Eigen {
  std::vector<double> values;
  Square vectors;
};
Eigen eigen_of(const Square& symmetric);

/// squares[i] = |whitening * (rows[i] - mean)|^2 of `count` rows of `columns` numbers.
void whitened_squares(const Whitening& whitening, std::span<const double> mean, const double* rows, size_t count,
                      std::span<double> squares);

}  // namespace quern::anomaly
