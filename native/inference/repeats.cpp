#include "repeats.hpp"

#include <algorithm>

namespace quern {

void Repeats::accept(Token token) {
  const size_t count = text_.size();
  runs_.resize(count);
  for (size_t i = 0; i < count; ++i) runs_[i] = text_[count - 1 - i] == token ? runs_[i] + 1 : 0;
  text_.push_back(token);
}

void Repeats::clear() {
  text_.clear();
  runs_.clear();
}

const std::unordered_map<Token, int32_t>& Repeats::continuations(int32_t least) {
  longest_.clear();
  Token last = -1;
  int32_t last_length = 0;
  for (size_t i = 0; i < runs_.size(); ++i) {
    if (runs_[i] < least) continue;
    const Token next = text_[text_.size() - 1 - i];
    // In a loop, all that it is made of goes on with the same token.
    if (next == last && runs_[i] <= last_length) continue;
    int32_t& length = longest_[next];
    last = next;
    last_length = length = std::max(length, runs_[i]);
  }
  return longest_;
}

}  // namespace quern
