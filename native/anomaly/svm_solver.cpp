#include "svm_solver.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "kernel_rows.hpp"

namespace quern::anomaly {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Stands for the curvature of a pair of equal points.
constexpr double kLeastCurvature = 1e-12;
/// Steps between two looks for weights that will stay at their bounds.
constexpr size_t kShrinkSteps = 1000;
/// Once the conditions are broken by no more than so many tolerances, everything is looked at again.
constexpr double kAlmost = 10;

class Solver {
 public:
  Solver(const Matrix& rows, double gamma, double nu, double tolerance, const Work& work)
      : count_(rows.rows), active_(rows.rows), tolerance_(tolerance), work_(work), kernel_(rows, gamma) {
    weights_.assign(count_, 0);
    const double sum = nu * static_cast<double>(count_);
    const size_t full = static_cast<size_t>(sum);
    std::fill_n(weights_.begin(), full, 1.0);
    if (full < count_) weights_[full] = sum - static_cast<double>(full);
    bounded_.assign(count_, 0);
    kernel_.weighted_sums(std::span(weights_).first(full), bounded_, work);
    gradient_ = bounded_;
    if (full < count_ && weights_[full] > 0) {
      const float* row = kernel_.row(static_cast<uint32_t>(full), count_);
      for (size_t k = 0; k < count_; ++k) gradient_[k] += weights_[full] * static_cast<double>(row[k]);
    }
    places_.resize(count_);
    std::iota(places_.begin(), places_.end(), 0u);
  }

  Support solve() {
    size_t until_shrink = std::min(count_, kShrinkSteps) + 1;
    for (size_t step = 0;; ++step) {
      if (step % 16 == 0) work_.check();
      if (--until_shrink == 0) {
        until_shrink = std::min(count_, kShrinkSteps);
        shrink();
      }
      auto pair = choose();
      if (!pair) {
        restore();
        pair = choose();
        if (!pair) break;
        until_shrink = 1;
      }
      improve(pair->first, pair->second);
    }
    Support support{std::vector<double>(count_), rho()};
    for (size_t i = 0; i < count_; ++i) support.weights[places_[i]] = weights_[i];
    return support;
  }

 private:
  bool at_most(size_t i) const { return weights_[i] >= 1; }
  bool at_least(size_t i) const { return weights_[i] <= 0; }

  /// The weight that gains most by growing, and the one whose shrinking with it gains most; nothing at the optimum.
  std::optional<std::pair<uint32_t, uint32_t>> choose() {
    double grow = -kInfinity;
    size_t first = count_;
    for (size_t i = 0; i < active_; ++i)
      if (!at_most(i) && -gradient_[i] >= grow) {
        grow = -gradient_[i];
        first = i;
      }
    if (first == count_) return std::nullopt;
    const float* row = kernel_.row(static_cast<uint32_t>(first), active_);
    double shrink = -kInfinity, least = kInfinity;
    size_t second = count_;
    for (size_t i = 0; i < active_; ++i) {
      if (at_least(i)) continue;
      shrink = std::max(shrink, gradient_[i]);
      const double broken = grow + gradient_[i];
      if (broken <= 0) continue;
      const double gain = -(broken * broken) / curvature(row[i]);
      if (gain <= least) {
        least = gain;
        second = i;
      }
    }
    if (grow + shrink < tolerance_ || second == count_) return std::nullopt;
    return std::pair{static_cast<uint32_t>(first), static_cast<uint32_t>(second)};
  }

  static double curvature(float entry) {
    const double value = 2 - 2 * static_cast<double>(entry);
    return value > 0 ? value : kLeastCurvature;
  }

