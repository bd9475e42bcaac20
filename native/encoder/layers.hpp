#pragma once

#include <span>
#include <string>
#include <vector>

#include "packed_dense.hpp"
#include "table.hpp"

namespace quern::encoder {

/// Of a layer normalisation, padded with zeros.
struct PackedNorm {
  PackedNorm(const NormSource& source, Arena& arena);

  std::span<const float> weight;
  std::span<const float> bias;
  size_t width;
};

struct PackedLayer {
  PackedLayer(const EncoderKernels& kernels, const LayerSource& source, const Shape& shape, Arena& arena);

  PackedDense query, key, value, output, up, down;
  PackedNorm attention_norm, output_norm;
  /// Which of the rows made for query, key and value (0 to 2) key and value read.
  size_t key_rows, value_rows;
};

/// A step after the layers.
struct PackedStep {
  HeadStepSource::Kind kind;
  Activation activation;
  std::vector<PackedDense> dense;  ///< one of kDense
};

/// All weights of an encoder. Only read once it is made.
struct PackedEncoder {
  /// Checks the source against the shape. Throws Failure('invalid') or ('too_large').
  PackedEncoder(const EncoderKernels& kernels, const Shape& shape, const EncoderSource& source);

  Shape shape;
  Arena arena;
  Table words, positions, types;
  PackedNorm norm;
  std::vector<PackedLayer> layers;
  std::vector<PackedStep> head;
  size_t outputs;      ///< numbers of a row of the result
  bool pools = false;  ///< to a row for each text, not for each token
};

/// Numbers of a head as they lie, and of all heads.
inline size_t head_line(const Shape& shape) {
  return padded(shape.width / shape.heads, kLane);
}
inline size_t heads_line(const Shape& shape) {
  return padded(shape.heads * head_line(shape), kPanel);
}

}  // namespace quern::encoder
