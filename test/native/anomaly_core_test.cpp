#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <mutex>
#include <numeric>
#include <set>

#include "anomaly/sorting.hpp"
#include "anomaly/state.hpp"
#include "anomaly_fixture.hpp"
#include "base/failure.hpp"

namespace quern::anomaly {
namespace {

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Failure& failure) {
    return std::string(failure.kind()) + ": " + failure.what();
  }
  return "nothing was thrown";
}

TEST(AnomalyWork, PartsDoNotDependOnTheThreads) {
  for (const size_t threads : {1, 2, 5}) {
    std::vector<std::atomic<int>> visits(1003);
    std::mutex mutex;
    std::set<std::pair<size_t, size_t>> parts;
    Work(threads).parallel(1003, 100, [&](size_t first, size_t last) {
      for (size_t i = first; i < last; ++i) ++visits[i];
      const std::lock_guard lock(mutex);
      parts.insert({first, last});
    });
    for (const auto& count : visits) EXPECT_EQ(count, 1);
    EXPECT_EQ(parts.size(), 11u);
    EXPECT_TRUE(parts.contains({1000, 1003}));
  }
  Work(2).parallel(0, 1, [](size_t, size_t) { FAIL(); });
}

TEST(AnomalyWork, RethrowsAndStops) {
  std::atomic<size_t> done{0};
  const auto broken = [&](size_t first, size_t) {
    if (first == 3) throw Failure("bad_request", "third");
    ++done;
  };
  EXPECT_EQ(refusal([&] { Work(2).parallel(100'000, 1, broken); }), "bad_request: third");
  EXPECT_LT(done, 100'000u);
  Work work(2);
  EXPECT_EQ(refusal([&] {
              work.parallel(100, 1, [&](size_t first, size_t) {
                if (first == 5) work.stop();
              });
            }),
            "unavailable: The work was cancelled.");
}

TEST(AnomalySorting, IsThatOfTheStandardLibraryAndKnowsThePlaces) {
  Random random(3);
  const auto compare = [](std::vector<double> values) {
    std::vector<double> expected = values;
    std::ranges::stable_sort(expected);
    const std::vector<double> given = values;
    const std::vector<uint32_t> places = sort_numbers(values);
    EXPECT_EQ(values, expected);
    ASSERT_EQ(places.size(), given.size());
    for (size_t i = 0; i < places.size(); ++i) {
      EXPECT_EQ(given[places[i]], values[i]);
      if (i > 0 && values[i] == values[i - 1] && values[i] != 0) {
        EXPECT_LT(places[i - 1], places[i]);
      }
    }
  };
  for (const size_t count : {size_t{0}, size_t{1}, size_t{100}, size_t{5000}}) {
    std::vector<double> wide(count), near(count), few(count);
    for (double& value : wide)
      value = random.normal() * std::pow(10.0, random.below(200)) * (random.below(9) == 0 ? 0 : 1);
    // Their first bits are equal, or all of them.
    for (double& value : near) value = random.below(3) == 0 ? random.normal() : 1e12 + random.normal();
    for (double& value : few) value = random.below(5);
    compare(wide);
    compare(near);
    compare(few);
  }
}

TEST(AnomalyRows, AreRefusedWithTheirPlace) {
  const std::vector<double> rows{1, 2, 3, 4, std::nan(""), 6};
  EXPECT_EQ(refusal([&] { check_rows(rows, 3, 10); }),
            "invalid: Row 11, column 1 (both counted from 0) is NaN; allowed are finite numbers from -1e100 to 1e100.");
  const std::vector<double> infinite{0, -INFINITY};
  EXPECT_NE(refusal([&] { check_rows(infinite, 1, 0); }).find("Row 1, column 0 (both counted from 0) is -Infinity"),
            std::string::npos);
  const std::vector<double> large{2e100};
  EXPECT_NE(refusal([&] { check_rows(large, 1, 0); }).find("is beyond 1e100"), std::string::npos);
  check_rows(std::vector<double>{1e100, -1e100, 0}, 1, 0);
}

TEST(AnomalyOptions, AreChecked) {
  const auto with = [](auto change) {
    ModelOptions options = options_of("ecod", 2);
    change(options);
    return refusal([&] { check_options(options); });
  };
  EXPECT_NE(with([](ModelOptions& o) { o.backend = "vae"; }).find("invalid: backend is 'vae'; known are"),
            std::string::npos);
  EXPECT_NE(with([](ModelOptions& o) { o.columns = 0; }).find("columns is 0"), std::string::npos);
  EXPECT_NE(with([](ModelOptions& o) { o.fit.contamination = 0; }).find("contamination is 0"), std::string::npos);
  EXPECT_NE(with([](ModelOptions& o) { o.fit.contamination = 0.6; }).find("contamination is 0.6"), std::string::npos);
  EXPECT_NE(with([](ModelOptions& o) { o.fit.contamination = std::nan(""); }).find("contamination is nan"),
            std::string::npos);
}

TEST(AnomalyState, OfAnotherVersionOrWidthIsRefused) {
  const SavedModel saved = FittedModel::fit(options_of("hbos", 2), kReference, Work(1))->state();
  SavedModel changed = saved;
  changed.entries["version"] = 2.0;
  EXPECT_EQ(refusal([&] { FittedModel::restore(changed); }),
            "invalid: This is no state of an anomaly model: entry 'version' is not 1, the only one known.");
  changed = saved;
  changed.entries["columns"] = 1.0;
  EXPECT_NE(refusal([&] { FittedModel::restore(changed); }).find("invalid"), std::string::npos);
  changed = saved;
  changed.normalization = "other";
  EXPECT_NE(refusal([&] { FittedModel::restore(changed); }).find("normalization is 'other'"), std::string::npos);
}

TEST(AnomalyState, PartsKeepTheirNames) {
  State state{{"a", 1.0}};
  put_part(state, "part", {{"a", 2.0}, {"b.c", 3.0}});
  EXPECT_EQ(state.size(), 3u);
  EXPECT_EQ(part_of(state, "part"), (State{{"a", 2.0}, {"b.c", 3.0}}));
  EXPECT_EQ(part_of(state, "par"), State{});
}

}  // namespace
}  // namespace quern::anomaly
