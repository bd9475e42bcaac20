#pragma once

#include <array>

namespace quern {

/// Longest that a step is meant to take while answers are being written: what their readers wait between two tokens.
inline constexpr double kGapMs = 100;
/// The same while nobody reads: how long a cancelled prompt may go on, and the first of several wait for the others.
inline constexpr double kAloneMs = 250;

/**
 * How many tokens of prompts a step takes, by what steps have taken. The time of a step is seen as that of a step that
 * only writes, and so much a token of a prompt; both follow what is measured, and one odd step changes them little.
 */
class Pace {
 public:
  /**
   * Most tokens of prompts for a step that writes a token of each of `writing` sequences too. The step ends within
   * kGapMs, or within three times the time of a step that only writes where that is more; without writing, prompts
   * take kAloneMs, or eight times that time.
   */
  int prompt_tokens(int writing) const;
  /// Takes what a step took: it wrote a token of each of `writing` sequences and read `read` tokens of prompts.
  void observe(int writing, int read, double ms);

 private:
  /// Milliseconds of a step that only writes; of none, what reading the weights takes.
  double writing_ms(int writing) const;

  /// By the magnitude of the number of sequences; 0 = not known.
  std::array<double, 16> writing_ms_{};
  double read_ms_ = 0;  ///< of a token of a prompt; 0 = not known
};

}  // namespace quern
