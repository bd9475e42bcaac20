// WebM as recorders in browsers write it: a row of elements, of which those that hold others are only entered. So sizes
// that nobody knows, and sizes that are wrong, cost nothing.
#include <bit>
#include <optional>
#include <string>
#include <utility>

#include "byte_queue.hpp"
#include "packet_reader.hpp"

namespace quern::audio {
namespace {

namespace id {
constexpr uint32_t kEbml = 0x1a45dfa3, kSegment = 0x18538067, kCluster = 0x1f43b675, kTracks = 0x1654ae6b,
                   kTrackEntry = 0xae, kAudio = 0xe1, kBlockGroup = 0xa0, kTrackNumber = 0xd7, kTrackType = 0x83,
                   kCodecId = 0x86, kCodecPrivate = 0x63a2, kChannels = 0x9f, kSimpleBlock = 0xa3, kBlock = 0xa1;
}

constexpr uint64_t kUnknownSize = ~uint64_t{0};
constexpr uint64_t kAudioTrack = 2;

/// A number whose length its first byte tells.
struct Varied {
  uint64_t value;
  size_t bytes;
};

/// `marked` keeps the bit that tells the length. Nothing where it has not come whole, or is none.
std::optional<Varied> varied(std::span<const uint8_t> bytes, bool marked) {
  if (bytes.empty() || bytes[0] == 0) return std::nullopt;
  const auto length = static_cast<size_t>(std::countl_zero(bytes[0])) + 1;
  if (bytes.size() < length) return std::nullopt;
  uint64_t value = big(bytes.first(length));
  const uint64_t mark = uint64_t{1} << (7 * length);
  if (!marked) {
    value &= mark - 1;
    if (value == mark - 1) value = kUnknownSize;
  }
  return Varied{.value = value, .bytes = length};
}

struct Track {
  uint64_t number = 0;
  uint64_t type = 0;
  uint32_t channels = 1;
  std::string codec;
  std::vector<uint8_t> head;
};

bool is_entered(uint64_t element) {
  return element == id::kSegment || element == id::kCluster || element == id::kTracks || element == id::kTrackEntry ||
         element == id::kAudio || element == id::kBlockGroup;
}

bool is_read(uint64_t element) {
  return element == id::kTrackNumber || element == id::kTrackType || element == id::kCodecId ||
         element == id::kCodecPrivate || element == id::kChannels || element == id::kSimpleBlock ||
         element == id::kBlock;
}

[[noreturn]] void damaged() {
  throw Failure("bad_request", "The WebM stream is damaged.");
}

class WebmReader final : public PacketReader {
 public:
  void push(std::span<const uint8_t> bytes, std::vector<StreamPart>& parts) override {
    // A recorder that was started again begins with a new header, also where the last one broke off in a block.
    if (begins_with(bytes, "\x1a\x45\xdf\xa3")) queue_.clear();
    queue_.push(bytes);
    while (element(parts)) {
    }
  }

 private:
  /// Reads one element; false where it has not come whole.
  bool element(std::vector<StreamPart>& parts) {
    const auto bytes = queue_.waiting();
    if (bytes.empty()) return false;
    // Longer names and sizes than those of 4 and 8 bytes do not exist.
    if (bytes[0] < 0x10) damaged();
    const auto name = varied(bytes, true);
    if (!name) return false;
    const auto rest = bytes.subspan(name->bytes);
    if (!rest.empty() && rest[0] == 0) damaged();
    const auto size = varied(rest, false);
    if (!size) return false;
    const size_t header = name->bytes + size->bytes;
    if (name->value == id::kEbml) begin();
    if (name->value == id::kTrackEntry || name->value == id::kCluster) choose(parts);
    if (name->value == id::kTrackEntry) track_ = Track{};
    if (is_entered(name->value)) {
      queue_.skip(header);
      return true;
    }
    if (size->value == kUnknownSize) damaged();
    if (!is_read(name->value)) {
      queue_.skip(header + size->value);
      return true;
    }
    if (size->value > kMostPacketBytes) damaged();
    if (bytes.size() < header + size->value) return false;
    read(name->value, bytes.subspan(header, static_cast<size_t>(size->value)), parts);
    queue_.skip(header + size->value);
    return true;
  }

  void begin() {
    track_.reset();
    chosen_.reset();
  }

