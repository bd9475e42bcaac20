#pragma once

#include <span>
#include <vector>

#include "limits.hpp"
#include "state.hpp"

namespace quern::anomaly {

/// A column less its median, divided by its interquartile range, or by 1 where that is 0: outliers do not move the
/// scale.
class RobustScaler {
 public:
  /// Learns nothing: rows stay as they are.
  static RobustScaler none(size_t columns);
  static RobustScaler fit(const Matrix& rows, const Work& work);
  static RobustScaler restore(const State& state, size_t columns);

  /// In place; `values` has whole rows.
  void apply(std::span<double> values, const Work& work) const;
  State state() const;

 private:
  std::vector<double> centre_;
  std::vector<double> scale_;
  bool idle_ = false;  ///< it changes no number
};

}  // namespace quern::anomaly
