#include "token_times.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace quern {
namespace {

/// Frames whose middle value is taken.
constexpr ptrdiff_t kMedianWidth = 7;

/// Of 10 ms.
constexpr size_t kLevelSamples = 160;
constexpr double kLevelsPerSecond = 100;
/// A frame sounds that is this much louder than the quiet ones, and as loud as this part of the loud ones.
constexpr float kAboveQuiet = 2.0f;
constexpr float kPartOfLoud = 0.05f;
constexpr float kQuietQuantile = 0.1f;
constexpr float kLoudQuantile = 0.9f;
/// Silence within a word is shorter: the closing of the lips before a "p".
constexpr size_t kClosure = 9;

/// Has each frame of a head in units of its spread over the tokens.
void normalise(std::span<float> weights, size_t tokens) {
  for (size_t at = 0; at + tokens <= weights.size(); at += tokens) {
    const std::span<float> one = weights.subspan(at, tokens);
    double sum = 0;
    double squares = 0;
    for (const float value : one) {
      sum += value;
      squares += static_cast<double>(value) * value;
    }
    const double mean = sum / static_cast<double>(tokens);
    const double spread = std::sqrt(std::max(squares / static_cast<double>(tokens) - mean * mean, 1e-18));
    for (float& value : one) value = static_cast<float>((value - mean) / spread);
  }
}

/// The place beside the ends that a mirror there would show.
size_t mirrored(ptrdiff_t at, ptrdiff_t count) {
  if (at < 0) at = -at;
  if (at >= count) at = 2 * (count - 1) - at;
  return static_cast<size_t>(std::clamp<ptrdiff_t>(at, 0, count - 1));
}

/// What it costs to say each token in each frame: row by row, the negative mean of the heads.
std::vector<float> costs_of(const Attention& attention, size_t first, size_t frames) {
  const size_t rows = attention.tokens - first;
  std::vector<float> costs(rows * frames, 0);
  std::vector<float> head(frames * attention.tokens);
  const auto count = static_cast<ptrdiff_t>(frames);
  for (size_t h = 0; h < attention.heads; ++h) {
    const auto from = attention.weights.begin() + static_cast<ptrdiff_t>(h * attention.frames * attention.tokens);
    std::copy_n(from, head.size(), head.begin());
    normalise(head, attention.tokens);
    for (size_t row = 0; row < rows; ++row)
      for (ptrdiff_t frame = 0; frame < count; ++frame) {
        std::array<float, kMedianWidth> near{};
        for (ptrdiff_t off = 0; off < kMedianWidth; ++off)
          near[static_cast<size_t>(off)] =
              head[mirrored(frame + off - kMedianWidth / 2, count) * attention.tokens + first + row];
        std::nth_element(near.begin(), near.begin() + kMedianWidth / 2, near.end());
        costs[row * frames + static_cast<size_t>(frame)] -=
            near[kMedianWidth / 2] / static_cast<float>(attention.heads);
      }
  }
  return costs;
}

/// Steps of a path; the number is what a backtrace goes back by.
enum Step : uint8_t { kBoth, kRow, kFrame };

/// Which levels sound, of 10 ms each.
std::vector<bool> sounding(std::span<const float> samples) {
  std::vector<float> levels(samples.size() / kLevelSamples);
  for (size_t at = 0; at < levels.size(); ++at) {
    float sum = 0;
    for (const float sample : samples.subspan(at * kLevelSamples, kLevelSamples)) sum += sample * sample;
    levels[at] = std::isfinite(sum) ? std::sqrt(sum / kLevelSamples) : 0;
  }
  std::vector<float> sorted = levels;
  std::sort(sorted.begin(), sorted.end());
  const auto quantile = [&](float part) {
    return sorted.empty() ? 0 : sorted[static_cast<size_t>(part * static_cast<float>(sorted.size() - 1))];
  };
  const float loud = quantile(kLoudQuantile);
  const float limit = std::min(loud / 2, std::max(quantile(kQuietQuantile) * kAboveQuiet, loud * kPartOfLoud));
  std::vector<bool> sounds(levels.size());
  for (size_t at = 0; at < levels.size(); ++at) sounds[at] = levels[at] > limit;
  return sounds;
}

struct Stretch {
  size_t from = 0;
  size_t to = 0;
  size_t sounding = 0;
};

/// The stretch without a pause that has the most sound between two frames.
Stretch most_sounding(const std::vector<bool>& sounds, size_t from, size_t to) {
  Stretch best;
  Stretch now;
  for (size_t at = from; at < std::min(to, sounds.size()); ++at) {
    if (!sounds[at]) continue;
    if (now.sounding == 0 || at - now.to >= kClosure) now = {.from = at};
    now.to = at + 1;
    ++now.sounding;
    if (now.sounding > best.sounding) best = now;
  }
  return best;
}

}  // namespace

