#include <gtest/gtest.h>

#include <cmath>

#include "anomaly/chi_square.hpp"
#include "anomaly/linear.hpp"
#include "base/random.hpp"
#include "kernels/dense.hpp"

namespace quern::anomaly {
namespace {

/// A * A^T of `rank` random columns.
Square made_of(size_t size, size_t rank, uint64_t seed) {
  Random random(seed);
  std::vector<double> factors(size * rank);
  for (double& factor : factors) factor = random.normal();
  Square square{size, std::vector<double>(size * size)};
  for (size_t i = 0; i < size; ++i)
    for (size_t j = 0; j < size; ++j)
      for (size_t k = 0; k < rank; ++k) square.at(i, j) += factors[i * rank + k] * factors[j * rank + k];
  return square;
}

TEST(Linear, EigenvectorsTurnTheTableDiagonal) {
  for (const size_t size : {1, 2, 3, 10, 60}) {
    const Square table = made_of(size, size + 1, size);
    const Eigen eigen = eigen_of(table);
    for (size_t a = 0; a < size; ++a) {
      if (a > 0) {
        EXPECT_LE(eigen.values[a - 1], eigen.values[a]);
      }
      for (size_t b = 0; b < size; ++b) {
        double dot = 0, turned = 0;
        for (size_t i = 0; i < size; ++i) {
          dot += eigen.vectors.at(a, i) * eigen.vectors.at(b, i);
          for (size_t j = 0; j < size; ++j) turned += eigen.vectors.at(a, i) * table.at(i, j) * eigen.vectors.at(b, j);
        }
        EXPECT_NEAR(dot, a == b, 1e-12 * static_cast<double>(size));
        EXPECT_NEAR(turned, a == b ? eigen.values[a] : 0, 1e-12 * eigen.values.back() * static_cast<double>(size));
      }
    }
  }
}

TEST(Linear, EigenvaluesOfAKnownTable) {
  const Eigen eigen = eigen_of({3, {2, -1, 0, -1, 2, -1, 0, -1, 2}});
  EXPECT_NEAR(eigen.values[0], 2 - std::sqrt(2.0), 1e-14);
  EXPECT_NEAR(eigen.values[1], 2, 1e-14);
  EXPECT_NEAR(eigen.values[2], 2 + std::sqrt(2.0), 1e-14);
  EXPECT_EQ(eigen_of({2, {0, 0, 0, 0}}).values, (std::vector<double>{0, 0}));
}

TEST(Linear, WhiteningGivesThePseudoInverse) {
  for (const size_t rank : {4, 9}) {
    const Square table = made_of(9, rank, 3);
    const Whitening whitening = whitening_of(table);
    EXPECT_EQ(whitening.rank, rank);
    EXPECT_EQ(std::isinf(whitening.log_determinant), rank < 9);
    // With P = W^T W it holds that table * P * table = table.
    Square half{9, std::vector<double>(81)};
    for (size_t axis = 0; axis < rank; ++axis)
      for (size_t j = 0; j < 9; ++j)
        for (size_t i = 0; i < 9; ++i) half.at(axis, j) += whitening.rows[axis * 9 + i] * table.at(i, j);
    for (size_t i = 0; i < 9; ++i)
      for (size_t j = 0; j < 9; ++j) {
        double sum = 0;
        for (size_t axis = 0; axis < rank; ++axis) sum += half.at(axis, i) * half.at(axis, j);
        EXPECT_NEAR(sum, table.at(i, j), 1e-9);
      }
  }
}

TEST(Linear, LogarithmOfTheDeterminant) {
  EXPECT_NEAR(whitening_of({2, {4, 1, 1, 3}}).log_determinant, std::log(11.0), 1e-14);
}

TEST(Linear, ScatterIsTheDefinition) {
  constexpr size_t kRows = 700, kColumns = 19;
  Random random(5);
  const size_t step = padded<double>(kColumns);
  std::vector<double> rows(kRows * step);
  for (size_t i = 0; i < kRows; ++i)
    for (size_t k = 0; k < kColumns; ++k)
      rows[i * step + k] = k == 4 ? 0.1 : 1e5 + random.normal() * static_cast<double>(k + 1);
  const std::vector<double> given = rows;
  const Scatter scatter = scatter_of(rows, kRows, kColumns);
  for (size_t a = 0; a < kColumns; ++a) {
    long double mean = 0;
    for (size_t i = 0; i < kRows; ++i) mean += given[i * step + a];
    EXPECT_NEAR(scatter.mean[a], static_cast<double>(mean / kRows), 1e-9);
    for (size_t b = 0; b < kColumns; ++b) {
      long double sum = 0;
      for (size_t i = 0; i < kRows; ++i)
        sum += (static_cast<long double>(given[i * step + a]) - scatter.mean[a]) *
               (static_cast<long double>(given[i * step + b]) - scatter.mean[b]);
      EXPECT_NEAR(scatter.covariance.at(a, b), static_cast<double>(sum / kRows), 1e-7);
    }
    EXPECT_EQ(scatter.covariance.at(a, 4), 0) << "a constant column varies";
  }
}

/// From tables of the chi-square law.
TEST(ChiSquare, QuantilesAreThoseOfTheTables) {
  EXPECT_NEAR(chi_square_above(1, 0.025), 5.023886187314888, 1e-10);
  EXPECT_NEAR(chi_square_above(2, 0.5), 1.386294361119891, 1e-10);
  EXPECT_NEAR(chi_square_above(10, 0.025), 20.483177350807395, 1e-9);
  EXPECT_NEAR(chi_square_above(100, 0.5), 99.33412923598846, 1e-8);
  EXPECT_NEAR(chi_square_above(300, 0.025), 349.87446882991526, 1e-8);
}

}  // namespace
}  // namespace quern::anomaly
