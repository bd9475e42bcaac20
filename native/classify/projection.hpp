#pragma once

#include <cstdint>
#include <vector>

#include "../threads/work.hpp"
#include "samples.hpp"

namespace quern::classify {

/// Directions that a projection may change.
constexpr size_t kMostRank = 64;

/// How the pairs of a contrastive training are drawn and used.
struct PairOptions {
  uint32_t iterations = 20;  ///< pairs of one label, and as many of two, per sample
  uint32_t batch_size = 16;  ///< pairs of one step
  uint64_t seed = 42;
};

/**
 * A square map that differs from the identity inside a subspace only: x -> x + basis^T (map - I) basis x, brought to
 * length 1. With the identity as map it changes nothing.
 */
class Projection {
 public:
  Projection() = default;
  Projection(size_t dimensions, std::vector<float> basis, std::vector<float> map);

  /**
   * Learns the map from pairs, so that the cosine is near 1 for two samples of one label and near 0 otherwise: mean
   * squared error, as SetFit trains its encoders (Tunstall et al. 2022), by AdamW whose decay pulls towards the
   * identity. The subspace is that of the leading right singular vectors of the samples (Halko et al. 2011, with power
   * iterations).
   */
  static Projection train(const Samples& samples, const PairOptions& options, const Work& work);

  size_t rank() const noexcept { return rank_; }
  /// In place, on one row.
  void apply(float* row) const;
  /// The samples as the projection shows them.
  Samples applied(Samples samples) const;
  const std::vector<float>& basis() const noexcept { return basis_; }
  const std::vector<float>& map() const noexcept { return map_; }

 private:
  size_t dimensions_ = 0;
  size_t rank_ = 0;
  std::vector<float> basis_;  ///< `rank_` rows of length 1, at right angles
  std::vector<float> map_;    ///< `rank_` x `rank_`
};

}  // namespace quern::classify
