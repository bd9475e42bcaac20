#pragma once

#include <span>
#include <vector>

#include "options.hpp"

namespace quern {

/// How many tokens of `tag` a text ends with after `token`, when it ended with `matched` of them before.
size_t tokens_of_tag(std::span<const Token> tag, size_t matched, Token token);

/// Counts the tokens between two tags and says which token must come next once the budget is spent. One per sequence.
class Thinking {
 public:
  /// `budget` -1 = unlimited; an empty `end` switches everything off, an empty `start` means that only the prompt can
  /// open.
  Thinking(int budget, std::vector<Token> start, std::vector<Token> end, bool inside);

  bool inside() const { return inside_; }
  /// Tokens spent so far, without the tags.
  int count() const { return count_; }
  /// The token that has to be next, or -1 when the model may choose.
  Token forced() const;
  /// Takes the token that was chosen.
  void accept(Token token);

 private:
  std::vector<Token> start_;
  std::vector<Token> end_;
  int budget_;
  int count_ = 0;
  size_t matched_ = 0;  ///< tokens of the tag awaited now that the text ends with
  bool inside_;
};

}  // namespace quern
