#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace quern::audio {

/// The checksum of an Ogg page; `before` is that of the bytes before these.
uint32_t ogg_crc(std::span<const uint8_t> bytes, uint32_t before = 0);

/// Of a stream of Opus packets.
struct OggOpusOptions {
  uint32_t serial;
  /// Rate of what was encoded, in Hz; a note for the reader.
  uint32_t input_rate;
  uint8_t channels = 1;
  /// Samples at 48 kHz that a decoder gives before the first one of the input.
  uint16_t pre_skip;
};

/// Puts Opus packets into Ogg pages, one page for each 100 ms. Not for several threads at once.
class OggOpusWriter {
 public:
  /// Throws Failure('invalid') for other than 1 or 2 channels.
  explicit OggOpusWriter(const OggOpusOptions& options);

  /// Appends to `out` the pages that are complete, the headers first. `samples` at 48 kHz is what the packet gives.
  /// Throws Failure('invalid') for a packet that no Opus decoder takes: empty, over 61,440 bytes, or over 120 ms.
  void push(std::span<const uint8_t> packet, uint32_t samples, std::vector<uint8_t>& out);

  /// Appends the last page. `total` is the number of samples at 48 kHz of the input, so that players cut off what the
  /// encoder added; 0 is for "all of them".
  void end(uint64_t total, std::vector<uint8_t>& out);

 private:
  void begin(std::vector<uint8_t>& out);
  void page(uint8_t flags, uint64_t position, std::vector<uint8_t>& out);

  OggOpusOptions options_;
  std::vector<uint8_t> lacing_;
  std::vector<uint8_t> body_;
  uint32_t pages_ = 0;
  uint64_t position_;
  uint32_t waiting_ = 0;
};

}  // namespace quern::audio
