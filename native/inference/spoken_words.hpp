#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace quern {

struct SpokenWord {
  std::string text;  ///< UTF-8, with the space before it that the model writes
  double start = 0;  ///< seconds
  double end = 0;
  float probability = 0;  ///< mean over its tokens
};

/// A token of a transcript: bytes, perhaps of a part of a character.
struct SpokenToken {
  std::string_view bytes;
  double start = 0;
  double end = 0;
  float probability = 0;
  int32_t id = 0;
  float log_probability = 0;
};

/**
 * Joins tokens into words: where a language writes spaces a word begins with one, else with each whole character;
 * punctuation belongs to the word before it, but what it takes of the time is a pause. Times never run backwards, nor
 * out of `from` to `to`.
 */
std::vector<SpokenWord> join_words(const std::vector<SpokenToken>& tokens, bool has_spaces, double from, double to);

}  // namespace quern
