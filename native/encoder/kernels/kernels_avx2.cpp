// Compiled with -mavx2 -mfma -mf16c.
#include <immintrin.h>

#include "attention.hpp"
#include "byte_steps.hpp"

namespace quern::encoder {
namespace {

struct Avx2 {
  using Floats = __m256;
  using Ints = __m256i;
  static constexpr size_t kLanes = 8;
  static constexpr size_t kVectors = 2;
  static constexpr size_t kRows = 6;
  static constexpr size_t kByteRows = 9;

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
  static void to_bytes(Values values, float inverse, int32_t zero, int32_t most, uint8_t* bytes, Ints& sums) {
    const auto whole = [&](size_t at) {
      return _mm256_add_epi32(_mm256_cvtps_epi32(_mm256_mul_ps(values(at), fill(inverse))), fill_ints(zero));
    };
    const Ints shorts = packed(whole(0), whole(kLanes));
    const __m128i some = _mm_packus_epi16(_mm256_castsi256_si128(shorts), _mm256_extracti128_si256(shorts, 1));
    const __m128i bounded = _mm_min_epu8(some, _mm_set1_epi8(static_cast<int8_t>(most)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(bytes), bounded);
    sums = _mm256_add_epi32(sums, _mm256_zextsi128_si256(_mm_sad_epu8(bounded, _mm_setzero_si128())));
  }

  template <class Values>
  static void to_shorts(Values values, float inverse, int16_t* shorts) {
    const auto whole = [&](size_t at) { return _mm256_cvtps_epi32(_mm256_mul_ps(values(at), fill(inverse))); };
    _mm256_storeu_si256(reinterpret_cast<Ints*>(shorts), packed(whole(0), whole(kLanes)));
  }

  /// Sums of [Rows][kPanel], a half of the columns in registers after the other.
  template <size_t Rows>
  [[gnu::noinline]] static void short_sums(const uint32_t* rows, const int16_t* weights, size_t pairs, Ahead ahead,
                                           bool add, float* sums) {
    for (size_t half = 0; half < kPanel; half += 2 * kLanes) {
      Ints own[Rows][2];
#pragma GCC unroll 16
      for (size_t r = 0; r < Rows; ++r) own[r][0] = own[r][1] = _mm256_setzero_si256();
      for (size_t pair = 0; pair < pairs; ++pair) {
        if (half == 0) ahead.ask();
        const auto* const columns = reinterpret_cast<const int32_t*>(weights) + pair * kPanel + half;
        const Ints first = load_ints(columns), second = load_ints(columns + kLanes);
#pragma GCC unroll 16
        for (size_t r = 0; r < Rows; ++r) add_pair(own[r][0], own[r][1], rows[pair * Rows + r], first, second);
      }
#pragma GCC unroll 16
      for (size_t r = 0; r < Rows; ++r)
#pragma GCC unroll 2
        for (size_t v = 0; v < 2; ++v) {
          float* const at = sums + r * kPanel + half + v * kLanes;
          store(at, add ? _mm256_add_ps(to_floats(own[r][v]), load(at)) : to_floats(own[r][v]));
        }
    }
  }

  static constexpr size_t byte_panel(size_t depth) {
    return byte_steps_panel(depth);
  }

  /// Sums of [Rows][kPanel], of weights in steps. vpmaddubsw gives sums of two products as 16-bit numbers.
  template <size_t Rows>
  [[gnu::noinline]] static void byte_sums(const uint32_t* rows, const int8_t* weights, size_t groups, Ahead ahead,
                                          int32_t* sums) {
    const size_t steps = groups / kStepWords;
    const auto* order = reinterpret_cast<const uint16_t*>(weights + groups * kGroup * kPanel);
    for (size_t v = 0; v < kPanel; v += kLanes) {
      Ints own[Rows];
#pragma GCC unroll 16
      for (Ints& one : own) one = _mm256_setzero_si256();
      const size_t fours = *order++, twos = *order++;
      const auto add = [&]<size_t Together>(size_t count) [[gnu::always_inline]] {
        for (const uint16_t* const end = order + count; order < end; ++order, weights += kByteStep * kLanes) {
          ahead.ask();
          add_step<Together>(own, rows + *order * kStepWords * Rows, weights);
        }
      };
      add.template operator()<4>(fours);
      add.template operator()<2>(twos - fours);
      add.template operator()<1>(steps - twos);
#pragma GCC unroll 16
      for (size_t r = 0; r < Rows; ++r) _mm256_storeu_si256(reinterpret_cast<Ints*>(sums + r * kPanel + v), own[r]);
    }
  }

  static void transpose(const void* from, size_t from_step, size_t rows, size_t columns, void* to, size_t to_step) {
    const auto* in = static_cast<const float*>(from);
    auto* out = static_cast<float*>(to);
    size_t column = 0;
    for (; column + kLanes <= columns; column += kLanes)
      for (size_t row = 0; row < rows; row += kLanes) {
        const size_t count = rows - row < kLanes ? rows - row : kLanes;
        transpose_block(in + row * from_step + column, from_step, count, out + column * to_step + row, to_step);
      }
    for (; column < columns; ++column)
      for (size_t row = 0; row < rows; ++row) out[column * to_step + row] = in[row * from_step + column];
  }

 private:
  static_assert(kStepWords == 4 && kStepColumns == kLanes);

  /// One step, `Together` words of which are added up as 16-bit numbers.
  template <size_t Together, size_t Rows>
  [[gnu::always_inline]] static void add_step(Ints (&sums)[Rows], const uint32_t* rows, const int8_t* weights) {
    const auto word = [&](size_t w) { return load_ints(reinterpret_cast<const int32_t*>(weights) + w * kLanes); };
    const Ints columns[kStepWords]{word(0), word(1), word(2), word(3)};
#pragma GCC unroll 16
    for (size_t r = 0; r < Rows; ++r) {
      const auto pairs = [&](size_t w) {
        return _mm256_maddubs_epi16(fill_ints(static_cast<int32_t>(rows[w * Rows + r])), columns[w]);
      };
#pragma GCC unroll 4
      for (size_t w = 0; w < kStepWords; w += Together) {
        Ints shorts = pairs(w);
#pragma GCC unroll 4
        for (size_t next = w + 1; next < w + Together; ++next) shorts = _mm256_add_epi16(shorts, pairs(next));
        sums[r] = _mm256_add_epi32(sums[r], _mm256_madd_epi16(shorts, _mm256_set1_epi16(1)));
      }
    }
  }

  /// As shorts, bounded. Packing goes by halves of registers, which the permutation undoes.
  static Ints packed(Ints a, Ints b) {
    return _mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), 0xd8);
  }

