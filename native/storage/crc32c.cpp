#include "crc32c.hpp"

#include <array>
#include <cstring>

#include "../base/cpu.hpp"

#ifdef QUERN_X86
#include <nmmintrin.h>
#endif

namespace quern {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;

constexpr std::array<uint32_t, 256> make_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? kPolynomial : 0);
    table[i] = value;
  }
  return table;
}

constexpr std::array<uint32_t, 256> kTable = make_table();

#ifdef QUERN_X86
QUERN_SSE42 uint32_t crc32c_sse42(const void* bytes, size_t size, uint32_t before) {
  const auto* at = static_cast<const unsigned char*>(bytes);
  uint64_t value = static_cast<uint32_t>(~before);
  for (; size >= 8; size -= 8, at += 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    value = _mm_crc32_u64(value, word);
  }
  auto rest = static_cast<uint32_t>(value);
  for (; size > 0; --size, ++at) rest = _mm_crc32_u8(rest, *at);
  return ~rest;
}
#endif

}  // namespace

uint32_t crc32c_portable(const void* bytes, size_t size, uint32_t before) {
  const auto* at = static_cast<const unsigned char*>(bytes);
  uint32_t value = ~before;
  for (size_t i = 0; i < size; ++i) value = kTable[(value ^ at[i]) & 0xff] ^ (value >> 8);
  return ~value;
}

uint32_t crc32c(const void* bytes, size_t size, uint32_t before) {
#ifdef QUERN_X86
  static const bool fast = __builtin_cpu_supports("sse4.2");
  if (fast) return crc32c_sse42(bytes, size, before);
#endif
  return crc32c_portable(bytes, size, before);
}

}  // namespace quern
