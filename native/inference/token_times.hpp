#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "spoken_words.hpp"

namespace quern {

/// How much each token of a text looks at each moment of the audio, by the attention heads that follow the audio.
struct Attention {
  size_t tokens = 0;
  size_t frames = 0;  ///< of 20 ms
  size_t heads = 0;
  std::vector<float> weights;  ///< of token t, frame f and head h at (h * frames + f) * tokens + t
};

/**
 * When each token from `first` on is begun to be said, in frames: the cheapest path through the attention that never
 * goes back (dynamic time warping), as OpenAI's timing.py finds it. Only the first `frames` frames count. What token t
 * attends to is the audio of token t + 1. Empty where there is nothing to align.
 */
std::vector<size_t> token_frames(const Attention& attention, size_t first, size_t frames);

/**
 * Moves the edges of words to the sound that they have: attention tells which word a moment belongs to, and in a pause
 * it belongs to none. `samples` are 16 kHz mono and begin at second `from`; the words are in order, and none begins
 * before.
 */
void fit_to_sound(std::vector<SpokenWord*>& words, std::span<const float> samples, double from);

}  // namespace quern
