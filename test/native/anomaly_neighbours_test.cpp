#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "anomaly/neighbours.hpp"
#include "anomaly/svm_solver.hpp"
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

TEST_F(NeighbourSearch, KeepsItsDigitsFarFromAllRows) {
  std::vector<double> values;
  for (size_t i = 0; i < 512; ++i)
    values.insert(values.end(), {-1 + static_cast<double>(i) * 0.5 / 511, static_cast<double>(i % 7) * 0.1});
  values[0] = 1 - 3e-5;
  values[2] = 1;
  values[1] = values[3] = 0.3;
  expect_exact(values, {4e11, 3e11}, 2, 1);
  EXPECT_EQ(search(values, {4e11, 3e11}, 2, 1)[0][0].row, 0u);
}

TEST_F(NeighbourSearch, TakesTheEarlierOfRowsWhoseSquaresAreZero) {
  for (const size_t rows : {600, 6000}) {
    std::vector<double> values;
    for (size_t i = 0; i < rows; ++i) values.push_back(static_cast<double>(rows - i) * 1e-170);
    EXPECT_EQ(search(values, {0}, 1, 3)[0], (std::vector<Neighbour>{{0, 0}, {0, 1}, {0, 2}}));
    for (size_t i = 0; i < rows; ++i) values.push_back(static_cast<double>(i) * 1e-162);
    expect_exact(values, {0, 5e-161, 1}, 1, 7);
  }
}

TEST_F(NeighbourSearch, IsALookAtEveryRowOfMany) {
  for (const size_t columns : {1, 2, 3}) {
    const std::vector<double> values = clusters(9000, columns);
    std::vector<double> queries(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(300 * columns));
    queries.insert(queries.end(), columns, 1e5);
    expect_exact(values, queries, columns, 6);
  }
  // The rows themselves are asked for in the order of their groups.
  const std::vector<double> rows = clusters(3000, 2);
  expect_exact(rows, rows, 2, 4);
}

TEST(OneClassSolver, GivesTheSameWhenKernelRowsAreMadeAgain) {
  const std::vector<double> values = clusters(700, 3);
  const Support all = solve_one_class(matrix(values, 3), 0.4, 0.3, 1e-3, Work(2));
  // 0 gives the least number of rows, which is fewer than the first gradients need.
  for (const size_t kept : {size_t{0}, 32 * padded<double>(700)}) {
    const Support few = solve_one_class(matrix(values, 3), 0.4, 0.3, 1e-3, Work(2), kept);
    EXPECT_EQ(few.weights, all.weights);
    EXPECT_EQ(few.rho, all.rho);
  }
}

}  // namespace
}  // namespace quern::anomaly