  /// The best step of a pair whose sum stays.
  void improve(uint32_t i, uint32_t j) {
    const float* first = kernel_.row(i, active_);
    const float* second = kernel_.row(j, active_);
    const double old_i = weights_[i], old_j = weights_[j];
    const double sum = old_i + old_j;
    const double step = (gradient_[i] - gradient_[j]) / curvature(first[j]);
    const double least = std::max(0.0, sum - 1), most = std::min(1.0, sum);
    weights_[i] = std::clamp(old_i - step, least, most);
    weights_[j] = std::clamp(old_j + step, least, most);
    if (weights_[i] == least) weights_[j] = most;
    if (weights_[i] == most) weights_[j] = least;
    const double by_i = weights_[i] - old_i, by_j = weights_[j] - old_j;
    for (size_t k = 0; k < active_; ++k)
      gradient_[k] += by_i * static_cast<double>(first[k]) + by_j * static_cast<double>(second[k]);
    for (const auto& [point, before] : {std::pair{i, old_i}, std::pair{j, old_j}})
      if ((before >= 1) != at_most(point)) bound_changed(point, at_most(point) ? 1.0 : -1.0);
  }

  void bound_changed(uint32_t point, double sign) {
    const float* row = kernel_.row(point, count_);
    for (size_t k = 0; k < count_; ++k) bounded_[k] += sign * static_cast<double>(row[k]);
  }

  /// Leaves out weights at a bound that pull away from it.
  void shrink() {
    double grow = -kInfinity, shrink = -kInfinity;
    for (size_t i = 0; i < active_; ++i) {
      if (!at_most(i)) grow = std::max(grow, -gradient_[i]);
      if (!at_least(i)) shrink = std::max(shrink, gradient_[i]);
    }
    if (!restored_ && grow + shrink <= tolerance_ * kAlmost) {
      restored_ = true;
      restore();
    }
    const auto settled = [&](size_t i) {
      if (at_most(i)) return -gradient_[i] > grow;
      return at_least(i) && gradient_[i] > shrink;
    };
    for (size_t i = 0; i < active_; ++i) {
      if (!settled(i)) continue;
      while (--active_ > i)
        if (!settled(active_)) {
          exchange(static_cast<uint32_t>(i), static_cast<uint32_t>(active_));
          break;
        }
    }
  }

  void exchange(uint32_t a, uint32_t b) {
    kernel_.swap(a, b);
    std::swap(weights_[a], weights_[b]);
    std::swap(gradient_[a], gradient_[b]);
    std::swap(bounded_[a], bounded_[b]);
    std::swap(places_[a], places_[b]);
  }

  /// Makes the gradient of what was left out whole again: from the weights at their upper bound, and the free ones.
  void restore() {
    if (active_ == count_) return;
    for (size_t k = active_; k < count_; ++k) gradient_[k] = bounded_[k];
    for (size_t i = 0; i < count_; ++i) {
      if (at_most(i) || at_least(i)) continue;
      work_.check();
      const float* row = kernel_.row(static_cast<uint32_t>(i), count_);
      for (size_t k = active_; k < count_; ++k) gradient_[k] += weights_[i] * static_cast<double>(row[k]);
    }
    active_ = count_;
  }

  /// The gradient of free weights is rho; without one, rho lies between those at the bounds.
  double rho() const {
    double high = kInfinity, low = -kInfinity, sum = 0;
    size_t free = 0;
    for (size_t i = 0; i < count_; ++i) {
      if (at_most(i)) {
        low = std::max(low, gradient_[i]);
      } else if (at_least(i)) {
        high = std::min(high, gradient_[i]);
      } else {
        ++free;
        sum += gradient_[i];
      }
    }
    if (free > 0) return sum / static_cast<double>(free);
    return (high + low) / 2;
  }

  const size_t count_;
  size_t active_;
  const double tolerance_;
  const Work& work_;
  KernelRows kernel_;
  std::vector<double> weights_;
  std::vector<double> gradient_;
  std::vector<double> bounded_;  ///< the share of the weights at their upper bound in the gradient
  std::vector<uint32_t> places_;
  bool restored_ = false;
};

}  // namespace

Support solve_one_class(const Matrix& rows, double gamma, double nu, double tolerance, const Work& work) {
  return Solver(rows, gamma, nu, tolerance, work).solve();
}

}  // namespace quern::anomaly
