#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace quern::classify {

/// SplitMix64 (Steele, Lea, Flood 2014): the same numbers on every machine, which the distributions of <random> do not
/// promise.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() noexcept {
    uint64_t value = state_ += 0x9e3779b97f4a7c15ULL;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
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

}  // namespace quern::classify
