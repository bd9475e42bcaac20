#pragma once

#include "kernels.hpp"

namespace quern::encoder {

/**
 * Weights for products of bytes whose pairs of products are added up as 16-bit numbers. In steps of kByteStep inputs
 * several pairs are added up as such before they become 32-bit numbers, as many as fit whatever the row is.
 */
constexpr size_t kByteStep = 16;
constexpr size_t kStepWords = kByteStep / kGroup;
/// Columns that are multiplied together.
constexpr size_t kStepColumns = 8;
/// The largest byte of a row by which every two weights can be multiplied, so that the sum fits.
constexpr int32_t kMostStepByte = 128;

/// Bytes of a panel of weights in steps.
constexpr size_t byte_steps_panel(size_t depth) {
  return padded(depth * kPanel + kPanel / kStepColumns * (2 + depth / kByteStep) * sizeof(uint16_t), 64);
}

/// EncoderKernels::most_byte of weights in steps.
int32_t most_step_byte(const int8_t* panel, size_t depth);

/**
 * A panel of bytes, [depth / kGroup][kPanel][kGroup], in place as [kPanel / kStepColumns][step][kStepWords]
 * [kStepColumns][kGroup]. Then come uint16_t [kPanel / kStepColumns][2 + steps]: how many of the steps have four words
 * that fit together, how many two and two at least, and the places of the steps, in this order. The depth is 2^20 at
 * most.
 */
void arrange_byte_steps(int8_t* panel, size_t depth, int32_t most);

}  // namespace quern::encoder
