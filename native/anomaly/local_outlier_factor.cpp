#include <algorithm>
#include <cmath>

#include "detectors.hpp"
#include "explain.hpp"
#include "limits.hpp"
#include "neighbours.hpp"
#include "state.hpp"

namespace quern::anomaly {
namespace {

constexpr size_t kMostNeighbours = 20;
/// Added to a mean reachability distance, which duplicates make 0; scikit-learn's number.
constexpr double kLeastReach = 1e-10;
/// Beyond it squares of differences of rows would not be finite.
constexpr double kMostDistance = 1e110;

/**
 * How much thinner a row's surroundings are than those of its neighbours (Breunig, Kriegel, Ng and Sander, "LOF:
 * identifying density-based local outliers", 2000), about 1 for normal rows. Fitted rows were judged without
 * themselves; a row that is scored is new, also one that was fitted. With n rows k is 20, but at most n / 2: with k = n
 * - 1 everyone has the same neighbours.
 */
class LocalOutlierFactor final : public Detector {
 public:
  void fit(const Matrix& rows, const FitOptions&, const Work& work) override { learn(rows, {}, work); }

  void fit_and_score(const Matrix& rows, const FitOptions&, std::span<double> scores, const Work& work) override {
    learn(rows, scores, work);
  }

  void score(const Matrix& rows, std::span<double> scores, const Work& work) const override {
    require_columns(rows.columns, columns_);
    neighbours_->search(rows, k_, work,
                        [&](size_t row, std::span<const Neighbour> found) { scores[row] = factor(found); });
  }

  void explain(std::span<const double> row, std::span<double> shares) const override {
    explain_by_centre(*this, row, centre_, shares);
  }

  State state() const override {
    return {{"columns", static_cast<double>(columns_)},
            {"k", static_cast<double>(k_)},
            {"points", points_},
            {"reach", reach_},
            {"densities", densities_}};
  }

  void restore(const State& state) override {
    const StateReader reader(state);
    columns_ = reader.count("columns", 1, kMostColumns);
    const size_t numbers = reader.length("points");
    const size_t rows = numbers / columns_;
    if (rows < 2 || numbers % columns_ != 0) refuse_entry("points", "must hold 2 or more whole rows");
    points_ = reader.numbers("points", numbers, {-kMostMagnitude, kMostMagnitude});
    k_ = reader.count("k", 1, std::min(kMostNeighbours, rows - 1));
    reach_ = reader.numbers("reach", rows, {0, kMostDistance});
    densities_ = reader.numbers("densities", rows, {0, 1 / kLeastReach});
    prepare(Work(1));
  }

 private:
  void prepare(const Work& work) {
    const Matrix rows{points_.data(), points_.size() / columns_, columns_};
    centre_ = column_means(rows);
    neighbours_ = std::make_unique<Neighbours>(rows, work);
  }

  /// One search for the neighbours of all rows; they are kept when scores are wanted too.
  void learn(const Matrix& rows, std::span<double> scores, const Work& work) {
    columns_ = rows.columns;
    points_.assign(rows.values, rows.values + rows.rows * rows.columns);
    k_ = std::min(rows.rows - 1, std::max<size_t>(2, std::min(kMostNeighbours, rows.rows / 2)));
    prepare(work);
    const size_t most = k_ + 1;
    std::vector<Neighbour> all(rows.rows * most);
    neighbours_->search({points_.data(), rows.rows, columns_}, most, work,
                        [&](size_t row, std::span<const Neighbour> found) {
                          std::ranges::copy(found, all.begin() + static_cast<std::ptrdiff_t>(row * most));
                        });
    reach_.resize(rows.rows);
    densities_.resize(rows.rows);
    const auto others = [&](size_t row) {
      // The row itself, or the last where k + 1 duplicates come before it.
      std::vector<Neighbour> found(all.begin() + static_cast<std::ptrdiff_t>(row * most),
                                   all.begin() + static_cast<std::ptrdiff_t>((row + 1) * most));
      const auto self = std::ranges::find(found, row, &Neighbour::row);
      found.erase(self == found.end() ? self - 1 : self);
      return found;
    };
    work.parallel(rows.rows, 1024, [&](size_t first, size_t last) {
      for (size_t row = first; row < last; ++row) reach_[row] = std::sqrt(others(row).back().square);
    });
    work.parallel(rows.rows, 1024, [&](size_t first, size_t last) {
      for (size_t row = first; row < last; ++row) densities_[row] = density(others(row));
    });
    if (scores.empty()) return;
    work.parallel(rows.rows, 1024, [&](size_t first, size_t last) {
      for (size_t row = first; row < last; ++row) scores[row] = factor(std::span(all).subspan(row * most, k_));
    });
  }

  double density(std::span<const Neighbour> found) const {
    double sum = 0;
    for (const Neighbour& one : found) sum += std::max(std::sqrt(one.square), reach_[one.row]);
    return 1 / (sum / static_cast<double>(found.size()) + kLeastReach);
  }

  double factor(std::span<const Neighbour> found) const {
    double sum = 0;
    for (const Neighbour& one : found) sum += densities_[one.row];
    return sum / static_cast<double>(found.size()) / density(found);
  }

  size_t columns_ = 0;
  size_t k_ = 1;
  std::vector<double> points_;
  std::vector<double> reach_;      ///< of each row: the distance of its k-th neighbour
  std::vector<double> densities_;  ///< of each row: 1 / mean reachability distance
  std::vector<double> centre_;
  std::unique_ptr<Neighbours> neighbours_;  // of points_
};

}  // namespace

std::unique_ptr<Detector> make_local_outlier_factor() {
  return std::make_unique<LocalOutlierFactor>();
}

}  // namespace quern::anomaly
