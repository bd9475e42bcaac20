#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "samples.hpp"

namespace quern::audio {

inline constexpr size_t kWavHeaderBytes = 44;

/**
 * The header of a WAV file of one channel, before the samples. Without a size, which is the number of bytes of the
 * samples, it is of a stream: its sizes are 0xFFFFFFFF. Throws Failure('too_large') for sizes of 4 GiB and more.
 */
std::array<uint8_t, kWavHeaderBytes> wav_header(uint32_t rate, Encoding encoding, std::optional<uint64_t> data_bytes);

}  // namespace quern::audio
