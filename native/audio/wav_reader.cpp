#include <cstdint>
#include <string>

#include "../base/failure.hpp"
#include "byte_queue.hpp"
#include "pcm_reader.hpp"
#include "samples.hpp"

namespace quern::audio {
namespace {

constexpr size_t kChunkHeader = 8;
constexpr size_t kLeastFormat = 16;
constexpr size_t kMostFormat = 4096;
/// Of a format whose kind is told by a longer number, which begins with the short one.
constexpr uint32_t kExtensible = 0xfffe;
constexpr size_t kExtensibleBytes = 40;
constexpr size_t kSubformatAt = 24;
/// A size that nobody knows: of a stream, or of a file that says its sizes elsewhere.
constexpr uint32_t kUnknown = 0xffffffff;

[[noreturn]] void refuse(const std::string& reason) {
  throw Failure("bad_request", "The WAV file " + reason + ".");
}

Encoding encoding_of(uint32_t kind, uint32_t bytes) {
  if (kind == 1) {
    constexpr Encoding kWhole[] = {Encoding::kU8, Encoding::kS16, Encoding::kS24, Encoding::kS32};
    if (bytes >= 1 && bytes <= 4) return kWhole[bytes - 1];
  } else if (kind == 3) {
    if (bytes == 4) return Encoding::kF32;
    if (bytes == 8) return Encoding::kF64;
  } else if (kind == 6 && bytes == 1) {
    return Encoding::kAlaw;
  } else if (kind == 7 && bytes == 1) {
    return Encoding::kMulaw;
  }
  refuse("has samples of kind " + std::to_string(kind) + " with " + std::to_string(bytes) +
         " bytes each; whole numbers of 8, 16, 24 and 32 bits, floats of 32 and 64, A-law and mu-law are read");
}

class WavReader final : public PcmReader {
 public:
  void push(std::span<const uint8_t> bytes) override {
    if (place_ != Place::kAfter) queue_.push(bytes);
  }
  void end() override { ended_ = true; }
  std::optional<PcmFacts> facts() const override { return facts_; }

  void read(std::vector<float>& mono) override {
    while (place_ != Place::kData && place_ != Place::kAfter)
      if (!header()) return finish();
    if (place_ == Place::kData) data(mono);
    if (mono.empty()) finish();
  }

 private:
  enum class Place { kRiff, kChunk, kData, kAfter };

  /// Reads a piece of what stands before the samples; false where it has not come yet.
  bool header() {
    const auto bytes = queue_.waiting();
    if (place_ == Place::kRiff) {
      if (bytes.size() < 12) return false;
      if (!(begins_with(bytes, "RIFF") || begins_with(bytes, "RF64")) || !begins_with(bytes.subspan(8), "WAVE"))
        refuse("does not begin with RIFF and WAVE");
      queue_.skip(12);
      place_ = Place::kChunk;
      return true;
    }
    if (bytes.size() < kChunkHeader) return false;
    const auto size = static_cast<uint32_t>(little(bytes.subspan(4, 4)));
    if (begins_with(bytes, "data")) return begin_data(size);
    if (begins_with(bytes, "fmt ") || begins_with(bytes, "ds64")) {
      if (size > kMostFormat) refuse("describes its format in " + std::to_string(size) + " bytes");
      if (bytes.size() < kChunkHeader + size) return false;
      const auto chunk = bytes.subspan(kChunkHeader, size);
      if (bytes[0] == 'f') format(chunk);
      // Of a file over 4 GiB.
      else if (size >= 16)
        long_size_ = little(chunk.subspan(8, 8));
    }
    queue_.skip(uint64_t{kChunkHeader} + size + size % 2);
    return true;
  }

  void format(std::span<const uint8_t> chunk) {
    if (chunk.size() < kLeastFormat) refuse("describes its format in too few bytes");
    auto kind = static_cast<uint32_t>(little(chunk.subspan(0, 2)));
    const auto channels = static_cast<uint32_t>(little(chunk.subspan(2, 2)));
    const auto rate = static_cast<uint32_t>(little(chunk.subspan(4, 4)));
    const auto frame = static_cast<uint32_t>(little(chunk.subspan(12, 2)));
    if (channels < 1 || channels > kMostFileChannels)
      refuse("has " + std::to_string(channels) + " channels; 1 to " + std::to_string(kMostFileChannels) + " are read");
    if (rate == 0) refuse("says that its rate is 0 Hz");
    if (kind == kExtensible) {
      if (chunk.size() < kExtensibleBytes) refuse("describes its format in too few bytes");
      kind = static_cast<uint32_t>(little(chunk.subspan(kSubformatAt, 2)));
    }
    const auto bits = static_cast<uint32_t>(little(chunk.subspan(14, 2)));
    // Some writers leave the bytes of a frame out.
    const uint32_t bytes = frame >= channels && frame % channels == 0 ? frame / channels : (bits + 7) / 8;
    encoding_ = encoding_of(kind, bytes);
    frame_bytes_ = bytes * channels;
    facts_ = PcmFacts{.rate = rate, .channels = channels, .frames = std::nullopt};
  }

  bool begin_data(uint32_t size) {
    if (!facts_) refuse("has samples before it says of what format they are");
    queue_.skip(kChunkHeader);
    place_ = Place::kData;
    if (size == kUnknown && long_size_ && *long_size_ > 0) left_ = *long_size_;
    // A recorder that could not go back leaves 0 or the largest number.
    else if (size != kUnknown && size != 0)
      left_ = size;
    if (left_) facts_->frames = *left_ / frame_bytes_;
    return true;
  }

  void data(std::vector<float>& mono) {
    auto bytes = queue_.waiting();
    if (left_ && bytes.size() > *left_) bytes = bytes.first(static_cast<size_t>(*left_));
    bytes = bytes.first(std::min<size_t>(bytes.size(), size_t{kSamplesAtOnce} * frame_bytes_));
    const size_t taken = decode_frames(bytes, encoding_, facts_->channels, mono);
    queue_.skip(taken);
    if (left_) *left_ -= taken;
    if (left_ && *left_ < frame_bytes_) place_ = Place::kAfter;
    if (place_ == Place::kAfter) queue_.clear();
  }

  /// Nothing more can be read.
  void finish() const {
    if (!ended_ || place_ == Place::kAfter) return;
    if (place_ != Place::kData) refuse("ends before its samples");
    if (left_) refuse("is cut off: " + std::to_string(*left_) + " bytes of its samples are missing");
  }

  ByteQueue queue_;
  Place place_ = Place::kRiff;
  bool ended_ = false;
  std::optional<PcmFacts> facts_;
  std::optional<uint64_t> long_size_;
  /// Bytes of samples that are still to come, where that is known.
  std::optional<uint64_t> left_;
  Encoding encoding_ = Encoding::kS16;
  uint32_t frame_bytes_ = 1;
};

}  // namespace

std::unique_ptr<PcmReader> open_wav_reader() {
  return std::make_unique<WavReader>();
}

}  // namespace quern::audio
