#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "anomaly/clusters.hpp"
#include "anomaly/determinant.hpp"
#include "anomaly/network.hpp"
#include "anomaly/statistics.hpp"
#include "anomaly/svm_solver.hpp"
#include "anomaly_fixture.hpp"
#include "kernels/dense.hpp"

namespace quern::anomaly {
namespace {

std::shared_ptr<const FittedModel> fit(std::string_view backend, const std::vector<double>& values, size_t columns,
                                       bool scaled = false) {
  ModelOptions options = options_of(backend, columns);
  options.scaled = scaled;
  return FittedModel::fit(options, values, Work(2));
}

/// The reference numbers of the specification: raw scores of its four queries, relative to themselves.
void expect_reference(std::string_view backend, const std::vector<double>& expected, double near) {
  const std::vector<double> raw = raw_scores(*fit(backend, kReference, 2, true), kReferenceQuery);
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(raw[i], expected[i], near * std::max(1.0, expected[i])) << backend << ", row " << i;
}

TEST(AnomalyDetectors, AreTheReferencesNumbers) {
  expect_reference("knn", {0.760466, 2.338204, 843.258906, 27.242460}, 1e-6);
  expect_reference("mcd", {0.021100, 9.356138, 854562.45, 1539.305}, 1e-6);
  // Within the solver's tolerance of 1e-3.
  expect_reference("one_class_svm", {-0.071309, 0.175707, 0.388600, 0.388600}, 1e-3);
}

/// The thresholds and flags that it names beside them.
TEST(AnomalyDetectors, HaveTheReferencesThresholds) {
  struct Reference {
    std::string_view backend;
    double threshold, near;
  };
  for (const auto& [backend, threshold, near] :
       {Reference{"hbos", 0.622459, 1e-6}, Reference{"knn", 0.940004, 1e-6}, Reference{"mcd", 0.609303, 1e-6},
        Reference{"one_class_svm", 0.553412, 1e-3}}) {
    const auto model = fit(backend, kReference, 2, true);
    EXPECT_NEAR(model->normalizer().threshold(), threshold, near) << backend;
    std::vector<bool> flags;
    for (const double raw : raw_scores(*model, kReferenceQuery))
      flags.push_back(model->normalizer().score(raw) > model->normalizer().threshold());
    EXPECT_EQ(flags, (std::vector<bool>{false, true, true, true})) << backend;
  }
}

/// With 12 rows k is 6 here; the reference took 5. By hand for 5 rows, where k is 2: 0, 1, 2, 3 and 10.
TEST(LocalOutlierFactor, IsTheDefinition) {
  // Distance to the 2nd neighbour: 2 1 1 2 8. Mean reach: 1.5 1.5 1.5 1.5 7.5. Factor of 10 as a new row: itself and 3
  // are nearest.
  const double thin = 1 / ((8 + 7.0) / 2), usual = 1 / 1.5;
  const double raw = raw_scores(*fit("local_outlier_factor", {0, 1, 2, 3, 10}, 1), {10})[0];
  EXPECT_NEAR(raw, (thin + usual) / 2 / (1 / ((8 + 7.0) / 2)), 1e-8);
}

TEST(Knn, TakesTheFarthestWhereThereAreFewerRowsThanNeighbours) {
  EXPECT_EQ(raw_scores(*fit("knn", {0, 1, 4}, 1), {0, 10}), (std::vector<double>{4, 10}));
}

double kernel(const std::vector<double>& values, size_t columns, double gamma, size_t a, size_t b) {
  double square = 0;
  for (size_t k = 0; k < columns; ++k) square += std::pow(values[a * columns + k] - values[b * columns + k], 2);
  return std::exp(-gamma * square);
}

/// The optimality conditions of the problem, checked from its definition.
TEST(OneClassSvm, MeetsTheConditionsOfTheOptimum) {
  for (const auto& [rows, columns, nu] :
       {std::tuple{300, 3, 0.1}, std::tuple{257, 1, 0.5}, std::tuple{2500, 2, 0.05}, std::tuple{2, 2, 0.1}}) {
    const size_t n = static_cast<size_t>(rows), d = static_cast<size_t>(columns);
    const std::vector<double> values = clusters(n, d, 4);
    const double gamma = 1 / static_cast<double>(d);
    const Support support = solve_one_class({values.data(), n, d}, gamma, nu, 1e-3, Work(2));
    EXPECT_NEAR(std::accumulate(support.weights.begin(), support.weights.end(), 0.0), nu * static_cast<double>(n),
                1e-9);
    double most_growing = -std::numeric_limits<double>::infinity(), most_shrinking = most_growing;
    for (size_t i = 0; i < n; ++i) {
      ASSERT_GE(support.weights[i], 0);
      ASSERT_LE(support.weights[i], 1);
      double gradient = 0;
      for (size_t j = 0; j < n; ++j)
        if (support.weights[j] > 0) gradient += support.weights[j] * kernel(values, d, gamma, i, j);
      if (support.weights[i] < 1) most_growing = std::max(most_growing, -gradient);
      if (support.weights[i] > 0) most_shrinking = std::max(most_shrinking, gradient);
    }
    // Kernels are kept as floats: the sum of many is that much off.
    EXPECT_LT(most_growing + most_shrinking, 1e-3 + 1e-6 * static_cast<double>(n)) << rows;
    EXPECT_GE(support.rho, -most_growing - 1e-3 - 1e-6 * static_cast<double>(n));
    EXPECT_LE(support.rho, most_shrinking + 1e-3 + 1e-6 * static_cast<double>(n));
  }
}

TEST(OneClassSvm, TakesDuplicates) {
  const Support support = solve_one_class({std::vector<double>(400, 1).data(), 200, 2}, 0.5, 0.1, 1e-3, Work(1));
  EXPECT_NEAR(support.rho, 20, 1e-6);
}

/// All choices of the inner rows, for few rows.
double least_log_determinant(const std::vector<double>& values, size_t rows, size_t columns) {
  const size_t inner = inner_rows(rows, columns), step = padded<double>(columns);
  double least = std::numeric_limits<double>::infinity();
  for (uint32_t choice = 0; choice < (1u << rows); ++choice) {
    if (static_cast<size_t>(std::popcount(choice)) != inner) continue;
    std::vector<double> chosen(inner * step);
    for (size_t row = 0, at = 0; row < rows; ++row)
      if (choice >> row & 1) std::copy_n(&values[row * columns], columns, &chosen[step * at++]);
    least = std::min(least, whitening_of(scatter_of(chosen, inner, columns).covariance).log_determinant);
  }
  return least;
}

TEST(Mcd, FindsTheLeastDeterminantOfAllChoices) {
  for (const uint64_t seed : {1, 2, 3, 4}) {
    const std::vector<double> values = clusters(13, 2, seed);
    const Concentration found = least_determinant({values.data(), 13, 2}, 42, Work(1));
    EXPECT_NEAR(found.whitening.log_determinant, least_log_determinant(values, 13, 2), 1e-9);
  }
}

TEST(Mcd, IsNotMovedByOutliers) {
  for (const size_t rows : {400, 3000}) {
    Random random(3);
    std::vector<double> values(rows * 3);
    for (size_t i = 0; i < values.size(); ++i) values[i] = random.normal() + (i / 3 % 4 == 0 ? 50 : 0);
    const SavedModel saved = fit("mcd", values, 3)->state();
    for (const double mean : std::get<std::vector<double>>(saved.entries.at("detector.location")))
      EXPECT_NEAR(mean, 0, 0.2);
  }
}

/// A column that never varies, and one that is the sum of two others, tell nothing new.
TEST(Mcd, DirectionsWithoutVariationChangeNothing) {
  const std::vector<double> values = clusters(200, 3);
  std::vector<double> more;
  for (size_t i = 0; i < 200; ++i)
    more.insert(more.end(),
                {values[i * 3], 0.1, values[i * 3 + 1], values[i * 3 + 2], values[i * 3] + 2 * values[i * 3 + 1]});
  const std::vector<double> plain = raw_scores(*fit("mcd", values, 3), values),
                            wide = raw_scores(*fit("mcd", more, 5), more);
  for (size_t i = 0; i < plain.size(); ++i) EXPECT_NEAR(wide[i], plain[i], 1e-6 * std::max(1.0, plain[i]));
}

TEST(Mcd, TakesHalfOfTheRowsBeingEqual) {
  std::vector<double> values = clusters(100, 2);
  std::fill_n(values.begin(), 140, 1.0);
  const std::vector<double> raw = raw_scores(*fit("mcd", values, 2), {1, 1, 500, 500});
  EXPECT_GT(raw[1], 1000 * raw[0]);
  EXPECT_EQ(raw_scores(*fit("mcd", std::vector<double>(20, 7), 2), {7, 7, 10, 11}), (std::vector<double>{0, 25}));
}

TEST(Clusters, AreTheMeansOfTheirRows) {
  Random random(6);
  std::vector<double> values;
  for (size_t i = 0; i < 5000; ++i)
    for (size_t k = 0; k < 2; ++k)
      values.push_back(random.normal() * 0.3 + 20 * static_cast<double>((i % 8) >> (k * 2) & 3));
  const Clusters found = cluster({values.data(), 5000, 2}, 8, 42, Work(2));
  std::vector<double> sums(found.centres.size());
  std::vector<size_t> sizes(8);
  const Centres centres(found.centres, 2);
  for (size_t i = 0; i < 5000; ++i) {
    double squares[kMostClusters];
    centres.squares(&values[i * 2], 1, squares);
    const auto own = static_cast<size_t>(std::min_element(squares, squares + 8) - squares);
    ++sizes[own];
    for (size_t k = 0; k < 2; ++k) sums[own * 2 + k] += values[i * 2 + k];
  }
  EXPECT_EQ(sizes, found.sizes);
  for (size_t i = 0; i < sums.size(); ++i)
    EXPECT_NEAR(found.centres[i], sums[i] / static_cast<double>(sizes[i / 2]), 1e-3);
}

TEST(Clusters, KeepTheDigitsOfSmallRowsWhenLargeOnesLeave) {
  Random random(8);
  std::vector<double> values;
  for (size_t i = 0; i < 3000; ++i) values.push_back(random.normal());
  const double mean = std::reduce(values.begin(), values.end()) / 3000;
  // Rows at 1e20 begin among the small ones where the second centre is at 2.1e20, and leave when it has moved
  // to 1.9e20.
  values.insert(values.end(), 10, 1e20);
  values.insert(values.end(), 60, 1.8e20);
  values.insert(values.end(), 30, 2.1e20);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Clusters found = cluster({values.data(), values.size(), 1}, 2, seed, Work(2));
    EXPECT_NEAR(*std::ranges::min_element(found.centres), mean, 1e-9) << seed;
  }
}

TEST(Cblof, MeasuresSmallClustersFromLargeOnes) {
  // Two large clusters, and six rows of which each is a cluster of its own.
  std::vector<double> values;
  for (size_t i = 0; i < 300; ++i) values.push_back((i % 2 == 0 ? 0 : 100) + static_cast<double>(i % 5) * 0.01);
  for (size_t i = 0; i < 6; ++i) values.push_back(200 + 10 * static_cast<double>(i));
  const std::vector<double> raw = raw_scores(*fit("cblof", values, 1), {0.02, 100.02, 230});
  EXPECT_NEAR(raw[0], 0, 0.05);
  EXPECT_NEAR(raw[1], 0, 0.05);
  EXPECT_NEAR(raw[2], 130, 0.1);
}

TEST(Cblof, TakesEvenClustersAsAllLarge) {
  std::vector<double> values;
  for (size_t i = 0; i < 800; ++i)
    values.push_back(10 * static_cast<double>(i % 8) + static_cast<double>(i % 3) * 0.01);
  const std::vector<double> raw = raw_scores(*fit("cblof", values, 1), {20.01, 35});
  EXPECT_NEAR(raw[0], 0, 0.01);
  EXPECT_NEAR(raw[1], 5, 0.05);
}

/// Mean squared error of a network on standardised rows.
double error_of(const std::vector<Layer>& layers, const std::vector<float>& rows, size_t count, size_t columns) {
  const std::vector<float> out = network_answer(layers, rows, count);
  double sum = 0;
  for (size_t i = 0; i < out.size(); ++i) sum += std::pow(static_cast<double>(out[i] - rows[i]), 2);
  return sum / static_cast<double>(count * columns);
}

TEST(Autoencoder, LearnsWhatItSees) {
  constexpr size_t kRows = 512, kColumns = 8;
  Random random(2);
  std::vector<float> rows(kRows * padded<float>(kColumns));
  for (size_t i = 0; i < kRows; ++i) {
    const double common = random.normal();
    for (size_t k = 0; k < kColumns; ++k)
      rows[i * padded<float>(kColumns) + k] =
          static_cast<float>(common * (k % 2 == 0 ? 1 : -1) + 0.05 * random.normal());
  }
  const double untrained = error_of(train_network(rows, kRows, kColumns, {0, 32, 42}, Work(1)), rows, kRows, kColumns);
  const double trained = error_of(train_network(rows, kRows, kColumns, {60, 32, 42}, Work(1)), rows, kRows, kColumns);
  EXPECT_GT(untrained, 0.8);
  EXPECT_LT(trained, 0.1);
}

/// The library that it follows leaves out batches that are not full, and so all of them.
TEST(Autoencoder, TrainsWithFewerRowsThanABatchHas) {
  ModelOptions options = options_of("autoencoder", 2);
  options.fit.epochs = 400;
  const auto trained = FittedModel::fit(options, kReference, Work(1));
  options.fit.epochs = 1;
  const auto hardly = FittedModel::fit(options, kReference, Work(1));
  const auto sum = [&](const FittedModel& model) {
    const std::vector<double> raw = raw_scores(model, kReference);
    return std::accumulate(raw.begin(), raw.end(), 0.0);
  };
  EXPECT_LT(sum(*trained), 0.5 * sum(*hardly));
}

}  // namespace
}  // namespace quern::anomaly
