#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>

#include "anomaly_fixture.hpp"
#include "base/failure.hpp"

namespace quern::anomaly {
namespace {

/// Every backend of the list.
class AnomalyBackend : public testing::TestWithParam<std::string_view> {
 protected:
  std::shared_ptr<const FittedModel> fit(const std::vector<double>& values, size_t columns, size_t threads = 1,
                                         uint64_t seed = 42) {
    ModelOptions options = options_of(GetParam(), columns);
    options.fit.seed = seed;
    return FittedModel::fit(options, values, Work(threads));
  }

  void expect_sane(const std::vector<double>& values, size_t columns) {
    const auto model = fit(values, columns);
    for (const double raw : raw_scores(*model, values)) {
      EXPECT_TRUE(std::isfinite(raw));
      const double score = model->normalizer().score(raw);
      EXPECT_TRUE(score >= 0 && score <= 1) << score;
    }
    std::vector<double> row(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(columns));
    for (const double share : model->explain(row, Work(1))) EXPECT_TRUE(std::isfinite(share));
  }
};

TEST_P(AnomalyBackend, ScoresARowByItselfAlone) {
  const std::vector<double> values = clusters(300, 4);
  const auto model = fit(values, 4);
  const std::vector<double> queries = clusters(601, 4, 9);
  const std::vector<double> together = raw_scores(*model, queries, 2);
  for (const size_t row : {size_t{0}, size_t{7}, size_t{300}, size_t{600}}) {
    const std::vector<double> alone(queries.begin() + static_cast<std::ptrdiff_t>(row * 4),
                                    queries.begin() + static_cast<std::ptrdiff_t>(row * 4 + 4));
    EXPECT_EQ(raw_scores(*model, alone)[0], together[row]) << "row " << row;
  }
}

TEST_P(AnomalyBackend, PermutedRowsHavePermutedScores) {
  const auto model = fit(clusters(300, 3), 3);
  const std::vector<double> queries = clusters(500, 3, 9);
  std::vector<double> reversed;
  for (size_t row = 500; row-- > 0;)
    for (size_t k = 0; k < 3; ++k) reversed.push_back(queries[row * 3 + k]);
  std::vector<double> scores = raw_scores(*model, reversed, 2);
  std::reverse(scores.begin(), scores.end());
  EXPECT_EQ(scores, raw_scores(*model, queries));
}

TEST_P(AnomalyBackend, IsTheSameWithAnyNumberOfThreads) {
  const std::vector<double> values = clusters(700, 5);
  const auto one = fit(values, 5, 1);
  const auto two = fit(values, 5, 2);
  EXPECT_EQ(one->state().entries, two->state().entries);
  const std::vector<double> queries = clusters(5000, 5, 3);
  EXPECT_EQ(raw_scores(*one, queries, 1), raw_scores(*two, queries, 3));
}

TEST_P(AnomalyBackend, IsTheSameWithTheSameSeed) {
  const std::vector<double> values = clusters(400, 3);
  EXPECT_EQ(fit(values, 3)->state().entries, fit(values, 3)->state().entries);
}

TEST_P(AnomalyBackend, HasEqualScoresAfterItsStateWasRead) {
  for (const size_t columns : {size_t{1}, size_t{6}}) {
    const std::vector<double> values = clusters(350, columns);
    const auto model = fit(values, columns);
    const SavedModel saved = model->state();
    const auto again = FittedModel::restore(saved);
    EXPECT_EQ(again->state().entries, saved.entries);
    const std::vector<double> queries = clusters(500, columns, 5);
    EXPECT_EQ(raw_scores(*again, queries), raw_scores(*model, queries));
    EXPECT_EQ(again->normalizer().threshold(), model->normalizer().threshold());
    std::vector<double> row(queries.begin(), queries.begin() + static_cast<std::ptrdiff_t>(columns));
    std::vector<double> same = row;
    EXPECT_EQ(again->explain(row, Work(1)), model->explain(same, Work(1)));
  }
}

TEST_P(AnomalyBackend, ScoresItsFittedRowsAsNewOnes) {
  const std::vector<double> values = clusters(333, 3);
  ModelOptions options = options_of(GetParam(), 3);
  options.normalization = Normalization::kRaw;
  options.fit.contamination = 0.5;
  const auto model = FittedModel::fit(options, values, Work(2));
  std::vector<double> raw = raw_scores(*model, values);
  std::ranges::sort(raw);
  EXPECT_EQ(model->normalizer().threshold(), raw[166]);
}

TEST_P(AnomalyBackend, TakesWhatRowsThereAre) {
  expect_sane({1, 2, 3, 4}, 2);
  expect_sane(clusters(60, 1), 1);
  expect_sane(clusters(40, 300), 300);
  expect_sane(std::vector<double>(90, 7), 3);
  std::vector<double> constant = clusters(80, 3);
  for (size_t i = 1; i < constant.size(); i += 3) constant[i] = 5;
  expect_sane(constant, 3);
  std::vector<double> duplicates;
  for (size_t i = 0; i < 200; ++i)
    duplicates.insert(duplicates.end(), {static_cast<double>(i % 3), i % 2 == 0 ? 1. : 8.});
  expect_sane(duplicates, 2);
  std::vector<double> wide = clusters(64, 2);
  wide[5] = 1e100;
  wide[8] = -1e100;
  wide[9] = 1e-300;
  expect_sane(wide, 2);
}

TEST_P(AnomalyBackend, FindsWhatLiesFarAway) {
  const std::vector<double> values = clusters(400, 4);
  const auto model = fit(values, 4);
  const double far = raw_scores(*model, {60, 60, 60, 60})[0];
  std::vector<double> raw = raw_scores(*model, values);
  std::ranges::sort(raw);
  EXPECT_GE(far, raw[350]);
}

TEST_P(AnomalyBackend, RefusesOneRow) {
  EXPECT_THROW(fit({1, 2}, 2), Failure);
  EXPECT_THROW(fit({}, 2), Failure);
}

TEST_P(AnomalyBackend, StopsWhenItIsTold) {
  ModelOptions options = options_of(GetParam(), 20);
  options.fit.epochs = 10'000;
  Work work(2);
  std::thread stopping([&] { work.stop(); });
  stopping.join();
  try {
    FittedModel::fit(options, clusters(20'000, 20), work);
    FAIL() << "went on";
  } catch (const Failure& failure) {
    EXPECT_STREQ(failure.kind(), "unavailable");
  }
}

/// Every entry is left out, of another kind, shorter, longer, not a number; none may be read.
TEST_P(AnomalyBackend, RefusesAStateThatIsNone) {
  const SavedModel saved = fit(clusters(120, 3), 3)->state();
  const auto refused = [&](const std::string& name, const Plain* plain) {
    SavedModel changed = saved;
    if (plain == nullptr)
      changed.entries.erase(name);
    else
      changed.entries[name] = *plain;
    try {
      FittedModel::restore(changed);
      ADD_FAILURE() << name << " was accepted";
    } catch (const Failure& failure) {
      EXPECT_STREQ(failure.kind(), "invalid") << name;
    }
  };
  for (const auto& [name, plain] : saved.entries) {
    refused(name, nullptr);
    std::vector<Plain> wrong;
    if (std::holds_alternative<double>(plain)) wrong = {std::nan(""), INFINITY, std::vector<double>{1}};
    if (const auto* numbers = std::get_if<std::vector<double>>(&plain)) {
      std::vector<double> longer = *numbers;
      longer.push_back(1);
      wrong = {1.0, std::vector<int32_t>(numbers->size()), longer};
      if (!numbers->empty()) {
        std::vector<double> poisoned = *numbers;
        poisoned.back() = std::nan("");
        wrong.push_back(poisoned);
        wrong.push_back(std::vector<double>(numbers->begin(), numbers->end() - 1));
      }
    }
    if (const auto* integers = std::get_if<std::vector<int32_t>>(&plain)) {
      std::vector<int32_t> longer = *integers;
      longer.push_back(0);
      wrong = {1.0, std::vector<double>(integers->size()), longer};
    }
    for (const Plain& other : wrong) refused(name, &other);
  }
}

/// A state with any numbers in it is refused, or scores without touching what is not its own.
TEST_P(AnomalyBackend, TrustsNoNumberOfAState) {
  const SavedModel saved = fit(clusters(90, 3), 3)->state();
  const std::vector<double> queries = clusters(20, 3, 4);
  constexpr double kStrange[] = {-1, 0, 0.5, 2, 1e9, -1e9, 2147483647, 4294967296, 1e308, -1e308, 5e-324};
  Random random(11);
  for (size_t round = 0; round < 400; ++round) {
    SavedModel changed = saved;
    for (size_t change = 0; change <= round % 3; ++change) {
      auto at = changed.entries.begin();
      std::advance(at, random.below(changed.entries.size()));
      const double strange = kStrange[random.below(std::size(kStrange))];
      if (double* number = std::get_if<double>(&at->second)) *number = strange;
      if (auto* numbers = std::get_if<std::vector<double>>(&at->second); numbers != nullptr && !numbers->empty())
        (*numbers)[random.below(numbers->size())] = strange;
      if (auto* integers = std::get_if<std::vector<int32_t>>(&at->second); integers != nullptr && !integers->empty())
        (*integers)[random.below(integers->size())] = static_cast<int32_t>(random.bits());
    }
    try {
      const auto model = FittedModel::restore(changed);
      for (const double raw : raw_scores(*model, queries)) EXPECT_TRUE(std::isfinite(raw));
    } catch (const Failure& failure) {
      EXPECT_STREQ(failure.kind(), "invalid");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllOfTheList, AnomalyBackend, testing::ValuesIn(backends().begin(), backends().end()),
                         [](const auto& given) { return std::string(given.param); });

/// Backends that draw no random numbers: the order of the fitted rows leaves no trace.
class DeterministicBackend : public testing::TestWithParam<const char*> {};

TEST_P(DeterministicBackend, DoesNotSeeTheOrderOfItsRows) {
  const std::vector<double> values = clusters(257, 3);
  std::vector<double> turned;
  for (size_t row = 257; row-- > 0;)
    turned.insert(turned.end(), values.begin() + static_cast<std::ptrdiff_t>(row * 3),
                  values.begin() + static_cast<std::ptrdiff_t>(row * 3 + 3));
  const auto fit = [&](const std::vector<double>& rows) {
    return FittedModel::fit(options_of(GetParam(), 3), rows, Work(1));
  };
  const std::vector<double> queries = clusters(100, 3, 8);
  EXPECT_EQ(raw_scores(*fit(values), queries), raw_scores(*fit(turned), queries));
}

/// Backends to which a column that says nothing is nothing: no mean over columns, no width that grows with them.
class ColumnwiseBackend : public testing::TestWithParam<const char*> {};

TEST_P(ColumnwiseBackend, GainsNothingFromAConstantColumn) {
  const std::vector<double> values = clusters(200, 2);
  std::vector<double> wider;
  for (size_t row = 0; row < 200; ++row) wider.insert(wider.end(), {values[row * 2], 5, values[row * 2 + 1]});
  const auto narrow = FittedModel::fit(options_of(GetParam(), 2), values, Work(1));
  const auto wide = FittedModel::fit(options_of(GetParam(), 3), wider, Work(1));
  const std::vector<double> expected = raw_scores(*narrow, values);
  const std::vector<double> found = raw_scores(*wide, wider);
  const double shift = found[0] - expected[0];
  for (size_t row = 0; row < 200; ++row) EXPECT_NEAR(found[row] - expected[row], shift, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(WithoutChance, DeterministicBackend, testing::Values("copod", "ecod", "hbos"),
                         [](const auto& given) { return std::string(given.param); });

INSTANTIATE_TEST_SUITE_P(OfColumnsOrDistances, ColumnwiseBackend,
                         testing::Values("cblof", "copod", "ecod", "hbos", "knn", "local_outlier_factor"),
                         [](const auto& given) { return std::string(given.param); });

}  // namespace
}  // namespace quern::anomaly
