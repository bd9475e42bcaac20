#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <string>
#include <thread>

#include "base/failure.hpp"
#include "base/random.hpp"
#include "classify/fit.hpp"
#include "classify/folds.hpp"
#include "classify/lbfgs.hpp"
#include "classify/pairs.hpp"
#include "classify/subspace.hpp"
#include "classify/validation.hpp"
#include "kernels/linear.hpp"

namespace quern::classify {
namespace {

const Work kOne(1);

/// Rows about one centre per class; the first `nuisance` dimensions say nothing of the class and are `loud` times as
/// wide.
Samples clouds(size_t classes, size_t each, size_t dimensions, uint64_t seed, size_t nuisance = 0, double loud = 1) {
  Samples samples{dimensions, classes, {}, {}};
  SplitMix random(seed);
  std::vector<float> row(dimensions);
  for (size_t at = 0; at < classes * each; ++at) {
    const auto label = static_cast<uint32_t>(at % classes);
    SplitMix centre(1000 + label);
    for (size_t i = 0; i < dimensions; ++i) {
      const double own = centre.symmetric();
      row[i] = static_cast<float>(i < nuisance ? loud * random.symmetric() : own + 0.6 * random.symmetric());
    }
    append(samples, row, {&label, 1});
  }
  return samples;
}

double accuracy_of(const Model& model, const Samples& samples) {
  std::vector<float> probabilities(samples.size() * samples.classes);
  model.predict(samples.vectors, probabilities);
  size_t right = 0;
  for (size_t at = 0; at < samples.size(); ++at) {
    const auto row = probabilities.begin() + static_cast<std::ptrdiff_t>(at * samples.classes);
    right += std::max_element(row, row + static_cast<std::ptrdiff_t>(samples.classes)) - row == samples.labels[at];
  }
  return static_cast<double>(right) / static_cast<double>(samples.size());
}

void expect_failure(const char* kind, const std::string& part, const std::function<void()>& call) {
  try {
    call();
    FAIL() << "nothing was thrown instead of " << part;
  } catch (const Failure& failure) {
    EXPECT_STREQ(failure.kind(), kind) << failure.what();
    EXPECT_NE(std::string(failure.what()).find(part), std::string::npos) << failure.what();
  }
}

TEST(ClassifyMinimise, FindsTheMinimumOfAQuadraticAndOfACurvedValley) {
  std::vector<double> at(20, 5.0);
  const auto bowl = [](const std::vector<double>& x, std::vector<double>& gradient) {
    double value = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double weight = 1 + static_cast<double>(i * i), miss = x[i] - static_cast<double>(i);
      value += weight * miss * miss / 2;
      gradient[i] = weight * miss;
    }
    return value;
  };
  minimise(bowl, at, {.iterations = 200, .gradient = 1e-8});
  for (size_t i = 0; i < at.size(); ++i) EXPECT_NEAR(at[i], static_cast<double>(i), 1e-6);
}

TEST(ClassifyLogistic, EndsWhereTheGradientOfItsObjectiveIsZero) {
  const Samples samples = clouds(3, 30, 12, 1);
  constexpr double kStrength = 2;
  const Linear head = fit_logistic(samples, kStrength, kOne);
  std::vector<double> gradient(3 * 12);
  std::vector<double> bias(3);
  for (size_t at = 0; at < samples.size(); ++at) {
    std::vector<float> logits(3);
    head.logits(samples.row(at), 12, logits);
    softmax(logits, 1);
    for (size_t k = 0; k < 3; ++k) {
      const double miss = logits[k] - (samples.labels[at] == k ? 1 : 0);
      bias[k] += miss;
      for (size_t i = 0; i < 12; ++i) gradient[k * 12 + i] += miss * samples.row(at)[i];
    }
  }
  for (size_t i = 0; i < gradient.size(); ++i)
    EXPECT_NEAR((gradient[i] + head.weights[i] / kStrength) / static_cast<double>(samples.size()), 0, 2e-4);
  for (const double one : bias) EXPECT_NEAR(one / static_cast<double>(samples.size()), 0, 2e-4);
}

TEST(ClassifyLogistic, DoesNotDependOnTheNumberOfThreads) {
  // Large enough for several parts.
  const Samples samples = clouds(8, 600, 300, 2);
  const Linear one = fit_logistic(samples, 1, kOne), three = fit_logistic(samples, 1, Work(3));
  EXPECT_EQ(one.weights, three.weights);
  EXPECT_EQ(one.bias, three.bias);
}

TEST(ClassifyKernels, AddScaledAgreesForEveryLength) {
  for (size_t n = 0; n < 70; ++n) {
    std::vector<float> from(n), one(n, 2), two(n, 2);
    for (size_t i = 0; i < n; ++i) from[i] = static_cast<float>(i) - 20.5F;
    linear_kernels(Isa::kPortable).add_scaled(0.5F, from.data(), one.data(), n);
    linear_kernels().add_scaled(0.5F, from.data(), two.data(), n);
    EXPECT_EQ(one, two) << n;
  }
}

TEST(ClassifyFolds, TestEverySampleOnceInEqualSharesAndNeverTheOnlyOneOfALabel) {
  std::vector<uint32_t> labels;
  for (uint32_t i = 0; i < 50; ++i) labels.push_back(i % 2);
  labels.push_back(2);
  SplitMix random(1);
  const auto folds = stratified_folds(labels, 3, random);
  ASSERT_EQ(folds.size(), 5U);
  std::vector<int> tested(labels.size());
  for (const Fold& fold : folds) {
    EXPECT_EQ(fold.train.size() + fold.test.size(), labels.size());
    EXPECT_EQ(std::count_if(fold.test.begin(), fold.test.end(), [&](uint32_t at) { return labels[at] == 0; }), 5);
    EXPECT_TRUE(std::find(fold.train.begin(), fold.train.end(), 50U) != fold.train.end());
    for (const uint32_t at : fold.test) ++tested[at];
  }
  for (size_t at = 0; at < 50; ++at) EXPECT_EQ(tested[at], 1);
  EXPECT_EQ(tested[50], 0);
  EXPECT_TRUE(stratified_folds(std::vector<uint32_t>{0, 1, 2}, 3, random).empty());
}

TEST(ClassifyFolds, LeaveNothingOverWherePossible) {
  std::vector<uint32_t> labels;
  for (uint32_t i = 0; i < 24; ++i) labels.push_back(i % 3);
  SplitMix random(1);
  const auto folds = stratified_folds(labels, 3, random);
  ASSERT_EQ(folds.size(), 4U);
  for (const Fold& fold : folds)
    for (uint32_t label = 0; label < 3; ++label)
      EXPECT_EQ(std::count_if(fold.test.begin(), fold.test.end(), [&](uint32_t at) { return labels[at] == label; }), 2);
}

TEST(ClassifyPairs, HaveTheLabelsThatTheySayAndAsManyOfBothKinds) {
  std::vector<uint32_t> labels{0, 0, 0, 1, 1, 2};
  SplitMix random(3);
  const auto pairs = sample_pairs(labels, 3, 10, random);
  size_t same = 0;
  for (const Pair& pair : pairs) {
    EXPECT_NE(pair.first, pair.second);
    EXPECT_EQ(pair.same, labels[pair.first] == labels[pair.second]);
    same += pair.same;
  }
  // The only sample of label 2 has no partner.
  EXPECT_EQ(same, 50U);
  EXPECT_EQ(pairs.size() - same, 60U);
}

TEST(ClassifySubspace, IsOrthonormalAndHoldsTheSamplesThatItSpans) {
  for (const size_t each : {5, 100}) {
    const Samples samples = clouds(2, each, 40, 4);
    SplitMix random(1);
    const auto basis = leading_subspace(samples, 16, random);
    const size_t rank = basis.size() / 40;
    EXPECT_EQ(rank, std::min<size_t>(16, samples.size()));
    for (size_t a = 0; a < rank; ++a)
      for (size_t b = 0; b <= a; ++b) {
        double dot = 0;
        for (size_t i = 0; i < 40; ++i) dot += static_cast<double>(basis[a * 40 + i]) * basis[b * 40 + i];
        EXPECT_NEAR(dot, a == b ? 1 : 0, 1e-4);
      }
  }
}

TEST(ClassifyProjection, BringsEqualLabelsTogetherAndKeepsLengthOne) {
  const Samples samples = clouds(3, 20, 24, 5, 8, 1.5);
  const Projection projection = Projection::train(samples, {}, kOne);
  const Samples shown = projection.applied(samples);
  const auto contrast = [](const Samples& some) {
    double same = 0, other = 0;
    size_t sames = 0, others = 0;
    for (size_t a = 0; a < some.size(); ++a)
      for (size_t b = 0; b < a; ++b) {
        double dot = 0;
        for (size_t i = 0; i < some.dimensions; ++i) dot += static_cast<double>(some.row(a)[i]) * some.row(b)[i];
        const bool is_same = some.labels[a] == some.labels[b];
        (is_same ? same : other) += dot;
        ++(is_same ? sames : others);
      }
    return same / static_cast<double>(sames) - other / static_cast<double>(others);
  };
  EXPECT_GT(contrast(shown), contrast(samples) + 0.1);
  for (size_t at = 0; at < shown.size(); ++at) {
    double squares = 0;
    for (size_t i = 0; i < 24; ++i) squares += static_cast<double>(shown.row(at)[i]) * shown.row(at)[i];
    EXPECT_NEAR(squares, 1, 1e-5);
  }
}

TEST(ClassifyFit, UsesTheProjectionWhereNoiseIsLoudAndIsBetterForIt) {
  const Samples train = clouds(4, 30, 32, 6, 16, 6), test = clouds(4, 200, 32, 7, 16, 6);
  const Fitted fitted = fit(train, {.iterations = 60}, kOne);
  ASSERT_TRUE(fitted.quality);
  EXPECT_TRUE(fitted.model.projected());
  EXPECT_GT(fitted.quality->accuracy, fitted.quality->plain_accuracy);
  const Model plain(32, {}, fit_logistic(train, 1, kOne), 1);
  EXPECT_GT(accuracy_of(fitted.model, test), accuracy_of(plain, test));
}

TEST(ClassifyFit, KeepsThePlainHeadWhereNothingIsToBeGained) {
  const Samples train = clouds(3, 16, 32, 8);
  const Fitted fitted = fit(train, {}, kOne);
  EXPECT_FALSE(fitted.model.projected());
  EXPECT_EQ(fitted.quality->accuracy, fitted.quality->plain_accuracy);
  EXPECT_GT(fitted.quality->accuracy, 0.9);
  EXPECT_GT(accuracy_of(fitted.model, clouds(3, 100, 32, 9)), 0.9);
}

TEST(ClassifyFit, SaysHowSureItIs) {
  const auto confidence = [](const Samples& train, const Samples& test) {
    std::vector<float> probabilities(test.size() * 2);
    fit(train, {}, kOne).model.predict(test.vectors, probabilities);
    double sum = 0;
    for (size_t at = 0; at < test.size(); ++at) sum += std::max(probabilities[2 * at], probabilities[2 * at + 1]);
    return sum / static_cast<double>(test.size());
  };
  const Samples test = clouds(2, 200, 16, 11);
  // Few samples that are told apart with ease: the penalty alone would leave the head at 0.84.
  EXPECT_GT(confidence(clouds(2, 8, 16, 10), test), 0.9);
  // Labels of which a fifth is wrong: more than four fifths of certainty is too much.
  Samples train = clouds(2, 200, 16, 10);
  SplitMix random(1);
  for (uint32_t& label : train.labels)
    if (random.below(5) == 0) label = 1 - label;
  EXPECT_NEAR(confidence(train, test), 0.8, 0.07);
}

TEST(ClassifyFit, IsTheSameForOneSeedWhateverTheThreads) {
  const Samples train = clouds(4, 12, 40, 12, 20, 3);
  const Samples test = clouds(4, 10, 40, 13, 20, 3);
  std::vector<float> one(test.size() * 4), two(one), other(one);
  fit(train, {}, kOne).model.predict(test.vectors, one);
  fit(train, {}, Work(4)).model.predict(test.vectors, two);
  EXPECT_EQ(one, two);
}

TEST(ClassifyFit, LearnsFromOneSampleOfEachOfTwoLabelsButNotFromLess) {
  const Samples two = clouds(2, 1, 8, 14);
  const Fitted fitted = fit(two, {}, kOne);
  EXPECT_FALSE(fitted.quality);
  EXPECT_EQ(accuracy_of(fitted.model, two), 1);
  Samples same = clouds(2, 3, 8, 15);
  std::fill(same.labels.begin(), same.labels.end(), 1U);
  expect_failure("bad_request", "one label", [&] { fit(same, {}, kOne); });
  const Samples many{1, kMostClasses, std::vector<float>(1025, 1.0F), std::vector<uint32_t>(1025)};
  expect_failure("too_large", "1025 samples of 4096 classes", [&] { fit(many, {}, kOne); });
  expect_failure("bad_request", "at least 2", [&] { fit(Samples{8, 2, {}, {}}, {}, kOne); });
}

TEST(ClassifyFit, TakesEqualRowsWithDifferentLabels) {
  Samples samples{3, 2, {}, {}};
  const float row[] = {1, 2, 3};
  for (uint32_t at = 0; at < 10; ++at) {
    const uint32_t label = at % 2;
    append(samples, row, {&label, 1});
  }
  std::vector<float> probabilities(2);
  fit(samples, {}, kOne).model.predict({row, 3}, probabilities);
  EXPECT_NEAR(probabilities[0], 0.5, 0.01);
}

TEST(ClassifyFit, EndsSoonWhenItIsStopped) {
  const Samples train = clouds(50, 100, 256, 16);
  Work work(2);
  std::thread stopping([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    work.stop();
  });
  expect_failure("unavailable", "", [&] { fit(train, {}, work); });
  stopping.join();
}

TEST(ClassifySamples, RefuseWhatCannotBeARow) {
  Samples samples{2, 2, {}, {}};
  const uint32_t label = 1, unknown = 2;
  const float good[] = {1, 1}, nothing[] = {0, 0}, bad[] = {1, std::numeric_limits<float>::quiet_NaN()};
  append(samples, good, {&label, 1});
  expect_failure("invalid", "row 1", [&] { append(samples, nothing, {&label, 1}); });
  expect_failure("invalid", "dimension 1", [&] { append(samples, bad, {&label, 1}); });
  expect_failure("invalid", "Label 2", [&] { append(samples, good, {&unknown, 1}); });
  expect_failure("invalid", "2 dimensions", [&] { append(samples, {good, 1}, {&label, 1}); });
  EXPECT_EQ(samples.size(), 1U);
}

class ClassifyFiles : public testing::Test {
 protected:
  const std::string path =
      (std::filesystem::temp_directory_path() / ("quern-classify-" + std::to_string(::getpid()))).string();
  void TearDown() override { std::filesystem::remove(path); }
};

TEST_F(ClassifyFiles, GiveTheSameBitsBackAndRefuseEveryFlippedByte) {
  const Samples train = clouds(4, 30, 32, 6, 16, 6);
  const Model model = fit(train, {.iterations = 60}, kOne).model;
  ASSERT_TRUE(model.projected());
  model.save(path, 9);
  std::vector<float> before(train.size() * 4), after(before);
  model.predict(train.vectors, before);
  Model::load(path, 9).predict(train.vectors, after);
  EXPECT_EQ(before, after);
  expect_failure("model_failed", "generation", [&] { Model::load(path, 8); });
  std::ifstream file(path, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  file.close();
  for (size_t at = 0; at < whole.size(); at += 97) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 16);
    std::filesystem::remove(path);
    std::ofstream(path, std::ios::binary) << changed;
    expect_failure("model_failed", path, [&] { Model::load(path, 9); });
  }
  std::filesystem::remove(path);
  expect_failure("not_found", path, [&] { Model::load(path, 9); });
}

