#pragma once

// Included only by the files that are compiled for one instruction set each; see encoder_product.hpp.

#include "kernels.hpp"

namespace quern::encoder {

/// 2^x for x up to 0, within 1e-7 of it: a minimax polynomial of the rest after rounding, made by Lawson's algorithm.
template <class Set>
[[gnu::always_inline]] inline typename Set::Floats power_of_two(typename Set::Floats x) {
  // Of two numbers the second is taken where one is none: NaN comes through.
  x = Set::larger(Set::fill(-126.0f), x);
  const auto whole = Set::round(x);
  const auto rest = Set::subtract(x, whole);
  auto sum = Set::fill(0.00132647239f);
  sum = Set::multiply_add(sum, rest, Set::fill(0.00967151287f));
  sum = Set::multiply_add(sum, rest, Set::fill(0.0555073375f));
  sum = Set::multiply_add(sum, rest, Set::fill(0.240222421f));
  sum = Set::multiply_add(sum, rest, Set::fill(0.693146978f));
  sum = Set::multiply_add(sum, rest, Set::fill(1.0f));
  return Set::scale_by_power(sum, whole);
}

/**
 * max(x, 0) - |x| erfc(|x| / sqrt 2) / 2, where minus the binary logarithm of the last factor is a polynomial made by
 * Lawson's algorithm: within 1e-7 of x (1 + erf(x / sqrt 2)) / 2 for the approximation, plus the rounding of floats.
 */
template <class Set>
[[gnu::always_inline]] inline typename Set::Floats gelu(typename Set::Floats x) {
  const auto zero = Set::fill(0.0f);
  const auto size = Set::smaller(Set::larger(x, Set::subtract(zero, x)), Set::fill(6.0f));
  auto sum = Set::fill(2.99248708e-5f);
  sum = Set::multiply_add(sum, size, Set::fill(-0.000739879814f));
  sum = Set::multiply_add(sum, size, Set::fill(0.00797747948f));
  sum = Set::multiply_add(sum, size, Set::fill(-0.0532382093f));
  sum = Set::multiply_add(sum, size, Set::fill(-0.458915673f));
  sum = Set::multiply_add(sum, size, Set::fill(-1.15114709f));
  sum = Set::multiply_add(sum, size, Set::fill(-1.0f));
  return Set::subtract(Set::larger(zero, x), Set::multiply(size, power_of_two<Set>(sum)));
}

/// x (1 + tanh y) / 2 with y = sqrt(2 / pi) (x + 0.044715 x^3) (Hendrycks and Gimpel 2016), as max(x, 0) - |x| / (1 +
/// e^|2 y|).
template <class Set>
[[gnu::always_inline]] inline typename Set::Floats gelu_tanh(typename Set::Floats x) {
  const auto zero = Set::fill(0.0f), one = Set::fill(1.0f);
  const auto size = Set::smaller(Set::larger(x, Set::subtract(zero, x)), Set::fill(8.0f));
  // -2 sqrt(2 / pi) / ln 2
  const auto by = Set::multiply(size, Set::fill(-2.30220820f));
  const auto square = Set::multiply(size, size);
  const auto power = power_of_two<Set>(Set::multiply(by, Set::multiply_add(square, Set::fill(0.044715f), one)));
  const auto share = Set::divide(power, Set::add(one, power));
  return Set::subtract(Set::larger(zero, x), Set::multiply(size, share));
}

/// `change` on `rows` lines of kPanel numbers, in place.
template <class Set, class Change>
[[gnu::always_inline]] inline void each_of_panel(float* values, size_t rows, size_t step, Change change) {
  for (size_t r = 0; r < rows; ++r, values += step)
#pragma GCC unroll 8
    for (size_t i = 0; i < kPanel; i += Set::kLanes) Set::store(values + i, change(Set::load(values + i)));
}

/// Results of some rows and one panel through the activation.
template <class Set>
void activate_panel(Activation activation, float* values, size_t rows, size_t step) {
  using Floats = typename Set::Floats;
  switch (activation) {
    case Activation::kNone:
      return;
    case Activation::kTanh:
      for (size_t r = 0; r < rows; ++r)
        for (size_t i = 0; i < kPanel; ++i) values[r * step + i] = __builtin_tanhf(values[r * step + i]);
      return;
    case Activation::kGelu:
      return each_of_panel<Set>(values, rows, step, [](Floats x) { return gelu<Set>(x); });
    case Activation::kGeluTanh:
      return each_of_panel<Set>(values, rows, step, [](Floats x) { return gelu_tanh<Set>(x); });
    case Activation::kRelu:
      return each_of_panel<Set>(values, rows, step, [](Floats x) { return Set::larger(Set::fill(0.0f), x); });
  }
}

template <class Set>
void norm(float* values, size_t width, const float* weight, const float* bias, float epsilon) {
  const size_t line = padded(width, kLane);
  auto sum = Set::fill(0.0f);
  for (size_t i = 0; i < line; i += Set::kLanes) sum = Set::add(sum, Set::load(values + i));
  const float mean = Set::total(sum) / static_cast<float>(width);
  // Padding would count as far from the mean: it is brought to the mean, and to 0 by its weight afterwards.
  for (size_t i = width; i < line; ++i) values[i] = mean;
  const auto means = Set::fill(mean);
  auto squares = Set::fill(0.0f);
  for (size_t i = 0; i < line; i += Set::kLanes) {
    const auto difference = Set::subtract(Set::load(values + i), means);
    squares = Set::multiply_add(difference, difference, squares);
  }
  const auto inverse = Set::fill(1.0f / __builtin_sqrtf(Set::total(squares) / static_cast<float>(width) + epsilon));
  for (size_t i = 0; i < line; i += Set::kLanes) {
    const auto difference = Set::subtract(Set::load(values + i), means);
    const auto scale = Set::multiply(inverse, Set::load(weight + i));
    Set::store(values + i, Set::multiply_add(difference, scale, Set::load(bias + i)));
  }
}

template <class Set>
float shorten(const float* values, size_t count, int16_t* shorts) {
  const auto zero = Set::fill(0.0f);
  auto most = zero, unfit = zero;
  for (size_t i = 0; i < count; i += Set::kLanes) {
    const auto value = Set::load(values + i);
    most = Set::larger(most, Set::larger(value, Set::subtract(zero, value)));
    // 0, or no number where one is not finite: comparisons would lose it.
    unfit = Set::multiply_add(value, zero, unfit);
  }
  const float largest = Set::most(most);
  // Below that the inverse is not finite.
  const float inverse = largest > 1e-33f ? kMostShort / largest : 0.0f;
  for (size_t i = 0; i < count; i += kLane)
    Set::to_shorts([&](size_t at) { return Set::load(values + i + at); }, inverse, shorts + i);
  return largest / kMostShort + Set::total(unfit);
}

template <class Set>
ByteRow quantize(const float* values, const float* factors, size_t count, int32_t most_byte, uint8_t* bytes) {
  auto least = Set::fill(0.0f), most = Set::fill(0.0f);
  const auto scaled = [&](size_t i) {
    return factors == nullptr ? Set::load(values + i) : Set::multiply(Set::load(values + i), Set::load(factors + i));
  };
  for (size_t i = 0; i < count; i += Set::kLanes) {
    const auto value = scaled(i);
    least = Set::smaller(least, value);
    most = Set::larger(most, value);
  }
  const float low = Set::least(least), range = Set::most(most) - low;
  // Below that the inverse is not finite; so it is where a number of the row is not.
  const bool usable = range > 1e-36f && range < 3e38f;
  const auto steps = static_cast<float>(most_byte);
  const float scale = usable ? range / steps : 1.0f, inverse = usable ? steps / range : 0.0f;
  const auto zero = usable ? static_cast<int32_t>(__builtin_rintf(-low * inverse)) : 0;
  auto sums = Set::fill_ints(0);
  for (size_t i = 0; i < count; i += kLane)
    Set::to_bytes([&](size_t at) { return scaled(i + at); }, inverse, zero, most_byte, bytes + i, sums);
  return {scale, zero, Set::total_ints(sums)};
}

}  // namespace quern::encoder
