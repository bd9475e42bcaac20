#include "aac_decoder.hpp"

#include <cmath>

#include "aac_channel.hpp"

namespace quern::audio {

using namespace aac;

namespace {

constexpr uint32_t kLowComplexity = 2, kBandReplication = 5, kParametricStereo = 29;
constexpr uint32_t kMostChannels = 8;

uint32_t object_type(BitReader &in) {
  const uint32_t type = in.bits(5);
  return type == 31 ? 32 + in.bits(6) : type;
}

uint32_t read_rate(BitReader &in) {
  const uint32_t index = in.bits(4);
  if (index < kRates) return index;
  if (index != 15) damaged();
  // A rate that has no index takes the tables of the nearest one below.
  const uint32_t rate = in.bits(24);
  for (uint32_t i = 0; i < kRates; ++i)
    if (rate >= kRateOf[i]) return i;
  refuse("has an unusual rate");
}

/// What a program says of its channels is not needed: all are mixed.
void skip_program(BitReader &in) {
  in.bits(2 + 4);
  const uint32_t front = in.bits(4), side = in.bits(4), back = in.bits(4), low = in.bits(2), data = in.bits(3),
                 coupled = in.bits(4);
  for (uint32_t bits : {4U, 4U, 3U})
    if (in.bit()) in.bits(bits);
  for (uint32_t i = 0; i < front + side + back; ++i) in.bits(5);
  for (uint32_t i = 0; i < low + data; ++i) in.bits(4);
  for (uint32_t i = 0; i < coupled; ++i) in.bits(5);
  in.to_byte();
  for (uint32_t comment = in.bits(8); comment > 0; --comment) in.bits(8);
}

void skip_bytes(BitReader &in, uint32_t count) {
  for (; count > 0; --count) in.bits(8);
}

/// The right channel of a pair, where it is told by the left one: sums and
/// differences, and places between both.
void join(ChannelFrame &left, ChannelFrame &right, const std::array<std::array<bool, kMostBands>, kMostWindows> &mixed,
          bool marked) {
  each_stretch(left.windows, [&](uint32_t group, uint32_t band, uint32_t from, uint32_t size) {
    float *one = left.spectrum.data() + from;
    float *other = right.spectrum.data() + from;
    const uint8_t book = right.books[group][band];
    if (book == kSame || book == kTurned) {
      const bool turned = (book == kTurned) != (marked && mixed[group][band]);
      const float share = std::exp2(-static_cast<float>(right.factors[group][band]) / 4) * (turned ? -1.0F : 1.0F);
      for (uint32_t i = 0; i < size; ++i) other[i] = one[i] * share;
    } else if (mixed[group][band] && book != kNoise && left.books[group][band] != kNoise) {
      for (uint32_t i = 0; i < size; ++i) {
        const float middle = one[i];
        const float side = other[i];
        one[i] = middle + side;
        other[i] = middle - side;
      }
    }
  });
}

}  // namespace

struct AacDecoder::State {
  uint32_t rate_index = 0;
  std::array<Synthesis, kMostChannels> channels;
  ChannelFrame left;
  ChannelFrame right;
  uint32_t noise_seed = 1;

  void pair(BitReader &in) {
    std::array<std::array<bool, kMostBands>, kMostWindows> mixed{};
    uint32_t mask = 0;
    const bool common = in.bit();
    Windows shared;
    if (common) {
      shared.read(in, rate_index);
      mask = in.bits(2);
      if (mask == 3) damaged();
      for (uint32_t group = 0; group < shared.groups; ++group)
        for (uint32_t band = 0; band < shared.bands; ++band) mixed[group][band] = mask == 2 || (mask == 1 && in.bit());
    }
    left.read(in, rate_index, common ? &shared : nullptr, noise_seed);
    right.read(in, rate_index, common ? &shared : nullptr, noise_seed);
    if (common) join(left, right, mixed, mask == 1);
  }
};

AacDecoder::AacDecoder(std::span<const uint8_t> config) : state_(std::make_unique<State>()) {
  try {
    BitReader in(config);
    uint32_t type = object_type(in);
    state_->rate_index = read_rate(in);
    in.bits(4);
    if (type == kBandReplication || type == kParametricStereo) {
      read_rate(in);
      type = object_type(in);
    }
    if (type != kLowComplexity) refuse("is of another profile");
    if (in.bit()) refuse("has frames of 960 samples");
  } catch (const OutOfBits &) {
    damaged();
  }
}

AacDecoder::~AacDecoder() = default;

uint32_t AacDecoder::rate() const {
  return kRateOf[state_->rate_index];
}

void AacDecoder::decode(std::span<const uint8_t> frame, std::vector<float> &mono) {
  enum Element : uint32_t { kSingle, kPair, kCoupling, kLow, kData, kProgram, kFill, kEnd };
  State &state = *state_;
  std::array<float, kFrame> sum{};
  uint32_t channels = 0;
  uint32_t heard = 0;
  const auto sound = [&](ChannelFrame &from) {
    if (channels == kMostChannels) refuse("has more than 8 channels");
    from.unshape();
    state.channels[channels++].run(from.windows.sequence, from.windows.shape, from.spectrum, 1, sum);
    ++heard;
  };
  try {
    BitReader in(frame);
    for (uint32_t element = in.bits(3); element != kEnd; element = in.bits(3)) {
      if (element == kFill) {
        uint32_t count = in.bits(4);
        if (count == 15) count += in.bits(8) - 1;
        skip_bytes(in, count);
        continue;
      }
      in.bits(4);
      if (element == kSingle || element == kLow) {
        state.left.read(in, state.rate_index, nullptr, state.noise_seed);
        // Low effects are noise to a listener for words.
        if (element == kSingle) sound(state.left);
      } else if (element == kPair) {
        state.pair(in);
        sound(state.left);
        sound(state.right);
      } else if (element == kData) {
        const bool aligned = in.bit();
        uint32_t count = in.bits(8);
        if (count == 255) count += in.bits(8);
        if (aligned) in.to_byte();
        skip_bytes(in, count);
      } else if (element == kProgram) {
        skip_program(in);
      } else {
        refuse("couples its channels");
      }
    }
  } catch (const OutOfBits &) {
    damaged();
  }
  const float share = heard == 0 ? 0 : 1.0F / static_cast<float>(heard);
  for (const float sample : sum) mono.push_back(std::isfinite(sample) ? sample * share : 0);
}

}  // namespace quern::audio
