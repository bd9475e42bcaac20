#include "scaler.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "statistics.hpp"

namespace quern::anomaly {
namespace {

/// A narrower range is rounding of a constant; scikit-learn draws the line at the same place.
constexpr double kLeastScale = 10 * std::numeric_limits<double>::epsilon();
/// Numbers in one part of a parallel pass.
constexpr size_t kGrain = 1 << 16;

}  // namespace

RobustScaler RobustScaler::none(size_t columns) {
  RobustScaler scaler;
  scaler.centre_.assign(columns, 0);
  scaler.scale_.assign(columns, 1);
  scaler.idle_ = true;
  return scaler;
}

RobustScaler RobustScaler::fit(const Matrix& rows, const Work& work) {
  RobustScaler scaler = none(rows.columns);
  each_column(rows, work, [&](size_t column, std::vector<double>& values) {
    const Spread found = spread(values);
    scaler.centre_[column] = found.median;
    scaler.scale_[column] = found.range < kLeastScale ? 1 : found.range;
  });
  scaler.idle_ = false;
  return scaler;
}

void RobustScaler::apply(std::span<double> values, const Work& work) const {
  if (idle_) return;
  const size_t columns = centre_.size();
  const size_t grain = std::max<size_t>(1, kGrain / columns);
  work.parallel(values.size() / columns, grain, [&](size_t first, size_t last) {
    for (size_t row = first; row < last; ++row) {
      double* const at = values.data() + row * columns;
      for (size_t column = 0; column < columns; ++column) at[column] = (at[column] - centre_[column]) / scale_[column];
    }
  });
}

State RobustScaler::state() const {
  return {{"centre", centre_}, {"scale", scale_}};
}

RobustScaler RobustScaler::restore(const State& state, size_t columns) {
  const StateReader reader(state);
  RobustScaler scaler;
  scaler.centre_ = reader.numbers("centre", columns, {-kMostMagnitude, kMostMagnitude});
  scaler.scale_ = reader.numbers("scale", columns, {kLeastScale, 2 * kMostMagnitude});
  scaler.idle_ = std::ranges::all_of(scaler.centre_, [](double centre) { return centre == 0; }) &&
                 std::ranges::all_of(scaler.scale_, [](double scale) { return scale == 1; });
  return scaler;
}

}  // namespace quern::anomaly
