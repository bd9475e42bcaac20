#include "window.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace quern::columns {

void Totals::add(double value, double shifted) {
  if (count == 0) {
    *this = {.count = 1, .sum = shifted, .squares = 0, .least = value, .most = value};
    return;
  }
  const double before = shifted - sum / static_cast<double>(count);
  ++count;
  sum += shifted;
  squares += before * (shifted - sum / static_cast<double>(count));
  least = std::min(least, value);
  most = std::max(most, value);
}

Totals Totals::joined(const Totals& a, const Totals& b) {
  if (a.count == 0) return b;
  if (b.count == 0) return a;
  const auto in_a = static_cast<double>(a.count), in_b = static_cast<double>(b.count);
  const double apart = b.sum / in_b - a.sum / in_a;
  return {.count = a.count + b.count,
          .sum = a.sum + b.sum,
          .squares = a.squares + b.squares + apart * apart * (in_a * in_b / (in_a + in_b)),
          .least = std::min(a.least, b.least),
          .most = std::max(a.most, b.most)};
}

void RollingTotals::turn_over() {
  // All sums are made anew here, so this is where the shift may follow the values.
  const auto known = std::find_if(recent_.begin(), recent_.end(), [](const auto& value) { return value.has_value(); });
  if (known != recent_.end()) shift_ = **known;
  Totals sums;
  for (size_t i = recent_.size(); i-- > 0;) {
    if (recent_[i]) sums.add(*recent_[i], *recent_[i] - shift_);
    older_.push_back(sums);
  }
  recent_.clear();
  recent_totals_ = {};
}

void RollingTotals::push(std::optional<double> value) {
  if (older_.size() + recent_.size() == window_) {
    if (older_.empty()) turn_over();
    older_.pop_back();
  }
  if (value && !shifted_) {
    shift_ = *value;
    shifted_ = true;
  }
  if (value) recent_totals_.add(*value, *value - shift_);
  recent_.push_back(value);
  now_ = older_.empty() ? recent_totals_ : Totals::joined(older_.back(), recent_totals_);
}

double RollingTotals::mean() const {
  // Equal values have exactly that mean, and no spread.
  if (now_.least == now_.most) return now_.least;
  return std::clamp(shift_ + now_.sum / static_cast<double>(now_.count), now_.least, now_.most);
}

double RollingTotals::above_mean(double value) const {
  if (now_.least == now_.most) return value - now_.least;
  return value - shift_ - now_.sum / static_cast<double>(now_.count);
}

double RollingTotals::sum() const {
  return now_.count == 0 ? 0.0 : std::fma(static_cast<double>(now_.count), shift_, now_.sum);
}

double RollingTotals::deviation() const {
  if (now_.least == now_.most) return 0.0;
  return std::sqrt(now_.squares / static_cast<double>(now_.count - 1));
}

void RollingMedian::push(std::optional<double> value) {
  if (rows_.size() < window_) {
    rows_.push_back(value);
  } else {
    if (rows_[oldest_]) remove(*rows_[oldest_]);
    rows_[oldest_] = value;
    oldest_ = (oldest_ + 1) % window_;
  }
  if (value) {
    if (low_.empty() || *value <= *low_.rbegin())
      low_.insert(*value);
    else
      high_.insert(*value);
  }
  level();
}

void RollingMedian::remove(double value) {
  // The largest of the lower half may have equals in the upper one; either may go.
  if (!low_.empty() && value <= *low_.rbegin())
    low_.erase(low_.find(value));
  else
    high_.erase(high_.find(value));
  level();
}

void RollingMedian::level() {
  if (low_.size() > high_.size() + 1)
    high_.insert(low_.extract(std::prev(low_.end())));
  else if (high_.size() > low_.size())
    low_.insert(high_.extract(high_.begin()));
}

double RollingMedian::median() const {
  if (low_.size() > high_.size()) return *low_.rbegin();
  // Halves first: the sum of two large values may overflow.
  return *low_.rbegin() / 2 + *high_.begin() / 2;
}

void WeightedMean::push(std::optional<double> value) {
  weight_ *= keep_;
  if (!value) return;
  weight_ += 1.0;
  mean_ += (*value - mean_) / weight_;
}

}  // namespace quern::columns
