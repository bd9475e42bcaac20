// FLAC by RFC 9639: every kind of subframe, 4 to 32 bits, 1 to 8 channels.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "../base/failure.hpp"
#include "bit_reader.hpp"
#include "byte_queue.hpp"
#include "pcm_reader.hpp"

namespace quern::audio {
namespace {

constexpr size_t kStreamInfoBytes = 34;
constexpr uint32_t kStreamInfo = 0;
constexpr uint32_t kMostOrder = 32;
/// A frame is at most what its samples take as they are, with some bytes around them.
constexpr size_t kMostFrameBytes = size_t{8} * 65536 * 5;

[[noreturn]] void refuse(const std::string& reason) {
  throw Failure("bad_request", "The FLAC file " + reason + ".");
}

[[noreturn]] void damaged() {
  refuse("is damaged");
}

constexpr std::array<uint16_t, 256> make_crc16() {
  std::array<uint16_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    auto value = static_cast<uint16_t>(i << 8);
    for (int bit = 0; bit < 8; ++bit)
      value = static_cast<uint16_t>((value << 1) ^ ((value & 0x8000) != 0 ? 0x8005 : 0));
    table[i] = value;
  }
  return table;
}
constexpr auto kCrc16 = make_crc16();

uint16_t crc16(std::span<const uint8_t> bytes) {
  uint16_t value = 0;
  for (const uint8_t byte : bytes) value = static_cast<uint16_t>((value << 8) ^ kCrc16[(value >> 8) ^ byte]);
  return value;
}

struct FrameHeader {
  uint32_t size;
  uint32_t rate;
  uint32_t bits;
  /// Of the two channels: 8 left and side, 9 side and right, 10 middle and side; below, their number less one.
  uint32_t channels;
};

/// Residuals of a subframe, in partitions with a parameter each, added to what `predict` says.
template <typename Predict>
void residual(BitReader& in, std::vector<int64_t>& samples, uint32_t order, Predict predict) {
  const uint32_t method = in.bits(2);
  if (method > 1) damaged();
  const uint32_t width = method == 0 ? 4 : 5;
  const uint32_t partitions = 1U << in.bits(4);
  const auto size = static_cast<uint32_t>(samples.size());
  if (size % partitions != 0 || size / partitions < order) damaged();
  uint32_t at = order;
  for (uint32_t partition = 0; partition < partitions; ++partition) {
    const uint32_t parameter = in.bits(width);
    const uint32_t until = (partition + 1) * (size / partitions);
    const bool plain = parameter == (1U << width) - 1;
    const uint32_t bits = plain ? in.bits(5) : parameter;
    for (; at < until; ++at) {
      int64_t value = 0;
      if (plain) {
        value = bits == 0 ? 0 : in.signed_bits(bits);
      } else {
        const uint64_t folded = static_cast<uint64_t>(in.unary()) << bits | in.bits(bits);
        value = static_cast<int64_t>(folded >> 1) ^ -static_cast<int64_t>(folded & 1);
      }
      // Of a sound file the sums are numbers of 33 bits; of another one they may be anything, and must not grow.
      const uint64_t sum = static_cast<uint64_t>(value) + static_cast<uint64_t>(predict(at));
      samples[at] = static_cast<int64_t>(sum << 30) >> 30;
    }
  }
}

void fixed(BitReader& in, std::vector<int64_t>& samples, uint32_t order) {
  const auto at = [&](uint32_t i, uint32_t before) { return static_cast<uint64_t>(samples[i - before]); };
  residual(in, samples, order, [&](uint32_t i) -> int64_t {
    switch (order) {
      case 0:
        return 0;
      case 1:
        return static_cast<int64_t>(at(i, 1));
      case 2:
        return static_cast<int64_t>(2 * at(i, 1) - at(i, 2));
      case 3:
        return static_cast<int64_t>(3 * at(i, 1) - 3 * at(i, 2) + at(i, 3));
      default:
        return static_cast<int64_t>(4 * at(i, 1) - 6 * at(i, 2) + 4 * at(i, 3) - at(i, 4));
    }
  });
}

void linear(BitReader& in, std::vector<int64_t>& samples, uint32_t order) {
  const uint32_t precision = in.bits(4) + 1;
  if (precision == 16) damaged();
  const int64_t shift = in.signed_bits(5);
  if (shift < 0) damaged();
  std::array<int64_t, kMostOrder> factors{};
  for (uint32_t i = 0; i < order; ++i) factors[i] = in.signed_bits(precision);
  residual(in, samples, order, [&](uint32_t at) -> int64_t {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < order; ++i)
      sum += static_cast<uint64_t>(factors[i]) * static_cast<uint64_t>(samples[at - 1 - i]);
    return static_cast<int64_t>(sum) >> shift;
  });
}

