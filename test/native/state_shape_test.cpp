#include "inference/state_shape.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace quern {
namespace {

std::vector<uint8_t> bytes_of(const std::vector<uint32_t>& words) {
  std::vector<uint8_t> bytes(words.size() * sizeof(uint32_t));
  if (!words.empty()) std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

constexpr uint32_t kMagic = 0xfeed;
constexpr uint32_t kSlot = 2;

TEST(StateShape, IsTheSameFromAnySlotOfAnyBuffer) {
  const auto alone = bytes_of({kMagic, kSlot, 1, 5, 7, 8, 0});
  for (const auto& words : std::vector<std::vector<uint32_t>>{
           {kMagic, kSlot, 1, 5, 7, 8, 0},
           {kMagic, kSlot, 2, 5, 7, 8, 0, 0},
           {kMagic, kSlot, 4, 0, 0, 5, 7, 8, 0, 0},
           {kMagic, kSlot, 4, 0, 0, 0, 5, 7, 8, 0},
       }) {
    auto state = bytes_of(words);
    ASSERT_TRUE(fold_streams(state, words[2]));
    EXPECT_EQ(state, alone) << words[2];
  }
}

TEST(StateShape, FitsBuffersOfAnyShape) {
  const auto alone = bytes_of({kMagic, kSlot, 1, 5, 7, 8});
  EXPECT_EQ(unfold_streams(alone, 1), alone);
  EXPECT_EQ(unfold_streams(alone, 3), bytes_of({kMagic, kSlot, 3, 5, 7, 8, 0, 0}));
}

TEST(StateShape, LeavesAloneWhatItDoesNotKnow) {
  for (const auto& words : std::vector<std::vector<uint32_t>>{
           {},
           {kMagic, kSlot, 2},
           {kMagic, kSlot, 2, 0},
           {kMagic, kSlot, 3, 0, 0, 0},
           {kMagic, kSlot, 2, 5, 7, 8},
       }) {
    auto state = bytes_of(words);
    EXPECT_FALSE(fold_streams(state, 2));
    EXPECT_EQ(state, bytes_of(words));
  }
  EXPECT_TRUE(unfold_streams(bytes_of({kMagic, kSlot, 1}), 2).empty());
  EXPECT_TRUE(unfold_streams(bytes_of({kMagic, kSlot, 2, 5, 7}), 2).empty());
}

TEST(StateShape, KnowsAPlainBufferByAnEmptySequence) {
  EXPECT_EQ(plain_streams(bytes_of({kMagic, 0, 1, 0})), 1U);
  EXPECT_EQ(plain_streams(bytes_of({kMagic, 0, 3, 0, 0, 0})), 3U);
  EXPECT_EQ(plain_streams(bytes_of({kMagic, 0})), 0U) << "none at all";
  EXPECT_EQ(plain_streams(bytes_of({kMagic, 0, 2, 0, 0, 2, 0, 0})), 0U) << "one more for a window";
  EXPECT_EQ(plain_streams(bytes_of({kMagic, 0, 2, 0, 1})), 0U) << "cells";
  EXPECT_EQ(plain_streams(bytes_of({kMagic, 0, 0xffffffff, 0})), 0U);
}

}  // namespace
}  // namespace quern
