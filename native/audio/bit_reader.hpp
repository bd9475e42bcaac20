#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace quern::audio {

/// Thrown where the bytes end before what is read.
struct OutOfBits {};

/// Numbers out of bytes, the highest bit first. Throws OutOfBits beyond the end.
class BitReader {
 public:
  explicit BitReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  /// `count` is at most 32.
  uint32_t bits(uint32_t count) {
    uint64_t value = 0;
    if (count > left()) throw OutOfBits{};
    uint32_t missing = count;
    while (missing > 0) {
      const uint32_t here = std::min<uint32_t>(missing, 8 - static_cast<uint32_t>(place_ % 8));
      const uint32_t byte = bytes_[place_ / 8];
      value = value << here | (byte >> (8 - place_ % 8 - here) & ((1U << here) - 1));
      place_ += here;
      missing -= here;
    }
    return static_cast<uint32_t>(value);
  }

  bool bit() { return bits(1) != 0; }

  /// A number with a sign; `count` is 1 to 33.
  int64_t signed_bits(uint32_t count) {
    uint64_t value = 0;
    if (count > 32) {
      value = bits(count - 32);
      value = value << 32 | bits(32);
    } else {
      value = bits(count);
    }
    return static_cast<int64_t>(value << (64 - count)) >> (64 - count);
  }

  /// The zeros before the next one, which is passed too.
  uint32_t unary() {
    uint32_t zeros = 0;
    for (;;) {
      if (left() == 0) throw OutOfBits{};
      // The rest of this byte, from its highest bit on.
      const auto rest = static_cast<uint8_t>(bytes_[place_ / 8] << (place_ % 8));
      const auto here = static_cast<uint32_t>(8 - place_ % 8);
      if (rest != 0) {
        const auto before = static_cast<uint32_t>(std::countl_zero(rest));
        place_ += before + 1;
        return zeros + before;
      }
      zeros += here;
      place_ += here;
    }
  }

  void to_byte() { place_ = (place_ + 7) / 8 * 8; }
  /// Bits that were read.
  size_t place() const { return place_; }
  size_t left() const { return bytes_.size() * 8 - place_; }

 private:
  std::span<const uint8_t> bytes_;
  size_t place_ = 0;
};

}  // namespace quern::audio
