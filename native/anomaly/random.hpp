#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace quern::anomaly {

/**
 * Random numbers that are the same on every machine: xoshiro256++ (Blackman and Vigna 2019), seeded by splitmix64. Each
 * `stream` of a seed is a sequence of its own, so what threads draw does not depend on their order.
 */
class Random {
 public:
  explicit Random(uint64_t seed, uint64_t stream = 0) {
    uint64_t at = seed + 0xD1342543DE82EF95u * (stream + 1);
    for (uint64_t& word : words_) {
      at += 0x9E3779B97F4A7C15u;
      uint64_t mixed = (at ^ (at >> 30)) * 0xBF58476D1CE4E5B9u;
      mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
      word = mixed ^ (mixed >> 31);
    }
  }

  uint64_t bits() {
    const uint64_t answer = std::rotl(words_[0] + words_[3], 23) + words_[0];
    const uint64_t shifted = words_[1] << 17;
    words_[2] ^= words_[0];
    words_[3] ^= words_[1];
    words_[1] ^= words_[2];
    words_[0] ^= words_[3];
    words_[2] ^= shifted;
    words_[3] = std::rotl(words_[3], 45);
    return answer;
  }

  /// From 0 to below 1, in steps of 2^-53.
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

  /// From 0 to `count` - 1; `count` is 1 to 2^32. Its bias is below 2^-32.
  uint32_t below(uint64_t count) { return static_cast<uint32_t>(((bits() >> 32) * count) >> 32); }

  /// Mean 0, variance 1, by Marsaglia's polar method.
  double normal() {
    for (;;) {
      const double x = 2 * uniform() - 1;
      const double y = 2 * uniform() - 1;
      const double square = x * x + y * y;
      if (square > 0 && square < 1) return x * std::sqrt(-2 * std::log(square) / square);
    }
  }

 private:
  uint64_t words_[4];
};

}  // namespace quern::anomaly
