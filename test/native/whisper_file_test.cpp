#include "inference/whisper_file.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "base/failure.hpp"
#include "inference/spoken_words.hpp"

namespace quern {
namespace {

constexpr int32_t kWidth = 4;
constexpr int32_t kTextContext = 16;
constexpr int32_t kVocabulary = 51864;

/// A file of the smallest model, whose numbers can be changed before it is written.
struct Writer {
  std::string bytes;

  void number(int32_t value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); }

  void tensor(const std::string& name, const std::vector<int32_t>& shape) {
    number(static_cast<int32_t>(shape.size()));
    number(static_cast<int32_t>(name.size()));
    number(0);
    size_t values = 1;
    for (const int32_t length : shape) {
      number(length);
      values *= static_cast<size_t>(length);
    }
    bytes += name;
    bytes.append(values * sizeof(float), '\0');
  }

  void norm(const std::string& name) {
    tensor(name + ".weight", {kWidth});
    tensor(name + ".bias", {kWidth});
  }

  void dense(const std::string& name, int32_t out, int32_t in, bool bias = true) {
    tensor(name + ".weight", {in, out});
    if (bias) tensor(name + ".bias", {out});
  }

  void attention(const std::string& name) {
    norm(name + "_ln");
    for (const char* part : {".query", ".key", ".value", ".out"})
      dense(name + part, kWidth, kWidth, std::string(part) != ".key");
  }

  void layer(const std::string& at) {
    norm(at + "mlp_ln");
    dense(at + "mlp.0", 4 * kWidth, kWidth);
    dense(at + "mlp.2", kWidth, 4 * kWidth);
    attention(at + "attn");
    if (at.front() == 'd') attention(at + "cross_attn");
  }
};

std::string whole() {
  Writer out;
  for (const int32_t value : {0x67676d6c, kVocabulary, 1500, kWidth, 2, 1, kTextContext, kWidth, 2, 1, 80, 0, 80, 201})
    out.number(value);
  out.bytes.append(80 * 201 * sizeof(float), '\0');
  out.number(2);
  out.number(0);
  out.number(1);
  out.bytes += ' ';
  out.tensor("encoder.positional_embedding", {kWidth, 1500});
  out.tensor("encoder.conv1.weight", {3, 80, kWidth});
  out.tensor("encoder.conv1.bias", {1, kWidth});
  out.tensor("encoder.conv2.weight", {3, kWidth, kWidth});
  out.tensor("encoder.conv2.bias", {1, kWidth});
  out.norm("encoder.ln_post");
  out.norm("decoder.ln");
  out.tensor("decoder.positional_embedding", {kWidth, kTextContext});
  out.tensor("decoder.token_embedding.weight", {kWidth, kVocabulary});
  out.layer("encoder.blocks.0.");
  out.layer("decoder.blocks.0.");
  return out.bytes;
}

std::string reason(const std::string& bytes) {
  std::istringstream in(bytes);
  try {
    check_whisper_file(in, bytes.size(), "a.bin");
    return "";
  } catch (const Failure& failure) {
    EXPECT_STREQ(failure.kind(), "invalid");
    return failure.what();
  }
}

TEST(WhisperFile, TakesAWholeOne) {
  const std::string bytes = whole();
  std::istringstream in(bytes);
  const WhisperShape shape = check_whisper_file(in, bytes.size(), "a.bin");
  EXPECT_EQ(shape.audio_width, kWidth);
  EXPECT_FALSE(shape.multilingual());
}

TEST(WhisperFile, RefusesEachCut) {
  const std::string bytes = whole();
  for (size_t size = 0; size < bytes.size(); size += size < 2000 ? 1 : 3001)
    EXPECT_NE(reason(bytes.substr(0, size)), "") << size;
  EXPECT_NE(reason(bytes + "x"), "");
}

TEST(WhisperFile, RefusesWhatIsTwiceMissingOrOfAnotherShape) {
  const std::string bytes = whole();
  Writer more;
  more.bytes = bytes;
  more.norm("decoder.ln");
  EXPECT_NE(reason(more.bytes).find("is there twice"), std::string::npos);
  Writer other;
  other.bytes = bytes;
  other.tensor("decoder.blocks.1.attn.out.bias", {kWidth});
  EXPECT_NE(reason(other.bytes).find("no model of its shape"), std::string::npos);
  std::string renamed = bytes;
  renamed.replace(renamed.find("decoder.blocks.0.mlp.2.bias"), 27, "encoder.blocks.0.mlp.2.bias");
  EXPECT_NE(reason(renamed), "");
}

TEST(WhisperFile, SurvivesAnyBytes) {
  std::string bytes = whole();
  std::mt19937 random(3);
  const size_t head = 14 * sizeof(int32_t);
  for (int round = 0; round < 500; ++round) {
    std::string damaged = bytes;
    // Mostly where numbers stand: in the head, and behind the filters.
    for (int change = 0; change < 4; ++change) {
      const size_t at = change < 2 ? random() % head : random() % damaged.size();
      damaged[at] = static_cast<char>(random());
    }
    reason(damaged);
  }
}

TEST(SpokenWords, BeginWithASpaceAndKeepTheirMarks) {
  const std::vector<SpokenToken> tokens{
      {" He", 0, 0.2, 1}, {"llo", 0.2, 0.4, 0.5}, {",", 0.4, 0.5, 1}, {" you", 0.3, 7, 1}, {".", 7, 9, 1}};
  const auto words = join_words(tokens, true, 0, 1);
  ASSERT_EQ(words.size(), 2u);
  EXPECT_EQ(words[0].text, " Hello,");
  EXPECT_EQ(words[1].text, " you.");
  EXPECT_NEAR(words[0].probability, 2.5 / 3, 1e-6);
  EXPECT_EQ(words[0].end, 0.4) << "a comma has no sound";
  EXPECT_EQ(words[1].start, 0.5) << "times do not run backwards";
  EXPECT_EQ(words[1].end, 1) << "nor out of the segment";
}

TEST(SpokenWords, AreWholeCharactersWhereNobodyWritesSpaces) {
  const std::string text = "你好。";
  const std::string_view all(text);
  const std::vector<SpokenToken> tokens{
      {all.substr(0, 2), 0, 1, 1}, {all.substr(2, 1), 1, 2, 1}, {all.substr(3, 3), 2, 3, 1}, {all.substr(6), 3, 3, 1}};
  const auto words = join_words(tokens, false, 0, 9);
  ASSERT_EQ(words.size(), 2u);
  EXPECT_EQ(words[0].text, "你");
  EXPECT_EQ(words[1].text, "好。");
}

}  // namespace
}  // namespace quern
