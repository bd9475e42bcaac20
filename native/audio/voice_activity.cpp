#include "voice_activity.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "../base/failure.hpp"
#include "../kernels/distance.hpp"

namespace quern::audio {
namespace {

/// The noise is taken to be as loud as the quietest frames: it follows these down soon, and up by this factor a frame
/// (twice as loud after 47 frames), which gaps in speech undo.
constexpr float kDown = 0.3F;
constexpr float kUp = 1.015F;
/// Speech is so many times as loud as the noise.
constexpr float kAboveNoise = 3;

}  // namespace

EnergyVoiceActivity::EnergyVoiceActivity(int32_t frame_samples, float threshold, Isa isa)
    : frame_samples_(static_cast<size_t>(frame_samples)), threshold_(threshold), dot_(distance_kernels(isa).dot) {
  if (frame_samples < 1 || frame_samples > kMostVoiceFrame)
    throw Failure("invalid", "frameSamples is " + std::to_string(frame_samples) + "; allowed is 1 to " +
                                 std::to_string(kMostVoiceFrame) + ".");
  if (!(threshold > 0 && threshold < 1))
    throw Failure("invalid", "threshold is " + std::to_string(threshold) + "; it must be above 0 and below 1.");
  reset();
}

void EnergyVoiceActivity::reset() {
  waiting_.clear();
  noise_ = threshold_ / kAboveNoise;
}

float EnergyVoiceActivity::frame(const float* samples) {
  const float energy = dot_(samples, samples, frame_samples_);
  const float level = std::isfinite(energy) ? std::sqrt(energy / static_cast<float>(frame_samples_)) : 1;
  noise_ = level < noise_ ? noise_ + kDown * (level - noise_) : std::min(noise_ * kUp, level);
  // Noise that does not raise the threshold need not be followed down: it would take long to come up again.
  noise_ = std::max(noise_, threshold_ / kAboveNoise);
  const float threshold = kAboveNoise * noise_;
  return level / (level + threshold);
}

void EnergyVoiceActivity::push(std::span<const float> samples, std::vector<float>& out) {
  if (!waiting_.empty()) {
    const size_t missing = std::min(frame_samples_ - waiting_.size(), samples.size());
    waiting_.insert(waiting_.end(), samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(missing));
    samples = samples.subspan(missing);
    if (waiting_.size() < frame_samples_) return;
    out.push_back(frame(waiting_.data()));
    waiting_.clear();
  }
  for (; samples.size() >= frame_samples_; samples = samples.subspan(frame_samples_))
    out.push_back(frame(samples.data()));
  waiting_.assign(samples.begin(), samples.end());
}

}  // namespace quern::audio
