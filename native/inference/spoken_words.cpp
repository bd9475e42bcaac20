#include "spoken_words.hpp"

#include <algorithm>
#include <array>

namespace quern {
namespace {

/// Bytes that a UTF-8 character of this first byte has; 1 for what begins none.
size_t character_length(unsigned char first) {
  return first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1;
}

/// Whether the last character of `text` is complete.
bool is_whole(std::string_view text) {
  size_t at = text.size();
  while (at > 0 && (static_cast<unsigned char>(text[at - 1]) & 0xC0) == 0x80) --at;
  if (at == 0) return text.empty();
  return text.size() - (at - 1) >= character_length(static_cast<unsigned char>(text[at - 1]));
}

/// Whether all of `text` is punctuation that follows a word, of Latin or of East Asian writing.
bool follows(std::string_view text) {
  constexpr std::array<std::string_view, 19> kMarks{".",  ",",  "!",  "?",  ":",  ";",  ")",  "]",  "}", "%",
                                                    "。", "、", "，", "！", "？", "：", "；", "」", "』"};
  if (text.empty()) return false;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, character_length(static_cast<unsigned char>(text.front())));
    if (std::find(kMarks.begin(), kMarks.end(), one) == kMarks.end()) return false;
    text.remove_prefix(one.size());
  }
  return true;
}

}  // namespace

std::vector<SpokenWord> join_words(const std::vector<SpokenToken>& tokens, bool has_spaces, double from, double to) {
  std::vector<SpokenWord> words;
  int count = 0;
  double last = from;
  for (const SpokenToken& token : tokens) {
    const bool begins = words.empty() || (has_spaces ? token.bytes.substr(0, 1) == " "
                                                     : is_whole(words.back().text) && !follows(token.bytes));
    const double start = std::clamp(token.start, last, to);
    const double end = std::clamp(token.end, start, to);
    if (begins) {
      words.push_back({.text = std::string(token.bytes), .start = start, .end = end, .probability = token.probability});
      count = 1;
    } else {
      SpokenWord& word = words.back();
      word.text += token.bytes;
      // A mark has no sound: what it takes is the pause behind the word.
      if (!follows(token.bytes)) word.end = end;
      word.probability += (token.probability - word.probability) / static_cast<float>(++count);
    }
    last = end;
  }
  return words;
}

}  // namespace quern
