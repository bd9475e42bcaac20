#include "half.hpp"

#include "cpu.hpp"

#ifdef QUERN_X86
#include <immintrin.h>
#endif

namespace quern {
namespace {

#ifdef QUERN_X86
QUERN_AVX2 size_t to_half_avx2(const float* from, Half* to, size_t count) {
  size_t i = 0;
  for (; i + 8 <= count; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
  return i;
}

QUERN_AVX2 size_t to_float_avx2(const Half* from, float* to, size_t count) {
  size_t i = 0;
  for (; i + 8 <= count; i += 8)
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
  return i;
}
#endif

bool wide() {
  static const bool yes = best_isa() != Isa::kPortable;
  return yes;
}

}  // namespace

Half half_of(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<Half>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  if (magnitude >= 0x477ff000u) return static_cast<Half>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {
    // Adding 0.5 puts the last bit of a subnormal half at the last bit of the float, and the addition rounds.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<Half>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
  }
  const uint32_t odd = (magnitude >> 13) & 1;
  return static_cast<Half>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
}

void to_half(const float* from, Half* to, size_t count) {
  size_t i = 0;
#ifdef QUERN_X86
  if (wide()) i = to_half_avx2(from, to, count);
#endif
  for (; i < count; ++i) to[i] = half_of(from[i]);
}

void to_float(const Half* from, float* to, size_t count) {
  size_t i = 0;
#ifdef QUERN_X86
  if (wide()) i = to_float_avx2(from, to, count);
#endif
  for (; i < count; ++i) to[i] = float_of(from[i]);
}

}  // namespace quern
