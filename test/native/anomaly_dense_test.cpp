#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "anomaly/kernels/training.hpp"
#include "base/random.hpp"
#include "kernels/dense.hpp"

namespace quern {
namespace {

std::vector<Isa> sets() {
  std::vector<Isa> sets{Isa::kPortable};
  if (best_isa() != Isa::kPortable) sets.push_back(Isa::kAvx2);
  if (best_isa() == Isa::kAvx512) sets.push_back(Isa::kAvx512);
  return sets;
}

template <typename T>
std::vector<T> drawn(size_t count, uint64_t seed) {
  Random random(seed);
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(random.normal());
  return values;
}

template <typename T>
class Dense : public testing::Test {};
using Numbers = testing::Types<float, double>;
TYPED_TEST_SUITE(Dense, Numbers);

TYPED_TEST(Dense, TheLeastTwoOfSomeLines) {
  using T = TypeParam;
  constexpr size_t kLanes = kPanel<T>, kMost = 7, kStep = kLanes + 3;
  auto lines = drawn<T>(kMost * kStep, 4);
  // Equal numbers: the first line counts, the other one is the second.
  lines[2 * kStep] = lines[5 * kStep] = -100;
  for (const Isa isa : sets())
    for (size_t count = 1; count <= kMost; ++count) {
      std::vector<T> least(kLanes), line(kLanes), second(kLanes);
      dense_kernels<T>(isa).least_two(lines.data(), count, kStep, least.data(), line.data(), second.data());
      for (size_t lane = 0; lane < kLanes; ++lane) {
        std::vector<T> column;
        for (size_t i = 0; i < count; ++i) column.push_back(lines[i * kStep + lane]);
        const auto at = std::min_element(column.begin(), column.end());
        EXPECT_EQ(static_cast<size_t>(line[lane]), static_cast<size_t>(at - column.begin()));
        EXPECT_EQ(least[lane], *at);
        column.erase(at);
        EXPECT_EQ(second[lane], column.empty() ? std::numeric_limits<T>::infinity()
                                               : *std::min_element(column.begin(), column.end()));
      }
    }
}

TYPED_TEST(Dense, EveryNumberOfRowsIsTheDefinitionAndKeepsItsBits) {
  using T = TypeParam;
  constexpr size_t kDepth = 13, kMostRows = 19, kLanes = kPanel<T>;
  const auto a = drawn<T>(kMostRows * kDepth, 1), panel = drawn<T>(kDepth * kLanes, 2),
             start = drawn<T>(kMostRows * kLanes, 3);
  const double near = std::numeric_limits<T>::epsilon() * 50;
  for (const Isa isa : sets()) {
    const auto& kernels = dense_kernels<T>(isa);
    std::vector<T> whole(kMostRows * kLanes);
    kernels.multiply({a.data(), kDepth, 1}, kMostRows, {panel.data(), kLanes, kDepth}, whole.data(), kLanes);
    for (size_t rows = 1; rows <= kMostRows; ++rows) {
      std::vector<T> product(rows * kLanes), squares(rows * kLanes),
          sum(start.begin(), start.begin() + static_cast<std::ptrdiff_t>(rows * kLanes));
      kernels.multiply({a.data(), kDepth, 1}, rows, {panel.data(), kLanes, kDepth}, product.data(), kLanes);
      kernels.distances({a.data(), kDepth, 1}, rows, {panel.data(), kLanes, kDepth}, squares.data(), kLanes);
      kernels.add_product({a.data(), kDepth, 1}, rows, {panel.data(), kLanes, kDepth}, sum.data(), kLanes);
      for (size_t i = 0; i < rows * kLanes; ++i) {
        double dot = 0, square = 0;
        for (size_t k = 0; k < kDepth; ++k) {
          const double x = static_cast<double>(a[i / kLanes * kDepth + k]),
                       y = static_cast<double>(panel[k * kLanes + i % kLanes]);
          dot += x * y;
          square += (x - y) * (x - y);
        }
        EXPECT_EQ(product[i], whole[i]);
        EXPECT_NEAR(static_cast<double>(product[i]), dot, near);
        EXPECT_NEAR(static_cast<double>(squares[i]), square, near * 10);
        EXPECT_NEAR(static_cast<double>(sum[i]), dot + static_cast<double>(start[i]), near);
      }
    }
  }
}

TYPED_TEST(Dense, ColumnsAreRowsOfTheTurnedTable) {
  using T = TypeParam;
  constexpr size_t kDepth = 7, kRows = 5, kLanes = kPanel<T>;
  const auto a = drawn<T>(kDepth * kRows, 4), panel = drawn<T>(kDepth * kLanes, 5);
  std::vector<T> turned(kRows * kDepth);
  for (size_t i = 0; i < a.size(); ++i) turned[i % kRows * kDepth + i / kRows] = a[i];
  std::vector<T> left(kRows * kLanes), right(kRows * kLanes);
  const auto& kernels = dense_kernels<T>();
  kernels.multiply({a.data(), 1, kRows}, kRows, {panel.data(), kLanes, kDepth}, left.data(), kLanes);
  kernels.multiply({turned.data(), kDepth, 1}, kRows, {panel.data(), kLanes, kDepth}, right.data(), kLanes);
  EXPECT_EQ(left, right);
}

TYPED_TEST(Dense, BoxesAreTheDefinition) {
  using T = TypeParam;
  constexpr size_t kDepth = 4, kLanes = kPanel<T>;
  const auto point = drawn<T>(kDepth, 6);
  auto least = drawn<T>(kDepth * kLanes, 7), greatest = drawn<T>(kDepth * kLanes, 8);
  for (size_t i = 0; i < least.size(); ++i)
    if (least[i] > greatest[i]) std::swap(least[i], greatest[i]);
  for (const Isa isa : sets()) {
    std::vector<T> out(kLanes);
    dense_kernels<T>(isa).box_distances(point.data(), point.data(), least.data(), greatest.data(), kDepth, out.data());
    for (size_t lane = 0; lane < kLanes; ++lane) {
      T square = 0;
      for (size_t k = 0; k < kDepth; ++k) {
        const T way = std::max({least[k * kLanes + lane] - point[k], point[k] - greatest[k * kLanes + lane], T{0}});
        square += way * way;
      }
      EXPECT_NEAR(static_cast<double>(out[lane]), static_cast<double>(square), 1e-5);
    }
  }
}

TEST(DenseRows, LanesWithinAreThoseAtMostTheBound) {
  auto values = drawn<float>(3 * kPanel<float>, 9);
  values[5] = std::numeric_limits<float>::quiet_NaN();
  for (const Isa isa : sets())
    for (const float bound : {values[0], -1.0f, std::numeric_limits<float>::infinity()}) {
      uint32_t lanes[3];
      lanes_within(values.data(), 3, bound, lanes, isa);
      for (size_t i = 0; i < values.size(); ++i)
        EXPECT_EQ(lanes[i / kPanel<float>] >> i % kPanel<float> & 1, values[i] <= bound ? 1u : 0u) << i;
    }
}

TEST(DenseRows, DistancesAndOffsetsAreTheDefinition) {
  for (const Isa isa : sets())
    for (const size_t depth : {1, 7, 8, 19, 40}) {
      const auto point = drawn<double>(depth, 10), centre = drawn<double>(depth, 11);
      double square = 0;
      for (size_t k = 0; k < depth; ++k) square += (point[k] - centre[k]) * (point[k] - centre[k]);
      std::vector<float> out(depth);
      EXPECT_NEAR(square_between(point.data(), centre.data(), depth, isa), square, 1e-13 * square);
      EXPECT_NEAR(offset_from(point.data(), centre.data(), depth, 0.5, out.data(), isa), square, 1e-13 * square);
      for (size_t k = 0; k < depth; ++k) EXPECT_EQ(out[k], static_cast<float>((centre[k] - point[k]) * 0.5));
    }
}

TEST(DenseExp, IsWithinTwoUnitsOfTheLastPlace) {
  for (const Isa isa : sets()) {
    std::vector<double> values;
    for (double x = -720; x < 700; x += 0.37) values.push_back(x);
    const std::vector<double> given = values;
    exp_all(values.data(), values.size(), isa);
    for (size_t i = 0; i < values.size(); ++i) {
      const double expected = given[i] < -708 ? 0 : std::exp(given[i]);
      EXPECT_LE(std::abs(values[i] - expected), expected * 4.5e-16) << given[i];
    }
    std::vector<double> edges{0, -0.0, -1e300, -std::numeric_limits<double>::infinity()};
    exp_all(edges.data(), edges.size(), isa);
    EXPECT_EQ(edges, (std::vector<double>{1, 1, 0, 0}));
  }
}

/// The gradient that activate_back() gives is the slope of activate() by differences.
TEST(TrainingKernels, TheWayBackIsTheSlope) {
  constexpr size_t kRows = 6, kWidth = kPanel<float>;
  const auto input = drawn<float>(kRows * kWidth, 9), weight = drawn<float>(kRows * kWidth, 10),
             scale = drawn<float>(kWidth, 11), shift = drawn<float>(kWidth, 12);
  std::vector<uint16_t> draws(kRows * kWidth);
  for (size_t i = 0; i < draws.size(); ++i) draws[i] = static_cast<uint16_t>(i * 7919);
  for (const Isa isa : sets()) {
    const auto& kernels = training_kernels(isa);
    std::vector<float> mean(kWidth), inverse(kWidth), out(kRows * kWidth);
    const auto loss = [&](std::vector<float> x) {
      kernels.activate({x.data(), kRows, kWidth}, {scale.data(), shift.data(), mean.data(), inverse.data()},
                       draws.data(), 13107, 1.25f, out.data());
      double sum = 0;
      for (size_t i = 0; i < out.size(); ++i) sum += static_cast<double>(out[i]) * static_cast<double>(weight[i]);
      return sum;
    };
    std::vector<float> normalised = input, gradient = weight, scale_gradient(kWidth), shift_gradient(kWidth);
    const Normalisation by{scale.data(), shift.data(), mean.data(), inverse.data()};
    kernels.activate({normalised.data(), kRows, kWidth}, by, draws.data(), 13107, 1.25f, out.data());
    kernels.activate_back({gradient.data(), kRows, kWidth}, normalised.data(), out.data(), by, 1.25f,
                          {scale_gradient.data(), shift_gradient.data()});
    size_t kinks = 0;
    for (size_t i = 0; i < input.size(); i += 3) {
      std::vector<float> more = input, less = input;
      more[i] += 2e-3f;
      less[i] -= 2e-3f;
      const double slope = (loss(more) - loss(less)) / 4e-3;
      // Where a number crosses the cut at 0 differences are no slope.
      kinks += std::abs(slope - static_cast<double>(gradient[i])) > 0.02;
    }
    EXPECT_LE(kinks, 3u);
  }
}

TEST(TrainingKernels, AdamTakesItsFirstStepByTheSign) {
  for (const Isa isa : sets()) {
    std::vector<float> weights(32, 1), gradient(32, 5), means(32), squares(32);
    gradient[1] = -0.01f;
    training_kernels(isa).adam(weights.data(), gradient.data(), means.data(), squares.data(), 32,
                               {0.001f / 0.1f, 1000.0f, 0.0f});
    EXPECT_NEAR(weights[0], 0.999, 1e-6);
    EXPECT_NEAR(weights[1], 1.001, 1e-6);
  }
}

}  // namespace
}  // namespace quern
