#include "kernel_rows.hpp"

#include <algorithm>

#include "../kernels/dense.hpp"

namespace quern::anomaly {
namespace {

constexpr size_t kLanes = kPanel<double>;
/// Panels whose exponentials are made together.
constexpr size_t kPanels = 8;
/// Columns that take as long as an exponential.
constexpr size_t kExponential = 16;
/// Numbers of columns that are worth a thread.
constexpr size_t kWorthwhile = 1 << 20;
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

KernelRows::KernelRows(const Matrix& rows, double gamma, const Work& work, size_t most_kept)
    : points_(rows),
      gamma_(gamma),
      work_(work),
      most_(std::max(kLeast, most_kept / padded<double>(rows.rows))),
      panels_(panels_of(rows)),
      rows_(rows.rows) {}

std::vector<float> KernelRows::room() {
  if (used_.size() < most_) return std::vector<float>(padded<double>(points_.rows));
  std::vector<float> numbers = std::move(rows_[used_.front()].numbers);
  rows_[used_.front()].numbers.clear();
  used_.pop_front();
  return numbers;
}

const float* KernelRows::row(uint32_t point) {
  used_.splice(used_.end(), used_, rows_[point].place);
  return rows_[point].numbers.data();
}

void KernelRows::make(std::span<const uint32_t> points) {
  const size_t columns = points_.columns, panels = panels_.size() / (columns * kLanes);
  std::vector<double> values;
  std::vector<float*> to;
  for (const uint32_t point : points) {
    if (has(point)) continue;
    Row& row = rows_[point];
    row.numbers = room();
    row.place = used_.insert(used_.end(), point);
    to.push_back(row.numbers.data());
    values.insert(values.end(), points_.row(point).begin(), points_.row(point).end());
  }
  if (to.empty()) return;
  const size_t grain = kWorthwhile / (kLanes * (columns + kExponential) * to.size()) / kPanels * kPanels;
  work_.parallel(panels, std::max(kPanels, grain), [&](size_t first, size_t last) {
    const auto& kernels = dense_kernels<double>();
    double squares[kTogether * kPanels * kLanes];
    for (size_t start = first; start < last; start += kPanels) {
      const size_t some = std::min(kPanels, last - start), numbers = some * kLanes;
      for (size_t panel = 0; panel < some; ++panel)
        kernels.distances({values.data(), columns, 1}, to.size(),
                          {&panels_[(start + panel) * columns * kLanes], kLanes, columns}, squares + panel * kLanes,
                          numbers);
      for (size_t i = 0; i < to.size() * numbers; ++i) squares[i] *= -gamma_;
      exp_all(squares, to.size() * numbers);
      for (size_t row = 0; row < to.size(); ++row)
        for (size_t i = 0; i < numbers; ++i)
          to[row][start * kLanes + i] = static_cast<float>(squares[row * numbers + i]);
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
      kernels.distances({rows.values + first * columns, columns, 1}, queries,
                        {&panels[start * columns], kLanes, columns}, values, kLanes);
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
