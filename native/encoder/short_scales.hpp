#pragma once

#include <optional>
#include <vector>

#include "places.hpp"
#include "source.hpp"

namespace quern::encoder {

/**
 * What the numbers of each column are divided by to become shorts whose products with a row of shorts fit 32 bits over
 * kShortBlock places: one number per column, 0 for a column of zeros. None where a number is not finite, or a few of a
 * column are so large that most of its others would keep less than six bits: such a matrix stays one of floats.
 */
std::optional<std::vector<float>> short_scales(const DenseSource& source, const Places& inputs);

}  // namespace quern::encoder