void subframe(BitReader& in, uint32_t bits, std::vector<int64_t>& samples) {
  if (in.bit()) damaged();
  const uint32_t kind = in.bits(6);
  uint32_t wasted = 0;
  if (in.bit()) wasted = in.unary() + 1;
  if (wasted >= bits) damaged();
  bits -= wasted;
  const auto warm_up = [&](uint32_t order) {
    if (order > samples.size()) damaged();
    for (uint32_t i = 0; i < order; ++i) samples[i] = in.signed_bits(bits);
    return order;
  };
  if (kind == 0) {
    std::fill(samples.begin(), samples.end(), in.signed_bits(bits));
  } else if (kind == 1) {
    warm_up(static_cast<uint32_t>(samples.size()));
  } else if (kind >= 8 && kind <= 12) {
    fixed(in, samples, warm_up(kind - 8));
  } else if (kind >= 32) {
    linear(in, samples, warm_up(kind - 31));
  } else {
    damaged();
  }
  for (int64_t& sample : samples) sample = static_cast<int64_t>(static_cast<uint64_t>(sample) << wasted);
}

class FlacReader final : public PcmReader {
 public:
  void push(std::span<const uint8_t> bytes) override {
    if (!after_) queue_.push(bytes);
  }
  void end() override { ended_ = true; }
  std::optional<PcmFacts> facts() const override { return facts_; }

  void read(std::vector<float>& mono) override {
    while (!in_frames_)
      if (!metadata()) return finish();
    while (mono.size() < kSamplesAtOnce && frame(mono)) {
    }
    if (mono.empty()) finish();
  }

 private:
  /// Reads one block before the frames; false where it has not come yet.
  bool metadata() {
    const auto bytes = queue_.waiting();
    if (!begun_) {
      if (bytes.size() < 4) return false;
      if (!begins_with(bytes, "fLaC")) refuse("does not begin with fLaC");
      queue_.skip(4);
      begun_ = true;
      return true;
    }
    if (bytes.size() < 4) return false;
    const auto size = static_cast<uint32_t>(big(bytes.subspan(1, 3)));
    if ((bytes[0] & 0x7f) == kStreamInfo) {
      if (size < kStreamInfoBytes) damaged();
      if (bytes.size() < 4 + kStreamInfoBytes) return false;
      stream_info(bytes.subspan(4, kStreamInfoBytes));
    }
    if (!facts_) refuse("does not say of what format it is");
    in_frames_ = (bytes[0] & 0x80) != 0;
    queue_.skip(uint64_t{4} + size);
    return true;
  }

  void stream_info(std::span<const uint8_t> bytes) {
    const uint64_t facts = big(bytes.subspan(10, 8));
    bits_ = static_cast<uint32_t>(facts >> 36 & 31) + 1;
    facts_ = PcmFacts{.rate = static_cast<uint32_t>(facts >> 44),
                      .channels = static_cast<uint32_t>(facts >> 41 & 7) + 1,
                      .frames = facts & 0xfffffffff};
    if (facts_->rate == 0) refuse("says that its rate is 0 Hz");
    if (bits_ < 4) refuse("has samples of " + std::to_string(bits_) + " bits");
    if (*facts_->frames == 0) facts_->frames.reset();
  }

