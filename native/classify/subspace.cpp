#include "subspace.hpp"

#include <algorithm>
#include <cmath>

#include "../kernels/distance.hpp"
#include "../kernels/linear.hpp"

namespace quern::classify {
namespace {

/// Rounds of multiplication with the samples' covariance: enough for embeddings, whose spectrum falls fast.
constexpr int kRounds = 4;
/// What is left of a row of length 1 after the others were taken out, below which it counts as spanned by them.
constexpr float kNothing = 1e-3F;

/// Modified Gram-Schmidt, twice over for accuracy; drops the rows that the earlier ones span.
void make_orthonormal(std::vector<float>& rows, size_t dimensions) {
  const auto& dot = distance_kernels().dot;
  const auto& add = linear_kernels().add_scaled;
  size_t kept = 0;
  for (size_t at = 0; at * dimensions < rows.size(); ++at) {
    float* row = rows.data() + kept * dimensions;
    if (kept != at) std::copy_n(rows.data() + at * dimensions, dimensions, row);
    normalise(row, dimensions);
    for (int round = 0; round < 2; ++round)
      for (size_t other = 0; other < kept; ++other) {
        const float* known = rows.data() + other * dimensions;
        add(-dot(known, row, dimensions), known, row, dimensions);
      }
    if (dot(row, row, dimensions) < kNothing * kNothing) continue;
    normalise(row, dimensions);
    ++kept;
  }
  rows.resize(kept * dimensions);
}

/// Rows of samples^T (samples rows^T): one power iteration.
std::vector<float> multiplied(const Samples& samples, const std::vector<float>& rows) {
  const size_t dimensions = samples.dimensions;
  const auto& dot = distance_kernels().dot;
  const auto& add = linear_kernels().add_scaled;
  std::vector<float> product(rows.size());
  for (size_t at = 0; at < samples.size(); ++at)
    for (size_t i = 0; i * dimensions < rows.size(); ++i) {
      const float* row = samples.row(at);
      add(dot(rows.data() + i * dimensions, row, dimensions), row, product.data() + i * dimensions, dimensions);
    }
  return product;
}

}  // namespace

std::vector<float> leading_subspace(const Samples& samples, size_t most, SplitMix& random) {
  const size_t dimensions = samples.dimensions;
  std::vector<float> rows;
  if (samples.size() <= most) {
    rows = samples.vectors;
    make_orthonormal(rows, dimensions);
    return rows;
  }
  rows.resize(std::min(most, dimensions) * dimensions);
  for (float& value : rows) value = static_cast<float>(random.symmetric());
  make_orthonormal(rows, dimensions);
  for (int round = 0; round < kRounds; ++round) {
    rows = multiplied(samples, rows);
    make_orthonormal(rows, dimensions);
  }
  return rows;
}

}  // namespace quern::classify
