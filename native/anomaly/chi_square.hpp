#pragma once

namespace quern::anomaly {

/// The value that a chi-square variable with `degrees` (1 or more) exceeds with the given chance, within 1e-12 of
/// itself.
double chi_square_above(double degrees, double chance);

}  // namespace quern::anomaly
