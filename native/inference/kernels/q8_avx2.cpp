// Compiled with -mavx2 -mfma -mf16c.
#include <immintrin.h>

#include "q8_tile.hpp"

namespace quern::q8 {
namespace {

struct Avx2 {
  using Ints = __m256i;
  using Floats = __m256;
  /// vpmaddubsw wants one unsigned side, and saturates unless that side is at most 128: the weights' magnitudes.
  struct Weights {
    __m256i signs;
    __m256i magnitudes;
  };
  static constexpr int PARTS = 2;
  static constexpr int COLUMNS = 2;
  static constexpr int SUMS = 4;

  static Ints start(const uint8_t*) { return _mm256_setzero_si256(); }
  static Weights weights(const uint8_t* bytes) {
    const __m256i stored = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes));
    const __m256i values = _mm256_xor_si256(stored, _mm256_set1_epi8(static_cast<char>(0x80)));
    return {values, _mm256_abs_epi8(values)};
  }
  static Ints dot(Ints sum, Weights weights, const uint8_t* values) {
    int32_t four;
    std::memcpy(&four, values, sizeof four);
    const __m256i signed_values = _mm256_sign_epi8(_mm256_set1_epi32(four), weights.signs);
    const __m256i pairs = _mm256_maddubs_epi16(weights.magnitudes, signed_values);
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
  static Floats zero() { return _mm256_setzero_ps(); }
  static Floats scales(const uint8_t* halves) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(halves)));
  }
  static Floats add(Floats sums, Ints ints, Floats scales, const uint8_t* terms) {
    float scale;
    std::memcpy(&scale, terms, sizeof scale);
    return _mm256_fmadd_ps(_mm256_cvtepi32_ps(ints), _mm256_mul_ps(scales, _mm256_set1_ps(scale)), sums);
  }
  static void store(float* out, Floats sums) { _mm256_storeu_ps(out, sums); }
};

}  // namespace

const Kernel AVX2{"avx2", quantize<Avx2>, multiply<Avx2>};

}  // namespace quern::q8
