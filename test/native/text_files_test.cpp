#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "text/index.hpp"
#include "text_reference.hpp"

namespace quern::text {
namespace {

using Content = std::vector<char>;

class TextFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() / ("quern-text-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    path = folder / "index.text";
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  Content read() const {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  /// Under a new inode, as every writer does: an index may have the old one mapped.
  void write(const Content& bytes) const {
    std::filesystem::remove(path);
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  /// Several segments with some documents gone.
  static void fill(TextIndex& index) {
    WordSource source(5);
    std::vector<std::string> texts;
    for (int round = 0; round < 5; ++round) {
      texts.clear();
      std::vector<Document> documents;
      for (int i = 0; i < 150; ++i) texts.push_back(source.text(30));
      for (uint32_t i = 0; i < 150; ++i) documents.push_back({static_cast<uint32_t>(source.random() % 2000), texts[i]});
      index.add(documents);
    }
    index.remove(std::vector<uint32_t>{1, 20, 300, 301, 302, 303, 304});
  }

  std::filesystem::path folder;
  std::string path;
};

TEST_F(TextFiles, ComeBackWithTheSameAnswersAndGrow) {
  TextIndex first({}), second({});
  fill(first);
  first.save(path, 9);
  ASSERT_EQ(second.load(path, 9).state, LoadState::kLoaded);
  EXPECT_EQ(second.stats().documents, first.stats().documents);
  WordSource source(6);
  SearchOptions options;
  const auto compare = [&] {
    for (int i = 0; i < 50; ++i) {
      const std::string query = source.query();
      options.prefix = i % 3 == 0;
      const Hits a = first.search(query, options), b = second.search(query, options);
      ASSERT_EQ(a.ids, b.ids);
      ASSERT_EQ(a.scores, b.scores);
    }
  };
  compare();
  // The file may go; the mapping stays.
  std::filesystem::remove(path);
  fill(first);
  fill(second);
  compare();
  TextIndex empty({});
  empty.save(path, 0);
  EXPECT_EQ(second.load(path, 0).state, LoadState::kLoaded);
  EXPECT_EQ(second.stats().documents, 0u);
  EXPECT_TRUE(second.search("the", {}).ids.empty());
}

TEST_F(TextFiles, SayWhatTheyAreNot) {
  TextIndex index({});
  EXPECT_EQ(index.load(path, 9).state, LoadState::kMissing);
  fill(index);
  index.save(path, 9);
  TextIndex other({.language = Language::kNone, .k1 = 1.2, .b = 0.75});
  EXPECT_EQ(other.load(path, 9).state, LoadState::kStale);
  TextIndex sharper({.language = Language::kEnglish, .k1 = 2, .b = 0.75});
  EXPECT_EQ(sharper.load(path, 9).state, LoadState::kStale);
  const uint64_t documents = index.stats().documents;
  EXPECT_EQ(index.load(path, 10).state, LoadState::kStale);
  EXPECT_EQ(index.stats().documents, documents) << "what was there stays";
}

TEST_F(TextFiles, AreRefusedWhenAnyByteIsWrong) {
  TextIndex index({});
  fill(index);
  index.save(path, 9);
  const Content good = read();
  ASSERT_GT(good.size(), 20u * 4096);
  const auto refused = [&](const Content& bytes, size_t at) {
    write(bytes);
    TextIndex loaded({});
    const LoadOutcome outcome = loaded.load(path, 9);
    ASSERT_EQ(outcome.state, LoadState::kCorrupt) << "at " << at;
    ASSERT_FALSE(outcome.reason.empty());
    ASSERT_EQ(loaded.stats().documents, 0u);
  };
  for (size_t at = 0; at < good.size(); at += 4096) {
    refused({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(at)}, at);
    for (const size_t byte : {at, at + 4095}) {
      if (byte >= good.size()) continue;
      Content bad = good;
      bad[byte] ^= 1;
      refused(bad, byte);
    }
  }
  std::mt19937 random(11);
  for (int i = 0; i < 2000; ++i) {
    Content bad = good;
    const size_t at = random() % bad.size();
    switch (random() % 3) {
      case 0:
        bad[at] ^= static_cast<char>(1 << random() % 8);
        break;
      case 1:
        bad.resize(at);
        break;
      default:
        for (size_t j = at; j < std::min(bad.size(), at + 64); ++j) bad[j] = static_cast<char>(bad[j] + 1);
    }
    refused(bad, at);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace quern::text
