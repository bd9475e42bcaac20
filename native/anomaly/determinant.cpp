#include "determinant.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "../base/random.hpp"
#include "../kernels/dense.hpp"

namespace quern::anomaly {
namespace {

/// Of the paper: random starts, steps of each before the best are chosen, how many are chosen, groups and their size.
constexpr size_t kStarts = 500;
constexpr size_t kFewRows = 500;
constexpr size_t kFirstSteps = 2;
constexpr size_t kBest = 10;
constexpr size_t kGroups = 5;
constexpr size_t kGroupRows = 300;
/// A group needs so many rows per column, or its halves would span no volume.
constexpr size_t kRowsPerColumn = 5;
/// Few rows are tried less often: they converge at once.
constexpr size_t kFewStarts = 100;
constexpr size_t kMostSteps = 30;

/// Rows of which concentrations are made, one thread's own.
class Sample {
 public:
  Sample(const double* rows, size_t count, size_t columns, size_t inner)
      : rows_(rows), count_(count), columns_(columns), inner_(inner) {}

  Concentration begin(Random& random) {
    order_.resize(count_);
    std::iota(order_.begin(), order_.end(), 0u);
    for (size_t i = 0; i < inner_; ++i) std::swap(order_[i], order_[i + random.below(count_ - i)]);
    return estimate();
  }

  /// Replaces the inner rows by those nearest to their centre, until their volume shrinks no more.
  void concentrate(Concentration& at, size_t steps, const Work& work) {
    for (size_t step = 0; step < steps && std::isfinite(at.whitening.log_determinant); ++step) {
      work.check();
      squares_.resize(count_);
      whitened_squares(at.whitening, at.location, rows_, count_, squares_);
      order_.resize(count_);
      std::iota(order_.begin(), order_.end(), 0u);
      std::ranges::nth_element(
          order_, order_.begin() + static_cast<std::ptrdiff_t>(inner_ - 1),
          [&](uint32_t a, uint32_t b) { return squares_[a] != squares_[b] ? squares_[a] < squares_[b] : a < b; });
      Concentration next = estimate();
      const bool less = next.whitening.log_determinant < at.whitening.log_determinant;
      if (less) at = std::move(next);
      if (!less) return;
    }
  }

 private:
  Concentration estimate() {
    const size_t step = padded<double>(columns_);
    inner_rows_.assign(inner_ * step, 0);
    // In their order, so that the sums do not depend on how the rows were chosen.
    chosen_.assign(count_, 0);
    for (size_t i = 0; i < inner_; ++i) chosen_[order_[i]] = 1;
    for (size_t row = 0, i = 0; row < count_; ++row)
      if (chosen_[row]) std::copy_n(rows_ + row * columns_, columns_, &inner_rows_[i++ * step]);
    Scatter scatter = scatter_of(inner_rows_, inner_, columns_);
    Concentration made{std::move(scatter.mean), std::move(scatter.covariance), {}};
    made.whitening = whitening_of(made.covariance);
    return made;
  }

