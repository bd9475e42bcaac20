#pragma once

#include <span>
#include <string>
#include <vector>

#include "../kernels/distance.hpp"
#include "options.hpp"
#include "rows.hpp"

namespace quern::vectors {

/// A vector that rows are compared with, in the forms that their storage needs.
struct Query {
  std::vector<float> values;  ///< normalised for cosine
  float squared_length = 0;
  std::vector<int8_t> codes;  ///< for i8 only
  float step = 0;
};

/// Codes of -127 to 127 for numbers; gives the step between two codes.
float quantise(std::span<const float> values, int8_t* codes);

/// Turns vectors into rows and queries, and gives scores; higher is better. Constant, so any thread may use it.
class Scoring {
 public:
  explicit Scoring(const IndexOptions& options, const DistanceKernels& kernels = distance_kernels());

  size_t dimensions() const { return dimensions_; }
  bool coded() const { return storage_ == Storage::kI8; }

  /// Throws Failure('invalid') that begins with `name` for NaN, infinity, a component beyond the storage, or length 0
  /// with cosine.
  Query query(std::span<const float> vector, const std::string& name) const;
  /// A row as numbers, into `numbers`, which has room for the dimensions.
  void values(const RowBlocks& rows, uint32_t row, float* numbers) const;
  /// What is kept of a query. `half` is room for the dimensions; the result points there and into the query.
  EncodedRow encode(const Query& query, std::vector<Half>& half) const;

  /// Score by the codes: for i8 an estimate, else the real one.
  float rough(const Query& query, const RowBlocks& rows, uint32_t row) const {
    const std::byte* codes = rows.codes(row);
    if (storage_ == Storage::kI8) return estimate(query, codes, rows.facts(row));
    const float value = storage_ == Storage::kF32
                            ? floats_(query.values.data(), reinterpret_cast<const float*>(codes), dimensions_)
                            : mixed_(query.values.data(), reinterpret_cast<const Half*>(codes), dimensions_);
    return negative_ ? -value : value;
  }
  /// The real score.
  float score(const Query& query, const RowBlocks& rows, uint32_t row) const {
    if (storage_ != Storage::kI8) return rough(query, rows, row);
    const float value = floats_(query.values.data(), rows.exact(row), dimensions_);
    return negative_ ? -value : value;
  }

 private:
  float estimate(const Query& query, const std::byte* codes, const CodeFacts& facts) const {
    const int32_t sum = kernels_.dot_codes(query.codes.data(), reinterpret_cast<const int8_t*>(codes), dimensions_);
    const float dot = query.step * facts.step * static_cast<float>(sum);
    return negative_ ? 2 * dot - query.squared_length - facts.squared_length : dot;
  }

  const DistanceKernels& kernels_;
  const size_t dimensions_;
  const Metric metric_;
  const Storage storage_;
  const bool negative_;  ///< the kernels give a distance
  float (*floats_)(const float*, const float*, size_t);
  float (*mixed_)(const float*, const Half*, size_t);
};

}  // namespace quern::vectors
