#include "inference/repeats.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace quern {
namespace {

/// The same by its definition: for each place, how long a sequence before it the text ends with.
std::unordered_map<Token, int32_t> by_definition(const std::vector<Token>& text, int32_t least) {
  std::unordered_map<Token, int32_t> longest;
  for (size_t at = 1; at < text.size(); ++at) {
    int32_t length = 0;
    while (static_cast<size_t>(length) < at && text[at - 1 - length] == text[text.size() - 1 - length]) ++length;
    if (length < least) continue;
    longest[text[at]] = std::max(longest[text[at]], length);
  }
  return longest;
}

TEST(Repeats, AreThoseOfTheDefinition) {
  std::mt19937 random(1);
  for (const int vocabulary : {1, 2, 3, 10}) {
    for (const int32_t least : {1, 2, 5}) {
      Repeats repeats;
      std::vector<Token> text;
      EXPECT_TRUE(repeats.continuations(least).empty());
      for (int i = 0; i < 200; ++i) {
        text.push_back(static_cast<Token>(random() % vocabulary));
        repeats.accept(text.back());
        ASSERT_EQ(repeats.continuations(least), by_definition(text, least)) << vocabulary << " " << least << " " << i;
      }
    }
  }
}

TEST(Repeats, AreForgotten) {
  Repeats repeats;
  for (const Token token : {1, 2, 1}) repeats.accept(token);
  repeats.clear();
  repeats.accept(1);
  EXPECT_TRUE(repeats.continuations(1).empty());
}

}  // namespace
}  // namespace quern
