#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace quern::audio {

/// What codecs are told from each other by.
enum class Codec { kOpus, kVorbis, kFlac };

/// Something that stands in a stream, in order.
struct StreamPart {
  enum class Kind { kBegin, kPacket, kEnd };
  Kind kind;
  /// Of the packet; of the beginning what the container says of the codec.
  std::vector<uint8_t> bytes;
  /// The rest is of the beginning. Samples at 48 kHz that are not to be heard.
  Codec codec = Codec::kOpus;
  uint32_t channels = 1;
  uint32_t pre_skip = 0;
  /// Of the end: samples at 48 kHz that were heard; 0 where nobody says.
  uint64_t total = 0;
};

/**
 * Takes a live stream apart into packets, from bytes that come in any pieces. A new header begins anew, wherever it
 * comes. What cannot be right throws Failure('bad_request') with the reason; damaged pages of Ogg are passed over. Not
 * for several threads at once.
 */
class PacketReader {
 public:
  virtual ~PacketReader() = default;
  /// Appends the parts that are whole.
  virtual void push(std::span<const uint8_t> bytes, std::vector<StreamPart>& parts) = 0;
};

/// More cannot be a packet of audio, and is not kept.
inline constexpr size_t kMostPacketBytes = size_t{1} << 20;

std::unique_ptr<PacketReader> open_webm_reader();
std::unique_ptr<PacketReader> open_ogg_reader();

/// The beginning of a stream of Opus, from its header `OpusHead`; throws where that is none.
StreamPart opus_beginning(std::span<const uint8_t> head);

}  // namespace quern::audio
