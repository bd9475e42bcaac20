#pragma once

#include <cstddef>
#include <cstdint>

#include "../base/cpu.hpp"
#include "sample_stream.hpp"

namespace quern::audio {

/// Rates in Hz that are taken.
inline constexpr int32_t kLeastRate = 4000;
inline constexpr int32_t kMostRate = 192000;

/**
 * Changes the rate of a row of samples by a polyphase filter: a sinc under a Kaiser window that spans 64 samples of the
 * lower of both rates, so that it looks 32 of them ahead (2 ms at 16 kHz). What lies above half of the lower rate is
 * 96 dB down; up to 0.4 of it passes unchanged, and everything where both are the same. The output is not delayed
 * against the input: n samples give ceil(n * to / from).
 */
class Resampler final : public SampleStream {
 public:
  /// Throws Failure('invalid') for rates beyond the limits.
  Resampler(int32_t from, int32_t to, Isa isa = best_isa());
  void push(std::span<const float> samples, std::vector<float>& out) override;
  void flush(std::vector<float>& out) override;

 private:
  void begin();
  void filter(int64_t known, std::vector<float>& out);
  float at(const float* window, int64_t phase) const;

  /// Output `k` lies at `k * step_ / phases_` samples of the input.
  int64_t phases_;
  int64_t step_;
  /// Rows of the table; fewer than `phases_` where these are many, and then one more, to go between rows.
  int64_t rows_;
  size_t taps_;
  /// A window begins so many samples before its place.
  int64_t behind_;
  std::vector<float> table_;
  float (*dot_)(const float*, const float*, size_t);

  /// Samples of the input from `first_` on, of which the first are zeros before the beginning.
  std::vector<float> waiting_;
  int64_t first_ = 0;
  int64_t taken_ = 0;
  /// The place of the next output: a sample of the input, and the phase behind it.
  int64_t place_ = 0;
  int64_t phase_ = 0;
};

}  // namespace quern::audio
