#include "lbfgs.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

namespace quern::classify {
namespace {

/// Steps that are remembered.
constexpr size_t kMemory = 10;
/// Share of the promised decrease that a step must bring (Armijo).
constexpr double kDecrease = 1e-4;
constexpr int kHalvings = 30;

struct Step {
  std::vector<double> move;
  std::vector<double> change;  ///< of the gradient
  double curvature;            ///< product of both
};

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

void add(std::vector<double>& to, double factor, const std::vector<double>& values) {
  for (size_t i = 0; i < to.size(); ++i) to[i] += factor * values[i];
}

/// Minus the inverse Hessian, as the steps know it, times the gradient.
std::vector<double> direction_of(const std::deque<Step>& steps, const std::vector<double>& gradient) {
  std::vector<double> direction = gradient;
  std::vector<double> weights(steps.size());
  for (size_t i = steps.size(); i-- > 0;) {
    weights[i] = dot(steps[i].move, direction) / steps[i].curvature;
    add(direction, -weights[i], steps[i].change);
  }
  const double scale = steps.empty() ? 1 / std::max(1.0, std::sqrt(dot(gradient, gradient)))
                                     : steps.back().curvature / dot(steps.back().change, steps.back().change);
  for (double& value : direction) value *= scale;
  for (size_t i = 0; i < steps.size(); ++i)
    add(direction, weights[i] - dot(steps[i].change, direction) / steps[i].curvature, steps[i].move);
  for (double& value : direction) value = -value;
  return direction;
}

}  // namespace

void minimise(const Objective& objective, std::vector<double>& at, const Stopping& stopping) {
  std::vector<double> gradient(at.size()), next_gradient(at.size()), next;
  double value = objective(at, gradient);
  std::deque<Step> steps;
  for (size_t iteration = 0; iteration < stopping.iterations && largest(gradient) > stopping.gradient; ++iteration) {
    std::vector<double> direction = direction_of(steps, gradient);
    const double slope = dot(direction, gradient);
    // Rounding may spoil the memory near the minimum: there is nothing to gain any more.
    if (!(slope < 0)) return;
    double length = 1;
    double next_value = value;
    int halvings = 0;
    for (;; ++halvings, length /= 2) {
      if (halvings == kHalvings) return;
      next = at;
      add(next, length, direction);
      next_value = objective(next, next_gradient);
      if (next_value <= value + kDecrease * length * slope) break;
    }
    Step step{next, next_gradient, 0};
    add(step.move, -1, at);
    add(step.change, -1, gradient);
    step.curvature = dot(step.move, step.change);
    if (step.curvature > 1e-12 * dot(step.change, step.change)) steps.push_back(std::move(step));
    if (steps.size() > kMemory) steps.pop_front();
    at.swap(next);
    gradient.swap(next_gradient);
    value = next_value;
  }
}

}  // namespace quern::classify
