#include "ogg_writer.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "../base/failure.hpp"

namespace quern::audio {
namespace {

constexpr uint8_t kFirstPage = 2, kLastPage = 4;
constexpr uint32_t kPageSamples = 4800;
constexpr uint32_t kMostSamples = 5760;
/// 48 frames of 1,275 bytes and their lengths.
constexpr size_t kMostPacket = 61440;
constexpr size_t kMostLacing = 255;
constexpr std::string_view kVendor = "quern";

constexpr std::array<uint32_t, 256> make_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i << 24;
    for (int bit = 0; bit < 8; ++bit) value = (value << 1) ^ ((value & 0x80000000) != 0 ? 0x04c11db7 : 0);
    table[i] = value;
  }
  return table;
}
constexpr std::array<uint32_t, 256> kTable = make_table();

void put(uint64_t value, size_t bytes, std::vector<uint8_t>& out) {
  for (size_t i = 0; i < bytes; ++i) out.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

void put(std::string_view text, std::vector<uint8_t>& out) {
  out.insert(out.end(), text.begin(), text.end());
}

/// How a packet's length is told: bytes of 255 and a smaller one.
void lace(size_t size, std::vector<uint8_t>& lacing) {
  lacing.insert(lacing.end(), size / 255, 255);
  lacing.push_back(static_cast<uint8_t>(size % 255));
}

}  // namespace

uint32_t ogg_crc(std::span<const uint8_t> bytes, uint32_t before) {
  uint32_t value = before;
  for (const uint8_t byte : bytes) value = (value << 8) ^ kTable[(value >> 24) ^ byte];
  return value;
}

OggOpusWriter::OggOpusWriter(const OggOpusOptions& options) : options_(options), position_(0) {
  if (options.channels < 1 || options.channels > 2)
    throw Failure("invalid", "Opus is written with 1 or 2 channels, not " + std::to_string(options.channels) + ".");
}

void OggOpusWriter::page(uint8_t flags, uint64_t position, std::vector<uint8_t>& out) {
  const size_t from = out.size();
  put("OggS", out);
  put(0, 1, out);
  put(flags, 1, out);
  put(position, 8, out);
  put(options_.serial, 4, out);
  put(pages_++, 4, out);
  const size_t sum = out.size();
  put(0, 4, out);
  put(lacing_.size(), 1, out);
  out.insert(out.end(), lacing_.begin(), lacing_.end());
  out.insert(out.end(), body_.begin(), body_.end());
  const uint32_t crc = ogg_crc(std::span(out).subspan(from));
  for (size_t i = 0; i < 4; ++i) out[sum + i] = static_cast<uint8_t>(crc >> (8 * i));
  lacing_.clear();
  body_.clear();
  waiting_ = 0;
}

void OggOpusWriter::begin(std::vector<uint8_t>& out) {
  put("OpusHead", body_);
  put(1, 1, body_);
  put(options_.channels, 1, body_);
  put(options_.pre_skip, 2, body_);
  put(options_.input_rate, 4, body_);
  put(0, 3, body_);  // no gain, the usual order of channels
  lace(body_.size(), lacing_);
  page(kFirstPage, 0, out);
  put("OpusTags", body_);
  put(kVendor.size(), 4, body_);
  put(kVendor, body_);
  put(0, 4, body_);
  lace(body_.size(), lacing_);
  page(0, 0, out);
}

void OggOpusWriter::push(std::span<const uint8_t> packet, uint32_t samples, std::vector<uint8_t>& out) {
  if (packet.empty() || packet.size() > kMostPacket)
    throw Failure("invalid", "An Opus packet has 1 to 61440 bytes, not " + std::to_string(packet.size()) + ".");
  if (samples < 1 || samples > kMostSamples)
    throw Failure("invalid", "An Opus packet holds 1 to 5760 samples at 48 kHz, not " + std::to_string(samples) + ".");
  if (pages_ == 0) begin(out);
  // The last page is marked, so one packet is kept until the next comes.
  if (!lacing_.empty() && (waiting_ + samples > kPageSamples || lacing_.size() + packet.size() / 255 + 1 > kMostLacing))
    page(0, position_, out);
  lace(packet.size(), lacing_);
  body_.insert(body_.end(), packet.begin(), packet.end());
  position_ += samples;
  waiting_ += samples;
}

void OggOpusWriter::end(uint64_t total, std::vector<uint8_t>& out) {
  if (pages_ == 0) begin(out);
  const uint64_t last = total == 0 ? position_ : std::min(position_, options_.pre_skip + total);
  page(kLastPage, last, out);
}

}  // namespace quern::audio
