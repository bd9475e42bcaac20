#pragma once

#include "encoder_kernels.hpp"

namespace quern::encoder {

/// Inputs whose products with bytes are summed up as 16-bit numbers, where these fit.
constexpr size_t kByteStep = 16;
/// Columns that are multiplied together, one of 32 bits each.
constexpr size_t kStepColumns = 8;
/// The largest byte of a row: with any two bytes of weights their products' sum fits.
constexpr int32_t kMostStepByte = 128;

/// Bytes of a panel of weights in steps.
constexpr size_t byte_steps_panel(size_t depth) {
  return padded(depth * kPanel + kPanel / kStepColumns * sizeof(uint16_t) * (1 + depth / kByteStep), 64);
}

/**
 * A panel of bytes, [depth / kGroup][kPanel][kGroup], in place as [kPanel / kStepColumns][step][kByteStep /
 * kGroup][kStepColumns][kGroup]. Within the columns that are multiplied together steps whose sums fit, whatever the
 * row, come before the others. Behind the panel stand for each of them two bytes each: how many fit, and the steps'
 * places.
 */
void arrange_byte_steps(int8_t* panel, size_t depth);

}  // namespace quern::encoder
