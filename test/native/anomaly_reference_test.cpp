#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>

#include "anomaly/normalizer.hpp"
#include "anomaly/statistics.hpp"
#include "anomaly_fixture.hpp"

namespace quern::anomaly {
namespace {

constexpr double kNear = 1e-6;

std::shared_ptr<const FittedModel> reference_model(const char* backend) {
  return FittedModel::fit(options_of(backend, 2), kReference, Work(1));
}

void expect_raw(const FittedModel& model, const std::vector<double>& expected) {
  const std::vector<double> raw = raw_scores(model, kReferenceQuery);
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(raw[i], expected[i], kNear) << "row " << i;
}

std::vector<bool> flagged(const FittedModel& model) {
  std::vector<bool> flags;
  for (const double raw : raw_scores(model, kReferenceQuery))
    flags.push_back(model.normalizer().score(raw) > model.normalizer().threshold());
  return flags;
}

TEST(AnomalyReference, ScalerHasTheReferencesCentreAndScale) {
  const State state = RobustScaler::fit({kReference.data(), 12, 2}, Work(1)).state();
  const auto& centre = std::get<std::vector<double>>(state.at("centre"));
  const auto& scale = std::get<std::vector<double>>(state.at("scale"));
  EXPECT_NEAR(centre[0], 1, 1e-12);
  EXPECT_NEAR(centre[1], 2.025, 1e-12);
  EXPECT_NEAR(scale[0], 0.225, 1e-12);
  EXPECT_NEAR(scale[1], 0.275, 1e-12);
}

/// PyOD scores rows together with each other; each row alone, as here, gives its numbers for one row a call.
TEST(AnomalyReference, EcodScoresEachRowAsPyodDoesRowByRow) {
  expect_raw(*reference_model("ecod"), {1.104547, 5.129899, 5.129899, 5.129899});
}

TEST(AnomalyReference, Hbos) {
  const auto model = reference_model("hbos");
  expect_raw(*model, {1.849034, 4.599462, 4.599462, 4.599462});
  const State state = model->normalizer().state();
  EXPECT_NEAR(std::get<double>(state.at("median")), 1.849034, kNear);
  EXPECT_NEAR(std::get<double>(state.at("range")), 0.800115, kNear);
  EXPECT_NEAR(model->normalizer().threshold(), 0.622459, kNear);
  EXPECT_EQ(flagged(*model), (std::vector<bool>{false, true, true, true}));
}

/// As -2 ln(1 / 13) and its half: the last row lies below all fitted rows in a column that is skewed to the left.
TEST(AnomalyReference, CopodScoresEachRowAlone) {
  const std::vector<double> raw = raw_scores(*reference_model("copod"), kReferenceQuery);
  EXPECT_NEAR(raw[2], 2 * std::log(13.0), kNear);
  EXPECT_GT(raw[1], raw[0]);
  EXPECT_GT(raw[3], raw[0]);
}

TEST(AnomalyReference, IsolationForestFlagsTheSameRows) {
  const auto model = reference_model("isolation_forest");
  const std::vector<double> raw = raw_scores(*model, kReferenceQuery);
  EXPECT_GT(raw[2], raw[0]);
  EXPECT_GT(raw[3], raw[0]);
  EXPECT_EQ(flagged(*model), (std::vector<bool>{false, true, true, true}));
}

/// The (1 - contamination) percentile of the fitted rows' raw scores is where the forest's score is 0.
TEST(AnomalyReference, IsolationForestIsZeroAtTheThreshold) {
  ModelOptions options = options_of("isolation_forest", 3);
  options.normalization = Normalization::kRaw;
  const auto model = FittedModel::fit(options, clusters(500, 3), Work(1));
  EXPECT_NEAR(model->normalizer().threshold(), 0, 1e-12);
}

TEST(AnomalyReference, LodaAndSuodFindWhatLiesOutside) {
  for (const char* backend : {"loda", "suod"}) {
    const auto model = FittedModel::fit(options_of(backend, 4), clusters(1000, 4), Work(1));
    const std::vector<double> raw = raw_scores(*model, clusters(1000, 4));
    const double far = *std::min_element(raw.end() - 50, raw.end());
    const size_t above =
        static_cast<size_t>(std::count_if(raw.begin(), raw.end() - 50, [&](double r) { return r >= far; }));
    EXPECT_LT(above, 50u) << backend;
  }
}

TEST(AnomalyReference, PercentilesAreNumpys) {
  std::vector<double> values{4, 1, 3, 2};
  EXPECT_EQ(percentile(values, 0.25), 1.75);
  EXPECT_EQ(percentile(values, 0.75), 3.25);
  EXPECT_EQ(percentile(values, 1), 4);
  EXPECT_EQ(percentile(values, 0), 1);
  EXPECT_EQ(median(values), 2.5);
  std::vector<double> one{7};
  EXPECT_EQ(percentile(one, 0.9), 7);
  EXPECT_EQ(median(one), 7);
}

TEST(AnomalyReference, SpreadIsThatOfThePercentiles) {
  Random random(2);
  for (const size_t count : {1, 2, 3, 4, 5, 6, 7, 8, 9, 100, 1001}) {
    std::vector<double> values(count);
    for (double& value : values) value = random.below(count) + random.uniform() * (count % 2);
    std::vector<double> same = values;
    const Spread found = spread(same);
    EXPECT_EQ(found.median, median(values)) << count;
    EXPECT_EQ(found.range, percentile(values, 0.75) - percentile(values, 0.25)) << count;
  }
}

TEST(AnomalyReference, NormalizationsFollowTheirFormulas) {
  const std::vector<double> raw{1, 2, 3, 4, 10};
  const Normalizer sigmoid = Normalizer::fit(Normalization::kStandardization, raw, 0.5);
  EXPECT_NEAR(sigmoid.score(7), 1 / (1 + std::exp(-(7.0 - 3) / (2 * 2))), 1e-15);
  EXPECT_EQ(sigmoid.threshold(), 0.5);
  const Normalizer zscore = Normalizer::fit(Normalization::kZscore, raw, 0.2);
  EXPECT_NEAR(zscore.score(10), 6 / std::sqrt(10.0), 1e-12);
  EXPECT_NEAR(zscore.threshold(), (4 + 0.2 * 6 - 4) / std::sqrt(10.0), 1e-12);
  EXPECT_EQ(Normalizer::fit(Normalization::kRaw, raw, 0.1).score(5), 5);
  const std::vector<double> equal{2, 2, 2};
  EXPECT_EQ(Normalizer::fit(Normalization::kStandardization, equal, 0.1).score(2), 0.5);
  const std::vector<double> mostly{2, 2, 2, 2, 2, 12};
  const Normalizer by_deviation = Normalizer::fit(Normalization::kStandardization, mostly, 0.1);
  EXPECT_NEAR(std::get<double>(by_deviation.state().at("range")), moments(mostly).deviation, 1e-12);
}

}  // namespace
}  // namespace quern::anomaly
