#include "distance.hpp"

#include <algorithm>

#ifdef QUERN_X86
#include <immintrin.h>
#endif

// GCC 12 takes the "undefined" registers of its own intrinsics for a mistake.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace quern {
namespace {

float widen(float value) {
  return value;
}
float widen(Half value) {
  return float_of(value);
}

/// Independent sums, so that the compiler may use vectors of any width.
constexpr size_t kLanes = 16;

struct Product {
  static float of(float a, float b) { return a * b; }
};
struct SquaredDifference {
  static float of(float a, float b) { return (a - b) * (a - b); }
};

template <typename Term, typename A, typename B>
float portable(const A* a, const B* b, size_t n) {
  float lanes[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += Term::of(widen(a[i + lane]), widen(b[i + lane]));
  for (size_t lane = 0; i < n; ++i, ++lane) lanes[lane] += Term::of(widen(a[i]), widen(b[i]));
  for (size_t width = kLanes / 2; width > 0; width /= 2)
    for (size_t lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
  return lanes[0];
}

int32_t portable_codes(const int8_t* a, const int8_t* b, size_t n) {
  int32_t sum = 0;
  for (size_t i = 0; i < n; ++i) sum += static_cast<int32_t>(a[i]) * b[i];
  return sum;
}

/// Vectors whose memory is asked for ahead of their comparison.
constexpr size_t kAhead = 8;

void prefetch(const int8_t* codes, size_t n) {
#if defined(__GNUC__)
  for (size_t i = 0; i < n; i += 64) __builtin_prefetch(codes + i);
#endif
}

template <int32_t (*Dot)(const int8_t*, const int8_t*, size_t)>
void many_codes(const int8_t* a, const int8_t* const* many, size_t count, size_t n, int32_t* sums) {
  for (size_t i = 0; i < std::min(kAhead, count); ++i) prefetch(many[i], n);
  for (size_t i = 0; i < count; ++i) {
    if (i + kAhead < count) prefetch(many[i + kAhead], n);
    sums[i] = Dot(a, many[i], n);
  }
}

constexpr DistanceKernels kPortable = {portable<Product, float, float>,
                                       portable<SquaredDifference, float, float>,
                                       portable<Product, float, Half>,
                                       portable<SquaredDifference, float, Half>,
                                       portable_codes,
                                       many_codes<portable_codes>};

#ifdef QUERN_X86

QUERN_AVX2 inline __m256 load8(const float* from) {
  return _mm256_loadu_ps(from);
}
QUERN_AVX2 inline __m256 load8(const Half* from) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}
QUERN_AVX2 inline __m256 add8(__m256 sum, __m256 a, __m256 b, Product /*term*/) {
  return _mm256_fmadd_ps(a, b, sum);
}
QUERN_AVX2 inline __m256 add8(__m256 sum, __m256 a, __m256 b, SquaredDifference /*term*/) {
  const __m256 difference = _mm256_sub_ps(a, b);
  return _mm256_fmadd_ps(difference, difference, sum);
}
QUERN_AVX2 inline float total8(__m256 sum) {
  __m128 four = _mm_add_ps(_mm256_castps256_ps128(sum), _mm256_extractf128_ps(sum, 1));
  four = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(four, _mm_movehdup_ps(four)));
}

template <typename Term, typename A, typename B>
QUERN_AVX2 float avx2(const A* a, const B* b, size_t n) {
  __m256 sum0 = _mm256_setzero_ps(), sum1 = sum0, sum2 = sum0, sum3 = sum0;
  size_t i = 0;
  for (; i + 32 <= n; i += 32) {
    sum0 = add8(sum0, load8(a + i), load8(b + i), Term());
    sum1 = add8(sum1, load8(a + i + 8), load8(b + i + 8), Term());
    sum2 = add8(sum2, load8(a + i + 16), load8(b + i + 16), Term());
    sum3 = add8(sum3, load8(a + i + 24), load8(b + i + 24), Term());
  }
  for (; i + 8 <= n; i += 8) sum0 = add8(sum0, load8(a + i), load8(b + i), Term());
  float sum = total8(_mm256_add_ps(_mm256_add_ps(sum0, sum1), _mm256_add_ps(sum2, sum3)));
  for (; i < n; ++i) sum += Term::of(widen(a[i]), widen(b[i]));
  return sum;
}

QUERN_AVX2 int32_t avx2_codes(const int8_t* a, const int8_t* b, size_t n) {
  __m256i sum = _mm256_setzero_si256();
  const __m256i ones = _mm256_set1_epi16(1);
  size_t i = 0;
  for (; i + 32 <= n; i += 32) {
    const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a + i));
    const __m256i y = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + i));
    // |x| * (y with the sign of x): pairs stay below 2^15 because codes are at most 127.
    const __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(x), _mm256_sign_epi8(y, x));
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, ones));
  }
  __m128i four = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
  four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));
  four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0xb1));
  return _mm_cvtsi128_si32(four) + portable_codes(a + i, b + i, n - i);
}

