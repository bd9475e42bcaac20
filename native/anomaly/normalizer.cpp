#include "normalizer.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "../base/failure.hpp"
#include "limits.hpp"
#include "statistics.hpp"

namespace quern::anomaly {
namespace {

constexpr std::string_view kNames[] = {"standardization", "zscore", "raw"};
/// exp() of more overflows.
constexpr double kMostExponent = 700;

}  // namespace

Normalization normalization_of(std::string_view name) {
  const auto* found = std::ranges::find(kNames, name);
  if (found == std::end(kNames))
    throw Failure("invalid",
                  "normalization is '" + std::string(name) + "'; allowed are standardization, zscore and raw.");
  return static_cast<Normalization>(found - std::begin(kNames));
}

std::string_view name_of(Normalization normalization) {
  return kNames[static_cast<size_t>(normalization)];
}

Normalizer Normalizer::fit(Normalization normalization, std::span<const double> raw, double contamination) {
  Normalizer fitted;
  fitted.normalization_ = normalization;
  const Moments all = moments(raw);
  fitted.mean_ = std::clamp(all.mean, -kMostScore, kMostScore);
  fitted.deviation_ = all.deviation > 0 ? std::min(all.deviation, kMostScore) : 1;
  std::vector<double> values(raw.begin(), raw.end());
  const Spread found = spread(values);
  fitted.median_ = found.median;
  fitted.range_ = found.range > 0 ? std::min(found.range, kMostScore) : fitted.deviation_;
  // Scores rise with raw scores, so theirs is the same place.
  const Between place = percentile_place(values, 1 - contamination);
  fitted.threshold_ = Between{fitted.score(place.low), fitted.score(place.high), place.part}.value();
  return fitted;
}

double Normalizer::score(double raw) const {
  switch (normalization_) {
    case Normalization::kStandardization:
      return 1 / (1 + std::exp(-std::clamp((raw - median_) / (2 * range_), -kMostExponent, kMostExponent)));
    case Normalization::kZscore:
      return std::clamp((raw - mean_) / deviation_, -kMostScore, kMostScore);
    default:
      return raw;
  }
}

State Normalizer::state() const {
  return {
      {"median", median_}, {"range", range_}, {"mean", mean_}, {"deviation", deviation_}, {"threshold", threshold_}};
}

Normalizer Normalizer::restore(Normalization normalization, const State& state) {
  constexpr Range kAny{-kMostScore, kMostScore};
  constexpr Range kPositive{std::numeric_limits<double>::denorm_min(), kMostScore};
  const StateReader reader(state);
  Normalizer fitted;
  fitted.normalization_ = normalization;
  fitted.median_ = reader.number("median", kAny);
  fitted.range_ = reader.number("range", kPositive);
  fitted.mean_ = reader.number("mean", kAny);
  fitted.deviation_ = reader.number("deviation", kPositive);
  fitted.threshold_ = reader.number("threshold", kAny);
  return fitted;
}

}  // namespace quern::anomaly
