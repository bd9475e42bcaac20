#include "thinking.hpp"

#include <utility>

namespace quern {

size_t tokens_of_tag(std::span<const Token> tag, size_t matched, Token token) {
  for (size_t length = matched + 1; length > 0; --length) {
    // Candidate: tag[0, length) = the last length-1 matched tokens followed by `token`.
    if (tag[length - 1] != token) continue;
    bool fits = true;
    for (size_t i = 0; fits && i + 1 < length; ++i) fits = tag[i] == tag[matched - (length - 1) + i];
    if (fits) return length;
  }
  return 0;
}

Thinking::Thinking(int budget, std::vector<Token> start, std::vector<Token> end, bool inside)
    : start_(std::move(start)), end_(std::move(end)), budget_(budget), inside_(inside && !end_.empty()) {
  if (end_.empty()) start_.clear();
}

Token Thinking::forced() const {
  if (!inside_ || budget_ < 0 || count_ - static_cast<int>(matched_) < budget_) return -1;
  return end_[matched_];
}

void Thinking::accept(Token token) {
  const std::vector<Token>& tag = inside_ ? end_ : start_;
  if (tag.empty()) return;
  if (inside_) ++count_;
  matched_ = tokens_of_tag(tag, matched_, token);
  if (matched_ < tag.size()) return;
  if (inside_) count_ -= static_cast<int>(end_.size());
  inside_ = !inside_;
  matched_ = 0;
}

}  // namespace quern
