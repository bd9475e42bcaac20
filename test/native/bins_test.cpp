#include "anomaly/kernels/bins.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "anomaly/blocks.hpp"
#include "base/random.hpp"

namespace quern {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<Isa> sets() {
  std::vector<Isa> sets{Isa::kPortable};
  if (best_isa() != Isa::kPortable) sets.push_back(Isa::kAvx2);
  if (best_isa() == Isa::kAvx512) sets.push_back(Isa::kAvx512);
  return sets;
}

/// Whole numbers, so that many values lie on edges; the last few are NaN.
std::vector<double> values_of(size_t count, size_t known) {
  Random random(count);
  std::vector<double> values(count, kNan);
  for (size_t i = 0; i < known; ++i) values[i] = static_cast<double>(random.below(14)) - 2;
  return values;
}

TEST(Bins, AreThoseOfEveryValueAlone) {
  std::vector<double> edges(kMostBins - 1), table(kMostBins);
  for (size_t e = 0; e < edges.size(); ++e) edges[e] = static_cast<double>(e) - 1;
  for (size_t i = 0; i < table.size(); ++i) table[i] = std::sqrt(static_cast<double>(i));
  const std::vector<double> values = values_of(96, 90);
  for (const Isa isa : sets())
    for (const size_t edge_count : {size_t{1}, size_t{9}, edges.size()}) {
      std::vector<uint64_t> counts(edge_count, 5);
      std::vector<double> sums(values.size(), 0.25);
      bin_kernels(isa).count_from(values.data(), values.size(), edges.data(), edge_count, counts.data());
      bin_kernels(isa).add_terms(values.data(), values.size(), edges.data(), edge_count, table.data(), sums.data());
      for (size_t e = 0; e < edge_count; ++e)
        EXPECT_EQ(counts[e], 5 + std::ranges::count_if(values, [&](double value) { return value >= edges[e]; }));
      for (size_t i = 0; i < values.size(); ++i) {
        const auto below = std::count_if(edges.begin(), edges.begin() + static_cast<std::ptrdiff_t>(edge_count),
                                         [&](double edge) { return values[i] > edge; });
        EXPECT_EQ(sums[i], 0.25 + table[static_cast<size_t>(below)]);
      }
    }
}

TEST(Bins, ReachAndProjectionsLeaveOutNan) {
  const std::vector<double> a = values_of(64, 33), b = values_of(64, 64);
  const std::vector<const double*> columns{a.data(), b.data()};
  const std::vector<double> weights{0.5, -3};
  for (const Isa isa : sets()) {
    double least = 100, most = -100;
    bin_kernels(isa).reach(a.data(), a.size(), least, most);
    EXPECT_EQ(least, *std::min_element(a.begin(), a.begin() + 33));
    EXPECT_EQ(most, *std::max_element(a.begin(), a.begin() + 33));
    bin_kernels(isa).reach(b.data(), b.size(), least = -50, most = 50);
    EXPECT_EQ(least, -50);
    EXPECT_EQ(most, 50);
    std::vector<double> out(64);
    bin_kernels(isa).project(columns.data(), weights.data(), 2, out.data(), out.size());
    for (size_t i = 0; i < 33; ++i) EXPECT_EQ(out[i], 0.5 * a[i] - 3 * b[i]);
    for (size_t i = 33; i < 64; ++i) EXPECT_TRUE(std::isnan(out[i]));
  }
}

TEST(ColumnBlock, HoldsEveryRowOnce) {
  for (const size_t columns : {size_t{1}, size_t{3}, size_t{700}}) {
    const size_t rows = 301;
    std::vector<double> values(rows * columns);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
    size_t next = 7;
    anomaly::each_block({values.data(), rows, columns}, 7, rows, [&](const anomaly::ColumnBlock& block) {
      EXPECT_EQ(block.first(), next);
      EXPECT_EQ(block.padded() % kBinLanes, 0u);
      for (size_t i = 0; i < block.padded(); ++i)
        for (size_t k = 0; k < columns; ++k) {
          if (i < block.count()) {
            EXPECT_EQ(block.column(k)[i], values[(next + i) * columns + k]);
          } else {
            EXPECT_TRUE(std::isnan(block.column(k)[i]));
          }
        }
      next += block.count();
    });
    EXPECT_EQ(next, rows);
  }
}

}  // namespace
}  // namespace quern
