#pragma once

// The loops of pair_steps.hpp; every file that includes this one is compiled for its own instruction set.

#include <cstring>
#include <limits>

#include "pair_steps.hpp"

namespace quern {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <typename T, size_t Bytes>
struct Vector {
  typedef T Type __attribute__((vector_size(Bytes)));
};

template <size_t Bytes>
struct Wide {
  using Doubles = typename Vector<double, Bytes>::Type;
  using Floats = typename Vector<float, Bytes / 2>::Type;
  static constexpr size_t kWidth = Bytes / sizeof(double);

  static Doubles load(const double* from) {
    Doubles values;
    std::memcpy(&values, from, Bytes);
    return values;
  }
  static Doubles load(const float* from) {
    Floats values;
    std::memcpy(&values, from, Bytes / 2);
    return __builtin_convertvector(values, Doubles);
  }
};

/// Keeps the greater value with its rank, of equal ones the greater rank.
void keep_greatest(Extreme& best, double value, double rank) {
  if (value > best.value || (value == best.value && rank > best.rank)) best = {value, rank};
}

template <size_t Bytes>
Extreme greatest_lane(const typename Wide<Bytes>::Doubles& values, const typename Wide<Bytes>::Doubles& ranks) {
  Extreme best{values[0], ranks[0]};
  for (size_t lane = 1; lane < Wide<Bytes>::kWidth; ++lane) keep_greatest(best, values[lane], ranks[lane]);
  return best;
}

template <size_t Bytes>
Extreme greatest(const Choice& choice) {
  const auto [gradient, leave, ranks, count] = choice;
  using W = Wide<Bytes>;
  typename W::Doubles most = typename W::Doubles{} - kInfinity, where = typename W::Doubles{} - 1;
  size_t i = 0;
  for (; i + W::kWidth <= count; i += W::kWidth) {
    const typename W::Doubles value = W::load(leave + i) - W::load(gradient + i);
    const typename W::Doubles rank = W::load(ranks + i);
    const auto better = (value > most) | ((value == most) & (rank > where));
    where = better ? rank : where;
    most = value > most ? value : most;
  }
  Extreme found = greatest_lane<Bytes>(most, where);
  for (; i < count; ++i) keep_greatest(found, leave[i] - gradient[i], ranks[i]);
  return found;
}

template <size_t Bytes>
void add(double* gradient, const float* a, const float* b, double by_a, double by_b, size_t count) {
  using W = Wide<Bytes>;
  size_t i = 0;
  for (; i + W::kWidth <= count; i += W::kWidth) {
    const typename W::Doubles sum = W::load(gradient + i) + (by_a * W::load(a + i) + by_b * W::load(b + i));
    std::memcpy(gradient + i, &sum, Bytes);
  }
  for (; i < count; ++i) gradient[i] += by_a * static_cast<double>(a[i]) + by_b * static_cast<double>(b[i]);
}

template <size_t Bytes>
Partner partner(const Choice& choice, const float* entries, double grow, double least_curvature) {
  const auto [gradient, leave, ranks, count] = choice;
  using W = Wide<Bytes>;
  const typename W::Doubles zero = {}, nothing = zero - kInfinity;
  typename W::Doubles most = nothing, gains = nothing, where = zero - 1;
  size_t i = 0;
  for (; i + W::kWidth <= count; i += W::kWidth) {
    const typename W::Doubles value = W::load(gradient + i) + W::load(leave + i);
    most = value > most ? value : most;
    const typename W::Doubles broken = grow + value;
    typename W::Doubles curvature = 2 - 2 * W::load(entries + i);
    curvature = curvature > zero ? curvature : zero + least_curvature;
    const typename W::Doubles gained = broken * broken / curvature;
    const typename W::Doubles gain = broken > zero ? gained : nothing;
    const typename W::Doubles rank = W::load(ranks + i);
    const auto better = (gain > gains) | ((gain == gains) & (rank > where));
    where = better ? rank : where;
    gains = gain > gains ? gain : gains;
  }
  Partner best{greatest_lane<Bytes>(gains, where), most[0]};
  for (size_t lane = 1; lane < W::kWidth; ++lane)
    best.greatest = most[lane] > best.greatest ? most[lane] : best.greatest;
  for (; i < count; ++i) {
    const double value = gradient[i] + leave[i], broken = grow + value;
    if (value > best.greatest) best.greatest = value;
    if (!(broken > 0)) continue;
    const double curvature = 2 - 2 * static_cast<double>(entries[i]);
    const double gain = broken * broken / (curvature > 0 ? curvature : least_curvature);
    keep_greatest(best.gain, gain, ranks[i]);
  }
  return best;
}

template <size_t Bytes>
constexpr PairSteps kPairSteps = {greatest<Bytes>, add<Bytes>, partner<Bytes>};

}  // namespace
}  // namespace quern
