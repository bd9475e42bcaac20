#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace quern::text {

/// Bytes that must follow packed numbers, because they are read eight bytes at a time.
constexpr size_t kReadAhead = 8;

using Bytes = std::vector<std::byte>;

inline void put_varint(Bytes& out, uint32_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<std::byte>(value | 0x80));
  out.push_back(static_cast<std::byte>(value));
}

inline uint32_t get_varint(const std::byte*& at) {
  uint32_t value = 0;
  for (int shift = 0; shift < 35; shift += 7) {
    const auto byte = static_cast<uint32_t>(*at++);
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  return value;
}

/// Bits that the largest of the values needs.
inline uint32_t width_of(std::span<const uint32_t> values) {
  uint32_t all = 0;
  for (const uint32_t value : values) all |= value;
  return static_cast<uint32_t>(std::bit_width(all));
}

inline size_t packed_bytes(size_t count, uint32_t width) {
  return (count * width + 7) / 8;
}

/// Appends the values with `width` bits each, lowest bit first.
inline void pack(Bytes& out, std::span<const uint32_t> values, uint32_t width) {
  uint64_t held = 0;
  uint32_t bits = 0;
  for (const uint32_t value : values) {
    held |= static_cast<uint64_t>(value) << bits;
    for (bits += width; bits >= 8; bits -= 8, held >>= 8) out.push_back(static_cast<std::byte>(held));
  }
  if (bits > 0) out.push_back(static_cast<std::byte>(held));
}

inline void unpack(const std::byte* from, size_t count, uint32_t width, uint32_t* out) {
  const uint64_t mask = (uint64_t{1} << width) - 1;
  for (size_t i = 0, bit = 0; i < count; ++i, bit += width) {
    uint64_t word;
    std::memcpy(&word, from + (bit >> 3), sizeof(word));
    out[i] = static_cast<uint32_t>(word >> (bit & 7) & mask);
  }
}

}  // namespace quern::text
