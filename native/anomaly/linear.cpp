#include "linear.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "../kernels/dense.hpp"

namespace quern::anomaly {
namespace {

constexpr size_t kLanes = kPanel<double>;
/// Rows of a sum of products that stay in a near cache together.
constexpr size_t kDepth = 256;
/// Of a variance: what sums of products may have left of one that is 0, per column.
constexpr double kRounding = 0x1p-46;
/// QL steps of one eigenvalue; 3 are usual.
constexpr int kMostSteps = 60;

/// Lower L with L * L^T = `table`, or nothing where a pivot shows that the rank is not full.
std::optional<Square> cholesky(const Square& table) {
  const size_t n = table.size;
  Square lower{n, std::vector<double>(n * n)};
  for (size_t column = 0; column < n; ++column) {
    for (size_t row = column; row < n; ++row) {
      const double* a = &lower.values[row * n];
      const double* b = &lower.values[column * n];
      double lanes[8] = {};
      size_t k = 0;
      for (; k + 8 <= column; k += 8)
        for (size_t lane = 0; lane < 8; ++lane) lanes[lane] += a[k + lane] * b[k + lane];
      for (; k < column; ++k) lanes[0] += a[k] * b[k];
      const double sum = table.at(row, column) - std::accumulate(lanes, lanes + 8, 0.0);
      if (row == column) {
        const double least = kRounding * static_cast<double>(n) * table.at(row, row);
        if (!(sum > least)) return std::nullopt;
        lower.at(row, row) = std::sqrt(sum);
      } else {
        lower.at(row, column) = sum / lower.at(column, column);
      }
    }
  }
  return lower;
}

/// The inverse of a lower triangle, a row at a time.
std::vector<double> inverse_of(const Square& lower) {
  const size_t n = lower.size;
  std::vector<double> inverse(n * n);
  for (size_t row = 0; row < n; ++row) {
    double* target = &inverse[row * n];
    for (size_t k = 0; k < row; ++k) {
      const double factor = lower.at(row, k);
      const double* source = &inverse[k * n];
      for (size_t column = 0; column <= k; ++column) target[column] -= factor * source[column];
    }
    const double pivot = lower.at(row, row);
    for (size_t column = 0; column < row; ++column) target[column] /= pivot;
    target[row] = 1 / pivot;
  }
  return inverse;
}

/// Tridiagonal form: `diagonal` and `off` (its first entry is not used); `q` becomes the rotation, its columns the new
/// axes.
void tridiagonalise(Square& q, std::vector<double>& diagonal, std::vector<double>& off) {
  const size_t n = q.size;
  std::vector<double> factors(n), product(n);
  for (size_t last = n - 1; last > 0; --last) {
    // The row left of the diagonal is reflected onto its last entry.
    double* v = &q.values[last * n];
    const double scale = std::accumulate(v, v + last, 0.0, [](double sum, double x) { return sum + std::abs(x); });
    factors[last] = 0;
    if (last == 1 || scale == 0) {
      off[last] = v[last - 1];
      continue;
    }
    double square = 0;
    for (size_t k = 0; k < last; ++k) {
      v[k] /= scale;
      square += v[k] * v[k];
    }
    const double length = v[last - 1] >= 0 ? -std::sqrt(square) : std::sqrt(square);
    off[last] = scale * length;
    const double half = square - v[last - 1] * length;
    v[last - 1] -= length;
    factors[last] = half;
    std::fill(product.begin(), product.begin() + static_cast<std::ptrdiff_t>(last), 0.0);
    for (size_t row = 0; row < last; ++row) {
      const double* a = &q.values[row * n];
      double sum = 0;
      for (size_t k = 0; k < row; ++k) {
        sum += a[k] * v[k];
        product[k] += a[k] * v[row];
      }
      product[row] += sum + a[row] * v[row];
    }
    double along = 0;
    for (size_t k = 0; k < last; ++k) {
      product[k] /= half;
      along += product[k] * v[k];
    }
    for (size_t k = 0; k < last; ++k) product[k] -= along / (2 * half) * v[k];
    for (size_t row = 0; row < last; ++row) {
      double* a = &q.values[row * n];
      for (size_t k = 0; k <= row; ++k) a[k] -= v[row] * product[k] + product[row] * v[k];
    }
  }
  // The reflections are multiplied up in the part of q that they leave free.
  for (size_t row = 0; row < n; ++row) {
    diagonal[row] = q.at(row, row);
    if (row > 0 && factors[row] != 0) {
      const double* v = &q.values[row * n];
      std::fill(product.begin(), product.begin() + static_cast<std::ptrdiff_t>(row), 0.0);
      for (size_t k = 0; k < row; ++k)
        for (size_t column = 0; column < row; ++column) product[column] += v[k] * q.at(k, column);
      for (size_t k = 0; k < row; ++k)
        for (size_t column = 0; column < row; ++column) q.at(k, column) -= v[k] / factors[row] * product[column];
    }
    q.at(row, row) = 1;
    for (size_t k = 0; k < row; ++k) q.at(row, k) = q.at(k, row) = 0;
  }
}

/// Turns the tridiagonal form diagonal; `axes` has one axis per row.
void diagonalise(std::vector<double>& diagonal, std::vector<double>& off, Square& axes) {
  const size_t n = diagonal.size();
  std::rotate(off.begin(), off.begin() + 1, off.end());
  off[n - 1] = 0;
  for (size_t low = 0; low < n; ++low)
    for (int step = 0; step < kMostSteps; ++step) {
      size_t high = low;
      while (high + 1 < n && std::abs(off[high]) > std::numeric_limits<double>::epsilon() *
                                                       (std::abs(diagonal[high]) + std::abs(diagonal[high + 1])))
        ++high;
      if (high == low) break;
      double g = (diagonal[low + 1] - diagonal[low]) / (2 * off[low]);
      g = diagonal[high] - diagonal[low] + off[low] / (g + std::copysign(std::hypot(g, 1.0), g));
      double sine = 1, cosine = 1, shift = 0;
      bool split = false;
      for (size_t at = high; at-- > low;) {
        const double f = sine * off[at], b = cosine * off[at];
        const double r = std::hypot(f, g);
        off[at + 1] = r;
        if (r == 0) {
          diagonal[at + 1] -= shift;
          off[high] = 0;
          split = true;
          break;
        }
        sine = f / r;
        cosine = g / r;
        g = diagonal[at + 1] - shift;
        const double t = (diagonal[at] - g) * sine + 2 * cosine * b;
        shift = sine * t;
        diagonal[at + 1] = g + shift;
        g = cosine * t - b;
        double* first = &axes.values[at * n];
        double* second = first + n;
        for (size_t k = 0; k < n; ++k) {
          const double x = first[k], y = second[k];
          second[k] = sine * x + cosine * y;
          first[k] = cosine * x - sine * y;
        }
      }
      if (split) continue;
      diagonal[low] -= shift;
      off[low] = g;
      off[high] = 0;
    }
}

}  // namespace

Scatter scatter_of(std::span<double> padded_rows, size_t count, size_t columns) {
  const size_t step = padded<double>(columns);
  Scatter scatter{std::vector<double>(columns), {columns, std::vector<double>(columns * columns)}};
  // Counted from the first row, so that a constant column has a variance of 0 and not one of rounding.
  const std::vector<double> first(padded_rows.begin(), padded_rows.begin() + static_cast<std::ptrdiff_t>(step));
  std::vector<double> sums(step);
  for (size_t row = 0; row < count; ++row)
    for (size_t k = 0; k < step; ++k) sums[k] += padded_rows[row * step + k] -= first[k];
  for (double& sum : sums) sum /= static_cast<double>(count);
  for (size_t row = 0; row < count; ++row)
    for (size_t k = 0; k < step; ++k) padded_rows[row * step + k] -= sums[k];
  for (size_t k = 0; k < columns; ++k) scatter.mean[k] = first[k] + sums[k];
  std::vector<double> products(columns * step);
  const auto& kernels = dense_kernels<double>();
  for (size_t row = 0; row < count; row += kDepth)
    for (size_t panel = 0; panel < step; panel += kLanes) {
      const double* from = padded_rows.data() + row * step;
      kernels.add_product({from, 1, step}, std::min(columns, panel + kLanes),
                          {from + panel, step, std::min(kDepth, count - row)}, &products[panel], step);
    }
  for (size_t row = 0; row < columns; ++row)
    for (size_t k = row; k < columns; ++k)
      scatter.covariance.at(row, k) = scatter.covariance.at(k, row) =
          products[row * step + k] / static_cast<double>(count);
  return scatter;
}

Eigen eigen_of(const Square& symmetric) {
  const size_t n = symmetric.size;
  Square q = symmetric;
  Eigen eigen{std::vector<double>(n), {n, std::vector<double>(n * n)}};
  std::vector<double> off(n);
  tridiagonalise(q, eigen.values, off);
  for (size_t row = 0; row < n; ++row)
    for (size_t k = 0; k < n; ++k) eigen.vectors.at(k, row) = q.at(row, k);
  diagonalise(eigen.values, off, eigen.vectors);
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return eigen.values[i]; });
  Eigen sorted = eigen;
  for (size_t row = 0; row < n; ++row) {
    sorted.values[row] = eigen.values[order[row]];
    std::copy_n(&eigen.vectors.values[order[row] * n], n, &sorted.vectors.values[row * n]);
  }
  return sorted;
}

