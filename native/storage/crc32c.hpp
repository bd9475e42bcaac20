#pragma once

#include <cstddef>
#include <cstdint>

namespace quern {

/// CRC-32C (Castagnoli, reflected, RFC 3720) of `size` bytes; `before` is the checksum of what precedes them.
uint32_t crc32c(const void* bytes, size_t size, uint32_t before = 0);

/// The same from a table, for processors without the instruction; the reference of the tests.
uint32_t crc32c_portable(const void* bytes, size_t size, uint32_t before = 0);

}  // namespace quern
