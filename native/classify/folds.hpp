#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "../base/random.hpp"

namespace quern::classify {

/// One split of the samples.
struct Fold {
  std::vector<uint32_t> train;
  std::vector<uint32_t> test;
};

/**
 * Three to five splits whose tests cover every sample once, labels in equal shares. The only sample of a label is in
 * every training and in no test. Empty where no label has two samples.
 */
std::vector<Fold> stratified_folds(std::span<const uint32_t> labels, size_t classes, SplitMix& random);

}  // namespace quern::classify
