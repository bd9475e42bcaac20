// Compiled with -mavx512f -mavx512bw -mavx512vl -mavx512vnni -mf16c.
#include <immintrin.h>

#include "q8_tile.hpp"

namespace quern::q8 {
namespace {

struct Avx512Vnni {
  using Ints = __m512i;
  using Floats = __m512;
  using Weights = __m512i;
  static constexpr int PARTS = 1;
  static constexpr int COLUMNS = 8;
  static constexpr int SUMS = 8;

  static Ints start(const uint8_t* terms) {
    int32_t offset;
    std::memcpy(&offset, terms + offsetof(BlockTerms, offset), sizeof offset);
    return _mm512_set1_epi32(offset);
  }
  static Weights weights(const uint8_t* bytes) { return _mm512_loadu_si512(bytes); }
  static Ints dot(Ints sum, Weights weights, const uint8_t* values) {
    int32_t four;
    std::memcpy(&four, values, sizeof four);
    return _mm512_dpbusd_epi32(sum, weights, _mm512_set1_epi32(four));
  }
  static Floats zero() { return _mm512_setzero_ps(); }
  static Floats scales(const uint8_t* halves) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(halves)));
  }
  static Floats add(Floats sums, Ints ints, Floats scales, const uint8_t* terms) {
    float scale;
    std::memcpy(&scale, terms, sizeof scale);
    return _mm512_fmadd_ps(_mm512_cvtepi32_ps(ints), _mm512_mul_ps(scales, _mm512_set1_ps(scale)), sums);
  }
  static void store(float* out, Floats sums) { _mm512_storeu_ps(out, sums); }
};

}  // namespace

const Kernel AVX512_VNNI{"avx512-vnni", quantize<Avx512Vnni>, multiply<Avx512Vnni>};

}  // namespace quern::q8
