#include <algorithm>
#include <cmath>

#include "detectors.hpp"
#include "explain.hpp"
#include "limits.hpp"
#include "neighbours.hpp"
#include "state.hpp"

namespace quern::anomaly {
namespace {

constexpr size_t kNeighbours = 5;

/**
 * The distance to the k-th nearest fitted row (Ramaswamy, Rastogi and Shim, "Efficient algorithms for mining outliers
 * from large data sets", 2000). A fitted row that is scored is its own nearest one.
 */
class Knn final : public Detector {
 public:
  void fit(const Matrix& rows, const FitOptions&, const Work& work) override {
    columns_ = rows.columns;
    points_.assign(rows.values, rows.values + rows.rows * rows.columns);
    prepare(work);
  }

  void score(const Matrix& rows, std::span<double> scores, const Work& work) const override {
    require_columns(rows.columns, columns_);
    neighbours_->search(rows, kNeighbours, work, [&](size_t row, std::span<const Neighbour> found) {
      scores[row] = std::sqrt(found.back().square);
    });
  }

  void explain(std::span<const double> row, std::span<double> shares) const override {
    explain_by_centre(*this, row, centre_, shares);
  }

  State state() const override { return {{"columns", static_cast<double>(columns_)}, {"points", points_}}; }

  void restore(const State& state) override {
    const StateReader reader(state);
    columns_ = reader.count("columns", 1, kMostColumns);
    const size_t numbers = reader.length("points");
    if (numbers / columns_ < 2 || numbers % columns_ != 0) refuse_entry("points", "must hold 2 or more whole rows");
    points_ = reader.numbers("points", numbers, {-kMostMagnitude, kMostMagnitude});
    prepare(Work(1));
  }

 private:
  void prepare(const Work& work) {
    const Matrix rows{points_.data(), points_.size() / columns_, columns_};
    centre_ = column_means(rows);
    neighbours_ = std::make_unique<Neighbours>(rows, work);
  }

  size_t columns_ = 0;
  std::vector<double> points_;
  std::vector<double> centre_;
  std::unique_ptr<Neighbours> neighbours_;  // of points_
};

}  // namespace

std::unique_ptr<Detector> make_knn() {
  return std::make_unique<Knn>();
}

}  // namespace quern::anomaly
