#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <map>
#include <thread>

#include "base/failure.hpp"
#include "vector_fixture.hpp"
#include "vectors/index.hpp"

namespace quern::vectors {
namespace {

constexpr size_t kNeverGraph = 1u << 30;

std::vector<uint32_t> ids_of(const Answer& answer) {
  std::vector<uint32_t> ids;
  for (const Hit& hit : answer.hits) ids.push_back(hit.id);
  return ids;
}

std::string refusal(auto&& call) {
  try {
    call();
  } catch (const Failure& failure) {
    return std::string(failure.kind()) + ": " + failure.what();
  }
  return "";
}

/// Every id whose bit is drawn with the probability.
std::vector<uint8_t> drawn(size_t ids, double share, unsigned seed) {
  std::mt19937 random(seed);
  std::bernoulli_distribution draw(share);
  std::vector<uint8_t> bits((ids + 7) / 8);
  for (size_t id = 0; id < ids; ++id)
    if (draw(random)) bits[id / 8] = static_cast<uint8_t>(bits[id / 8] | 1 << (id % 8));
  return bits;
}

class EveryKind : public testing::TestWithParam<std::tuple<Metric, Storage>> {
 protected:
  IndexOptions options(size_t dimensions, size_t scan_below = kNeverGraph) const {
    return {.dimensions = dimensions,
            .metric = std::get<0>(GetParam()),
            .storage = std::get<1>(GetParam()),
            .scan_below = scan_below};
  }
};

INSTANTIATE_TEST_SUITE_P(Vectors, EveryKind,
                         testing::Combine(testing::Values(Metric::kCosine, Metric::kInnerProduct, Metric::kL2),
                                          testing::Values(Storage::kF32, Storage::kF16, Storage::kI8)));

TEST_P(EveryKind, TheScanIsTheDefinition) {
  constexpr size_t kRows = 1500, kDimensions = 37, k = 10;
  const std::vector<float> points = clustered(kRows, kDimensions, 1);
  VectorIndex index(options(kDimensions));
  index.add(count_up(kRows), points);
  // Half a row is rounded by up to 2^-11 of its size.
  const double near = std::get<1>(GetParam()) == Storage::kF16 ? 0.2 : 1e-3;
  const std::vector<float> queries = clustered(20, kDimensions, 2);
  for (size_t q = 0; q < 20; ++q) {
    const auto query = row_of(queries, q, kDimensions);
    std::multimap<double, uint32_t, std::greater<>> order;
    for (uint32_t row = 0; row < kRows; ++row)
      order.emplace(true_score(index.options().metric, query, row_of(points, row, kDimensions)), row);
    for (const bool exact : {true, false}) {
      const Answer answer = index.search(query, {.k = k, .exact = exact});
      ASSERT_EQ(answer.hits.size(), k);
      EXPECT_EQ(answer.plan, Plan::kScan);
      EXPECT_EQ(answer.scanned, kRows);
      auto wanted = order.begin();
      for (const Hit& hit : answer.hits) {
        EXPECT_NEAR(hit.score, wanted->first, near);
        if (std::get<1>(GetParam()) != Storage::kF16) {
          EXPECT_EQ(hit.id, wanted->second);
        }
        ++wanted;
      }
    }
  }
}

TEST_P(EveryKind, FiltersOfEveryShareFindAllThatTheyAllow) {
  constexpr size_t kRows = 3000, kDimensions = 24, k = 10;
  VectorIndex index(options(kDimensions, 1000));
  index.add(count_up(kRows), clustered(kRows, kDimensions, 1));
  index.settle();
  ASSERT_GE(index.stats().graph_rows, kRows - 512);
  const std::vector<float> queries = clustered(20, kDimensions, 2);
  for (const double share : {0.0, 0.01, 0.1, 0.5, 1.0}) {
    const std::vector<uint8_t> bits = drawn(kRows, share, 5);
    const Filter filter{bits, false};
    double sum = 0;
    for (size_t q = 0; q < 20; ++q) {
      const auto query = row_of(queries, q, kDimensions);
      const Answer exact = index.search(query, {.k = k, .filter = filter, .exact = true});
      const Answer found = index.search(query, {.k = k, .effort = 200, .filter = filter});
      EXPECT_EQ(exact.hits.size(), std::min(k, filter.count()));
      EXPECT_EQ(found.hits.size(), exact.hits.size());
      EXPECT_EQ(found.plan, share < kScanShare ? Plan::kScan : Plan::kGraph);
      for (const Hit& hit : found.hits) EXPECT_TRUE(filter.allows(hit.id));
      sum += recall(exact, found);
    }
    EXPECT_GE(sum / 20, share < kScanShare && std::get<1>(GetParam()) != Storage::kI8 ? 1.0 : 0.97) << share;
  }
}

TEST_P(EveryKind, ReplacedAndRemovedRowsAreNotFound) {
  constexpr size_t kRows = 2400, kDimensions = 16;
  const std::vector<float> points = clustered(kRows, kDimensions, 1), others = clustered(kRows, kDimensions, 9);
  VectorIndex index(options(kDimensions, 1000));
  index.add(count_up(kRows), points);
  index.settle();
  // Every third id gets another vector, every other third goes; that is enough for a clean-up.
  std::vector<uint32_t> replaced, removed;
  std::vector<float> replacements;
  for (uint32_t id = 0; id < kRows; ++id) {
    if (id % 3 == 1) {
      replaced.push_back(id);
      const auto row = row_of(others, id, kDimensions);
      replacements.insert(replacements.end(), row.begin(), row.end());
    } else if (id % 3 == 2) {
      removed.push_back(id);
    }
  }
  index.add(replaced, replacements);
  EXPECT_EQ(index.remove(removed), removed.size());
  EXPECT_EQ(index.remove(removed), 0u);
  for (const bool settled : {false, true}) {
    if (settled) index.settle();
    EXPECT_EQ(index.stats().rows, kRows - removed.size());
    for (uint32_t id = 0; id < 300; ++id) {
      const auto query = row_of(id % 3 == 1 ? others : points, id, kDimensions);
      const Answer answer = index.search(query, {.k = 5, .effort = 300});
      ASSERT_EQ(answer.hits.size(), 5u);
      std::set<uint32_t> once;
      for (const Hit& hit : answer.hits) {
        EXPECT_NE(hit.id % 3, 2u);
        EXPECT_TRUE(once.insert(hit.id).second) << "an id twice";
      }
      if (id % 3 != 2 && index.options().metric != Metric::kInnerProduct) {
        EXPECT_EQ(answer.hits[0].id, id);
      }
    }
  }
  EXPECT_EQ(index.stats().dead, 0u) << "the dead rows were dropped";
  EXPECT_GE(index.stats().graph_rows, index.stats().rows - 512);
}

TEST(Vectors, RecallAtTheEffortsOnTwentyThousandRows) {
  constexpr size_t kDimensions = 64, kQueries = 50;
  const std::vector<float> queries = clustered(kQueries, kDimensions, 2);
  for (const auto& [storage, rows] :
       {std::pair<Storage, size_t>{Storage::kF16, 20'000}, {Storage::kF32, 5000}, {Storage::kI8, 5000}}) {
    const std::vector<float> points = clustered(rows, kDimensions, 1);
    VectorIndex index({.dimensions = kDimensions, .storage = storage, .scan_below = 1000});
    index.add(count_up(rows), points);
    index.settle();
    for (const auto& [effort, least] : {std::pair<size_t, double>{48, 0.95}, {128, 0.99}}) {
      double sum = 0;
      for (size_t q = 0; q < kQueries; ++q) {
        const auto query = row_of(queries, q, kDimensions);
        const Answer found = index.search(query, {.k = 10, .effort = effort});
        EXPECT_EQ(found.plan, Plan::kGraph);
        EXPECT_LT(found.scanned, rows / 2);
        sum += recall(index.search(query, {.k = 10, .exact = true}), found);
      }
      EXPECT_GE(sum / kQueries, least) << "storage " << static_cast<int>(storage) << " effort " << effort;
    }
  }
}

TEST(Vectors, RowsAfterTheGraphAreFoundAtOnce) {
  constexpr size_t kDimensions = 8;
  VectorIndex index({.dimensions = kDimensions, .storage = Storage::kF32, .scan_below = 500});
  index.add(count_up(2000), clustered(2000, kDimensions, 1));
  index.settle();
  const std::vector<float> late = clustered(100, kDimensions, 4);
  index.add(count_up(100, 5000), late);
  EXPECT_EQ(index.stats().graph_rows, 2000u) << "so few do not wake the thread";
  for (uint32_t i = 0; i < 100; ++i) {
    const Answer answer = index.search(row_of(late, i, kDimensions), {.k = 1});
    EXPECT_EQ(answer.plan, Plan::kGraph);
    EXPECT_EQ(ids_of(answer), std::vector<uint32_t>{5000 + i});
  }
  index.add(count_up(900, 6000), clustered(900, kDimensions, 5));
  index.settle();
  EXPECT_EQ(index.stats().graph_rows, 3000u);
  EXPECT_EQ(ids_of(index.search(row_of(late, 7, kDimensions), {.k = 1})), std::vector<uint32_t>{5007});
}

TEST(Vectors, EqualScoresComeById) {
  VectorIndex index({.dimensions = 2, .scan_below = kNeverGraph});
  const std::vector<uint32_t> ids{9, 3, 7, 1, 5};
  index.add(ids, std::vector<float>{1, 0, 1, 0, 1, 0, 1, 0, 1, 0});
  EXPECT_EQ(ids_of(index.search(std::vector<float>{2, 0}, {.k = 3})), (std::vector<uint32_t>{1, 3, 5}));
}

TEST(Vectors, EmptyAndSmall) {
  VectorIndex index({.dimensions = 2, .scan_below = kNeverGraph});
  const std::vector<float> query{1, 2};
  EXPECT_TRUE(index.search(query, {.k = 10}).hits.empty());
  index.add({}, {});
  index.add(std::vector<uint32_t>{UINT32_MAX}, query);
  EXPECT_EQ(ids_of(index.search(query, {.k = 10})), std::vector<uint32_t>{UINT32_MAX});
  EXPECT_TRUE(index.search(query, {.k = 0}).hits.empty());
  EXPECT_TRUE(index.search(query, {.k = 10, .filter = {{}, false}}).hits.empty());
  index.add(std::vector<uint32_t>{4, 4}, std::vector<float>{1, 0, 0, 1});
  EXPECT_EQ(index.stats().rows, 2u) << "the later of two equal ids stays";
  EXPECT_EQ(index.search(std::vector<float>{0, 1}, {.k = 1}).hits[0].id, 4u);
}

TEST(Vectors, RefusesWhatHasNoScore) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const std::vector<uint32_t> two{1, 2};
  VectorIndex cosine({.dimensions = 2, .scan_below = kNeverGraph});
  VectorIndex l2({.dimensions = 2, .metric = Metric::kL2, .storage = Storage::kF16, .scan_below = kNeverGraph});
  const auto expect = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  expect(refusal([&] {
           cosine.add(two, std::vector<float>{1, 2, 3, nan});
         }),
         "invalid: Row 1 holds NaN at component 1");
  expect(refusal([&] { cosine.add(two, std::vector<float>{-inf, 2, 3, 1}); }), "Row 0 holds Infinity");
  expect(refusal([&] { cosine.add(two, std::vector<float>{1, 2, 0, 0}); }), "Row 1 has length 0");
  expect(refusal([&] { cosine.add(two, std::vector<float>{1, 2, 3}); }), "vectors holds 3 numbers");
  expect(refusal([&] { cosine.search(std::vector<float>{0, 0}, {.k = 1}); }), "The query has length 0");
  expect(refusal([&] { cosine.search(std::vector<float>{1}, {.k = 1}); }), "this index has 2 dimensions");
  expect(refusal([&] { l2.add(two, std::vector<float>{1, 2, 7e4f, 1}); }), "the largest magnitude is 65504");
  EXPECT_EQ(cosine.stats().rows, 0u) << "a refused call adds nothing";
  l2.add(two, std::vector<float>{0, 0, 1, 1});
  EXPECT_EQ(l2.search(std::vector<float>{0, 0}, {.k = 1}).hits[0].score, 0.0f);
  expect(refusal([] { VectorIndex({.dimensions = 0, .scan_below = 1}); }), "dimensions is 0; allowed is 1 to 16384");
}

TEST(Vectors, FourSearchWhileOneAddsAndRemoves) {
  constexpr size_t kDimensions = 24, kBatch = 150, kBatches = 16;
  VectorIndex index({.dimensions = kDimensions, .storage = Storage::kI8, .scan_below = 1000});
  const std::vector<float> points = clustered(kBatch * kBatches, kDimensions, 1);
  const std::vector<float> queries = clustered(50, kDimensions, 2);
  std::atomic<bool> done{false};
  std::atomic<size_t> searches{0};
  std::vector<std::thread> readers;
  for (size_t reader = 0; reader < 4; ++reader)
    readers.emplace_back([&, reader] {
      for (size_t i = reader; !done || i < 50; ++i) {
        const Answer answer = index.search(row_of(queries, i % 50, kDimensions), {.k = 10});
        std::set<uint32_t> once;
        for (const Hit& hit : answer.hits) ASSERT_TRUE(once.insert(hit.id).second);
        ASSERT_TRUE(std::is_sorted(answer.hits.begin(), answer.hits.end(), better));
        ++searches;
      }
    });
  for (size_t batch = 0; batch < kBatches; ++batch) {
    index.add(count_up(kBatch, static_cast<uint32_t>(batch * kBatch)),
              std::span(points).subspan(batch * kBatch * kDimensions, kBatch * kDimensions));
    if (batch % 3 == 2) index.remove(count_up(kBatch, static_cast<uint32_t>((batch - 1) * kBatch)));
  }
  index.settle();
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_GE(searches, 200u);
  EXPECT_EQ(index.stats().rows, kBatch * (kBatches - 5));
}

TEST(Vectors, StopEndsAGraphInTheMaking) {
  VectorIndex index({.dimensions = 64, .scan_below = 100});
  index.add(count_up(8000), clustered(8000, 64, 1));
  index.stop();
  EXPECT_EQ(index.stats().graph_rows, 0u);
  EXPECT_EQ(index.search(clustered(1, 64, 2), {.k = 5}).plan, Plan::kScan);
  index.add(count_up(1, 9000), clustered(1, 64, 3));
  index.settle();
}

}  // namespace
}  // namespace quern::vectors
