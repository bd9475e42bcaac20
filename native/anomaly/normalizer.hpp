#pragma once

#include <span>
#include <string_view>

#include "state.hpp"

namespace quern::anomaly {

enum class Normalization { kStandardization, kZscore, kRaw };

/// Throws Failure('invalid') with the known names.
Normalization normalization_of(std::string_view name);
std::string_view name_of(Normalization normalization);

/**
 * Raw scores as scores: standardization is 1 / (1 + exp(-(raw - median) / (2 IQR))), zscore (raw - mean) / deviation,
 * by the fitted rows' raw scores.
 */
class Normalizer {
 public:
  /// From the raw scores of the fitted rows; the threshold is the (1 - contamination) percentile of their scores.
  static Normalizer fit(Normalization normalization, std::span<const double> raw, double contamination);
  static Normalizer restore(Normalization normalization, const State& state);

  double score(double raw) const;
  double threshold() const { return threshold_; }
  Normalization normalization() const { return normalization_; }
  State state() const;

 private:
  Normalization normalization_ = Normalization::kRaw;
  double median_ = 0;
  double range_ = 1;
  double mean_ = 0;
  double deviation_ = 1;
  double threshold_ = 0;
};

}  // namespace quern::anomaly
