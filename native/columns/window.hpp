#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace quern::columns {

/// Of the values of a window; a null adds nothing.
struct Totals {
  size_t count = 0;
  double sum = 0;      ///< of the values less the window's shift
  double mean = 0;     ///< of the same
  double squares = 0;  ///< squared deviations from the mean
  double least = 0;
  double most = 0;

  /// One more value; `shifted` is it less the shift.
  void add(double value, double shifted) {
    if (count == 0) {
      *this = {.count = 1, .sum = shifted, .mean = shifted, .squares = 0, .least = value, .most = value};
      return;
    }
    const double before = shifted - mean;
    ++count;
    sum += shifted;
    mean = sum / static_cast<double>(count);
    squares += before * (shifted - mean);
    least = std::min(least, value);
    most = std::max(most, value);
  }

  /// Both together. Source: Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample
  /// variances", 1979.
  static Totals joined(const Totals& a, const Totals& b) {
    if (a.count == 0) return b;
    if (b.count == 0) return a;
    const auto in_a = static_cast<double>(a.count), in_b = static_cast<double>(b.count);
    const double apart = b.mean - a.mean;
    const double sum = a.sum + b.sum, part = 1 / (in_a + in_b);
    return {.count = a.count + b.count,
            .sum = sum,
            .mean = sum * part,
            .squares = a.squares + b.squares + apart * apart * (in_a * in_b * part),
            .least = std::min(a.least, b.least),
            .most = std::max(a.most, b.most)};
  }
};

/// What is known of a window. Only count() and sum() may be asked where it has no value.
struct Summary {
  Totals totals;
  double shift = 0;

  size_t count() const { return totals.count; }
  double sum() const {
    return totals.count == 0 ? 0.0 : std::fma(static_cast<double>(totals.count), shift, totals.sum);
  }
  /// Equal values have exactly that mean, and no spread.
  bool even() const { return totals.least == totals.most; }
  double mean() const {
    if (even()) return totals.least;
    return std::clamp(shift + totals.mean, totals.least, totals.most);
  }
  /// How far a value is above the mean; exact also where all values have a large offset.
  double above_mean(double value) const { return even() ? value - totals.least : value - shift - totals.mean; }
  /// Of at least two values; the divisor is their number less one.
  double deviation() const { return even() ? 0.0 : std::sqrt(totals.squares / static_cast<double>(totals.count - 1)); }
  double least() const { return totals.least; }
  double most() const { return totals.most; }
};

/**
 * Count, sum, mean, spread and extremes of the last `window` rows, O(1) a row on average: a queue of two stacks, of
 * which only sums are kept. Nothing is ever subtracted, so no error builds up; every sum is made anew within `window`
 * rows, of values less one of their own, so that a large offset costs no digits.
 */
class RollingTotals {
 public:
  explicit RollingTotals(size_t window) : window_(window) {}

  void push(std::optional<double> value);
  const Summary& now() const { return now_; }
  /// Rows whose sums are made anew within the next `rows` pushes.
  size_t due(size_t rows) const { return rows + recent_.size() > window_ ? window_ : 0; }
  /// Memory for a window, at most.
  static size_t bytes(size_t window) { return window * (sizeof(Totals) + 2 * sizeof(std::optional<double>)); }

 private:
  void turn_over();

  const size_t window_;
  bool shifted_ = false;
  std::vector<Totals> older_;                  ///< the last covers all older rows, each one before it a row less
  std::vector<std::optional<double>> recent_;  ///< rows since they were turned over
  Totals recent_totals_;
  Summary now_;
};

/// The values of a column, one row after the other.
struct Series {
  std::vector<double> values;
  std::vector<uint8_t> known;  ///< 0 where the row is null

  std::optional<double> at(size_t row) const { return known[row] != 0 ? std::optional(values[row]) : std::nullopt; }
};

