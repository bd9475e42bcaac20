#include "encoder.hpp"

#include <algorithm>
#include <string>

#include "../base/failure.hpp"
#include "limits.hpp"

namespace quern::encoder {
namespace {

/// Throws for the first number that is not below `end`.
void require_below(std::span<const int32_t> numbers, size_t end, const char* name) {
  for (const int32_t number : numbers)
    if (number < 0 || static_cast<size_t>(number) >= end)
      throw Failure("invalid", std::string(name) + " holds " + std::to_string(number) + "; allowed is 0 to " +
                                   std::to_string(end - 1) + ".");
}

}  // namespace

Encoder::Encoder(const Shape& shape, const EncoderSource& source, size_t threads, Isa isa)
    : kernels_(encoder_kernels(isa)), packed_(kernels_, shape, source), team_(threads) {}

void Encoder::check(const Texts& texts) const {
  const Shape& shape = packed_.shape;
  if (texts.ids.size() > kMostTokens)
    throw Failure("too_large", "ids has " + std::to_string(texts.ids.size()) + " tokens; allowed are " +
                                   std::to_string(kMostTokens) + " in one call.");
  const size_t most = shape.positions - shape.first_position;
  size_t tokens = 0;
  for (const int32_t length : texts.lengths) {
    if (length < 1 || static_cast<size_t>(length) > most)
      throw Failure("invalid",
                    "lengths holds " + std::to_string(length) + "; allowed is 1 to " + std::to_string(most) + ".");
    tokens += static_cast<size_t>(length);
  }
  if (tokens != texts.ids.size())
    throw Failure("invalid", "lengths add up to " + std::to_string(tokens) + " tokens, ids has " +
                                 std::to_string(texts.ids.size()) + ".");
  require_below(texts.ids, shape.vocabulary, "ids");
  if (!texts.types.empty()) {
    if (texts.types.size() != tokens)
      throw Failure("invalid", "types has " + std::to_string(texts.types.size()) + " numbers, ids " +
                                   std::to_string(tokens) + ".");
    require_below(texts.types, std::max<size_t>(1, shape.types), "types");
  }
  const size_t rows = packed_.pools ? texts.lengths.size() : tokens;
  if (rows > kMostResults / packed_.outputs)
    throw Failure("too_large", std::to_string(rows) + " rows of " + std::to_string(packed_.outputs) +
                                   " numbers are more than one call gives; use several.");
}

Pass& Encoder::pass_for(size_t tokens, size_t longest) {
  if (!pass_ || pass_->tokens() < tokens || pass_->longest() < longest) {
    const size_t most_tokens = std::max({tokens, std::min(2 * tokens, kSliceTokens), pass_ ? pass_->tokens() : 0});
    const size_t most_longest = std::max(longest, pass_ ? pass_->longest() : 0);
    pass_.reset();
    pass_ = std::make_unique<Pass>(packed_, kernels_, team_, most_tokens, most_longest);
  }
  return *pass_;
}

std::vector<float> Encoder::run(const Texts& texts) {
  check(texts);
  const std::lock_guard lock(running_);
  const size_t rows = packed_.pools ? texts.lengths.size() : texts.ids.size();
  std::vector<float> results(rows * packed_.outputs);
  float* to = results.data();
  for (size_t text = 0, token = 0; text < texts.lengths.size();) {
    if (stopped_.load(std::memory_order_relaxed)) throw Failure("unavailable", "This encoder ends.");
    size_t end = text, tokens = 0, longest = 0;
    while (end < texts.lengths.size()) {
      const auto length = static_cast<size_t>(texts.lengths[end]);
      if (end > text && tokens + length > kSliceTokens) break;
      tokens += length;
      longest = std::max(longest, length);
      ++end;
    }
    pass_for(tokens, longest)
        .run({texts.ids.subspan(token, tokens), texts.lengths.subspan(text, end - text),
              texts.types.empty() ? texts.types : texts.types.subspan(token, tokens), to});
    to += (packed_.pools ? end - text : tokens) * packed_.outputs;
    token += tokens;
    text = end;
  }
  if (pass_ && pass_->bytes() > kKeptBytes) pass_.reset();
  return results;
}

}  // namespace quern::encoder
