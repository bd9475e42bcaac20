#pragma once

#include <vector>

#include "../base/random.hpp"
#include "samples.hpp"

namespace quern::classify {

/// Rows of length 1 at right angles that span, about, the leading `most` right singular vectors of the samples; fewer
/// where the samples span fewer dimensions.
std::vector<float> leading_subspace(const Samples& samples, size_t most, SplitMix& random);

}  // namespace quern::classify
