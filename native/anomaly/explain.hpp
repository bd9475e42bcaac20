#pragma once

#include <span>
#include <vector>

#include "detector.hpp"

namespace quern::anomaly {

/// The mean of every column: the fitted centre where a detector has none of its own.
std::vector<double> column_means(const Matrix& rows);

/// How much less the row scores when one column takes the centre's value, for every column.
void explain_by_centre(const Detector& detector, std::span<const double> row, std::span<const double> centre,
                       std::span<double> shares);

/// Throws Failure('invalid') with both numbers of columns where they differ: a state may be of another width than its
/// model.
void require_columns(size_t given, size_t fitted);

}  // namespace quern::anomaly
