#include "samples.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>

#include "../base/failure.hpp"

namespace quern::audio {
namespace {

struct Named {
  std::string_view name;
  Encoding encoding;
  size_t bytes;
};
constexpr std::array<Named, 9> kEncodings = {{{"u8", Encoding::kU8, 1},
                                              {"s8", Encoding::kS8, 1},
                                              {"s16", Encoding::kS16, 2},
                                              {"s24", Encoding::kS24, 3},
                                              {"s32", Encoding::kS32, 4},
                                              {"f32", Encoding::kF32, 4},
                                              {"f64", Encoding::kF64, 8},
                                              {"mulaw", Encoding::kMulaw, 1},
                                              {"alaw", Encoding::kAlaw, 1}}};

uint32_t word(const uint8_t* at, size_t bytes) {
  uint32_t value = 0;
  for (size_t i = 0; i < bytes; ++i) value |= static_cast<uint32_t>(at[i]) << (8 * i);
  return value;
}

/// G.711: 8 bits of a logarithmic scale as a sample of 16 bits.
int32_t mulaw(uint8_t code) {
  const auto bits = static_cast<uint8_t>(~code);
  const int32_t size = ((((bits & 0x0f) << 3) + 0x84) << ((bits & 0x70) >> 4)) - 0x84;
  return (bits & 0x80) != 0 ? -size : size;
}

int32_t alaw(uint8_t code) {
  const uint8_t bits = code ^ 0x55;
  const int32_t segment = (bits & 0x70) >> 4;
  const int32_t step = (bits & 0x0f) << 4;
  const int32_t size = segment == 0 ? step + 8 : (step + 0x108) << (segment - 1);
  return (bits & 0x80) != 0 ? size : -size;
}

/// Numbers of a float file may be anything; what is no number, or far beyond full scale, must not spoil a filter.
float tamed(double value) {
  constexpr double kMost = 16;
  return std::isfinite(value) ? static_cast<float>(std::clamp(value, -kMost, kMost)) : 0.0F;
}

float sample_at(const uint8_t* at, Encoding encoding) {
  switch (encoding) {
    case Encoding::kU8:
      return static_cast<float>(*at - 128) / 128.0F;
    case Encoding::kS8:
      return static_cast<float>(static_cast<int8_t>(*at)) / 128.0F;
    case Encoding::kS16:
      return static_cast<float>(static_cast<int16_t>(word(at, 2))) / 32768.0F;
    case Encoding::kS24:
      return static_cast<float>(static_cast<int32_t>(word(at, 3) << 8)) / 2147483648.0F;
    case Encoding::kS32:
      return static_cast<float>(static_cast<int32_t>(word(at, 4))) / 2147483648.0F;
    case Encoding::kF32:
      return tamed(std::bit_cast<float>(word(at, 4)));
    case Encoding::kF64:
      return tamed(
          std::bit_cast<double>(static_cast<uint64_t>(word(at, 4)) | static_cast<uint64_t>(word(at + 4, 4)) << 32));
    case Encoding::kMulaw:
      return static_cast<float>(mulaw(*at)) / 32768.0F;
    case Encoding::kAlaw:
      return static_cast<float>(alaw(*at)) / 32768.0F;
  }
  return 0;
}

/// A sample as a whole number of `bits` bits; `most` is its largest value.
int32_t whole(float sample, double most) {
  const double scaled = std::isnan(sample) ? 0 : std::clamp(static_cast<double>(sample), -1.0, 1.0) * (most + 1);
  return static_cast<int32_t>(std::clamp(std::nearbyint(scaled), -(most + 1), most));
}

void put(uint32_t value, size_t bytes, uint8_t* at) {
  for (size_t i = 0; i < bytes; ++i) at[i] = static_cast<uint8_t>(value >> (8 * i));
}

}  // namespace

size_t bytes_of(Encoding encoding) {
  return kEncodings[static_cast<size_t>(encoding)].bytes;
}

Encoding encoding_of(std::string_view name) {
  for (const Named& one : kEncodings)
    if (one.name == name) return one.encoding;
  throw Failure("invalid", "encoding is \"" + std::string(name.substr(0, 32)) +
                               "\"; allowed are u8, s8, s16, s24, s32, f32, f64, mulaw and alaw.");
}

void encode_samples(std::span<const float> samples, Encoding encoding, std::span<uint8_t> into) {
  const size_t bytes = bytes_of(encoding);
  if (into.size() < samples.size() * bytes) throw Failure("invalid", "into is too short for the samples.");
  uint8_t* at = into.data();
  for (const float sample : samples) {
    switch (encoding) {
      case Encoding::kU8:
        *at = static_cast<uint8_t>(whole(sample, 127) + 128);
        break;
      case Encoding::kS8:
        *at = static_cast<uint8_t>(whole(sample, 127));
        break;
      case Encoding::kS16:
        put(static_cast<uint32_t>(whole(sample, 32767)), 2, at);
        break;
      case Encoding::kS24:
        put(static_cast<uint32_t>(whole(sample, 8388607)), 3, at);
        break;
      case Encoding::kS32:
        put(static_cast<uint32_t>(whole(sample, 2147483647)), 4, at);
        break;
      case Encoding::kF32:
        put(std::bit_cast<uint32_t>(std::isnan(sample) ? 0.0F : std::clamp(sample, -1.0F, 1.0F)), 4, at);
        break;
      default:
        throw Failure("invalid", "Samples are written as u8, s8, s16, s24, s32 or f32 only.");
    }
    at += bytes;
  }
}

size_t decode_frames(std::span<const uint8_t> bytes, Encoding encoding, size_t channels, std::vector<float>& mono) {
  const size_t sample_bytes = bytes_of(encoding);
  const size_t frames = bytes.size() / (sample_bytes * channels);
  const float share = 1.0F / static_cast<float>(channels);
  const uint8_t* at = bytes.data();
  mono.reserve(mono.size() + frames);
  for (size_t frame = 0; frame < frames; ++frame) {
    float sum = 0;
    for (size_t channel = 0; channel < channels; ++channel, at += sample_bytes) sum += sample_at(at, encoding);
    mono.push_back(sum * share);
  }
  return frames * sample_bytes * channels;
}

void mix_rows(std::span<const std::span<const float>> rows, std::vector<float>& mono) {
  if (rows.empty()) return;
  const size_t frames = rows[0].size();
  for (const auto& row : rows)
    if (row.size() != frames) throw Failure("invalid", "The channels have different lengths.");
  const float share = 1.0F / static_cast<float>(rows.size());
  const size_t from = mono.size();
  mono.resize(from + frames, 0);
  for (const auto& row : rows)
    for (size_t i = 0; i < frames; ++i) mono[from + i] += row[i] * share;
}

}  // namespace quern::audio