  FrameHeader frame_header(BitReader& in) const {
    if (in.bits(15) != 0x7ffc) damaged();
    in.bit();
    const uint32_t size = in.bits(4);
    const uint32_t rate = in.bits(4);
    FrameHeader header{.size = 0, .rate = facts_->rate, .bits = bits_, .channels = in.bits(4)};
    constexpr std::array<uint32_t, 8> kBits = {0, 8, 12, 0, 16, 20, 24, 32};
    const uint32_t bits = in.bits(3);
    if (in.bit() || bits == 3 || header.channels > 10) damaged();
    if (bits != 0) header.bits = kBits[bits];
    // The number of the frame, as UTF-8 has it.
    const auto lead = static_cast<uint8_t>(in.bits(8));
    const auto more = static_cast<uint32_t>(std::countl_one(lead));
    if (more == 1 || more == 8) damaged();
    for (uint32_t i = 1; i < more; ++i)
      if (in.bits(8) >> 6 != 2) damaged();
    if (size == 0) damaged();
    header.size = size == 1   ? 192
                  : size <= 5 ? 576U << (size - 2)
                  : size == 6 ? in.bits(8) + 1
                  : size == 7 ? in.bits(16) + 1
                              : 256U << (size - 8);
    constexpr std::array<uint32_t, 12> kRates = {0,     88200, 176400, 192000, 8000,  16000,
                                                 22050, 24000, 32000,  44100,  48000, 96000};
    if (rate == 15) damaged();
    if (rate >= 12)
      header.rate = rate == 12 ? in.bits(8) * 1000 : rate == 13 ? in.bits(16) : in.bits(16) * 10;
    else if (rate > 0)
      header.rate = kRates[rate];
    in.bits(8);  // the checksum of the header: that of the frame holds it
    const uint32_t channels = header.channels < 8 ? header.channels + 1 : 2;
    if (header.rate != facts_->rate || channels != facts_->channels) refuse("changes its rate or its channels");
    return header;
  }

  /// Reads a frame; false where it has not come whole.
  bool frame(std::vector<float>& mono) {
    const auto bytes = queue_.waiting();
    if (bytes.size() < 3 || (bytes.size() < worth_trying_ && !ended_)) return false;
    // Some writers put tags behind the frames.
    if (begins_with(bytes, "TAG")) {
      after_ = true;
      queue_.clear();
      return false;
    }
    size_t used = 0;
    try {
      BitReader in(bytes);
      const FrameHeader header = frame_header(in);
      const size_t channels = facts_->channels;
      rows_.resize(channels);
      for (size_t channel = 0; channel < channels; ++channel) {
        rows_[channel].resize(header.size);
        const bool side = header.channels >= 8 && channel == (header.channels == 9 ? 0U : 1U);
        subframe(in, header.bits + (side ? 1 : 0), rows_[channel]);
      }
      in.to_byte();
      used = in.place() / 8;
      if (in.bits(16) != crc16(bytes.first(used))) damaged();
      used += 2;
      mix(header, mono);
    } catch (const OutOfBits&) {
      if (bytes.size() > kMostFrameBytes) damaged();
      // So that a frame that comes byte by byte is tried a few times and not at each byte.
      worth_trying_ = bytes.size() + bytes.size() / 2;
      return false;
    }
    worth_trying_ = 0;
    queue_.skip(used);
    return true;
  }

  void mix(const FrameHeader& header, std::vector<float>& mono) {
    const double scale = 1.0 / static_cast<double>(uint64_t{1} << (header.bits - 1));
    if (header.channels >= 8) {
      // The mean of left and right, of what stands for them.
      for (size_t i = 0; i < header.size; ++i) {
        const auto one = static_cast<double>(rows_[0][i]);
        const auto other = static_cast<double>(rows_[1][i]);
        const double mean = header.channels == 8   ? one - other / 2
                            : header.channels == 9 ? other + one / 2
                                                   : one + static_cast<double>(rows_[1][i] & 1) / 2;
        mono.push_back(static_cast<float>(mean * scale));
      }
    } else {
      const double share = scale / static_cast<double>(rows_.size());
      for (size_t i = 0; i < header.size; ++i) {
        double sum = 0;
        for (const auto& row : rows_) sum += static_cast<double>(row[i]);
        mono.push_back(static_cast<float>(sum * share));
      }
    }
    read_ += header.size;
  }

  /// Nothing more can be read.
  void finish() const {
    if (!ended_) return;
    if (!in_frames_) refuse("ends before its samples");
    if (queue_.size() > 0 || (facts_->frames && read_ < *facts_->frames))
      refuse("is cut off after " + std::to_string(read_ / facts_->rate) + " s");
  }

  ByteQueue queue_;
  bool ended_ = false;
  bool begun_ = false;
  bool in_frames_ = false;
  bool after_ = false;
  std::optional<PcmFacts> facts_;
  uint32_t bits_ = 0;
  uint64_t read_ = 0;
  size_t worth_trying_ = 0;
  std::vector<std::vector<int64_t>> rows_;
};

}  // namespace

std::unique_ptr<PcmReader> open_flac_reader() {
  return std::make_unique<FlacReader>();
}

}  // namespace quern::audio
