#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "base/failure.hpp"
#include "storage/checked_file.hpp"
#include "vector_fixture.hpp"

namespace quern::vectors {
namespace {

using Bytes = std::vector<char>;

Bytes read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Under a new inode, as every writer does: an index may have the old one mapped.
void write_file(const std::string& path, const Bytes& bytes) {
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

class VectorFiles : public testing::Test {
 protected:
  static constexpr size_t kDimensions = 16, kRows = 3000;
  IndexOptions options(Storage storage = Storage::kI8, size_t scan_below = 1000) const {
    return {.dimensions = kDimensions, .storage = storage, .scan_below = scan_below};
  }
  /// A file with rows, dead rows and a graph.
  Bytes saved(const IndexOptions& with) {
    VectorIndex index(with);
    index.add(count_up(kRows), clustered(kRows, kDimensions, 1));
    index.remove(count_up(100, 50));
    index.settle();
    index.save(path, 7);
    return read_file(path);
  }
  Folder folder;
  const std::string path = folder.file("index.vectors");
};

TEST_F(VectorFiles, ComeBackWithTheSameAnswers) {
  const std::vector<float> queries = clustered(30, kDimensions, 2);
  for (const Storage storage : {Storage::kF32, Storage::kF16, Storage::kI8}) {
    VectorIndex first(options(storage)), second(options(storage));
    first.add(count_up(kRows), clustered(kRows, kDimensions, 1));
    first.remove(count_up(100, 50));
    first.settle();
    first.save(path, 7);
    EXPECT_FALSE(std::filesystem::exists(path + ".tmp"));
    ASSERT_EQ(second.load(path, 7).state, LoadState::kLoaded);
    EXPECT_EQ(second.stats().rows, first.stats().rows);
    EXPECT_EQ(second.stats().dead, first.stats().dead);
    EXPECT_EQ(second.stats().graph_rows, first.stats().graph_rows);
    for (const bool grown : {false, true}) {
      if (grown)
        for (VectorIndex* index : {&first, &second}) {
          index->add(count_up(1000, 2900), clustered(1000, kDimensions, 3));
          index->settle();
        }
      for (size_t q = 0; q < 30; ++q) {
        const auto query = row_of(queries, q, kDimensions);
        const Answer a = first.search(query, {.k = 10}), b = second.search(query, {.k = 10});
        ASSERT_EQ(a.hits.size(), b.hits.size());
        if (!grown) {
          EXPECT_EQ(b.plan, Plan::kGraph);
        }
        for (size_t i = 0; i < a.hits.size() && !grown; ++i) {
          EXPECT_EQ(a.hits[i].id, b.hits[i].id);
          EXPECT_EQ(a.hits[i].score, b.hits[i].score);
        }
        EXPECT_GE(recall(a, b), 0.9);
      }
    }
  }
}

TEST_F(VectorFiles, SayWhatTheyAreNot) {
  const IndexOptions with = options();
  VectorIndex index(with);
  EXPECT_EQ(index.load(path, 7).state, LoadState::kMissing);
  const Bytes good = saved(with);
  EXPECT_EQ(index.load(path, 8).state, LoadState::kStale);
  EXPECT_EQ(index.load(folder.path.string(), 7).state, LoadState::kCorrupt);
  VectorIndex other({.dimensions = kDimensions + 1, .storage = Storage::kI8, .scan_below = 1000});
  EXPECT_EQ(other.load(path, 7).state, LoadState::kStale);
  EXPECT_EQ(index.stats().rows, 0u) << "nothing was taken";
  write_file(path, {});
  EXPECT_EQ(index.load(path, 7).state, LoadState::kCorrupt);
  Bytes longer = good;
  longer.push_back(0);
  write_file(path, longer);
  EXPECT_EQ(index.load(path, 7).state, LoadState::kCorrupt);
  EXPECT_THROW(index.save(folder.file("missing/index"), 1), Failure);
  VectorIndex empty(with);
  empty.save(path, 9);
  EXPECT_EQ(index.load(path, 9).state, LoadState::kLoaded);
}

TEST_F(VectorFiles, NoticeEveryCutAndEveryFlippedBit) {
  const IndexOptions with = options();
  const Bytes good = saved(with);
  VectorIndex index(with);
  const auto refused = [&](const Bytes& bytes, size_t where) {
    write_file(path, bytes);
    const LoadOutcome outcome = index.load(path, 7);
    EXPECT_EQ(outcome.state, LoadState::kCorrupt) << "at " << where;
    EXPECT_FALSE(outcome.reason.empty());
  };
  for (size_t at = 0; at < good.size(); at += kPageBytes) {
    refused(Bytes(good.begin(), good.begin() + static_cast<ptrdiff_t>(at)), at);
    Bytes flipped = good;
    flipped[at] = static_cast<char>(flipped[at] ^ 4);
    refused(flipped, at);
  }
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    Bytes bytes = good;
    const size_t at = random() % bytes.size();
    if (i % 4 == 0) {
      bytes.resize(at);
    } else {
      const auto flip = static_cast<char>(1 << random() % 8);
      bytes[at] = static_cast<char>(bytes[at] ^ flip);
    }
    refused(bytes, at);
  }
  EXPECT_EQ(index.stats().rows, 0u);
  write_file(path, good);
  EXPECT_EQ(index.load(path, 7).state, LoadState::kLoaded);
}

TEST_F(VectorFiles, AGraphThatLiesIsRefusedThoughItsChecksumsAreRight) {
  const IndexOptions with = options(Storage::kF32);
  State state(with);
  VectorIndex index(with);
  Graph graph(with);
  const Scoring scoring(with);
  const std::vector<float> points = clustered(200, kDimensions, 1);
  std::vector<Half> half;
  for (uint32_t row = 0; row < 200; ++row) {
    state.rows.append(row, scoring.encode(scoring.query(row_of(points, row, kDimensions), "row"), half));
    graph.add(scoring, state.rows, row);
  }
  std::vector<std::byte> links;
  graph.write([&](const void* bytes, size_t size) {
    const auto* from = static_cast<const std::byte*>(bytes);
    links.insert(links.end(), from, from + size);
  });
  const std::vector<uint32_t> order(graph.order().begin(), graph.order().end());
  const Query query = scoring.query(row_of(points, 3, kDimensions), "query");
  std::mt19937 random(2);
  size_t taken = 0;
  for (int i = 0; i < 3000; ++i) {
    std::vector<std::byte> lie = links;
    std::vector<uint32_t> places = order;
    if (i % 10 == 0) lie.resize(random() % lie.size());
    if (i % 10 == 1) places[random() % places.size()] = random() % 400;
    if (i % 10 > 1) {
      const size_t at = random() % lie.size();
      const size_t end = std::min(lie.size(), at + 1 + random() % 8);
      for (size_t j = at; j < end; ++j) lie[j] = static_cast<std::byte>(random());
    }
    Graph read(with);
    if (!read.read(scoring, state.rows, 200, lie, places)) continue;
    ++taken;
    size_t scanned = 0;
    for (const uint32_t row : read.search(state.rows, query, 50, {}, scanned)) EXPECT_LT(row, 200u);
  }
  EXPECT_LT(taken, 1500u);
  Graph read(with);
  EXPECT_TRUE(read.read(scoring, state.rows, 200, links, order));
}

}  // namespace
}  // namespace quern::vectors
