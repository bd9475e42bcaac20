#include "resampler.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>

#include "../base/failure.hpp"
#include "../kernels/distance.hpp"

namespace quern::audio {
namespace {

/// Samples of the lower rate that the filter spans.
constexpr double kSpan = 64;
/// How far down the stopband is, in dB, and what Kaiser's formulas make of it.
constexpr double kStopband = 97;
constexpr double kBeta = 0.1102 * (kStopband - 8.7);
constexpr double kTransition = (kStopband - 7.95) / (14.36 * kSpan);
/// Rows of the table. Between two of so many a straight line is off by less than -105 dB.
constexpr int64_t kMostRows = 512;
/// Taps come in whole vectors of the widest registers.
constexpr size_t kLanes = 16;

/// Modified Bessel function of the first kind and order 0, by its power series.
double bessel(double x) {
  double sum = 1;
  double term = 1;
  for (int k = 1; term > sum * 1e-16; ++k) {
    term *= (x / 2 / k) * (x / 2 / k);
    sum += term;
  }
  return sum;
}

/// Points of the window's half. Between two of so many a straight line is off by less than -130 dB.
constexpr size_t kWindowPoints = 4096;

/// The half of Kaiser's window, from its middle (1) to its end; one more value at the end.
const std::vector<double>& window() {
  static const std::vector<double> points = [] {
    std::vector<double> made(kWindowPoints + 2);
    for (size_t i = 0; i <= kWindowPoints; ++i) {
      const double reach = static_cast<double>(i) / kWindowPoints;
      made[i] = bessel(kBeta * std::sqrt(1 - reach * reach)) / bessel(kBeta);
    }
    return made;
  }();
  return points;
}

/// The filter at `t` samples of the input from its middle; `cutoff` in cycles a sample.
double filter_at(double t, double half, double cutoff) {
  const double reach = std::abs(t) / half * kWindowPoints;
  if (reach >= kWindowPoints) return 0;
  const auto point = static_cast<size_t>(reach);
  const double here = window()[point];
  const double tapered = here + (reach - static_cast<double>(point)) * (window()[point + 1] - here);
  const double angle = 2 * std::numbers::pi * cutoff * t;
  return tapered * (std::abs(angle) < 1e-9 ? 1 : std::sin(angle) / angle);
}

int32_t checked(int32_t rate, const char* name) {
  if (rate < kLeastRate || rate > kMostRate)
    throw Failure("invalid", std::string(name) + " is " + std::to_string(rate) + " Hz; allowed is " +
                                 std::to_string(kLeastRate) + " to " + std::to_string(kMostRate) + ".");
  return rate;
}

}  // namespace

Resampler::Resampler(int32_t from, int32_t to, Isa isa) : dot_(distance_kernels(isa).dot) {
  const int64_t shared = std::gcd(checked(from, "from"), checked(to, "to"));
  phases_ = to / shared;
  step_ = from / shared;
  const double lower = std::min(from, to);
  const double half = kSpan / 2 * from / lower;
  const auto reach = static_cast<size_t>(std::ceil(half));
  behind_ = static_cast<int64_t>(reach) - 1;
  taps_ = (2 * reach + kLanes - 1) / kLanes * kLanes;
  const bool between = phases_ > kMostRows;
  rows_ = between ? kMostRows : phases_;
  const double cutoff = (0.5 - kTransition / 2) * lower / from;
  const size_t rows = static_cast<size_t>(rows_) + (between ? 1 : 0);
  table_.resize(rows * taps_);
  for (size_t row = 0; row < rows; ++row) {
    float* taps = table_.data() + row * taps_;
    const double ahead = static_cast<double>(row) / static_cast<double>(rows_);
    double sum = 0;
    for (size_t i = 0; i < taps_; ++i) {
      const double value = filter_at(static_cast<double>(i) - static_cast<double>(behind_) - ahead, half, cutoff);
      taps[i] = static_cast<float>(value);
      sum += value;
    }
    // Each phase passes a constant unchanged.
    for (size_t i = 0; i < taps_; ++i) taps[i] = static_cast<float>(taps[i] / sum);
  }
  begin();
}

void Resampler::begin() {
  const auto before = static_cast<int64_t>(taps_);
  waiting_.assign(taps_, 0);
  first_ = -before;
  taken_ = 0;
  place_ = 0;
  phase_ = 0;
}

float Resampler::at(const float* window, int64_t phase) const {
  if (rows_ == phases_) return dot_(window, table_.data() + static_cast<size_t>(phase) * taps_, taps_);
  const double place = static_cast<double>(phase) * static_cast<double>(rows_) / static_cast<double>(phases_);
  const auto row = static_cast<size_t>(place);
  const auto share = static_cast<float>(place - static_cast<double>(row));
  const float* taps = table_.data() + row * taps_;
  const float here = dot_(window, taps, taps_);
  return here + share * (dot_(window, taps + taps_, taps_) - here);
}

/// Makes all outputs whose windows end before sample `known` of the input, and forgets what none needs any more.
void Resampler::filter(int64_t known, std::vector<float>& out) {
  const auto taps = static_cast<int64_t>(taps_);
  while (place_ - behind_ + taps <= known) {
    out.push_back(at(waiting_.data() + (place_ - behind_ - first_), phase_));
    phase_ += step_;
    place_ += phase_ / phases_;
    phase_ %= phases_;
  }
  const int64_t unneeded = std::min(place_ - behind_ - first_, static_cast<int64_t>(waiting_.size()));
  if (unneeded <= 0) return;
  waiting_.erase(waiting_.begin(), waiting_.begin() + unneeded);
  first_ += unneeded;
}

void Resampler::push(std::span<const float> samples, std::vector<float>& out) {
  if (phases_ == step_) {
    out.insert(out.end(), samples.begin(), samples.end());
    return;
  }
  waiting_.insert(waiting_.end(), samples.begin(), samples.end());
  taken_ += static_cast<int64_t>(samples.size());
  filter(taken_, out);
}

void Resampler::flush(std::vector<float>& out) {
  const int64_t total = (taken_ * phases_ + step_ - 1) / step_;
  // The outputs so far follow from the place of the next one.
  const int64_t made = (place_ * phases_ + phase_) / step_;
  const size_t wanted = out.size() + static_cast<size_t>(total - made);
  waiting_.insert(waiting_.end(), 2 * taps_, 0);
  filter(taken_ + 2 * static_cast<int64_t>(taps_), out);
  out.resize(std::min(wanted, out.size()));
  begin();
}

}  // namespace quern::audio
