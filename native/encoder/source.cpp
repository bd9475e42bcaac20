#include "source.hpp"

#include <cmath>

#include "../base/failure.hpp"
#include "limits.hpp"

namespace quern::encoder {
namespace {

void require(size_t value, size_t least, size_t most, const char* name) {
  if (value >= least && value <= most) return;
  throw Failure("invalid", std::string(name) + " is " + std::to_string(value) + "; allowed is " +
                               std::to_string(least) + " to " + std::to_string(most) + ".");
}

void require_count(size_t count, size_t wanted, const std::string& name) {
  if (count == wanted) return;
  throw Failure("invalid", name + " has " + std::to_string(count) + " numbers; " + std::to_string(wanted) +
                               " belong to this shape.");
}

}  // namespace

void check(const Shape& shape) {
  require(shape.width, 1, kMostWidth, "width");
  require(shape.layers, 1, kMostLayers, "layers");
  require(shape.heads, 1, shape.width, "heads");
  if (shape.width % shape.heads != 0)
    throw Failure("invalid", "width is " + std::to_string(shape.width) + ", which " + std::to_string(shape.heads) +
                                 " heads cannot share.");
  require(shape.heads * padded(shape.width / shape.heads, kLane), 1, kMostInner,
          "heads, each of 16 numbers or more, together");
  require(shape.inner, 1, kMostInner, "inner");
  require(shape.vocabulary, 1, kMostVocabulary, "vocabulary");
  require(shape.positions, 1, kMostPositions, "positions");
  require(shape.types, 0, kMostTypes, "types");
  require(shape.first_position, 0, shape.positions - 1, "firstPosition");
  if (!(shape.epsilon > 0 && shape.epsilon < 1))
    throw Failure("invalid", "epsilon is " + std::to_string(shape.epsilon) + "; allowed is above 0 and below 1.");
}

void check(const MatrixSource& matrix, size_t rows, size_t columns, const std::string& name) {
  if (!matrix.has_bytes()) return require_count(matrix.floats.size(), rows * columns, name);
  const ByteSource& source = matrix.quantised;
  require_count(source.bytes.size(), rows * columns, name);
  if (source.scales.size() != 1) require_count(source.scales.size(), columns, name + ".scales");
  for (const float scale : source.scales)
    if (!std::isfinite(scale)) throw Failure("invalid", name + ".scales holds a number that is not finite.");
  if (source.zeros.empty()) return;
  require_count(source.zeros.size(), source.scales.size(), name + ".zeroPoints");
  const int32_t least = source.is_signed ? -128 : 0;
  for (const int32_t zero : source.zeros)
    if (zero < least || zero > least + 255)
      throw Failure("invalid", name + ".zeroPoints holds " + std::to_string(zero) + "; allowed is " +
                                   std::to_string(least) + " to " + std::to_string(least + 255) + ".");
}

void check(const DenseSource& dense, size_t inputs, size_t outputs, const std::string& name) {
  if (dense.inputs != inputs || dense.outputs != outputs)
    throw Failure("invalid", name + " is [" + std::to_string(dense.inputs) + ", " + std::to_string(dense.outputs) +
                                 "]; its place in this shape wants [" + std::to_string(inputs) + ", " +
                                 std::to_string(outputs) + "].");
  check(dense.weights, inputs, outputs, name + ".weights");
  if (!dense.bias.empty()) require_count(dense.bias.size(), outputs, name + ".bias");
  if (!dense.input_scale.empty()) require_count(dense.input_scale.size(), inputs, name + ".inputScale");
}

void check(const NormSource& norm, size_t width, const std::string& name) {
  require_count(norm.weight.size(), width, name + ".weight");
  require_count(norm.bias.size(), width, name + ".bias");
}

}  // namespace quern::encoder
