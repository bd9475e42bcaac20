#include "clusters.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "../base/random.hpp"

namespace quern::anomaly {
namespace {

constexpr size_t kLanes = kPanel<double>;
constexpr size_t kMostSteps = 300;
constexpr double kTolerance = 1e-4;
/// Rows of one thread's turn. The bounds are fixed, so that sums over them are too.
constexpr size_t kGrain = 1024;
/// What a bound must be beyond another one, for both are rounded.
constexpr double kSlack = 1 + 1e-9;

class KMeans {
 public:
  KMeans(const Matrix& rows, size_t count, uint64_t seed, const Work& work)
      : rows_(rows), count_(count), columns_(rows.columns), random_(seed), work_(work) {
    labels_.resize(rows.rows);
    upper_.resize(rows.rows);
    lower_.resize(rows.rows);
    sums_.resize(count * columns_);
    sizes_.resize(count);
    parts_.resize((rows.rows + kGrain - 1) / kGrain);
  }

  Clusters run() {
    begin();
    const double tolerance = kTolerance * mean_variance();
    assign(true);
    for (size_t step = 0; step < kMostSteps; ++step) {
      const double moved = move();
      const bool changed = assign(false);
      if (!changed || moved <= tolerance) break;
    }
    recount();
    move();
    return {centres_, sizes_};
  }

 private:
  /// How one part of the rows changes the clusters.
  struct Part {
    std::vector<double> sums;
    std::vector<double> sizes;
    bool changed;
  };

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

  /// Calls `each(row, squares)` with every row's squared distances to some points.
  template <typename Each>
  void compare(const Centres& points, Each each) const {
    work_.parallel(rows_.rows, kGrain, [&](size_t first, size_t last) {
      double squares[Centres::kRows * kMostClusters];
      for (size_t at = first; at < last; at += Centres::kRows) {
        const size_t some = std::min(Centres::kRows, last - at);
        points.squares(rows_.row(at).data(), some, squares);
        for (size_t i = 0; i < some; ++i) each(at + i, squares + i * kMostClusters);
      }
    });
  }

  /// Greedy k-means++: each next centre is the try that leaves the least sum of squared distances.
  void begin() {
    const size_t tries = 2 + static_cast<size_t>(std::log(static_cast<double>(count_)));
    std::vector<double> least(rows_.rows), found(tries * rows_.rows), running(rows_.rows);
    const auto first = rows_.row(random_.below(rows_.rows));
    centres_.assign(first.begin(), first.end());
    compare(Centres(first, columns_), [&](size_t row, const double* squares) { least[row] = squares[0]; });
    while (centres_.size() < count_ * columns_) {
      std::partial_sum(least.begin(), least.end(), running.begin());
      std::vector<double> points;
      for (size_t i = 0; i < tries; ++i) {
        const double at = random_.uniform() * running.back();
        const size_t row = std::min<size_t>(
            rows_.rows - 1, static_cast<size_t>(std::ranges::upper_bound(running, at) - running.begin()));
        points.insert(points.end(), rows_.row(row).begin(), rows_.row(row).end());
      }
      compare(Centres(points, columns_), [&](size_t row, const double* squares) {
        for (size_t i = 0; i < tries; ++i) found[i * rows_.rows + row] = std::min(squares[i], least[row]);
      });
      size_t best = 0;
      double least_sum = std::numeric_limits<double>::infinity();
      for (size_t i = 0; i < tries; ++i) {
        const double sum = std::reduce(&found[i * rows_.rows], &found[i * rows_.rows] + rows_.rows);
        if (sum < least_sum) best = i, least_sum = sum;
      }
      std::copy_n(&found[best * rows_.rows], rows_.rows, least.begin());
      centres_.insert(centres_.end(), &points[best * columns_], &points[best * columns_] + columns_);
    }
  }

  /// Gives every row its nearest centre; says whether any row moved. All are compared at `first`, later those that the
  /// bounds do not keep.
  bool assign(bool first) {
    const Centres centres(centres_, columns_);
    const std::vector<double> apart = half_distances(centres);
    work_.parallel(rows_.rows, kGrain, [&](size_t from, size_t until) {
      Part& part = parts_[from / kGrain];
      part = {std::vector<double>(sums_.size()), std::vector<double>(count_), false};
      uint32_t waiting[kGrain];
      size_t count = 0;
      for (size_t row = from; row < until; ++row) {
        waiting[count] = static_cast<uint32_t>(row);
        // Without a branch, which nobody could predict.
        count += first || !kept(row, apart) ? 1 : 0;
      }
      std::vector<double> panel(columns_ * kLanes);
      for (size_t at = 0; at < count; at += kLanes) {
        for (size_t i = at + kLanes; i < std::min(count, at + 2 * kLanes); ++i)
          prefetch(&rows_.values[waiting[i] * columns_], columns_ * sizeof(double));
        look(part, {waiting + at, std::min(kLanes, count - at)}, panel, first);
      }
    });
    bool changed = false;
    for (const Part& part : parts_) {
      changed |= part.changed;
      for (size_t i = 0; i < sums_.size(); ++i) sums_[i] += part.sums[i];
      for (size_t i = 0; i < count_; ++i)
        sizes_[i] = static_cast<size_t>(static_cast<double>(sizes_[i]) + part.sizes[i]);
    }
    return changed;
  }

  /// Moves the bounds of a row as the centres have moved; says whether they keep it where it is.
  bool kept(size_t row, const std::vector<double>& apart) {
    const size_t label = labels_[row];
    upper_[row] += moved_[label];
    lower_[row] -= others_moved_[label];
    return upper_[row] * kSlack < std::max(apart[label], lower_[row]);
  }

