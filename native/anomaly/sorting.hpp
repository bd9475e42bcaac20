#pragma once

#include <vector>

namespace quern::anomaly {

/// Ascending order of numbers none of which is NaN; -0 comes before 0.
void sort_numbers(std::vector<double>& values);

}  // namespace quern::anomaly
