#include "features.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "../inference/failure.hpp"

namespace quern::columns {
namespace {

/// Divisors are at least this, so that constant columns give zeros and no infinities.
constexpr double kLeastDivisor = 1e-10;

struct Named {
  const char* asked;   ///< in a specification
  const char* within;  ///< between the column and the window in a feature's name
};

/// In the order of Statistic.
constexpr std::array<Named, 9> kStatistics{{{"mean", "_rolling_mean_"},
                                            {"std", "_rolling_std_"},
                                            {"min", "_rolling_min_"},
                                            {"max", "_rolling_max_"},
                                            {"sum", "_rolling_sum_"},
                                            {"median", "_rolling_median_"},
                                            {"zscore", "_zscore_"},
                                            {"deviation", "_deviation_"},
                                            {"minmax_scaled", "_minmax_scaled_"}}};

}  // namespace

Statistic statistic_of(std::string_view name) {
  std::string known;
  for (size_t i = 0; i < kStatistics.size(); ++i) {
    if (name == kStatistics[i].asked) return static_cast<Statistic>(i);
    known += (i == 0 ? "" : ", ") + std::string(kStatistics[i].asked);
  }
  throw Failure("invalid", "There is no rolling statistic '" + std::string(name) + "'; there are " + known + ".");
}

bool FeatureSpec::wants(Statistic statistic) const {
  return std::find(statistics.begin(), statistics.end(), statistic) != statistics.end();
}

size_t FeatureSpec::reach() const {
  size_t rows = 0;
  for (const size_t window : windows) rows = std::max(rows, window - 1);
  for (const auto* list : {&lags, &rates})
    for (const size_t back : *list) rows = std::max(rows, back);
  return spans.empty() ? rows : SIZE_MAX;
}

std::vector<std::string> feature_names(const FeatureSpec& spec, const std::string& column) {
  std::vector<std::string> names;
  names.reserve(spec.width());
  for (const size_t window : spec.windows)
    for (const Statistic one : spec.statistics)
      names.push_back(column + kStatistics[static_cast<size_t>(one)].within + std::to_string(window));
  for (const size_t back : spec.lags) names.push_back(column + "_lag_" + std::to_string(back));
  for (const size_t back : spec.rates) names.push_back(column + "_roc_" + std::to_string(back));
  for (const size_t span : spec.spans) names.push_back(column + "_ewm_mean_" + std::to_string(span));
  return names;
}

FeatureTracker::FeatureTracker(const FeatureSpec& spec, size_t history) : spec_(spec) {
  for (const size_t window : spec.windows) {
    const size_t rows = std::min(window, history);
    totals_.emplace_back(rows);
    if (spec.wants(Statistic::kMedian)) medians_.emplace_back(rows);
  }
  for (const size_t span : spec.spans) means_.emplace_back(span);
  size_t furthest = 0;
  for (const auto* list : {&spec.lags, &spec.rates})
    for (const size_t back : *list)
      if (back < history) furthest = std::max(furthest, back);
  past_.resize(furthest + 1);
}

void FeatureTracker::push(std::optional<double> value) {
  value_ = value;
  for (RollingTotals& window : totals_) window.push(value);
  for (RollingMedian& window : medians_) window.push(value);
  for (WeightedMean& mean : means_) mean.push(value);
  past_[rows_ % past_.size()] = value;
  ++rows_;
}

std::optional<double> FeatureTracker::before(size_t back) const {
  if (back >= past_.size() || back >= rows_) return std::nullopt;
  return past_[(rows_ - 1 - back) % past_.size()];
}

double FeatureTracker::statistic(Statistic wanted, size_t window) const {
  const RollingTotals& totals = totals_[window];
  if (totals.count() == 0) return 0.0;
  switch (wanted) {
    case Statistic::kMean:
      return totals.mean();
    case Statistic::kStd:
      return totals.count() < 2 ? 0.0 : totals.deviation();
    case Statistic::kMin:
      return totals.least();
    case Statistic::kMax:
      return totals.most();
    case Statistic::kSum:
      return totals.sum();
    case Statistic::kMedian:
      return medians_[window].median();
    case Statistic::kZscore:
      if (!value_ || totals.count() < 2) return 0.0;
      return totals.above_mean(*value_) / std::max(totals.deviation(), kLeastDivisor);
    case Statistic::kDeviation:
      return value_ ? std::abs(totals.above_mean(*value_)) : 0.0;
    case Statistic::kMinmaxScaled:
      return value_ ? (*value_ - totals.least()) / std::max(totals.most() - totals.least(), kLeastDivisor) : 0.0;
  }
  return 0.0;
}

void FeatureTracker::write(std::span<double> to) const {
  size_t at = 0;
  for (size_t window = 0; window < totals_.size(); ++window)
    for (const Statistic one : spec_.statistics) to[at++] = statistic(one, window);
  for (const size_t back : spec_.lags) to[at++] = before(back).value_or(0.0);
  for (const size_t back : spec_.rates) {
    const std::optional<double> then = before(back);
    to[at++] = value_ && then ? (*value_ - *then) / std::max(std::abs(*then), kLeastDivisor) : 0.0;
  }
  // Where the row is null, so is the weighted mean.
  for (const WeightedMean& mean : means_) to[at++] = value_ ? mean.mean() : 0.0;
}

}  // namespace quern::columns
