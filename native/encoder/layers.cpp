#include "layers.hpp"

#include <algorithm>
#include <cmath>

#include "../base/failure.hpp"
#include "limits.hpp"

namespace quern::encoder {
namespace {

constexpr double kLog2E = 1.4426950408889634;

Places head_places(const Shape& shape) {
  return {shape.width, shape.width / shape.heads, head_line(shape)};
}

/// What softmax takes as powers of e is computed as powers of 2.
float query_factor(const Shape& shape) {
  return static_cast<float>(kLog2E / std::sqrt(static_cast<double>(shape.width / shape.heads)));
}

void check(const LayerSource& layer, const Shape& shape, const std::string& name) {
  const size_t width = shape.width;
  check(layer.query, width, width, name + ".query");
  check(layer.key, width, width, name + ".key");
  check(layer.value, width, width, name + ".value");
  check(layer.output, width, width, name + ".output");
  check(layer.up, width, shape.inner, name + ".up");
  check(layer.down, shape.inner, width, name + ".down");
  check(layer.attention_norm, width, name + ".attentionNorm");
  check(layer.output_norm, width, name + ".outputNorm");
}

/// Returns the shape, so that everything is checked before the first weight is packed.
const Shape& checked(const Shape& shape, const EncoderSource& source) {
  check(shape);
  check(source.words, shape.vocabulary, shape.width, "words");
  check(MatrixSource{source.positions, {}}, shape.positions, shape.width, "positions");
  check(MatrixSource{source.types, {}}, shape.types, shape.width, "types");
  check(source.norm, shape.width, "norm");
  if (source.layers.size() != shape.layers)
    throw Failure("invalid", "weights have " + std::to_string(source.layers.size()) + " layers, the shape " +
                                 std::to_string(shape.layers) + ".");
  for (size_t i = 0; i < source.layers.size(); ++i) check(source.layers[i], shape, "layers[" + std::to_string(i) + "]");
  if (source.head.size() > kMostHeadSteps)
    throw Failure("too_large", "head has " + std::to_string(source.head.size()) + " steps; allowed are " +
                                   std::to_string(kMostHeadSteps) + ".");
  size_t width = shape.width, takes = 0;
  for (size_t i = 0; i < source.head.size(); ++i) {
    const HeadStepSource& step = source.head[i];
    const std::string name = "head[" + std::to_string(i) + "]";
    if (step.kind == HeadStepSource::Kind::kDense) {
      if (step.dense.outputs == 0 || step.dense.outputs > kMostInner)
        throw Failure("invalid", name + ".dense.outputs is " + std::to_string(step.dense.outputs) +
                                     "; allowed is 1 to " + std::to_string(kMostInner) + ".");
      check(step.dense, width, step.dense.outputs, name + ".dense");
      width = step.dense.outputs;
    } else if (++takes > 1) {
      throw Failure("invalid", name + " takes tokens a second time.");
    }
  }
  return shape;
}

PackedStep packed(const EncoderKernels& kernels, const HeadStepSource& source, Arena& arena) {
  PackedStep step{source.kind, source.activation, {}};
  if (source.kind == HeadStepSource::Kind::kDense)
    step.dense.emplace_back(kernels, source.dense, Places::together(source.dense.inputs),
                            Places::together(source.dense.outputs), 1.0f, arena);
  return step;
}

}  // namespace

PackedNorm::PackedNorm(const NormSource& source, Arena& arena) : width(source.weight.size()) {
  const std::span<float> weights = arena.take<float>(padded(width, kLane)), biases = arena.take<float>(weights.size());
  std::ranges::copy(source.weight, weights.begin());
  std::ranges::copy(source.bias, biases.begin());
  weight = weights;
  bias = biases;
}

PackedLayer::PackedLayer(const EncoderKernels& kernels, const LayerSource& source, const Shape& shape, Arena& arena)
    : query(kernels, source.query, Places::together(shape.width), head_places(shape), query_factor(shape), arena),
      key(kernels, source.key, Places::together(shape.width), head_places(shape), 1.0f, arena),
      value(kernels, source.value, Places::together(shape.width), head_places(shape), 1.0f, arena),
      output(kernels, source.output, head_places(shape), Places::together(shape.width), 1.0f, arena),
      up(kernels, source.up, Places::together(shape.width), Places::together(shape.inner), 1.0f, arena),
      down(kernels, source.down, Places::together(shape.inner), Places::together(shape.width), 1.0f, arena),
      attention_norm(source.attention_norm, arena),
      output_norm(source.output_norm, arena),
      key_rows(key.prepares_like(query) ? 0 : 1),
      value_rows(value.prepares_like(query) ? 0
                 : value.prepares_like(key) ? key_rows
                                            : 2) {}

PackedEncoder::PackedEncoder(const EncoderKernels& kernels, const Shape& given, const EncoderSource& source)
    : shape(checked(given, source)),
      words(source.words, shape.width, arena),
      positions({source.positions, {}}, shape.width, arena),
      types({source.types, {}}, shape.width, arena),
      norm(source.norm, arena),
      outputs(shape.width) {
  layers.reserve(source.layers.size());
  for (const LayerSource& layer : source.layers) layers.emplace_back(kernels, layer, shape, arena);
  for (const HeadStepSource& step : source.head) {
    head.push_back(packed(kernels, step, arena));
    if (step.kind == HeadStepSource::Kind::kDense)
      outputs = step.dense.outputs;
    else
      pools = true;
  }
}

}  // namespace quern::encoder
