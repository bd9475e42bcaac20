// Compiled with -mavx2 -mfma -mf16c.
#include <immintrin.h>

#include "encoder_attention.hpp"

namespace quern::encoder {
namespace {

struct Avx2 {
  using Floats = __m256;
  using Ints = __m256i;
  static constexpr size_t kLanes = 8;
  static constexpr size_t kVectors = 2;
  static constexpr size_t kRows = 6;
  /// Rows of a product of bytes whose sums stay in registers, four for each 16 columns.
  static constexpr size_t kByteRows = 3;

  static Floats fill(float value) { return _mm256_set1_ps(value); }
  static Floats load(const float* from) { return _mm256_loadu_ps(from); }
  static void store(float* to, Floats values) { _mm256_storeu_ps(to, values); }
  static Floats add(Floats a, Floats b) { return _mm256_add_ps(a, b); }
  static Floats subtract(Floats a, Floats b) { return _mm256_sub_ps(a, b); }
  static Floats multiply(Floats a, Floats b) { return _mm256_mul_ps(a, b); }
  static Floats multiply_add(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }
  static Floats divide(Floats a, Floats b) { return _mm256_div_ps(a, b); }
  static Floats larger(Floats a, Floats b) { return _mm256_max_ps(a, b); }
  static Floats smaller(Floats a, Floats b) { return _mm256_min_ps(a, b); }
  static Floats round(Floats a) { return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
  static Floats scale_by_power(Floats a, Floats power) {
    const Ints exponent = _mm256_add_epi32(_mm256_cvtps_epi32(power), _mm256_set1_epi32(127));
    return _mm256_mul_ps(a, _mm256_castsi256_ps(_mm256_slli_epi32(exponent, 23)));
  }
  static float total(Floats a) {
    return folded(a, [](__m128 x, __m128 y) { return _mm_add_ps(x, y); });
  }
  static float least(Floats a) {
    return folded(a, [](__m128 x, __m128 y) { return _mm_min_ps(x, y); });
  }
  static float most(Floats a) {
    return folded(a, [](__m128 x, __m128 y) { return _mm_max_ps(x, y); });
  }

  static Ints fill_ints(int32_t value) { return _mm256_set1_epi32(value); }
  static Ints load_ints(const int32_t* from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)); }
  /// Of what to_bytes() summed up.
  static int32_t total_ints(Ints a) { return _mm256_extract_epi32(a, 0) + _mm256_extract_epi32(a, 2); }
  static Floats to_floats(Ints a) { return _mm256_cvtepi32_ps(a); }

  template <class Values>
  static void to_bytes(Values values, float inverse, int32_t zero, uint8_t* bytes, Ints& sums) {
    const auto whole = [&](size_t at) {
      return _mm256_add_epi32(_mm256_cvtps_epi32(_mm256_mul_ps(values(at), fill(inverse))), fill_ints(zero));
    };
    // Packing goes by halves of registers, which the permutation undoes; it bounds what is too large or below 0.
    const Ints words = _mm256_permute4x64_epi64(_mm256_packs_epi32(whole(0), whole(kLanes)), 0xd8);
    const __m128i packed = _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(bytes), packed);
    sums = _mm256_add_epi32(sums, _mm256_zextsi128_si256(_mm_sad_epu8(packed, _mm_setzero_si128())));
  }

  template <class Values>
  static void to_shorts(Values values, float inverse, int16_t* shorts) {
    const auto whole = [&](size_t at) { return _mm256_cvtps_epi32(_mm256_mul_ps(values(at), fill(inverse))); };
    _mm256_storeu_si256(reinterpret_cast<Ints*>(shorts),
                        _mm256_permute4x64_epi64(_mm256_packs_epi32(whole(0), whole(kLanes)), 0xd8));
  }