constexpr DistanceKernels kAvx2 = {avx2<Product, float, float>,
                                   avx2<SquaredDifference, float, float>,
                                   avx2<Product, float, Half>,
                                   avx2<SquaredDifference, float, Half>,
                                   avx2_codes,
                                   many_codes<avx2_codes>};

QUERN_AVX512 inline __m512 load16(const float* from) {
  return _mm512_loadu_ps(from);
}
QUERN_AVX512 inline __m512 load16(const Half* from) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}
QUERN_AVX512 inline __m512 load16(const float* from, __mmask16 mask) {
  return _mm512_maskz_loadu_ps(mask, from);
}
QUERN_AVX512 inline __m512 load16(const Half* from, __mmask16 mask) {
  return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(mask, from));
}
QUERN_AVX512 inline __m512 add16(__m512 sum, __m512 a, __m512 b, Product /*term*/) {
  return _mm512_fmadd_ps(a, b, sum);
}
QUERN_AVX512 inline __m512 add16(__m512 sum, __m512 a, __m512 b, SquaredDifference /*term*/) {
  const __m512 difference = _mm512_sub_ps(a, b);
  return _mm512_fmadd_ps(difference, difference, sum);
}

template <typename Term, typename A, typename B>
QUERN_AVX512 float avx512(const A* a, const B* b, size_t n) {
  __m512 sum0 = _mm512_setzero_ps(), sum1 = sum0, sum2 = sum0, sum3 = sum0;
  size_t i = 0;
  for (; i + 64 <= n; i += 64) {
    sum0 = add16(sum0, load16(a + i), load16(b + i), Term());
    sum1 = add16(sum1, load16(a + i + 16), load16(b + i + 16), Term());
    sum2 = add16(sum2, load16(a + i + 32), load16(b + i + 32), Term());
    sum3 = add16(sum3, load16(a + i + 48), load16(b + i + 48), Term());
  }
  for (; i + 16 <= n; i += 16) sum0 = add16(sum0, load16(a + i), load16(b + i), Term());
  if (i < n) {
    const auto mask = static_cast<__mmask16>((1u << (n - i)) - 1);
    sum1 = add16(sum1, load16(a + i, mask), load16(b + i, mask), Term());
  }
  return _mm512_reduce_add_ps(_mm512_add_ps(_mm512_add_ps(sum0, sum1), _mm512_add_ps(sum2, sum3)));
}

QUERN_AVX512 inline __m512i add64(__m512i sum, __m512i x, __m512i y) {
  const __m512i signed_y = _mm512_mask_sub_epi8(y, _mm512_movepi8_mask(x), _mm512_setzero_si512(), y);
  return _mm512_dpbusd_epi32(sum, _mm512_abs_epi8(x), signed_y);
}

