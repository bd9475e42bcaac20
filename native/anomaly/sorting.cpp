#include "sorting.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

namespace quern::anomaly {
namespace {

constexpr size_t kDigitBits = 11;
constexpr size_t kDigits = 3;  ///< of the 32 bits that are sorted by counting
constexpr size_t kValues = size_t{1} << kDigitBits;
constexpr uint64_t kSign = uint64_t{1} << 63;

/// The bits of a double so that the order of integers is that of the numbers.
uint64_t to_key(double value) {
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

/// A number's first 32 bits that differ, above its place.
using Entry = uint64_t;

uint32_t place_of(Entry entry) {
  return static_cast<uint32_t>(entry);
}

size_t digit(Entry entry, size_t which) {
  return entry >> (32 + which * kDigitBits) & (kValues - 1);
}

/// Sorts by the upper halves, digit by digit from the last, which keeps the order of equal ones.
void sort_by_counting(std::vector<Entry>& entries) {
  std::vector<std::array<uint32_t, kValues>> counts(kDigits);
  for (const Entry entry : entries)
    for (size_t which = 0; which < kDigits; ++which) ++counts[which][digit(entry, which)];
  std::vector<Entry> moved(entries.size());
  for (size_t which = 0; which < kDigits; ++which) {
    auto& starts = counts[which];
    // A digit that all share orders nothing.
    if (starts[digit(entries.front(), which)] == entries.size()) continue;
    uint32_t before = 0;
    for (uint32_t& count : starts) {
      const uint32_t here = count;
      count = before;
      before += here;
    }
    for (const Entry entry : entries) moved[starts[digit(entry, which)]++] = entry;
    entries.swap(moved);
  }
}

}  // namespace

std::vector<uint32_t> sort_numbers(std::span<double> values) {
  std::vector<uint32_t> places(values.size());
  if (values.empty()) return places;
  const std::vector<double> given(values.begin(), values.end());
  uint64_t least = ~uint64_t{0}, most = 0;
  for (const double value : given) {
    least = std::min(least, to_key(value));
    most = std::max(most, to_key(value));
  }
  const int bits = std::bit_width(most - least);
  const int left_out = std::max(0, bits - 32);
  std::vector<Entry> entries(given.size());
  for (size_t i = 0; i < given.size(); ++i) entries[i] = ((to_key(given[i]) - least) >> left_out) << 32 | i;
  sort_by_counting(entries);
  // Few are left whose first bits are equal.
  for (size_t first = 0, last = 0; left_out > 0 && first < entries.size(); first = last) {
    while (last < entries.size() && entries[first] >> 32 == entries[last] >> 32) ++last;
    if (last - first == 1) continue;
    const auto at = [&](size_t i) { return entries.begin() + static_cast<std::ptrdiff_t>(i); };
    std::sort(at(first), at(last), [&](Entry a, Entry b) {
      const uint64_t left = to_key(given[place_of(a)]), right = to_key(given[place_of(b)]);
      return left != right ? left < right : a < b;
    });
  }
  for (size_t i = 0; i < entries.size(); ++i) {
    places[i] = place_of(entries[i]);
    values[i] = given[places[i]];
  }
  return places;
}

}  // namespace quern::anomaly
