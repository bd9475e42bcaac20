#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace quern {

/// IEEE 754 binary16 as its bits.
using Half = uint16_t;

/// The largest magnitude that is still finite as a Half after rounding.
constexpr float kLargestHalf = 65504.0f;

/// Exact; subnormal numbers, infinity and NaN included.
inline float float_of(Half half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t rest = half & 0x7fffu;
  if (rest >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
  // A multiplication by 2^112 moves the exponent and makes subnormal numbers normal.
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(std::bit_cast<float>(rest << 13) * 0x1p112f));
}

/// Rounded to the nearest, ties to even.
Half half_of(float value);

/// `count` numbers at once.
void to_half(const float* from, Half* to, size_t count);
void to_float(const Half* from, float* to, size_t count);

}  // namespace quern
