#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace quern::vectors {

/// How two vectors compare; a higher score is always the better one.
enum class Metric : uint32_t {
  kCosine,        ///< cosine similarity; rows are kept normalised
  kInnerProduct,  ///< sum of products
  kL2,            ///< minus the squared Euclidean distance
};

/// How the rows are kept.
enum class Storage : uint32_t {
  kF32,
  kF16,  ///< scores are those of the rounded rows
  kI8,   ///< a code of 8 bits finds candidates, the f32 row beside it gives their scores
};

constexpr size_t kMostDimensions = 16384;
constexpr size_t kMostResults = 16384;
constexpr size_t kMostEffort = 16384;
/// Largest magnitude of a component, so that no score can overflow.
constexpr float kLargestComponent = 1e15f;

/// Settings of one index.
struct IndexOptions {
  size_t dimensions;
  Metric metric = Metric::kCosine;
  Storage storage = Storage::kF16;
  size_t connectivity = 16;   ///< links of a graph row; the lowest level has twice as many
  size_t effort_build = 128;  ///< candidates that are kept while a row finds its place
  size_t scan_below;          ///< rows up to which there is no graph
};

/// Names as JavaScript writes them; both throw Failure('invalid') for another one.
Metric metric_of(std::string_view name);
Storage storage_of(std::string_view name);

/// Throws Failure('invalid') with the field that is out of range.
void check(const IndexOptions& options);

}  // namespace quern::vectors
