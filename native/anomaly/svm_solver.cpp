#include "svm_solver.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>

#include "kernel_rows.hpp"
#include "kernels/pair_steps.hpp"

namespace quern::anomaly {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Stands for the curvature of a pair of equal points.
constexpr double kLeastCurvature = 1e-12;
/// Steps between two looks for weights that will stay at their bounds.
constexpr size_t kRestSteps = 1000;
/// Once the conditions are broken by no more than so many tolerances, everything is looked at again.
constexpr double kAlmost = 10;

class Solver {
 public:
  Solver(const Matrix& rows, double gamma, double nu, double tolerance, const Work& work, size_t most_kept)
      : count_(rows.rows),
        active_(rows.rows),
        tolerance_(tolerance),
        work_(work),
        kernel_(rows, gamma, work, most_kept) {
    const double sum = nu * static_cast<double>(count_);
    const size_t full = static_cast<size_t>(sum);
    weights_.assign(count_, 0);
    std::fill_n(weights_.begin(), full, 1.0);
    if (full < count_) weights_[full] = sum - static_cast<double>(full);
    grows_.resize(count_);
    shrinks_.resize(count_);
    order_.resize(count_);
    std::iota(order_.begin(), order_.end(), 0u);
    ranks_.assign(order_.begin(), order_.end());
    for (uint32_t i = 0; i < count_; ++i) note_bounds(i);
    gradient_.assign(count_, 0);
    const uint32_t last = static_cast<uint32_t>(full < count_ && weights_[full] > 0 ? full + 1 : full);
    for (uint32_t first = 0; first < last; first += KernelRows::kTogether) {
      std::array<uint32_t, KernelRows::kTogether> some;
      size_t taken = 0;
      for (uint32_t i = first; i < last && taken < some.size(); ++i) some[taken++] = i;
      kernel_.make(std::span(some).first(taken));
      for (size_t i = 0; i < taken; ++i) {
        const float* row = kernel_.row(some[i]);
        steps_.add(gradient_.data(), row, row, weights_[some[i]], 0, count_);
      }
    }
  }

  Support solve() {
    size_t until_rest = std::min(count_, kRestSteps) + 1;
    for (size_t step = 0;; ++step) {
      if (step % 16 == 0) work_.check();
      if (--until_rest == 0) {
        until_rest = std::min(count_, kRestSteps);
        rest();
      }
      auto pair = choose();
      if (!pair) {
        wake();
        pair = choose();
        if (!pair) return {weights_, rho()};
        until_rest = 1;
      }
      improve(pair->first, pair->second);
    }
  }

 private:
  bool at_most(size_t i) const { return weights_[i] >= 1; }
  bool at_least(size_t i) const { return weights_[i] <= 0; }
  void note_bounds(uint32_t i) {
    const bool rests = ranks_[i] >= static_cast<double>(active_);
    grows_[i] = rests || at_most(i) ? -kInfinity : 0;
    shrinks_[i] = rests || at_least(i) ? -kInfinity : 0;
  }

  /// The weight that gains most by growing, and the one whose shrinking with it gains most; nothing at the optimum.
  std::optional<std::pair<uint32_t, uint32_t>> choose() {
    const Extreme first = steps_.greatest({gradient_.data(), grows_.data(), ranks_.data(), count_});
    if (first.value == -kInfinity) return std::nullopt;
    const uint32_t grower = order_[static_cast<size_t>(first.rank)];
    const Partner second = steps_.partner({gradient_.data(), shrinks_.data(), ranks_.data(), count_}, row_of(grower),
                                          first.value, kLeastCurvature);
    if (first.value + second.greatest < tolerance_ || second.gain.value == -kInfinity) return std::nullopt;
    return std::pair{grower, order_[static_cast<size_t>(second.gain.rank)]};
  }