std::vector<size_t> token_frames(const Attention& attention, size_t first, size_t frames) {
  frames = std::min(frames, attention.frames);
  if (first >= attention.tokens || frames == 0 || attention.heads == 0) return {};
  const size_t rows = attention.tokens - first;
  const std::vector<float> costs = costs_of(attention, first, frames);
  constexpr float kNever = std::numeric_limits<float>::infinity();
  std::vector<float> before(frames + 1, kNever);
  std::vector<float> now(frames + 1);
  before[0] = 0;
  std::vector<Step> steps(rows * frames);
  for (size_t row = 0; row < rows; ++row) {
    now[0] = kNever;
    for (size_t frame = 0; frame < frames; ++frame) {
      const float both = before[frame];
      const float by_row = before[frame + 1];
      const float by_frame = now[frame];
      const Step step = both < by_row && both < by_frame ? kBoth : by_row < both && by_row < by_frame ? kRow : kFrame;
      steps[row * frames + frame] = step;
      now[frame + 1] = costs[row * frames + frame] + (step == kBoth ? both : step == kRow ? by_row : by_frame);
    }
    std::swap(before, now);
  }
  std::vector<size_t> starts(rows, 0);
  size_t row = rows - 1;
  size_t frame = frames - 1;
  for (;;) {
    starts[row] = frame;
    if (row == 0 && frame == 0) return starts;
    const Step step = row == 0 ? kFrame : frame == 0 ? kRow : steps[row * frames + frame];
    if (step != kFrame) --row;
    if (step != kRow) --frame;
  }
}

void fit_to_sound(std::vector<SpokenWord*>& words, std::span<const float> samples, double from) {
  const std::vector<bool> sounds = sounding(samples);
  const auto level_at = [&](double seconds) {
    return static_cast<size_t>(
        std::clamp(std::lround((seconds - from) * kLevelsPerSecond), 0L, static_cast<long>(sounds.size())));
  };
  std::vector<Stretch> places(words.size());
  for (size_t i = 0; i < words.size(); ++i) {
    const Stretch whole{.from = level_at(words[i]->start), .to = level_at(words[i]->end)};
    places[i] = most_sounding(sounds, whole.from, whole.to);
    if (places[i].sounding == 0) places[i] = whole;
  }
  for (size_t i = 0; i < words.size(); ++i) {
    Stretch& place = places[i];
    const size_t least = i == 0 ? 0 : places[i - 1].to;
    const size_t most = i + 1 == words.size() ? sounds.size() : std::max(place.to, places[i + 1].from);
    size_t quiet = 0;
    for (size_t at = place.from; at > least && quiet < kClosure; --at) {
      quiet = sounds[at - 1] ? 0 : quiet + 1;
      if (quiet == 0) place.from = at - 1;
    }
    quiet = 0;
    for (size_t at = place.to; at < most && quiet < kClosure; ++at) {
      quiet = sounds[at] ? 0 : quiet + 1;
      if (quiet == 0) place.to = at + 1;
    }
    words[i]->start = from + static_cast<double>(place.from) / kLevelsPerSecond;
    words[i]->end = from + static_cast<double>(place.to) / kLevelsPerSecond;
  }
}

}  // namespace quern
