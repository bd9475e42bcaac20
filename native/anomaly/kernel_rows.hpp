#pragma once

#include <cstdint>
#include <list>
#include <span>
#include <vector>

#include "detector.hpp"

namespace quern::anomaly {

/// Rows of the table exp(-gamma |x_i - x_j|^2) of points, made when asked for and kept while there is memory.
class KernelRows {
 public:
  /// Rows that are made together in a third of the time of one after the other, or less.
  static constexpr size_t kTogether = 8;

  /// Numbers that are kept: 200 MB, libsvm's usual.
  static constexpr size_t kMostKept = 50'000'000;

  /// `most_kept` numbers are kept, or kLeast rows where that is more.
  KernelRows(const Matrix& rows, double gamma, const Work& work, size_t most_kept = kMostKept);

  bool has(uint32_t point) const { return !rows_[point].numbers.empty(); }
  /// Makes what is missing of at most kTogether rows.
  void make(std::span<const uint32_t> points);
  /// A row that there is. Valid until others are made after which it is not among the last kLeast that were asked for.
  const float* row(uint32_t point);

  static constexpr size_t kLeast = 2 * kTogether;

  /// Whether making kTogether more rows takes the places of others.
  bool full() const { return used_.size() + kTogether > most_; }

 private:
  struct Row {
    std::vector<float> numbers;
    std::list<uint32_t>::iterator place;
  };

  std::vector<float> room();

  const Matrix points_;
  const double gamma_;
  const Work& work_;
  const size_t most_;
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
