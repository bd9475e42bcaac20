#include "histogram.hpp"

#include <algorithm>
#include <cmath>

namespace quern::anomaly {

Bins Bins::over(std::span<const double> values, size_t count) {
  auto [least, most] = std::ranges::minmax(values);
  // Narrower, and the edges would meet or the density be infinite.
  const double least_range = std::max(1e-200, 1e-14 * std::max(std::abs(least), std::abs(most)));
  if (most - least < least_range) {
    least -= 0.5;
    most += 0.5;
  }
  return {least, (most - least) / static_cast<double>(count), most};
}

void count_in_bins(std::span<const double> values, std::span<const double> edges, std::span<uint32_t> counts) {
  std::ranges::fill(counts, 0);
  const std::span<const double> inner = edges.subspan(1, edges.size() - 2);
  for (const double value : values) {
    size_t bin = 0;
    for (const double edge : inner) bin += value >= edge ? 1 : 0;
    ++counts[bin];
  }
}

}  // namespace quern::anomaly
