#include "features.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "../base/failure.hpp"

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

/// Of a window that ends with `value`.
double statistic(Statistic wanted, const Summary& window, std::optional<double> value, const RollingMedian* median) {
  if (window.count() == 0) return 0.0;
  switch (wanted) {
    case Statistic::kMean:
      return window.mean();
    case Statistic::kStd:
      return window.count() < 2 ? 0.0 : window.deviation();
    case Statistic::kMin:
      return window.least();
    case Statistic::kMax:
      return window.most();
    case Statistic::kSum:
      return window.sum();
    case Statistic::kMedian:
      return median->median();
    case Statistic::kZscore:
      if (!value || window.count() < 2) return 0.0;
      return window.above_mean(*value) / std::max(window.deviation(), kLeastDivisor);
    case Statistic::kDeviation:
      return value ? std::abs(window.above_mean(*value)) : 0.0;
    case Statistic::kMinmaxScaled:
      return value ? (*value - window.least()) / std::max(window.most() - window.least(), kLeastDivisor) : 0.0;
  }
  return 0.0;
}

double rate(std::optional<double> now, std::optional<double> then) {
  return now && then ? (*now - *then) / std::max(std::abs(*then), kLeastDivisor) : 0.0;
}

void write_window(const FeatureSpec& spec, size_t part, const Series& series, size_t skip, const FeatureRoom& room) {
  double* const* const to = room.starts.data() + part * spec.statistics.size();
  const size_t window = spec.windows[part];
  std::optional<RollingMedian> median;
  if (spec.wants(Statistic::kMedian)) median.emplace(std::min(window, series.values.size()));
  each_window(series, window, [&](size_t row, const Summary& now) {
    const std::optional<double> value = series.at(row);
    if (median) median->push(value);
    if (row < skip) return;
    const size_t at = (row - skip) * room.row_step;
    for (size_t i = 0; i < spec.statistics.size(); ++i)
      to[i][at] = statistic(spec.statistics[i], now, value, median ? &*median : nullptr);
  });
}

/// The furthest that lags and rates look back among the rows that there are.
size_t furthest_lag(const FeatureSpec& spec, size_t history) {
  size_t furthest = 0;
  for (const auto* list : {&spec.lags, &spec.rates})
    for (const size_t back : *list)
      if (back < history) furthest = std::max(furthest, back);
  return furthest;
}

}  // namespace

void write_features(const FeatureSpec& spec, size_t part, const Series& series, size_t skip, const FeatureRoom& room) {
  if (part < spec.windows.size()) return write_window(spec, part, series, skip, room);
  double* const* to = room.starts.data() + spec.windows.size() * spec.statistics.size();
  const size_t rows = series.values.size();
  const auto before = [&](size_t row, size_t back) { return back > row ? std::nullopt : series.at(row - back); };
  for (const size_t back : spec.lags) {
    for (size_t row = skip; row < rows; ++row) (*to)[(row - skip) * room.row_step] = before(row, back).value_or(0.0);
    ++to;
  }
  for (const size_t back : spec.rates) {
    for (size_t row = skip; row < rows; ++row)
      (*to)[(row - skip) * room.row_step] = rate(series.at(row), before(row, back));
    ++to;
  }
  for (const size_t span : spec.spans) {
    WeightedMean mean(span);
    for (size_t row = 0; row < rows; ++row) {
      mean.push(series.at(row));
      // Where the row is null, so is the weighted mean.
      if (row >= skip) (*to)[(row - skip) * room.row_step] = series.known[row] != 0 ? mean.mean() : 0.0;
    }
    ++to;
  }
}

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
  for (const size_t span : spans) rows = std::max(rows, weighted_reach(span));
  return rows;
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
  for (const size_t span : spec.spans) means_.emplace_back(span, history);
  past_.resize(furthest_lag(spec, history) + 1);
}

size_t FeatureTracker::due(size_t rows) const {
  size_t due = 0;
  for (const RollingTotals& window : totals_) due += window.due(rows);
  for (const RollingWeightedMean& mean : means_) due += mean.due(rows);
  return due;
}

size_t FeatureTracker::bytes(const FeatureSpec& spec, size_t history) {
  size_t bytes = sizeof(FeatureTracker) + (furthest_lag(spec, history) + 1) * sizeof(std::optional<double>);
  for (const size_t window : spec.windows) {
    const size_t rows = std::min(window, history);
    bytes += sizeof(RollingTotals) + RollingTotals::bytes(rows);
    if (spec.wants(Statistic::kMedian)) bytes += sizeof(RollingMedian) + RollingMedian::bytes(rows);
  }
  for (const size_t span : spec.spans) bytes += sizeof(RollingWeightedMean) + RollingWeightedMean::bytes(span, history);
  return bytes;
}

void FeatureTracker::push(std::optional<double> value) {
  value_ = value;
  for (RollingTotals& window : totals_) window.push(value);
  for (RollingMedian& window : medians_) window.push(value);
  for (RollingWeightedMean& mean : means_) mean.push(value);
  past_[rows_ % past_.size()] = value;
  ++rows_;
}

std::optional<double> FeatureTracker::before(size_t back) const {
  if (back >= past_.size() || back >= rows_) return std::nullopt;
  return past_[(rows_ - 1 - back) % past_.size()];
}

void FeatureTracker::write(std::span<double> to) const {
  size_t at = 0;
  for (size_t window = 0; window < totals_.size(); ++window)
    for (const Statistic one : spec_.statistics)
      to[at++] = statistic(one, totals_[window].now(), value_, medians_.empty() ? nullptr : &medians_[window]);
  for (const size_t back : spec_.lags) to[at++] = before(back).value_or(0.0);
  for (const size_t back : spec_.rates) to[at++] = rate(value_, before(back));
  // Where the row is null, so is the weighted mean.
  for (const RollingWeightedMean& mean : means_) to[at++] = value_ ? mean.mean() : 0.0;
}

}  // namespace quern::columns