  /// A row, which is made together with those of the weights that gain most by growing, for they come next, as long as
  /// these take nobody's place.
  const float* row_of(uint32_t point) {
    if (!kernel_.has(point) && kernel_.full()) kernel_.make({&point, 1});
    if (!kernel_.has(point)) {
      std::array<uint32_t, KernelRows::kTogether> some{point};
      std::array<double, KernelRows::kTogether> gains{kInfinity};
      size_t taken = 1;
      for (uint32_t i = 0; i < count_; ++i) {
        const double gain = grows_[i] - gradient_[i];
        if (taken == some.size() && gain <= gains.back()) continue;
        if (i == point || gain == -kInfinity || kernel_.has(i)) continue;
        size_t at = taken < some.size() ? taken++ : taken - 1;
        for (; gain > gains[at - 1]; --at) {
          gains[at] = gains[at - 1];
          some[at] = some[at - 1];
        }
        gains[at] = gain;
        some[at] = i;
      }
      kernel_.make(std::span(some).first(taken));
    }
    return kernel_.row(point);
  }

  static double curvature(float entry) {
    const double value = 2 - 2 * static_cast<double>(entry);
    return value > 0 ? value : kLeastCurvature;
  }

  /// The best step of a pair whose sum stays.
  void improve(uint32_t i, uint32_t j) {
    const float* first = row_of(i);
    const float* second = row_of(j);
    const double old_i = weights_[i], old_j = weights_[j];
    const double sum = old_i + old_j;
    const double step = (gradient_[i] - gradient_[j]) / curvature(first[j]);
    const double least = std::max(0.0, sum - 1), most = std::min(1.0, sum);
    weights_[i] = std::clamp(old_i - step, least, most);
    weights_[j] = std::clamp(old_j + step, least, most);
    if (weights_[i] == least) weights_[j] = most;
    if (weights_[i] == most) weights_[j] = least;
    note_bounds(i);
    note_bounds(j);
    steps_.add(gradient_.data(), first, second, weights_[i] - old_i, weights_[j] - old_j, count_);
  }

  /**
   * Leaves out weights at a bound that pull away from it, and gives their places to others. It saves nothing, for all
   * gradients are kept up to date, but pairs that were just moved have equal gradients, and which of them is taken
   * depends on their places: the steps are those of the reference, and so are the digits.
   */
  void rest() {
    double grow = -kInfinity, shrink = -kInfinity;
    for (size_t i = 0; i < count_; ++i) {
      grow = std::max(grow, grows_[i] - gradient_[i]);
      shrink = std::max(shrink, shrinks_[i] + gradient_[i]);
    }
    if (!woken_ && grow + shrink <= tolerance_ * kAlmost) {
      woken_ = true;
      wake();
    }
    const auto settled = [&](size_t rank) {
      const uint32_t i = order_[rank];
      return (at_most(i) && -gradient_[i] > grow) || (at_least(i) && gradient_[i] > shrink);
    };
    for (size_t rank = 0; rank < active_; ++rank) {
      if (!settled(rank)) continue;
      while (--active_ > rank)
        if (!settled(active_)) {
          std::swap(order_[rank], order_[active_]);
          break;
        }
    }
    for (uint32_t rank = 0; rank < count_; ++rank) ranks_[order_[rank]] = rank;
    for (uint32_t i = 0; i < count_; ++i) note_bounds(i);
  }

  void wake() {
    active_ = count_;
    for (uint32_t i = 0; i < count_; ++i) note_bounds(i);
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
  const PairSteps& steps_ = pair_steps();
  KernelRows kernel_;
  std::vector<double> weights_;
  std::vector<double> gradient_;
  std::vector<double> grows_;    ///< 0 where a weight may grow, else minus infinity
  std::vector<double> shrinks_;  ///< 0 where a weight may shrink, else minus infinity
  std::vector<uint32_t> order_;  ///< the active ones first
  std::vector<double> ranks_;    ///< places in order_
  bool woken_ = false;
};

}  // namespace

Support solve_one_class(const Matrix& rows, double gamma, double nu, double tolerance, const Work& work,
                        size_t most_kept) {
  return Solver(rows, gamma, nu, tolerance, work, most_kept).solve();
}

}  // namespace quern::anomaly
