#pragma once

#include <cstdint>
#include <span>

#include "bit_reader.hpp"

// The tables of ISO/IEC 14496-3, subpart 4.

namespace quern::audio::aac {

/// A book of codes: shorter codes stand for smaller numbers when they are
/// filled up with zeros, so it is enough to know how many codes have each
/// length, and the symbols in the order of their codes.
struct Book {
  std::span<const uint8_t> counts;
  std::span<const uint16_t> symbols;
  /// Numbers in one symbol (4 or 2), and how they are told from each other.
  uint32_t dimensions = 0;
  int32_t base = 0;
  /// Signed numbers lie around the middle of the base; the others have their
  /// signs behind them.
  bool is_signed = false;

  /// Throws OutOfBits at the end.
  uint32_t read(BitReader &in) const;
};

inline constexpr uint32_t kBooks = 11;
/// The book of spectral numbers with this number, 1 to 11.
const Book &spectral_book(uint32_t number);
/// Of differences of scale factors, which lie around 60.
const Book &scale_book();

inline constexpr uint32_t kRates = 13;
/// Hz by the index that streams give.
inline constexpr uint32_t kRateOf[kRates] = {96000, 88200, 64000, 48000, 44100, 32000, 24000,
                                             22050, 16000, 12000, 11025, 8000,  7350};

/// Where the bands of a window begin, with the end of the last one.
std::span<const uint16_t> long_bands(uint32_t rate_index);
std::span<const uint16_t> short_bands(uint32_t rate_index);

/// The first band that noise shaping may not reach.
uint32_t shaped_bands(uint32_t rate_index, bool is_short);

}  // namespace quern::audio::aac