  /// Compares some rows with all centres.
  void look(Part& part, std::span<const uint32_t> some, std::vector<double>& panel, bool first) {
    double squares[kMostClusters * kLanes], least[kLanes], nearest[kLanes], second[kLanes];
    for (size_t i = 0; i < some.size(); ++i)
      for (size_t k = 0; k < columns_; ++k) panel[k * kLanes + i] = rows_.values[some[i] * columns_ + k];
    kernels_.distances({centres_.data(), columns_, 1}, count_, {panel.data(), kLanes, columns_}, squares, kLanes);
    kernels_.least_two(squares, count_, kLanes, least, nearest, second);
    for (size_t i = 0; i < some.size(); ++i) {
      const size_t row = some[i], before = labels_[row], now = static_cast<size_t>(nearest[i]);
      upper_[row] = std::sqrt(least[i]);
      lower_[row] = std::sqrt(second[i]);
      if (!first && before == now) continue;
      labels_[row] = static_cast<uint32_t>(now);
      part.changed = true;
      add(part, row, now, 1);
      if (!first) add(part, row, before, -1);
    }
  }

  void add(Part& part, size_t row, size_t cluster, double sign) const {
    part.sizes[cluster] += sign;
    double* const sums = &part.sums[cluster * columns_];
    const double* const from = rows_.row(row).data();
    for (size_t k = 0; k < columns_; ++k) sums[k] += sign * from[k];
  }

  /// Of each centre: half the distance to the nearest other one. No other is nearer to a row that is within it.
  std::vector<double> half_distances(const Centres& centres) const {
    std::vector<double> halves(count_, std::numeric_limits<double>::infinity());
    double squares[kMostClusters];
    for (size_t i = 0; i < count_; ++i) {
      centres.squares(&centres_[i * columns_], 1, squares);
      for (size_t j = 0; j < count_; ++j)
        if (i != j) halves[i] = std::min(halves[i], std::sqrt(squares[j]) / 2);
    }
    return halves;
  }

  /// Moves the centres to the means of their rows; gives the squared way of all of them.
  double move() {
    rescue();
    double all = 0;
    moved_.assign(count_, 0);
    for (size_t i = 0; i < count_; ++i) {
      double square = 0;
      for (size_t k = i * columns_; sizes_[i] > 0 && k < (i + 1) * columns_; ++k) {
        const double mean = sums_[k] / static_cast<double>(sizes_[i]);
        square += (mean - centres_[k]) * (mean - centres_[k]);
        centres_[k] = mean;
      }
      moved_[i] = std::sqrt(square);
      all += square;
    }
    others_moved_.assign(count_, 0);
    for (size_t i = 0; i < count_; ++i)
      for (size_t j = 0; j < count_; ++j)
        if (i != j) others_moved_[i] = std::max(others_moved_[i], moved_[j]);
    return all;
  }

  /// Counts the sums anew: a large row that came and went took the digits of those that stayed.
  void recount() {
    std::ranges::fill(sums_, 0.0);
    for (size_t row = 0; row < rows_.rows; ++row)
      for (size_t k = 0; k < columns_; ++k) sums_[labels_[row] * columns_ + k] += rows_.row(row)[k];
  }

  void rescue() {
    if (std::ranges::find(sizes_, size_t{0}) == sizes_.end()) return;
    std::vector<double> own(rows_.rows);
    compare(Centres(centres_, columns_), [&](size_t row, const double* squares) { own[row] = squares[labels_[row]]; });
    for (size_t empty = 0; empty < count_; ++empty) {
      if (sizes_[empty] > 0) continue;
      const size_t farthest = static_cast<size_t>(std::ranges::max_element(own) - own.begin());
      if (own[farthest] == 0) return;
      own[farthest] = 0;
      const size_t from = labels_[farthest];
      --sizes_[from];
      sizes_[empty] = 1;
      for (size_t k = 0; k < columns_; ++k) {
        const double value = rows_.row(farthest)[k];
        sums_[from * columns_ + k] -= value;
        sums_[empty * columns_ + k] = value;
      }
      labels_[farthest] = static_cast<uint32_t>(empty);
      // Its bounds belong to another centre.
      upper_[farthest] = std::numeric_limits<double>::infinity();
    }
  }

  const Matrix rows_;
  const size_t count_;
  const size_t columns_;
  Random random_;
  const Work& work_;
  const DenseKernels<double>& kernels_ = dense_kernels<double>();
  std::vector<double> centres_;
  std::vector<uint32_t> labels_;
  std::vector<double> upper_;  ///< of each row: its centre is not farther
  std::vector<double> lower_;  ///< of each row: no other centre is nearer
  std::vector<double> sums_;   ///< of the rows of each cluster
  std::vector<size_t> sizes_;
  std::vector<double> moved_;         ///< the last way of each centre
  std::vector<double> others_moved_;  ///< the longest last way of the other centres
  std::vector<Part> parts_;
};

}  // namespace

Centres::Centres(std::span<const double> values, size_t columns)
    : count_(values.size() / columns), columns_(columns), panel_(columns * kMostClusters) {
  for (size_t i = 0; i < count_; ++i)
    for (size_t k = 0; k < columns; ++k) panel_[k * kMostClusters + i] = values[i * columns + k];
}

void Centres::squares(const double* rows, size_t count, double* out) const {
  kernels_.distances({rows, columns_, 1}, count, {panel_.data(), kMostClusters, columns_}, out, kMostClusters);
}

Clusters cluster(const Matrix& rows, size_t count, uint64_t seed, const Work& work) {
  return KMeans(rows, count, seed, work).run();
}

}  // namespace quern::anomaly
