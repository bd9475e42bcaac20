#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "anomaly/neighbours.hpp"
#include "anomaly_fixture.hpp"

namespace quern::anomaly {
namespace {

using Maker = std::unique_ptr<Neighbours> (*)(const Matrix& rows, const Work& work);

Matrix matrix(const std::vector<double>& values, size_t columns) {
  return {values.data(), values.size() / columns, columns};
}

class EverySearch : public testing::TestWithParam<Maker> {
 protected:
  std::vector<std::vector<Neighbour>> search(const std::vector<double>& values, const std::vector<double>& queries,
                                             size_t columns, size_t k, size_t threads = 1) {
    const Work work(threads);
    const auto neighbours = GetParam()(matrix(values, columns), work);
    std::vector<std::vector<Neighbour>> all(queries.size() / columns);
    neighbours->search(matrix(queries, columns), k, work, [&](size_t query, std::span<const Neighbour> found) {
      all[query].assign(found.begin(), found.end());
    });
    return all;
  }

  /// The distances are those of a look at every row, in both directions of the order.
  void expect_exact(const std::vector<double>& values, const std::vector<double>& queries, size_t columns, size_t k) {
    const Matrix rows = matrix(values, columns), asked = matrix(queries, columns);
    const auto all = search(values, queries, columns, k, 2);
    for (size_t query = 0; query < asked.rows; ++query) {
      std::vector<double> squares(rows.rows);
      for (size_t i = 0; i < rows.rows; ++i)
        squares[i] = square_between(asked.row(query).data(), rows.row(i).data(), columns);
      std::vector<double> sorted = squares;
      std::ranges::sort(sorted);
      ASSERT_EQ(all[query].size(), std::min(k, rows.rows));
      EXPECT_TRUE(std::ranges::is_sorted(all[query]));
      for (size_t i = 0; i < all[query].size(); ++i) {
        EXPECT_NEAR(all[query][i].square, sorted[i], 1e-9 * sorted[i]) << "query " << query << ", neighbour " << i;
        EXPECT_NEAR(squares[all[query][i].row], sorted[i], 1e-9 * sorted[i]);
      }
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Neighbours, EverySearch, testing::Values(make_neighbour_tree, make_neighbour_scan));

TEST_P(EverySearch, IsALookAtEveryRow) {
  for (const size_t columns : {1, 2, 7, 40})
    for (const size_t rows : {1, 31, 33, 700})
      expect_exact(clusters(rows, columns, rows), clusters(60, columns, 5), columns, 5);
}

TEST_P(EverySearch, FindsEachRowOnceAndItselfFirst) {
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

TEST_P(EverySearch, TakesDuplicates) {
  std::vector<double> values(6000 * 2, 3.0);
  values[7] = 4;
  expect_exact(values, {3, 3, 3, 4, 100, -5}, 2, 6);
  std::vector<double> grid;
  for (size_t i = 0; i < 2000; ++i) grid.insert(grid.end(), {static_cast<double>(i % 4), static_cast<double>(i % 3)});
  expect_exact(grid, {0, 0, 1.5, 1, 9, 9}, 2, 25);
}

TEST_P(EverySearch, KeepsItsDigitsFarFromZeroAndBesideGiants) {
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

TEST_P(EverySearch, DoesNotDependOnThreadsOrCompany) {
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