  const double* rows_;
  const size_t count_;
  const size_t columns_;
  const size_t inner_;
  std::vector<uint32_t> order_;
  std::vector<uint8_t> chosen_;
  std::vector<double> squares_;
  std::vector<double> inner_rows_;
};

/// The best few, least volume first, each once.
void keep_best(std::vector<Concentration>& all, size_t most) {
  std::ranges::stable_sort(all, {}, [](const Concentration& one) { return one.whitening.log_determinant; });
  const auto same = [](const Concentration& a, const Concentration& b) { return a.location == b.location; };
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
  if (all.size() > most) all.resize(most);
}

/// `make` gives one concentration per number, on all threads.
std::vector<Concentration> best_of(size_t count, size_t most, const Work& work, const auto& make) {
  std::vector<Concentration> all(count);
  work.parallel(count, 1, [&](size_t first, size_t) { all[first] = make(first); });
  keep_best(all, most);
  return all;
}

/// One column: the shortest interval that holds the inner rows; its middle is the location.
Concentration shortest_half(const Matrix& rows) {
  const size_t inner = inner_rows(rows.rows, 1);
  std::vector<double> sorted(rows.values, rows.values + rows.rows);
  std::ranges::sort(sorted);
  double location = std::accumulate(sorted.begin(), sorted.end(), 0.0) / static_cast<double>(rows.rows);
  if (inner < rows.rows) {
    double least = std::numeric_limits<double>::infinity(), sum = 0;
    size_t ties = 0;
    for (size_t i = 0; i + inner < rows.rows; ++i) {
      const double width = sorted[i + inner] - sorted[i];
      if (width > least) continue;
      if (width < least) sum = 0, ties = 0, least = width;
      sum += (sorted[i + inner] + sorted[i]) / 2;
      ++ties;
    }
    location = sum / static_cast<double>(ties);
  }
  std::ranges::sort(sorted, {}, [&](double value) { return std::abs(value - location); });
  double mean = 0, variance = 0;
  for (size_t i = 0; i < inner; ++i) mean += sorted[i] / static_cast<double>(inner);
  for (size_t i = 0; i < inner; ++i) variance += (sorted[i] - mean) * (sorted[i] - mean) / static_cast<double>(inner);
  Concentration half{{location}, {1, {variance}}, {}};
  half.whitening = whitening_of(half.covariance);
  return half;
}

Concentration of_few(const Matrix& rows, uint64_t seed, const Work& work) {
  const size_t inner = inner_rows(rows.rows, rows.columns);
  const auto sample = [&] { return Sample(rows.values, rows.rows, rows.columns, inner); };
  auto best = best_of(kFewStarts, kBest, work, [&](size_t start) {
    Random random(seed, start);
    Sample mine = sample();
    Concentration made = mine.begin(random);
    mine.concentrate(made, kFirstSteps, work);
    return made;
  });
  return best_of(best.size(), 1, work,
                 [&](size_t i) {
                   Concentration made = best[i];
                   sample().concentrate(made, kMostSteps, work);
                   return made;
                 })
      .front();
}

Concentration of_many(const Matrix& rows, uint64_t seed, const Work& work) {
  const size_t columns = rows.columns;
  const double share = static_cast<double>(inner_rows(rows.rows, columns)) / static_cast<double>(rows.rows);
  const auto part_of = [&](size_t count) {
    return std::min(count, static_cast<size_t>(std::ceil(share * static_cast<double>(count))));
  };
  // A random choice of rows, group after group.
  const size_t group = std::min(rows.rows, std::max(kGroupRows, kRowsPerColumn * columns));
  const size_t groups = std::clamp<size_t>(rows.rows / group, 1, kGroups);
  const size_t merged = group * groups;
  std::vector<uint32_t> order(rows.rows);
  std::iota(order.begin(), order.end(), 0u);
  Random random(seed);
  std::vector<double> chosen(merged * columns);
  for (size_t i = 0; i < merged; ++i) {
    std::swap(order[i], order[i + random.below(rows.rows - i)]);
    std::copy_n(rows.row(order[i]).data(), columns, &chosen[i * columns]);
  }
  const size_t starts = kStarts / groups;
  std::vector<Concentration> all;
  for (size_t g = 0; g < groups; ++g) {
    auto best = best_of(starts, kBest, work, [&](size_t start) {
      Random own(seed, 1 + g * starts + start);
      Sample sample(&chosen[g * group * columns], group, columns, part_of(group));
      Concentration made = sample.begin(own);
      sample.concentrate(made, kFirstSteps, work);
      return made;
    });
    std::ranges::move(best, std::back_inserter(all));
  }
  // All candidates on the merged groups, then the best on all rows.
  const auto on_merged = [&](const Concentration& from) {
    Concentration made = from;
    // Volumes of other rows are not comparable.
    made.whitening.log_determinant = std::numeric_limits<double>::max();
    Sample(chosen.data(), merged, columns, part_of(merged)).concentrate(made, kMostSteps, work);
    return made;
  };
  auto best = best_of(all.size(), kBest, work, [&](size_t i) { return on_merged(all[i]); });
  return best_of(best.size(), 1, work,
                 [&](size_t i) {
                   Concentration made = best[i];
                   made.whitening.log_determinant = std::numeric_limits<double>::max();
                   Sample(rows.values, rows.rows, columns, part_of(rows.rows)).concentrate(made, kMostSteps, work);
                   return made;
                 })
      .front();
}

}  // namespace

size_t inner_rows(size_t rows, size_t columns) {
  return std::min(rows, (rows + columns + 2) / 2);
}

Concentration least_determinant(const Matrix& rows, uint64_t seed, const Work& work) {
  if (rows.columns == 1) return shortest_half(rows);
  return rows.rows <= kFewRows ? of_few(rows, seed, work) : of_many(rows, seed, work);
}

}  // namespace quern::anomaly
