#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace quern::anomaly {

/// Puts numbers none of which is NaN into ascending order (-0 before 0) and gives the places that they came from; equal
/// ones stay in their order. At most 2^32 numbers.
std::vector<uint32_t> sort_numbers(std::span<double> values);

}  // namespace quern::anomaly
