#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace quern::anomaly {
namespace {

/// The values in sorted places `at` and `at` + 1 (the last twice). Reorders.
std::pair<double, double> neighbours(std::span<double> values, size_t at) {
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(at);
  std::nth_element(values.begin(), place, values.end());
  const auto next = place + 1;
  return {*place, next == values.end() ? *place : *std::min_element(next, values.end())};
}

/// About the sorted place `place`.
Between between(std::span<double> values, double place) {
  const size_t at = std::min(values.size() - 1, static_cast<size_t>(place));
  const auto [low, high] = neighbours(values, at);
  return {low, high, place - static_cast<double>(at)};
}

}  // namespace

Between percentile_place(std::span<double> values, double share) {
  return between(values, share * static_cast<double>(values.size() - 1));
}

double percentile(std::span<double> values, double share) {
  return percentile_place(values, share).value();
}

double median(std::span<double> values) {
  const auto [low, high] = neighbours(values, (values.size() - 1) / 2);
  return values.size() % 2 == 1 ? low : (low + high) / 2;
}

Spread spread(std::span<double> values) {
  const double last = static_cast<double>(values.size() - 1);
  const size_t half = (values.size() - 1) / 2;
  const double middle = median(values);
  // That has put the halves in order: each quartile lies in its own, or beside it when there are two values.
  const double upper = between(values.subspan(half), 0.75 * last - static_cast<double>(half)).value();
  const double lower = between(values.first(std::min(values.size(), half + 2)), 0.25 * last).value();
  return {middle, upper - lower};
}

Moments moments(std::span<const double> values) {
  const double count = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value;
  const double mean = sum / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, std::sqrt(squares / count)};
}

void each_column(const Matrix& rows, const Work& work,
                 const std::function<void(size_t column, std::vector<double>& values)>& each) {
  // Neighbours together, for memory comes in lines of eight numbers; but enough parts for the threads.
  const size_t together = std::clamp<size_t>(rows.columns / 4, 1, 8);
  work.parallel(rows.columns, together, [&](size_t first, size_t last) {
    std::vector<std::vector<double>> columns(last - first, std::vector<double>(rows.rows));
    for (size_t i = 0; i < rows.rows; ++i)
      for (size_t k = 0; k < columns.size(); ++k) columns[k][i] = rows.values[i * rows.columns + first + k];
    for (size_t k = 0; k < columns.size(); ++k) {
      work.check();
      each(first + k, columns[k]);
    }
  });
}

std::vector<double> centre_of(const Matrix& rows) {
  constexpr size_t kMostRows = 4096;
  const size_t stride = (rows.rows + kMostRows - 1) / kMostRows;
  std::vector<double> medians(rows.columns);
  std::vector<double> values;
  for (size_t column = 0; column < rows.columns; ++column) {
    values.clear();
    for (size_t i = 0; i < rows.rows; i += stride) values.push_back(rows.values[i * rows.columns + column]);
    medians[column] = median(values);
  }
  return medians;
}

}  // namespace quern::anomaly
