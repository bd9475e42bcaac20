#include "clusters.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "../kernels/dense.hpp"
#include "neighbours.hpp"
#include "random.hpp"

namespace quern::anomaly {
namespace {

constexpr size_t kLanes = kPanel<double>;
constexpr size_t kMostSteps = 300;
constexpr double kTolerance = 1e-4;
/// Panels of one thread's turn. The bounds are fixed, so that sums over them are too.
constexpr size_t kGrain = 64;

class KMeans {
 public:
  KMeans(const Matrix& rows, size_t count, uint64_t seed, const Work& work)
      : rows_(rows),
        count_(count),
        columns_(rows.columns),
        random_(seed),
        work_(work),
        kernels_(dense_kernels<double>()) {
    panels_.resize((rows.rows + kLanes - 1) / kLanes * columns_ * kLanes);
    for (size_t i = 0; i < rows.rows; ++i)
      for (size_t k = 0; k < columns_; ++k)
        panels_[i / kLanes * columns_ * kLanes + k * kLanes + i % kLanes] = rows.row(i)[k];
    labels_.resize(rows.rows, 0);
    squares_.resize(rows.rows);
    parts_.resize((panel_count() + kGrain - 1) / kGrain);
  }

  Clusters run() {
    begin();
    const double tolerance = kTolerance * mean_variance();
    assign();
    for (size_t step = 0; step < kMostSteps; ++step) {
      const double moved = move();
      const bool changed = assign();
      if (!changed || moved <= tolerance) break;
    }
    Clusters clusters{centres_, std::vector<size_t>(count_)};
    for (const uint32_t label : labels_) ++clusters.sizes[label];
    return clusters;
  }

 private:
  /// What one part of the rows adds to the clusters.
  struct Part {
    std::vector<double> sums;
    std::vector<size_t> sizes;
    bool changed;
  };

  size_t panel_count() const { return panels_.size() / (columns_ * kLanes); }
  std::span<const double> centre(size_t cluster) const { return {&centres_[cluster * columns_], columns_}; }

  double mean_variance() const {
    std::vector<double> sums(columns_), squares(columns_);
    const auto first = rows_.row(0);
    for (size_t i = 0; i < rows_.rows; ++i)
      for (size_t k = 0; k < columns_; ++k) {
        const double value = rows_.row(i)[k] - first[k];
        sums[k] += value;
        squares[k] += value * value;
      }
    double total = 0;
    const double n = static_cast<double>(rows_.rows);
    for (size_t k = 0; k < columns_; ++k) total += squares[k] / n - sums[k] / n * (sums[k] / n);
    return total / static_cast<double>(columns_);
  }

  /// Squared distances of all rows to some points, `most` where it is less already.
  void distances(const std::vector<double>& points, size_t count, std::vector<double>& out) const {
    out.resize(count * panel_count() * kLanes);
    work_.parallel(panel_count(), kGrain, [&](size_t first, size_t last) {
      for (size_t panel = first; panel < last; ++panel)
        kernels_.distances({points.data(), columns_, 1}, count, &panels_[panel * columns_ * kLanes], kLanes, columns_,
                           &out[panel * kLanes], panel_count() * kLanes);
    });
  }

  /// Greedy k-means++: each next centre is the try that leaves the least sum of squared distances.
  void begin() {
    const size_t tries = 2 + static_cast<size_t>(std::log(static_cast<double>(count_)));
    const size_t stride = panel_count() * kLanes;
    std::vector<double> least, found;
    const auto first = rows_.row(random_.below(rows_.rows));
    centres_.assign(first.begin(), first.end());
    distances(centres_, 1, least);
    while (centres_.size() < count_ * columns_) {
      std::vector<double> running(rows_.rows);
      std::partial_sum(least.begin(), least.begin() + static_cast<std::ptrdiff_t>(rows_.rows), running.begin());
      std::vector<double> points;
      for (size_t i = 0; i < tries; ++i) {
        const double at = random_.uniform() * running.back();
        const size_t row = std::min<size_t>(
            rows_.rows - 1, static_cast<size_t>(std::ranges::upper_bound(running, at) - running.begin()));
        points.insert(points.end(), rows_.row(row).begin(), rows_.row(row).end());
      }
      distances(points, tries, found);
      size_t best = 0;
      double least_sum = std::numeric_limits<double>::infinity();
      for (size_t i = 0; i < tries; ++i) {
        double sum = 0;
        for (size_t row = 0; row < rows_.rows; ++row)
          sum += found[i * stride + row] = std::min(found[i * stride + row], least[row]);
        if (sum < least_sum) best = i, least_sum = sum;
      }
      std::copy_n(&found[best * stride], rows_.rows, least.begin());
      centres_.insert(centres_.end(), &points[best * columns_], &points[best * columns_] + columns_);
    }
  }

