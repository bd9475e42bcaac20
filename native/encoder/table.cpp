#include "table.hpp"

#include <algorithm>
#include <cmath>

namespace quern::encoder {
namespace {

/// Numbers that are widened at once.
constexpr size_t kChunk = 256;

/// Whether halves keep these numbers to 11 bits, over all of them: none too large, and not all too small.
bool fit_halves(std::span<const float> values) {
  Half halves[kChunk];
  float back[kChunk];
  double squares = 0, errors = 0;
  for (size_t at = 0; at < values.size(); at += kChunk) {
    const std::span<const float> chunk = values.subspan(at, std::min(kChunk, values.size() - at));
    to_half(chunk.data(), halves, chunk.size());
    to_float(halves, back, chunk.size());
    for (size_t i = 0; i < chunk.size(); ++i) {
      if (!(std::abs(chunk[i]) <= kLargestHalf)) return false;
      const double error = static_cast<double>(back[i]) - chunk[i];
      squares += static_cast<double>(chunk[i]) * chunk[i];
      errors += error * error;
    }
  }
  return errors <= squares * 0x1p-22;
}

}  // namespace

Table::Table(const MatrixSource& source, size_t width, Arena& arena) : width_(width) {
  if (!source.has_bytes()) {
    if (fit_halves(source.floats)) {
      const std::span<Half> halves = arena.take<Half>(source.floats.size());
      to_half(source.floats.data(), halves.data(), halves.size());
      halves_ = halves;
    } else {
      const std::span<float> floats = arena.take<float>(source.floats.size());
      std::ranges::copy(source.floats, floats.begin());
      floats_ = floats;
    }
    return;
  }
  const ByteSource& quantised = source.quantised;
  const std::span<uint8_t> bytes = arena.take<uint8_t>(quantised.bytes.size());
  std::ranges::copy(quantised.bytes, bytes.begin());
  bytes_ = bytes;
  signed_ = quantised.is_signed;
  const std::span<float> scales = arena.take<float>(width), zeros = arena.take<float>(width);
  for (size_t column = 0; column < width; ++column) {
    const size_t at = quantised.scales.size() == 1 ? 0 : column;
    scales[column] = quantised.scales[at];
    zeros[column] = quantised.zeros.empty() ? 0.0f : static_cast<float>(quantised.zeros[at]);
  }
  scales_ = scales;
  zeros_ = zeros;
}

void Table::add(size_t row, float* to) const {
  const size_t first = row * width_;
  if (!bytes_.empty()) {
    for (size_t i = 0; i < width_; ++i) {
      const uint8_t byte = bytes_[first + i];
      const float value = signed_ ? static_cast<float>(static_cast<int8_t>(byte)) : static_cast<float>(byte);
      to[i] += (value - zeros_[i]) * scales_[i];
    }
  } else if (!halves_.empty()) {
    float values[kChunk];
    for (size_t at = 0; at < width_; at += kChunk) {
      const size_t count = std::min(kChunk, width_ - at);
      to_float(halves_.data() + first + at, values, count);
      for (size_t i = 0; i < count; ++i) to[at + i] += values[i];
    }
  } else {
    for (size_t i = 0; i < width_; ++i) to[i] += floats_[first + i];
  }
}

}  // namespace quern::encoder
