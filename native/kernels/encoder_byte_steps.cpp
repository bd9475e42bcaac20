#include "encoder_byte_steps.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

namespace quern::encoder {
namespace {

/// From one step to the next, and from a word of inputs to the next, of a panel as it was packed.
constexpr size_t kStepBytes = kByteStep * kPanel, kWordBytes = kPanel * kGroup;
static_assert(kDepthStep % kByteStep == 0);

/// Whether sums of products of half of the inputs of each word, as one instruction adds them, fit for one column.
bool fits(const int8_t* column) {
  int32_t above = 0, below = 0;
  for (size_t word = 0; word < kStepBytes; word += kWordBytes)
    for (size_t i = word; i < word + kPair; ++i) (column[i] > 0 ? above : below) += column[i];
  return above * kMostStepByte <= INT16_MAX && below * kMostStepByte >= INT16_MIN;
}

}  // namespace

void arrange_byte_steps(int8_t* panel, size_t depth) {
  const std::vector<int8_t> from(panel, panel + depth * kPanel);
  const size_t steps = depth / kByteStep;
  auto* order = reinterpret_cast<uint16_t*>(panel + depth * kPanel);
  constexpr size_t kColumnsBytes = kStepColumns * kGroup;
  for (size_t first = 0; first < kWordBytes; first += kColumnsBytes, order += 1 + steps) {
    const auto all_fit = [&](uint16_t step) {
      const int8_t* const columns = &from[step * kStepBytes + first];
      for (size_t at = 0; at < kColumnsBytes; at += kPair)
        if (!fits(columns + at)) return false;
      return true;
    };
    uint16_t *const places = order + 1, *const end = places + steps;
    std::iota(places, end, uint16_t{0});
    order[0] = static_cast<uint16_t>(std::stable_partition(places, end, all_fit) - places);
    for (const uint16_t* step = places; step < end; ++step)
      for (size_t word = first; word < kStepBytes; word += kWordBytes, panel += kColumnsBytes)
        std::memcpy(panel, &from[*step * kStepBytes + word], kColumnsBytes);
  }
}

}  // namespace quern::encoder
