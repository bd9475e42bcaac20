#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace quern::audio {

/// What a file says of itself.
struct PcmFacts {
  uint32_t rate;
  uint32_t channels;
  /// Samples of a channel, where the file says so.
  std::optional<uint64_t> frames;
};

/**
 * Reads a file that keeps every sample, from bytes that come in pieces. What is no such file, is damaged or cut off
 * throws Failure('bad_request') with the reason. Not for several threads at once.
 */
class PcmReader {
 public:
  virtual ~PcmReader() = default;
  /// Takes the next bytes of the file.
  virtual void push(std::span<const uint8_t> bytes) = 0;
  /// After the last bytes; `read` gives what is left.
  virtual void end() = 0;
  /// Appends samples, each the mean of all channels, some 2^16 at most; none where more bytes are needed, or at the
  /// end.
  virtual void read(std::vector<float>& mono) = 0;
  /// Nothing until enough of the file was read.
  virtual std::optional<PcmFacts> facts() const = 0;
};

/// About so many samples are given at a time: few bytes may hold very many.
inline constexpr size_t kSamplesAtOnce = size_t{1} << 16;
inline constexpr uint32_t kMostFileChannels = 64;

std::unique_ptr<PcmReader> open_wav_reader();
std::unique_ptr<PcmReader> open_flac_reader();

}  // namespace quern::audio
