#include "q8_matmul.hpp"

#include "q8_tile.hpp"

namespace quern::q8 {
namespace {

float from_half(uint16_t half) {
  const uint32_t exponent = (half >> 10) & 0x1f;
  const uint32_t mantissa = half & 0x3ff;
  const float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -24)
                          : exponent == 31
                              ? (mantissa == 0 ? INFINITY : NAN)
                              : std::ldexp(static_cast<float>(mantissa | 0x400), static_cast<int>(exponent) - 25);
  return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

struct Scalar {
  struct Ints {
    int32_t rows[PANEL_ROWS];
  };
  struct Floats {
    float rows[PANEL_ROWS];
  };
  using Weights = const uint8_t*;
  static constexpr int PARTS = 1;
  static constexpr int COLUMNS = 1;
  static constexpr int SUMS = 1;

  static Ints start(const uint8_t* terms) {
    Ints ints;
    int32_t offset;
    std::memcpy(&offset, terms + offsetof(BlockTerms, offset), sizeof offset);
    for (int32_t& row : ints.rows) row = offset;
    return ints;
  }
  static Weights weights(const uint8_t* bytes) { return bytes; }
  static Ints dot(Ints sum, Weights weights, const uint8_t* values) {
    for (int r = 0; r < PANEL_ROWS; ++r)
      for (int i = 0; i < 4; ++i) sum.rows[r] += weights[r * 4 + i] * static_cast<int8_t>(values[i]);
    return sum;
  }
  static Floats zero() { return {}; }
  static Floats scales(const uint8_t* halves) {
    Floats scales;
    for (int r = 0; r < PANEL_ROWS; ++r) {
      uint16_t half;
      std::memcpy(&half, halves + r * sizeof half, sizeof half);
      scales.rows[r] = from_half(half);
    }
    return scales;
  }
  static Floats add(Floats sums, const Ints& ints, const Floats& scales, const uint8_t* terms) {
    float scale;
    std::memcpy(&scale, terms, sizeof scale);
    for (int r = 0; r < PANEL_ROWS; ++r) sums.rows[r] += static_cast<float>(ints.rows[r]) * (scales.rows[r] * scale);
    return sums;
  }
  static void store(float* out, const Floats& sums) { std::memcpy(out, sums.rows, sizeof sums.rows); }
};

}  // namespace

const Kernel SCALAR{"scalar", quantize<Scalar>, multiply<Scalar>};

void pack_panel(const Block* rows, int64_t blocks, uint8_t* panel) {
  uint8_t* halves = panel + blocks * BLOCK * PANEL_ROWS;
  for (int64_t block = 0; block < blocks; ++block)
    for (int64_t row = 0; row < PANEL_ROWS; ++row) {
      const Block& from = rows[row * blocks + block];
      std::memcpy(halves + (block * PANEL_ROWS + row) * sizeof(uint16_t), &from.scale, sizeof(uint16_t));
      for (int64_t group = 0; group < BLOCK / 4; ++group) {
        uint32_t four;
        std::memcpy(&four, from.values + group * 4, sizeof four);
        four ^= 0x80808080U;
        std::memcpy(panel + ((block * BLOCK / 4 + group) * PANEL_ROWS + row) * 4, &four, sizeof four);
      }
    }
}

Kernels available() {
  Kernels found{};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512vnni"))
    found.list[found.count++] = &AVX512_VNNI;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) found.list[found.count++] = &AVX2;
#endif
  found.list[found.count++] = &SCALAR;
  return found;
}

}  // namespace quern::q8
