#include "window.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace quern::columns {

void RollingTotals::turn_over() {
  // All sums are made anew here, so this is where the shift may follow the values.
  const auto known = std::find_if(recent_.begin(), recent_.end(), [](const auto& value) { return value.has_value(); });
  if (known != recent_.end()) now_.shift = **known;
  Totals sums;
  older_.reserve(recent_.size());
  for (size_t i = recent_.size(); i-- > 0;) {
    if (recent_[i]) sums.add(*recent_[i], *recent_[i] - now_.shift);
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
    now_.shift = *value;
    shifted_ = true;
  }
  if (value) recent_totals_.add(*value, *value - now_.shift);
  recent_.push_back(value);
  now_.totals = older_.empty() ? recent_totals_ : Totals::joined(older_.back(), recent_totals_);
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
  // From the one that weighs more: what weighs next to nothing leaves no error either, however large it was.
  if (weight_ < 1.0)
    mean_ = *value + (mean_ - *value) * (weight_ / (weight_ + 1.0));
  else
    mean_ += (*value - mean_) / (weight_ + 1.0);
  weight_ += 1.0;
}

size_t weighted_reach(size_t span) {
  return static_cast<size_t>(std::ceil(std::log(1e-300) / std::log(kept_weight(span))));
}

RollingWeightedMean::RollingWeightedMean(size_t span, size_t window)
    : span_(span), window_(window > weighted_reach(span) ? 0 : window), recent_mean_(span) {}

void RollingWeightedMean::turn_over() {
  const double keep = kept_weight(span_);
  double weight = 1.0;
  Part all;
  older_.reserve(recent_.size());
  for (size_t i = recent_.size(); i-- > 0;) {
    if (recent_[i]) {
      all.weight += weight;
      all.mean += (*recent_[i] - all.mean) * (weight / all.weight);
    }
    older_.push_back(all);
    weight *= keep;
  }
  recent_.clear();
  recent_mean_ = WeightedMean(span_);
  left_ = 1.0;
}

void RollingWeightedMean::push(std::optional<double> value) {
  if (window_ > 0) {
    if (older_.size() + recent_.size() == window_) {
      if (older_.empty()) turn_over();
      older_.pop_back();
    }
    recent_.push_back(value);
    left_ *= kept_weight(span_);
  }
  recent_mean_.push(value);
}

double RollingWeightedMean::mean() const {
  if (older_.empty()) return recent_mean_.mean();
  const double before = older_.back().weight * left_, share = before / (before + recent_mean_.weight());
  return recent_mean_.mean() + (older_.back().mean - recent_mean_.mean()) * share;
}

size_t RollingWeightedMean::bytes(size_t span, size_t window) {
  return window > weighted_reach(span) ? 0 : window * (sizeof(Part) + 2 * sizeof(std::optional<double>));
}

}  // namespace quern::columns
