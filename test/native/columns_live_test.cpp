#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "columns_fixture.hpp"

namespace quern::columns {
namespace {

FeatureSpec everything(std::vector<size_t> windows, std::vector<size_t> lags, std::vector<size_t> spans) {
  FeatureSpec spec{
      .windows = std::move(windows), .statistics = {}, .lags = lags, .rates = lags, .spans = std::move(spans)};
  for (int i = 0; i <= static_cast<int>(Statistic::kMinmaxScaled); ++i)
    spec.statistics.push_back(static_cast<Statistic>(i));
  return spec;
}

/// A read as the binding makes it; `was_live` says whether it went on from what was kept.
Frame read(Table& table, const Wanted& wanted, bool& was_live) {
  const auto live = table.take_live(wanted);
  was_live = live != nullptr;
  Frame frame = table.snapshot().frame(wanted, kMost, live.get());
  if (live) table.shelf()->put(live);
  return frame;
}

void expect_alike(const Frame& got, const Frame& expected, double scale, const std::string& where) {
  ASSERT_EQ(got.rows, expected.rows) << where;
  ASSERT_EQ(got.columns.size(), expected.columns.size()) << where;
  for (size_t c = 0; c < got.columns.size(); ++c) {
    const ColumnValues &a = got.columns[c], &b = expected.columns[c];
    ASSERT_EQ(a.name, b.name);
    ASSERT_EQ(a.numbers.size(), b.numbers.size());
    for (size_t i = 0; i < a.numbers.size(); ++i)
      ASSERT_NEAR(a.numbers[i], b.numbers[i], 1e-12 * std::max(std::abs(b.numbers[i]), scale))
          << where << ", " << a.name << " of row " << i << " of " << a.numbers.size();
  }
}

std::vector<ColumnValues> drawn(std::mt19937_64& random, size_t rows, bool wide) {
  const auto values = [&] {
    Values all(rows);
    for (auto& value : all)
      if (random() % 5 != 0) value = static_cast<double>(random() % 1000) / 8;
    return all;
  };
  std::vector<ColumnValues> batch{column("x", values()), texts("word", std::vector<std::string>(rows, "a"))};
  if (wide) batch.push_back(column("late", values()));
  return batch;
}

TEST(LiveFeatures, AreThoseMadeFromTheRowsAfterAnyAppendsReadsAndClears) {
  const std::vector<FeatureSpec> specs{everything({3, 10}, {1, 4}, {}), everything({1, 40, 500}, {60, 70}, {3}),
                                       everything({}, {}, {1, 2, 200}), everything({64, 63}, {2}, {10})};
  std::mt19937_64 random(7);
  for (const size_t capacity : {1u, 16u, 64u, 700u}) {
    Table table(capacity);
    size_t live = 0, reads = 0;
    uint64_t appended = 0;
    for (int step = 0; step < 500; ++step) {
      if (step % 200 == 199) {
        table.clear();
        appended = 0;
      }
      const size_t rows = random() % 20 == 0 ? 1 + random() % 90 : 1 + random() % 3;
      append(table, drawn(random, rows, appended > 100), rows);
      appended += rows;
      if (random() % 3 == 0) continue;
      const uint64_t tail = random() % 2 == 0 ? 1 : 1 + random() % 50;
      const Wanted wanted{.from = appended - std::min(appended, tail), .features = specs[random() % specs.size()]};
      bool was_live = false;
      const Frame got = read(table, wanted, was_live);
      live += was_live ? 1 : 0;
      ++reads;
      expect_alike(got, table.snapshot().frame(wanted, kMost), 125,
                   "capacity " + std::to_string(capacity) + ", step " + std::to_string(step));
      if (HasFatalFailure()) return;
    }
    EXPECT_GT(live, reads / 3) << "capacity " << capacity;
  }
}

TEST(LiveFeatures, TakeEachRowOnceWhateverTheRowsBefore) {
  const FeatureSpec spec = everything({5, 100, 1000}, {1, 3}, {10, 100});
  for (const size_t rows : {2'000u, 60'000u}) {
    // Reads go on from those of `table` over rows of `later`, which lacks all that were there at the first read: who
    // looked at one of these again would find nothing.
    Table table(2 * rows), later(2 * rows);
    Values values(rows);
    for (size_t i = 0; i < rows; ++i) values[i] = static_cast<double>(i % 17);
    append(table, {column("x", values)}, rows);
    append(later, {column("x", Values(rows))}, rows);
    bool was_live = false;
    read(table, {.from = rows - 1, .features = spec}, was_live);
    Wanted wanted{.from = 0, .features = spec};
    Frame last;
    for (size_t i = 0; i < 500; ++i) {
      const double value = static_cast<double>(i % 13) / 8;
      append(table, {column("x", {value})}, 1);
      append(later, {column("x", {value})}, 1);
      wanted.from = table.next() - 1;
      const auto live = table.take_live(wanted);
      ASSERT_NE(live, nullptr);
      last = later.snapshot().frame(wanted, kMost, live.get());
      table.shelf()->put(live);
    }
    expect_alike(last, table.snapshot().frame(wanted, kMost), 17, std::to_string(rows) + " rows before");
  }
}

TEST(Snapshot, ExpectsTheSameWorkForEachRowThatFeaturesGoOnWithWhateverTheRowsBefore) {
  const FeatureSpec spec = everything({5, 100, 1000}, {1, 3}, {10, 100});
  std::vector<size_t> expected;
  for (const size_t rows : {2'000u, 60'000u}) {
    Table table(rows);
    Values values(rows);
    for (size_t i = 0; i < rows; ++i) values[i] = static_cast<double>(i % 17);
    append(table, {column("x", values)}, rows);
    size_t cells = 0;
    for (size_t i = 0; i < 1'500; ++i) {
      append(table, {column("x", {1.5})}, 1);
      const Wanted wanted{.from = table.next() - 1, .features = spec};
      const auto live = table.take_live(wanted);
      ASSERT_NE(live, nullptr);
      const Snapshot snapshot = table.snapshot();
      if (i > 0) cells += snapshot.work(wanted, live.get());
      snapshot.frame(wanted, kMost, live.get());
      table.shelf()->put(live);
    }
    expected.push_back(cells / 1'500);
  }
  for (const size_t cells : expected) EXPECT_LE(cells, 3 * (1 + spec.width())) << "cells a row";
}

TEST(LiveFeatures, AreKeptForTheSpecificationsReadLast) {
  Table table(2000);
  append(table, {column("x", {1.0, 2.0, 3.0})}, 3);
  const auto kept = [&](const FeatureSpec& spec) { return table.shelf()->take(spec, 1) != nullptr; };
  bool was_live = false;
  for (size_t window = 1; window <= kMostLive + 1; ++window)
    read(table, {.from = 2, .features = everything({window}, {}, {})}, was_live);
  EXPECT_GT(table.stats().live_bytes, 0u);
  EXPECT_FALSE(kept(everything({1}, {}, {})));
  EXPECT_TRUE(kept(everything({2}, {}, {})));
  table.forget_live();
  EXPECT_EQ(table.stats().live_bytes, 0u);
  read(table, {.from = 2, .features = everything({3}, {}, {})}, was_live);
  table.clear();
  EXPECT_EQ(table.stats().live_bytes, 0u);
}

TEST(LiveFeatures, AreNotKeptWhereTheyTakeTooMuchMemory) {
  Table table(kMostRows);
  append(table, {column("x", {1.0, 2.0})}, 2);
  bool was_live = true;
  std::vector<size_t> windows;
  for (size_t i = 0; i < 4; ++i) windows.push_back(kMostWindow - i);
  read(table, {.from = 1, .features = everything(windows, {}, {})}, was_live);
  EXPECT_FALSE(was_live);
  for (size_t i = 0; i < 4; ++i) read(table, {.from = 1, .features = everything({windows[i]}, {}, {})}, was_live);
  EXPECT_TRUE(was_live);
  EXPECT_LE(table.stats().live_bytes, kMostLiveBytes);
}

TEST(RollingWeightedMean, IsThatOfItsWindow) {
  std::mt19937_64 random(2);
  for (const size_t span : {1u, 2u, 9u, 300u})
    for (const size_t window : {1u, 2u, 17u, 250u, 700u}) {
      RollingWeightedMean mean(span, window);
      std::vector<std::optional<double>> rows;
      for (size_t row = 0; row < 1000; ++row) {
        // What is large has to leave without a trace.
        const bool huge = row % 300 < 3;
        const bool gap = row % 600 > 2 && row % 600 < 60;
        rows.push_back(gap || random() % 6 == 0
                           ? std::nullopt
                           : std::optional(static_cast<double>(random() % 100) * (huge ? 1e140 : 1.0)));
        mean.push(rows.back());
        if (!rows.back()) continue;
        WeightedMean expected(span);
        double most = 0;
        for (size_t i = rows.size() - std::min(window, rows.size()); i < rows.size(); ++i) {
          expected.push(rows[i]);
          most = std::max(most * kept_weight(span), std::abs(rows[i].value_or(0.0)));
        }
        ASSERT_NEAR(mean.mean(), expected.mean(), 1e-12 * most)
            << "span " << span << ", window " << window << ", row " << row;
      }
    }
}

}  // namespace
}  // namespace quern::columns