  /// Gives every row its nearest centre; says whether any row moved.
  bool assign() {
    work_.parallel(panel_count(), kGrain, [&](size_t first, size_t last) {
      Part& part = parts_[first / kGrain];
      part = {std::vector<double>(count_ * columns_), std::vector<size_t>(count_), false};
      std::vector<double> squares(count_ * kLanes);
      for (size_t panel = first; panel < last; ++panel) {
        kernels_.distances({centres_.data(), columns_, 1}, count_, &panels_[panel * columns_ * kLanes], kLanes,
                           columns_, squares.data(), kLanes);
        double least[kLanes];
        double nearest[kLanes] = {};
        std::copy_n(squares.begin(), kLanes, least);
        for (size_t cluster = 1; cluster < count_; ++cluster)
          for (size_t lane = 0; lane < kLanes; ++lane) {
            const double square = squares[cluster * kLanes + lane];
            nearest[lane] = square < least[lane] ? static_cast<double>(cluster) : nearest[lane];
            least[lane] = square < least[lane] ? square : least[lane];
          }
        const size_t lanes = std::min(kLanes, rows_.rows - panel * kLanes);
        for (size_t lane = 0; lane < lanes; ++lane)
          take(part, panel * kLanes + lane, static_cast<uint32_t>(nearest[lane]), least[lane]);
      }
    });
    return std::ranges::any_of(parts_, &Part::changed);
  }

  void take(Part& part, size_t row, uint32_t cluster, double square) {
    part.changed |= labels_[row] != cluster;
    labels_[row] = cluster;
    squares_[row] = square;
    ++part.sizes[cluster];
    double* sums = &part.sums[cluster * columns_];
    const double* from = rows_.values + row * columns_;
    for (size_t k = 0; k < columns_; ++k) sums[k] += from[k];
  }

  /// Moves the centres to the means of their rows; gives the squared way of all of them.
  double move() {
    std::vector<double> sums(count_ * columns_);
    std::vector<size_t> sizes(count_);
    for (const Part& part : parts_) {
      for (size_t i = 0; i < sums.size(); ++i) sums[i] += part.sums[i];
      for (size_t i = 0; i < count_; ++i) sizes[i] += part.sizes[i];
    }
    rescue(sums, sizes);
    double moved = 0;
    for (size_t i = 0; i < sums.size(); ++i) {
      const size_t size = sizes[i / columns_];
      const double mean = size > 0 ? sums[i] / static_cast<double>(size) : centres_[i];
      moved += (mean - centres_[i]) * (mean - centres_[i]);
      centres_[i] = mean;
    }
    return moved;
  }

  void rescue(std::vector<double>& sums, std::vector<size_t>& sizes) {
    for (size_t empty = 0; empty < count_; ++empty) {
      if (sizes[empty] > 0) continue;
      const size_t farthest = static_cast<size_t>(std::ranges::max_element(squares_) - squares_.begin());
      if (squares_[farthest] == 0) return;
      squares_[farthest] = 0;
      const size_t from = labels_[farthest];
      --sizes[from];
      sizes[empty] = 1;
      for (size_t k = 0; k < columns_; ++k) {
        sums[from * columns_ + k] -= rows_.row(farthest)[k];
        sums[empty * columns_ + k] = rows_.row(farthest)[k];
      }
    }
  }

  const Matrix rows_;
  const size_t count_;
  const size_t columns_;
  Random random_;
  const Work& work_;
  const DenseKernels<double>& kernels_;
  std::vector<double> panels_;  ///< the rows, kLanes at a time, column by column
  std::vector<double> centres_;
  std::vector<uint32_t> labels_;
  std::vector<double> squares_;  ///< of each row to its centre
  std::vector<Part> parts_;
};

}  // namespace

Assignment nearest_centre(const std::vector<double>& centres, std::span<const double> row) {
  Assignment nearest{0, std::numeric_limits<double>::infinity()};
  for (size_t cluster = 0; (cluster + 1) * row.size() <= centres.size(); ++cluster) {
    const double square = square_between(row.data(), &centres[cluster * row.size()], row.size());
    if (square < nearest.square) nearest = {cluster, square};
  }
  return nearest;
}

Clusters cluster(const Matrix& rows, size_t count, uint64_t seed, const Work& work) {
  return KMeans(rows, count, seed, work).run();
}

}  // namespace quern::anomaly