Whitening whitening_of(const Square& covariance) {
  const size_t n = covariance.size;
  Whitening whitening;
  if (const auto lower = cholesky(covariance)) {
    whitening.rank = n;
    whitening.rows = inverse_of(*lower);
    for (size_t k = 0; k < n; ++k) whitening.log_determinant += 2 * std::log(lower->at(k, k));
    return whitening;
  }
  whitening.log_determinant = -std::numeric_limits<double>::infinity();
  const Eigen eigen = eigen_of(covariance);
  const double most = std::max(std::abs(eigen.values.front()), std::abs(eigen.values.back()));
  const double least = most * std::numeric_limits<double>::epsilon() * static_cast<double>(n);
  for (size_t axis = 0; axis < n; ++axis) {
    if (!(eigen.values[axis] > least)) continue;
    const double factor = 1 / std::sqrt(eigen.values[axis]);
    for (size_t k = 0; k < n; ++k) whitening.rows.push_back(eigen.vectors.at(axis, k) * factor);
    ++whitening.rank;
  }
  return whitening;
}

void whitened_squares(const Whitening& whitening, std::span<const double> mean, const double* rows, size_t count,
                      std::span<double> squares) {
  const size_t columns = mean.size();
  const auto& kernels = dense_kernels<double>();
  std::vector<double> panel(columns * kLanes), images(whitening.rank * kLanes);
  for (size_t first = 0; first < count; first += kLanes) {
    const size_t lanes = std::min(kLanes, count - first);
    for (size_t k = 0; k < columns; ++k)
      for (size_t lane = 0; lane < lanes; ++lane)
        panel[k * kLanes + lane] = rows[(first + lane) * columns + k] - mean[k];
    kernels.multiply({whitening.rows.data(), columns, 1}, whitening.rank, {panel.data(), kLanes, columns},
                     images.data(), kLanes);
    double sums[kLanes] = {};
    for (size_t axis = 0; axis < whitening.rank; ++axis)
      for (size_t lane = 0; lane < kLanes; ++lane)
        sums[lane] += images[axis * kLanes + lane] * images[axis * kLanes + lane];
    std::copy_n(sums, lanes, squares.begin() + static_cast<std::ptrdiff_t>(first));
  }
}

}  // namespace quern::anomaly
