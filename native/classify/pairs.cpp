#include "pairs.hpp"

#include <numeric>

namespace quern::classify {

std::vector<Pair> sample_pairs(std::span<const uint32_t> labels, size_t classes, uint32_t iterations,
                               SplitMix& random) {
  std::vector<std::vector<uint32_t>> members(classes);
  for (uint32_t at = 0; at < labels.size(); ++at) members[labels[at]].push_back(at);
  std::vector<uint32_t> order(labels.size());
  std::iota(order.begin(), order.end(), 0U);
  std::vector<Pair> pairs;
  pairs.reserve(2 * iterations * labels.size());
  for (uint32_t iteration = 0; iteration < iterations; ++iteration) {
    random.shuffle(order);
    for (const uint32_t first : order) {
      const std::vector<uint32_t>& own = members[labels[first]];
      if (own.size() > 1) {
        uint32_t second = own[random.below(own.size() - 1)];
        if (second == first) second = own.back();
        pairs.push_back({first, second, true});
      }
      if (own.size() == labels.size()) continue;
      uint32_t second = first;
      while (labels[second] == labels[first]) second = static_cast<uint32_t>(random.below(labels.size()));
      pairs.push_back({first, second, false});
    }
  }
  return pairs;
}

}  // namespace quern::classify
