#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <random>
#include <vector>

#include "encoder/source.hpp"

namespace quern::encoder {

/// The instruction sets of this processor.
inline std::vector<Isa> isas() {
  std::vector<Isa> all{Isa::kPortable};
  if (best_isa() != Isa::kPortable) all.push_back(Isa::kAvx2);
  if (best_isa() == Isa::kAvx512) all.push_back(Isa::kAvx512);
  if (tiles_granted()) all.push_back(Isa::kAmx);
  return all;
}

inline std::vector<float> normal_numbers(std::mt19937& random, size_t count, float size) {
  std::normal_distribution<float> normal(0, size);
  std::vector<float> made(count);
  for (float& one : made) one = normal(random);
  return made;
}

inline double activated(Activation activation, double x) {
  switch (activation) {
    case Activation::kGelu:
      return x * 0.5 * std::erfc(-x / std::sqrt(2.0));
    case Activation::kGeluTanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case Activation::kRelu:
      return x > 0 ? x : 0;
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kNone:
      break;
  }
  return x;
}

/// An encoder with random weights, and its pass in plain double precision.
class RandomEncoder {
 public:
  using Row = std::vector<double>;
  using Rows = std::vector<Row>;

  struct Options {
    bool bytes = false;
    bool is_signed = true;
    bool zeros = false;
    bool own_scales = false;  ///< query, key and value have input scales of their own
    bool shorts = true;       ///< floats are of one size
  };

  RandomEncoder(const Shape& shape, const Options& options) : shape(shape), options_(options) {
    const size_t width = shape.width;
    source.words =
        options.bytes ? byte_matrix(shape.vocabulary, width) : MatrixSource{floats(shape.vocabulary * width, 1), {}};
    source.positions = floats(shape.positions * width, 0.3f);
    source.types = floats(shape.types * width, 0.3f);
    source.norm = norm(width);
    for (size_t i = 0; i < shape.layers; ++i)
      source.layers.push_back({dense(width, width), dense(width, width), dense(width, width), dense(width, width),
                               dense(width, shape.inner), dense(shape.inner, width), norm(width), norm(width)});
  }

  void add_dense(size_t inputs, size_t outputs, Activation activation) {
    source.head.push_back({HeadStepSource::Kind::kDense, dense(inputs, outputs), activation});
  }
  void take(HeadStepSource::Kind kind) { source.head.push_back({kind, {}, Activation::kNone}); }

  /// One text.
  Rows pass(const std::vector<int32_t>& ids, const std::vector<int32_t>& types) const {
    Rows rows(ids.size(), Row(shape.width));
    for (size_t t = 0; t < ids.size(); ++t)
      for (size_t i = 0; i < shape.width; ++i) {
        rows[t][i] = value(source.words, shape.width, static_cast<size_t>(ids[t]), i) +
                     source.positions[(t + shape.first_position) * shape.width + i];
        if (shape.types > 0) rows[t][i] += source.types[static_cast<size_t>(types[t]) * shape.width + i];
      }
    normed(rows, source.norm);
    for (const LayerSource& layer : source.layers) {
      add(rows, product(attended(product(rows, layer.query), product(rows, layer.key), product(rows, layer.value)),
                        layer.output));
      normed(rows, layer.attention_norm);
      Rows inner = product(rows, layer.up);
      activate(inner, shape.activation);
      add(rows, product(inner, layer.down));
      normed(rows, layer.output_norm);
    }
    for (const HeadStepSource& step : source.head) {
      if (step.kind == HeadStepSource::Kind::kTakeFirst) rows.resize(1);
      if (step.kind == HeadStepSource::Kind::kTakeMean) {
        Row mean(rows[0].size());
        for (const Row& row : rows)
          for (size_t i = 0; i < mean.size(); ++i) mean[i] += row[i] / static_cast<double>(rows.size());
        rows = {mean};
      }
      if (step.kind == HeadStepSource::Kind::kDense) {
        rows = product(rows, step.dense);
        activate(rows, step.activation);
      }
    }
    return rows;
  }

  Shape shape;
  EncoderSource source;

 private:
  std::span<const float> floats(size_t count, float size, float about = 0) {
    std::normal_distribution<float> normal(about, size);
    std::vector<float>& made = floats_.emplace_back(count);
    for (float& one : made) one = normal(random_);
    return made;
  }

  NormSource norm(size_t width) { return {floats(width, 0.1f, 1), floats(width, 0.1f)}; }

