#include "tails.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "../base/cpu.hpp"
#include "limits.hpp"

namespace quern::anomaly {
namespace {

/// Sorted values between two marks: two cache lines, counted without a branch.
constexpr size_t kStride = 16;

/// Beyond every value of a row.
constexpr double kBeyond = std::numeric_limits<double>::max();
/// Values that are searched side by side, so that their steps overlap.
constexpr size_t kLanes = 8;

/// For each of the lanes, how many of `marks` (sorted) are less than its value; without a branch that could be
/// mispredicted.
void less_than(std::span<const double> marks, const double* values, size_t* found) {
  for (size_t lane = 0; lane < kLanes; ++lane) found[lane] = 0;
  size_t count = marks.size();
  while (count > 1) {
    const size_t half = count / 2;
    for (size_t lane = 0; lane < kLanes; ++lane)
      found[lane] += half & (size_t{0} - static_cast<size_t>(marks[found[lane] + half - 1] < values[lane]));
    count -= half;
  }
  for (size_t lane = 0; lane < kLanes; ++lane) found[lane] += marks[found[lane]] < values[lane] ? 1 : 0;
}

/// How many of a stride's values are less than `value`.
size_t less_in_stride(const double* stride, double value) {
  int64_t less = 0;
  for (size_t k = 0; k < kStride; ++k) less += stride[k] < value ? 1 : 0;
  return static_cast<size_t>(less);
}

/// The sum of `term` over all values, in an order that is the same for every number of threads.
template <typename Term>
double sum_of(std::span<const double> values, Term term) {
  double lanes[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += term(values[i + lane]);
  double sum = 0;
  for (; i < values.size(); ++i) sum += term(values[i]);
  for (const double lane : lanes) sum += lane;
  return sum;
}

/// Rounding of a constant column is no skewness; SciPy draws the line at the same place.
bool constant(double variance, double mean) {
  const double least = 1e-15 * mean;
  return variance <= least * least;
}

}  // namespace

void Tails::start_fit(const Matrix& rows, const Work& work) {
  rows_ = rows.rows;
  columns_.assign(rows.columns, {});
  build_logarithms(work);
}

void Tails::gather(const Matrix& rows, size_t first, size_t last, std::span<double> to, const Work& work) {
  work.parallel(rows.rows, 1 << 14, [&](size_t from, size_t until) {
    for (size_t i = from; i < until; ++i)
      for (size_t k = first; k < last; ++k) to[(k - first) * rows.rows + i] = rows.values[i * rows.columns + k];
  });
}

void Tails::index(Column& column) const {
  // In sorted order, so that the order of the fitted rows leaves no trace, not even in the last bit.
  column.mean = sum_of(column.sorted, [](double value) { return value; }) / static_cast<double>(rows_);
  const double mean = column.mean;
  column.second = sum_of(column.sorted, [mean](double value) { return (value - mean) * (value - mean); });
  column.third =
      sum_of(column.sorted, [mean](double value) { return (value - mean) * (value - mean) * (value - mean); });
  const double count = static_cast<double>(rows_);
  column.part = 1 / (count + 1);
  column.one_more = count * column.part;
  column.cube = column.one_more * (count - 1) * column.part;
  column.slope = 3 * column.second * column.part;
  column.marks.clear();
  for (size_t i = 0; i < column.sorted.size(); i += kStride) column.marks.push_back(column.sorted[i]);
  column.sorted.resize(column.marks.size() * kStride, kBeyond);
}

void Tails::build_logarithms(const Work& work) {
  const double all = static_cast<double>(rows_ + 1);
  shares_.resize(rows_ + 1);
  work.parallel(rows_ + 1, 1 << 14, [&](size_t first, size_t last) {
    for (size_t place = first; place < last; ++place) {
      shares_[place].left = -std::log(static_cast<double>(place + 1) / all);
      shares_[rows_ - place].right = shares_[place].left;
    }
  });
}

void Tails::places(const Column& column, std::span<const double> values, std::span<uint32_t> found) const {
  for (size_t at = 0; at < values.size(); at += kLanes) {
    const size_t count = std::min(kLanes, values.size() - at);
    double here[kLanes] = {};
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(at), count, here);
    size_t marks[kLanes];
    less_than(column.marks, here, marks);
    for (size_t lane = 0; lane < count; ++lane) {
      // The place lies after the last mark below the value, and not after the next mark.
      const size_t from = marks[lane] == 0 ? 0 : (marks[lane] - 1) * kStride;
      found[at + lane] = static_cast<uint32_t>(from);
      prefetch(column.sorted.data() + from, kStride * sizeof(double));
    }
  }
  for (size_t i = 0; i < values.size(); ++i) {
    found[i] += static_cast<uint32_t>(less_in_stride(column.sorted.data() + found[i], values[i]));
    prefetch(shares_.data() + found[i]);
  }
}

Tail Tails::tail_at(const Column& column, double value, size_t place) const {
  size_t end = place;
  if (place < rows_ && column.sorted[place] == value) {
    // Most often the only one.
    ++end;
    const auto first = column.sorted.begin();
    if (end < rows_ && column.sorted[end] == value)
      end = static_cast<size_t>(std::upper_bound(first + static_cast<std::ptrdiff_t>(end),
                                                 first + static_cast<std::ptrdiff_t>(rows_), value) -
                                first);
  }
  return tail_between(column, value, place, end);
}

Tail Tails::tail_between(const Column& column, double value, size_t place, size_t end) const {
  const double left = shares_[end].left;
  const double right = shares_[place].right;
  // The moments of the fitted values and this one (Chan, Golub and LeVeque 1983).
  const double difference = value - column.mean;
  const double square = difference * difference;
  const double variance = (column.second + square * column.one_more) * column.part;
  if (constant(variance, column.mean + difference * column.part)) return {left, right, left + right};
  const double third = column.third + difference * (square * column.cube - column.slope);
  return {left, right, third < 0 ? left : third > 0 ? right : left + right};
}

Tail Tails::tail(size_t column, double value) const {
  uint32_t found = 0;
  places(columns_[column], {&value, 1}, {&found, 1});
  return tail_at(columns_[column], value, found);
}

State Tails::state() const {
  std::vector<double> sorted;
  sorted.reserve(columns_.size() * rows_);
  for (const Column& column : columns_)
    sorted.insert(sorted.end(), column.sorted.begin(), column.sorted.begin() + static_cast<std::ptrdiff_t>(rows_));
  return {{"columns", static_cast<double>(columns_.size())},
          {"rows", static_cast<double>(rows_)},
          {"sorted", std::move(sorted)}};
}

void Tails::restore(const State& state) {
  const StateReader reader(state);
  const size_t columns = reader.count("columns", 1, kMostColumns);
  rows_ = reader.count("rows", 2, kMostNumbers);
  const std::vector<double>& sorted = reader.numbers("sorted", columns * rows_);
  columns_.assign(columns, {});
  for (size_t i = 0; i < columns; ++i) {
    const auto from = sorted.begin() + static_cast<std::ptrdiff_t>(i * rows_);
    columns_[i].sorted.assign(from, from + static_cast<std::ptrdiff_t>(rows_));
    if (!std::ranges::is_sorted(columns_[i].sorted))
      refuse_entry("sorted", "is not in ascending order in column " + std::to_string(i));
    index(columns_[i]);
  }
  build_logarithms(Work(1));
}

}  // namespace quern::anomaly
