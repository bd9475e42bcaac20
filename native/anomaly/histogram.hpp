#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace quern::anomaly {

/// Bins of equal width from the least to the greatest of some numbers, as NumPy's `histogram` makes them.
struct Bins {
  double first;
  double step;
  double last;  ///< first + bins * step, but for rounding

  /// `count` bins; a range of nothing is widened by half on both sides.
  static Bins over(std::span<const double> values, size_t count);
  double edge(size_t index, size_t count) const {
    return index == count ? last : first + static_cast<double>(index) * step;
  }
};

/// How many values each bin holds: from its left edge to below its right one, that one included in the last bin.
void count_in_bins(std::span<const double> values, std::span<const double> edges, std::span<uint32_t> counts);

}  // namespace quern::anomaly
