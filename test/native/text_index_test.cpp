#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "base/failure.hpp"
#include "text/index.hpp"
#include "text_reference.hpp"

namespace quern::text {
namespace {

void add(TextIndex& index, const std::vector<std::pair<uint32_t, std::string>>& texts) {
  std::vector<Document> documents;
  for (const auto& [id, text] : texts) documents.push_back({id, text});
  index.add(documents);
}

SearchOptions first(uint32_t k) {
  SearchOptions options;
  options.k = k;
  return options;
}

void expect_same(const TextIndex& index, const Reference& reference, const std::string& query,
                 const SearchOptions& options) {
  const Hits hits = index.search(query, options);
  const auto wanted = reference.search(query, options);
  ASSERT_EQ(hits.ids.size(), std::min<size_t>(options.k, wanted.size())) << query;
  if (wanted.size() < options.k) {
    EXPECT_EQ(hits.matched, wanted.size()) << query;
  }
  for (size_t i = 0; i < hits.ids.size(); ++i) {
    ASSERT_NEAR(hits.scores[i], wanted[i].second, 1e-5 * std::max(1.0, wanted[i].second)) << query << " at " << i;
    // Scores that differ by rounding alone may stand in either order.
    const bool tied = (i > 0 && wanted[i - 1].second - wanted[i].second < 1e-9) ||
                      (i + 1 < wanted.size() && wanted[i].second - wanted[i + 1].second < 1e-9);
    if (!tied) {
      ASSERT_EQ(hits.ids[i], wanted[i].first) << query << " at " << i;
    }
  }
  SearchOptions every = options;
  every.exhaustive = true;
  const Hits complete = index.search(query, every);
  ASSERT_EQ(hits.ids, complete.ids) << query;
  ASSERT_EQ(hits.scores, complete.scores) << query;
  ASSERT_EQ(complete.matched, wanted.size()) << query;
}

TEST(TextIndex, FindsWhatAnExhaustiveReferenceFinds) {
  for (const Language language : {Language::kEnglish, Language::kNone}) {
    const IndexOptions bm25{.language = language, .k1 = 1.2, .b = 0.75};
    TextIndex index(bm25);
    Reference reference(bm25);
    WordSource source(language == Language::kEnglish ? 7 : 8);
    for (int round = 0; round < 60; ++round) {
      std::vector<std::pair<uint32_t, std::string>> batch;
      for (auto count = source.random() % 60; count > 0; --count)
        batch.emplace_back(source.random() % 3000, source.text(round % 10 == 0 ? 300 : 30));
      add(index, batch);
      for (const auto& [id, text] : batch) reference.add(id, text);
      std::vector<uint32_t> ids;
      for (auto count = source.random() % 20; count > 0; --count) ids.push_back(source.random() % 3000);
      uint64_t removed = 0;
      for (const uint32_t id : ids) removed += reference.remove(id);
      ASSERT_EQ(index.remove(ids), removed);
      ASSERT_EQ(index.stats().documents, reference.size());
      for (int i = 0; i < 5; ++i) {
        SearchOptions options = first(1 + source.random() % 20);
        options.all_words = source.random() % 3 == 0;
        options.prefix = source.random() % 3 == 0;
        if (source.random() % 3 == 0) {
          options.filtered = true;
          options.filter.resize(source.random() % 400);
          for (uint8_t& bits : options.filter) bits = static_cast<uint8_t>(source.random());
        }
        expect_same(index, reference, source.query(), options);
      }
    }
  }
}

TEST(TextIndex, SkipsInLargeSegmentsWithoutLosingAnything) {
  const IndexOptions bm25;
  TextIndex index(bm25);
  Reference reference(bm25);
  WordSource source(3);
  std::vector<std::pair<uint32_t, std::string>> batch;
  for (uint32_t id = 0; id < 6000; ++id) batch.emplace_back(id * 3, source.text(id % 50 == 0 ? 200 : 12));
  add(index, batch);
  for (const auto& [id, text] : batch) reference.add(id, text);
  uint64_t looked_at = 0, matching = 0;
  for (int i = 0; i < 60; ++i) {
    const std::string query = source.query();
    SearchOptions options = first(5);
    options.all_words = i % 4 == 0;
    expect_same(index, reference, query, options);
    looked_at += index.search(query, options).matched;
    matching += reference.search(query, options).size();
  }
  EXPECT_LT(looked_at, matching * 3 / 4) << "block maxima leave out nothing";
}

TEST(TextIndex, ScoresAsLucene) {
  // By hand: N = 2, n = 1, idf = ln(1 + 1.5 / 1.5) = ln 2; length 2, mean 2.5.
  TextIndex index({.language = Language::kNone, .k1 = 1.2, .b = 0.75});
  add(index, {{4, "red fox"}, {9, "blue whale sings"}});
  const Hits hits = index.search("fox", first(10));
  ASSERT_EQ(hits.ids, std::vector<uint32_t>{4});
  EXPECT_NEAR(hits.scores[0], std::log(2.0) * 1 / (1 + 1.2 * (0.25 + 0.75 * 2 / 2.5)), 1e-6);
}

std::vector<uint32_t> found(const TextIndex& index, const std::string& query, bool all_words = false,
                            bool prefix = false) {
  SearchOptions options = first(100);
  options.all_words = all_words;
  options.prefix = prefix;
  auto ids = index.search(query, options).ids;
  std::sort(ids.begin(), ids.end());
  return ids;
}

using Ids = std::vector<uint32_t>;

TEST(TextIndex, FindsIdentifiersByWholeAndByPart) {
  TextIndex index({});
  add(index, {{1, "call foo_bar() now"},
              {2, "call fooBar() now"},
              {3, "release v1.2.3 is out"},
              {4, "error E-1234 again"},
              {5, "written in C++ and C#"},
              {6, "the HTTPServer class"},
              {7, "don't stop O'Brien"},
              {8, "a well-known caf\u00e9"}});
  for (const char* query : {"foo_bar", "fooBar", "foobar", "FOO", "bar", "foo-bar"})
    EXPECT_EQ(found(index, query), (Ids{1, 2})) << query;
  for (const char* query : {"v1.2.3", "1.2.3", "v1.2"}) EXPECT_EQ(found(index, query, true), Ids{3}) << query;
  for (const char* query : {"E-1234", "e1234", "1234"}) EXPECT_EQ(found(index, query, true), Ids{4}) << query;
  EXPECT_EQ(index.search("c++", first(1)).ids, Ids{5});
  for (const char* query : {"HTTPServer", "http server", "httpserver"}) EXPECT_EQ(found(index, query), Ids{6}) << query;
  for (const char* query : {"don't", "dont", "obrien", "O'Brien", "brien", "don\u2019t"})
    EXPECT_EQ(found(index, query), Ids{7}) << query;
  for (const char* query : {"cafe", "CAF\u00c9", "cafe\u0301", "well known", "wellknown"})
    EXPECT_EQ(found(index, query, true), Ids{8}) << query;
}

TEST(TextIndex, UnderstandsPhrasesSignsAndBeginnings) {
  TextIndex index({});
  add(index, {{1, "the quick brown fox was running"},
              {2, "brown quick fox"},
              {3, "a happiness study"},
              {4, "\u6771\u4eac\u5927\u5b66\u3068\u732b"},
              {5, "\u9ed2\u732b"}});
  EXPECT_EQ(found(index, "\"quick brown\""), Ids{1});
  EXPECT_EQ(found(index, "\"brown quick"), Ids{2});
  EXPECT_EQ(found(index, "fox -\"quick brown\""), Ids{2});
  EXPECT_EQ(found(index, "+running fox"), Ids{1});
  EXPECT_EQ(found(index, "fox -runs"), Ids{2});
  EXPECT_EQ(found(index, "-fox"), Ids{});
  EXPECT_EQ(found(index, "brown runs", true), Ids{1});
  for (const char* query : {"r", "ru", "run", "runn", "runni", "running"})
    EXPECT_EQ(found(index, query, false, true), Ids{1}) << query;
  for (const char* query : {"happ", "happi", "happin", "happines", "happy"})
    EXPECT_EQ(found(index, query, false, true), Ids{3}) << query;
  EXPECT_EQ(found(index, "\u732b"), (Ids{4, 5}));
  EXPECT_EQ(found(index, "\u5927\u5b66"), Ids{4});
  EXPECT_EQ(found(index, "\"\u6771\u4eac\u5927\u5b66\""), Ids{4});
  EXPECT_EQ(found(index, ""), Ids{});
  EXPECT_EQ(found(index, "\" +-\""), Ids{});
}

TEST(TextIndex, KeepsItsLimits) {
  TextIndex index({});
  const auto kind = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const Failure& failure) {
      return failure.kind();
    }
    return "";
  };
  EXPECT_EQ(kind([&] { add(index, {{1, std::string(kMaxTextBytes + 1, 'a')}}); }), "too_large");
  EXPECT_EQ(kind([&] { add(index, {{UINT32_MAX, "a"}}); }), "invalid");
  std::string words;
  for (size_t i = 0; i <= kMaxQueryTerms; ++i)
    words += "w" + std::string(1, static_cast<char>('a' + i % 26)) + std::string(1 + i / 26, 'x') + " ";
  EXPECT_EQ(kind([&] { index.search(words, first(1)); }), "too_large");
  EXPECT_EQ(kind([&] { index.search(std::string(kMaxQueryBytes + 1, 'a'), first(1)); }), "too_large");
  EXPECT_EQ(kind([&] { index.search("a", first(kMaxHits + 1)); }), "invalid");
  for (const IndexOptions bad : {IndexOptions{.language = Language::kNone, .k1 = -1, .b = 0},
                                 IndexOptions{.language = Language::kNone, .k1 = NAN, .b = 0},
                                 IndexOptions{.language = Language::kNone, .k1 = 1, .b = 1.5}})
    EXPECT_EQ(kind([&] { TextIndex refused(bad); }), "invalid");
  // Hostile shapes: one endless word, one endless identifier, bytes that are no UTF-8.
  std::string identifier;
  for (int i = 0; i < 100000; ++i) identifier += "a_1";
  add(index, {{1, std::string(1 << 20, 'q')}, {2, identifier}, {3, "\xff\xfe\xc0\x80 ok \xe2\x82"}, {4, ""}});
  EXPECT_EQ(found(index, "ok"), Ids{3});
  EXPECT_EQ(index.stats().documents, 4u);
}

