#include "histogram.hpp"

#include <algorithm>
#include <cmath>

namespace quern::anomaly {

std::array<double, kBins + 1> edges_of(Reach reach) {
  auto [least, most] = reach;
  // Narrower, and the edges would meet or the density be infinite.
  const double least_range = std::max(1e-200, 1e-14 * std::max(std::abs(least), std::abs(most)));
  if (most - least < least_range) {
    least -= 0.5;
    most += 0.5;
  }
  const double step = (most - least) / static_cast<double>(kBins);
  std::array<double, kBins + 1> edges;
  for (size_t i = 0; i < kBins; ++i) edges[i] = least + static_cast<double>(i) * step;
  edges[kBins] = most;
  return edges;
}

std::array<uint64_t, kBins> counts_of(const uint64_t* from, uint64_t all) {
  std::array<uint64_t, kBins> counts;
  uint64_t before = all;
  for (size_t i = 0; i < kInnerEdges; ++i) {
    counts[i] = before - from[i];
    before = from[i];
  }
  counts[kBins - 1] = before;
  return counts;
}

}  // namespace quern::anomaly
