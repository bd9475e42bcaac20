#include "scoring.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "../base/failure.hpp"

namespace quern::vectors {
namespace {

constexpr float kLargestCode = 127.0f;

/// Added to a float of a few digits it leaves no room for a fraction, so that the sum is rounded, ties to even.
constexpr float kRounding = 12582912.0f;

}  // namespace

float quantise(std::span<const float> values, int8_t* codes) {
  float largest = 0;
  for (const float value : values) largest = std::max(largest, std::fabs(value));
  const float scale = largest > 0 ? kLargestCode / largest : 0;
  // The scale of a vector of subnormal numbers is infinite: such a vector is the origin.
  const float usable = std::isfinite(scale) ? scale : 0;
  for (size_t i = 0; i < values.size(); ++i)
    codes[i] = static_cast<int8_t>(std::bit_cast<int32_t>(values[i] * usable + kRounding));
  return largest / kLargestCode;
}

Scoring::Scoring(const IndexOptions& options, const DistanceKernels& kernels)
    : kernels_(kernels),
      dimensions_(options.dimensions),
      metric_(options.metric),
      storage_(options.storage),
      negative_(options.metric == Metric::kL2),
      floats_(negative_ ? kernels.l2 : kernels.dot),
      mixed_(negative_ ? kernels.l2_half : kernels.dot_half) {}

Query Scoring::query(std::span<const float> vector, const std::string& name) const {
  Query query;
  query.values.assign(vector.begin(), vector.end());
  const bool cosine = metric_ == Metric::kCosine;
  const float most = storage_ == Storage::kF16 && !cosine ? kLargestHalf : kLargestComponent;
  double squared = 0;
  for (size_t i = 0; i < vector.size(); ++i) {
    const float value = vector[i];
    if (!std::isfinite(value))
      throw Failure("invalid", name + " holds " + (std::isnan(value) ? "NaN" : "Infinity") + " at component " +
                                   std::to_string(i) + "; components must be finite.");
    if (std::fabs(value) > most)
      throw Failure("invalid", name + " holds " + std::to_string(value) + " at component " + std::to_string(i) +
                                   "; the largest magnitude is " + (most == kLargestHalf ? "65504" : "1e15") + ".");
    squared += static_cast<double>(value) * value;
  }
  if (cosine) {
    if (squared == 0) throw Failure("invalid", name + " has length 0, so it has no direction for a cosine.");
    const double length = std::sqrt(squared);
    for (float& value : query.values) value = static_cast<float>(value / length);
    squared = 1;
  }
  query.squared_length = static_cast<float>(squared);
  if (coded()) {
    query.codes.resize(query.values.size());
    query.step = quantise(query.values, query.codes.data());
  }
  return query;
}

void Scoring::values(const RowBlocks& rows, uint32_t row, float* numbers) const {
  if (storage_ == Storage::kF16)
    to_float(reinterpret_cast<const Half*>(rows.codes(row)), numbers, dimensions_);
  else
    std::copy_n(coded() ? rows.exact(row) : reinterpret_cast<const float*>(rows.codes(row)), dimensions_, numbers);
}

EncodedRow Scoring::encode(const Query& query, std::vector<Half>& half) const {
  switch (storage_) {
    case Storage::kF32:
      return {query.values.data(), nullptr, {}};
    case Storage::kF16:
      half.resize(dimensions_);
      to_half(query.values.data(), half.data(), dimensions_);
      return {half.data(), nullptr, {}};
    default:
      return {query.codes.data(), query.values.data(), {query.step, query.squared_length}};
  }
}

}  // namespace quern::vectors
