#include "sorting.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace quern::anomaly {
namespace {

/// Below, comparing is faster than counting digits.
constexpr size_t kLeastRadix = 4096;
constexpr size_t kDigitBits = 11;
constexpr size_t kDigits = 6;  ///< of 64 bits
constexpr size_t kValues = size_t{1} << kDigitBits;

constexpr uint64_t kSign = uint64_t{1} << 63;

/// The bits of a double so that the order of integers is that of the numbers, and back.
uint64_t to_key(double value) {
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

double from_key(uint64_t key) {
  return std::bit_cast<double>((key & kSign) != 0 ? key & ~kSign : ~key);
}

size_t digit(uint64_t key, size_t place) {
  return (key >> (place * kDigitBits)) & (kValues - 1);
}

}  // namespace

void sort_numbers(std::vector<double>& values) {
  if (values.size() < kLeastRadix) {
    std::ranges::sort(values, {}, to_key);
    return;
  }
  std::vector<uint64_t> keys(values.size());
  std::vector<uint64_t> moved(values.size());
  std::vector<std::array<size_t, kValues>> places(kDigits);
  for (size_t i = 0; i < values.size(); ++i) {
    keys[i] = to_key(values[i]);
    for (size_t place = 0; place < kDigits; ++place) ++places[place][digit(keys[i], place)];
  }
  for (size_t place = 0; place < kDigits; ++place) {
    auto& counts = places[place];
    // A digit that all numbers share orders nothing.
    if (counts[digit(keys.front(), place)] == keys.size()) continue;
    size_t before = 0;
    for (size_t& count : counts) {
      const size_t here = count;
      count = before;
      before += here;
    }
    for (const uint64_t key : keys) moved[counts[digit(key, place)]++] = key;
    keys.swap(moved);
  }
  std::ranges::transform(keys, values.begin(), from_key);
}

}  // namespace quern::anomaly
