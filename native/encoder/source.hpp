#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/kernels.hpp"

namespace quern::encoder {

/// Sizes and constants; see EncoderShape of native/contract/encoder.ts.
struct Shape {
  size_t width;
  size_t layers;
  size_t heads;
  size_t inner;
  size_t vocabulary;
  size_t positions;
  size_t types;
  size_t first_position;
  float epsilon;
  Activation activation;
};

/// Throws Failure('invalid') with the size that is wrong.
void check(const Shape& shape);

// Weights as the caller has them; nothing is kept of them.

/// Bytes that stand for (byte - zero) * scale.
struct ByteSource {
  std::span<const uint8_t> bytes;
  bool is_signed = true;
  std::span<const float> scales;   ///< one per column, or one
  std::span<const int32_t> zeros;  ///< as many, or none
};

/// A matrix as floats, or as bytes when there are any.
struct MatrixSource {
  std::span<const float> floats;
  ByteSource quantised;

  bool has_bytes() const { return !quantised.scales.empty(); }
};

struct DenseSource {
  size_t inputs = 0;
  size_t outputs = 0;
  std::span<const float> bias;
  MatrixSource weights;
  std::span<const float> input_scale;
};

struct NormSource {
  std::span<const float> weight;
  std::span<const float> bias;
};

struct LayerSource {
  DenseSource query, key, value, output, up, down;
  NormSource attention_norm, output_norm;
};

struct HeadStepSource {
  enum class Kind { kTakeFirst, kTakeMean, kDense } kind;
  DenseSource dense;
  Activation activation = Activation::kNone;
};

struct EncoderSource {
  MatrixSource words;
  std::span<const float> positions;
  std::span<const float> types;
  NormSource norm;
  std::vector<LayerSource> layers;
  std::vector<HeadStepSource> head;
};

// Each throws Failure('invalid') with `name` and the number that does not fit.
void check(const MatrixSource& matrix, size_t rows, size_t columns, const std::string& name);
void check(const DenseSource& dense, size_t inputs, size_t outputs, const std::string& name);
void check(const NormSource& norm, size_t width, const std::string& name);

}  // namespace quern::encoder
