#pragma once

#include <cstdint>
#include <list>
#include <vector>

#include "detector.hpp"

namespace quern::anomaly {

/// Rows of the table exp(-gamma |x_i - x_j|^2) of points, made when asked for and kept while there is memory. Points
/// may change places.
class KernelRows {
 public:
  KernelRows(const Matrix& rows, double gamma);

  /// The first `length` numbers of a row, valid until the third next call.
  const float* row(uint32_t point, size_t length);
  void swap(uint32_t a, uint32_t b);

  /// sums[j] = sum over the first points of weights[i] * entry (i, j), for all points, on all threads.
  void weighted_sums(std::span<const double> weights, std::span<double> sums, const Work& work) const;

 private:
  struct Row {
    std::vector<float> numbers;
    std::list<uint32_t>::iterator place;
    bool kept = false;
  };

  std::vector<double> point(uint32_t index) const;
  void compute(const double* from, size_t first, size_t last, float* to) const;
  void drop_oldest();

  const size_t count_;
  const size_t columns_;
  const double gamma_;
  size_t kept_numbers_ = 0;
  std::vector<double> panels_;
  std::vector<Row> rows_;
  std::list<uint32_t> used_;  ///< points with a row, longest ago first
};

/// sums[row] = sum over points of weights * exp(-gamma |row - point|^2); `panels` are the points, kPanel<double> at a
/// time, column by column.
void kernel_sums(const Matrix& rows, std::span<const double> panels, std::span<const double> weights, double gamma,
                 std::span<double> sums, const Work& work);

/// Rows as panels; places without a row are 0.
std::vector<double> panels_of(const Matrix& rows);

}  // namespace quern::anomaly
