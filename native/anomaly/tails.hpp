#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "sorting.hpp"
#include "state.hpp"

namespace quern::anomaly {

/// How far out one value lies in its column: minus the logarithms of the shares of values up to it, and from it on.
struct Tail {
  double left;
  double right;
  double skewed;  ///< the tail on the longer side of the column; the sum of both where the column is symmetric
};

/**
 * The empirical distribution of every column, with which ECOD and COPOD look at a row as if it had been the last of the
 * fitted rows: it counts itself, in the shares and in the skewness. So the score of a row depends on no other row of a
 * request, and needs no fitted row beside it to be finite.
 */
class Tails {
 public:
  /// A fit, and what sum() would put into the scores of its rows.
  template <typename Term>
  void fit_and_sum(const Matrix& rows, std::span<double> scores, const Work& work, Term term);
  void restore(const State& state);
  State state() const;
  size_t columns() const { return columns_.size(); }

  /// The tails of one value in a column.
  Tail tail(size_t column, double value) const;
  /// The sum of `term` of every column's tail is the score of a row.
  template <typename Term>
  void sum(const Matrix& rows, std::span<double> scores, const Work& work, Term term) const;
  template <typename Term>
  void terms(std::span<const double> row, std::span<double> shares, Term term) const {
    for (size_t column = 0; column < row.size(); ++column) shares[column] = term(tail(column, row[column]));
  }

 private:
  struct Column {
    std::vector<double> sorted;  ///< then numbers beyond all, up to whole strides
    std::vector<double> marks;   ///< every stride's first: few enough for the fastest memory
    double mean = 0;
    double second = 0;  ///< sum of squares of the differences from the mean
    double third = 0;   ///< sum of their cubes
    // How the moments change with one value more, by its difference from the mean.
    double part = 0;
    double one_more = 0;
    double cube = 0;
    double slope = 0;
  };
  /// What a value has that `place` fitted values are less than, and which equals none.
  struct Shares {
    double left;   ///< -ln((place + 1) / (n + 1))
    double right;  ///< -ln((n - place + 1) / (n + 1))
  };
  /// Values whose places are looked up together.
  static constexpr size_t kBlock = 256;

  void start_fit(const Matrix& rows, const Work& work);
  /// Copies columns `first` to before `last` of all rows, each in one piece.
  static void gather(const Matrix& rows, size_t first, size_t last, std::span<double> to, const Work& work);
  /// Completes a column whose `sorted` holds its values in order.
  void index(Column& column) const;
  void build_logarithms(const Work& work);
  /// How many sorted values are less than each of `values`.
  void places(const Column& column, std::span<const double> values, std::span<uint32_t> found) const;
  Tail tail_at(const Column& column, double value, size_t place) const;
  /// Of a value that `place` fitted ones are less than, and `end` at most equal to.
  Tail tail_between(const Column& column, double value, size_t place, size_t end) const;

  size_t rows_ = 0;
  std::vector<Column> columns_;
  std::vector<Shares> shares_;  ///< by place, 0 to n
};

template <typename Term>
void Tails::fit_and_sum(const Matrix& rows, std::span<double> scores, const Work& work, Term term) {
  /// Columns whose terms are kept at a time.
  constexpr size_t kTogether = 8;
  /// Numbers that are worth a thread.
  constexpr size_t kWorthwhile = 1 << 14;
  start_fit(rows, work);
  std::ranges::fill(scores, 0.0);
  std::vector<double> columns(std::min(kTogether, rows.columns) * rows.rows);
  for (size_t from = 0; from < rows.columns; from += kTogether) {
    const size_t count = std::min(kTogether, rows.columns - from);
    gather(rows, from, from + count, columns, work);
    // The terms of a column take the place of its values: both are known by place once it is sorted.
    work.parallel(count, std::max<size_t>(1, kWorthwhile / rows.rows), [&](size_t first, size_t last) {
      for (size_t k = first; k < last; ++k) {
        work.check();
        const std::span<double> values = std::span(columns).subspan(k * rows.rows, rows.rows);
        Column& column = columns_[from + k];
        column.sorted.assign(values.begin(), values.end());
        const std::vector<uint32_t> order = sort_numbers(column.sorted);
        index(column);
        for (size_t place = 0, end = 0; place < rows.rows; place = end) {
          const double value = column.sorted[place];
          while (end < rows.rows && column.sorted[end] == value) ++end;
          const double here = term(tail_between(column, value, place, end));
          for (size_t i = place; i < end; ++i) values[order[i]] = here;
        }
      }
    });
    work.parallel(rows.rows, kWorthwhile, [&](size_t first, size_t last) {
      for (size_t k = 0; k < count; ++k)
        for (size_t i = first; i < last; ++i) scores[i] += columns[k * rows.rows + i];
    });
  }
}

template <typename Term>
void Tails::sum(const Matrix& rows, std::span<double> scores, const Work& work, Term term) const {
  constexpr size_t kGrain = 16 * kBlock;
  work.parallel(rows.rows, kGrain, [&](size_t first, size_t last) {
    double values[kBlock];
    uint32_t found[kBlock];
    std::fill(scores.begin() + static_cast<std::ptrdiff_t>(first), scores.begin() + static_cast<std::ptrdiff_t>(last),
              0.0);
    // Column by column over many rows, so that its sorted values stay in the cache.
    for (size_t column = 0; column < columns_.size(); ++column) {
      work.check();
      for (size_t at = first; at < last; at += kBlock) {
        const size_t count = std::min(kBlock, last - at);
        for (size_t i = 0; i < count; ++i) values[i] = rows.values[(at + i) * rows.columns + column];
        places(columns_[column], {values, count}, {found, count});
        for (size_t i = 0; i < count; ++i) scores[at + i] += term(tail_at(columns_[column], values[i], found[i]));
      }
    }
  });
}

}  // namespace quern::anomaly
