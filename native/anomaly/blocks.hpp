#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "detector.hpp"
#include "kernels/bins.hpp"

namespace quern::anomaly {

/// A few rows, column by column, filled up with NaN to what the kernels take at once.
class ColumnBlock {
 public:
  /// For reading `rows` rows, at once or one after the other.
  ColumnBlock(size_t columns, size_t rows)
      : most_(std::clamp(std::min(whole(rows), kNumbers / columns / kBinLanes * kBinLanes), kBinLanes, kMostRows)),
        room_(columns * step() + kLine),
        values_(room_.data() + (kLine - reinterpret_cast<uintptr_t>(room_.data()) / sizeof(double) % kLine) % kLine) {}
  ColumnBlock(const ColumnBlock&) = delete;
  ColumnBlock& operator=(const ColumnBlock&) = delete;

  /// Rows of a block at most; no more than kMostRows.
  size_t most() const { return most_; }
  void read(const Matrix& rows, size_t first, size_t count) {
    first_ = first;
    count_ = count;
    for (size_t i = 0; i < count; ++i) {
      const double* const from = rows.values + (first + i) * rows.columns;
      for (size_t k = 0; k < rows.columns; ++k) values_[k * step() + i] = from[k];
    }
    for (size_t k = 0; k < rows.columns; ++k)
      std::fill_n(&values_[k * step() + count], padded() - count, std::numeric_limits<double>::quiet_NaN());
  }

  size_t first() const { return first_; }
  size_t count() const { return count_; }
  size_t padded() const { return whole(count_); }
  /// From one column to the next. At distances of a power of two they would share few places of the cache.
  size_t step() const { return most_ + kLine; }
  const double* column(size_t index) const { return &values_[index * step()]; }

  static constexpr size_t kMostRows = 256;

 private:
  /// Of a block, so that it stays in a near cache.
  static constexpr size_t kNumbers = 1 << 15;

  /// Numbers in a line of the cache.
  static constexpr size_t kLine = 8;

  static size_t whole(size_t rows) { return (rows + kBinLanes - 1) / kBinLanes * kBinLanes; }
  const size_t most_;
  std::vector<double> room_;
  double* const values_;  ///< in room_, where a line of the cache begins
  size_t first_ = 0;
  size_t count_ = 0;
};

/// Rows of one thread's turn with blocks.
inline constexpr size_t kBlockGrain = 8 * ColumnBlock::kMostRows;

/// Calls `each` with blocks of the rows from `first` to before `last`.
template <typename Each>
void each_block(const Matrix& rows, size_t first, size_t last, Each each) {
  ColumnBlock block(rows.columns, last - first);
  for (size_t at = first; at < last; at += block.most()) {
    block.read(rows, at, std::min(block.most(), last - at));
    each(block);
  }
}

}  // namespace quern::anomaly
