#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "window.hpp"

namespace quern::columns {

constexpr size_t kMostWindow = 100'000;
/// Numbers in one list of a specification.
constexpr size_t kMostListed = 64;

/// A statistic of a window, in the order in which they come out.
enum class Statistic : uint8_t { kMean, kStd, kMin, kMax, kSum, kMedian, kZscore, kDeviation, kMinmaxScaled };

/// Throws Failure('invalid') with the known names.
Statistic statistic_of(std::string_view name);

/// What is made of each numeric column, in this order: every statistic of every window, lags, rates of change,
/// weighted means.
struct FeatureSpec {
  std::vector<size_t> windows;        ///< rows, 1 to kMostWindow
  std::vector<Statistic> statistics;  ///< ascending, none twice
  std::vector<size_t> lags;           ///< rows back, 1 to kMostWindow
  std::vector<size_t> rates;          ///< rows back
  std::vector<size_t> spans;          ///< of weighted means

  /// Features of one column.
  size_t width() const { return windows.size() * statistics.size() + lags.size() + rates.size() + spans.size(); }
  bool wants(Statistic statistic) const;
  /// Rows before a row that its features look at.
  size_t reach() const;
  bool operator==(const FeatureSpec&) const = default;
};

/// The names of a column's features, such as `x_rolling_mean_5`, `x_lag_1`, `x_roc_1`, `x_ewm_mean_10`.
std::vector<std::string> feature_names(const FeatureSpec& spec, const std::string& column);

/// Where features of a column go: those of a row have `row_step` from the one before, each feature has its start.
struct FeatureRoom {
  std::vector<double*> starts;  ///< width() of them
  size_t row_step = 1;
};

/**
 * The features of one column, part by part: parts may be made at the same time by several threads. Window `part` of
 * the specification; what has no window is the last part. Rows before `skip` are only looked back at.
 */
void write_features(const FeatureSpec& spec, size_t part, const Series& series, size_t skip, const FeatureRoom& room);

/**
 * The features of one column, row after row. A window takes the rows that there are, and skips nulls; what cannot be
 * computed (no value in the window, the deviation of one value, a lag before the first row, a null there) is 0.
 */
class FeatureTracker {
 public:
  /// `history` = rows that are looked at, the row itself included; `spec` must outlive the tracker.
  FeatureTracker(const FeatureSpec& spec, size_t history);

  void push(std::optional<double> value);
  /// Of the row that was pushed last; `spec.width()` numbers.
  void write(std::span<double> to) const;
  /// Rows whose sums are made anew within the next `rows` pushes.
  size_t due(size_t rows) const;
  /// Memory of a tracker, at most.
  static size_t bytes(const FeatureSpec& spec, size_t history);

 private:
  /// The value `back` rows before the last, when there is one.
  std::optional<double> before(size_t back) const;

  const FeatureSpec& spec_;
  std::vector<RollingTotals> totals_;
  std::vector<RollingMedian> medians_;
  std::vector<RollingWeightedMean> means_;
  std::optional<double> value_;
  std::vector<std::optional<double>> past_;  ///< a ring of the values for lags, the newest included
  size_t rows_ = 0;
};

}  // namespace quern::columns
