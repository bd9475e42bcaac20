#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "options.hpp"

namespace quern {

/// Which tokens would continue a sequence that the text has had before: what DRY ("don't repeat yourself", the sampler
/// of p-e-w that llama.cpp has too) makes less likely. A token costs two passes over the text: 0.5 ns for each token of
/// it, 4 us after 8,000.
class Repeats {
 public:
  /// Takes the next token of the text.
  void accept(Token token);
  /// Forgets the text.
  void clear();
  /// Tokens, each with the length of the longest sequence that the text ends with and that stood before this token
  /// earlier; only sequences of `least` tokens or more. Valid until the next call.
  const std::unordered_map<Token, int32_t>& continuations(int32_t least);

 private:
  std::vector<Token> text_;
  std::vector<int32_t> runs_;  ///< at d - 1: how many tokens at the end are the same as those d places before them
  std::unordered_map<Token, int32_t> longest_;
};

}  // namespace quern