TEST(ClassifyModel, RefusesRowsOfAnotherWidthAndNumbersThatAreNone) {
  const Model model = fit(clouds(2, 4, 8, 17), {}, kOne).model;
  std::vector<float> row(8, 1), probabilities(2);
  row[3] = std::numeric_limits<float>::infinity();
  expect_failure("invalid", "dimension 3", [&] { model.predict(row, probabilities); });
  expect_failure("invalid", "8 dimensions", [&] { model.predict(std::span(row).first(7), probabilities); });
}

TEST(Validation, CountsEveryLabelByWhatWasSaidAndWhatWasTrue) {
  // Of two of label 0 one is found; of two of label 1 both are, and one more is taken for it; nobody says label 2.
  const Samples samples{1, 3, {1, 1, 1, 1, 1}, {0, 0, 1, 1, 2}};
  const HeldOut held_out{{0, 1, 2, 3, 4}, {9, 0, 0, /**/ 0, 9, 0, /**/ 0, 9, 0, /**/ 0, 9, 0, /**/ 9, 0, 0}, 5};
  const std::vector<LabelQuality> found = label_qualities(held_out, samples);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_DOUBLE_EQ(found[0].precision, 1.0 / 2);
  EXPECT_DOUBLE_EQ(found[0].recall, 1.0 / 2);
  EXPECT_DOUBLE_EQ(found[0].f1, 1.0 / 2);
  EXPECT_DOUBLE_EQ(found[1].precision, 2.0 / 3);
  EXPECT_DOUBLE_EQ(found[1].recall, 1.0);
  EXPECT_DOUBLE_EQ(found[1].f1, 4.0 / 5);
  EXPECT_EQ(found[1].support, 2u);
  EXPECT_DOUBLE_EQ(found[2].precision, 0.0);
  EXPECT_DOUBLE_EQ(found[2].recall, 0.0);
  EXPECT_DOUBLE_EQ(found[2].f1, 0.0);
}

}  // namespace
}  // namespace quern::classify
