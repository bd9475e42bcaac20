#include <algorithm>
#include <cmath>

#include "../kernels/dense.hpp"
#include "chi_square.hpp"
#include "detectors.hpp"
#include "determinant.hpp"
#include "explain.hpp"
#include "limits.hpp"
#include "state.hpp"
#include "statistics.hpp"

namespace quern::anomaly {
namespace {

/// A row whose squared distance is above it by this chance takes no part in the final estimate.
constexpr double kOutside = 0.025;
constexpr size_t kGrain = 1024;
/// Of an entry of a state's whitening: 1 / the least deviation that its own arithmetic makes.
constexpr double kMostWhitening = 1e120;

/// The directions in which rows vary at all, in units of the columns' deviations.
struct Span {
  std::vector<double> centre;
  std::vector<double> scale;  ///< of each column
  Square axes;                ///< unit vectors, `rank` of them
  size_t rank = 0;
};

/**
 * The squared Mahalanobis distance by the rows' least covariance determinant, made consistent by the median of the
 * chi-square law and reweighted by the rows within its 97.5 percentile (Rousseeuw and Van Driessen 1999). Directions in
 * which no row varies count nothing, as with a pseudo-inverse: the estimate is made in those that are left. Where the
 * rows within do not vary in all of those, it is made of all rows; where all rows are equal, the score is the plain
 * squared distance to them.
 */
class Mcd final : public Detector {
 public:
  void fit(const Matrix& rows, const FitOptions& options, const Work& work) override {
    columns_ = rows.columns;
    const size_t step = padded<double>(columns_);
    std::vector<double> all(rows.rows * step);
    for (size_t i = 0; i < rows.rows; ++i) std::ranges::copy(rows.row(i), &all[i * step]);
    const Scatter whole = scatter_of(all, rows.rows, columns_);
    if (whitening_of(whole.covariance).rank == columns_) return learn(rows, options.seed, work);
    const Span span = span_of(whole);
    if (span.rank == 0) return stay_at(whole.mean);
    std::vector<double> images(rows.rows * span.rank);
    for (size_t i = 0; i < rows.rows; ++i)
      for (size_t axis = 0; axis < span.rank; ++axis)
        for (size_t k = 0; k < columns_; ++k)
          images[i * span.rank + axis] += (rows.row(i)[k] - span.centre[k]) / span.scale[k] * span.axes.at(axis, k);
    learn({images.data(), rows.rows, span.rank}, options.seed, work);
    unfold(span);
  }

  void score(const Matrix& rows, std::span<double> scores, const Work& work) const override {
    require_columns(rows.columns, columns_);
    work.parallel(rows.rows, kGrain, [&](size_t first, size_t last) {
      whitened_squares(whitening_, location_, rows.values + first * columns_, last - first,
                       scores.subspan(first, last - first));
    });
  }

  void explain(std::span<const double> row, std::span<double> shares) const override {
    explain_by_centre(*this, row, location_, shares);
  }

  State state() const override {
    return {{"columns", static_cast<double>(columns_)},
            {"rank", static_cast<double>(whitening_.rank)},
            {"location", location_},
            {"whitening", whitening_.rows}};
  }

  void restore(const State& state) override {
    const StateReader reader(state);
    columns_ = reader.count("columns", 1, kMostColumns);
    whitening_.rank = reader.count("rank", 1, columns_);
    location_ = reader.numbers("location", columns_, {-kMostMagnitude, kMostMagnitude});
    whitening_.rows = reader.numbers("whitening", whitening_.rank * columns_, {-kMostWhitening, kMostWhitening});
  }

 private:
  static Span span_of(const Scatter& whole) {
    const size_t columns = whole.mean.size();
    Span span{whole.mean, std::vector<double>(columns), {columns, std::vector<double>(columns * columns)}, 0};
    for (size_t k = 0; k < columns; ++k) span.scale[k] = std::sqrt(whole.covariance.at(k, k));
    Square correlation{columns, std::vector<double>(columns * columns)};
    for (size_t row = 0; row < columns; ++row)
      for (size_t k = 0; k < columns; ++k)
        if (span.scale[row] > 0 && span.scale[k] > 0)
          correlation.at(row, k) = whole.covariance.at(row, k) / span.scale[row] / span.scale[k];
    for (double& scale : span.scale)
      if (scale == 0) scale = 1;
    const Eigen eigen = eigen_of(correlation);
    const double least = 1e-12 * eigen.values.back();
    for (size_t axis = 0; axis < columns; ++axis)
      if (eigen.values[axis] > least)
        std::copy_n(&eigen.vectors.values[axis * columns], columns, &span.axes.values[span.rank++ * columns]);
    return span;
  }

  /// In the columns of `rows`.
  void learn(const Matrix& rows, uint64_t seed, const Work& work) {
    const Concentration inner = least_determinant(rows, seed, work);
    std::vector<double> squares(rows.rows);
    work.parallel(rows.rows, kGrain, [&](size_t first, size_t last) {
      whitened_squares(inner.whitening, inner.location, rows.values + first * rows.columns, last - first,
                       std::span(squares).subspan(first, last - first));
    });
    std::vector<double> sorted = squares;
    const double degrees = static_cast<double>(rows.columns);
    const double correction = median(sorted) / chi_square_above(degrees, 0.5);
    const double most = correction > 0 ? chi_square_above(degrees, kOutside) * correction : kMostScore;
    const size_t step = padded<double>(rows.columns);
    std::vector<double> within;
    size_t count = 0;
    for (size_t i = 0; i < rows.rows; ++i) {
      if (!(squares[i] < most)) continue;
      within.resize(++count * step);
      std::ranges::copy(rows.row(i), &within[(count - 1) * step]);
    }
    take(within, count, rows.columns);
    if (whitening_.rank == rows.columns) return;
    within.assign(rows.rows * step, 0);
    for (size_t i = 0; i < rows.rows; ++i) std::ranges::copy(rows.row(i), &within[i * step]);
    take(within, rows.rows, rows.columns);
  }

  void take(std::span<double> padded_rows, size_t count, size_t columns) {
    whitening_ = {};
    if (count == 0) return;
    Scatter scatter = scatter_of(padded_rows, count, columns);
    whitening_ = whitening_of(scatter.covariance);
    location_ = std::move(scatter.mean);
  }

  void stay_at(const std::vector<double>& row) {
    location_ = row;
    whitening_ = {std::vector<double>(columns_ * columns_), columns_, 0};
    for (size_t k = 0; k < columns_; ++k) whitening_.rows[k * columns_ + k] = 1;
  }

  /// From the directions of the span to the columns.
  void unfold(const Span& span) {
    std::vector<double> location = span.centre;
    for (size_t k = 0; k < columns_; ++k)
      for (size_t axis = 0; axis < span.rank; ++axis)
        location[k] += span.axes.at(axis, k) * location_[axis] * span.scale[k];
    std::vector<double> rows(whitening_.rank * columns_);
    for (size_t row = 0; row < whitening_.rank; ++row)
      for (size_t axis = 0; axis < span.rank; ++axis)
        for (size_t k = 0; k < columns_; ++k)
          rows[row * columns_ + k] += whitening_.rows[row * span.rank + axis] * span.axes.at(axis, k) / span.scale[k];
    location_ = std::move(location);
    whitening_.rows = std::move(rows);
  }

  size_t columns_ = 0;
  std::vector<double> location_;
  Whitening whitening_;
};

}  // namespace

std::unique_ptr<Detector> make_mcd() {
  return std::make_unique<Mcd>();
}

}  // namespace quern::anomaly