  MatrixSource byte_matrix(size_t inputs, size_t outputs) {
    std::vector<uint8_t>& bytes = bytes_.emplace_back(inputs * outputs);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random_());
    MatrixSource matrix;
    matrix.quantised = {bytes, options_.is_signed, {}, {}};
    const size_t scales = options_.own_scales ? 1 : outputs;
    matrix.quantised.scales = floats(scales, 0.1f / 74 / std::sqrt(static_cast<float>(inputs)),
                                     1.0f / 74 / std::sqrt(static_cast<float>(inputs)));
    if (!options_.is_signed || options_.zeros) {
      std::vector<int32_t>& zeros = zeros_.emplace_back(scales);
      for (int32_t& zero : zeros)
        zero = (options_.is_signed ? 0 : 128) + (options_.zeros ? static_cast<int32_t>(random_() % 41) - 20 : 0);
      matrix.quantised.zeros = zeros;
    }
    return matrix;
  }

  DenseSource dense(size_t inputs, size_t outputs) {
    DenseSource made;
    made.inputs = inputs;
    made.outputs = outputs;
    made.bias = floats(outputs, 0.1f);
    if (!options_.bytes) {
      made.weights.floats = floats(inputs * outputs, 1 / std::sqrt(static_cast<float>(inputs)));
      if (!options_.shorts) const_cast<float&>(made.weights.floats[0]) = 70000;
      return made;
    }
    made.weights = byte_matrix(inputs, outputs);
    if (options_.own_scales) made.input_scale = floats(inputs, 0.2f, 1);
    return made;
  }

  static double value(const MatrixSource& matrix, size_t columns, size_t row, size_t column) {
    const size_t at = row * columns + column;
    if (!matrix.has_bytes()) return matrix.floats[at];
    const ByteSource& from = matrix.quantised;
    const size_t scale = from.scales.size() == 1 ? 0 : column;
    const int byte = from.is_signed ? static_cast<int8_t>(from.bytes[at]) : from.bytes[at];
    return (byte - (from.zeros.empty() ? 0 : from.zeros[scale])) * static_cast<double>(from.scales[scale]);
  }

  static Rows product(const Rows& rows, const DenseSource& dense) {
    Rows results;
    for (const Row& row : rows) {
      Row& result = results.emplace_back(dense.outputs);
      for (size_t o = 0; o < dense.outputs; ++o) {
        result[o] = dense.bias[o];
        for (size_t i = 0; i < dense.inputs; ++i)
          result[o] += row[i] * (dense.input_scale.empty() ? 1.0 : dense.input_scale[i]) *
                       value(dense.weights, dense.outputs, i, o);
      }
    }
    return results;
  }

  Rows attended(const Rows& queries, const Rows& keys, const Rows& values) const {
    const size_t size = shape.width / shape.heads;
    Rows mixed(queries.size(), Row(shape.width));
    for (size_t head = 0; head < shape.width; head += size)
      for (size_t q = 0; q < queries.size(); ++q) {
        Row shares;
        double sum = 0, most = -INFINITY;
        for (const Row& key : keys) {
          double score = 0;
          for (size_t i = head; i < head + size; ++i) score += queries[q][i] * key[i];
          shares.push_back(score / std::sqrt(static_cast<double>(size)));
          most = std::max(most, shares.back());
        }
        for (double& share : shares) sum += share = std::exp(share - most);
        for (size_t k = 0; k < keys.size(); ++k)
          for (size_t i = head; i < head + size; ++i) mixed[q][i] += shares[k] / sum * values[k][i];
      }
    return mixed;
  }

  void normed(Rows& rows, const NormSource& norm) const {
    for (Row& row : rows) {
      double mean = 0, variance = 0;
      for (const double x : row) mean += x / static_cast<double>(row.size());
      for (const double x : row) variance += (x - mean) * (x - mean) / static_cast<double>(row.size());
      for (size_t i = 0; i < row.size(); ++i)
        row[i] = (row[i] - mean) / std::sqrt(variance + shape.epsilon) * norm.weight[i] + norm.bias[i];
    }
  }

  static void activate(Rows& rows, Activation activation) {
    for (Row& row : rows)
      for (double& x : row) x = activated(activation, x);
  }

  static void add(Rows& to, const Rows& from) {
    for (size_t t = 0; t < to.size(); ++t)
      for (size_t i = 0; i < to[t].size(); ++i) to[t][i] += from[t][i];
  }

  const Options options_;
  std::mt19937 random_{7};
  std::deque<std::vector<float>> floats_;
  std::deque<std::vector<uint8_t>> bytes_;
  std::deque<std::vector<int32_t>> zeros_;
};

}  // namespace quern::encoder