QUERN_AVX512 int32_t avx512_codes(const int8_t* a, const int8_t* b, size_t n) {
  __m512i sum0 = _mm512_setzero_si512(), sum1 = sum0;
  size_t i = 0;
  for (; i + 128 <= n; i += 128) {
    sum0 = add64(sum0, _mm512_loadu_si512(a + i), _mm512_loadu_si512(b + i));
    sum1 = add64(sum1, _mm512_loadu_si512(a + i + 64), _mm512_loadu_si512(b + i + 64));
  }
  for (; i + 64 <= n; i += 64) sum0 = add64(sum0, _mm512_loadu_si512(a + i), _mm512_loadu_si512(b + i));
  if (i < n) {
    const __mmask64 mask = (uint64_t{1} << (n - i)) - 1;
    sum1 = add64(sum1, _mm512_maskz_loadu_epi8(mask, a + i), _mm512_maskz_loadu_epi8(mask, b + i));
  }
  return _mm512_reduce_add_epi32(_mm512_add_epi32(sum0, sum1));
}

/// Four vectors at once: the first operand of the instruction has no sign, so the codes of the many are moved up by
/// 128, which is taken back at the end.
QUERN_AVX512 inline void avx512_four_codes(const int8_t* a, const int8_t* const* four, size_t n, int32_t* sums) {
  const __m512i high = _mm512_set1_epi8(static_cast<char>(0x80));
  __m512i sum0 = _mm512_setzero_si512(), sum1 = sum0, sum2 = sum0, sum3 = sum0, moved = sum0;
  const auto add = [&](size_t i, __mmask64 mask) QUERN_AVX512 {
    const __m512i x = _mm512_maskz_loadu_epi8(mask, a + i);
    sum0 = _mm512_dpbusd_epi32(sum0, _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, four[0] + i), high), x);
    sum1 = _mm512_dpbusd_epi32(sum1, _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, four[1] + i), high), x);
    sum2 = _mm512_dpbusd_epi32(sum2, _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, four[2] + i), high), x);
    sum3 = _mm512_dpbusd_epi32(sum3, _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, four[3] + i), high), x);
    moved = _mm512_dpbusd_epi32(moved, high, x);
  };
  size_t i = 0;
  for (; i + 64 <= n; i += 64) add(i, ~__mmask64{0});
  if (i < n) add(i, (uint64_t{1} << (n - i)) - 1);
  const int32_t back = _mm512_reduce_add_epi32(moved);
  sums[0] = _mm512_reduce_add_epi32(sum0) - back;
  sums[1] = _mm512_reduce_add_epi32(sum1) - back;
  sums[2] = _mm512_reduce_add_epi32(sum2) - back;
  sums[3] = _mm512_reduce_add_epi32(sum3) - back;
}

QUERN_AVX512 void avx512_many_codes(const int8_t* a, const int8_t* const* many, size_t count, size_t n, int32_t* sums) {
  for (size_t i = 0; i < std::min(kAhead, count); ++i) prefetch(many[i], n);
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    for (size_t next = i + kAhead; next < std::min(i + kAhead + 4, count); ++next) prefetch(many[next], n);
    avx512_four_codes(a, many + i, n, sums + i);
  }
  for (; i < count; ++i) sums[i] = avx512_codes(a, many[i], n);
}

constexpr DistanceKernels kAvx512 = {avx512<Product, float, float>,
                                     avx512<SquaredDifference, float, float>,
                                     avx512<Product, float, Half>,
                                     avx512<SquaredDifference, float, Half>,
                                     avx512_codes,
                                     avx512_many_codes};
#endif

}  // namespace

const DistanceKernels& distance_kernels(Isa isa) {
#ifdef QUERN_X86
  if (isa == Isa::kAvx512) return kAvx512;
  if (isa == Isa::kAvx2) return kAvx2;
#endif
  static_cast<void>(isa);
  return kPortable;
}

}  // namespace quern
