#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace quern::text {

/// Longest term in bytes; what is longer is cut into several.
constexpr size_t kMaxTermBytes = 128;
/// Most parts of one identifier; what follows them is another one.
constexpr size_t kMaxParts = 32;

/// How words become terms.
enum class Language { kNone, kEnglish };

/// A piece of a text that is found by itself.
struct Token {
  std::string_view term;  ///< valid until the next call
  uint32_t position;
  /// The whole of an identifier, at the position of its first part; it counts towards no length.
  bool whole = false;
  /// One character of an unspaced script without a neighbour after it: what stands for all pairs that begin with it.
  bool single = false;
  /// The word before stemming (not for pairs).
  std::string_view surface;
};

/**
 * Cuts a text into terms: words without case and accents, stemmed by language; identifiers (foo_bar, fooBar, v1.2.3,
 * E-1234, c++) in their parts and as a whole; unspaced scripts as overlapping pairs. Keeps its buffers: one per thread.
 */
class Analyzer {
 public:
  using Emit = std::function<void(const Token&)>;

  explicit Analyzer(Language language) : language_(language) {}
  /// Returns the number of positions, which is the text's length for BM25. In a query, pairs stand without the last
  /// character.
  uint32_t analyze(std::string_view utf8, bool query, const Emit& emit);
  /// The term of a word, which is in lower case.
  std::string_view stem(std::string_view word);

 private:
  struct Part {
    size_t begin;
    size_t end;
  };
  void flush_word(const Emit& emit);
  void flush_pairs(bool query, const Emit& emit);
  void add(char32_t code, bool letter, bool upper);
  void cut();
  bool contraction(std::string_view rest) const;
  void symbol(char32_t code, const Emit& emit);

  const Language language_;
  uint32_t position_ = 0;
  std::string word_;   ///< the parts one after another
  std::string whole_;  ///< the parts with the signs between digits
  std::vector<Part> parts_;
  size_t part_begin_ = 0;
  bool last_letter_ = false;
  bool last_upper_ = false;
  bool split_ = false;  ///< whether a boundary lay inside
  std::vector<std::string> units_;
  std::string stemmed_;
  std::unordered_map<std::string, std::string> stems_;  ///< of words met before
};

}  // namespace quern::text
