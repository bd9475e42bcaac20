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
  for (size_t i = 0; i < runs_.size(); ++i) {
    if (runs_[i] < least) continue;
    int32_t& length = longest_[text_[text_.size() - 1 - i]];
    length = std::max(length, runs_[i]);
  }
  return longest_;
}

}  // namespace quern
