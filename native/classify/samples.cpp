#include "samples.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "../base/failure.hpp"

namespace quern::classify {

Samples Samples::pick(std::span<const uint32_t> rows) const {
  Samples picked{dimensions, classes, {}, {}};
  picked.vectors.reserve(rows.size() * dimensions);
  picked.labels.reserve(rows.size());
  for (const uint32_t index : rows) {
    picked.vectors.insert(picked.vectors.end(), row(index), row(index) + dimensions);
    picked.labels.push_back(labels[index]);
  }
  return picked;
}

void require_finite(std::span<const float> vectors, size_t dimensions) {
  const auto found = std::find_if_not(vectors.begin(), vectors.end(), [](float value) { return std::isfinite(value); });
  if (found == vectors.end()) return;
  const auto at = static_cast<size_t>(found - vectors.begin());
  throw Failure("invalid", "The vector of row " + std::to_string(at / dimensions) + " holds " + std::to_string(*found) +
                               " at dimension " + std::to_string(at % dimensions) + "; all numbers must be finite.");
}

void normalise(float* row, size_t dimensions) {
  double squares = 0;
  for (size_t i = 0; i < dimensions; ++i) squares += static_cast<double>(row[i]) * row[i];
  if (squares == 0) return;
  const auto scale = static_cast<float>(1 / std::sqrt(squares));
  for (size_t i = 0; i < dimensions; ++i) row[i] *= scale;
}

void append(Samples& samples, std::span<const float> vectors, std::span<const uint32_t> labels) {
  const size_t dimensions = samples.dimensions;
  if (vectors.size() != labels.size() * dimensions)
    throw Failure("invalid", std::to_string(vectors.size()) + " numbers are no " + std::to_string(labels.size()) +
                                 " rows of " + std::to_string(dimensions) + " dimensions.");
  if (labels.size() > kMostSamples - samples.size())
    throw Failure("too_large", "A fit takes at most " + std::to_string(kMostSamples) + " rows.");
  for (const uint32_t label : labels)
    if (label >= samples.classes)
      throw Failure("invalid", "Label " + std::to_string(label) + " is not one of the " +
                                   std::to_string(samples.classes) + " classes.");
  require_finite(vectors, dimensions);
  for (size_t at = 0; at < labels.size(); ++at) {
    const auto row = vectors.subspan(at * dimensions, dimensions);
    if (std::all_of(row.begin(), row.end(), [](float value) { return value == 0; }))
      throw Failure("invalid", "The vector of row " + std::to_string(samples.size() + at) + " is all zeros.");
  }
  const size_t before = samples.vectors.size();
  samples.vectors.insert(samples.vectors.end(), vectors.begin(), vectors.end());
  samples.labels.insert(samples.labels.end(), labels.begin(), labels.end());
  for (size_t at = 0; at < labels.size(); ++at)
    normalise(samples.vectors.data() + before + at * dimensions, dimensions);
}

}  // namespace quern::classify
