#pragma once

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "vectors/index.hpp"

namespace quern::vectors {

/// Random points around centres, as embeddings lie.
inline std::vector<float> clustered(size_t rows, size_t dimensions, unsigned seed, size_t clusters = 64) {
  std::mt19937 centre_random(77);
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> centres(clusters * dimensions);
  for (float& value : centres) value = normal(centre_random);
  std::uniform_int_distribution<size_t> choose(0, clusters - 1);
  std::vector<float> points(rows * dimensions);
  for (size_t row = 0; row < rows; ++row) {
    const float* centre = centres.data() + choose(random) * dimensions;
    for (size_t i = 0; i < dimensions; ++i) points[row * dimensions + i] = centre[i] + 0.5f * normal(random);
  }
  return points;
}

inline std::vector<uint32_t> count_up(size_t count, uint32_t from = 0) {
  std::vector<uint32_t> ids(count);
  for (size_t i = 0; i < count; ++i) ids[i] = from + static_cast<uint32_t>(i);
  return ids;
}

inline std::span<const float> row_of(const std::vector<float>& all, size_t row, size_t dimensions) {
  return std::span(all).subspan(row * dimensions, dimensions);
}

/// Score in double precision, straight from the definition.
inline double true_score(Metric metric, std::span<const float> a, std::span<const float> b) {
  double dot = 0, aa = 0, bb = 0, l2 = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    dot += static_cast<double>(a[i]) * b[i];
    aa += static_cast<double>(a[i]) * a[i];
    bb += static_cast<double>(b[i]) * b[i];
    l2 += (static_cast<double>(a[i]) - b[i]) * (static_cast<double>(a[i]) - b[i]);
  }
  if (metric == Metric::kCosine) return dot / std::sqrt(aa * bb);
  return metric == Metric::kL2 ? -l2 : dot;
}

/// Share of the first answer's ids that the second one has.
inline double recall(const Answer& wanted, const Answer& found) {
  std::set<uint32_t> ids;
  for (const Hit& hit : found.hits) ids.insert(hit.id);
  size_t both = 0;
  for (const Hit& hit : wanted.hits) both += ids.count(hit.id);
  return wanted.hits.empty() ? 1 : static_cast<double>(both) / static_cast<double>(wanted.hits.size());
}

/// A folder that is gone afterwards.
struct Folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / ("quern-vectors-" + std::to_string(::getpid()));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string file(const char* name) const { return (path / name).string(); }
};

}  // namespace quern::vectors
