#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace quern::classify {

/// Computes the value at a point, and the gradient there into the second vector, which has the point's length.
using Objective = std::function<double(const std::vector<double>& at, std::vector<double>& gradient)>;

/// When to stop.
struct Stopping {
  size_t iterations = 100;
  double gradient = 1e-4;  ///< largest component
};

/// Minimises a smooth convex function from `at`, which holds the minimum afterwards: limited-memory BFGS (Nocedal,
/// Wright, Numerical Optimization, algorithm 7.5) with backtracking steps.
void minimise(const Objective& objective, std::vector<double>& at, const Stopping& stopping);

}  // namespace quern::classify
