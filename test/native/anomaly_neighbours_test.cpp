#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "anomaly/neighbours.hpp"
#include "anomaly_fixture.hpp"
#include "kernels/dense.hpp"

namespace quern::anomaly {
namespace {

Matrix matrix(const std::vector<double>& values, size_t columns) {
  return {values.data(), values.size() / columns, columns};
}

class NeighbourSearch : public testing::Test {
 protected:
  std::vector<std::vector<Neighbour>> search(const std::vector<double>& values, const std::vector<double>& queries,
                                             size_t columns, size_t k, size_t threads = 1) {
    const Work work(threads);
    const Neighbours neighbours(matrix(values, columns), work);
    std::vector<std::vector<Neighbour>> all(queries.size() / columns);
    neighbours.search(matrix(queries, columns), k, work, [&](size_t query, std::span<const Neighbour> found) {
      all[query].assign(found.begin(), found.end());
    });
    return all;
  }

  /// What is found is what a look at every row finds: the nearest, of equally near ones the earlier.
  void expect_exact(const std::vector<double>& values, const std::vector<double>& queries, size_t columns, size_t k) {
    const Matrix rows = matrix(values, columns), asked = matrix(queries, columns);
    const auto all = search(values, queries, columns, k, 2);
    for (size_t query = 0; query < asked.rows; ++query) {
      std::vector<Neighbour> every(rows.rows);
      for (uint32_t i = 0; i < rows.rows; ++i)
        every[i] = {square_between(asked.row(query).data(), rows.row(i).data(), columns), i};
      std::ranges::sort(every);
      every.resize(std::min(k, rows.rows));
      ASSERT_EQ(all[query], every) << "query " << query;
    }
  }
};

TEST_F(NeighbourSearch, IsALookAtEveryRow) {
  for (const size_t columns : {1, 2, 7, 40})
    for (const size_t rows : {1, 31, 257, 1500})
      expect_exact(clusters(rows, columns, rows), clusters(60, columns, 5), columns, 5);
}

TEST_F(NeighbourSearch, FindsEachRowOnceAndItselfFirst) {
  const std::vector<double> values = clusters(900, 3);
  const auto all = search(values, values, 3, 20);
  for (uint32_t row = 0; row < all.size(); ++row) {
    EXPECT_EQ(all[row][0], (Neighbour{0, row}));
    std::vector<uint32_t> found;
    for (const Neighbour& one : all[row]) found.push_back(one.row);
    std::ranges::sort(found);
    EXPECT_EQ(std::ranges::adjacent_find(found), found.end());
  }
}

TEST_F(NeighbourSearch, TakesDuplicates) {
  std::vector<double> values(6000 * 2, 3.0);
  values[7] = 4;
  expect_exact(values, {3, 3, 3, 4, 100, -5}, 2, 6);
  std::vector<double> grid;
  for (size_t i = 0; i < 2000; ++i) grid.insert(grid.end(), {static_cast<double>(i % 4), static_cast<double>(i % 3)});
  expect_exact(grid, {0, 0, 1.5, 1, 9, 9}, 2, 25);
}

TEST_F(NeighbourSearch, TellsApartWhatFloatsDoNot) {
  constexpr size_t kColumns = 20;
  // All rows at nearly the same distance from 0, on all sides and on one, in one group and in several.
  for (const auto& [rows, away] : {std::pair<size_t, double>{256, 0}, {256, 400}, {1500, 400}}) {
    std::vector<double> shell = clusters(rows, kColumns);
    for (double& value : shell) value += away;
    for (size_t i = 0; i < rows; ++i) {
      double square = 0;
      for (size_t k = 0; k < kColumns; ++k) square += shell[i * kColumns + k] * shell[i * kColumns + k];
      const double length = 1 + 1e-9 * static_cast<double>(i * 7919 % rows);
      for (size_t k = 0; k < kColumns; ++k) shell[i * kColumns + k] *= length / std::sqrt(square);
    }
    expect_exact(shell, std::vector<double>(kColumns, 0.0), kColumns, 5);
  }
}

TEST_F(NeighbourSearch, TakesTheEarlierOfEquallyNearRows) {
  std::vector<double> ring;
  for (size_t i = 0; i < 3000; ++i) {
    ring.push_back(i % 4 < 2 ? 3 : 4);
    ring.push_back(i % 4 < 2 ? (i % 2 == 0 ? 4 : -4) : (i % 2 == 0 ? 3 : -3));
  }
  expect_exact(ring, {0, 0, 3, 0, 7, 7}, 2, 30);
  expect_exact(std::vector<double>(2000 * 3, 1.0), {1, 1, 1, 2, 1, 1}, 3, 7);
}

TEST_F(NeighbourSearch, KeepsItsDigitsFarFromZeroAndBesideGiants) {
  std::vector<double> values = clusters(500, 20);
  for (double& value : values) value = 1e7 + value;
  expect_exact(values, std::vector<double>(values.begin(), values.begin() + 200), 20, 5);
  std::vector<double> giants = clusters(500, 20);
  giants[45] = 1e100;
  giants[1234] = -1e30;
  std::vector<double> queries(giants.begin() + 40, giants.begin() + 160);
  queries[3] = 1e60;
  expect_exact(giants, queries, 20, 5);
  std::vector<double> dwarfs = clusters(300, 20);
  for (double& value : dwarfs) value *= 1e-160;
  expect_exact(dwarfs, std::vector<double>(dwarfs.begin(), dwarfs.begin() + 200), 20, 3);
}

TEST_F(NeighbourSearch, DoesNotDependOnThreadsOrCompany) {
  const std::vector<double> values = clusters(800, 17), queries = clusters(333, 17, 8);
  const auto one = search(values, queries, 17, 7, 1);
  EXPECT_EQ(one, search(values, queries, 17, 7, 3));
  for (const size_t query : {0, 100, 332}) {
    const std::vector<double> alone(queries.begin() + static_cast<std::ptrdiff_t>(query * 17),
                                    queries.begin() + static_cast<std::ptrdiff_t>(query * 17 + 17));
    EXPECT_EQ(search(values, alone, 17, 7)[0], one[query]);
  }
}

}  // namespace
}  // namespace quern::anomaly
