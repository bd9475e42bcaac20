#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "../threads/work.hpp"
#include "detector.hpp"

namespace quern::anomaly {

/// A place between two order statistics.
struct Between {
  double low;
  double high;
  double part;  ///< of the way from `low` to `high`

  /// From the nearer end, as NumPy does it: equal to the last bit.
  double value() const { return part < 0.5 ? low + (high - low) * part : high - (high - low) * (1 - part); }
};
/// Where percentile() looks. Reorders `values` (not empty).
Between percentile_place(std::span<double> values, double share);
/// The percentile (`share` from 0 to 1) with linear interpolation between order statistics, as NumPy's default.
/// Reorders `values` (not empty).
double percentile(std::span<double> values, double share);
/// The middle value, or the mean of the two middle ones. Reorders `values` (not empty).
double median(std::span<double> values);

/// The median and the range between the 0.25 and 0.75 percentiles.
struct Spread {
  double median;
  double range;
};
/// Reorders `values` (not empty).
Spread spread(std::span<double> values);

struct Moments {
  double mean = 0;
  double deviation = 0;  ///< of the population
};
Moments moments(std::span<const double> values);

/// Calls `each` with every column, its numbers one after the other; on several threads.
void each_column(const Matrix& rows, const Work& work,
                 const std::function<void(size_t column, std::vector<double>& values)>& each);
/// The median of every column, over at most 4096 rows that are spread evenly: where "no anomaly" is, when a score is
/// explained.
std::vector<double> centre_of(const Matrix& rows);

}  // namespace quern::anomaly
