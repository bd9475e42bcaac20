#pragma once

// Included only by the files that are compiled for AVX-512 with VNNI, and perhaps more, each of which has a copy.
#include <immintrin.h>

#include "attention.hpp"

namespace quern::encoder {
namespace {

struct Avx512 {
  using Floats = __m512;
  using Ints = __m512i;
  static constexpr size_t kLanes = 16;
  static constexpr size_t kVectors = 2;
  static constexpr size_t kRows = 14;
  static constexpr size_t kByteRows = kRows;

  static Floats fill(float value) { return _mm512_set1_ps(value); }
  static Floats load(const float* from) { return _mm512_loadu_ps(from); }
  static void store(float* to, Floats values) { _mm512_storeu_ps(to, values); }
  static Floats add(Floats a, Floats b) { return _mm512_add_ps(a, b); }
  static Floats subtract(Floats a, Floats b) { return _mm512_sub_ps(a, b); }
  static Floats multiply(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
  static Floats multiply_add(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }
  static Floats divide(Floats a, Floats b) { return _mm512_div_ps(a, b); }
  static Floats larger(Floats a, Floats b) { return _mm512_max_ps(a, b); }
  static Floats smaller(Floats a, Floats b) { return _mm512_min_ps(a, b); }
  static Floats round(Floats a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
  static Floats scale_by_power(Floats a, Floats power) { return _mm512_scalef_ps(a, power); }
  static float total(Floats a) { return _mm512_reduce_add_ps(a); }
  static float least(Floats a) { return _mm512_reduce_min_ps(a); }
  static float most(Floats a) { return _mm512_reduce_max_ps(a); }

  static Ints fill_ints(int32_t value) { return _mm512_set1_epi32(value); }
  static Ints load_ints(const int32_t* from) { return _mm512_loadu_si512(from); }
  static int32_t total_ints(Ints a) { return _mm512_reduce_add_epi32(a); }
  static Floats to_floats(Ints a) { return _mm512_cvtepi32_ps(a); }

  template <class Values>
  static void to_bytes(Values values, float inverse, int32_t zero, int32_t most, uint8_t* bytes, Ints& sums) {
    const Ints rounded = _mm512_cvtps_epi32(_mm512_mul_ps(values(0), fill(inverse)));
    const Ints whole = _mm512_max_epi32(_mm512_add_epi32(rounded, fill_ints(zero)), _mm512_setzero_si512());
    const Ints bounded = _mm512_min_epi32(whole, fill_ints(most));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(bytes), _mm512_cvtepi32_epi8(bounded));
    sums = _mm512_add_epi32(sums, bounded);
  }

  template <class Values>
  static void to_shorts(Values values, float inverse, int16_t* shorts) {
    const Ints rounded = _mm512_cvtps_epi32(_mm512_mul_ps(values(0), fill(inverse)));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(shorts), _mm512_cvtsepi32_epi16(rounded));
  }

  /// Sums of [Rows][kPanel].
  template <size_t Rows>
  [[gnu::noinline]] static void short_sums(const uint32_t* rows, const int16_t* weights, size_t pairs, Ahead ahead,
                                           bool add, float* sums) {
    Ints own[Rows][2];
#pragma GCC unroll 16
    for (size_t r = 0; r < Rows; ++r) own[r][0] = own[r][1] = _mm512_setzero_si512();
    for (size_t pair = 0; pair < pairs; ++pair, rows += Rows, weights += kPanel * kPair) {
      ahead.ask();
      const Ints first = _mm512_loadu_si512(weights), second = _mm512_loadu_si512(weights + kPanel);
#pragma GCC unroll 16
      for (size_t r = 0; r < Rows; ++r) {
        const Ints two = _mm512_set1_epi32(static_cast<int32_t>(rows[r]));
        add_shorts(own[r][0], two, first);
        add_shorts(own[r][1], two, second);
      }
    }
#pragma GCC unroll 16
    for (size_t r = 0; r < Rows; ++r)
#pragma GCC unroll 2
      for (size_t v = 0; v < 2; ++v) {
        float* const at = sums + r * kPanel + v * kLanes;
        store(at, add ? _mm512_add_ps(to_floats(own[r][v]), load(at)) : to_floats(own[r][v]));
      }
  }

