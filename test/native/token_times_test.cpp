#include "inference/token_times.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace quern {
namespace {

/// Attention of tokens each of which looks at a stretch of its own, all of the same length.
Attention staircase(size_t tokens, size_t frames_each, size_t heads = 2) {
  Attention made;
  made.tokens = tokens;
  made.frames = tokens * frames_each;
  made.heads = heads;
  made.weights.assign(made.tokens * made.frames * heads, 0.01f);
  for (size_t head = 0; head < heads; ++head)
    for (size_t frame = 0; frame < made.frames; ++frame)
      made.weights[(head * made.frames + frame) * tokens + frame / frames_each] = 1;
  return made;
}

TEST(TokenTimes, FollowTheAttention) {
  const auto frames = token_frames(staircase(6, 20), 0, 120);
  ASSERT_EQ(frames.size(), 6u);
  for (size_t token = 0; token < 6; ++token) EXPECT_NEAR(static_cast<double>(frames[token]), 20.0 * token, 2);
}

TEST(TokenTimes, NeverGoBackAndStayWithinTheAudioThatCounts) {
  for (const size_t frames : {1, 2, 3, 4, 7, 8, 60}) {
    const auto found = token_frames(staircase(6, 10), 2, frames);
    ASSERT_EQ(found.size(), 4u) << frames;
    for (size_t at = 0; at < found.size(); ++at) {
      EXPECT_LT(found[at], frames);
      EXPECT_GE(found[at], found[at == 0 ? 0 : at - 1]);
    }
  }
}

TEST(TokenTimes, AreNoneWhereThereIsNothingToAlign) {
  EXPECT_TRUE(token_frames({}, 0, 10).empty());
  EXPECT_TRUE(token_frames(staircase(3, 4), 3, 12).empty());
  EXPECT_TRUE(token_frames(staircase(3, 4), 0, 0).empty());
  Attention broken = staircase(3, 4);
  broken.weights.assign(broken.weights.size(), std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(token_frames(broken, 0, 12).size(), 3u);
}

/// Words at the given times, and sound where `sounds` says.
struct Scene {
  std::vector<SpokenWord> words;
  std::vector<float> samples;

  Scene(std::vector<std::pair<double, double>> times, const std::vector<std::pair<double, double>>& sounds, double from,
        double to)
      : samples(static_cast<size_t>((to - from) * 16'000)) {
    for (const auto& [start, end] : times) words.push_back({.text = "w", .start = start, .end = end});
    for (const auto& [start, end] : sounds)
      for (auto at = static_cast<size_t>((start - from) * 16'000); at < static_cast<size_t>((end - from) * 16'000);
           ++at)
        samples[at] = 0.3f * std::sin(static_cast<float>(at) * 0.2f);
    std::vector<SpokenWord*> placed;
    for (SpokenWord& word : words) placed.push_back(&word);
    fit_to_sound(placed, samples, from);
  }

  void expect(size_t word, double start, double end) const {
    EXPECT_NEAR(words[word].start, start, 0.011) << word;
    EXPECT_NEAR(words[word].end, end, 0.011) << word;
  }
};

TEST(TokenTimes, LeaveAPauseToNobody) {
  const Scene scene({{0, 1.2}, {1.2, 3}}, {{0.3, 0.8}, {1.5, 2}}, 0, 3);
  scene.expect(0, 0.3, 0.8);
  scene.expect(1, 1.5, 2);
}

TEST(TokenTimes, GiveTheEndOfAWordBackToIt) {
  // The border of the words is 60 ms too early: the second has the end of the first.
  const Scene scene({{5, 5.74}, {5.74, 7}}, {{5.3, 5.8}, {6.5, 7}}, 5, 8);
  scene.expect(0, 5.3, 5.8);
  scene.expect(1, 6.5, 7);
}

TEST(TokenTimes, KeepAClosureOfTheLipsWithinAWord) {
  const Scene scene({{0, 1}, {1, 2}}, {{0.2, 0.5}, {0.56, 0.7}, {1.4, 1.6}}, 0, 2);
  scene.expect(0, 0.2, 0.7);
  scene.expect(1, 1.4, 1.6);
}

TEST(TokenTimes, LeaveWordsWithoutSoundWhereTheyAre) {
  const Scene silent({{0.2, 0.5}, {0.5, 0.9}}, {}, 0, 1);
  silent.expect(0, 0.2, 0.5);
  silent.expect(1, 0.5, 0.9);
  const Scene empty({{3, 3}}, {}, 3, 3);
  empty.expect(0, 3, 3);
}

}  // namespace
}  // namespace quern