TEST(TextIndex, BreakingOffAtZeroK1ScoresByPresence) {
  TextIndex index({.language = Language::kNone, .k1 = 0, .b = 0});
  add(index, {{1, "a a a"}, {2, "a"}, {3, "b"}});
  const Hits hits = index.search("a", first(2));
  EXPECT_EQ(hits.ids, (Ids{1, 2}));
  EXPECT_EQ(hits.scores[0], hits.scores[1]);
}

TEST(TextIndex, SearchesSeeOneMomentBesideAWriter) {
  TextIndex index({});
  // Every batch holds each id once with the same word, so that any consistent moment has 0 or 200 documents.
  const auto batch = [](int round) {
    std::vector<std::pair<uint32_t, std::string>> texts;
    for (uint32_t id = 0; id < 200; ++id) texts.emplace_back(id, "common round" + std::string(round % 5 + 1, 'x'));
    return texts;
  };
  add(index, batch(0));
  std::atomic<bool> done = false;
  std::atomic<int> wrong = 0, searches = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i)
    readers.emplace_back([&] {
      while (!done || searches < 10) {
        const Hits hits = index.search("common", first(300));
        wrong += hits.ids.size() != 200 || hits.matched != 200;
        ++searches;
      }
    });
  for (int round = 1; round < 60; ++round) add(index, batch(round));
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(index.stats().documents, 200u);
}

}  // namespace
}  // namespace quern::text