  void read(uint64_t element, std::span<const uint8_t> content, std::vector<StreamPart>& parts) {
    if (element == id::kSimpleBlock || element == id::kBlock) return block(content, parts);
    if (!track_) return;
    if (element == id::kCodecId) track_->codec.assign(content.begin(), content.end());
    if (element == id::kCodecPrivate) track_->head.assign(content.begin(), content.end());
    if (content.size() > 8) return;
    if (element == id::kTrackNumber) track_->number = big(content);
    if (element == id::kTrackType) track_->type = big(content);
    if (element == id::kChannels) track_->channels = static_cast<uint32_t>(big(content));
  }

  /// Takes the track that was described last, where it is the first one with audio.
  void choose(std::vector<StreamPart>& parts) {
    if (!track_ || chosen_) return;
    const Track track = *std::exchange(track_, std::nullopt);
    if (track.type != kAudioTrack) return;
    if (!track.codec.starts_with("A_OPUS"))
      throw Failure("bad_request",
                    "The WebM stream has audio of the codec " + printable(track.codec) + "; only Opus is read.");
    chosen_ = track.number;
    if (track.head.empty()) {
      parts.push_back({.kind = StreamPart::Kind::kBegin, .bytes = {}, .channels = track.channels});
    } else {
      parts.push_back(opus_beginning(track.head));
    }
  }

  static std::string printable(std::string_view text) {
    std::string shown;
    for (const char one : text.substr(0, 32))
      if (one > ' ' && one < 127) shown.push_back(one);
    return shown.empty() ? "(none)" : shown;
  }

  void block(std::span<const uint8_t> content, std::vector<StreamPart>& parts) {
    const auto number = varied(content, false);
    if (!number || content.size() < number->bytes + 3) damaged();
    if (!chosen_ || number->value != *chosen_) return;
    const uint8_t lacing = content[number->bytes + 2] >> 1 & 3;
    auto rest = content.subspan(number->bytes + 3);
    if (lacing == 0) return packet(rest, parts);
    if (rest.empty()) damaged();
    const size_t frames = size_t{rest[0]} + 1;
    rest = rest.subspan(1);
    const std::vector<size_t> sizes =
        lacing == 2 ? std::vector(frames, rest.size() / frames) : laced(lacing, frames, rest);
    for (const size_t size : sizes) {
      packet(rest.first(size), parts);
      rest = rest.subspan(size);
    }
  }

  /// The sizes of several frames in a block, which stand before them; `rest` is moved behind these.
  static std::vector<size_t> laced(uint8_t lacing, size_t frames, std::span<const uint8_t>& rest) {
    std::vector<size_t> sizes;
    uint64_t sum = 0;
    int64_t last = 0;
    for (size_t i = 0; i + 1 < frames; ++i) {
      if (lacing == 1) {
        last = 0;
        uint8_t byte = 255;
        while (byte == 255) {
          if (rest.empty()) damaged();
          byte = rest[0];
          last += byte;
          rest = rest.subspan(1);
        }
      } else {
        const auto size = varied(rest, false);
        if (!size || size->value > kMostPacketBytes * 2) damaged();
        // All but the first are differences, around the middle of what so many bytes can tell.
        const int64_t middle = i == 0 ? 0 : (int64_t{1} << (7 * size->bytes - 1)) - 1;
        last = (i == 0 ? 0 : last) + static_cast<int64_t>(size->value) - middle;
        rest = rest.subspan(size->bytes);
      }
      if (last < 0 || last > static_cast<int64_t>(kMostPacketBytes)) damaged();
      sizes.push_back(static_cast<size_t>(last));
      sum += static_cast<uint64_t>(last);
    }
    if (sum > rest.size()) damaged();
    sizes.push_back(rest.size() - static_cast<size_t>(sum));
    return sizes;
  }

  static void packet(std::span<const uint8_t> bytes, std::vector<StreamPart>& parts) {
    if (!bytes.empty()) parts.push_back({.kind = StreamPart::Kind::kPacket, .bytes = {bytes.begin(), bytes.end()}});
  }

  ByteQueue queue_;
  std::optional<Track> track_;
  std::optional<uint64_t> chosen_;
};

}  // namespace

std::unique_ptr<PacketReader> open_webm_reader() {
  return std::make_unique<WebmReader>();
}

}  // namespace quern::audio
