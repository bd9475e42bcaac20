#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "../base/random.hpp"

namespace quern::classify {

/// Two samples, and whether they have one label.
struct Pair {
  uint32_t first;
  uint32_t second;
  bool same;
};

/**
 * `iterations` times: each sample in a new order with a random one of its label, then with a random one of another
 * label. A sample that is the only one of its label gets no pair of the first kind.
 */
std::vector<Pair> sample_pairs(std::span<const uint32_t> labels, size_t classes, uint32_t iterations, SplitMix& random);

}  // namespace quern::classify
