#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

// Random numbers that are the same on every machine, which the distributions of <random> do not promise.
namespace quern {

/// SplitMix64 (Steele, Lea, Flood 2014): one word of state, for orders and starts that need no long sequence.
class SplitMix {
 public:
  explicit SplitMix(uint64_t seed) : state_(seed) {}

  uint64_t next() noexcept {
    uint64_t value = state_ += 0x9e3779b97f4a7c15u;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
  }

  /// From 0 to `count` - 1; `count` is below 2^32.
  size_t below(size_t count) noexcept { return static_cast<size_t>(((next() >> 32) * count) >> 32); }

  /// From -1 to 1.
  double symmetric() noexcept { return static_cast<double>(next() >> 11) * 0x1.0p-52 - 1; }

  template <typename Item>
  void shuffle(std::vector<Item>& items) noexcept {
    for (size_t left = items.size(); left > 1; --left) std::swap(items[left - 1], items[below(left)]);
  }

 private:
  uint64_t state_;
};

/**
 * xoshiro256++ (Blackman and Vigna 2019), seeded by SplitMix64. Each `stream` of a seed is a sequence of its own, so
 * what threads draw does not depend on their order.
 */
class Random {
 public:
  explicit Random(uint64_t seed, uint64_t stream = 0) {
    SplitMix words(seed + 0xd1342543de82ef95u * (stream + 1));
    for (uint64_t& word : words_) word = words.next();
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

}  // namespace quern
