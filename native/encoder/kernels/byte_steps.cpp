#include "byte_steps.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace quern::encoder {
namespace {

/// From one step to the next, and from a word of inputs to the next, of a panel as it was packed.
constexpr size_t kStepBytes = kByteStep * kPanel, kWordBytes = kPanel * kGroup;
constexpr size_t kColumnsBytes = kStepColumns * kGroup;
constexpr size_t kParts = kPanel / kStepColumns, kPairs = kWordBytes / kPair;
static_assert(kDepthStep % kByteStep == 0 && kStepWords == 4);

/// What pairs of weights come to whose products an instruction adds up, those above and those below 0 apart.
struct Reach {
  int16_t above[kPairs]{}, below[kPairs]{};

  void add(const int8_t* word) {
    for (size_t pair = 0; pair < kPairs; ++pair) {
      const int16_t first = word[pair * kPair], second = word[pair * kPair + 1], zero = 0;
      above[pair] = static_cast<int16_t>(above[pair] + std::max(first, zero) + std::max(second, zero));
      below[pair] = static_cast<int16_t>(below[pair] + std::min(first, zero) + std::min(second, zero));
    }
  }
  /// Whether the sums of products fit for some of the pairs, with any bytes up to `most`.
  bool fits(size_t from, size_t to, int32_t most) const {
    return *std::max_element(above + from, above + to) * most <= INT16_MAX &&
           *std::min_element(below + from, below + to) * most >= INT16_MIN;
  }
};

/// Words of a step that fit together, 4, 2 or 1, for each part of the columns.
std::array<uint8_t, kParts> fit_step(const int8_t* step, int32_t most) {
  Reach all, halves[2];
  for (size_t word = 0; word < kStepWords; ++word) {
    all.add(step + word * kWordBytes);
    halves[word / 2].add(step + word * kWordBytes);
  }
  std::array<uint8_t, kParts> together{};
  for (size_t part = 0; part < kParts; ++part) {
    const size_t from = part * kPairs / kParts, to = from + kPairs / kParts;
    const bool by_twos = halves[0].fits(from, to, most) && halves[1].fits(from, to, most);
    together[part] = all.fits(from, to, most) ? 4 : by_twos ? 2 : 1;
  }
  return together;
}

}  // namespace

int32_t most_step_byte(const int8_t* panel, size_t depth) {
  for (const int8_t* const end = panel + depth * kPanel; panel < end; panel += kWordBytes) {
    Reach word;
    word.add(panel);
    if (!word.fits(0, kPairs, kMostByte)) return kMostStepByte;
  }
  return kMostByte;
}

void arrange_byte_steps(int8_t* panel, size_t depth, int32_t most) {
  const std::vector<int8_t> from(panel, panel + depth * kPanel);
  const size_t steps = depth / kByteStep;
  auto* order = reinterpret_cast<uint16_t*>(panel + depth * kPanel);
  std::vector<std::array<uint8_t, kParts>> together(steps);
  for (size_t step = 0; step < steps; ++step) together[step] = fit_step(&from[step * kStepBytes], most);
  for (size_t part = 0; part < kParts; ++part) {
    uint16_t* const counts = order;
    order += 2;
    for (const uint8_t words : {4, 2, 1}) {
      for (size_t step = 0; step < steps; ++step) {
        if (together[step][part] != words) continue;
        *order++ = static_cast<uint16_t>(step);
        const int8_t* word = &from[step * kStepBytes + part * kColumnsBytes];
        for (size_t i = 0; i < kStepWords; ++i, word += kWordBytes, panel += kColumnsBytes)
          std::memcpy(panel, word, kColumnsBytes);
      }
      if (words > 1) counts[words == 4 ? 0 : 1] = static_cast<uint16_t>(order - counts - 2);
    }
  }
}

}  // namespace quern::encoder
