#pragma once

#include <cstddef>

namespace quern::anomaly {

/// Columns of a model.
inline constexpr size_t kMostColumns = size_t{1} << 14;
/// Rows times columns of a fit: 2 GiB.
inline constexpr size_t kMostNumbers = size_t{1} << 28;
/// Of a value: squares of scaled differences and their sums stay finite.
inline constexpr double kMostMagnitude = 1e100;
/// Of a score: what a detector computes beyond it, infinity included, counts as this.
inline constexpr double kMostScore = 1e300;

}  // namespace quern::anomaly