  /// Sums of [Rows][kPanel].
  template <size_t Rows>
  [[gnu::noinline]] static void byte_sums(const uint32_t* rows, const int8_t* weights, size_t groups, Ahead ahead,
                                          int32_t* sums) {
    Ints own[Rows][2];
#pragma GCC unroll 16
    for (size_t r = 0; r < Rows; ++r) own[r][0] = own[r][1] = _mm512_setzero_si512();
    for (size_t group = 0; group < groups; ++group, rows += Rows, weights += kPanel * kGroup) {
      ahead.ask();
      const Ints first = _mm512_loadu_si512(weights), second = _mm512_loadu_si512(weights + 64);
#pragma GCC unroll 16
      for (size_t r = 0; r < Rows; ++r) {
        const Ints four = _mm512_set1_epi32(static_cast<int32_t>(rows[r]));
        add_bytes(own[r][0], four, first);
        add_bytes(own[r][1], four, second);
      }
    }
#pragma GCC unroll 16
    for (size_t r = 0; r < Rows; ++r) {
      _mm512_storeu_si512(sums + r * kPanel, own[r][0]);
      _mm512_storeu_si512(sums + r * kPanel + kLanes, own[r][1]);
    }
  }

  static void transpose(const void* from, size_t from_step, size_t rows, size_t columns, void* to, size_t to_step) {
    const auto* in = static_cast<const float*>(from);
    auto* out = static_cast<float*>(to);
    for (size_t row = 0; row < rows; row += kLanes)
      for (size_t column = 0; column < columns; column += kLanes)
        transpose_block(in + row * from_step + column, from_step, rows - row < kLanes ? rows - row : kLanes,
                        columns - column < kLanes ? columns - column : kLanes, out + column * to_step + row, to_step);
  }

 private:
  // As instructions, since GCC 12 copies the sums of the functions for them, and keeps half of them in memory.
  static void add_shorts(Ints& sum, Ints a, Ints b) {
    asm("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
  }
  static void add_bytes(Ints& sum, Ints a, Ints b) {
    asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
  }

  static __mmask16 first(size_t count) {
    return static_cast<__mmask16>((1U << count) - 1);
  }

  /// Up to 16 lines of 16: neighbouring lines are interleaved by ones, twos, fours and eights.
  static void transpose_block(const float* from, size_t from_step, size_t rows, size_t columns, float* to,
                              size_t to_step) {
    Floats a[16], b[16];
    const __mmask16 wide = first(columns), high = first(rows);
#pragma GCC unroll 16
    for (size_t r = 0; r < 16; ++r)
      a[r] = r < rows ? _mm512_maskz_loadu_ps(wide, from + r * from_step) : _mm512_setzero_ps();
#pragma GCC unroll 16
    for (size_t r = 0; r < 16; r += 2) {
      b[r] = _mm512_unpacklo_ps(a[r], a[r + 1]);
      b[r + 1] = _mm512_unpackhi_ps(a[r], a[r + 1]);
    }
    // Now columns 0, 1, 2 and 3 of each quarter, four lines together.
#pragma GCC unroll 16
    for (size_t r = 0; r < 16; r += 4) {
      a[r] = pairs<0>(b[r], b[r + 2]);
      a[r + 1] = pairs<0xff>(b[r], b[r + 2]);
      a[r + 2] = pairs<0>(b[r + 1], b[r + 3]);
      a[r + 3] = pairs<0xff>(b[r + 1], b[r + 3]);
    }
#pragma GCC unroll 16
    for (size_t c = 0; c < 4; ++c) {
      const Floats low = quarters<0x88>(a[c], a[4 + c]), high_low = quarters<0xdd>(a[c], a[4 + c]);
      const Floats far = quarters<0x88>(a[8 + c], a[12 + c]), high_far = quarters<0xdd>(a[8 + c], a[12 + c]);
      b[c] = quarters<0x88>(low, far);
      b[8 + c] = quarters<0xdd>(low, far);
      b[4 + c] = quarters<0x88>(high_low, high_far);
      b[12 + c] = quarters<0xdd>(high_low, high_far);
    }
#pragma GCC unroll 16
    for (size_t c = 0; c < 16; ++c)
      if (c < columns) _mm512_mask_storeu_ps(to + c * to_step, high, b[c]);
  }

  /// The first (0) or second (0xff) pair of each quarter.
  template <int Which>
  static Floats pairs(Floats a, Floats b) {
    return _mm512_castpd_ps(_mm512_shuffle_pd(_mm512_castps_pd(a), _mm512_castps_pd(b), Which));
  }
  template <int Order>
  static Floats quarters(Floats a, Floats b) {
    return _mm512_shuffle_f32x4(a, b, Order);
  }
};

}  // namespace
}  // namespace quern::encoder
