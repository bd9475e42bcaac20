#include "scoring.hpp"

#include <algorithm>
#include <cmath>

#include "../inference/failure.hpp"

namespace quern::vectors {
namespace {

constexpr float kLargestCode = 127.0f;

void quantise(Query& query) {
  float largest = 0;
  for (const float value : query.values) largest = std::max(largest, std::fabs(value));
  query.codes.resize(query.values.size());
  query.step = largest / kLargestCode;
  const float scale = largest > 0 ? kLargestCode / largest : 0;
  // The scale of a vector of subnormal numbers is infinite: such a vector is the origin.
  const bool usable = std::isfinite(scale);
  for (size_t i = 0; i < query.values.size(); ++i)
    query.codes[i] = static_cast<int8_t>(usable ? std::lrint(query.values[i] * scale) : 0);
}

}  // namespace

Scoring::Scoring(const IndexOptions& options, const DistanceKernels& kernels)
    : kernels_(kernels),
      dimensions_(options.dimensions),
      metric_(options.metric),
      storage_(options.storage),
      negative_(options.metric == Metric::kL2),
      floats_(negative_ ? kernels.l2 : kernels.dot),
      mixed_(negative_ ? kernels.l2_half : kernels.dot_half),
      halves_(negative_ ? kernels.l2_halves : kernels.dot_halves) {}

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
  if (coded()) quantise(query);
  return query;
}

Query Scoring::query(const RowBlocks& rows, uint32_t row) const {
  Query query;
  if (coded()) {
    const auto* codes = reinterpret_cast<const int8_t*>(rows.codes(row));
    query.codes.assign(codes, codes + dimensions_);
    query.step = rows.facts(row).step;
    query.squared_length = rows.facts(row).squared_length;
    return query;
  }
  query.values.resize(dimensions_);
  if (storage_ == Storage::kF16)
    to_float(reinterpret_cast<const Half*>(rows.codes(row)), query.values.data(), dimensions_);
  else
    std::copy_n(reinterpret_cast<const float*>(rows.codes(row)), dimensions_, query.values.data());
  return query;
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

float Scoring::between(const RowBlocks& rows, uint32_t a, uint32_t b) const {
  const std::byte* first = rows.codes(a);
  const std::byte* second = rows.codes(b);
  if (storage_ == Storage::kI8) {
    const CodeFacts& facts = rows.facts(a);
    return estimate(reinterpret_cast<const int8_t*>(first), facts.step, facts.squared_length, second, rows.facts(b));
  }
  const float value =
      storage_ == Storage::kF32
          ? floats_(reinterpret_cast<const float*>(first), reinterpret_cast<const float*>(second), dimensions_)
          : halves_(reinterpret_cast<const Half*>(first), reinterpret_cast<const Half*>(second), dimensions_);
  return negative_ ? -value : value;
}

}  // namespace quern::vectors