  /// Sums of [Rows][kPanel].
  template <size_t Rows>
  static void short_sums(const uint32_t* rows, const int16_t* weights, size_t pairs, Ahead ahead, bool add,
                         float* sums) {
    for (size_t v = 0; v < kPanel; v += kLanes) {
      Ints own[Rows];
#pragma GCC unroll 16
      for (Ints& one : own) one = _mm256_setzero_si256();
      for (size_t pair = 0; pair < pairs; ++pair) {
        if (v == 0) ahead.ask();
        const Ints columns = load_ints(reinterpret_cast<const int32_t*>(weights + (pair * kPanel + v) * kPair));
#pragma GCC unroll 16
        for (size_t r = 0; r < Rows; ++r)
          own[r] = _mm256_add_epi32(own[r],
                                    _mm256_madd_epi16(columns, fill_ints(static_cast<int32_t>(rows[pair * Rows + r]))));
      }
#pragma GCC unroll 16
      for (size_t r = 0; r < Rows; ++r) {
        float* const at = sums + r * kPanel + v;
        store(at, add ? _mm256_add_ps(to_floats(own[r]), load(at)) : to_floats(own[r]));
      }
    }
  }

  /// Bytes become words of 16 bits: vpmaddubsw would cut sums of pairs off.
  template <size_t Rows>
  [[gnu::always_inline]] static inline void byte_part(const uint32_t* rows, size_t rows_step, const int8_t* weights,
                                                      size_t groups, int32_t* sums) {
    Ints own[Rows][4];
#pragma GCC unroll 16
    for (size_t r = 0; r < Rows; ++r)
#pragma GCC unroll 16
      for (Ints& one : own[r]) one = _mm256_setzero_si256();
    for (size_t group = 0; group < groups; ++group, rows += rows_step, weights += kPanel * kGroup) {
      Ints fours[Rows];
#pragma GCC unroll 16
      for (size_t r = 0; r < Rows; ++r) fours[r] = _mm256_cvtepu8_epi16(_mm_set1_epi32(static_cast<int32_t>(rows[r])));
#pragma GCC unroll 16
      for (size_t v = 0; v < 4; ++v) {
        const Ints wide = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(weights + v * 16)));
#pragma GCC unroll 16
        for (size_t r = 0; r < Rows; ++r) own[r][v] = _mm256_add_epi32(own[r][v], _mm256_madd_epi16(fours[r], wide));
      }
    }
    // Two sums of each column stand side by side; adding neighbours leaves the columns in the order 0 1 4 5 2 3 6 7.
#pragma GCC unroll 16
    for (size_t r = 0; r < Rows; ++r)
#pragma GCC unroll 16
      for (size_t v = 0; v < 2; ++v) {
        const Ints both = _mm256_hadd_epi32(own[r][2 * v], own[r][2 * v + 1]);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums + r * kPanel + v * kLanes),
                            _mm256_permute4x64_epi64(both, 0xd8));
      }
  }

  /// Sums of [Rows][kPanel].
  template <size_t Rows>
  static void byte_sums(const uint32_t* rows, const int8_t* weights, size_t groups, Ahead, int32_t* sums) {
    for (size_t half = 0; half < kPanel; half += kPanel / 2) {
      const int8_t* from = weights + half * kGroup;
      size_t r = 0;
      for (; r + kByteRows <= Rows; r += kByteRows)
        byte_part<kByteRows>(rows + r, Rows, from, groups, sums + r * kPanel + half);
      if constexpr (Rows % kByteRows > 0)
        byte_part<Rows % kByteRows>(rows + r, Rows, from, groups, sums + r * kPanel + half);
    }
  }

 private:
  template <class Fold>
  static float folded(Floats a, Fold fold) {
    const __m128 four = fold(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    const __m128 two = fold(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(fold(two, _mm_movehdup_ps(two)));
  }
};

}  // namespace

const EncoderKernels kAvx2Encoder = kernels_of<Avx2>();

}  // namespace quern::encoder
