#include <algorithm>

#include "detectors.hpp"
#include "explain.hpp"
#include "kernel_rows.hpp"
#include "limits.hpp"
#include "state.hpp"
#include "svm_solver.hpp"

namespace quern::anomaly {
namespace {

constexpr double kTolerance = 1e-3;

/**
 * How far a row lies outside of the support of the fitted rows: rho less the weighted sum of kernels, below 0 inside.
 * nu is the expected share of anomalies, gamma 1 / columns.
 */
class OneClassSvm final : public Detector {
 public:
  void fit(const Matrix& rows, const FitOptions& options, const Work& work) override {
    columns_ = rows.columns;
    const Support support = solve_one_class(rows, gamma(), options.contamination, kTolerance, work);
    rho_ = support.rho;
    points_.clear();
    weights_.clear();
    for (size_t i = 0; i < rows.rows; ++i) {
      if (support.weights[i] == 0) continue;
      weights_.push_back(support.weights[i]);
      points_.insert(points_.end(), rows.row(i).begin(), rows.row(i).end());
    }
    centre_ = column_means(rows);
    panels_ = panels_of({points_.data(), weights_.size(), columns_});
  }

  void score(const Matrix& rows, std::span<double> scores, const Work& work) const override {
    require_columns(rows.columns, columns_);
    kernel_sums(rows, panels_, weights_, gamma(), scores, work);
    for (double& score : scores) score = rho_ - score;
  }

  void explain(std::span<const double> row, std::span<double> shares) const override {
    explain_by_centre(*this, row, centre_, shares);
  }

  State state() const override {
    return {{"columns", static_cast<double>(columns_)},
            {"rho", rho_},
            {"points", points_},
            {"weights", weights_},
            {"centre", centre_}};
  }

  void restore(const State& state) override {
    const StateReader reader(state);
    columns_ = reader.count("columns", 1, kMostColumns);
    rho_ = reader.number("rho");
    const size_t count = reader.length("weights");
    if (count > kMostNumbers / columns_) refuse_entry("weights", "has too many items");
    weights_ = reader.numbers("weights", count, {0, 1});
    points_ = reader.numbers("points", count * columns_, {-kMostMagnitude, kMostMagnitude});
    centre_ = reader.numbers("centre", columns_, {-kMostMagnitude, kMostMagnitude});
    panels_ = panels_of({points_.data(), count, columns_});
  }

 private:
  double gamma() const { return 1 / static_cast<double>(columns_); }

  size_t columns_ = 1;
  double rho_ = 0;
  std::vector<double> points_;
  std::vector<double> weights_;
  std::vector<double> centre_;
  std::vector<double> panels_;  // of points_
};

}  // namespace

std::unique_ptr<Detector> make_one_class_svm() {
  return std::make_unique<OneClassSvm>();
}

}  // namespace quern::anomaly
