#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <random>

#include "base/failure.hpp"
#include "columns_fixture.hpp"

namespace quern::columns {
namespace {

TEST(RollingTotals, AgreesWithLongDoublesOverAMillionRowsWithALargeOffset) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise(0.0, 1.0);
  constexpr size_t kWindow = 57, kRows = 1'000'000;
  RollingTotals window(kWindow);
  RollingMedian median(kWindow);
  std::deque<double> last;
  double worst_mean = 0, worst_deviation = 0;
  for (size_t row = 0; row < kRows; ++row) {
    // The offset jumps, so that no one shift fits all rows.
    const double value = (row / 250'000) * 1e9 + 1e12 + noise(random);
    window.push(value);
    median.push(value);
    last.push_back(value);
    if (last.size() > kWindow) last.pop_front();
    if (row % 97 != 0 || last.size() < 2) continue;
    long double sum = 0, squares = 0;
    for (const double one : last) sum += one;
    const long double mean = sum / static_cast<long double>(last.size());
    for (const double one : last) squares += (one - mean) * (one - mean);
    const long double deviation = std::sqrt(squares / static_cast<long double>(last.size() - 1));
    worst_mean = std::max(worst_mean, static_cast<double>(std::abs(window.now().mean() - mean) / mean));
    worst_deviation =
        std::max(worst_deviation, static_cast<double>(std::abs(window.now().deviation() - deviation) / deviation));
    const auto [low, high] = std::minmax_element(last.begin(), last.end());
    ASSERT_EQ(window.now().least(), *low);
    ASSERT_EQ(window.now().most(), *high);
    if (last.size() % 2 == 0) continue;
    std::vector<double> sorted(last.begin(), last.end());
    std::nth_element(sorted.begin(), sorted.begin() + sorted.size() / 2, sorted.end());
    ASSERT_EQ(median.median(), sorted[sorted.size() / 2]);
  }
  EXPECT_LT(worst_mean, 3e-16);
  EXPECT_LT(worst_deviation, 1e-9);
}

TEST(RollingTotals, NullsAndShortHistoriesCountOnlyWhatIsThere) {
  RollingTotals window(3);
  window.push(std::nullopt);
  EXPECT_EQ(window.now().count(), 0u);
  window.push(4.0);
  EXPECT_EQ(window.now().mean(), 4.0);
  window.push(std::nullopt);
  window.push(std::nullopt);
  EXPECT_EQ(window.now().mean(), 4.0);
  window.push(std::nullopt);
  EXPECT_EQ(window.now().count(), 0u);
  window.push(1.0);
  window.push(3.0);
  EXPECT_EQ(window.now().mean(), 2.0);
  EXPECT_DOUBLE_EQ(window.now().deviation(), std::sqrt(2.0));
  EXPECT_EQ(window.now().sum(), 4.0);
}

TEST(RollingTotals, EqualValuesHaveNoSpread) {
  RollingTotals window(5);
  for (int i = 0; i < 12; ++i) window.push(0.1);
  EXPECT_EQ(window.now().mean(), 0.1);
  EXPECT_EQ(window.now().deviation(), 0.0);
}

TEST(RollingTotals, TheLargestAllowedValuesDoNotOverflow) {
  RollingTotals window(kMostWindow);
  for (size_t i = 0; i < kMostWindow; ++i) window.push(i % 2 == 0 ? kLargest : -kLargest);
  EXPECT_TRUE(std::isfinite(window.now().deviation()));
  EXPECT_TRUE(std::isfinite(window.now().mean()));
  EXPECT_TRUE(std::isfinite(window.now().sum()));
}

/// Whole numbers or ones far from 0, a third of them null; the first and a run in the middle are null too.
Series drawn_series(size_t rows, bool far) {
  std::mt19937 random(static_cast<uint32_t>(rows));
  Series series{std::vector<double>(rows), std::vector<uint8_t>(rows)};
  for (size_t i = 0; i < rows; ++i) {
    series.known[i] = i > 0 && (i < 40 || i > 60) && random() % 3 != 0 ? 1 : 0;
    if (series.known[i] != 0)
      series.values[i] = far ? 1e9 + 1e-3 * (random() % 1000) : static_cast<double>(random() % 9);
  }
  return series;
}

TEST(Windows, OfAWholeSeriesAreThoseOfRowAfterRowToTheBit) {
  for (const size_t size : {1u, 2u, 3u, 7u, 20u, 199u, 200u, 5000u})
    for (const bool far : {false, true}) {
      const Series series = drawn_series(200, far);
      RollingTotals window(size);
      size_t rows = 0;
      each_window(series, size, [&](size_t row, const Summary& now) {
        ASSERT_EQ(row, rows++);
        window.push(series.at(row));
        const Totals &a = now.totals, &b = window.now().totals;
        ASSERT_EQ(a.count, b.count) << "window " << size << ", row " << row;
        if (a.count == 0) return;
        ASSERT_EQ(now.shift, window.now().shift);
        ASSERT_EQ(a.sum, b.sum);
        ASSERT_EQ(a.squares, b.squares);
        ASSERT_EQ(a.least, b.least);
        ASSERT_EQ(a.most, b.most);
      });
      EXPECT_EQ(rows, 200u);
    }
}

TEST(Features, OfAWholeSeriesAreThoseOfRowAfterRowToTheBit) {
  FeatureSpec spec{.windows = {3, 8}, .statistics = {}, .lags = {1, 5}, .rates = {2}, .spans = {4}};
  for (size_t i = 0; i < 9; ++i) spec.statistics.push_back(static_cast<Statistic>(i));
  const Series series = drawn_series(120, false);
  constexpr size_t kSkip = 10, kRows = 110;
  std::vector<double> made(kRows * spec.width(), -1), row(spec.width());
  FeatureRoom room{{}, spec.width()};
  for (size_t i = 0; i < spec.width(); ++i) room.starts.push_back(&made[i]);
  for (size_t part = 0; part <= spec.windows.size(); ++part) write_features(spec, part, series, kSkip, room);
  FeatureTracker tracker(spec, 120);
  for (size_t i = 0; i < 120; ++i) {
    tracker.push(series.at(i));
    if (i < kSkip) continue;
    tracker.write(row);
    for (size_t k = 0; k < row.size(); ++k)
      ASSERT_EQ(made[(i - kSkip) * row.size() + k], row[k]) << "row " << i << ", feature " << k;
  }
}

TEST(WeightedMean, KeepsItsDigitsAfterAGapOfNullsWhateverWasBefore) {
  for (const size_t span : {2u, 5u, 30u, 1000u})
    for (const double before : {1e9, -1e16, 1e140})
      for (const int nulls : {0, 1, 20, 100, 5000}) {
        WeightedMean mean(span);
        mean.push(before);
        for (int i = 0; i < nulls; ++i) mean.push(std::nullopt);
        mean.push(5.1);
        const long double weight = std::pow(static_cast<long double>(kept_weight(span)), nulls + 1.0L);
        const auto expected = static_cast<double>((weight * before + 5.1) / (weight + 1));
        // An ageing multiplies the weight once, and rounds it.
        EXPECT_NEAR(mean.mean(), expected, 1e-12 * std::abs(expected))
            << "span " << span << ", " << nulls << " nulls after " << before;
      }
}

TEST(WeightedMean, OfEqualValuesIsThatValueWhateverTheGap) {
  for (const size_t span : {1u, 2u, 5u, 30u}) {
    WeightedMean mean(span);
    for (int row = 0; row < 3000; ++row) {
      const bool null = row % 100 > 0 && row % 100 < row / 40;
      mean.push(null ? std::nullopt : std::optional(0.1));
      ASSERT_EQ(mean.mean(), 0.1) << "span " << span << ", row " << row;
    }
  }
}

TEST(Snapshot, MakesManyFeaturesOnThreadsAndFewAloneAlike) {
  Table table(40'000);
  std::vector<ColumnValues> batch(2);
  for (size_t c = 0; c < 2; ++c) {
    batch[c] = {
        .name = c == 0 ? "a" : "b", .kind = Kind::kFloat, .valid = {}, .numbers = {}, .offsets = {}, .bytes = {}};
    for (size_t i = 0; i < 40'000; ++i) batch[c].numbers.push_back(static_cast<double>((i * (7 + c)) % 1000));
  }
  append(table, batch, 40'000);
  const FeatureSpec spec{
      .windows = {5, 300}, .statistics = {Statistic::kMean, Statistic::kStd}, .lags = {2}, .rates = {}, .spans = {}};
  const Frame all = table.snapshot().frame({.features = spec}, kMost);
  const Frame few = table.snapshot().frame({.from = 39'900, .features = spec}, kMost);
  ASSERT_EQ(all.columns.size(), 12u);
  for (size_t c = 0; c < 12; ++c) {
    EXPECT_EQ(all.columns[c].name, few.columns[c].name);
    for (size_t i = 0; i < 100; ++i)
      EXPECT_NEAR(all.columns[c].numbers[39'900 + i], few.columns[c].numbers[i], 1e-9) << all.columns[c].name;
  }
}

TEST(RollingMedian, FollowsARandomWalkWithTiesAndNulls) {
  std::mt19937 random(5);
  for (const size_t size : {1u, 2u, 3u, 8u, 31u}) {
    RollingMedian median(size);
    std::deque<std::optional<double>> last;
    for (int row = 0; row < 3000; ++row) {
      const std::optional<double> value =
          random() % 7 == 0 ? std::nullopt : std::optional(static_cast<double>(random() % 5));
      median.push(value);
      last.push_back(value);
      if (last.size() > size) last.pop_front();
      std::vector<double> there;
      for (const auto& one : last)
        if (one) there.push_back(*one);
      if (there.empty()) continue;
      std::sort(there.begin(), there.end());
      const size_t middle = there.size() / 2;
      const double expected = there.size() % 2 == 1 ? there[middle] : (there[middle - 1] + there[middle]) / 2;
      ASSERT_EQ(median.median(), expected) << "window " << size << ", row " << row;
    }
  }
}

TEST(Table, KeepsTheNewestRowsOfAllKinds) {
  for (const size_t capacity : {1u, 7u, 16u, 100u, 5000u}) {
    Table table(capacity);
    const size_t rows = 3 * capacity + 5;
    for (size_t row = 0; row < rows; ++row) {
      append(
          table,
          {column("i", {static_cast<double>(row)}, Kind::kInt), column("b", {row % 2 == 0 ? 1.0 : 0.0}, Kind::kBool),
           texts("t", {"row " + std::to_string(row)}), column("n", {row % 3 == 0 ? std::nullopt : std::optional(0.5)})},
          1);
    }
    const Frame frame = table.snapshot().frame({}, kMost);
    ASSERT_EQ(frame.rows, std::min(capacity, rows));
    ASSERT_EQ(frame.first, rows - frame.rows);
    const ColumnValues& text = named(frame, "t");
    for (size_t i = 0; i < frame.rows; ++i) {
      const size_t row = static_cast<size_t>(frame.first) + i;
      ASSERT_EQ(named(frame, "i").numbers[i], static_cast<double>(row));
      ASSERT_EQ(named(frame, "b").numbers[i], row % 2 == 0 ? 1.0 : 0.0);
      ASSERT_EQ(named(frame, "n").is_valid(i), row % 3 != 0);
      ASSERT_EQ(text.bytes.substr(text.offsets[i], text.offsets[i + 1] - text.offsets[i]),
                "row " + std::to_string(row));
    }
  }
}

TEST(Table, WidensIntegersAndFillsMissingColumnsWithNulls) {
  Table table(1000);
  for (int i = 0; i < 150; ++i) append(table, {column("x", {static_cast<double>(i)}, Kind::kInt)}, 1);
  const Snapshot before = table.snapshot();
  append(table, {column("x", {0.5}), column("late", {7.0}, Kind::kInt)}, 1);
  append(table, {texts("word", {"a"})}, 1);
  EXPECT_EQ(before.frame({}, kMost).columns[0].kind, Kind::kInt);
  const Frame frame = table.snapshot().frame({}, kMost);
  EXPECT_EQ(named(frame, "x").kind, Kind::kFloat);
  EXPECT_EQ(named(frame, "x").numbers[149], 149.0);
  EXPECT_EQ(named(frame, "x").numbers[150], 0.5);
  EXPECT_FALSE(named(frame, "x").is_valid(151));
  EXPECT_FALSE(named(frame, "late").is_valid(149));
  EXPECT_EQ(named(frame, "late").numbers[150], 7.0);
  EXPECT_FALSE(named(frame, "word").is_valid(0));
}

TEST(Table, RefusesWhatDoesNotFitAndStaysAsItWas) {
  Table table(10);
  append(table, {column("x", {1.0, 2.0}, Kind::kInt), texts("t", {"a", "b"})}, 2);
  const auto refused = [&](const std::vector<ColumnValues>& batch, size_t rows) {
    EXPECT_THROW(append(table, batch, rows), Failure);
    EXPECT_EQ(table.stats().next, 2u);
    EXPECT_EQ(table.stats().columns.size(), 2u);
  };
  refused({texts("x", {"a"})}, 1);
  refused({column("t", {1.0})}, 1);
  refused({column("y", {1.0}), column("t", {1.0})}, 1);
  refused({column("x", {std::nan("")})}, 1);
  refused({column("x", {INFINITY})}, 1);
  refused({column("x", {1e151})}, 1);
  refused({column("x", {0.5}, Kind::kInt)}, 1);
  refused({column("x", {2.0}, Kind::kBool)}, 1);
  refused({column("x", {1.0, 2.0})}, 1);
  refused({column("x", {1.0}), column("x", {1.0})}, 1);
  ColumnValues lying = texts("t", {"abc"});
  lying.offsets[1] = 100;
  refused({lying}, 1);
  lying.offsets[1] = -1;
  refused({lying}, 1);
  std::vector<ColumnValues> many;
  for (size_t i = 0; i < kMostColumns; ++i) many.push_back(column("c" + std::to_string(i), {1.0}));
  refused(many, 1);
  EXPECT_THROW(Table(0), Failure);
  EXPECT_THROW(Table(kMostRows + 1), Failure);
}

TEST(Table, TheFeaturesOfATailAreThoseOfAllRows) {
  FeatureSpec spec;
  spec.windows = {3, 10, 40};
  for (int i = 0; i <= static_cast<int>(Statistic::kMinmaxScaled); ++i)
    spec.statistics.push_back(static_cast<Statistic>(i));
  spec.lags = {1, 5, 90};
  spec.rates = {2};
  std::mt19937_64 random(11);
  Table table(64, spec);
  for (int row = 0; row < 200; ++row) {
    const auto value = random() % 5 == 0 ? std::nullopt : std::optional(static_cast<double>(random() % 1000) / 7);
    append(table, {column("x", {value}), texts("t", {"word"})}, 1);
    const Snapshot snapshot = table.snapshot();
    const Frame all = snapshot.frame({.features = spec}, kMost);
    const Frame tail = snapshot.frame({.from = static_cast<uint64_t>(row), .features = spec}, kMost);
    const std::vector<double> matrix = snapshot.matrix(std::vector<std::string>{"x"}, spec, kMost, Work(1));
    const std::vector<double> latest = table.latest(std::vector<std::string>{"x"});
    ASSERT_EQ(tail.rows, 1u);
    ASSERT_EQ(all.columns.size(), 2 + spec.width());
    for (size_t i = 0; i < spec.width(); ++i) {
      const double expected = all.columns[2 + i].numbers.back();
      ASSERT_NEAR(tail.columns[2 + i].numbers[0], expected, 1e-9 * (1 + std::abs(expected))) << all.columns[2 + i].name;
      ASSERT_NEAR(latest[1 + i], expected, 1e-9 * (1 + std::abs(expected))) << all.columns[2 + i].name;
      ASSERT_EQ(matrix[matrix.size() - spec.width() + i], expected);
    }
    ASSERT_EQ(matrix.size(), static_cast<size_t>(std::min(row + 1, 64)) * (1 + spec.width()));
  }
}

TEST(Table, LimitsAnswersAndFeatureNames) {
  Table table(100);
  append(table, {column("x", {1.0, 2.0}), column("x_lag_1", {1.0, 2.0})}, 2);
  EXPECT_THROW(table.snapshot().frame({}, 3), Failure);
  FeatureSpec spec;
  spec.lags = {1};
  EXPECT_THROW(table.snapshot().frame({.features = spec}, kMost), Failure);
  spec.lags = {2};
  EXPECT_EQ(table.snapshot().frame({.features = spec}, kMost).columns.size(), 4u);
}

TEST(Table, ClearingForgetsRowsAndColumns) {
  Table table(100);
  append(table, {column("x", {1.0}, Kind::kInt)}, 1);
  table.clear();
  EXPECT_EQ(table.stats().columns.size(), 0u);
  append(table, {texts("x", {"now a text"})}, 1);
  EXPECT_EQ(table.snapshot().frame({}, kMost).rows, 1u);
}

}  // namespace
}  // namespace quern::columns
