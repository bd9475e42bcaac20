#include "packed_dense.hpp"

#include <algorithm>
#include <vector>

#include "limits.hpp"
#include "table.hpp"

namespace quern::encoder {
namespace {

/// Words of the bytes of one row, on the stack.
constexpr size_t kMostWords = kMostInner / kGroup;

/// Where a float's weight lies; see FloatProduct.
size_t float_place(size_t depth, size_t panels, size_t input, size_t output) {
  const size_t from = input / kDepthBlock * kDepthBlock, lines = std::min(kDepthBlock, depth - from);
  return (from * panels + output / kPanel * lines + input - from) * kPanel + output % kPanel;
}

size_t byte_place(size_t depth, size_t input, size_t output) {
  const size_t line = output / kPanel * (depth / kGroup) + input / kGroup;
  return (line * kPanel + output % kPanel) * kGroup + input % kGroup;
}

bool equal(std::span<const float> a, std::span<const float> b) {
  return std::ranges::equal(a, b);
}

}  // namespace

PackedDense::PackedDense(const DenseSource& source, const Places& inputs, const Places& outputs, float factor,
                         Arena& arena)
    : depth_(inputs.end()), panels_(padded(outputs.end(), kPanel) / kPanel) {
  bias_ = arena.take<float>(panels_ * kPanel);
  for (size_t i = 0; i < source.bias.size(); ++i) bias_[outputs.at(i)] = source.bias[i] * factor;
  if (source.weights.has_bytes())
    pack_bytes(source, inputs, outputs, factor, arena);
  else
    pack_floats(source, inputs, outputs, factor, arena);
  if (!source.outlier_rows.empty()) pack_outliers(source, inputs, outputs, factor, arena);
}

void PackedDense::pack_floats(const DenseSource& source, const Places& inputs, const Places& outputs, float factor,
                              Arena& arena) {
  const std::span<const float> weights = source.weights.floats;
  const auto fill = [&](auto& to, auto convert) {
    for (size_t input = 0; input < source.inputs; ++input)
      for (size_t output = 0; output < source.outputs; ++output)
        to[float_place(depth_, panels_, inputs.at(input), outputs.at(output))] =
            convert(weights[input * source.outputs + output] * factor);
  };
  if (fit_halves(weights, factor)) {
    halves_ = arena.take<Half>(depth_ * panels_ * kPanel);
    fill(halves_, half_of);
  } else {
    floats_ = arena.take<float>(depth_ * panels_ * kPanel);
    fill(floats_, [](float weight) { return weight; });
  }
}

void PackedDense::pack_bytes(const DenseSource& source, const Places& inputs, const Places& outputs, float factor,
                             Arena& arena) {
  const ByteSource& from = source.weights.quantised;
  depth_ = padded(depth_, kLane);
  const size_t columns = panels_ * kPanel;
  bytes_ = arena.take<int8_t>(depth_ * columns);
  scales_ = arena.take<float>(columns);
  sums_ = arena.take<int32_t>(columns);
  // Unsigned bytes and their zeros become signed ones, 128 lower.
  const int32_t lower = from.is_signed ? 0 : 128;
  const auto zero = [&](size_t output) {
    return (from.zeros.empty() ? 0 : from.zeros[from.zeros.size() == 1 ? 0 : output]) - lower;
  };
  for (size_t output = 0; output < source.outputs; ++output) {
    const size_t column = outputs.at(output);
    scales_[column] = from.scales[from.scales.size() == 1 ? 0 : output] * factor;
    if (zero(output) == 0) continue;
    if (zeros_.empty()) zeros_ = arena.take<int32_t>(columns);
    zeros_[column] = zero(output);
    // Places without an input count as 0 too.
    for (size_t place = 0; place < depth_; ++place)
      bytes_[byte_place(depth_, place, column)] = static_cast<int8_t>(zero(output));
    sums_[column] = zero(output) * static_cast<int32_t>(depth_);
  }
  for (size_t input = 0; input < source.inputs; ++input)
    for (size_t output = 0; output < source.outputs; ++output) {
      const uint8_t byte = from.bytes[input * source.outputs + output];
      const int32_t value = from.is_signed ? static_cast<int8_t>(byte) : byte - lower;
      const size_t column = outputs.at(output);
      int8_t& to = bytes_[byte_place(depth_, inputs.at(input), column)];
      sums_[column] += value - to;
      to = static_cast<int8_t>(value);
    }
  if (source.input_scale.empty()) return;
  input_scale_ = arena.take<float>(depth_);
  for (size_t input = 0; input < source.inputs; ++input) input_scale_[inputs.at(input)] = source.input_scale[input];
}

void PackedDense::pack_outliers(const DenseSource& source, const Places& inputs, const Places& outputs, float factor,
                                Arena& arena) {
  outlier_places_ = arena.take<uint32_t>(source.outlier_rows.size());
  for (size_t i = 0; i < outlier_places_.size(); ++i)
    outlier_places_[i] = static_cast<uint32_t>(inputs.at(static_cast<size_t>(source.outlier_rows[i])));
  DenseSource floats;
  floats.inputs = source.outlier_rows.size();
  floats.outputs = source.outputs;
  floats.weights.floats = source.outlier_weights;
  outlier_dense_ = std::make_unique<PackedDense>(floats, Places::together(floats.inputs), outputs, factor, arena);
}

bool PackedDense::prepares_like(const PackedDense& other) const {
  return depth_ == other.depth_ && bytes_.empty() == other.bytes_.empty() && equal(input_scale_, other.input_scale_) &&
         std::ranges::equal(outlier_places_, other.outlier_places_);
}

void PackedDense::prepare(const EncoderKernels& kernels, Tiles tiles, size_t tile, StateRows rows,
                          const PreparedRows& to, std::span<float> outliers) const {
  const size_t first = tiles.first(tile), count = tiles.first(tile + 1) - first;
  const float* from = rows.values + first * rows.step;
  for (size_t i = 0; i < outlier_places_.size(); ++i)
    for (size_t row = 0; row < count; ++row)
      outliers[first * outlier_places_.size() + i * count + row] = from[row * rows.step + outlier_places_[i]];
  if (bytes_.empty()) {
    kernels.transpose(from, rows.step, count, depth_, to.floats.data() + first * depth_, count);
    return;
  }
  const size_t words = depth_ / kGroup;
  alignas(64) uint32_t line[kMostWords];
  for (size_t row = 0; row < count; ++row) {
    const float* scale = input_scale_.empty() ? nullptr : input_scale_.data();
    to.terms[first + row] = kernels.quantize(from + row * rows.step, scale, depth_, reinterpret_cast<uint8_t*>(line));
    uint32_t* out = to.words.data() + first * words + row;
    for (size_t word = 0; word < words; ++word) out[word * count] = line[word];
  }
}

void PackedDense::multiply(const EncoderKernels& kernels, Tiles tiles, const PreparedRows& rows,
                           std::span<const float> outliers, Results results) const {
  results.bias = bias_.data();
  if (!halves_.empty()) {
    kernels.multiply_halves({tiles, rows.floats.data(), halves_.data(), depth_, panels_, results});
  } else if (!floats_.empty()) {
    kernels.multiply_floats({tiles, rows.floats.data(), floats_.data(), depth_, panels_, results});
  } else {
    Results first = results;
    if (outlier_dense_) first.activation = Activation::kNone;
    kernels.multiply_bytes({tiles,
                            rows.words.data(),
                            rows.terms.data(),
                            bytes_.data(),
                            depth_,
                            {scales_.data(), sums_.data(), zeros_.empty() ? nullptr : zeros_.data()},
                            first});
    if (!outlier_dense_) return;
    results.add = true;
    PreparedRows kept;
    kept.floats = {const_cast<float*>(outliers.data()), outliers.size()};
    outlier_dense_->multiply(kernels, tiles, kept, {}, results);
  }
}

}  // namespace quern::encoder
