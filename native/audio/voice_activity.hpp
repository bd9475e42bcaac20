#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "../base/cpu.hpp"

namespace quern::audio {

inline constexpr int32_t kMostVoiceFrame = 1 << 16;

/**
 * Tells speech by its loudness: for each frame (some 10 to 50 ms) how likely it is, from 0 to 1, with 0.5 where the
 * effective value is the threshold. This is `threshold`, or more where the quietest of the last seconds was loud. Not
 * for several threads at once.
 */
class EnergyVoiceActivity {
 public:
  /// `threshold` is above 0 and below 1. Throws Failure('invalid') for one beyond the limits, or a frame of none or too
  /// many samples.
  EnergyVoiceActivity(int32_t frame_samples, float threshold, Isa isa = best_isa());
  /// Appends one number for each frame that is whole.
  void push(std::span<const float> samples, std::vector<float>& out);
  /// Forgets what it heard.
  void reset();

 private:
  float frame(const float* samples);

  size_t frame_samples_;
  float threshold_;
  float noise_ = 0;
  std::vector<float> waiting_;
  float (*dot_)(const float*, const float*, size_t);
};

}  // namespace quern::audio
