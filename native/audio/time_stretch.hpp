#pragma once

#include <cstddef>
#include <cstdint>

#include "../base/cpu.hpp"
#include "sample_stream.hpp"

namespace quern::audio {

inline constexpr double kLeastSpeed = 0.25;
inline constexpr double kMostSpeed = 4;

/**
 * Speech faster or slower at the same pitch: pieces of 20 ms follow each other, each taken from where it fits best
 * behind the last one, near the place that the speed asks for (waveform-similarity overlap-add). n samples give
 * round(n / speed). Looks some 55 ms ahead.
 */
class TimeStretch final : public SampleStream {
 public:
  /// Throws Failure('invalid') for a rate of `kLeastRate` to `kMostRate` or a speed beyond its limits.
  TimeStretch(int32_t rate, double speed, Isa isa = best_isa());
  void push(std::span<const float> samples, std::vector<float>& out) override;
  void flush(std::vector<float>& out) override;

 private:
  void begin();
  void stretch(int64_t known, std::vector<float>& out);
  int64_t best_place(int64_t wanted) const;
  const float* at(int64_t place) const { return waiting_.data() + (place - first_); }

  double speed_;
  int64_t piece_;
  int64_t search_;
  std::vector<float> fade_;
  float (*dot_)(const float*, const float*, size_t);

  /// Samples of the input from `first_` on.
  std::vector<float> waiting_;
  int64_t first_ = 0;
  int64_t taken_ = 0;
  int64_t pieces_ = 0;
  /// Where the last piece would go on.
  int64_t onward_ = 0;
};

}  // namespace quern::audio
