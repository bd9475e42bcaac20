#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace quern::text {

/// What a code point is to the analyzer.
enum class Kind : uint8_t {
  kOther = 0,  ///< ends a word
  kLetter = 1,
  kDigit = 2,
  kMark = 3,      ///< belongs to the letter before it
  kUnspaced = 4,  ///< of a script written without spaces between words (CJK, Thai, ...): indexed as pairs
  kSymbol = 5,    ///< a word by itself, as emoji are
  kIgnored = 6,   ///< vanishes without ending a word: accents, soft hyphens, joiners
};

/// By the tables of Unicode that generated/unicode_tables.hpp names.
Kind kind_of(char32_t code);

/// Reads the code point at `at`, moves on, and gives U+FFFD for bytes that are no UTF-8. `at` must be inside.
char32_t decode(std::string_view utf8, size_t& at);

/// Appends as UTF-8.
void encode(char32_t code, std::string& out);

/// One code point of a text after folding.
struct Folded {
  char32_t code;
  Kind kind;
  bool upper;  ///< whether it was written as a capital
};

/**
 * Gives a text one code point after another without case, width, compatibility forms, and (for Latin, Greek, Cyrillic,
 * Hebrew and Arabic) accents. Hangul and kana that come in parts are composed, so that each text has one spelling.
 */
class FoldingReader {
 public:
  explicit FoldingReader(std::string_view utf8) : text_(utf8) {}
  /// False at the end. Never gives kIgnored.
  bool next(Folded& folded);

 private:
  bool raw(Folded& folded);

  std::string_view text_;
  size_t at_ = 0;
  const uint32_t* pending_ = nullptr;
  int pending_count_ = 0;
  bool pending_upper_ = false;
  Folded ahead_{};
  bool has_ahead_ = false;
};

}  // namespace quern::text