/// Calls `each(row, summary)` for every row of a series: what RollingTotals says after that row, to the bit. The two
/// stacks are the run of `window` rows that the row lies in, from its start, and the one before, from its end.
template <typename Each>
void each_window(const Series& series, size_t window, Each each) {
  const size_t rows = series.values.size();
  std::vector<Totals> older(std::min(window, rows) + 1);
  Summary now;
  bool shifted = false;
  for (size_t first = 0; first < rows; first += window) {
    if (first > 0) {
      const auto known = std::find(series.known.begin() + static_cast<std::ptrdiff_t>(first - window),
                                   series.known.begin() + static_cast<std::ptrdiff_t>(first), 1);
      const auto at = static_cast<size_t>(known - series.known.begin());
      if (at < first) now.shift = series.values[at];
      Totals sums;
      for (size_t i = window; i-- > 0;) {
        const size_t row = first - window + i;
        if (series.known[row] != 0) sums.add(series.values[row], series.values[row] - now.shift);
        older[i] = sums;
      }
    }
    Totals recent;
    const size_t last = std::min(rows, first + window);
    for (size_t row = first; row < last; ++row) {
      if (series.known[row] != 0) {
        if (!shifted) now.shift = series.values[row];
        shifted = true;
        recent.add(series.values[row], series.values[row] - now.shift);
      }
      const size_t left = row - first + 1;
      now.totals = first == 0 || left == window ? recent : Totals::joined(older[left], recent);
      each(row, now);
    }
  }
}

/// The median of the last `window` rows, O(log window) a row: the values in two halves, each sorted.
class RollingMedian {
 public:
  explicit RollingMedian(size_t window) : window_(window) {}

  void push(std::optional<double> value);
  /// Of at least one value.
  double median() const;
  /// Memory for a window, at most: a row and a node of a set.
  static size_t bytes(size_t window) { return window * (2 * sizeof(std::optional<double>) + 48); }

 private:
  void remove(double value);
  void level();

  const size_t window_;
  size_t oldest_ = 0;
  std::vector<std::optional<double>> rows_;  ///< a ring once it is full
  std::multiset<double> low_, high_;         ///< as many in both, or one more in `low_`
};

/// What a row leaves of the weights before it in a weighted mean: 1 - alpha, alpha = 2 / (span + 1).
inline double kept_weight(size_t span) {
  return 1.0 - 2.0 / (static_cast<double>(span) + 1.0);
}

/// Rows before a row that its weighted mean looks at: those further back weigh less than 1e-300 each, so that the
/// largest values that columns take add nothing that matters.
size_t weighted_reach(size_t span);

/// Exponentially weighted mean, adjusted: weights (1 - alpha)^age over all rows.
class WeightedMean {
 public:
  explicit WeightedMean(size_t span) : keep_(kept_weight(span)) {}

  /// A null only ages the values before it.
  void push(std::optional<double> value);
  /// Of at least one value. The weights of nulls are left out.
  double mean() const { return mean_; }
  /// Of all values together; that of the last row is 1.
  double weight() const { return weight_; }

 private:
  double keep_;
  double weight_ = 0;
  double mean_ = 0;
};

/// The same over the last `window` rows, O(1) a row on average: two stacks as those of RollingTotals, or none where
/// rows before the window do not matter.
class RollingWeightedMean {
 public:
  RollingWeightedMean(size_t span, size_t window);

  void push(std::optional<double> value);
  /// Where the last row has a value.
  double mean() const;
  /// As those of RollingTotals.
  size_t due(size_t rows) const { return window_ > 0 && rows + recent_.size() > window_ ? window_ : 0; }
  static size_t bytes(size_t span, size_t window);

 private:
  struct Part {
    double weight = 0;
    double mean = 0;
  };
  void turn_over();

  const size_t span_;
  const size_t window_;      ///< 0 = all rows
  std::vector<Part> older_;  ///< the last covers all older rows; weights as when they were turned over
  std::vector<std::optional<double>> recent_;
  WeightedMean recent_mean_;
  double left_ = 1;  ///< what recent rows leave of older weights
};

}  // namespace quern::columns
