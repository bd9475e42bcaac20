#include "anomaly/kernels/pair_steps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

namespace quern {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<Isa> sets() {
  std::vector<Isa> all{Isa::kPortable};
  if (best_isa() != Isa::kPortable) all.push_back(Isa::kAvx2);
  if (best_isa() == Isa::kAvx512) all.push_back(Isa::kAvx512);
  return all;
}

struct Table {
  std::vector<double> gradient, leave, ranks;
  std::vector<float> a, b;

  /// Few different gradients, so that many are equal.
  explicit Table(size_t count) {
    std::mt19937 random(static_cast<uint32_t>(count));
    for (size_t i = 0; i < count; ++i) {
      gradient.push_back(static_cast<double>(random() % 7) * 0.1);
      leave.push_back(random() % 3 == 0 ? -kInfinity : 0);
      a.push_back(static_cast<float>(random() % 5) * 0.25f);
      b.push_back(static_cast<float>(random() % 9) * 0.125f);
      ranks.push_back(static_cast<double>(i));
    }
    std::ranges::shuffle(ranks, random);
  }
};

void expect_last(const Extreme& found, const std::vector<double>& values, const std::vector<double>& ranks) {
  const double greatest = *std::ranges::max_element(values);
  double rank = -1;
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] == greatest) rank = std::max(rank, ranks[i]);
  EXPECT_EQ(found.value, greatest);
  if (greatest > -kInfinity) {
    EXPECT_EQ(found.rank, rank) << values.size();
  }
}

TEST(PairSteps, TakesTheLastOfTheGreatest) {
  for (const Isa isa : sets())
    for (size_t count = 1; count < 70; ++count) {
      const Table table(count);
      std::vector<double> values;
      for (size_t i = 0; i < count; ++i) values.push_back(table.leave[i] - table.gradient[i]);
      expect_last(pair_steps(isa).greatest({table.gradient.data(), table.leave.data(), table.ranks.data(), count}),
                  values, table.ranks);
    }
}

TEST(PairSteps, AddsRoundedOneByOne) {
  for (const Isa isa : sets()) {
    Table table(67);
    const std::vector<double> before = table.gradient;
    pair_steps(isa).add(table.gradient.data(), table.a.data(), table.b.data(), 0.3, -1.0 / 3, 67);
    for (size_t i = 0; i < 67; ++i) {
      // volatile: nothing is joined to one rounding.
      const volatile double left = 0.3 * static_cast<double>(table.a[i]);
      const volatile double right = -1.0 / 3 * static_cast<double>(table.b[i]);
      const volatile double both = left + right;
      EXPECT_EQ(table.gradient[i], before[i] + both);
    }
  }
}

TEST(PairSteps, PartnerGainsMostAndIsTheLast) {
  for (const Isa isa : sets())
    for (size_t count = 1; count < 70; ++count)
      for (const double grow : {-0.25, 0.2, -1.0}) {
        const Table table(count);
        std::vector<double> gains;
        double greatest = -kInfinity;
        for (size_t i = 0; i < count; ++i) {
          const double value = table.gradient[i] + table.leave[i], broken = grow + value;
          greatest = std::max(greatest, value);
          const double curvature = 2 - 2 * static_cast<double>(table.a[i]);
          gains.push_back(broken > 0 ? broken * broken / (curvature > 0 ? curvature : 1e-12) : -kInfinity);
        }
        const Partner found = pair_steps(isa).partner(
            {table.gradient.data(), table.leave.data(), table.ranks.data(), count}, table.a.data(), grow, 1e-12);
        expect_last(found.gain, gains, table.ranks);
        EXPECT_EQ(found.greatest, greatest);
      }
}

}  // namespace
}  // namespace quern
