#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <vector>

namespace quern::columns {

/// Of the values of a window; a null adds nothing.
struct Totals {
  size_t count = 0;
  double sum = 0;      ///< of the values less the window's shift
  double squares = 0;  ///< squared deviations from the mean
  double least = 0;
  double most = 0;

  /// One more value; `shifted` is it less the shift.
  void add(double value, double shifted);
  /// Both together. Source: Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample
  /// variances", 1979.
  static Totals joined(const Totals& a, const Totals& b);
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

  size_t count() const { return now_.count; }
  double sum() const;
  /// Of at least one value.
  double mean() const;
  /// How far a value is above the mean, of at least one value; exact also where all values have a large offset.
  double above_mean(double value) const;
  /// Of at least two values; the divisor is their number less one.
  double deviation() const;
  double least() const { return now_.least; }
  double most() const { return now_.most; }

 private:
  void turn_over();

  const size_t window_;
  double shift_ = 0;
  bool shifted_ = false;
  std::vector<Totals> older_;                  ///< the last covers all older rows, each one before it a row less
  std::vector<std::optional<double>> recent_;  ///< rows since they were turned over
  Totals recent_totals_;
  Totals now_;
};

/// The median of the last `window` rows, O(log window) a row: the values in two halves, each sorted.
class RollingMedian {
 public:
  explicit RollingMedian(size_t window) : window_(window) {}

  void push(std::optional<double> value);
  /// Of at least one value.
  double median() const;

 private:
  void remove(double value);
  void level();

  const size_t window_;
  size_t oldest_ = 0;
  std::vector<std::optional<double>> rows_;  ///< a ring once it is full
  std::multiset<double> low_, high_;         ///< as many in both, or one more in `low_`
};

/// Exponentially weighted mean, adjusted: weights (1 - alpha)^age over all rows, alpha = 2 / (span + 1).
class WeightedMean {
 public:
  explicit WeightedMean(size_t span) : keep_(1.0 - 2.0 / (static_cast<double>(span) + 1.0)) {}

  /// A null only ages the values before it.
  void push(std::optional<double> value);
  /// Of at least one value. The weights of nulls are left out.
  double mean() const { return mean_; }

 private:
  const double keep_;
  double weight_ = 0;
  double mean_ = 0;
};

}  // namespace quern::columns
