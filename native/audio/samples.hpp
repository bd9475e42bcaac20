#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace quern::audio {

/// How one sample lies in bytes, little-endian.
enum class Encoding { kU8, kS8, kS16, kS24, kS32, kF32, kF64, kMulaw, kAlaw };

/// Bytes of one sample.
size_t bytes_of(Encoding encoding);

/// The encoding with a name of native/contract/audio.ts. Throws Failure('invalid') for another name.
Encoding encoding_of(std::string_view name);

/// Writes samples from -1 to 1 (others are clipped, what is no number is silence). `into` has room for all of them.
/// Whole numbers are rounded to the nearest.
void encode_samples(std::span<const float> samples, Encoding encoding, std::span<uint8_t> into);

/**
 * Appends the frames of `bytes` to `mono`, each the mean of its channels, from -1 to 1. A frame that is not whole is
 * left out; the bytes that were read are returned. `channels` is at least 1.
 */
size_t decode_frames(std::span<const uint8_t> bytes, Encoding encoding, size_t channels, std::vector<float>& mono);

/// Appends to `mono` the mean of `channels` rows of equal length.
void mix_rows(std::span<const std::span<const float>> rows, std::vector<float>& mono);

}  // namespace quern::audio
