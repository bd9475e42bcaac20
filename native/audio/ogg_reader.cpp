#include <optional>

#include "byte_queue.hpp"
#include "ogg_writer.hpp"
#include "packet_reader.hpp"

namespace quern::audio {
namespace {

constexpr size_t kPageHeader = 27;
constexpr uint8_t kContinued = 1, kFirstPage = 2, kLastPage = 4;
constexpr uint64_t kNowhere = ~uint64_t{0};

class OggReader final : public PacketReader {
 public:
  void push(std::span<const uint8_t> bytes, std::vector<StreamPart>& parts) override {
    queue_.push(bytes);
    while (page(parts)) {
    }
  }

 private:
  /// Reads one page; false where none is whole.
  bool page(std::vector<StreamPart>& parts) {
    to_capture();
    const auto bytes = queue_.waiting();
    if (bytes.size() < kPageHeader) return false;
    const size_t segments = bytes[26];
    if (bytes.size() < kPageHeader + segments) return false;
    const auto lacing = bytes.subspan(kPageHeader, segments);
    size_t size = kPageHeader + segments;
    for (const uint8_t length : lacing) size += length;
    if (bytes.size() < size) return false;
    if (is_sound(bytes.first(size))) {
      read(bytes.first(size), lacing, parts);
    } else {
      packet_.clear();
      lost_ = true;
    }
    queue_.skip(size);
    return true;
  }

  /// Drops what stands before the next page.
  void to_capture() {
    const auto bytes = queue_.waiting();
    size_t at = 0;
    while (at < bytes.size() &&
           !begins_with(bytes.subspan(at), std::string_view("OggS").substr(0, std::min<size_t>(4, bytes.size() - at))))
      ++at;
    queue_.skip(at);
  }

  static bool is_sound(std::span<const uint8_t> page) {
    // The sum counts as 0 in itself.
    constexpr size_t kSum = 22;
    constexpr uint8_t kZeros[4] = {};
    const uint32_t sum = ogg_crc(page.subspan(kSum + 4), ogg_crc(kZeros, ogg_crc(page.first(kSum))));
    return page[4] == 0 && sum == little(page.subspan(kSum, 4));
  }

  void read(std::span<const uint8_t> page, std::span<const uint8_t> lacing, std::vector<StreamPart>& parts) {
    const uint8_t flags = page[5];
    const auto serial = static_cast<uint32_t>(little(page.subspan(14, 4)));
    auto body = page.subspan(kPageHeader + lacing.size());
    if ((flags & kFirstPage) != 0) {
      if (!begin(serial, body, parts)) return;
    } else if (serial_ != serial) {
      return;
    }
    if ((flags & kContinued) == 0) {
      packet_.clear();
      lost_ = false;
    }
    for (const uint8_t length : lacing) {
      const auto piece = body.first(length);
      body = body.subspan(length);
      if (!lost_) packet_.insert(packet_.end(), piece.begin(), piece.end());
      if (packet_.size() > kMostPacketBytes) {
        packet_.clear();
        lost_ = true;
      }
      if (length == 255) continue;
      if (!lost_) packet(parts);
      packet_.clear();
      lost_ = false;
    }
    if ((flags & kLastPage) == 0) return;
    const uint64_t position = little(page.subspan(6, 8));
    StreamPart end{.kind = StreamPart::Kind::kEnd, .bytes = {}};
    if (position != kNowhere && position > pre_skip_) end.total = position - pre_skip_;
    parts.push_back(std::move(end));
  }

  /// A stream begins; false where it is none of those that are read, or where another one is read already.
  bool begin(uint32_t serial, std::span<const uint8_t> head, std::vector<StreamPart>& parts) {
    StreamPart part{.kind = StreamPart::Kind::kBegin, .bytes = {head.begin(), head.end()}};
    if (begins_with(head, "OpusHead"))
      part = opus_beginning(head);
    else if (begins_with(head, "\x01vorbis"))
      part.codec = Codec::kVorbis;
    else if (begins_with(head,
                         "\x7f"
                         "FLAC"))
      part.codec = Codec::kFlac;
    else
      return false;
    serial_ = serial;
    pre_skip_ = part.pre_skip;
    headers_ = part.codec == Codec::kOpus ? 2 : 0;
    parts.push_back(std::move(part));
    return true;
  }

  void packet(std::vector<StreamPart>& parts) {
    // The headers of Opus say nothing that is not known.
    if (headers_ > 0) {
      --headers_;
      return;
    }
    if (!packet_.empty()) parts.push_back({.kind = StreamPart::Kind::kPacket, .bytes = packet_});
  }

  ByteQueue queue_;
  std::optional<uint32_t> serial_;
  uint32_t pre_skip_ = 0;
  uint32_t headers_ = 0;
  std::vector<uint8_t> packet_;
  /// The packet that is read has lost a part.
  bool lost_ = false;
};

}  // namespace

StreamPart opus_beginning(std::span<const uint8_t> head) {
  constexpr size_t kHeadBytes = 19;
  if (head.size() < kHeadBytes || !begins_with(head, "OpusHead") || head[9] == 0)
    throw Failure("bad_request", "The stream begins with a header that is none of Opus.");
  return {.kind = StreamPart::Kind::kBegin,
          .bytes = {head.begin(), head.end()},
          .codec = Codec::kOpus,
          .channels = head[9],
          .pre_skip = static_cast<uint32_t>(little(head.subspan(10, 2)))};
}

std::unique_ptr<PacketReader> open_ogg_reader() {
  return std::make_unique<OggReader>();
}

}  // namespace quern::audio
