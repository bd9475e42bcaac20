#include "encoder_byte_steps.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace quern::encoder {
namespace {

/// From one step to the next, and from a word of inputs to the next, of a panel as it was packed.
constexpr size_t kStepBytes = kByteStep * kPanel, kWordBytes = kPanel * kGroup;
constexpr size_t kColumnsBytes = kStepColumns * kGroup;
static_assert(kDepthStep % kByteStep == 0 && kStepWords == 4);

/// Whether the sum of products fits of two weights and of those at their place in further words, as one instruction
/// adds them, with any bytes up to `most`.
bool pairs_fit(const int8_t* weights, size_t words, int32_t most) {
  int32_t above = 0, below = 0;
  for (size_t word = 0; word < words; ++word, weights += kWordBytes)
    for (size_t i = 0; i < kPair; ++i) (weights[i] > 0 ? above : below) += weights[i];
  return above * most <= INT16_MAX && below * most >= INT16_MIN;
}

/// pairs_fit() for kStepColumns columns.
bool words_fit(const int8_t* weights, size_t words, int32_t most) {
  for (size_t pair = 0; pair < kColumnsBytes; pair += kPair)
    if (!pairs_fit(weights + pair, words, most)) return false;
  return true;
}

/// Words of a step that fit together: 4, 2 or 1.
size_t together(const int8_t* step, int32_t most) {
  if (words_fit(step, 4, most)) return 4;
  return words_fit(step, 2, most) && words_fit(step + 2 * kWordBytes, 2, most) ? 2 : 1;
}

}  // namespace

int32_t most_step_byte(const int8_t* weights, size_t count) {
  for (size_t i = 0; i < count; i += kPair)
    if (!pairs_fit(weights + i, 1, kMostByte)) return kMostStepByte;
  return kMostByte;
}

void arrange_byte_steps(int8_t* panel, size_t depth, int32_t most) {
  const std::vector<int8_t> from(panel, panel + depth * kPanel);
  const size_t steps = depth / kByteStep;
  auto* order = reinterpret_cast<uint16_t*>(panel + depth * kPanel);
  std::vector<size_t> fitting(steps);
  for (size_t first = 0; first < kWordBytes; first += kColumnsBytes) {
    for (size_t step = 0; step < steps; ++step) fitting[step] = together(&from[step * kStepBytes + first], most);
    const size_t fours = static_cast<size_t>(std::ranges::count(fitting, 4u));
    *order++ = static_cast<uint16_t>(fours);
    *order++ = static_cast<uint16_t>(fours + static_cast<size_t>(std::ranges::count(fitting, 2u)));
    for (const size_t words : {4u, 2u, 1u})
      for (size_t step = 0; step < steps; ++step) {
        if (fitting[step] != words) continue;
        *order++ = static_cast<uint16_t>(step);
        for (size_t word = 0; word < kStepWords; ++word, panel += kColumnsBytes)
          std::memcpy(panel, &from[step * kStepBytes + word * kWordBytes + first], kColumnsBytes);
      }
  }
}

}  // namespace quern::encoder
