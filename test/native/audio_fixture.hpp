#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "base/failure.hpp"

namespace quern::audio {

/// A tone of half of full scale.
inline std::vector<float> tone(double hertz, int rate, double seconds) {
  std::vector<float> samples(static_cast<size_t>(rate * seconds));
  for (size_t i = 0; i < samples.size(); ++i)
    samples[i] = static_cast<float>(0.5 * std::sin(2 * std::numbers::pi * hertz * static_cast<double>(i) / rate));
  return samples;
}

/// The effective value of the middle half, in dB against that of `tone`.
inline double level(std::span<const float> samples) {
  double sum = 0;
  const size_t from = samples.size() / 4;
  const size_t until = samples.size() - from;
  for (size_t i = from; i < until; ++i) sum += static_cast<double>(samples[i]) * samples[i];
  return 10 * std::log10(sum / static_cast<double>(until - from) / 0.125 + 1e-15);
}

/// Passes samples in pieces of growing odd sizes.
template <typename Stream>
std::vector<float> passed(Stream& stream, std::span<const float> samples, size_t piece = 997) {
  std::vector<float> out;
  for (size_t at = 0; at < samples.size(); at += piece)
    stream.push(samples.subspan(at, std::min(piece, samples.size() - at)), out);
  stream.flush(out);
  return out;
}

template <typename Work>
void expect_refused(const char* kind, const std::string& text, Work work) {
  try {
    work();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Failure& failure) {
    EXPECT_STREQ(failure.kind(), kind);
    EXPECT_NE(std::string(failure.what()).find(text), std::string::npos) << failure.what();
  }
}

inline std::vector<uint8_t> bytes_of_hex(std::string_view hex) {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<uint8_t>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  return bytes;
}

inline void append(std::vector<uint8_t>& to, std::span<const uint8_t> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

}  // namespace quern::audio
