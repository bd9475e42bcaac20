#include "pace.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace quern {
namespace {

/// Tokens of a step about which nothing is known.
constexpr int kFirstTokens = 128;
/// Fewer would read the weights over and over for next to nothing.
constexpr int kLeastTokens = 64;
constexpr int kMostTokens = 1 << 16;
/// Least time of the prompts of a step, in that of a step that only writes: what a step costs whatever its size must
/// not be most of it.
constexpr double kShare = 2;
constexpr double kAloneShare = 8;
/// Share of the difference that one step makes up for.
constexpr double kWeight = 0.4;
/// A step with this many tokens of prompts counts half; of fewer, little can be told.
constexpr double kHalfWeight = 32;
/// One step is taken for at most this many times as slow, or as fast, as what was known.
constexpr double kOdd = 3;

void follow(double& known, double sample, double weight) {
  if (known <= 0)
    known = sample;
  else
    known += weight * (std::clamp(sample, known / kOdd, known * kOdd) - known);
}

}  // namespace

double Pace::writing_ms(int writing) const {
  // What is not known yet takes at least as long as fewer sequences.
  for (int size = std::bit_width(static_cast<unsigned>(std::max(1, writing))); size > 0; --size) {
    const double known = writing_ms_[std::min<size_t>(size, writing_ms_.size()) - 1];
    if (known > 0) return known;
  }
  return 0;
}

int Pace::prompt_tokens(int writing) const {
  if (read_ms_ <= 0) return kFirstTokens;
  const double base = writing_ms(writing);
  const double room = writing > 0 ? std::max(kGapMs - base, kShare * base) : std::max(kAloneMs, kAloneShare * base);
  return static_cast<int>(std::clamp<double>(room / read_ms_, kLeastTokens, kMostTokens));
}

void Pace::observe(int writing, int read, double ms) {
  if (ms <= 0) return;
  if (read == 0) {
    const size_t size = std::bit_width(static_cast<unsigned>(std::max(1, writing)));
    follow(writing_ms_[std::min(size, writing_ms_.size()) - 1], ms, kWeight);
    return;
  }
  const double weight = kWeight * read / (read + kHalfWeight);
  const double base = writing_ms(writing);
  const double expected = base + read * read_ms_;
  // A machine that becomes busy slows both; what share of it is whose, steps that only write tell.
  for (double& known : writing_ms_)
    if (read_ms_ > 0 && known > 0) follow(known, known * ms / expected, weight);
  follow(read_ms_, read_ms_ > 0 ? read_ms_ * ms / expected : std::max(ms - base, ms / 4) / read, weight);
}

}  // namespace quern
