#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quern::classify {

constexpr size_t kMostDimensions = 16384;
constexpr size_t kMostClasses = 4096;
constexpr size_t kMostSamples = size_t{1} << 20;
/// Samples times classes: what every step of a fit looks at.
constexpr size_t kMostCells = size_t{1} << 22;

/// Embeddings of length 1 with their labels, one row after the other.
struct Samples {
  size_t dimensions = 0;
  size_t classes = 0;
  std::vector<float> vectors;
  std::vector<uint32_t> labels;  ///< below `classes`

  size_t size() const noexcept { return labels.size(); }
  const float* row(size_t index) const noexcept { return vectors.data() + index * dimensions; }
  /// Copies of some rows.
  Samples pick(std::span<const uint32_t> rows) const;
};

/// Copies rows to the end, each brought to length 1. Throws Failure('invalid') with the row of a NaN, an infinity, a
/// length of 0 or a label that is none; nothing is added then.
void append(Samples& samples, std::span<const float> vectors, std::span<const uint32_t> labels);

/// Throws Failure('invalid') with the row of a number that is not finite.
void require_finite(std::span<const float> vectors, size_t dimensions);

/// Brings a row to length 1; a row of zeros stays.
void normalise(float* row, size_t dimensions);

}  // namespace quern::classify
