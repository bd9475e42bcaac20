#include "inference/thinking.hpp"

#include <gtest/gtest.h>

namespace quern {
namespace {

void accept(Thinking& thinking, std::initializer_list<Token> tokens) {
  for (const Token token : tokens) thinking.accept(token);
}

TEST(Thinking, WithoutTagsNothingHappens) {
  Thinking thinking(0, {}, {}, true);
  EXPECT_FALSE(thinking.inside());
  EXPECT_EQ(thinking.forced(), -1);
  accept(thinking, {1, 2});
  EXPECT_EQ(thinking.count(), 0);
}

TEST(Thinking, CountsBetweenTheTags) {
  Thinking thinking(-1, {1, 2}, {3, 4}, false);
  accept(thinking, {9, 1, 2});
  EXPECT_TRUE(thinking.inside());
  accept(thinking, {7, 7, 3, 7, 3, 4});
  EXPECT_FALSE(thinking.inside());
  EXPECT_EQ(thinking.count(), 4);
  accept(thinking, {7, 7});
  EXPECT_EQ(thinking.count(), 4);
  EXPECT_EQ(thinking.forced(), -1);
}

TEST(Thinking, ForcesTheEndWhenTheBudgetIsSpent) {
  Thinking thinking(2, {1}, {3, 4}, true);
  EXPECT_EQ(thinking.forced(), -1);
  accept(thinking, {7, 7});
  EXPECT_EQ(thinking.forced(), 3);
  thinking.accept(3);
  EXPECT_EQ(thinking.forced(), 4);
  thinking.accept(4);
  EXPECT_EQ(thinking.forced(), -1);
  EXPECT_EQ(thinking.count(), 2);
}

TEST(Thinking, ABudgetOfNothingForcesAtOnce) {
  Thinking thinking(0, {1}, {3}, false);
  EXPECT_EQ(thinking.forced(), -1);
  thinking.accept(1);
  EXPECT_EQ(thinking.forced(), 3);
}

TEST(Thinking, AnEndThatHasBegunIsFinishedNotRepeated) {
  Thinking thinking(2, {1}, {3, 4, 5}, true);
  accept(thinking, {7, 3});
  EXPECT_EQ(thinking.forced(), -1) << "only one token of thinking so far";
  thinking.accept(4);
  EXPECT_EQ(thinking.forced(), -1);
  thinking.accept(7);  // it was no end after all
  EXPECT_EQ(thinking.count(), 4);
  EXPECT_EQ(thinking.forced(), 3);
}

TEST(Thinking, FindsATagThatOverlapsItself) {
  Thinking thinking(-1, {1}, {3, 3, 4}, true);
  accept(thinking, {3, 3, 3, 4});
  EXPECT_FALSE(thinking.inside());
  EXPECT_EQ(thinking.count(), 1);
}

TEST(Thinking, TheBudgetIsForTheWholeText) {
  Thinking thinking(3, {1}, {2}, false);
  accept(thinking, {1, 7, 7, 2, 1, 7});
  EXPECT_EQ(thinking.forced(), 2);
}

}  // namespace
}  // namespace quern
