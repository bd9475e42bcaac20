#include "chi_square.hpp"

#include <cmath>

namespace quern::anomaly {
namespace {

constexpr int kMostTerms = 100'000;

/// The regularised incomplete gamma function P(a, x), by its series (Abramowitz and Stegun 6.5.29).
double lower_gamma(double a, double x) {
  if (x <= 0) return 0;
  double term = 1 / a, sum = term;
  for (int k = 1; k < kMostTerms && term > sum * 1e-17; ++k) {
    term *= x / (a + k);
    sum += term;
  }
  return sum * std::exp(a * std::log(x) - x - std::lgamma(a));
}

}  // namespace

double chi_square_above(double degrees, double chance) {
  double low = 0, high = degrees + 1;
  while (1 - lower_gamma(degrees / 2, high / 2) > chance) high *= 2;
  while (high - low > 1e-13 * high) {
    const double middle = (low + high) / 2;
    (1 - lower_gamma(degrees / 2, middle / 2) > chance ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace quern::anomaly
