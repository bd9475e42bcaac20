#pragma once

#include <cstdint>
#include <vector>

#include "detector.hpp"

namespace quern::anomaly {

/**
 * The numbers of all rows, ordered so that every `size` of them, the last perhaps fewer, lie near each other: halved
 * where they differ most, again and again. Of equal rows the earlier ones come in earlier groups.
 */
std::vector<uint32_t> rows_in_groups(const Matrix& rows, size_t size, const Work& work);

}  // namespace quern::anomaly
