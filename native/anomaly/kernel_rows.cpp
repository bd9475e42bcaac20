#include "kernel_rows.hpp"

#include <algorithm>

#include "../kernels/dense.hpp"

namespace quern::anomaly {
namespace {

constexpr size_t kLanes = kPanel<double>;
/// Numbers that are kept: 200 MB, libsvm's usual.
constexpr size_t kMostKept = 50'000'000;
/// Rows that may be in use at once.
constexpr size_t kLeastRows = 3;
/// Panels whose exponentials are made together.
constexpr size_t kPanels = 32;
constexpr size_t kGrain = 32;
/// Queries that take turns on the same panels.
constexpr size_t kQueries = 8;

}  // namespace

std::vector<double> panels_of(const Matrix& rows) {
  std::vector<double> panels((rows.rows + kLanes - 1) / kLanes * rows.columns * kLanes);
  for (size_t i = 0; i < rows.rows; ++i)
    for (size_t k = 0; k < rows.columns; ++k)
      panels[i / kLanes * rows.columns * kLanes + k * kLanes + i % kLanes] = rows.values[i * rows.columns + k];
  return panels;
}

KernelRows::KernelRows(const Matrix& rows, double gamma)
    : count_(rows.rows), columns_(rows.columns), gamma_(gamma), panels_(panels_of(rows)), rows_(rows.rows) {}

std::vector<double> KernelRows::point(uint32_t index) const {
  std::vector<double> values(columns_);
  for (size_t k = 0; k < columns_; ++k)
    values[k] = panels_[index / kLanes * columns_ * kLanes + k * kLanes + index % kLanes];
  return values;
}

/// Whole panels: `first` is a panel's beginning, `to` has room up to the end of the panel of `last`.
void KernelRows::compute(const double* from, size_t first, size_t last, float* to) const {
  const auto& kernels = dense_kernels<double>();
  double values[kPanels * kLanes];
  for (size_t start = first; start < last; start += kPanels * kLanes) {
    const size_t numbers = std::min(kPanels * kLanes, padded<double>(last - start));
    for (size_t at = 0; at < numbers; at += kLanes)
      kernels.distances({from, 0, 1}, 1, &panels_[(start + at) * columns_], kLanes, columns_, values + at, 0);
    for (size_t at = 0; at < numbers; ++at) values[at] *= -gamma_;
    exp_all(values, numbers);
    for (size_t at = 0; at < numbers; ++at) to[start + at] = static_cast<float>(values[at]);
  }
}

void KernelRows::drop_oldest() {
  Row& oldest = rows_[used_.front()];
  used_.pop_front();
  kept_numbers_ -= oldest.numbers.size();
  oldest = {};
}

const float* KernelRows::row(uint32_t index, size_t length) {
  Row& row = rows_[index];
  if (row.kept) used_.erase(row.place);
  row.place = used_.insert(used_.end(), index);
  row.kept = true;
  const size_t had = row.numbers.size(), needed = padded<double>(length);
  if (had >= needed) return row.numbers.data();
  while (kept_numbers_ + needed - had > kMostKept && used_.size() > kLeastRows) drop_oldest();
  row.numbers.resize(needed);
  kept_numbers_ += needed - had;
  compute(point(index).data(), had, needed, row.numbers.data());
  return row.numbers.data();
}

void KernelRows::swap(uint32_t a, uint32_t b) {
  if (a > b) std::swap(a, b);
  for (size_t k = 0; k < columns_; ++k)
    std::swap(panels_[a / kLanes * columns_ * kLanes + k * kLanes + a % kLanes],
              panels_[b / kLanes * columns_ * kLanes + k * kLanes + b % kLanes]);
  std::swap(rows_[a], rows_[b]);
  for (const uint32_t one : {a, b})
    if (rows_[one].kept) *rows_[one].place = one;
  for (const uint32_t one : used_) {
    std::vector<float>& numbers = rows_[one].numbers;
    if (b < numbers.size()) {
      std::swap(numbers[a], numbers[b]);
    } else if (a < numbers.size()) {
      // Its end is cut off rather than computed for one place.
      kept_numbers_ -= numbers.size() - a / kLanes * kLanes;
      numbers.resize(a / kLanes * kLanes);
    }
  }
}

void KernelRows::weighted_sums(std::span<const double> weights, std::span<double> sums, const Work& work) const {
  const size_t panels = panels_.size() / (columns_ * kLanes);
  work.parallel(panels, kGrain, [&](size_t first, size_t last) {
    std::vector<float> numbers(panels * kLanes);
    const size_t end = std::min(last * kLanes, count_);
    for (size_t i = 0; i < weights.size(); ++i) {
      if (i % 64 == 0) work.check();
      compute(point(static_cast<uint32_t>(i)).data(), first * kLanes, end, numbers.data());
      for (size_t at = first * kLanes; at < end; ++at) sums[at] += weights[i] * static_cast<double>(numbers[at]);
    }
  });
}

void kernel_sums(const Matrix& rows, std::span<const double> panels, std::span<const double> weights, double gamma,
                 std::span<double> sums, const Work& work) {
  const auto& kernels = dense_kernels<double>();
  const size_t columns = rows.columns;
  work.parallel(rows.rows, kQueries, [&](size_t first, size_t last) {
    const size_t queries = last - first;
    double values[kQueries * kLanes];
    double lanes[kQueries * kLanes] = {};
    for (size_t start = 0; start < weights.size(); start += kLanes) {
      if (start % 4096 == 0) work.check();
      kernels.distances({rows.values + first * columns, columns, 1}, queries, &panels[start * columns], kLanes, columns,
                        values, kLanes);
      for (size_t at = 0; at < queries * kLanes; ++at) values[at] *= -gamma;
      exp_all(values, queries * kLanes);
      const size_t some = std::min(kLanes, weights.size() - start);
      for (size_t query = 0; query < queries; ++query)
        for (size_t lane = 0; lane < some; ++lane)
          lanes[query * kLanes + lane] += weights[start + lane] * values[query * kLanes + lane];
    }
    for (size_t query = 0; query < queries; ++query) {
      double sum = 0;
      for (size_t lane = 0; lane < kLanes; ++lane) sum += lanes[query * kLanes + lane];
      sums[first + query] = sum;
    }
  });
}

}  // namespace quern::anomaly