  /// Two shorts of a row times those of columns. As instructions, since GCC 12 would keep half of the sums in memory.
  static void add_pair(Ints& sum, Ints& next, const uint32_t& row, Ints columns, Ints next_columns) {
    Ints product, two;
    asm("vpbroadcastd %4, %3\n\t"
        "vpmaddwd %5, %3, %2\n\t"
        "vpmaddwd %6, %3, %3\n\t"
        "vpaddd %2, %0, %0\n\t"
        "vpaddd %3, %1, %1"
        : "+x"(sum), "+x"(next), "=&x"(product), "=&x"(two)
        : "m"(row), "x"(columns), "x"(next_columns));
  }

  /// Up to 8 lines of 8: neighbouring lines are interleaved by ones, twos and fours.
  static void transpose_block(const float* from, size_t from_step, size_t rows, float* to, size_t to_step) {
    Floats a[8], b[8];
#pragma GCC unroll 8
    for (size_t r = 0; r < 8; ++r) a[r] = r < rows ? load(from + r * from_step) : _mm256_setzero_ps();
#pragma GCC unroll 8
    for (size_t r = 0; r < 8; r += 2) {
      b[r] = _mm256_unpacklo_ps(a[r], a[r + 1]);
      b[r + 1] = _mm256_unpackhi_ps(a[r], a[r + 1]);
    }
    // Now columns 0, 1, 2 and 3 of each half, four lines together.
#pragma GCC unroll 8
    for (size_t r = 0; r < 8; r += 4) {
      a[r] = _mm256_shuffle_ps(b[r], b[r + 2], 0x44);
      a[r + 1] = _mm256_shuffle_ps(b[r], b[r + 2], 0xee);
      a[r + 2] = _mm256_shuffle_ps(b[r + 1], b[r + 3], 0x44);
      a[r + 3] = _mm256_shuffle_ps(b[r + 1], b[r + 3], 0xee);
    }
#pragma GCC unroll 8
    for (size_t c = 0; c < 4; ++c) {
      store_first(rows, to + c * to_step, _mm256_permute2f128_ps(a[c], a[4 + c], 0x20));
      store_first(rows, to + (4 + c) * to_step, _mm256_permute2f128_ps(a[c], a[4 + c], 0x31));
    }
  }

  /// Without masks, which are slow to store with on some processors.
  [[gnu::always_inline]] static void store_first(size_t count, float* to, Floats values) {
    if (count == kLanes) return store(to, values);
    __m128 four = _mm256_castps256_ps128(values);
    if (count >= 4) {
      _mm_storeu_ps(to, four);
      four = _mm256_extractf128_ps(values, 1);
      to += 4;
    }
    if (count % 4 >= 2) {
      _mm_storel_pi(reinterpret_cast<__m64*>(to), four);
      four = _mm_movehl_ps(four, four);
      to += 2;
    }
    if (count % 2 == 1) _mm_store_ss(to, four);
  }

  template <class Fold>
  static float folded(Floats a, Fold fold) {
    const __m128 four = fold(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    const __m128 two = fold(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(fold(two, _mm_movehdup_ps(two)));
  }
};

constexpr EncoderKernels avx2_kernels() {
  EncoderKernels kernels = kernels_of<Avx2>();
  kernels.most_byte = most_step_byte;
  kernels.arrange_byte_weights = arrange_byte_steps;
  return kernels;
}

}  // namespace

const EncoderKernels kAvx2Encoder = avx2_kernels();

}  // namespace quern::encoder
